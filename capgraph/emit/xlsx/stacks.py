"""Charts of parts that add up to a whole: a model's charts in → their parts as formulas in one unit.

Invariant: every part is in the unit of the whole, through a named constant where the part itself is in
another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from capgraph.formula.tree import Binary, Expr, Reference, Scale, walk
from capgraph.model import Chart, Model, Quantity, Value
from capgraph.units import Unit, convert


@dataclass(frozen=True, slots=True)
class Stack:
    """One chart: a formula for each part and, where the chart has a whole, for it; all in `unit`."""

    chart: Chart
    unit: str
    parts: tuple[Expr, ...]
    whole: Expr | None

    def constants(self) -> Mapping[str, float]:
        """Return the conversions that the parts name."""
        nodes = (node for part in self.parts for node in walk(part))
        return {node.constant: node.value for node in nodes if isinstance(node, Scale)}

    def remainder(self) -> Expr | None:
        """Return what the parts leave of the whole, which is nothing when they add up."""
        if self.whole is None:
            return None
        left = self.whole
        for part in self.parts:
            left = Binary("-", left, part, part.span)
        return left


def stacks(model: Model) -> tuple[Stack, ...]:
    """Return the model's charts."""
    return tuple(_stack(model, chart) for chart in model.charts.values() if chart.parts)


def _stack(model: Model, chart: Chart) -> Stack:
    unit = model.quantities[chart.whole or chart.parts[0]].unit
    parts = tuple(_in_unit(model.quantities[name], unit) for name in chart.parts)
    whole = _in_unit(model.quantities[chart.whole], unit) if chart.whole is not None else None
    return Stack(chart, unit.text if unit else "", parts, whole)


def _in_unit(quantity: Quantity, unit: Unit | None) -> Expr:
    span = quantity.provenance.origin
    expr: Expr = Reference(quantity.id, span)
    if quantity.unit is None or unit is None:
        return expr
    for step in convert(quantity.unit, unit):
        expr = Scale(expr, step.constant, step.value, step.divide, span)
    return expr


def part_value(part: Expr, values: Mapping[str, Value | None]) -> float:
    """Return what a part is in one scenario."""
    if isinstance(part, Scale):
        inner = part_value(part.operand, values)
        return inner / part.value if part.divide else inner * part.value
    assert isinstance(part, Reference)
    value = values[part.name]
    assert isinstance(value, float)
    return value
