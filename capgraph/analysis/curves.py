"""What the quantities of a sweep come to at each of its points.

In: plan and results → Out: a `Curve` for every sweep that shows a number, in declared order.
Invariant: the selected scenario with the swept input set, all points in one call of the evaluator.
"""

from __future__ import annotations

from collections.abc import Iterator

from capgraph.analysis.lanes import run_lanes
from capgraph.findings import Curve
from capgraph.plan import Plan
from capgraph.results import Results


def draw_curves(plan: Plan, results: Results) -> tuple[Curve, ...]:
    """Return the curves of the sweeps."""
    return tuple(_curves(plan, results))


def _curves(plan: Plan, results: Results) -> Iterator[Curve]:
    for sweep in plan.model.sweeps.values():
        shown = [name for name in sweep.shows if plan.model.quantities[name].unit is not None]
        if not shown:
            continue
        lanes = run_lanes(plan, results.selected, [{sweep.over: value} for value in sweep.values])
        points = range(len(sweep.values))
        yield Curve(sweep.id, {name: tuple(lanes.number(name, point) for point in points) for name in shown})
