"""Variations of the selected scenario, calculated side by side.

In: a plan, a scenario and one mapping of changes a lane → Out: `Lanes`: values and verdict of each.
Invariant: one call of the evaluator whatever the number of lanes; a lane that has no value somewhere gives None
there, and no verdict where the decision rests on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from capgraph.analysis.derivation import ancestors
from capgraph.calculate import Columns, calculate
from capgraph.evaluate import scenario_overrides
from capgraph.model import Value
from capgraph.plan import Plan


@dataclass(frozen=True, slots=True)
class Lanes:
    """The calculated variations; `verdicts` holds an option's id a lane, empty where no rule decides."""

    columns: Columns
    verdicts: tuple[str, ...]

    def value(self, step: str, lane: int) -> Value | None:
        """Return a step's value in one lane, or None where it has none there."""
        return _plain(self.columns.values[step][lane])

    def number(self, step: str, lane: int) -> float | None:
        """Return a step's number in one lane, or None where it has none there."""
        value = self.value(step, lane)
        return None if isinstance(value, bool | str) else value


def run_lanes(plan: Plan, scenario: str, changes: Sequence[Mapping[str, Value]]) -> Lanes:
    """Calculate the scenario with each of the changes."""
    size = len(changes)
    columns = calculate(plan, scenario_overrides(plan, (scenario,) * size, changes), size)
    return Lanes(columns, _verdicts(plan, columns))


def _verdicts(plan: Plan, columns: Columns) -> tuple[str, ...]:
    decided = np.full(columns.size, "", dtype=object)
    open_lanes = np.full(columns.size, plan.model.decision is not None)
    for number, rule in enumerate(plan.model.decision.rules if plan.model.decision else (), 1):
        if rule.when is None:
            decided[open_lanes] = rule.option
            break
        # A condition on a value that is missing reads as false; it must not let a later rule decide.
        open_lanes &= ~_failed(plan, columns, f"rule.{number}")
        holds = open_lanes & columns.values[f"rule.{number}"].astype(bool)
        decided[holds] = rule.option
        open_lanes &= ~holds
    return tuple(str(option) for option in decided)


def _failed(plan: Plan, columns: Columns, step: str) -> np.ndarray[Any, np.dtype[np.bool_]]:
    failed = np.zeros(columns.size, dtype=bool)
    if columns.failures:
        steps = ancestors(plan, (step,))
        for failure in columns.failures:
            if failure.step in steps:
                failed[list(failure.lanes)] = True
    return failed


def _plain(value: Any) -> Value | None:
    if isinstance(value, np.bool_ | bool):
        return bool(value)
    if isinstance(value, str):
        return value
    return None if value is None or np.isnan(value) else float(value)
