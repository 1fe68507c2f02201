"""A message with its numbers in it.

In: a plan's message and a scenario's values → Out: the text that a person reads.
Invariant: rounding is half away from zero to the stated decimals, as the workbook's live text does it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from capgraph.formula.tree import Expr, Reference, Scale
from capgraph.model import Choose, Value
from capgraph.notation import show_decimals
from capgraph.plan import Figure, Message, Plan


def write_message(plan: Plan, message: Message, values: Mapping[str, Value | None]) -> str:
    """Write a message for one scenario."""
    return "".join(part if isinstance(part, str) else _written(plan, part, values) for part in message)


def _written(plan: Plan, figure: Figure, values: Mapping[str, Value | None]) -> str:
    value = _value(figure.expr, values)
    if value is None:
        return "n/a"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return _name(plan, figure.expr, value)
    number = show_decimals(value, figure.decimals)
    return number + unit_suffix(figure.unit)


def unit_suffix(unit: str) -> str:
    """Return how a unit follows a number in a message: `%` at once, plain units not at all."""
    if unit in ("", "1", "count", "ratio", "fraction"):
        return ""
    return unit if unit == "%" else f" {unit}"


def _value(expr: Expr, values: Mapping[str, Value | None]) -> Value | None:
    if isinstance(expr, Scale):
        inner = _value(expr.operand, values)
        if not isinstance(inner, float):  # a catalog field that the row lacks
            return None
        made = inner / expr.value if expr.divide else inner * expr.value
        return made if math.isfinite(made) else None
    assert isinstance(expr, Reference)
    return values[expr.name]


def _name(plan: Plan, expr: Expr, option: str) -> str:
    """Return the name of the catalog row that a choice takes."""
    assert isinstance(expr, Reference)
    definition = plan.model.quantities[expr.name].definition
    if isinstance(definition, Choose) and definition.catalog is not None:
        return plan.model.catalogs[definition.catalog].rows[option].name
    return option
