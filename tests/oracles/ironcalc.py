"""IronCalc: a file in → its cells, calculated from the formulas alone, in the time of a unit test."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import ironcalc as engine
from openpyxl.utils import coordinate_to_tuple

from oracles.cells import Cell


class Calculation:
    """A workbook loaded into IronCalc, which a test may edit."""

    def __init__(self, path: Path) -> None:
        self._model = engine.load_from_xlsx(str(path), "en", "UTC", "en")
        self._sheets = {
            item["name"]: number for number, item in enumerate(self._model.get_worksheets_properties())
        }
        self._model.evaluate()

    def value(self, title: str, address: str) -> Cell:
        """Return a cell's value."""
        row, column = coordinate_to_tuple(address)
        value = self._model.get_cell_value(self._sheets[title], row, column)
        return float(value) if isinstance(value, int) and not isinstance(value, bool) else value

    def values(self, wanted: Mapping[str, Mapping[str, object]]) -> dict[str, dict[str, Cell]]:
        """Return the values of the cells that `wanted` names."""
        return {
            title: {address: self.value(title, address) for address in cells}
            for title, cells in wanted.items()
        }

    def edit(self, title: str, address: str, value: Cell) -> None:
        """Type a value into a cell; None clears it."""
        row, column = coordinate_to_tuple(address)
        sheet = self._sheets[title]
        if value is None:
            self._model.clear_cell_contents(sheet, row, column)
        elif isinstance(value, bool):
            self._model.update_cell_with_bool(sheet, row, column, value)
        elif isinstance(value, str):
            self._model.update_cell_with_text(sheet, row, column, value)
        else:
            self._model.update_cell_with_number(sheet, row, column, value)

    def calculate(self) -> None:
        """Calculate all formulas again."""
        self._model.evaluate()
