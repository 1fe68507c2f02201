"""A file of measurements → a table of texts, each with its place.

In: a source, such as a CSV → Out: `Table`, or what is wrong with it.
Invariant: every cell keeps its place in the file; nothing is guessed of what a column means.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from capgraph.diagnostics import Diagnostic, Source, Span
from capgraph.yamltree import Scalar

MAX_ROWS = 1_000_000
MAX_COLUMNS = 1_000
_DELIMITERS = (",", ";", "\t")
_LONGEST_CELL = 1_000_000
_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class TableRow:
    """The cells of a row as texts, empty where there is none, and where the row stands."""

    cells: tuple[str, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Table:
    """Measurements as they were read: a name a column, with its unit in square brackets where one is known."""

    source: Source
    header: tuple[str, ...]
    rows: tuple[TableRow, ...]
    tool: str = ""
    """The program whose output it is; empty for a plain table."""
    used: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    """Column → the fields of the file that it was read from; empty for a plain table."""
    note: str = ""

    def head(self, column: int) -> Scalar:
        """Return the name of a column with its place."""
        return self._cell(Span(self.source, 1, 1, 1, 2), column, self.header[column])

    def cell(self, row: TableRow, column: int) -> Scalar:
        """Return a cell with its place."""
        return self._cell(row.span, column, row.cells[column])

    def _cell(self, span: Span, column: int, text: str) -> Scalar:
        made = None
        if not self.tool:
            start = self.source.starts[span.line - 1]
            line = self.source.line(span.line)
            first, last = _bounds(line, _delimiter(self.source.line(1)), column)
            made = Scalar.at(self.source, start + first, start + last)
        if made is not None and made == text:
            return made
        told = Scalar(text)
        told.style = None
        told.__dict__["places"], told.__dict__["span"] = None, span
        return told


def read_csv(source: Source) -> tuple[Table | None, tuple[Diagnostic, ...]]:
    """Read a table with a header; cells are separated by commas, semicolons or tabs, as the header shows."""
    whole = Span(source, 1, 1, 1, 2)
    text = source.text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    source = Source(source.name, text, source.path)
    csv.field_size_limit(_LONGEST_CELL)
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=_delimiter(source.line(1)), skipinitialspace=True
    )
    try:
        header = tuple(name.strip() for name in next(reader, []))
        if wrong := _wrong_header(source, header):
            return None, (wrong,)
        rows, found = [], []
        for first, last, cells in _numbered(reader):
            if not any(cells):
                continue
            span = Span(source, first, 1, last, max(len(source.line(last)) + 1, 2))
            if len(cells) != len(header):
                message = f"the row has {len(cells)} cells, the header {len(header)}"
                found.append(
                    Diagnostic(
                        "CG812",
                        message,
                        span,
                        "write numbers as 1100, and put a text that holds a comma in quotes",
                    )
                )
            rows.append(TableRow(tuple(cells), span))
            if len(rows) > MAX_ROWS:
                message = f"{source.name} has more than {MAX_ROWS:,} rows"
                return None, (Diagnostic("CG812", message, span, "split the file"),)
    except csv.Error as error:
        return None, (Diagnostic("CG812", f"{source.name} is no table: {error}", whole, "check its quotes"),)
    if found:
        return None, tuple(found)
    if not rows:
        return None, (
            Diagnostic("CG812", f"{source.name} has no rows", whole, "a header and at least a row"),
        )
    return Table(source, header, tuple(rows)), ()


def _numbered(reader: Iterator[list[str]]) -> Iterator[tuple[int, int, list[str]]]:
    """Yield each row with the numbers of its first and its last line."""
    before = reader.line_num  # type: ignore[attr-defined]
    for cells in reader:
        last = reader.line_num  # type: ignore[attr-defined]
        yield before + 1, last, [cell.strip() for cell in cells]
        before = last


def _wrong_header(source: Source, header: tuple[str, ...]) -> Diagnostic | None:
    place = Span(source, 1, 1, 1, max(len(source.line(1)) + 1, 2))
    if not any(header):
        return Diagnostic(
            "CG812", f"{source.name} has no header", place, "name the columns in the first line"
        )
    if len(header) > MAX_COLUMNS:
        return Diagnostic("CG812", f"{source.name} has {len(header):,} columns", place, "leave some out")
    twice = next((name for name in header if name and header.count(name) > 1), None)
    if twice is not None:
        return Diagnostic("CG812", f"two columns are named `{twice}`", place, "rename or remove one of them")
    return None


def _delimiter(line: str) -> str:
    """Return what separates the cells: of the usual signs the one that is most frequent in the header."""
    return max(_DELIMITERS, key=line.count)


def _bounds(line: str, delimiter: str, column: int) -> tuple[int, int]:
    """Return where a cell begins and ends in its line, without quotes and blanks around it."""
    start, number, quoted = 0, 0, False
    for index, char in enumerate((*line, delimiter)):
        if char == '"':
            quoted = not quoted
        elif char == delimiter and (not quoted or index == len(line)):
            if number == column:
                cell = line[start:index]
                first = len(cell) - len(cell.lstrip(' "'))
                return start + first, start + max(len(cell.rstrip(' "')), first)
            start, number = index + 1, number + 1
    return 0, len(line)
