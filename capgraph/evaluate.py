"""Plan → Results: the numbers, on arrays of lanes.

In: a plan and what each lane sets → Out: an array per step; for the model's scenarios, `Results`.
Invariant: a scenario, a draw and a sweep point are all just lanes; no inf gets out; `if` evaluates only what it takes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from capgraph.diagnostics import Diagnostic, Span
from capgraph.formula.functions import FUNCTIONS
from capgraph.formula.text import print_formula
from capgraph.formula.tree import Binary, Call, Expr, Number, Reference, Scale, Text, Truth, Unary
from capgraph.message import write_message
from capgraph.model import Choose, Given, Quantity, Value
from capgraph.plan import Compute, Fetch, Plan, Step
from capgraph.results import Outcome, Results, ScenarioResult, Verdict

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


def calculate(plan: Plan, overrides: Mapping[str, Sequence[Value | None] | Array], size: int) -> Columns:
    """Calculate every step in `size` lanes; an override is one value a lane, None where it is calculated."""
    run = _Run(plan, size)
    for step in plan.steps:
        run.values[step.id] = run.overridden(step, overrides.get(step.id))
    return Columns(size, run.values, tuple(run.failures))


def evaluate(plan: Plan) -> tuple[Results | None, tuple[Diagnostic, ...]]:
    """Calculate the model's scenarios; a value that one of them does not have is an error."""
    return evaluate_scenarios(plan, tuple(plan.model.scenarios), {})


def evaluate_scenarios(
    plan: Plan, scenarios: Sequence[str], changes: Mapping[str, Value]
) -> tuple[Results | None, tuple[Diagnostic, ...]]:
    """Calculate some scenarios, each with the same changes laid over it."""
    overrides = scenario_overrides(plan, scenarios, [changes] * len(scenarios))
    columns = calculate(plan, overrides, len(scenarios))
    if columns.failures:
        return None, tuple(_diagnostic(scenarios, plan, failure) for failure in columns.failures)
    return Results({name: scenario_result(plan, columns, lane) for lane, name in enumerate(scenarios)}), ()


def scenario_overrides(
    plan: Plan, scenarios: Sequence[str], changes: Sequence[Mapping[str, Value]] = ()
) -> dict[str, list[Value | None]]:
    """Return what lanes set that each follow a scenario, with further changes a lane on top."""
    lanes = [
        {name: setting.value for name, setting in plan.model.scenarios[key].settings.items()}
        for key in scenarios
    ]
    for lane, more in zip(lanes, changes, strict=False):
        lane.update(more)
    names = dict.fromkeys(name for lane in lanes for name in lane)
    return {name: [lane.get(name) for lane in lanes] for name in names}


def scenario_result(plan: Plan, columns: Columns, lane: int) -> ScenarioResult:
    """Read one lane out of the columns: values, checks with messages, the verdict."""
    values = {name: _plain(column[lane]) for name, column in columns.values.items()}
    checks = {
        name: Outcome(
            bool(values[f"check.{name}"]), write_message(plan, plan.messages[f"check.{name}"], values)
        )
        for name in plan.model.checks
    }
    return ScenarioResult(values, checks, _verdict(plan, values))


def _verdict(plan: Plan, values: Mapping[str, Value | None]) -> Verdict | None:
    if plan.model.decision is None:
        return None
    for index, rule in enumerate(plan.model.decision.rules):
        if rule.when is None or values[f"rule.{index + 1}"]:
            return Verdict(
                rule.option, write_message(plan, plan.messages[f"rule.{index + 1}"], values), index
            )
    return Verdict("", "No rule of the decision holds.", None)


def _plain(value: Any) -> Value | None:
    if isinstance(value, np.bool_ | bool):
        return bool(value)
    if isinstance(value, str):
        return value
    if value is None or np.isnan(value):
        return None
    return float(value)


def _diagnostic(scenarios: Sequence[str], plan: Plan, failure: Failure) -> Diagnostic:
    names = [scenarios[lane] for lane in failure.lanes]
    shown = ", ".join(f"`{name}`" for name in names[:3]) + (
        f" and {len(names) - 3} more" if len(names) > 3 else ""
    )
    where = f"in the scenario {shown}" if len(names) == 1 else f"in the scenarios {shown}"
    kind, _, name = failure.step.partition(".")
    what = f"`{failure.step}`"
    if failure.step not in plan.model.quantities:
        what = f"the condition of the check `{name}`" if kind == "check" else f"the condition of rule {name}"
    return Diagnostic(
        failure.code, f"{what} has no value {where}: {failure.message}", failure.span, failure.help
    )


@dataclass
class _Run:
    plan: Plan
    size: int
    values: dict[str, Array] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    fetches: dict[str, Fetch] = field(init=False)

    def __post_init__(self) -> None:
        self.fetches = {step.id: step for step in self.plan.steps if isinstance(step, Fetch)}

    def overridden(self, step: Step, override: Sequence[Value | None] | Array | None) -> Array:
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
            case _:
                assert_never(expr)

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
