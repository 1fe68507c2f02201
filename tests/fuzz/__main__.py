"""`python -m fuzz`: many wrong models, one a seed; ends with 1 where any breaks the promise.

In: how many, and from which seed → Out: how many ended how, the rate, and each kind of failure with a small case.
Invariant: results go to standard output, progress to standard error and only on a terminal.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

# One thread a process: the processes share the cores already.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from fuzz.bounded import Outcome, run, run_one
from fuzz.cases import Case, case_of
from fuzz.corpus import measurements, models
from fuzz.judge import judge
from fuzz.kept import keep_what_is_read
from fuzz.shrink import shrink_files, shrink_steps, written


class Workplace:
    """A folder where each process writes the models that it judges."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def judging(self, files: Mapping[str, bytes]) -> Callable[[], str]:
        """Write files and return what judges them; from the process's own folder, so that all have the same path."""
        own = self.root / str(os.getpid())
        own.mkdir(exist_ok=True)
        os.chdir(own)
        folder = Path("fuzz")
        shutil.rmtree(folder, ignore_errors=True)
        for name, text in (*files.items(), *((name, b"") for name in measurements())):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(text)
        return lambda: judge(folder / "model.yaml")

    def warm(self) -> None:
        """Judge the models as they ship: what the first compilation of a process loads and keeps is no case's own."""
        for files in models().values():
            self.judging({name: text.encode() for name, text in files.items()})()

    def judging_case(self, case: Case) -> Callable[[], str]:
        """Write the files of a case and return what judges them."""
        return self.judging(case.files)

    def small(self, case: Case, outcome: Outcome) -> str:
        """Return a failing case as small as can be, with the mutations that made it."""

        def fails(item: Case) -> bool:
            return run_one(item, self.judging_case).signature == outcome.signature

        def fail(files: Mapping[str, bytes]) -> bool:
            return run_one(files, self.judging).signature == outcome.signature

        case = shrink_steps(case, fails)
        steps = ", ".join(step.mutation for step in case.steps)
        return f"{case.model}, seed {case.seed}: {steps}\n{written(shrink_files(case.files, fail))}"


def main() -> int:
    """Run the command."""
    asked = _arguments()
    start, found, counts = time.monotonic(), dict[str, tuple[Case, Outcome]](), Counter[str]()
    keep_what_is_read(models())
    with tempfile.TemporaryDirectory() as folder:
        place = Workplace(Path(folder))
        place.warm()
        seeds = range(asked.seed, asked.seed + asked.number)
        cases = _in_time((case_of(seed) for seed in seeds), start + 60 * asked.minutes)
        for case, outcome in run(cases, place.judging_case, asked.jobs):
            counts[outcome.word if outcome.is_well else outcome.signature] += 1
            if not outcome.is_well:
                found.setdefault(outcome.signature, (case, outcome))
            _show_progress(sum(counts.values()), asked.number, start, len(found))
        done, seconds = sum(counts.values()), time.monotonic() - start
        print(f"{done} mutations from seed {asked.seed} in {seconds:.0f} s, {done / seconds:.1f} a second")
        for word, number in counts.most_common():
            print(f"  {number:>7} {word}")
        for case, outcome in found.values():
            print(f"\n{outcome.signature}\n{outcome.text}{place.small(case, outcome)}", flush=True)
    return 1 if found else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("number", nargs="?", type=int, default=1000, help="how many mutations [1000]")
    parser.add_argument("--seed", type=int, default=0, help="the first seed [0]")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes [one a core]")
    parser.add_argument("--minutes", type=float, default=1e6, help="begin no case after so many minutes")
    return parser.parse_args()


def _in_time(cases: Iterator[Case], end: float) -> Iterator[Case]:
    for case in cases:
        if time.monotonic() > end:
            return
        yield case


def _show_progress(done: int, wanted: int, start: float, failures: int) -> None:
    if sys.stderr.isatty() and (done % 20 == 0 or done == wanted):
        rate = done / max(time.monotonic() - start, 1e-9)
        left = (wanted - done) / rate
        end = "\n" if done == wanted else ""
        line = (
            f"{done} of {wanted}, {rate:.1f} a second, {left / 60:.1f} min left, {failures} kinds of failure"
        )
        print(f"\r{line}  {end}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
