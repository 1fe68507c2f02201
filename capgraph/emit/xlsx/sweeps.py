"""The Sweeps sheet: on top each sweep's table and charts; below, live, every quantity that moves, at every point.

In: a page, the layout and the results → Out: the cells. Invariant: one formula serves a block, across and down; the
points are inputs, all else follows; scenarios have columns where a formula reduces over the points of a sweep.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from openpyxl.utils import get_column_letter

from capgraph.emit.xlsx.formula import print_excel
from capgraph.emit.xlsx.grid import name_column, scenario_width, unit_column, write_section
from capgraph.emit.xlsx.layout import ACTIVE, HEADER_ROW, INPUTS, LABEL, NAME, SWEEPS, UNIT, Layout
from capgraph.emit.xlsx.names import quoted
from capgraph.emit.xlsx.page import Page, at
from capgraph.emit.xlsx.paper import set_up_tops
from capgraph.emit.xlsx.reductions import below_formula
from capgraph.emit.xlsx.references import COLUMN, AtPoint, ByName, Domains, InColumn
from capgraph.emit.xlsx.steps import row_formula
from capgraph.emit.xlsx.styles import GENERAL, Role, number_format
from capgraph.emit.xlsx.sweep_tops import Top
from capgraph.emit.xlsx.swept import BlockKey, Swept
from capgraph.emit.xlsx.swept_values import BlockValues, block_shape, block_values
from capgraph.emit.xlsx.words import say
from capgraph.formula.tree import Expr, Reduce
from capgraph.results import Results

_NOTE = "For the scenario chosen on Summary. The points are inputs: change them, and all else follows."
_BLOCKS = (
    "Where the numbers above come from: every quantity that moves, at every point. Formulas that reduce over a sweep "
    "read these cells, each scenario its own column. Not printed."
)
_WHERE = "How each number comes about stands below, from row {row} on."
_COLUMN = 16.0


def write_sweeps(page: Page, layout: Layout, results: Results) -> None:
    """Write the sheet."""
    sweeps = layout.sweeps.values()
    across = layout.last if any(swept.reductions for swept in sweeps) else ACTIVE
    explained = min(swept.heading for swept in sweeps) - 1
    _write_head(page, layout, results, explained)
    reached, domains = [], Domains(layout.plan)
    for swept in sweeps:
        values = block_values(layout.plan, swept, layout.scenarios)
        reached.append(Top(page, layout, results, swept, values).write())
        _Sweep(page, layout, results, swept, values, across, domains).write()
    page.text(explained, LABEL, _BLOCKS, Role.NAME)
    set_up_tops(page, layout.plan.model, max(swept.below for swept in sweeps), max(reached))


def _write_head(page: Page, layout: Layout, results: Results, explained: int) -> None:
    broad = max(_COLUMN, scenario_width(layout, results))
    shown = max(len(swept.table.sweep.shows) for swept in layout.sweeps.values())
    others = max(len(layout.scenarios) + 2, shown + 6)
    page.widths(30, name_column(layout).width, unit_column(layout).width, *[broad] * others)
    page.text(1, LABEL, "Sweeps", Role.TITLE)
    page.height(1, 24)
    page.text(2, LABEL, _NOTE, Role.NAME)
    page.text(3, LABEL, _WHERE.format(row=explained), Role.NAME)
    page.link(3, LABEL, at(explained, LABEL))
    page.text(4, LABEL, "Scenario", Role.SECTION)
    scenario = layout.names["own", "scenario"]
    page.formula(4, NAME, scenario, results.selected, Role.LINK_LABEL)


@dataclass(frozen=True)
class _Sweep:
    page: Page
    layout: Layout
    results: Results
    swept: Swept
    values: BlockValues
    across: int
    domains: Domains

    def write(self) -> None:
        """Write the heading of a sweep's blocks, and the blocks."""
        write_section(self.page, self.swept.heading, self.swept.table.sweep.label, self.across)
        for key, first in self.swept.blocks.items():
            label, unit = self._described(key)
            self.page.text(first - 1, LABEL, label, Role.BLOCK)
            self.page.text(first - 1, UNIT, unit, Role.UNIT)
            if key[0] == "step":
                self.page.text(first - 1, NAME, self.layout.names[key], Role.NAME)
            self._write_scenarios(first - 1)
            shape = self._shape(key)
            for offset in range(self.swept.rows(key)):
                self._write_row(key, first + offset, offset, shape)

    def _write_scenarios(self, row: int) -> None:
        selected = self.results.selected
        self.page.formula(row, ACTIVE, self.layout.names["own", "scenario"], selected, Role.LINK)
        if self.swept.reductions:
            for column, scenario in self.layout.columns():
                formula = f"{quoted(INPUTS)}!{get_column_letter(column)}${HEADER_ROW}"
                self.page.formula(row, column, formula, scenario, Role.LINK)

    @cached_property
    def _over(self) -> str:
        return block_shape(self.layout, self.swept, self.values, self.swept.over)

    def _write_row(self, key: BlockKey, row: int, offset: int, shape: str) -> None:
        point = f"$A{self.swept.first + offset}"
        if self.swept.rows(key) > 1:
            swept = self.values[self.swept.over][0][offset]
            self.page.formula(row, NAME, point, swept, Role.FORMULA, self._over)
        selected = self.layout.scenarios.index(self.results.selected)
        formula = point if key == self.swept.over else self._formula(key, self._active, offset)
        self.page.formula(row, ACTIVE, formula, self.values[key][selected][offset], self._role(key), shape)
        if not self.swept.reductions:
            return
        across = point if key == self.swept.over else self._formula(key, self._across, offset)
        for number, (column, _) in enumerate(self.layout.columns()):
            formula = across.replace(COLUMN, get_column_letter(column))
            self.page.formula(row, column, formula, self.values[key][number][offset], self._role(key), shape)

    def _role(self, key: BlockKey) -> Role:
        return Role.LINK if key[0] == "at" else Role.FORMULA

    @cached_property
    def _active(self) -> tuple[ByName, str]:
        return ByName(self.layout, self.domains), get_column_letter(ACTIVE)

    @cached_property
    def _across(self) -> tuple[ByName, str]:
        return InColumn(self.layout, self.domains, SWEEPS), COLUMN

    def _formula(self, key: BlockKey, spelling: tuple[ByName, str], offset: int) -> str:
        """Return a point's formula in the active column or in a scenario's."""
        outer, letter = spelling
        here = AtPoint(self.layout, self.domains, outer, letter, self.swept, offset)
        kind, name = key
        if kind in ("step", "pick"):
            return row_formula(self.layout, key, here)
        node = self.swept.node(name)
        if kind == "at":
            assert node.at is not None
            return print_excel(node.at, outer)
        if kind == "below":
            asked = self.swept.auxiliary("at", node)
            assert asked is not None
            return below_formula(self.swept, self.swept.area(asked, letter), letter)
        if kind == "value":
            assert node.value is not None
            return print_excel(node.value, here)
        taken = self._taken(kind, node, letter, offset)
        return taken if node.condition is None else f'IF({print_excel(node.condition, here)},{taken},"")'

    def _taken(self, kind: str, node: Reduce, letter: str, offset: int) -> str:
        """Return what a point that fits gives: its number, or its value."""
        if kind == "position":
            first = self.swept.blocks[self.swept.over]
            return f"ROWS({letter}${first}:{letter}{first + offset})"
        values = self.swept.values(node)
        assert values is not None
        return f"{letter}{self.swept.blocks[values] + offset}"

    def _described(self, key: BlockKey) -> tuple[str, str]:
        kind, name = key
        if kind in ("step", "pick"):
            quantity = self.layout.plan.model.quantities[name]
            return (
                (quantity.label, quantity.unit_text)
                if kind == "step"
                else (f"{quantity.label}: its row", "row")
            )
        node = self.swept.node(name)
        value, condition, asked = (self._said(part) for part in (node.value, node.condition, node.at))
        said = {
            "value": value,
            "fitting": f"{value}, where {condition}",
            "position": f"Points where {condition}" if condition else "Points",
            "at": f"Asked for: {asked}",
            "below": f"Last point at or below {asked}",
        }
        return said[kind], ""

    def _said(self, part: Expr | None) -> str:
        quantities = self.layout.plan.model.quantities
        return say(part, lambda name: quantities[name].label if name in quantities else name) if part else ""

    def _shape(self, key: BlockKey) -> str:
        kind, _ = key
        if kind == "step":
            return block_shape(self.layout, self.swept, self.values, key)
        if kind in ("pick", "position", "below"):
            return GENERAL
        numbers = [value for row in self.values[key] for value in row if isinstance(value, float)]
        return number_format(numbers, "")
