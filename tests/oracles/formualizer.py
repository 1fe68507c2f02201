"""formualizer: a file in → its cells, calculated from the formulas alone by an engine of another make."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import formualizer as engine
from openpyxl.utils import coordinate_to_tuple

from oracles.cells import Cell

_ERRORS = {
    "Div": "#DIV/0!",
    "Value": "#VALUE!",
    "Num": "#NUM!",
    "Na": "#N/A",
    "Name": "#NAME?",
    "Ref": "#REF!",
}


def calculated(path: Path, wanted: Mapping[str, Mapping[str, object]]) -> dict[str, dict[str, Cell]]:
    """Return the values of the cells that `wanted` names."""
    book = engine.load_workbook(str(path))
    book.evaluate_all()
    return {
        title: {address: _plain(book.get_value(title, *coordinate_to_tuple(address))) for address in cells}
        for title, cells in wanted.items()
    }


def _plain(value: object) -> Cell:
    if isinstance(value, dict):
        return _ERRORS[value["kind"]]
    if isinstance(value, bool | str) or value is None:
        return value
    assert isinstance(value, int | float), value
    return float(value)
