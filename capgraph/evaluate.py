"""Plan → Results: the numbers of the model's scenarios.

In: a plan → Out: `Results`, or a diagnostic for each value that a scenario does not have.
Invariant: each scenario is a lane of one calculation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from capgraph.calculate import Columns, calculate
from capgraph.diagnostics import Diagnostic
from capgraph.expression import Failure
from capgraph.message import write_message
from capgraph.model import Value
from capgraph.plan import Plan
from capgraph.results import Outcome, Results, ScenarioResult, Verdict


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
        return None, tuple(told_failure(scenarios, plan, failure) for failure in columns.failures)
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


def told_failure(scenarios: Sequence[str], plan: Plan, failure: Failure) -> Diagnostic:
    """Say what has failed where lanes are scenarios."""
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
