"""Plan → columns: the numbers, on arrays of lanes.

In: a plan and what each lane sets → Out: an array per step, and what failed.
Invariant: a scenario, a draw and a sweep point are all just lanes; no inf gets out; `if` evaluates only what it takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from capgraph.expression import Array, Expression, Failure, full
from capgraph.formula.tree import Expr, Reduce, references, walk
from capgraph.graph import cone, reached
from capgraph.model import Choose, Given, Quantity, Value
from capgraph.plan import Compute, Fetch, Plan, Step, SweepTable


@dataclass(frozen=True, slots=True)
class Columns:
    """An array of `size` lanes for each step, choices as their option's id; failed lanes of a step hold nan."""

    size: int
    values: Mapping[str, Array]
    failures: tuple[Failure, ...]

    def failed(self) -> NDArray[np.bool_]:
        """Return which lanes have a failure in any step."""
        bad = np.zeros(self.size, dtype=bool)
        for failure in self.failures:
            bad[list(failure.lanes)] = True
        return bad


Override = Sequence[Value | None] | Array
MAX_CELLS = 10_000_000
"""Numbers of sweeps that are held at a time: eighty megabytes, and as much again for what does not move."""


def calculate(
    plan: Plan, overrides: Mapping[str, Override], size: int, wanted: Iterable[str] | None = None
) -> Columns:
    """Calculate in `size` lanes every step, or those that `wanted` ones need; an override is one value a lane.

    An override's value is None in a lane where the step is calculated.
    """
    if wanted is not None:
        plan = narrowed(plan, wanted, overrides)
    block = _lanes_at_once(plan)
    if size <= block:
        return _calculated(plan, overrides, size)
    # A sweep holds every step at every point of every lane.
    parts = []
    for first in range(0, size, block):
        last = min(first + block, size)
        own = {name: values[first:last] for name, values in overrides.items()}
        parts.append(_calculated(plan, own, last - first))
    return _joined(parts, block)


def narrowed(plan: Plan, wanted: Iterable[str], overrides: Mapping[str, Override]) -> Plan:
    """Return the plan with no more steps than some of them need; what every lane sets needs nothing."""
    given = {name for name, values in overrides.items() if _in_every_lane(values)}
    needed = reached(plan.uses, wanted, given)
    steps = tuple(step for step in plan.steps if step.id in needed)
    swept = {
        node.sweep
        for step in steps
        if isinstance(step, Compute)
        for node in walk(step.expr)
        if isinstance(node, Reduce)
    }
    sweeps = {
        name: replace(table, steps=tuple(step for step in table.steps if step in needed))
        for name, table in plan.sweeps.items()
        if name in swept
    }
    return replace(plan, steps=steps, sweeps=sweeps)


def _in_every_lane(values: Override) -> bool:
    if isinstance(values, np.ndarray) and values.dtype != object:
        return True
    return all(value is not None for value in values)


def _lanes_at_once(plan: Plan) -> int:
    cells = sum(len(table.steps) * len(table.sweep.values) for table in plan.sweeps.values())
    return max(1, MAX_CELLS // (cells + 1))


def _joined(parts: Sequence[Columns], block: int) -> Columns:
    """Put the lanes of blocks beside each other; what failed alike is one failure still."""
    lanes: dict[Failure, list[int]] = {}
    for number, part in enumerate(parts):
        for failure in part.failures:
            known = lanes.setdefault(replace(failure, lanes=()), [])
            known.extend(number * block + lane for lane in failure.lanes)
    values = {name: np.concatenate([part.values[name] for part in parts]) for name in parts[0].values}
    failures = tuple(replace(failure, lanes=tuple(found)) for failure, found in lanes.items())
    return Columns(sum(part.size for part in parts), values, failures)


def _calculated(plan: Plan, overrides: Mapping[str, Override], size: int) -> Columns:
    run = Run(plan, size, overrides)
    for step in plan.steps:
        run.take(step)
    # They refer to the run, a circle that would wait for the collector with all its numbers.
    run.sweeps.clear()
    return Columns(size, run.values, tuple(run.failures))


@dataclass
class Run:
    """One calculation: the columns that are known so far, and what has failed."""

    plan: Plan
    size: int
    overrides: Mapping[str, Override]
    values: dict[str, Array] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    failed: dict[str, NDArray[np.bool_]] = field(default_factory=dict)
    """The lanes in which a step, or one that it needs, has failed; no entry where there are none."""
    steps: Mapping[str, Step] = field(init=False)
    fetches: dict[str, Fetch] = field(init=False)
    sweeps: dict[tuple[str, bytes], SweepRun] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.steps = self.plan.by_id
        self.fetches = {step.id: step for step in self.plan.steps if isinstance(step, Fetch)}

    def overridden(self, step: Step) -> Array:
        """Return a step's column: what the lanes set, and elsewhere what is calculated."""
        override = self.overrides.get(step.id)
        if isinstance(override, np.ndarray) and override.dtype != object:
            return override
        if override is None:
            return self._step(step, np.arange(self.size))
        given = np.fromiter((value is not None for value in override), dtype=bool, count=self.size)
        free = np.flatnonzero(~given)
        if free.size == 0:
            return _column(override)
        calculated = self._step(step, free)
        merged = np.empty(self.size, dtype=calculated.dtype)
        merged[free] = calculated
        merged[given] = [value for value in override if value is not None]
        return merged

    def take(self, step: Step) -> None:
        """Calculate a step whose inputs are there."""
        if self.failed:
            self.mark(step.id, np.flatnonzero(self.failed_before(step.id)))
        self.values[step.id] = self.overridden(step)

    def failed_before(self, step: str) -> NDArray[np.bool_]:
        """Return the lanes in which the step, or one that it needs, has failed: a message is there already."""
        found = np.zeros(self.size, dtype=bool)
        for name in (step, *self.plan.uses[step]):
            if name in self.failed:
                found |= self.failed[name]
        return found

    def fail(self, failure: Failure) -> None:
        """Note what has failed."""
        self.failures.append(failure)
        self.mark(failure.step, np.array(failure.lanes))

    def mark(self, step: str, lanes: NDArray[np.intp]) -> None:
        """Note that a step has no value in some lanes, and why has been told."""
        if lanes.size:
            self.failed.setdefault(step, np.zeros(self.size, dtype=bool))[lanes] = True

    def _step(self, step: Step, lanes: NDArray[np.intp]) -> Array:
        if isinstance(step, Compute):
            return Expression(self, step.id, lanes).value(step.expr)
        if isinstance(step, Fetch):
            return self._fetch(step, lanes)
        return full(_given(self.plan.model.quantities[step.id]), lanes.size)

    def _fetch(self, step: Fetch, lanes: NDArray[np.intp]) -> Array:
        catalog = self.plan.model.catalogs[step.catalog]
        kind = catalog.fields[step.field].kind
        missing: Value | None = float("nan") if kind == "number" else None
        cells = {row.id: row.values.get(step.field, missing) for row in catalog.rows.values()}
        chosen = self.values[step.choice][lanes]
        column = np.empty(lanes.size, dtype=np.float64 if kind == "number" else object)
        for option in dict.fromkeys(chosen.tolist()):
            column[chosen == option] = cells[option]
        return column

    def swept(self, sweep: str, lanes: NDArray[np.intp]) -> SweepRun:
        """Return the run of a sweep in some lanes, made when first asked for."""
        key = (sweep, lanes.tobytes())
        if key not in self.sweeps:
            self.sweeps[key] = SweepRun(self, self.plan.sweeps[sweep], lanes)
        return self.sweeps[key]


class _Repeated(dict[str, Array]):
    """The columns of a sweep's run: what does not move with its input is the outer lane's value at each point."""

    def __init__(self, outer: Mapping[str, Array], lanes: NDArray[np.intp], points: int) -> None:
        super().__init__()
        self.outer, self.lanes, self.points = outer, lanes, points

    def __missing__(self, name: str) -> Array:
        self[name] = self.outer[name][self.lanes].repeat(self.points)
        return self[name]


class SweepRun:
    """Some lanes of a run, each at every point of a sweep; the points of a lane lie beside each other."""

    def __init__(self, outer: Run, table: SweepTable, lanes: NDArray[np.intp]) -> None:
        self.outer, self.table, self.lanes = outer, table, lanes
        self.points = len(table.sweep.values)
        overrides = {
            name: [values[lane] for lane in lanes for _ in range(self.points)]
            for name, values in outer.overrides.items()
            if name in table.steps
        }
        run = Run(outer.plan, lanes.size * self.points, overrides)
        run.values = _Repeated(outer.values, lanes, self.points)
        run.values[table.sweep.over] = np.tile(_column(table.sweep.values), lanes.size)
        self.run, self.told = run, 0

    def value(self, step: str, expr: Expr) -> Array:
        """Return an expression at every point. Shape: (lanes, points)."""
        over = self.table.sweep.over
        moving = cone(self.outer.plan.uses, over, [node.name for node in references(expr)]) - {over}
        by_id = self.outer.steps
        for name in self.table.steps:
            if name in moving and name not in self.run.values:
                self.run.take(by_id[name])
        made = Expression(self.run, step, np.arange(self.run.size)).value(expr)
        self._tell()
        failed = self.run.failed_before(step).reshape(self.lanes.size, self.points).any(axis=1)
        self.outer.mark(step, self.lanes[failed])
        return made.reshape(self.lanes.size, self.points)

    def _tell(self) -> None:
        """Pass on what has failed at a point, once a lane."""
        for failure in self.run.failures[self.told :]:
            first: dict[int, int] = {}
            for place in failure.lanes:
                first.setdefault(int(self.lanes[place // self.points]), place % self.points)
            point = self.table.sweep.values[min(first.values())]
            shown = f"{point:g}" if isinstance(point, float) else str(point)
            where = f"where the sweep `{self.table.sweep.id}` sets `{self.table.sweep.over}` to {shown}"
            told = Failure(
                failure.code,
                failure.step,
                tuple(first),
                f"{failure.message}, {where}",
                failure.span,
                failure.help,
            )
            self.outer.fail(told)
        self.told = len(self.run.failures)


def _given(quantity: Quantity) -> Value:
    if isinstance(quantity.definition, Choose):
        return quantity.definition.default
    assert isinstance(quantity.definition, Given)
    return quantity.definition.value


def _column(values: Sequence[Value | None] | Array) -> Array:
    # An array of objects would stay one, and numpy cannot calculate with that.
    plain = values.tolist() if isinstance(values, np.ndarray) else values
    return np.array(plain, dtype=object if any(isinstance(value, str) for value in plain) else None)
