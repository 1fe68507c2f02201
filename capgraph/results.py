"""The results: every step's value in every scenario, the checks, the verdicts.

In: nothing → Out: the frozen types that `evaluate` makes and analyses and emitters read.
Invariant: no value is inf or nan; a missing catalog field is None.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from capgraph.model import Value


@dataclass(frozen=True, slots=True)
class Outcome:
    """One check in one scenario: whether it holds, and its message with that scenario's numbers."""

    holds: bool
    message: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The option that the first true rule names (empty: no rule holds), its headline, and the rule's index from 0."""

    option: str
    headline: str
    rule: int | None


@dataclass(frozen=True, slots=True)
class ScenarioResult:
    """Values by step id (quantities, `choice.field`, `check.<id>`, `rule.<n>`), checks by id, and the verdict."""

    values: Mapping[str, Value | None]
    checks: Mapping[str, Outcome]
    verdict: Verdict | None

    def number(self, quantity: str) -> float:
        """Return a quantity's number in its unit. Raises TypeError if it is no number."""
        value = self.values[quantity]
        if isinstance(value, bool) or not isinstance(value, float):
            raise TypeError(f"{quantity} is not a number: {value!r}")
        return value


@dataclass(frozen=True, slots=True)
class Results:
    """The scenarios in declared order; the first is the one that reports select."""

    scenarios: Mapping[str, ScenarioResult]

    @property
    def selected(self) -> str:
        """Return the id of the scenario that the memo speaks of and the workbook opens with."""
        return next(iter(self.scenarios))
