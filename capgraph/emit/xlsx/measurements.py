"""The Measurements sheet: one row per measurement that the model is held against, with its prediction and its error.

In: a page, the layout and the blocks of rows → Out: the cells. Invariant: measured and predicted values are constants,
the latter the evaluator's; errors are live; the rows of one file and quantity stand together, those of a group too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from openpyxl.utils import get_column_letter

from capgraph.emit.xlsx.layout import FIRST_ROW, HEADER_ROW, LABELS_ROW, MEASUREMENTS, Layout
from capgraph.emit.xlsx.names import quoted
from capgraph.emit.xlsx.page import LongTable, Page, at, fixed
from capgraph.emit.xlsx.paper import ROWS_DOWN, set_up
from capgraph.emit.xlsx.styles import Role, number_format
from capgraph.findings import Backtest, Findings
from capgraph.measurement.backtest import relative_errors
from capgraph.notation import show_setting
from capgraph.plan import Plan

MOST_ROWS = 5_000
MOST_COLUMNS = 6
PERCENT = "0.0%"
NOT_SAID = "not said"
_DRAWN_GROUPS = 6
_UNIT, _TOLD = 3, 4
_NOTE = (
    "One row per measurement. What was measured and predicted are fixed: a row is no scenario, its prediction is made "
    "from the settings beside it. Errors are live. Group numbers are those of the sheet Backtest. The first rows are "
    "printed."
)


@dataclass(frozen=True, slots=True)
class Grouping:
    """A column that tells rows apart: its groups in order, and for each row shown the number of its group from 1."""

    column: str
    names: tuple[str, ...]
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """The rows of one file and quantity: which of them are shown in which order, and where the first stands."""

    backtest: Backtest
    quantity: str
    rows: tuple[int, ...]
    total: int
    first: int
    groupings: tuple[Grouping, ...]
    drawn: int | None
    """Which grouping the chart tells apart; its groups stand together."""

    @property
    def last(self) -> int:
        """Return the sheet's row of the last measurement."""
        return self.first + len(self.rows) - 1

    @property
    def measured(self) -> tuple[float, ...]:
        """Return what was measured in the rows shown."""
        return tuple(self.backtest.comparisons[self.quantity].measured[row] for row in self.rows)

    @property
    def predicted(self) -> tuple[float, ...]:
        """Return what is predicted for the rows shown."""
        return tuple(self.backtest.comparisons[self.quantity].predicted[row] for row in self.rows)


@dataclass(frozen=True, slots=True)
class Sheet:
    """Which columns the sheet has: the rows' labels, what they set, texts first, then what was measured."""

    blocks: tuple[Block, ...]
    labels: tuple[str, ...]
    settings: tuple[str, ...]

    @property
    def measured(self) -> int:
        """Return the column of measured values; predicted ones, errors and their sizes follow."""
        return _TOLD + len(self.settings) + len(self.labels)

    @property
    def last_column(self) -> int:
        """Return the last column, of group numbers where there are any."""
        return self.measured + 3 + max((len(block.groupings) for block in self.blocks), default=0)

    def area(self, block: Block, offset: int, first: int | None = None, last: int | None = None) -> str:
        """Return a stretch of a block's column, counted from the measured one, as other sheets name it."""
        column = self.measured + offset
        ends = fixed(first or block.first, column), fixed(last or block.last, column)
        return f"{quoted(MEASUREMENTS)}!{':'.join(ends)}"


PREDICTED, ERROR, SIZE, GROUPS = 1, 2, 3, 4
"""Columns, counted from the measured one."""


def lay_out_measurements(plan: Plan, findings: Findings) -> Sheet:
    """Decide which rows stand where."""
    blocks: list[Block] = []
    first = FIRST_ROW
    for item in findings.backtests:
        for name, errors in item.errors.items():
            if errors.count:
                blocks.append(_block(item, name, first))
                first = blocks[-1].last + 1
    settings = (
        name
        for item in findings.backtests
        for name, values in item.settings.items()
        if any(value is not None for value in values)
    )
    labels = (name for item in findings.backtests for name in item.labels)
    ordered = sorted(dict.fromkeys(settings), key=lambda name: plan.model.quantities[name].unit is not None)
    return Sheet(tuple(blocks), tuple(dict.fromkeys(labels)), tuple(ordered))


def _block(item: Backtest, name: str, first: int) -> Block:
    known = [int(row) for row in np.flatnonzero(np.isfinite(relative_errors(item.comparisons[name])))]
    shown = known[:MOST_ROWS]
    columns = [
        column for column, groups in item.groups.items() if sum(name in own for own in groups.values()) > 1
    ]
    texts = {column: _picked(item.texts(column), shown) for column in columns[:MOST_COLUMNS]}
    names = {column: tuple(sorted(set(own))) for column, own in texts.items()}
    drawn = next((place for place, own in enumerate(names.values()) if 1 < len(own) <= _DRAWN_GROUPS), None)
    numbers = {column: [names[column].index(text) + 1 for text in own] for column, own in texts.items()}
    order = list(range(len(shown)))
    if drawn is not None:
        order.sort(key=list(numbers.values())[drawn].__getitem__)
    groupings = (
        Grouping(column, names[column], tuple(own[place] for place in order))
        for column, own in numbers.items()
    )
    return Block(
        item, name, tuple(shown[place] for place in order), len(known), first, tuple(groupings), drawn
    )


def _picked(texts: Sequence[str], rows: Sequence[int]) -> list[str]:
    return [texts[row] for row in rows]


def write_measurements(page: Page, layout: Layout, sheet: Sheet) -> None:
    """Write the sheet."""
    page.text(1, 1, MEASUREMENTS, Role.TITLE)
    page.height(1, 24)
    page.text(2, 1, _NOTE, Role.NAME)
    heads = tuple(_heads(layout.plan, sheet))
    page.widths(*(width for _, _, width in heads))
    for column, (label, unit, _) in enumerate(heads, 1):
        page.text(LABELS_ROW, column, label, Role.HEADER)
        page.text(HEADER_ROW, column, unit, Role.HEADER)
    for block in sheet.blocks:
        _write_block(page, layout, sheet, block)
    last_row = sheet.blocks[-1].last
    page.sheet.auto_filter.ref = f"{at(HEADER_ROW, 1)}:{at(last_row, sheet.last_column)}"
    # Thousands of rows fill a hundred sheets of paper that nobody reads.
    printed = min(last_row, HEADER_ROW + ROWS_DOWN)
    set_up(page, layout.plan.model, printed, sheet.last_column, HEADER_ROW, _UNIT)


def _heads(plan: Plan, sheet: Sheet) -> Iterator[tuple[str, str, float]]:
    """Yield the columns' labels, units and widths."""
    quantities = plan.model.quantities
    yield from (("Where", "file:line", 24.0), ("Quantity", "", 30.0), ("Unit", "", 14.0))
    for name in sheet.labels:
        texts = (text for block in sheet.blocks for text in block.backtest.labels.get(name, ()))
        yield name, "label", _width(texts)
    for name in sheet.settings:
        entry = quantities[name]
        texts = (text for block in sheet.blocks for text in block.backtest.texts(name))
        yield entry.label, entry.unit_text or name, _width(texts)
    yield from (("Measured", "", 14.0), ("Predicted", "", 14.0))
    yield from (("Error", "of measured", 11.0), ("Size of error", "of measured", 11.0))
    for number in range(1, sheet.last_column - sheet.measured - 2):
        yield f"Group no. {number}", "", 9.0


def _width(texts: Iterable[str]) -> float:
    return min(max(11.0, *(len(text) + 2.0 for text in texts), 0.0), 34.0)


def _write_block(page: Page, layout: Layout, sheet: Sheet, block: Block) -> None:
    entry, item, table = layout.plan.model.quantities[block.quantity], block.backtest, page.long_table()
    shape = number_format((*block.measured, *block.predicted), entry.unit_text)
    number, group = table.style(Role.CONSTANT, shape), table.style(Role.CONSTANT)
    share = table.style(Role.FORMULA, PERCENT)
    letters = [get_column_letter(column) for column in range(1, sheet.last_column + 1)]
    told = _Told(layout.plan, sheet, item, table, letters, group)
    m, p, e, size, *groups = letters[sheet.measured - 1 :]
    for offset, (row, was, said) in enumerate(zip(block.rows, block.measured, block.predicted, strict=True)):
        line = block.first + offset
        off = (said - was) / was
        cells = [
            table.text(f"A{line}", f"{item.data}:{item.rows[row].rpartition(':')[2]}"),
            table.text(f"B{line}", entry.label),
            table.text(f"C{line}", entry.unit_text),
            *told.cells(row, line),
            table.number(f"{m}{line}", was, number),
            table.number(f"{p}{line}", said, number),
            table.formula(f"{e}{line}", f"({p}{line}-{m}{line})/{m}{line}", off, share),
            table.formula(f"{size}{line}", f"ABS({e}{line})", abs(off), share),
        ]
        cells += (
            table.number(f"{letter}{line}", float(grouping.numbers[offset]), group)
            for letter, grouping in zip(groups, block.groupings, strict=False)
        )
        table.row(line, cells)


@dataclass(frozen=True, slots=True)
class _Told:
    """Writes a row's labels, and what it sets, numbers as such."""

    plan: Plan
    sheet: Sheet
    item: Backtest
    table: LongTable
    letters: Sequence[str]
    style: int

    def cells(self, row: int, line: int) -> Iterator[str]:
        """Yield the cells that are not empty."""
        names, labels, table = self.letters[_TOLD - 1 :], self.item.labels, self.table
        for letter, name in zip(names, self.sheet.labels, strict=False):
            if name in labels and labels[name][row]:
                yield table.text(f"{letter}{line}", labels[name][row])
        own = self.item.set_in(row)
        for letter, name in zip(names[len(self.sheet.labels) :], self.sheet.settings, strict=False):
            value = own.get(name)
            if isinstance(value, float):
                yield table.number(f"{letter}{line}", value, self.style)
            elif value is not None:
                yield table.text(f"{letter}{line}", show_setting(value))
