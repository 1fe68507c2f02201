"""Cost of a model by its size: time and memory of each stage for 1,000, 10,000 and 100,000 quantities.

Run by `make bench`; nothing here asserts wall time. Beside each figure stands its ratio to the one of a tenth of the
size: 10 is linear.
"""

from __future__ import annotations

import gc
import resource
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np
from generated import chain, large_model

from capgraph.advise import advise
from capgraph.calculate import calculate
from capgraph.check import check
from capgraph.compiler import compile_model
from capgraph.decode import decode
from capgraph.diagnostics import Source, Span
from capgraph.evaluate import evaluate
from capgraph.graph import order
from capgraph.join import join
from capgraph.lower import lower
from capgraph.plan import Plan
from capgraph.resolve import resolve
from capgraph.yamltree import read

SIZES = (1_000, 10_000, 100_000)
Made = TypeVar("Made")


@dataclass
class Stages:
    """Processor seconds and megabytes that stay, by stage, of one size."""

    seconds: dict[str, float] = field(default_factory=dict)
    megabytes: dict[str, float] = field(default_factory=dict)

    def run(self, name: str, work: Callable[[], Made]) -> Made:
        """Measure one stage."""
        before, start = _resident(), time.process_time()
        made = work()
        self.seconds[name] = time.process_time() - start
        self.megabytes[name] = _resident() - before
        return made


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Compile as the command line does; with the collector on, ten times the size takes fourteen times as long."""
    gc.disable()
    yield
    gc.enable()


def _stages(path: Path) -> Stages:
    made = Stages()
    source = Source("model.yaml", path.read_text())
    tree = made.run("read", lambda: read(source)[0])
    made.run("decode", lambda: decode(tree, Span(source, 1, 1, 1, 1)))
    joined = made.run("join (reads and decodes again)", lambda: join(path)[0])
    assert joined is not None
    model, found = made.run("resolve", lambda: resolve(joined))
    assert model is not None, found
    graph, _ = made.run("order", lambda: order(model))
    assert graph is not None
    checked, found = made.run("check", lambda: check(model, graph))
    assert checked is not None, found
    plan = made.run("lower", lambda: lower(checked))
    made.run("advise", lambda: advise(model, graph))
    results, found = made.run("evaluate", lambda: evaluate(plan))
    assert results is not None, found
    return made


def test_stages_by_size(tmp_path: Path) -> None:
    before: Stages | None = None
    with _collector_paused():
        for size in SIZES:
            path = tmp_path / f"of{size}.yaml"
            path.write_text(large_model(size))
            made = _stages(path)
            print(f"\n{size:,} quantities, {path.stat().st_size / 1e6:.1f} MB of YAML")
            for name, seconds in made.seconds.items():
                _row(name, seconds, made.megabytes[name], before.seconds[name] if before else None)
            _row("sum", *_sums(made), _sums(before)[0] if before else None)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
            print(f"  the process so far, at its peak {peak:13.1f} MB")
            before = made


def _sums(made: Stages) -> tuple[float, float]:
    return sum(made.seconds.values()), sum(made.megabytes.values())


def _row(name: str, seconds: float, megabytes: float, tenth: float | None) -> None:
    ratio = f"   {seconds / tenth:5.1f} x the tenth" if tenth else ""
    print(f"  {name:<32} {seconds:8.3f} s {megabytes:8.1f} MB{ratio}")


def _plan(tmp_path: Path, text: str) -> Plan:
    path = tmp_path / "model.yaml"
    path.write_text(text)
    compilation = compile_model(path)
    assert compilation.plan is not None, compilation.diagnostics
    return compilation.plan


def _time(what: str, work: Callable[[], object]) -> None:
    start = time.process_time()
    work()
    print(f"\n{what}: {time.process_time() - start:.3f} s")


def test_a_chain_ten_thousand_deep(tmp_path: Path) -> None:
    path = tmp_path / "model.yaml"
    path.write_text(chain(10_000))
    _time("compile a chain 10,000 deep", lambda: compile_model(path))


def test_thirty_scenarios(tmp_path: Path) -> None:
    plan = _plan(tmp_path, large_model(10_000, 30))
    _time("evaluate 30 scenarios of 10,000 quantities", lambda: evaluate(plan))


def test_ten_thousand_draws(tmp_path: Path) -> None:
    plan, draws = _plan(tmp_path, large_model(1_000)), 10_000
    drawn = {f"input_{number}": np.random.default_rng(number).uniform(1, 2, draws) for number in range(50)}
    _time(f"{draws:,} draws of 50 inputs, 1,000 quantities", lambda: calculate(plan, drawn, draws))
