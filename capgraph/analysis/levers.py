"""What each lever does to the selected scenario, alone and all together.

In: plan and results → Out: a `LeverEffect` for every lever in declared order, and one for all of them.
Invariant: all variations in one call of the evaluator; of two levers that set one input, the later holds in `together`.
"""

from __future__ import annotations

from collections.abc import Mapping

from capgraph.analysis.lanes import Lanes, run_lanes
from capgraph.findings import LeverEffect
from capgraph.model import Lever, Value
from capgraph.plan import Plan
from capgraph.results import Results

TOGETHER = "together"


def pull_levers(plan: Plan, results: Results) -> tuple[tuple[LeverEffect, ...], LeverEffect | None]:
    """Return the effect of each lever, and of all when there is more than one."""
    levers = tuple(plan.model.levers.values())
    if not levers:
        return (), None
    changes = [_settings(lever) for lever in levers]
    all_of_them: dict[str, Value] = {}
    for change in changes:
        all_of_them |= change
    lanes = run_lanes(plan, results.selected, [*changes, all_of_them])
    shown = _shown(plan)
    effects = tuple(_effect(lever.id, lanes, lane, shown) for lane, lever in enumerate(levers))
    return effects, _effect(TOGETHER, lanes, len(levers), shown) if len(levers) > 1 else None


def _settings(lever: Lever) -> Mapping[str, Value]:
    return {name: setting.value for name, setting in lever.settings.items()}


def _shown(plan: Plan) -> tuple[str, ...]:
    """Return what any lever is meant to move, the target and the options' costs."""
    decision = plan.model.decision
    names = [name for lever in plan.model.levers.values() for name in lever.shows]
    if decision:
        names += [decision.target] if decision.target else []
        names += [option.cost for option in decision.options.values() if option.cost]
    return tuple(dict.fromkeys(names))


def _effect(lever: str, lanes: Lanes, lane: int, shown: tuple[str, ...]) -> LeverEffect:
    return LeverEffect(lever, {name: lanes.value(name, lane) for name in shown}, lanes.verdicts[lane])
