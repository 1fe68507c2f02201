"""Where sweeps stand: a plan's sweeps in → a table on top for what each shows; below, rows for each quantity that
moves, one a point, and for each reduction.

Invariant: a scenario has the column that it has on every sheet, so a reduction over its points is one formula across a
row; a block's rows lie below each other, in the sweep's order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from capgraph.formula.reductions import REDUCTIONS
from capgraph.formula.tree import Expr, Reduce, Reference, reductions
from capgraph.plan import Compute, Fetch, Plan, SweepTable

CHART_ROWS = 19
"""Rows that a chart takes beside its sweep's table."""
_HEAD_ROWS = 4
"""Rows of a table above its points: the sweep, why, the names, the units."""

BlockKey = tuple[str, str]
"""`step` or `pick` and an id; `value`, `fitting`, `position`, `at` or `below` and a reduction's number."""


@dataclass(frozen=True, slots=True)
class Swept:
    """A sweep on its sheet: its table's first row, its blocks' heading and first rows, its reductions by number."""

    table: SweepTable
    top: int
    units: tuple[str, ...]
    """The units of the numbers that it shows: a chart each."""
    heading: int
    blocks: Mapping[BlockKey, int]
    reductions: Mapping[Reduce, int]

    @property
    def points(self) -> int:
        """Return how many points the sweep has."""
        return len(self.table.sweep.values)

    @property
    def over(self) -> BlockKey:
        """Return the block of the input that is swept."""
        return "step", self.table.sweep.over

    @property
    def first(self) -> int:
        """Return the row of the table's first point."""
        return self.top + _HEAD_ROWS

    @property
    def below(self) -> int:
        """Return the row below the table and its charts."""
        return self.top + _top_rows(self.points, len(self.units))

    def rows(self, key: BlockKey) -> int:
        """Return how many rows a block has."""
        return 1 if key[0] in ("at", "below") else self.points

    def values(self, node: Reduce) -> BlockKey | None:
        """Return the block of the values that a reduction takes: a quantity's own where it takes that alone."""
        if isinstance(node.value, Reference) and ("step", node.value.name) in self.blocks:
            return "step", node.value.name
        return self.auxiliary("value", node)

    def auxiliary(self, kind: str, node: Reduce) -> BlockKey | None:
        """Return the auxiliary block of a reduction, which others of the same operands share."""
        for other, number in self.reductions.items():
            if (kind, str(number)) in self.blocks and _operands(kind, other) == _operands(kind, node):
                return kind, str(number)
        return None

    def node(self, number: str) -> Reduce:
        """Return the reduction that an auxiliary block was made for."""
        return next(node for node, other in self.reductions.items() if str(other) == number)

    def area(self, key: BlockKey, letter: str) -> str:
        """Return a block's cells in a column, whose letter may begin with `$`."""
        first, count = self.blocks[key], self.rows(key)
        return f"{letter}${first}" + (f":{letter}${first + count - 1}" if count > 1 else "")


def lay_out_sweeps(plan: Plan, first_row: int) -> Mapping[str, Swept]:
    """Decide where the sweeps stand: the tables one below the other, then the blocks."""
    made: dict[str, Swept] = {}
    tops: dict[str, int] = {}
    row = first_row
    for name, table in plan.sweeps.items():
        tops[name] = row
        row += _top_rows(len(table.sweep.values), len(_units(plan, table))) + 1
    # A line says what the blocks are.
    row += 2
    for name, table in plan.sweeps.items():
        found = dict.fromkeys(node for node in _reductions(plan) if node.sweep == name)
        numbers = {node: number for number, node in enumerate(found, 1)}
        heading, row = row, row + 1
        blocks: dict[BlockKey, int] = {}
        for key in _block_keys(plan, table, numbers):
            blocks[key] = row + 1
            row += 1 + (1 if key[0] in ("at", "below") else len(table.sweep.values))
        made[name] = Swept(table, tops[name], _units(plan, table), heading, blocks, numbers)
        row += 1
    return made


def _units(plan: Plan, table: SweepTable) -> tuple[str, ...]:
    shown = (plan.model.quantities[name] for name in table.sweep.shows)
    return tuple(dict.fromkeys(quantity.unit_text for quantity in shown if quantity.unit is not None))


def _top_rows(points: int, charts: int) -> int:
    return max(_HEAD_ROWS + points, 2 + CHART_ROWS * charts)


def _reductions(plan: Plan) -> Iterator[Reduce]:
    for step in plan.steps:
        if isinstance(step, Compute):
            yield from reductions(step.expr)


def _block_keys(plan: Plan, table: SweepTable, numbers: Mapping[Reduce, int]) -> Iterator[BlockKey]:
    over = table.sweep.over
    yield "step", over
    if any(isinstance(step, Fetch) and step.choice == over for step in plan.steps):
        yield "pick", over
    moving = [name for name in table.steps if name != over]
    yield from (("step", name) for name in moving)
    seen: set[tuple[str, tuple[Expr | None, ...]]] = set()
    for node, number in numbers.items():
        is_own = isinstance(node.value, Reference) and node.value.name in (over, *moving)
        for kind in _auxiliaries(node, is_own):
            # Reductions of the same operands share a block.
            if (kind, _operands(kind, node)) not in seen:
                seen.add((kind, _operands(kind, node)))
                yield kind, str(number)


def _auxiliaries(node: Reduce, is_own: bool) -> Iterator[str]:
    """Yield the kinds of blocks that a reduction needs beside the quantities' own."""
    if node.value is not None and not is_own:
        yield "value"
    if node.at is not None:
        yield "at"
        yield "below"
        return
    needed = REDUCTIONS[node.function].excel
    if "{fitting}" in needed and node.condition is not None:
        yield "fitting"
    if "{position}" in needed:
        yield "position"


def _operands(kind: str, node: Reduce) -> tuple[Expr | None, ...]:
    """Return what an auxiliary block of a kind depends on."""
    return {
        "value": (node.value,),
        "fitting": (node.value, node.condition),
        "position": (node.condition,),
        "at": (node.at,),
        "below": (node.at,),
    }[kind]
