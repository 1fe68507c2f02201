"""Number formats of rows: a step and its values in every scenario in → the format of its row.

Invariant: what can only be whole shows no decimals; a row has one format, on every sheet that shows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from capgraph.emit.xlsx.styles import GENERAL, number_format
from capgraph.formula.functions import FUNCTIONS
from capgraph.formula.tree import Binary, Call, Expr, Number, Reference, Unary, children, walk
from capgraph.plan import Compute, Plan
from capgraph.results import Results


def row_shapes(plan: Plan, results: Results) -> Mapping[str, str]:
    """Return the number format of every quantity's row."""
    whole: dict[str, bool] = {}
    shapes: dict[str, str] = {}
    for step in plan.steps:
        numbers = tuple(_numbers(results, step.id))
        all_whole = all(number == int(number) for number in numbers)
        whole[step.id] = all_whole and (not isinstance(step, Compute) or _is_whole(step.expr, whole))
        quantity = plan.model.quantities.get(step.id)
        if quantity is None or quantity.unit is None:
            shapes[step.id] = GENERAL
        else:
            shapes[step.id] = number_format(numbers, quantity.unit.text, whole[step.id], quantity.is_input)
    return shapes


def _numbers(results: Results, name: str) -> Iterator[float]:
    for result in results.scenarios.values():
        value = result.values.get(name)
        if isinstance(value, float) and not isinstance(value, bool):
            yield value


def _is_whole(expr: Expr, whole: Mapping[str, bool]) -> bool:
    """Say whether a formula of whole numbers gives a whole number."""
    found: dict[int, bool] = {}
    for node in reversed(tuple(walk(expr))):
        found[id(node)] = _stays_whole(node, [found[id(child)] for child in children(node)], whole)
    return found[id(expr)]


def _stays_whole(node: Expr, operands: Sequence[bool], whole: Mapping[str, bool]) -> bool:
    match node:
        case Number():
            return node.value == int(node.value)
        case Reference():
            return whole[node.name]
        case Unary() | Binary(op="+" | "-" | "*"):
            return all(operands)
        case Call(function="if"):
            return all(operands[1:])
        case Call():
            rule = FUNCTIONS[node.function].rule
            return rule == "count" or (rule == "same" and all(operands))
        case _:
            return False
