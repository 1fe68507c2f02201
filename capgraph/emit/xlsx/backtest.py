"""The Backtest sheet: how far off the model is, for each quantity that a file measures, by group, with its chart.

In: a page, the layout and where the measurements stand → Out: the cells and the charts. Invariant: every statistic is
live over the rows of the sheet Measurements, by functions of 2010; bounds and the percentile stand in cells.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from openpyxl.utils import get_column_letter

from capgraph.emit.xlsx.charts import Cloud, Points, Strip, draw_points
from capgraph.emit.xlsx.grid import write_section
from capgraph.emit.xlsx.layout import BACKTEST, Layout
from capgraph.emit.xlsx.measurements import (
    ERROR,
    GROUPS,
    NOT_SAID,
    PERCENT,
    PREDICTED,
    SIZE,
    Block,
    Grouping,
    Sheet,
)
from capgraph.emit.xlsx.names import quoted
from capgraph.emit.xlsx.page import Page, at, fixed
from capgraph.emit.xlsx.paper import set_up_tops
from capgraph.emit.xlsx.styles import Role, number_format

_NOTE = (
    "The model held against measurements. Predicted values are fixed, since a row is no scenario and does not follow "
    "the inputs; every statistic here is live over the rows of the sheet Measurements."
)
_GROUP, _NUMBER, _COUNT, _MEAN, _MEDIAN, _P90, _BIAS, _NEAR, _FAR = range(1, 10)
_HEADS = (
    "", "No.", "Rows", "Mean error", "Median error", "90th percentile", "Bias", "Within ±10%", "Within ±25%",
)  # fmt: skip
_DIAGONAL = "Predicted = measured"
_BOUNDS_ROW, _FIRST = 4, 6
_BOUND, _WIDER, _PERCENTILE = fixed(_BOUNDS_ROW, _NEAR), fixed(_BOUNDS_ROW, _FAR), fixed(_BOUNDS_ROW, _P90)
_BOUNDS = {_P90: 0.9, _NEAR: 0.1, _FAR: 0.25}
_CHART_COLUMN, _CHART, _CHART_ROWS = 11, (14, 11), 21
_CHART_COLUMNS = 8


def write_backtest(page: Page, layout: Layout, sheet: Sheet) -> None:
    """Write the sheet."""
    page.widths(34, 6, 9, *[12.0] * 6, 2, *[9.5] * _CHART_COLUMNS)
    page.text(1, 1, BACKTEST, Role.TITLE)
    page.height(1, 24)
    page.text(2, 1, _NOTE, Role.NAME)
    page.text(_BOUNDS_ROW, 1, "Bounds and percentile that the statistics use", Role.SECTION)
    for column in range(2, _FAR + 1):
        page.blank(_BOUNDS_ROW, column, Role.SECTION)
    for column, value in _BOUNDS.items():
        page.value(_BOUNDS_ROW, column, value, Role.CONSTANT, "0%")
    row = _FIRST
    for block in sheet.blocks:
        row = _Section(page, layout, sheet, block, row).write()
    set_up_tops(page, layout.plan.model, row - 2, _CHART_COLUMN + _CHART_COLUMNS - 1)


@dataclass(frozen=True)
class _Section:
    """Writes what is said of one block, from a row on."""

    page: Page
    layout: Layout
    sheet: Sheet
    block: Block
    row: int

    def write(self) -> int:
        """Write statistics and chart; return the row at which the next section begins."""
        entry, data = self.layout.plan.model.quantities[self.block.quantity], self.block.backtest.data
        write_section(self.page, self.row, f"{entry.label}, by {data}", _CHART_COLUMN + _CHART_COLUMNS - 1)
        row = self.row + 1
        if len(self.block.rows) < self.block.total:
            shown = f"The first {len(self.block.rows):,} of {self.block.total:,} rows are in this workbook."
            self.page.text(row, _GROUP, shown, Role.NAME)
            row += 1
        for column, head in enumerate(_HEADS, 1):
            self.page.text(row, column, head, Role.HEADER)
        self._write_all(row + 1)
        row += 2
        for place, grouping in enumerate(self.block.groupings):
            row = self._write_groups(row, place, grouping)
        last = self._write_lines(row + 1)
        return max(last, self.row + 1 + _CHART_ROWS) + 2

    @property
    def _errors(self) -> NDArray[np.float64]:
        measured = np.array(self.block.measured)
        found: NDArray[np.float64] = (np.array(self.block.predicted) - measured) / measured
        return found

    def _write_all(self, row: int) -> None:
        error, size = (self.sheet.area(self.block, column) for column in (ERROR, SIZE))
        errors = self._errors
        sizes = np.abs(errors)
        self.page.text(row, _GROUP, "All rows", Role.BLOCK)
        self.page.formula(row, _COUNT, f"COUNT({size})", float(errors.size))
        shares = {
            _MEAN: (f"AVERAGE({size})", sizes.mean()),
            _MEDIAN: (f"MEDIAN({size})", np.median(sizes)),
            _P90: (f"PERCENTILE({size},{_PERCENTILE})", np.quantile(sizes, _BOUNDS[_P90])),
            _BIAS: (f"AVERAGE({error})", errors.mean()),
            _NEAR: (self._within(f"{size},", row, _BOUND), np.mean(sizes <= _BOUNDS[_NEAR])),
            _FAR: (self._within(f"{size},", row, _WIDER), np.mean(sizes <= _BOUNDS[_FAR])),
        }
        for column, (formula, value) in shares.items():
            self.page.formula(row, column, formula, float(value), Role.FORMULA, PERCENT)

    def _within(self, criteria: str, row: int, bound: str) -> str:
        return f'COUNTIFS({criteria}"<="&{bound})/{at(row, _COUNT)}'

    def _write_groups(self, row: int, place: int, grouping: Grouping) -> int:
        """Write the statistics by group; return the next row. Medians by group would take array formulas."""
        entry = self.layout.plan.model.quantities.get(grouping.column)
        self.page.text(row, _GROUP, f"By {entry.label if entry else grouping.column}", Role.BLOCK)
        numbers = np.array(grouping.numbers)
        error, size, group = (self.sheet.area(self.block, column) for column in (ERROR, SIZE, GROUPS + place))
        for number, name in enumerate(grouping.names, 1):
            line = row + number
            errors = self._errors[numbers == number]
            sizes = np.abs(errors)
            mine = f"{group},{at(line, _NUMBER)}"
            self.page.text(line, _GROUP, name or NOT_SAID, Role.LABEL)
            self.page.value(line, _NUMBER, float(number), Role.CONSTANT)
            self.page.formula(line, _COUNT, f"COUNTIFS({mine})", float(errors.size))
            shares = {
                _MEAN: (f"AVERAGEIFS({size},{mine})", sizes.mean()),
                _BIAS: (f"AVERAGEIFS({error},{mine})", errors.mean()),
                _NEAR: (self._within(f"{mine},{size},", line, _BOUND), np.mean(sizes <= _BOUNDS[_NEAR])),
                _FAR: (self._within(f"{mine},{size},", line, _WIDER), np.mean(sizes <= _BOUNDS[_FAR])),
            }
            for column, (formula, value) in shares.items():
                self.page.formula(line, column, formula, float(value), Role.FORMULA, PERCENT)
        return row + len(grouping.names) + 1

    def _write_lines(self, row: int) -> int:
        """Write the ends of the chart's lines, a gap between the upper and the lower line of a band; draw the chart."""
        # Measurements are above zero, predictions need not be.
        measured, held = self.sheet.area(self.block, 0), self.block.measured
        ends = (("Smallest", "MIN", min(held)), ("Largest", "MAX", max(held)))
        shape = number_format(held, "")
        self.page.text(row, _GROUP, "Lines of the chart", Role.BLOCK)
        heads = ("Measured", _DIAGONAL, *_HEADS[_NEAR - 1 :])
        for column, head in enumerate(heads, _COUNT):
            self.page.text(row, column, head, Role.HEADER)
        strips: dict[int, list[float | str]] = {column: [] for column in range(_COUNT, _COUNT + 4)}
        for half, sign in enumerate("+-"):
            for offset, (label, function, end) in enumerate(ends):
                line = row + 1 + 3 * half + offset
                self.page.text(
                    line, _GROUP, f"{label}, {'upper' if sign == '+' else 'lower'} line", Role.LABEL
                )
                across = at(line, _COUNT)
                self.page.formula(line, _COUNT, f"{function}({measured})", end, Role.LINK, shape)
                self.page.formula(line, _COUNT + 1, across, end, Role.FORMULA, shape)
                strips[_COUNT].append(end)
                strips[_COUNT + 1].append(end)
                for column, bound, width in (
                    (_COUNT + 2, _BOUND, _BOUNDS[_NEAR]),
                    (_COUNT + 3, _WIDER, _BOUNDS[_FAR]),
                ):
                    value = end * (1 + width) if sign == "+" else end * (1 - width)
                    self.page.formula(line, column, f"{across}*(1{sign}{bound})", value, Role.FORMULA, shape)
                    strips[column].append(value)
            if half == 0:
                for column in strips:
                    strips[column].append("")
        self._draw(row, {column: tuple(values) for column, values in strips.items()})
        return row + 6

    def _draw(self, row: int, strips: dict[int, tuple[float | str, ...]]) -> None:
        entry, here = self.layout.plan.model.quantities[self.block.quantity], quoted(BACKTEST)

        def line(column: int, name: str) -> Cloud:
            ends = fixed(row + 1, column), fixed(row + 5, column)
            across = fixed(row + 1, _COUNT), fixed(row + 5, _COUNT)
            return Cloud(
                Strip(f"{here}!{fixed(row, column)}", (name,)),
                Strip(f"{here}!{':'.join(across)}", strips[_COUNT]),
                Strip(f"{here}!{':'.join(ends)}", strips[column]),
            )

        lines = (
            line(_COUNT + 1, _DIAGONAL),
            line(_COUNT + 2, _HEADS[_NEAR - 1]),
            line(_COUNT + 3, _HEADS[_FAR - 1]),
        )
        unit = f", {entry.unit_text}" if entry.unit_text else ""
        errors = self.block.backtest.errors[self.block.quantity]
        shown = [value for value in (*self.block.measured, *self.block.predicted) if value > 0]
        chart = Points(
            title=f"{entry.label}{unit}: predicted against measured",
            across=f"Measured{unit}",
            upright=f"Predicted{unit}",
            clouds=self._clouds(),
            lines=lines,
            # Whole powers of ten: spreadsheets mark a logarithmic axis at its end times these.
            low=10.0 ** math.floor(math.log10(min(shown))),
            high=10.0 ** math.ceil(math.log10(max(shown))),
            told=f"{errors.within_10:.0%} of {errors.count:,} rows lie within ±10% of the measurement, "
            f"{errors.within_25:.0%} within ±25%",
        )
        draw_points(self.page, chart, f"{get_column_letter(_CHART_COLUMN)}{self.row + 1}", *_CHART)

    def _clouds(self) -> tuple[Cloud, ...]:
        """Return the points: those of each group of the grouping that is drawn, else all together."""
        block, clouds = self.block, []
        for label, offsets in self._stretches():
            first, last = block.first + offsets[0], block.first + offsets[-1]
            clouds.append(
                Cloud(
                    label,
                    Strip(
                        self.sheet.area(block, 0, first, last), block.measured[offsets[0] : offsets[-1] + 1]
                    ),
                    Strip(
                        self.sheet.area(block, PREDICTED, first, last),
                        block.predicted[offsets[0] : offsets[-1] + 1],
                    ),
                )
            )
        return tuple(clouds)

    def _stretches(self) -> list[tuple[Strip, Sequence[int]]]:
        block, here = self.block, quoted(BACKTEST)
        if block.drawn is None:
            name = Strip(f"{here}!{fixed(self._head + 1, _GROUP)}", ("All rows",))
            return [(name, range(len(block.rows)))]
        grouping = block.groupings[block.drawn]
        row = self._head + 2 + sum(len(item.names) + 1 for item in block.groupings[: block.drawn])
        found: list[tuple[Strip, Sequence[int]]] = []
        for number, group in enumerate(grouping.names, 1):
            offsets = [place for place, own in enumerate(grouping.numbers) if own == number]
            label = Strip(f"{here}!{fixed(row + number, _GROUP)}", (group or NOT_SAID,))
            found.append((label, offsets))
        return found

    @property
    def _head(self) -> int:
        """Return the row of the statistics' heads."""
        return self.row + (2 if len(self.block.rows) < self.block.total else 1)
