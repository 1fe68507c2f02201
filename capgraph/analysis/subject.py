"""What a model is about: the quantities that its reports show first.

In: a plan → Out: ids. Invariant: only quantities of the model are named, never a check or a rule.
"""

from __future__ import annotations

from capgraph.model import Formula
from capgraph.plan import Plan


def results_of(plan: Plan) -> tuple[str, ...]:
    """Return the key figures; without any, the computed quantities that no other quantity uses."""
    quantities = plan.model.quantities
    if plan.model.key_figures:
        return plan.model.key_figures
    computed = (name for name, entry in quantities.items() if isinstance(entry.definition, Formula))
    return tuple(name for name in computed if not any(user in quantities for user in plan.used_by[name]))


def target_of(plan: Plan) -> str | None:
    """Return the quantity whose swings are shown: the decision's target, or the first result that is a number."""
    if plan.model.decision is not None:
        return plan.model.decision.target
    quantities = plan.model.quantities
    computed = (name for name in results_of(plan) if isinstance(quantities[name].definition, Formula))
    return next((name for name in computed if quantities[name].unit is not None), None)
