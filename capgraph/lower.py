"""Checked → Plan: steps in calculation order, each constant named once.

In: `Checked` → Out: `Plan`. Invariant: no unit is looked at from here on.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType

from capgraph.check import Checked
from capgraph.formula.tree import Expr, Scale, reductions, references, walk
from capgraph.graph import cone
from capgraph.model import Formula, Lookup, Sweep
from capgraph.plan import Compute, Constant, Fetch, Figure, Plan, Read, Step, SweepTable


def lower(checked: Checked) -> Plan:
    """Put a checked model into steps."""
    steps = tuple(_step(checked, name) for name in checked.graph.order)
    figures = (
        part.expr for message in checked.messages.values() for part in message if isinstance(part, Figure)
    )
    constants = _constants((*checked.expressions.values(), *figures))
    graph = checked.graph
    sweeps = {name: _table(checked, sweep) for name, sweep in checked.model.sweeps.items()}
    return Plan(
        checked.model, steps, MappingProxyType(constants), MappingProxyType(dict(checked.messages)),
        MappingProxyType(sweeps),
        MappingProxyType(dict(graph.used_by)), MappingProxyType(dict(graph.uses)),
    )  # fmt: skip


def _table(checked: Checked, sweep: Sweep) -> SweepTable:
    """Gather the steps that move with a sweep's input and that a reduction over it, or a curve, needs."""
    found = (
        node for expr in checked.expressions.values() for node in reductions(expr) if node.sweep == sweep.id
    )
    targets = [part.name for node in found for part in references(node)]
    moving = cone(checked.graph.uses, sweep.over, (*targets, *sweep.shows))
    return SweepTable(sweep, tuple(name for name in checked.graph.order if name in moving))


def _step(checked: Checked, name: str) -> Step:
    quantity = checked.model.quantities.get(name)
    if quantity is None or isinstance(quantity.definition, Formula):
        return Compute(name, checked.expressions[name])
    if isinstance(quantity.definition, Lookup):
        return Fetch(name, quantity.definition.choice, quantity.definition.catalog, quantity.definition.field)
    return Read(name)


def _constants(expressions: Iterable[Expr]) -> dict[str, Constant]:
    found = {
        node.constant: node.value for expr in expressions for node in walk(expr) if isinstance(node, Scale)
    }
    return {name: Constant(name, found[name]) for name in sorted(found)}
