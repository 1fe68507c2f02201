"""Writing cells: what a cell holds in → a cell of the workbook, and the value that its formula has.

Invariant: a text stays a text whatever it begins with; every formula is written with its value, so `finish`
can store both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

from openpyxl import Workbook
from openpyxl.cell.cell import Cell
from openpyxl.styles.cell_style import StyleArray
from openpyxl.utils import get_column_letter
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.hyperlink import Hyperlink
from openpyxl.worksheet.worksheet import Worksheet

from capgraph.emit.xlsx.measure import lines
from capgraph.emit.xlsx.names import quoted
from capgraph.emit.xlsx.styles import (
    GENERAL,
    LOGICAL,
    ROW_HEIGHT,
    Role,
    line_height,
    named_styles,
    wraps,
)
from capgraph.model import Value

LONGEST_TEXT = 32_767

_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_ESCAPED = re.compile(r"_(?=x[0-9A-Fa-f]{4}_)")
# openpyxl guesses a type for what is assigned to `value`, and copies a style part by part: both are set as is.
_VALUE, _STYLE = "_value", "_style"
_COMMAND_SIGNS = ("=", "+", "-", "@", "'", "\t", "\r")


@dataclass(frozen=True, slots=True)
class Failed:
    """The value of a formula that has none, as spreadsheets write it: `#N/A`."""

    code: str


Cached = Value | Failed


@dataclass
class LongTable:
    """Thousands of rows as the file holds them: openpyxl takes ten times as long over a cell."""

    sheet: Worksheet
    book: Book
    rows: list[str] = field(default_factory=list)
    _texts: dict[str, str] = field(default_factory=dict)

    def row(self, number: int, cells: Iterable[str]) -> None:
        """Add a row below all others."""
        self.rows.append(f'<row r="{number}">{"".join(cells)}</row>')

    def text(self, address: str, text: str) -> str:
        """Write a text that stays a text, in small grey letters."""
        if text not in self._texts:
            style = self.style(Role.NAME, quote=text.startswith(_COMMAND_SIGNS))
            kept = ' xml:space="preserve"' if text != text.strip() else ""
            inner = f"<is><t{kept}>{escape(clean(text))}</t></is>"
            self._texts[text] = f's="{style}" t="inlineStr">{inner}</c>'
        return f'<c r="{address}" {self._texts[text]}'

    def number(self, address: str, value: float, style: int) -> str:
        """Write a constant."""
        return f'<c r="{address}" s="{style}"><v>{_exactly(value)}</v></c>'

    def formula(self, address: str, formula: str, value: float, style: int) -> str:
        """Write a formula, given without its `=` and free of signs that XML takes, and the number that it has."""
        return f'<c r="{address}" s="{style}"><f>{formula}</f><v>{value!r}</v></c>'

    def style(self, role: Role, number_format: str = GENERAL, quote: bool = False) -> int:
        """Return the number of a role's style."""
        sample = Cell(self.sheet, row=1, column=1)
        setattr(sample, _STYLE, self.book.look(self.sheet, role, number_format, quote))
        return sample.style_id


@dataclass
class Book:
    """A workbook in the making, and the value of each of its formulas by sheet and cell."""

    workbook: Workbook = field(default_factory=Workbook)
    cached: dict[str, dict[str, Cached]] = field(default_factory=dict)
    alternatives: dict[str, list[str]] = field(default_factory=dict)
    """By sheet, what a screen reader says for each of its charts."""
    long: dict[str, LongTable] = field(default_factory=dict)
    """By sheet, rows that follow those of openpyxl."""
    _looks: dict[tuple[Role, str, bool], StyleArray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.workbook.active is not None:
            self.workbook.remove(self.workbook.active)
        for style in named_styles():
            self.workbook.add_named_style(style)

    def page(self, title: str) -> Page:
        """Add a sheet."""
        sheet = self.workbook.create_sheet(title)
        self.cached[title] = {}
        return Page(self, sheet, title)

    def define(self, name: str, sheet: str, area: str, comment: str = "") -> None:
        """Give a cell or a range, written with `$`, a name that holds in the whole workbook."""
        defined = DefinedName(name, attr_text=f"{quoted(sheet)}!{area}", comment=clean(comment)[:255] or None)
        self.workbook.defined_names[name] = defined

    def look(self, sheet: Worksheet, role: Role, number_format: str, quote: bool) -> StyleArray:
        """Return the style of a role with a number format; the same one each time."""
        key = (role, number_format, quote)
        if key not in self._looks:
            sample = Cell(sheet, row=1, column=1)
            sample.style = role.value
            sample.number_format = number_format
            sample.quotePrefix = quote
            self._looks[key] = _style_of(sample)
        return self._looks[key]


@dataclass(frozen=True)
class Page:
    """One sheet of a book."""

    book: Book
    sheet: Worksheet
    title: str

    def text(
        self, row: int, column: int, text: str, role: Role = Role.LABEL, until: int | None = None
    ) -> None:
        """Write a text that stays a text; `until` spreads it over the columns up to there."""
        cell = self._cell(row, column, role, GENERAL, text.startswith(_COMMAND_SIGNS))
        _hold(cell, clean(text), "s")
        self._spread(row, column, role, text, until)

    def blank(self, row: int, column: int, role: Role, number_format: str = GENERAL) -> None:
        """Leave a cell empty but styled, for a reader to fill."""
        self._cell(row, column, role, number_format, quote=False)

    def value(self, row: int, column: int, value: Value, role: Role, number_format: str = GENERAL) -> None:
        """Write a constant: a number exactly, a text, or a yes/no as one of these words."""
        if isinstance(value, bool):
            self.text(row, column, "yes" if value else "no", role)
        elif isinstance(value, str):
            self.text(row, column, value, role)
        else:
            cell = self._cell(row, column, role, number_format, quote=False)
            # The shortest text that reads back as the same number; openpyxl itself keeps 16 figures only.
            _hold(cell, _exactly(value), "n")

    def formula(
        self,
        row: int,
        column: int,
        formula: str,
        cached: Cached,
        role: Role = Role.FORMULA,
        number_format: str = GENERAL,
        until: int | None = None,
    ) -> None:
        """Write a formula, given without its `=`, and the value that it has."""
        shape = LOGICAL if isinstance(cached, bool) else number_format
        cell = self._cell(row, column, role, shape, quote=False)
        _hold(cell, f"={_UNWRITABLE.sub('', formula)}", "f")
        self.book.cached[self.title][cell.coordinate] = clean(cached) if isinstance(cached, str) else cached
        self._spread(row, column, role, cached if isinstance(cached, str) else "", until)

    def long_table(self) -> LongTable:
        """Begin a table of very many rows below what the sheet holds."""
        return self.book.long.setdefault(self.title, LongTable(self.sheet, self.book))

    def link(self, row: int, column: int, target: str) -> None:
        """Let a cell lead to another one of its sheet."""
        self.sheet.cell(row, column).hyperlink = Hyperlink(
            ref=at(row, column), location=f"{quoted(self.title)}!{target}"
        )

    def widths(self, *widths: float) -> None:
        """Set the widths of the columns from the first on, in characters."""
        for column, width in enumerate(widths, 1):
            self.sheet.column_dimensions[get_column_letter(column)].width = width

    def height(self, row: int, points: float) -> None:
        """Set the height of a row."""
        self.sheet.row_dimensions[row].height = points

    def _spread(self, row: int, column: int, role: Role, text: str, until: int | None) -> None:
        last = column if until is None else until
        for other in range(column + 1, last + 1):
            self.blank(row, other, role)
        if last > column:
            self.sheet.merge_cells(start_row=row, end_row=row, start_column=column, end_column=last)
        if wraps(role) and text:
            columns = map(get_column_letter, range(column, last + 1))
            self.grow(row, text, sum(self.sheet.column_dimensions[letter].width for letter in columns), role)

    def grow(self, row: int, text: str, width: float, role: Role) -> None:
        """Make a row high enough for a text that wraps in so many columns' width; it never gets lower."""
        needed = line_height(role) * lines(text, width, role)
        if needed > max(self.sheet.row_dimensions[row].height or 0.0, ROW_HEIGHT):
            self.height(row, needed + 2)

    def _cell(self, row: int, column: int, role: Role, number_format: str, quote: bool) -> Cell:
        cell = self.sheet.cell(row, column)
        assert isinstance(cell, Cell)
        setattr(cell, _STYLE, self.book.look(self.sheet, role, number_format, quote))
        return cell


def _style_of(cell: Cell) -> StyleArray:
    style = getattr(cell, _STYLE)
    assert isinstance(style, StyleArray)
    return style


def _hold(cell: Cell, value: str, kind: str) -> None:
    setattr(cell, _VALUE, value)
    cell.data_type = kind


def _exactly(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


def clean(text: str) -> str:
    """Return a text that a cell can hold: no control characters, nothing that reads as an escape, not too long."""
    return _ESCAPED.sub("_x005F_", _UNWRITABLE.sub("", text))[:LONGEST_TEXT]


def at(row: int, column: int) -> str:
    """Return a cell's address, such as `F12`."""
    return f"{get_column_letter(column)}{row}"


def fixed(row: int, column: int) -> str:
    """Return a cell's absolute address, such as `$F$12`."""
    return f"${get_column_letter(column)}${row}"
