"""Expression → an array of lanes.

In: an elaborated tree, its run and some of the run's lanes → Out: one value a lane; failures go to the run.
Invariant: nan marks a lane that has failed already; no inf gets out; `if` evaluates only what it takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, assert_never

import numpy as np
from numpy.typing import NDArray

from capgraph.diagnostics import Span
from capgraph.formula.functions import FUNCTIONS
from capgraph.formula.reductions import REDUCTIONS, interpolate
from capgraph.formula.text import print_formula
from capgraph.formula.tree import Binary, Call, Expr, Number, Reduce, Reference, Scale, Text, Truth, Unary
from capgraph.model import Value
from capgraph.plan import Fetch, Plan, SweepTable

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


def full(value: Value, size: int) -> Array:
    return np.full(size, value, dtype=object if isinstance(value, str) else None)


class Swept(Protocol):
    """Some lanes at every point of a sweep."""

    table: SweepTable
    points: int

    def value(self, step: str, expr: Expr) -> Array:
        """Return an expression at every point. Shape: (lanes, points)."""


class Run(Protocol):
    """What an expression needs of the calculation that it belongs to."""

    plan: Plan
    values: dict[str, Array]
    fetches: dict[str, Fetch]

    def failed_before(self, step: str) -> NDArray[np.bool_]:
        """Return the lanes in which the step, or one that it needs, has failed."""

    def fail(self, failure: Failure) -> None:
        """Note what has failed."""

    def swept(self, sweep: str, lanes: NDArray[np.intp]) -> Swept:
        """Return a sweep in some lanes."""


@dataclass(frozen=True)
class Expression:
    """A step's formula in some lanes of a run."""

    run: Run
    step: str
    lanes: NDArray[np.intp]

    def value(self, expr: Expr) -> Array:
        match expr:
            case Number():
                return np.full(self.lanes.size, expr.value)
            case Text() | Truth():
                return full(expr.value, self.lanes.size)
            case Reference():
                return self._reference(expr)
            case Unary(op="-"):
                return -self.value(expr.operand)
            case Unary():
                return ~self.value(expr.operand)
            case Scale():
                operand = self.value(expr.operand)
                with np.errstate(all="ignore"):
                    made = operand / expr.value if expr.divide else operand * expr.value
                return self._finite(made, expr, (operand,))
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

    def _interpolated(self, expr: Reduce, swept: Swept, values: Array) -> Array:
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
            part = Expression(self.run, self.step, self.lanes[lanes]).value(expr.arguments[branch])
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
            self.run.fail(Failure(code, self.step, lanes, message, span, help_text))


def _missing(column: Array) -> NDArray[np.bool_]:
    if column.dtype == np.float64:
        return np.isnan(column)
    return np.fromiter((value is None for value in column), dtype=bool, count=column.size)


def _is_flag(plan: Plan, step: Fetch) -> bool:
    return plan.model.catalogs[step.catalog].fields[step.field].kind == "yes/no"


def _compare(op: str, left: Array, right: Array) -> Array:
    if op in ("<", "<=", ">", ">="):
        return _ordered(op, left, right)
    match op:
        case "and":
            return left & right
        case "or":
            return left | right
        case "=":
            return np.asarray(left == right)
        case _:
            return np.asarray(left != right)


def _ordered(op: str, left: Array, right: Array) -> Array:
    # 48 - 43.2 >= 0.1 * 48 must hold here as it does in spreadsheets, which take numbers as equal from about the
    # fifteenth digit on (LibreOffice: within 2^-48 of the larger).
    equal = np.abs(left - right) <= np.maximum(np.abs(left), np.abs(right)) * 2.0**-48
    if op in ("<=", ">="):
        return np.asarray(equal | (left < right if op == "<=" else left > right))
    return np.asarray(~equal & (left < right if op == "<" else left > right))
