"""How far each suspect alone would bring measurements below the selected scenario.

In: plan and results → Out: a `Shortfall` for every suspect that says what it shows, in declared order.
Invariant: all of them in one call of the evaluator; of a range, the end at which the first shown quantity is least.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from capgraph.analysis.lanes import Lanes, run_lanes
from capgraph.findings import Shortfall
from capgraph.model import Suspect, Value
from capgraph.plan import Plan
from capgraph.results import Results


def find_shortfalls(plan: Plan, results: Results) -> tuple[Shortfall, ...]:
    """Return what each suspect does to the quantities that it shows."""
    present = results.scenarios[results.selected].values
    tried = [
        (suspect, change)
        for suspect in plan.model.suspects.values()
        if suspect.shows
        for change in _ends(suspect, present)
    ]
    if not tried:
        return ()
    lanes = run_lanes(plan, results.selected, [change for _, change in tried])
    least: dict[str, tuple[float, Shortfall]] = {}
    for lane, (suspect, change) in enumerate(tried):
        values = {name: lanes.value(name, lane) for name in suspect.shows}
        size = _size(lanes, suspect.shows[0], lane)
        if suspect.id not in least or size < least[suspect.id][0]:
            least[suspect.id] = (size, Shortfall(suspect.id, change, values))
    return tuple(made for _, made in least.values())


def _ends(suspect: Suspect, present: Mapping[str, Value | None]) -> tuple[Mapping[str, Value], ...]:
    """Return what a suspect changes: its settings, with each end of its range; nothing where all is so already."""
    settings = {
        name: setting.value for name, setting in suspect.settings.items() if setting.value != present.get(name)
    }
    if suspect.vary is None:
        return (settings,) if settings else ()
    ends = (suspect.limits.low, suspect.limits.high)
    return tuple(
        {**settings, suspect.vary: end} for end in ends if end is not None and end != present.get(suspect.vary)
    )


def _size(lanes: Lanes, name: str, lane: int) -> float:
    number = lanes.number(name, lane)
    return math.inf if number is None else number
