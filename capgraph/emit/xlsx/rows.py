"""One row in all its columns: a key in → the active cell by names, every scenario's cell, the name, the tie.

Invariant: each formula is written with the value that the evaluator gives it in that column.
"""

from __future__ import annotations

from openpyxl.utils import get_column_letter

from capgraph.emit.xlsx.layout import ACTIVE, FIRST, Key, Layout
from capgraph.emit.xlsx.page import Page, at, fixed
from capgraph.emit.xlsx.references import COLUMN, ByName, Domains, InColumn
from capgraph.emit.xlsx.steps import row_formula, row_value
from capgraph.emit.xlsx.styles import GENERAL, Role
from capgraph.model import Formula
from capgraph.results import Results


class RowWriter:
    """Writes a row's formula into the active column and into every scenario's."""

    def __init__(self, page: Page, layout: Layout, results: Results) -> None:
        self.page, self.layout, self.results = page, layout, results
        domains = Domains(layout.plan)
        self.by_name = ByName(layout, domains)
        self.in_column = InColumn(layout, domains, page.title)

    def write(self, key: Key, row: int) -> None:
        """Write a row's formulas with their values, and name the active cell."""
        values = [row_value(self.layout, self.results, key, scenario) for scenario in self.layout.scenarios]
        shape = GENERAL if key[0] == "pick" else self.layout.shapes.get(key[1], GENERAL)
        active = row_value(self.layout, self.results, key, self.results.selected)
        role = self._role(key)
        formula = row_formula(self.layout, key, self.by_name)
        self.page.formula(row, ACTIVE, formula, active, role, shape)
        across = row_formula(self.layout, key, self.in_column)
        for (column, _), value in zip(self.layout.columns(), values, strict=True):
            formula = across.replace(COLUMN, get_column_letter(column))
            self.page.formula(row, column, formula, value, role, shape)
        if self._is_named_here(key):
            self.page.book.define(
                self.layout.names[key], self.page.title, fixed(row, ACTIVE), self._label(key)
            )

    def write_tie(self, key: Key, row: int, column: int) -> None:
        """Write whether the active value equals the chosen scenario's, both being errors included."""
        letters = (get_column_letter(number) for number in (FIRST, self.layout.last))
        across = ":".join(f"${letter}{row}" for letter in letters)
        chosen = f"INDEX({across},{self.layout.names['own', 'scenario_number']})"
        active = at(row, ACTIVE)
        formula = f"IFERROR({active}={chosen},AND(ISERROR({active}),ISERROR({chosen})))"
        self.page.formula(row, column, formula, True, Role.STATUS)

    def _is_named_here(self, key: Key) -> bool:
        quantity = self.layout.plan.model.quantities.get(key[1])
        return key[0] == "pick" or (key[0] == "step" and not (quantity is not None and quantity.is_input))

    def _label(self, key: Key) -> str:
        quantity = self.layout.plan.model.quantities.get(key[1])
        return quantity.label if quantity is not None else key[1]

    def _role(self, key: Key) -> Role:
        quantity = self.layout.plan.model.quantities.get(key[1])
        is_link = key[0] != "step" or (quantity is not None and not isinstance(quantity.definition, Formula))
        return Role.LINK if is_link else Role.FORMULA
