"""The whole of a small workbook, as text a person can read in a diff: `sheet!cell | name | =formula | value | unit`.

After a change that is meant, write it anew: `CAPGRAPH_APPROVE=1 pytest tests/test_xlsx_dump.py`, and read the diff.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from openpyxl import Workbook, load_workbook
from oracles.workbooks import built

from capgraph.emit.xlsx.layout import ABOUT, INPUTS, MODEL

APPROVED = Path(__file__).with_name("approved") / "workbook-small.txt"


def dumped(data: bytes) -> Iterator[str]:
    """Yield a line for every cell that calculates or may be changed, but for About."""
    book, held = load_workbook(BytesIO(data)), load_workbook(BytesIO(data), data_only=True)
    names = names_by_cell(book)
    for sheet in book.worksheets:
        if sheet.title == ABOUT:
            continue
        for row in sheet.iter_rows():
            unit = unit_of(sheet.title, row[2].value)
            for cell in row:
                if cell.value is None or (cell.data_type == "s" and cell.protection.locked):
                    continue
                place = f"{sheet.title}!{cell.coordinate}"
                formula = str(cell.value) if cell.data_type == "f" else ""
                value = held[sheet.title][cell.coordinate].value
                columns = (
                    place,
                    names.get(place, ""),
                    formula,
                    shown(value),
                    unit if cell.column > 3 else "",
                )
                yield " | ".join(columns).rstrip(" |")


def names_by_cell(book: Workbook) -> dict[str, str]:
    return {
        f"{title}!{area.replace('$', '')}": name
        for name, defined in book.defined_names.items()
        for title, area in defined.destinations
    }


def unit_of(title: str, value: object) -> str:
    return str(value) if title in (INPUTS, MODEL) and value is not None else ""


def shown(value: object) -> str:
    return repr(value) if isinstance(value, float) else "" if value is None else str(value)


def test_the_small_workbook_is_as_approved() -> None:
    text = "\n".join(dumped(built("small").data)) + "\n"
    if os.environ.get("CAPGRAPH_APPROVE"):
        APPROVED.parent.mkdir(exist_ok=True)
        APPROVED.write_text(text, "utf-8")
    assert text == APPROVED.read_text("utf-8")
