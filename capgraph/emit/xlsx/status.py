"""Rows of the Checks sheet: a formula for each column in → the row, with what it says in words and in colour.

Invariant: a status is one of three words; colour only repeats them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from openpyxl.formatting.rule import Rule
from openpyxl.styles import Color, Font, PatternFill
from openpyxl.styles.differential import DifferentialStyle
from openpyxl.utils import get_column_letter

from capgraph.emit.xlsx.layout import ACTIVE, Layout
from capgraph.emit.xlsx.page import Cached, Page
from capgraph.emit.xlsx.references import ByName
from capgraph.emit.xlsx.rows import RowWriter
from capgraph.emit.xlsx.styles import Role
from capgraph.results import Results, ScenarioResult

LABEL, MESSAGE, RANK = 1, 2, 3
"""Columns beside those that grids share; `RANK` holds a check's severity or the option of a rule."""

PASS, FAIL, WARN = "pass", "FAIL", "warn"

ColumnFormula = Callable[[ByName, int], str]
Valued = Callable[[ScenarioResult], Cached]


@dataclass(frozen=True)
class StatusRows:
    """Writes rows of the Checks sheet."""

    page: Page
    layout: Layout
    results: Results
    rows: RowWriter

    def across(self, row: int, formula: ColumnFormula, value: Valued) -> None:
        """Write a formula into the active column and into every scenario's."""
        scenarios = self.results.scenarios
        active = formula(self.rows.by_name, ACTIVE)
        self.page.formula(row, ACTIVE, active, value(scenarios[self.results.selected]), Role.STATUS)
        for column, scenario in self.layout.columns():
            there = formula(replace(self.rows.in_column, letter=get_column_letter(column)), column)
            self.page.formula(row, column, there, value(scenarios[scenario]), Role.STATUS)

    def texts(
        self, row: int, label: str, rank: str = "", words: str = "", name: str = "", declared: str = ""
    ) -> None:
        """Write what stands beside the columns."""
        self.page.text(row, LABEL, label, Role.LABEL)
        self.page.text(row, RANK, rank, Role.NOTE)
        self.page.text(row, self.layout.details, words, Role.NOTE)
        for offset, text in enumerate((name, declared), 1):
            self.page.text(row, self.layout.details + offset, text, Role.NAME)

    def label(self, name: str) -> str:
        """Return what a step is called in words."""
        quantity = self.layout.plan.model.quantities.get(name)
        return quantity.label if quantity is not None else name


def overall(layout: Layout, result: ScenarioResult) -> str:
    """Return the status of all checks of a scenario together."""
    checks = layout.plan.model.checks
    failed = [checks[name].severity for name, outcome in result.checks.items() if not outcome.holds]
    return f"{failed.count('error')} fail, {failed.count('warning')} warn" if failed else PASS


def colour_status(page: Page, area: str, first_cell: str) -> None:
    """Colour the statuses of an area, whose first cell is given without `$`."""
    kinds = (
        (f'{first_cell}="{PASS}"', "FFD9EAD3", "FF1E5B1E", False),
        (f'OR({first_cell}="{WARN}",LEFT({first_cell},2)="0 ")', "FFFFE8B3", "FF7A4B00", True),
        (f'OR({first_cell}="{FAIL}",ISNUMBER(SEARCH(" fail",{first_cell})))', "FFF4CCCC", "FF990000", True),
    )
    for condition, fill, ink, bold in kinds:
        style = DifferentialStyle(
            fill=PatternFill("solid", bgColor=Color(rgb=fill)), font=Font(color=Color(rgb=ink), bold=bold)
        )
        page.sheet.conditional_formatting.add(
            area, Rule(type="expression", stopIfTrue=True, formula=[condition], dxf=style)
        )
