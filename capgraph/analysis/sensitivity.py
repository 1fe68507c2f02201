"""How far the target moves over the stated range of each input and over the error of each fit, and whether the verdict
holds there.

In: plan and results → Out: a `Swing` for every number with a range and every fit in force, widest first.
Invariant: one at a time from the selected scenario; all ends in one call of the evaluator; what was fitted moves with
the error of its fit, and not once more with the ranges of the parameters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from capgraph.analysis.basis import fits_in_force, parameters_of
from capgraph.analysis.lanes import Lanes, run_lanes
from capgraph.analysis.subject import target_of
from capgraph.findings import Swing
from capgraph.model import Fit, Given, Quantity
from capgraph.plan import Plan
from capgraph.results import Results


@dataclass(frozen=True, slots=True)
class _Range:
    """What is tried: a quantity at two ends, of its stated range or of a fit's error."""

    quantity: str
    low: float
    high: float
    fit: str = ""


def swings(plan: Plan, results: Results) -> tuple[Swing, ...]:
    """Return the swing of each range; none where the model neither decides nor results in a number."""
    target = target_of(plan)
    tried = tuple(_ranges(plan, results))
    if (plan.model.decision is None and target is None) or not tried:
        return ()
    lanes = run_lanes(
        plan, results.selected, [{item.quantity: end} for item in tried for end in (item.low, item.high)]
    )
    found = [_swing(lanes, item, target, 2 * number) for number, item in enumerate(tried)]
    centre = results.scenarios[results.selected].values.get(target) if target else None
    middle = centre if isinstance(centre, float) else 0.0
    return tuple(sorted(found, key=lambda swing: -swing.width(middle)))


def _ranges(plan: Plan, results: Results) -> Iterator[_Range]:
    predicted = _predicted(plan, results)
    fitted = {
        name for fit in predicted.values() for name in parameters_of(plan, results, fit)
    }  # fmt: skip
    for entry in plan.model.quantities.values():
        if _has_range(entry) and entry.id not in fitted:
            yield _Range(entry.id, *_ends(entry))
    for name, fit in predicted.items():
        value = results.scenarios[results.selected].number(name)
        yield _Range(name, value * (1 - fit.error), value * (1 + fit.error), fit.id)


def _predicted(plan: Plan, results: Results) -> dict[str, Fit]:
    """Return what fits in force predict, each with the least exact of them; what the scenario sets is not predicted."""
    found: dict[str, Fit] = {}
    scenario = results.selected
    for fit in sorted(fits_in_force(plan, results), key=lambda fit: fit.error):
        value = results.scenarios[scenario].values[fit.of]
        if fit.of not in plan.model.scenarios[scenario].settings and isinstance(value, float):
            found[fit.of] = fit
    return found


def _swing(lanes: Lanes, item: _Range, target: str | None, lane: int) -> Swing:
    """Read a swing out of the lane of the low end and the next one, of the high end."""
    return Swing(
        quantity=item.quantity,
        low=item.low,
        high=item.high,
        target_at_low=lanes.number(target, lane) if target else None,
        target_at_high=lanes.number(target, lane + 1) if target else None,
        verdict_at_low=lanes.verdicts[lane],
        verdict_at_high=lanes.verdicts[lane + 1],
        fit=item.fit,
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
