"""How far the target moves over the stated range of each input, and whether the verdict holds there.

In: plan and results → Out: a `Swing` for every number with a range, widest first.
Invariant: one input at a time from the selected scenario; all ends in one call of the evaluator.
"""

from __future__ import annotations

from capgraph.analysis.lanes import Lanes, run_lanes
from capgraph.analysis.subject import target_of
from capgraph.findings import Swing
from capgraph.model import Given, Quantity
from capgraph.plan import Plan
from capgraph.results import Results


def swings(plan: Plan, results: Results) -> tuple[Swing, ...]:
    """Return the swing of each input with a range; none where the model neither decides nor results in a number."""
    target = target_of(plan)
    inputs = [entry for entry in plan.model.quantities.values() if _has_range(entry)]
    if (plan.model.decision is None and target is None) or not inputs:
        return ()
    lanes = run_lanes(plan, results.selected, [{entry.id: end} for entry in inputs for end in _ends(entry)])
    found = [_swing(lanes, entry, target, 2 * number) for number, entry in enumerate(inputs)]
    centre = results.scenarios[results.selected].values.get(target) if target else None
    middle = centre if isinstance(centre, float) else 0.0
    return tuple(sorted(found, key=lambda swing: -swing.width(middle)))


def _swing(lanes: Lanes, entry: Quantity, target: str | None, lane: int) -> Swing:
    """Read a swing out of the lane of the low end and the next one, of the high end."""
    low, high = _ends(entry)
    return Swing(
        quantity=entry.id,
        low=low,
        high=high,
        target_at_low=lanes.number(target, lane) if target else None,
        target_at_high=lanes.number(target, lane + 1) if target else None,
        verdict_at_low=lanes.verdicts[lane],
        verdict_at_high=lanes.verdicts[lane + 1],
    )


def _has_range(entry: Quantity) -> bool:
    definition, limits = entry.definition, entry.limits
    number = isinstance(definition, Given) and not isinstance(definition.value, bool)
    return number and limits.low is not None and limits.high is not None


def _ends(entry: Quantity) -> tuple[float, float]:
    low, high = entry.limits.low, entry.limits.high
    assert low is not None
    assert high is not None
    return low, high
