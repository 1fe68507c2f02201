"""The Inputs sheet: one row per input, the few that decide first; each scenario's override beside the base
value.

In: a page, the layout and the results → Out: the cells. Invariant: this sheet and the catalogs hold every
number that a reader may change; a blank override falls back to the base value.
"""

from __future__ import annotations

from openpyxl.formatting.rule import Rule
from openpyxl.styles import Font
from openpyxl.styles.differential import DifferentialStyle
from openpyxl.utils import get_column_letter

from capgraph.emit.xlsx.grid import (
    Column,
    finish_grid,
    label_column,
    name_column,
    unit_column,
    write_head,
    write_section,
)
from capgraph.emit.xlsx.layout import ACTIVE, BASE, FIRST, HEADER_ROW, INPUTS, LABEL, NAME, UNIT, Layout, Line
from capgraph.emit.xlsx.page import Page, at, fixed
from capgraph.emit.xlsx.styles import GENERAL, Role, number_format
from capgraph.emit.xlsx.validation import input_rule
from capgraph.model import Choose, Given, Quantity, Value
from capgraph.results import Results

_AFTER = (
    Column("Low", 9),
    Column("High", 9),
    Column("Source", 40),
    Column("As of", 11),
    Column("Note", 50),
    Column("Declared at", 28),
)
_NOTE = (
    "Change the boxed blue cells. A scenario's cell overrides the base value; left blank, the base value holds. "
    "The active column follows the scenario chosen on Summary."
)


def write_inputs(page: Page, layout: Layout, results: Results) -> None:
    """Write the sheet."""
    before = (
        label_column(layout, "Input"),
        name_column(layout),
        unit_column(layout),
        Column("Active", 15),
        Column("Base", 15),
    )
    write_head(page, layout, results, "Inputs", _NOTE, before, _AFTER)
    last_column = layout.details + len(_AFTER) - 1
    for line in layout.inputs:
        if line.kind == "heading":
            write_section(page, line.row, line.name, last_column)
        else:
            _write_input(page, layout, results, line)
    last_row = layout.inputs[-1].row if layout.inputs else HEADER_ROW + 1
    scenarios = f"{fixed(HEADER_ROW, FIRST)}:{fixed(HEADER_ROW, layout.last)}"
    page.book.define(layout.names["own", "scenarios"], INPUTS, scenarios, "The scenarios' ids")
    condition = f"NOT(ISBLANK({at(HEADER_ROW + 1, FIRST)}))"
    overridden = Rule(type="expression", formula=[condition], dxf=DifferentialStyle(font=Font(bold=True)))
    page.sheet.conditional_formatting.add(
        f"{at(HEADER_ROW + 1, FIRST)}:{at(last_row, layout.last)}", overridden
    )
    finish_grid(page, layout, last_row, last_column)


def _write_input(page: Page, layout: Layout, results: Results, line: Line) -> None:
    quantity = layout.plan.model.quantities[line.name]
    role, shape = _look(layout, quantity)
    page.text(line.row, LABEL, quantity.label, Role.LABEL)
    page.text(line.row, NAME, layout.names[line.key], Role.NAME)
    page.text(line.row, UNIT, quantity.unit_text or _noun(quantity), Role.UNIT)
    _write_active(page, layout, results, line, shape)
    cells = [f"{at(line.row, FIRST)}:{at(line.row, layout.last)}"]
    if line.kind == "step":
        page.value(line.row, BASE, base_value(quantity), role, shape)
        cells.insert(0, at(line.row, BASE))
    for column, scenario in layout.columns():
        setting = layout.plan.model.scenarios[scenario].settings.get(quantity.id)
        if setting is None:
            page.blank(line.row, column, role, shape)
        else:
            page.value(line.row, column, setting.value, role, shape)
    rule = input_rule(layout, quantity)
    rule.sqref = " ".join(cells)
    page.sheet.add_data_validation(rule)
    _write_details(page, layout, line, quantity, shape)


def _write_active(page: Page, layout: Layout, results: Results, line: Line, shape: str) -> None:
    overrides = f"{_column_fixed(line.row, FIRST)}:{_column_fixed(line.row, layout.last)}"
    chosen = f"INDEX({overrides},{layout.names['own', 'scenario_number']})"
    quantity = layout.plan.model.quantities[line.name]
    if line.kind == "measured":
        setting = layout.plan.model.scenarios[results.selected].settings.get(quantity.id)
        value = setting.value if setting else ""
        formula = f'IF({chosen}="","",{chosen})'
        cached = {True: "yes", False: "no"}[value] if isinstance(value, bool) else value
    else:
        formula = f'IF({chosen}="",{at(line.row, BASE)},{chosen})'
        now = results.scenarios[results.selected].values[quantity.id]
        assert now is not None
        cached = now
        if isinstance(quantity.definition, Given) and isinstance(quantity.definition.value, bool):
            formula += '="yes"'
    page.formula(line.row, ACTIVE, formula, cached, Role.FORMULA, shape)
    page.book.define(layout.names[line.key], INPUTS, fixed(line.row, ACTIVE), quantity.label)


def _write_details(page: Page, layout: Layout, line: Line, quantity: Quantity, shape: str) -> None:
    limits, told = quantity.limits, quantity.provenance
    for offset, limit in enumerate((limits.low, limits.high)):
        if limit is not None:
            page.value(line.row, layout.details + offset, limit, Role.CONSTANT, shape)
    unsourced = "no source stated" if line.kind == "step" and not told.source else ""
    for offset, text in enumerate((told.source or unsourced, told.as_of, told.because), 2):
        page.text(line.row, layout.details + offset, text, Role.NOTE)
    page.text(line.row, layout.details + 5, told.origin.place, Role.NAME)


def base_value(quantity: Quantity) -> Value:
    """Return the value that an input has where no scenario sets it."""
    if isinstance(quantity.definition, Choose):
        return quantity.definition.default
    assert isinstance(quantity.definition, Given)
    return quantity.definition.value


def _look(layout: Layout, quantity: Quantity) -> tuple[Role, str]:
    """Return the role and the number format of an input's cells."""
    if quantity.unit is None:
        return Role.INPUT, GENERAL
    settings = (scenario.settings.get(quantity.id) for scenario in layout.plan.model.scenarios.values())
    values = [setting.value for setting in settings if setting is not None]
    if isinstance(quantity.definition, Given):
        values.append(quantity.definition.value)
    return Role.INPUT, number_format(values, quantity.unit.text, is_input=True)


def _noun(quantity: Quantity) -> str:
    if isinstance(quantity.definition, Choose):
        return (
            "one of a list"
            if quantity.definition.catalog is None
            else f"row of {quantity.definition.catalog}"
        )
    return "yes/no"


def _column_fixed(row: int, column: int) -> str:
    return f"${get_column_letter(column)}{row}"
