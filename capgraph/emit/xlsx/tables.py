"""The Summary's tables: key figures, the options' costs, the charts' parts; the active scenario and a few
beside it.

In: a row to begin at → Out: the cells, and the next free row. Invariant: a cell shows what another sheet
holds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from openpyxl.utils import get_column_letter

from capgraph.analysis.subject import results_of
from capgraph.emit.xlsx.decision import verdict_label
from capgraph.emit.xlsx.formula import print_excel
from capgraph.emit.xlsx.layout import CHECKS, FIRST, HEADER_ROW, INPUTS, SUMMARY, Key, Layout
from capgraph.emit.xlsx.names import quoted
from capgraph.emit.xlsx.page import Cached, Page, at
from capgraph.emit.xlsx.references import ByName, InColumn
from capgraph.emit.xlsx.stacks import Stack, part_value
from capgraph.emit.xlsx.status import colour_status, overall
from capgraph.emit.xlsx.steps import row_value
from capgraph.emit.xlsx.styles import GENERAL, Role, number_format
from capgraph.formula.tree import Expr, Reference, Scale
from capgraph.model import Option
from capgraph.results import Results, ScenarioResult

LABEL, UNIT, ACTIVE, BESIDE, LAST, MARK = 1, 2, 3, 4, 7, 8
"""Columns; the scenarios beside the active one run from `BESIDE` to `LAST`, `MARK` marks the verdict."""
SHOWN_SCENARIOS = LAST - BESIDE + 1


@dataclass(frozen=True)
class Tables:
    """Writes tables onto the Summary."""

    page: Page
    layout: Layout
    results: Results
    by_name: ByName

    @property
    def shown(self) -> tuple[str, ...]:
        """Return the scenarios beside the active one."""
        return self.layout.scenarios[:SHOWN_SCENARIOS]

    @property
    def now(self) -> ScenarioResult:
        """Return the chosen scenario's result."""
        return self.results.scenarios[self.results.selected]

    @property
    def priced(self) -> tuple[Option, ...]:
        """Return the options that have a cost."""
        decision = self.layout.plan.model.decision
        options = decision.options.values() if decision is not None else ()
        return tuple(option for option in options if option.cost is not None)

    def figures(self, row: int) -> int:
        """Write the verdict, the checks and the key figures of the scenarios; return the next row."""
        model, shown = self.layout.plan.model, results_of(self.layout.plan)
        decides = model.decision is not None and model.decision.rules
        if not (decides or model.checks or shown):
            return row - 1
        self._table_head(row, "Key figures")
        if decides:
            row += 1
            self._line(
                row,
                "Verdict",
                "",
                ("verdict", "option"),
                lambda scenario: verdict_label(self.layout, self.results.scenarios[scenario]),
                Role.LINK,
                GENERAL,
            )
            for result in self.results.scenarios.values():
                self.page.grow(row, verdict_label(self.layout, result), 15, Role.LINK)
        if model.checks:
            row += 1
            self._line(
                row,
                "Checks",
                "",
                ("overall", "checks"),
                lambda scenario: overall(self.layout, self.results.scenarios[scenario]),
                Role.STATUS,
                GENERAL,
            )
            colour_status(self.page, f"{at(row, ACTIVE)}:{at(row, LAST)}", at(row, ACTIVE))
        for name in shown:
            row += 1
            self._quantity(row, name, model.quantities[name].label)
        return row + 1

    def _quantity(self, row: int, name: str, label: str) -> None:
        quantity = self.layout.plan.model.quantities[name]
        key: Key = ("step", name)

        def value(scenario: str) -> Cached:
            return row_value(self.layout, self.results, key, scenario)

        self._line(row, label, quantity.unit_text, key, value, Role.LINK, self.layout.shapes[name])

    def _line(
        self,
        row: int,
        label: str,
        unit: str,
        key: Key,
        value: Callable[[str], Cached],
        role: Role,
        shape: str,
    ) -> None:
        """Write a line of a table: the active value and those beside it, from the row that holds them."""
        self._texts(row, label, unit)
        title, home = self.layout.home(key)
        self.page.formula(row, ACTIVE, self.layout.names[key], value(self.results.selected), role, shape)
        for offset, scenario in enumerate(self.shown):
            formula = f"{quoted(title)}!{get_column_letter(FIRST + offset)}{home}"
            self.page.formula(row, BESIDE + offset, formula, value(scenario), role, shape)

    def _texts(self, row: int, label: str, unit: str) -> None:
        self.page.text(row, LABEL, label, Role.LABEL)
        self.page.text(row, UNIT, unit, Role.UNIT)

    def _table_head(self, row: int, title: str) -> None:
        self.page.text(row, LABEL, title, Role.HEADER)
        self.page.text(row, UNIT, "Unit", Role.HEADER)
        self.page.formula(
            row,
            ACTIVE,
            f'"Active: "&{self.layout.names["own", "scenario"]}',
            f"Active: {self.results.selected}",
            Role.HEADER_LINK,
        )
        for offset in range(LAST - BESIDE + 1):
            if offset < len(self.shown):
                formula = f"{quoted(INPUTS)}!{get_column_letter(FIRST + offset)}${HEADER_ROW}"
                self.page.formula(row, BESIDE + offset, formula, self.shown[offset], Role.HEADER_LINK)
            else:
                self.page.blank(row, BESIDE + offset, Role.HEADER)
        self.page.blank(row, MARK, Role.HEADER)

    def options(self, row: int) -> tuple[int, tuple[int, int] | None]:
        """Write the options' costs; return the next row, and the rows of the costs."""
        priced = self.priced
        if not priced:
            return row - 1, None
        self._table_head(row, "What each option costs")
        for offset, option in enumerate(priced, 1):
            self._option(row + offset, option)
        return row + len(priced) + 1, (row + 1, row + len(priced))

    def _option(self, row: int, option: Option) -> None:
        assert option.cost is not None
        self._quantity(row, option.cost, option.label)
        if ("verdict", "option") in self.layout.rows[CHECKS]:
            mark = f'IF({self.layout.names["verdict", "option"]}={at(row, LABEL)},"◄ verdict","")'
            self.page.formula(
                row,
                MARK,
                mark,
                "◄ verdict" if verdict_label(self.layout, self.now) == option.label else "",
                Role.FORMULA_TEXT,
            )

    def stack(self, row: int, pile: Stack) -> int:
        """Write a chart's parts and their whole; return the next row."""
        self._table_head(row, pile.chart.label)
        named = list(zip(pile.chart.parts, pile.parts, strict=True))
        if pile.whole is not None and pile.chart.whole is not None:
            named.append((pile.chart.whole, pile.whole))
        for offset, (name, part) in enumerate(named, 1):
            self._part(row + offset, self.layout.plan.model.quantities[name].label, pile.unit, part)
        return row + len(named) + 1

    def _part(self, row: int, label: str, unit: str, part: Expr) -> None:
        self._texts(row, label, unit)
        role = Role.FORMULA if isinstance(part, Scale) else Role.LINK
        values = [part_value(part, result.values) for result in self.results.scenarios.values()]
        shape = self.layout.shapes[part.name] if isinstance(part, Reference) else number_format(values, unit)
        self.page.formula(
            row, ACTIVE, print_excel(part, self.by_name), part_value(part, self.now.values), role, shape
        )
        for offset, scenario in enumerate(self.shown):
            spelling = InColumn(self.layout, self.by_name.domains, SUMMARY, get_column_letter(FIRST + offset))
            value = part_value(part, self.results.scenarios[scenario].values)
            self.page.formula(row, BESIDE + offset, print_excel(part, spelling), value, role, shape)
