"""The values at the points of a sweep: a plan and its results in → each block's values in every scenario.

Invariant: a point is a lane in which the swept input is set and nothing else differs from its scenario.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from capgraph.calculate import Columns, calculate
from capgraph.emit.xlsx.layout import Layout
from capgraph.emit.xlsx.page import Cached, Failed
from capgraph.emit.xlsx.steps import MISSING
from capgraph.emit.xlsx.styles import WHOLE, number_format
from capgraph.emit.xlsx.swept import BlockKey, Swept
from capgraph.evaluate import scenario_overrides
from capgraph.formula.tree import Expr, references
from capgraph.graph import reached
from capgraph.model import Choose
from capgraph.plan import Compute, Fetch, Plan, Step

BlockValues = Mapping[BlockKey, Sequence[Sequence[Cached]]]
"""By block, for each scenario the values of its rows."""


def block_values(plan: Plan, swept: Swept, scenarios: Sequence[str]) -> BlockValues:
    """Calculate what every cell of a sweep shows."""
    sweep = swept.table.sweep
    extras = _extra_steps(swept)
    small = _only_needed(plan, [*swept.table.steps], extras)
    lanes = [scenario for scenario in scenarios for _ in sweep.values]
    changes = [{sweep.over: value} for _ in scenarios for value in sweep.values]
    columns = calculate(small, scenario_overrides(small, lanes, changes), len(lanes))
    made: dict[BlockKey, list[list[Cached]]] = {}
    for key in swept.blocks:
        if key[0] not in ("at", "below"):
            flat = _flat(small, swept, key, columns)
            made[key] = [flat[start : start + swept.points] for start in range(0, len(flat), swept.points)]
    made |= _below(plan, swept, scenarios)
    return made


def block_shape(layout: Layout, swept: Swept, values: BlockValues, key: BlockKey) -> str:
    """Return the number format of a quantity's block: three to four figures at each of its points."""
    shape = layout.shapes[key[1]]
    quantity = layout.plan.model.quantities[key[1]]
    if quantity.unit is None:
        return shape
    numbers = [value for row in values[key] for value in row if isinstance(value, float)]
    all_whole = all(number == int(number) for number in numbers)
    return number_format(numbers, quantity.unit.text, all_whole and (key == swept.over or shape == WHOLE))


def _flat(plan: Plan, swept: Swept, key: BlockKey, columns: Columns) -> list[Cached]:
    kind, name = key
    size = columns.size
    if kind == "step":
        return [_cached(plan, name, columns.values[name][lane]) for lane in range(size)]
    if kind == "pick":
        definition = plan.model.quantities[name].definition
        assert isinstance(definition, Choose)
        assert definition.catalog is not None
        rows = tuple(plan.model.catalogs[definition.catalog].rows)
        return [float(rows.index(option) + 1) for option in columns.values[name]]
    node = swept.node(name)
    if kind == "value":
        return [_number(value) for value in columns.values[_extra("value", name)]]
    picked = [True] * size if node.condition is None else list(columns.values[_extra("condition", name)])
    if kind == "position":
        return [float(lane % swept.points + 1) if fits else "" for lane, fits in enumerate(picked)]
    source = swept.values(node)
    assert source is not None
    values = columns.values[source[1] if source[0] == "step" else _extra(*source)]
    return [_number(value) if fits else "" for value, fits in zip(values, picked, strict=True)]


def _below(plan: Plan, swept: Swept, scenarios: Sequence[str]) -> dict[BlockKey, list[list[Cached]]]:
    made: dict[BlockKey, list[list[Cached]]] = {}
    points = [value for value in swept.table.sweep.values if isinstance(value, float)]
    for node, number in swept.reductions.items():
        if node.at is None or ("at", str(number)) not in swept.blocks:
            continue
        extra = Compute(_extra("at", str(number)), node.at)
        small = _only_needed(plan, (), [extra])
        found = calculate(small, scenario_overrides(small, scenarios), len(scenarios)).values[extra.id]
        made["at", str(number)] = [[_number(value)] for value in found]
        places = (sum(point <= value for point in points) for value in found)
        made["below", str(number)] = [[float(min(place, len(points) - 1))] for place in places]
    return made


def _extra_steps(swept: Swept) -> list[Compute]:
    made = []
    for node, number in swept.reductions.items():
        parts: tuple[tuple[str, Expr | None], ...] = (("value", node.value), ("condition", node.condition))
        made += [Compute(_extra(kind, str(number)), expr) for kind, expr in parts if expr is not None]
    return made


def _extra(kind: str, number: str) -> str:
    return f"/{kind}/{number}"


def _only_needed(plan: Plan, names: Iterable[str], extras: Sequence[Compute]) -> Plan:
    """Return the plan with the steps that some need, and further ones behind them."""
    uses = {
        **plan.uses,
        **{extra.id: tuple(item.name for item in references(extra.expr)) for extra in extras},
    }
    needed = reached(uses, (*names, *(extra.id for extra in extras)))
    steps: tuple[Step, ...] = tuple(step for step in plan.steps if step.id in needed)
    return replace(plan, steps=(*steps, *extras), uses=uses)


def _cached(plan: Plan, name: str, value: Any) -> Cached:
    if isinstance(value, str):
        return value
    step = plan.by_id[name]
    if isinstance(step, Fetch) and (value is None or value != value):
        is_text = plan.model.catalogs[step.catalog].fields[step.field].kind == "text"
        return Failed("#N/A") if is_text else MISSING
    return bool(value) if isinstance(value, bool) or value.dtype == bool else _number(value)


def _number(value: Any) -> Cached:
    return float(value) if value == value else Failed("#DIV/0!")
