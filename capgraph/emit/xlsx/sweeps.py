"""The Sweeps sheet: a table per sweep, live: every quantity that moves, at every point, in every scenario; its curves.

In: a page, the layout and the results → Out: the cells and the charts. Invariant: one formula serves a block, across
and down; the points are inputs, all else follows.
"""

from __future__ import annotations

from dataclasses import dataclass

from openpyxl.utils import get_column_letter

from capgraph.emit.xlsx.charts import Bars, Curves, Strip, draw, draw_curves
from capgraph.emit.xlsx.formula import print_excel
from capgraph.emit.xlsx.grid import Column, finish_grid, write_head, write_section
from capgraph.emit.xlsx.layout import ACTIVE, BASE, FIRST_ROW, LABEL, NAME, SWEEPS, UNIT, Layout
from capgraph.emit.xlsx.names import quoted
from capgraph.emit.xlsx.page import Page, at, fixed
from capgraph.emit.xlsx.reductions import below_formula
from capgraph.emit.xlsx.references import AtPoint, ByName, Domains, InColumn
from capgraph.emit.xlsx.steps import row_formula
from capgraph.emit.xlsx.styles import GENERAL, Role, number_format
from capgraph.emit.xlsx.swept import BlockKey, Swept
from capgraph.emit.xlsx.swept_values import BlockValues, block_values
from capgraph.emit.xlsx.words import say
from capgraph.formula.tree import Expr, Reduce
from capgraph.results import Results

_BEFORE = (
    Column("Quantity, at each point", 36),
    Column("Swept input", 22),
    Column("Unit", 16),
    Column("Active", 15),
    Column("Point", 15),
)
_NOTE = (
    "Each block holds one quantity at every point of a sweep. The points are inputs; a formula that reduces over a "
    "sweep reads these cells."
)
_CHART, _CHART_COLUMNS = (16, 9), (1, 6)


def write_sweeps(page: Page, layout: Layout, results: Results) -> None:
    """Write the sheet."""
    write_head(page, layout, results, "Sweeps", _NOTE, _BEFORE, ())
    last_row = FIRST_ROW
    for swept in layout.sweeps.values():
        values = block_values(layout.plan, swept, layout.scenarios)
        writer = _Sweep(page, layout, results, swept, values)
        writer.write()
        last_row = max(first + swept.rows(key) for key, first in swept.blocks.items())
    finish_grid(page, layout, last_row, layout.last)


@dataclass(frozen=True)
class _Sweep:
    page: Page
    layout: Layout
    results: Results
    swept: Swept
    values: BlockValues

    def write(self) -> None:
        """Write a sweep's heading, its blocks and its charts."""
        write_section(self.page, self.swept.heading, self.swept.table.sweep.label, self.layout.last)
        for key, first in self.swept.blocks.items():
            label, unit = self._described(key)
            self.page.text(first - 1, LABEL, label, Role.BLOCK)
            self.page.text(first - 1, UNIT, unit, Role.UNIT)
            if key[0] == "step":
                self.page.text(first - 1, NAME, self.layout.names[key], Role.NAME)
            for offset in range(self.swept.rows(key)):
                self._write_row(key, first + offset, offset)
        self._draw()

    def _write_row(self, key: BlockKey, row: int, offset: int) -> None:
        shape = self._shape(key)
        point = f"$E{self.swept.blocks[self.swept.over] + offset}"
        if key == self.swept.over:
            value = self.swept.table.sweep.values[offset]
            role = Role.INPUT
            self.page.value(row, BASE, value, role, shape)
        elif self.swept.rows(key) > 1:
            over = self.layout.shapes[self.swept.table.sweep.over]
            self.page.formula(row, NAME, point, self.values[self.swept.over][0][offset], Role.FORMULA, over)
        selected = self.layout.scenarios.index(self.results.selected)
        columns: list[tuple[int, int]] = [(ACTIVE, selected)]
        if self.swept.reductions:
            columns += [(column, number) for number, (column, _) in enumerate(self.layout.columns())]
        for column, number in columns:
            formula = point if key == self.swept.over else self._formula(key, column, offset)
            cached = self.values[key][number][offset]
            self.page.formula(row, column, formula, cached, self._role(key), shape)

    def _role(self, key: BlockKey) -> Role:
        return Role.LINK if key[0] == "at" else Role.FORMULA

    def _formula(self, key: BlockKey, column: int, offset: int) -> str:
        domains, letter = Domains(self.layout.plan), get_column_letter(column)
        outer = (
            ByName(self.layout, domains)
            if column == ACTIVE
            else InColumn(self.layout, domains, SWEEPS, column)
        )
        here = AtPoint(self.layout, domains, outer, letter, self.swept, offset)
        kind, name = key
        if kind in ("step", "pick"):
            return row_formula(self.layout, key, here)
        node = self.swept.node(name)
        if kind == "at":
            assert node.at is not None
            return print_excel(node.at, outer)
        if kind == "below":
            asked = self.swept.auxiliary("at", node)
            assert asked is not None
            return below_formula(self.swept, self.swept.area(asked, letter), letter)
        if kind == "value":
            assert node.value is not None
            return print_excel(node.value, here)
        taken = self._taken(kind, node, letter, offset)
        return taken if node.condition is None else f'IF({print_excel(node.condition, here)},{taken},"")'

    def _taken(self, kind: str, node: Reduce, letter: str, offset: int) -> str:
        """Return what a point that fits gives: its number, or its value."""
        if kind == "position":
            first = self.swept.blocks[self.swept.over]
            return f"ROWS({letter}${first}:{letter}{first + offset})"
        values = self.swept.values(node)
        assert values is not None
        return f"{letter}{self.swept.blocks[values] + offset}"

    def _described(self, key: BlockKey) -> tuple[str, str]:
        kind, name = key
        if kind in ("step", "pick"):
            quantity = self.layout.plan.model.quantities[name]
            return (
                (quantity.label, quantity.unit_text)
                if kind == "step"
                else (f"{quantity.label}: its row", "row")
            )
        node = self.swept.node(name)
        value, condition, asked = (self._said(part) for part in (node.value, node.condition, node.at))
        said = {
            "value": value,
            "fitting": f"{value}, where {condition}",
            "position": f"Points where {condition}" if condition else "Points",
            "at": f"Asked for: {asked}",
            "below": f"Last point at or below {asked}",
        }
        return said[kind], ""

    def _said(self, part: Expr | None) -> str:
        quantities = self.layout.plan.model.quantities
        return say(part, lambda name: quantities[name].label if name in quantities else name) if part else ""

    def _shape(self, key: BlockKey) -> str:
        kind, name = key
        if kind == "step":
            return self.layout.shapes[name]
        if kind in ("pick", "position", "below"):
            return GENERAL
        numbers = [value for row in self.values[key] for value in row if isinstance(value, float)]
        return number_format(numbers, "")

    def _draw(self) -> None:
        """Draw the curves, those of one unit together."""
        sweep, quantities = self.swept.table.sweep, self.layout.plan.model.quantities
        units = dict.fromkeys(quantities[name].unit_text for name in sweep.shows)
        points = Strip(self._area(self.swept.over, BASE), sweep.values)
        over = quantities[sweep.over]
        for number, unit in enumerate(units):
            series = tuple(self._curve(name) for name in sweep.shows if quantities[name].unit_text == unit)
            anchor, title = at(self.swept.heading + 1, _CHART_COLUMNS[number % 2]), f"{sweep.label}, {unit}"
            if over.unit is None:
                draw(self.page, Bars(title, points, series, stacked=False), anchor, *_CHART)
            else:
                curves = Curves(title, f"{over.label}, {over.unit_text}", points, series, sweep.scale)
                draw_curves(self.page, curves, anchor, *_CHART)

    def _curve(self, name: str) -> tuple[Strip, Strip]:
        """Return the cells of a curve's name and of its numbers in the active column."""
        key = ("step", name)
        label = self.layout.plan.model.quantities[name].label
        numbers = self.values[key][self.layout.scenarios.index(self.results.selected)]
        named = Strip(f"{quoted(SWEEPS)}!{fixed(self.swept.blocks[key] - 1, LABEL)}", (label,))
        held = tuple(value for value in numbers if isinstance(value, float | str))
        return named, Strip(self._area(key, ACTIVE), held)

    def _area(self, key: BlockKey, column: int) -> str:
        first, count = self.swept.blocks[key], self.swept.rows(key)
        return f"{quoted(SWEEPS)}!{fixed(first, column)}:{fixed(first + count - 1, column)}"
