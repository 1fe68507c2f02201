"""What a sweep shows, on top of its sheet: a row a point, a column a quantity, and the charts beside them.

In: a page, the layout, a sweep and its values → Out: the cells and the charts. Invariant: the points are inputs; every
other cell shows what the sweep's blocks hold for the chosen scenario.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from openpyxl.utils import get_column_letter

from capgraph.emit.xlsx.charts import Bars, Curves, Strip, draw, draw_curves
from capgraph.emit.xlsx.grid import write_section
from capgraph.emit.xlsx.layout import ACTIVE, LABEL, SWEEPS, Layout
from capgraph.emit.xlsx.names import quoted
from capgraph.emit.xlsx.page import Cached, Page, at, fixed
from capgraph.emit.xlsx.styles import Role
from capgraph.emit.xlsx.swept import CHART_ROWS, Swept
from capgraph.emit.xlsx.swept_values import BlockValues, block_shape
from capgraph.results import Results

_CHART = 16, 9
"""Width and height in centimetres."""
_CHART_WIDTH = 87.0
"""The same width in the unit of columns."""


@dataclass(frozen=True)
class Top:
    """Writes a sweep's table and its charts."""

    page: Page
    layout: Layout
    results: Results
    swept: Swept
    values: BlockValues

    def write(self) -> int:
        """Write table and charts; return the last column that they reach."""
        sweep, shown = self.swept.table.sweep, self._shown
        last = self._chart_end if self.swept.units else len(shown)
        write_section(self.page, self.swept.top, sweep.label, last)
        if sweep.provenance.because:
            self.page.text(self.swept.top + 1, LABEL, sweep.provenance.because, Role.NOTE, until=last)
        for column, name in enumerate(shown, LABEL):
            self._write_column(column, name)
        self._draw()
        return last

    @property
    def _shown(self) -> tuple[str, ...]:
        sweep = self.swept.table.sweep
        return (sweep.over, *(name for name in sweep.shows if name != sweep.over))

    @property
    def _chart_end(self) -> int:
        column, room = len(self._shown), 0.0
        while room < _CHART_WIDTH:
            column += 1
            room += self.page.sheet.column_dimensions[get_column_letter(column)].width
        return column

    def _write_column(self, column: int, name: str) -> None:
        key, first = ("step", name), self.swept.first
        quantity = self.layout.plan.model.quantities[name]
        self.page.text(first - 2, column, quantity.label, Role.HEADER)
        self.page.text(first - 1, column, quantity.unit_text, Role.HEADER)
        shape = block_shape(self.layout, self.swept, self.values, key)
        for offset, cached in enumerate(self._now(name)):
            if column == LABEL:
                value = self.swept.table.sweep.values[offset]
                self.page.value(first + offset, column, value, Role.INPUT, shape)
            else:
                there = at(self.swept.blocks[key] + offset, ACTIVE)
                self.page.formula(first + offset, column, there, cached, Role.FORMULA, shape)

    def _now(self, name: str) -> Sequence[Cached]:
        return self.values["step", name][self.layout.scenarios.index(self.results.selected)]

    def _draw(self) -> None:
        """Draw the curves, those of one unit together."""
        sweep, quantities = self.swept.table.sweep, self.layout.plan.model.quantities
        points, over = self._strip(sweep.over, sweep.values), quantities[sweep.over]
        for number, unit in enumerate(self.swept.units):
            named = [
                name for name in sweep.shows if quantities[name].unit and quantities[name].unit_text == unit
            ]
            series = tuple((self._label(name), self._strip(name, self._now(name))) for name in named)
            anchor = at(self.swept.top + 2 + number * CHART_ROWS, len(self._shown) + 1)
            title = ", ".join(filter(None, (sweep.label, unit)))
            if over.unit is None:
                draw(self.page, Bars(title, points, series, stacked=False), anchor, *_CHART)
            else:
                across = ", ".join(filter(None, (over.label, over.unit_text)))
                draw_curves(self.page, Curves(title, across, points, series, sweep.scale), anchor, *_CHART)

    def _label(self, name: str) -> Strip:
        row, column = self.swept.first - 2, LABEL + self._shown.index(name)
        address = f"{quoted(SWEEPS)}!{fixed(row, column)}"
        return Strip(address, (self.layout.plan.model.quantities[name].label,))

    def _strip(self, name: str, values: Sequence[Cached]) -> Strip:
        """Return a column of the table, with the values that it holds."""
        column, first = LABEL + self._shown.index(name), self.swept.first
        last = first + self.swept.points - 1
        held = tuple(value for value in values if isinstance(value, float | str))
        return Strip(f"{quoted(SWEEPS)}!{fixed(first, column)}:{fixed(last, column)}", held)
