"""What every part of the memo is made from.

In: nothing → Out: `Case`. Invariant: its citations are of the selected scenario.
"""

from __future__ import annotations

from dataclasses import dataclass

from capgraph.analysis.subject import target_of
from capgraph.emit.memo.cite import Citations
from capgraph.emit.memo.pieces import Line
from capgraph.findings import Findings
from capgraph.message import write_message
from capgraph.plan import Plan
from capgraph.results import Results, ScenarioResult


@dataclass(frozen=True, slots=True)
class Case:
    """What every part is made from: the plan, its results and findings, and the citations."""

    plan: Plan
    results: Results
    findings: Findings
    citations: Citations

    @property
    def result(self) -> ScenarioResult:
        """Return the selected scenario's result."""
        return self.results.scenarios[self.results.selected]

    def option_label(self, option: str) -> str:
        """Return an option's label; its id where it has none, nothing where no rule decided."""
        decision = self.plan.model.decision
        found = decision.options.get(option) if decision else None
        return found.label if found else option

    def told(self, kind: str) -> tuple[Line, ...]:
        """Return the decision's texts of a kind, `exception`, `policy` or `alert`, with their figures cited."""
        messages = (item for name, item in self.plan.messages.items() if name.partition(".")[0] == kind)
        values = self.result.values
        return tuple(self.citations.message(item, write_message(self.plan, item, values)) for item in messages)

    @property
    def verdict(self) -> str:
        """Return the option that the selected scenario comes to, or nothing."""
        verdict = self.result.verdict
        return verdict.option if verdict else ""

    @property
    def target(self) -> str | None:
        """Return the quantity whose swings are drawn, where its value is a number."""
        target = target_of(self.plan)
        return target if target and isinstance(self.result.values.get(target), float) else None
