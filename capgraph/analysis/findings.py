"""The analyses of a decision, together.

In: plan and results → Out: `Findings`.
Invariant: every number is the evaluator's for a variation of the selected scenario.
"""

from __future__ import annotations

from capgraph.analysis.basis import bases, fits_in_force
from capgraph.analysis.curves import draw_curves
from capgraph.analysis.levers import pull_levers
from capgraph.analysis.sensitivity import swings
from capgraph.analysis.shortfalls import find_shortfalls
from capgraph.findings import Backtest, Findings
from capgraph.plan import Plan
from capgraph.results import Results


def find(plan: Plan, results: Results, backtests: tuple[Backtest, ...] = ()) -> Findings:
    """Return what moves the decision, or the results, of the selected scenario, beside what was measured."""
    levers, together = pull_levers(plan, results)
    return Findings(
        swings(plan, results),
        levers,
        together,
        draw_curves(plan, results),
        backtests,
        shortfalls=find_shortfalls(plan, results),
        fits=tuple(fit.id for fit in fits_in_force(plan, results)),
        bases=bases(plan, results),
    )
