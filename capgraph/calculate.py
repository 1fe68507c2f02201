"""Plan → columns: the numbers, on arrays of lanes.

In: a plan and what each lane sets → Out: an array per step, and what failed.
Invariant: a scenario, a draw and a sweep point are all just lanes; no inf gets out; `if` evaluates only what it takes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from capgraph.diagnostics import Span
from capgraph.formula.functions import FUNCTIONS
from capgraph.formula.reductions import REDUCTIONS, interpolate
from capgraph.formula.text import print_formula
from capgraph.formula.tree import (
    Binary,
    Call,
    Expr,
    Number,
    Reduce,
    Reference,
    Scale,
    Text,
    Truth,
    Unary,
    references,
)
from capgraph.graph import cone
from capgraph.model import Choose, Given, Quantity, Value
from capgraph.plan import Compute, Fetch, Plan, Step, SweepTable

Array = NDArray[Any]
"""One value a lane: float64 (nan: failed or missing), bool, or text."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A value that a step does not have in some lanes: a code, what is wrong, and where in the formula."""

    code: str
    step: str
    lanes: tuple[int, ...]
    message: str
    span: Span
    help: str = ""


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


def calculate(plan: Plan, overrides: Mapping[str, Override], size: int) -> Columns:
    """Calculate every step in `size` lanes; an override is one value a lane, None where it is calculated."""
    run = _Run(plan, size, overrides)
    for step in plan.steps:
        run.values[step.id] = run.overridden(step)
    return Columns(size, run.values, tuple(run.failures))


@dataclass
class _Run:
    plan: Plan
    size: int
    overrides: Mapping[str, Override]
    values: dict[str, Array] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    steps: Mapping[str, Step] = field(init=False)
    fetches: dict[str, Fetch] = field(init=False)
    sweeps: dict[tuple[str, bytes], _SweepRun] = field(default_factory=dict)

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

    def failed_before(self, step: str) -> NDArray[np.bool_]:
        """Return the lanes in which the step, or one that it needs, has failed: a message is there already."""
        failed, seen, pending = np.zeros(self.size, dtype=bool), {step}, [step] if self.failures else []
        while pending:
            fresh = [name for name in self.plan.uses[pending.pop()] if name not in seen]
            seen.update(fresh)
            pending.extend(fresh)
        for failure in self.failures:
            if failure.step in seen:
                failed[list(failure.lanes)] = True
        return failed

    def _step(self, step: Step, lanes: NDArray[np.intp]) -> Array:
        if isinstance(step, Compute):
            return _Formula(self, step.id, lanes).value(step.expr)
        if isinstance(step, Fetch):
            return self._fetch(step, lanes)
        return _full(_given(self.plan.model.quantities[step.id]), lanes.size)

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

    def swept(self, sweep: str, lanes: NDArray[np.intp]) -> _SweepRun:
        """Return the run of a sweep in some lanes, made when first asked for."""
        key = (sweep, lanes.tobytes())
        if key not in self.sweeps:
            self.sweeps[key] = _SweepRun(self, self.plan.sweeps[sweep], lanes)
        return self.sweeps[key]


class _Repeated(dict[str, Array]):
    """The columns of a sweep's run: what does not move with its input is the outer lane's value at each point."""

    def __init__(self, outer: Mapping[str, Array], lanes: NDArray[np.intp], points: int) -> None:
        super().__init__()
        self.outer, self.lanes, self.points = outer, lanes, points

    def __missing__(self, name: str) -> Array:
        self[name] = self.outer[name][self.lanes].repeat(self.points)
        return self[name]


class _SweepRun:
    """Some lanes of a run, each at every point of a sweep; the points of a lane lie beside each other."""

    def __init__(self, outer: _Run, table: SweepTable, lanes: NDArray[np.intp]) -> None:
        self.outer, self.table, self.lanes = outer, table, lanes
        self.points = len(table.sweep.values)
        overrides = {
            name: [values[lane] for lane in lanes for _ in range(self.points)]
            for name, values in outer.overrides.items()
            if name in table.steps
        }
        run = _Run(outer.plan, lanes.size * self.points, overrides)
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
                self.run.values[name] = self.run.overridden(by_id[name])
        made = _Formula(self.run, step, np.arange(self.run.size)).value(expr)
        self._tell()
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
            self.outer.failures.append(told)
        self.told = len(self.run.failures)


def _given(quantity: Quantity) -> Value:
    if isinstance(quantity.definition, Choose):
        return quantity.definition.default
    assert isinstance(quantity.definition, Given)
    return quantity.definition.value


def _full(value: Value, size: int) -> Array:
    return np.full(size, value, dtype=object if isinstance(value, str) else None)


def _column(values: Sequence[Value | None] | Array) -> Array:
    return np.array(values, dtype=object if any(isinstance(value, str) for value in values) else None)


@dataclass(frozen=True)
class _Formula:
    """One step's formula in some lanes."""

    run: _Run
    step: str
    lanes: NDArray[np.intp]

    def value(self, expr: Expr) -> Array:
        match expr:
            case Number():
                return np.full(self.lanes.size, expr.value)
            case Text() | Truth():
                return _full(expr.value, self.lanes.size)
            case Reference():
                return self._reference(expr)
            case Unary(op="-"):
                return -self.value(expr.operand)
            case Unary():
                return ~self.value(expr.operand)
            case Scale():
                operand = self.value(expr.operand)
                return self._finite(
                    operand / expr.value if expr.divide else operand * expr.value, expr, (operand,)
                )
            case Binary():
                return self._binary(expr)
            case Call():
                return self._if(expr) if expr.function == "if" else self._call(expr)
            case Reduce():
                return self._reduce(expr)
            case _:
                assert_never(expr)

    def _reduce(self, expr: Reduce) -> Array:
        swept = self.run.swept(expr.sweep, self.lanes)
        shape = (self.lanes.size, swept.points)
        picked = (
            np.ones(shape, dtype=bool) if expr.condition is None else swept.value(self.step, expr.condition)
        )
        values = picked.astype(float) if expr.value is None else swept.value(self.step, expr.value)
        failed = np.isnan(values).any(axis=1)
        with np.errstate(all="ignore"):
            made = (
                self._interpolated(expr, swept, values)
                if expr.at is not None
                else self._reduced(expr, values, picked)
            )
        return self._finite(np.where(failed, np.nan, made), expr, (np.where(failed, np.nan, 0.0),))

    def _reduced(self, expr: Reduce, values: Array, picked: NDArray[np.bool_]) -> Array:
        record = REDUCTIONS[expr.function]
        empty = np.asarray(~picked.any(axis=1))
        if record.needs_a_point and empty.any():
            message = f"no point of the sweep `{expr.sweep}` fits the condition of `{expr.function}`"
            self._fail(
                "CG605",
                empty,
                message,
                expr.span,
                "guard it with `if(count(… over …) > 0, …)`, or widen the sweep",
            )
            return np.where(empty, np.nan, record.compute(values, picked | empty[:, None]))
        return record.compute(values, picked)

    def _interpolated(self, expr: Reduce, swept: _SweepRun, values: Array) -> Array:
        assert expr.at is not None
        points = np.array(swept.table.sweep.values, dtype=float)
        at = self.value(expr.at)
        outside = (at < points[0]) | (at > points[-1])
        if outside.any():
            ends = f"{points[0]:g} to {points[-1]:g}"
            message = (
                f"`{print_formula(expr.at)}` lies outside the sweep `{expr.sweep}`, which runs from {ends}"
            )
            self._fail("CG606", outside, message, expr.at.span, "widen the sweep")
        return interpolate(points, values, at)

    def _reference(self, expr: Reference) -> Array:
        column = self.run.values[expr.name][self.lanes]
        if step := self.run.fetches.get(expr.name):
            missing = _missing(column)
            if missing.any():
                self._lacking(step, expr, missing)
            return column.astype(bool) if _is_flag(self.run.plan, step) else column
        return column

    def _lacking(self, step: Fetch, expr: Reference, missing: NDArray[np.bool_]) -> None:
        chosen = self.run.values[step.choice][self.lanes]
        for row in dict.fromkeys(chosen[missing].tolist()):
            message = f"the row `{row}` of `{step.catalog}` has no `{step.field}`"
            way_out = f"give the row a `{step.field}`, or choose another `{step.choice}`"
            self._fail("CG604", missing & (chosen == row), message, expr.span, way_out)

    def _binary(self, expr: Binary) -> Array:
        left, right = self.value(expr.left), self.value(expr.right)
        with np.errstate(all="ignore"):
            match expr.op:
                case "+":
                    made = left + right
                case "-":
                    made = left - right
                case "*":
                    made = left * right
                case "/":
                    zero = right == 0
                    if zero.any():
                        message = f"division by zero: `{print_formula(expr.right)}` is 0"
                        self._fail(
                            "CG601",
                            zero & ~np.isnan(left),
                            message,
                            expr.right.span,
                            "guard it with `if`, or correct the input",
                        )
                    made = np.where(zero, np.nan, left / np.where(zero, 1.0, right))
                case "^":
                    made = self._power(expr, left, right)
                case _:
                    return _compare(expr.op, left, right)
        return self._finite(made, expr, (left, right))

    def _power(self, expr: Binary, left: Array, right: Array) -> Array:
        impossible = ((left == 0) & (right <= 0)) | ((left < 0) & (right != np.floor(right)))
        if impossible.any():
            message = f"`{print_formula(expr)}` has no value: a power of zero or of a negative number"
            self._fail("CG602", impossible, message, expr.span, "keep the base positive")
        return np.asarray(np.where(impossible, np.nan, np.power(np.where(impossible, 1.0, left), right)))

    def _call(self, expr: Call) -> Array:
        record = FUNCTIONS[expr.function]
        arguments = tuple(self.value(item) for item in expr.arguments)
        if record.outside is not None and (outside := record.outside(arguments[0])).any():
            message = f"`{expr.function}` needs {record.domain}: `{print_formula(expr.arguments[0])}` is not"
            self._fail("CG602", outside, message, expr.span, "guard it with `if`, or correct the input")
            arguments = (np.where(outside, np.nan, arguments[0]), *arguments[1:])
        with np.errstate(all="ignore"):
            return self._finite(record.compute(*arguments), expr, arguments)

    def _if(self, expr: Call) -> Array:
        condition = self.value(expr.arguments[0])
        taken = [(branch, lanes) for branch, lanes in ((1, condition), (2, ~condition)) if lanes.any()]
        if len(taken) == 1:
            return self.value(expr.arguments[taken[0][0]])
        made: Array | None = None
        for branch, lanes in taken:
            part = _Formula(self.run, self.step, self.lanes[lanes]).value(expr.arguments[branch])
            made = np.empty(self.lanes.size, dtype=part.dtype) if made is None else made
            made[lanes] = part
        return np.zeros(0) if made is None else made

    def _finite(self, made: Array, expr: Expr, operands: tuple[Array, ...]) -> Array:
        bad = ~np.isfinite(made)
        if not bad.any():
            return made
        fresh = bad & np.logical_and.reduce([np.isfinite(operand) for operand in operands])
        known = fresh & np.isinf(made)
        if known.any():
            self._fail(
                "CG603",
                known,
                f"`{print_formula(expr)}` is too large for a number",
                expr.span,
                "check the inputs' size",
            )
        return np.where(bad, np.nan, made)

    def _fail(self, code: str, where: NDArray[np.bool_], message: str, span: Span, help_text: str) -> None:
        where = where & ~self.run.failed_before(self.step)[self.lanes]
        if where.any():
            lanes = tuple(int(lane) for lane in self.lanes[where])
            self.run.failures.append(Failure(code, self.step, lanes, message, span, help_text))


def _missing(column: Array) -> NDArray[np.bool_]:
    if column.dtype == np.float64:
        return np.isnan(column)
    return np.fromiter((value is None for value in column), dtype=bool, count=column.size)


def _is_flag(plan: Plan, step: Fetch) -> bool:
    return plan.model.catalogs[step.catalog].fields[step.field].kind == "yes/no"


def _compare(op: str, left: Array, right: Array) -> Array:
    match op:
        case "and":
            return left & right
        case "or":
            return left | right
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
        case ">=":
            return left >= right
        case "=":
            return np.asarray(left == right)
        case _:
            return np.asarray(left != right)
