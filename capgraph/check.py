"""Model, Graph → Checked: a unit on every expression, and every conversion made visible.

In: formulas as written → Out: the same trees with `Scale` nodes where units of one dimension differ in size.
Invariant: after this stage no expression mixes dimensions, and no backend needs to know what a unit is.

Checking and inserting conversions are one walk: both need the same unit of every subexpression.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from capgraph.diagnostics import Diagnostic
from capgraph.elaborate import Elaborator, UnitMistakeError
from capgraph.formula.tree import Expr, Reference
from capgraph.graph import Graph, formulas
from capgraph.model import Model, Slot
from capgraph.plan import Figure, Message
from capgraph.units import UnitError, quotient


@dataclass(frozen=True, slots=True)
class Checked:
    """A model whose expressions have units: by step id the elaborated trees and the messages."""

    model: Model
    graph: Graph
    expressions: Mapping[str, Expr]
    messages: Mapping[str, Message]


def check(model: Model, graph: Graph) -> tuple[Checked | None, tuple[Diagnostic, ...]]:
    """Check every formula, condition and message of a model."""
    elaborator = Elaborator(model)
    found: list[Diagnostic] = []
    expressions: dict[str, Expr] = {}
    for name, expr in formulas(model):
        try:
            expressions[name] = _as_declared(model, name, expr, elaborator)
        except UnitMistakeError as mistake:
            found.append(mistake.diagnostic)
        except UnitError as error:
            message = f"the unit of this formula cannot be worked out: {error}"
            found.append(
                Diagnostic("CG505", message, expr.span, "write a smaller exponent, or smaller units")
            )
    messages = {name: _message(parts, elaborator) for name, parts in _messages(model)}
    return Checked(model, graph, expressions, messages), tuple(found)


def _as_declared(model: Model, name: str, expr: Expr, elaborator: Elaborator) -> Expr:
    """Return the elaborated tree, in the unit that the quantity declares."""
    quantity = model.quantities.get(name)
    tree, kind = elaborator.typed(expr)
    if quantity is None or quantity.unit is None:
        what = f"`{name}`" if quantity else "the condition"
        elaborator.need_flag(expr, kind, what)
        return tree
    unit = elaborator.need_number(expr, kind, f"`{name}`")
    if unit.dimension == quantity.unit.dimension or elaborator.is_zero(expr):
        return elaborator.scaled(tree, unit, quantity.unit)
    message = f"`{name}` is declared in {quantity.unit}, its formula gives {unit}"
    raise elaborator.mistake("CG503", message, expr, elaborator.missing_factor(quotient(quantity.unit, unit)))


def _messages(model: Model) -> Iterable[tuple[str, tuple[str | Slot, ...]]]:
    for name, item in model.checks.items():
        yield f"check.{name}", item.message
    if (decision := model.decision) is None:
        return
    headlines = tuple(rule.headline for rule in decision.rules)
    told = {"rule": headlines, "exception": decision.exceptions, "policy": decision.policy, "alert": decision.alerts}
    for kind, messages in told.items():
        yield from ((f"{kind}.{number}", message) for number, message in enumerate(messages, 1))


def _message(parts: tuple[str | Slot, ...], elaborator: Elaborator) -> Message:
    return tuple(part if isinstance(part, str) else _figure(part, elaborator) for part in parts)


def _figure(slot: Slot, elaborator: Elaborator) -> Figure:
    reference = Reference(slot.quantity, slot.span)
    quantity = elaborator.model.quantities[slot.quantity]
    if quantity.unit is None or slot.unit is None or not slot.unit.text:
        return Figure(reference, slot.decimals, "")
    return Figure(elaborator.scaled(reference, quantity.unit, slot.unit), slot.decimals, slot.unit.text)
