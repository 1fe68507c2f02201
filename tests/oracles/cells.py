"""A workbook's cells as tests compare them: by sheet and address, errors as text such as `#DIV/0!`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

from openpyxl import Workbook, load_workbook

Cell = float | bool | str | None
Cells = Mapping[str, Mapping[str, Cell]]
"""By sheet title, then by address; an empty cell is absent or None."""


def stored(path: Path) -> dict[str, dict[str, Cell]]:
    """Return the values that a file holds, formulas' cached ones included."""
    return _read(load_workbook(path, data_only=True))


def formulas(path: Path) -> dict[str, dict[str, str]]:
    """Return the formulas that a file holds."""
    book = load_workbook(path)
    return {
        sheet.title: {
            cell.coordinate: str(cell.value)
            for row in sheet.iter_rows()
            for cell in row
            if cell.data_type == "f"
        }
        for sheet in book.worksheets
    }


def _read(book: Workbook) -> dict[str, dict[str, Cell]]:
    return {
        sheet.title: {
            cell.coordinate: _plain(cell.value)
            for row in sheet.iter_rows()
            for cell in row
            if cell.value is not None
        }
        for sheet in book.worksheets
    }


def _plain(value: object) -> Cell:
    if isinstance(value, bool | str) or value is None:
        return value
    assert isinstance(value, int | float), value
    return float(value)


def same(found: Cell, expected: Cell, relative: float = 1e-9) -> bool:
    """Say whether two cells agree: numbers within a relative difference, an empty text with an empty cell."""
    if isinstance(found, float) and isinstance(expected, float):
        return math.isclose(found, expected, rel_tol=relative, abs_tol=1e-300)
    if isinstance(expected, bool):
        # LibreOffice stores a truth value in a cell with a number format as 1 or 0.
        return found in (expected, float(expected))
    if isinstance(found, bool | float) or isinstance(expected, float):
        return False
    return (found or "") == (expected or "")


def differences(found: Cells, expected: Cells) -> Iterator[str]:
    """Yield a line for each cell of `expected` that another calculation gives another value."""
    for title, cells in expected.items():
        for address, value in cells.items():
            there = found.get(title, {}).get(address)
            if not same(there, value):
                yield f"{title}!{address}: {there!r} instead of {value!r}"
