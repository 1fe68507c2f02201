"""The Model sheet: one row per quantity, by section, in calculation order; the active column and every
scenario's, all live.

In: a page, the layout and the results → Out: the cells. Invariant: a row holds one formula; the active column
spells it with names, each scenario's column with its own cells, and the two must tie.
"""

from __future__ import annotations

from openpyxl.formatting.rule import Rule
from openpyxl.styles import Color, Font, PatternFill
from openpyxl.styles.differential import DifferentialStyle
from openpyxl.styles.numbers import NumberFormat
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
from capgraph.emit.xlsx.layout import ACTIVE, BASE, FIRST, HEADER_ROW, LABEL, NAME, UNIT, Layout, Line
from capgraph.emit.xlsx.page import Page, at
from capgraph.emit.xlsx.rows import RowWriter
from capgraph.emit.xlsx.styles import Role
from capgraph.emit.xlsx.words import say
from capgraph.plan import Compute, Fetch
from capgraph.results import Results

_AFTER = (Column("Formula in words", 60), Column("Why", 56), Column("Source", 34), Column("Declared at", 28))
_NOTE = (
    "Every cell is a formula. The active column names its operands; a scenario's column holds the same formula "
    "on its own cells. "
    "Ties out: the active value equals the chosen scenario's."
)


def write_model(page: Page, layout: Layout, results: Results) -> None:
    """Write the sheet."""
    before = (
        label_column(layout, "Quantity"),
        name_column(layout),
        unit_column(layout),
        Column("Active", 15),
        Column("Ties out", 9),
    )
    write_head(page, layout, results, "Model", _NOTE, before, _AFTER)
    last_column = layout.details + len(_AFTER) - 1
    row_writer = RowWriter(page, layout, results)
    for line in layout.model:
        if line.kind == "heading":
            write_section(page, line.row, line.name, last_column)
            continue
        _write_texts(page, layout, line)
        row_writer.write(line.key, line.row)
        row_writer.write_tie(line.key, line.row, BASE)
        if line.kind == "measured":
            _mark_measured(page, layout, line.row)
    last_row = layout.model[-1].row if layout.model else HEADER_ROW + 1
    finish_grid(page, layout, last_row, last_column)


def _write_texts(page: Page, layout: Layout, line: Line) -> None:
    label, words = _described(layout, line)
    page.text(line.row, LABEL, label, Role.LABEL)
    page.text(line.row, NAME, layout.names[line.key], Role.NAME)
    quantity = layout.plan.model.quantities.get(line.name)
    unit = "row" if line.kind == "pick" else quantity.unit_text if quantity is not None else ""
    page.text(line.row, UNIT, unit, Role.UNIT)
    page.text(line.row, layout.details, words, Role.NOTE)
    if quantity is None:
        return
    told = quantity.provenance
    if line.kind == "step" and not quantity.is_input:
        page.text(line.row, layout.details + 1, told.because, Role.NOTE)
        page.text(line.row, layout.details + 2, told.source, Role.NOTE)
    page.text(line.row, layout.details + 3, told.origin.place, Role.NAME)


def _described(layout: Layout, line: Line) -> tuple[str, str]:
    """Return a row's label and its formula in words."""
    quantities, step = layout.plan.model.quantities, layout.steps[line.name]

    def called(name: str) -> str:
        return quantities[name].label if name in quantities else name

    label = called(line.name)
    if line.kind == "pick":
        return f"{label}: its row", "Position in its sheet of the row with this id"
    if line.kind == "measured":
        return f"{label}: measured", "From Inputs; blank where the formula below holds"
    if isinstance(step, Fetch):
        title = layout.tables[step.catalog].title
        return (
            f"{label} ({called(step.choice)})",
            f"From the sheet {title}, in the row of {called(step.choice)}",
        )
    return label, say(step.expr, called) if isinstance(step, Compute) else "Given on Inputs, with its source"


def _mark_measured(page: Page, layout: Layout, row: int) -> None:
    """Mark the values under a measured row where a measurement replaces the formula."""
    shape = NumberFormat(numFmtId=300, formatCode='[>=1000]#,##0" (m)";General" (m)"')
    style = DifferentialStyle(
        font=Font(bold=True, italic=True),
        fill=PatternFill("solid", bgColor=Color(rgb="FFE8DAEF")),
        numFmt=shape,
    )
    letter = get_column_letter(ACTIVE)
    rule = Rule(type="expression", dxf=style, formula=[f'{letter}{row}<>""'])
    page.sheet.conditional_formatting.add(f"{at(row + 1, ACTIVE)}:{at(row + 1, ACTIVE)}", rule)
    first = Rule(type="expression", dxf=style, formula=[f'{get_column_letter(FIRST)}{row}<>""'])
    page.sheet.conditional_formatting.add(f"{at(row + 1, FIRST)}:{at(row + 1, layout.last)}", first)
