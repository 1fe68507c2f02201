"""Work on many items, each under a bound of time and memory, in processes that are forked from this one.

In: items and what to do with each → Out: an `Outcome` per item, whatever becomes of the process that had it.
Invariant: imports are paid once, by the parent; an item that breaks its bound takes no other with it.
"""

from __future__ import annotations

import gc
import os
import resource
import signal
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from typing import Generic, Literal, TypeVar

SECONDS = 2.0
"""Of processor time, so that a busy machine condemns nobody."""
BYTES = 500 * 1024 * 1024
_BATCH = 100
_PATIENCE = 120.0
_OWN_CODE = f"{os.sep}capgraph{os.sep}"

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an item; `word` tells how it ended well, or `text` how it did not."""

    kind: Literal["well", "exception", "time", "memory", "death"]
    word: str = ""
    text: str = ""

    @property
    def is_well(self) -> bool:
        """Say whether the item kept the promise."""
        return self.kind == "well"

    @property
    def signature(self) -> str:
        """Return what two failures of one cause have in common."""
        return f"{self.kind}: {self.word}"


@dataclass
class _Worker(Generic[Item]):
    pid: int
    answers: Connection
    items: deque[Item]


@dataclass
class _Pool(Generic[Item]):
    work: Callable[[Item], Callable[[], str]]
    pending: Iterator[Item]
    orphans: deque[Item] = field(default_factory=deque)
    workers: dict[Connection, _Worker[Item]] = field(default_factory=dict)

    def start(self) -> None:
        """Fork a process for the next few items, if there are any."""
        items = deque[Item]()
        while self.orphans and len(items) < _BATCH:
            items.append(self.orphans.popleft())
        items.extend(islice(self.pending, _BATCH - len(items)))
        if not items:
            return
        answers, answer = Pipe(duplex=False)
        pid = os.fork()
        if pid == 0:
            answers.close()
            _serve(items, self.work, answer)
        answer.close()
        self.workers[answers] = _Worker(pid, answers, items)

    def outcomes(self) -> Iterator[tuple[Item, Outcome]]:
        """Yield what comes next from any of the processes."""
        ready = wait(list(self.workers), _PATIENCE)
        for answers in ready or list(self.workers):
            assert isinstance(answers, Connection)
            worker = self.workers[answers]
            if not ready:
                os.kill(worker.pid, signal.SIGKILL)
            outcome = _received(answers)
            if outcome is None:
                yield from self._end(worker)
            else:
                yield worker.items.popleft(), outcome

    def _end(self, worker: _Worker[Item]) -> Iterator[tuple[Item, Outcome]]:
        _, status = os.waitpid(worker.pid, 0)
        worker.answers.close()
        del self.workers[worker.answers]
        if worker.items:
            yield worker.items.popleft(), _death(status)
            self.orphans.extend(worker.items)
        self.start()


def _received(answers: Connection) -> Outcome | None:
    """Return what a process answers, nothing if it is no more."""
    try:
        outcome: Outcome = answers.recv()
    except EOFError:
        return None
    return outcome


def run(items: Iterable[Item], work: Callable[[Item], Callable[[], str]], jobs: int) -> Iterator[tuple[Item, Outcome]]:
    """Yield each item with its outcome, in no order; `work` prepares an item, and what it returns is bounded."""
    gc.collect()
    gc.freeze()
    pool = _Pool(work, iter(items))
    for _ in range(jobs):
        pool.start()
    while pool.workers:
        yield from pool.outcomes()


def run_one(item: Item, work: Callable[[Item], Callable[[], str]]) -> Outcome:
    """Return the outcome of one item, in a process of its own."""
    ((_, outcome),) = run([item], work, 1)
    return outcome


def _serve(items: Iterable[Item], work: Callable[[Item], Callable[[], str]], answer: Connection) -> None:
    """Be the process that does the work, to its end."""
    try:
        # Not to be handled, since a handler waits for the interpreter: the system ends the process.
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        limit = _address_space() + BYTES
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for item in items:
            answer.send(_outcome(work(item)))
        os._exit(0)
    finally:
        os._exit(1)


def _address_space() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * resource.getpagesize()


def _outcome(bounded: Callable[[], str]) -> Outcome:
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        return Outcome("well", bounded())
    except MemoryError as error:
        return _failure("memory", error)
    except BaseException as error:
        return _failure("exception", error)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _failure(kind: Literal["exception", "memory"], error: BaseException) -> Outcome:
    return Outcome(kind, _cause(error), "".join(traceback.format_exception(error))[-4000:])


def _cause(error: BaseException) -> str:
    """Say what failures of one cause have in common: what the error says of its kind, or where it arose."""
    if told := getattr(error, "kind", ""):
        return str(told)
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if _OWN_CODE in frame.filename] or list(frames)
    where = f" in {Path(own[-1].filename).name}, {own[-1].name}" if own else ""
    return f"{type(error).__name__}{where}"


def _death(status: int) -> Outcome:
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGPROF:
        return Outcome("time", f"more than {SECONDS:g} s")
    if os.WIFSIGNALED(status):
        return Outcome("death", f"signal {os.WTERMSIG(status)}")
    return Outcome("death", f"exit code {os.WEXITSTATUS(status)}")
