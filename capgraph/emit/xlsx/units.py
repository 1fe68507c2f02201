"""The Units sheet: the conversions that formulas name, and the lists that inputs choose from.

In: a page and the layout → Out: the cells and their names. Invariant: no other number stands in a formula but
one that the declared formula itself has.
"""

from __future__ import annotations

from capgraph.emit.xlsx.grid import write_section
from capgraph.emit.xlsx.layout import FIRST_ROW, HEADER_ROW, UNITS, Layout, Line, constants
from capgraph.emit.xlsx.page import Page, fixed
from capgraph.emit.xlsx.paper import set_up
from capgraph.emit.xlsx.styles import Role

ROUNDING_TOLERANCE = 1e-9
_CHOICE, _VALUE, _MEANING = 1, 2, 3


def write_units(page: Page, layout: Layout) -> None:
    """Write the sheet."""
    page.text(1, 1, "Units", Role.TITLE)
    page.height(1, 24)
    page.text(2, 1, "Formulas name these conversions instead of holding their numbers.", Role.NAME)
    for column, header in enumerate(("Name in formulas", "Value", "Meaning"), 1):
        page.text(HEADER_ROW, column, header, Role.HEADER)
        page.blank(HEADER_ROW - 1, column, Role.HEADER)
    page.widths(34, 22, 70)
    values = constants(layout.plan, layout.stacks)
    for line in layout.units:
        match line.kind:
            case "heading":
                write_section(page, line.row, line.name, 3)
            case "constant":
                _write_constant(page, layout, line, values[line.name], _meaning(line.name, values[line.name]))
            case "own":
                meaning = (
                    "How far sums may differ from their parts, relative to the whole: doubles round at 1e-16"
                )
                _write_constant(page, layout, line, ROUNDING_TOLERANCE, meaning)
            case "option":
                page.text(line.row, _CHOICE, _list_label(layout, line.name), Role.LABEL)
                page.text(line.row, _VALUE, line.key[2], Role.CONSTANT)
    _name_lists(page, layout)
    set_up(page, layout.plan.model, layout.units[-1].row if layout.units else FIRST_ROW, 3, HEADER_ROW, 2)


def _write_constant(page: Page, layout: Layout, line: Line, value: float, meaning: str) -> None:
    name = layout.names[line.key]
    page.text(line.row, _CHOICE, name, Role.NAME)
    page.value(
        line.row, _VALUE, value, Role.CONSTANT, "#,##0" if value >= 1 and value == int(value) else "General"
    )
    page.text(line.row, _MEANING, meaning, Role.NOTE)
    page.book.define(name, UNITS, fixed(line.row, _VALUE), meaning)


def _meaning(name: str, value: float) -> str:
    below, _, above = name.partition("_per_")
    return f"{value:,.10g} {below} make 1 {above}".replace("_", "·")


def _list_label(layout: Layout, name: str) -> str:
    quantity = layout.plan.model.quantities.get(name)
    return quantity.label if quantity is not None else "Yes or no"


def _name_lists(page: Page, layout: Layout) -> None:
    options = [line for line in layout.units if line.kind == "option"]
    for name in dict.fromkeys(line.name for line in options):
        rows = [line.row for line in options if line.name == name]
        area = f"{fixed(rows[0], _VALUE)}:{fixed(rows[-1], _VALUE)}"
        page.book.define(
            layout.names["list", name], UNITS, area, f"{_list_label(layout, name)}: what it may be"
        )
