"""What a step rests on.

In: a plan and step ids → Out: those steps and all that they read, near and far.
Invariant: an id that is no step is left out.
"""

from __future__ import annotations

from collections.abc import Iterable

from capgraph.plan import Plan


def cone(plan: Plan, targets: Iterable[str]) -> frozenset[str]:
    """Return the targets and every step that they rest on."""
    known = {step.id for step in plan.steps}
    pending = [target for target in targets if target in known]
    seen: set[str] = set()
    while pending:
        step = pending.pop()
        if step not in seen:
            seen.add(step)
            pending.extend(plan.uses.get(step, ()))
    return frozenset(seen)
