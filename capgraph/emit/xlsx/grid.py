"""What Inputs, Model and Checks have in common: a heading, the same columns, a column per scenario.

In: a page and the layout → Out: the header rows, section rows and marks. Invariant: row 5 of a scenario's
column holds its id.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from openpyxl.formatting.rule import Rule
from openpyxl.styles import Color, Font, PatternFill
from openpyxl.styles.differential import DifferentialStyle
from openpyxl.utils import get_column_letter

from capgraph.emit.xlsx.layout import ACTIVE, FIRST, FIRST_ROW, HEADER_ROW, INPUTS, LABELS_ROW, Layout
from capgraph.emit.xlsx.measure import column_for
from capgraph.emit.xlsx.names import quoted
from capgraph.emit.xlsx.page import Page, at
from capgraph.emit.xlsx.paper import set_up
from capgraph.emit.xlsx.styles import BLACK, TOO_LONG, Role
from capgraph.results import Results

BROAD = 40.0
HIGHLIGHT = PatternFill("solid", bgColor=Color(rgb="FFFFD966"))


@dataclass(frozen=True, slots=True)
class Column:
    """A column that is no scenario's: its header and its width in characters."""

    header: str
    width: float


def write_head(
    page: Page,
    layout: Layout,
    results: Results,
    title: str,
    note: str,
    before: Sequence[Column],
    after: Sequence[Column],
) -> None:
    """Write title, note and header, and set the columns' widths. `before` are the five columns up to the scenarios'."""
    width = scenario_width(layout, results)
    page.widths(
        *(item.width for item in before),
        *(width for _ in layout.scenarios),
        *_stretched(after, width * len(layout.scenarios)),
    )
    page.text(1, 1, title, Role.TITLE)
    page.text(2, 1, note, Role.NAME)
    for number, column in (*enumerate(before, 1), *enumerate(after, layout.details)):
        page.text(HEADER_ROW, number, column.header, Role.HEADER)
        page.blank(LABELS_ROW, number, Role.HEADER)
    page.formula(LABELS_ROW, ACTIVE, layout.names["own", "scenario"], results.selected, Role.HEADER_LINK)
    for column_number, scenario in layout.columns():
        _scenario_head(page, layout, column_number, scenario)
    page.height(1, 24)
    chosen = f"{get_column_letter(FIRST)}${HEADER_ROW}={layout.names['own', 'scenario']}"
    area = f"{at(LABELS_ROW, FIRST)}:{at(HEADER_ROW, layout.last)}"
    font = Font(bold=True, underline="single", color=Color(rgb=BLACK))
    mark = Rule(type="expression", formula=[chosen], dxf=DifferentialStyle(fill=HIGHLIGHT, font=font))
    page.sheet.conditional_formatting.add(area, mark)


def _stretched(columns: Sequence[Column], width: float) -> list[float]:
    """Widen the broad columns until they take what the scenarios take, so that a print breaks between the two."""
    spare = min(width - sum(column.width for column in columns), 90.0)
    broad = [column for column in columns if column.width >= BROAD]
    return [column.width + (max(spare, 0.0) / len(broad) if column in broad else 0.0) for column in columns]


def _scenario_head(page: Page, layout: Layout, column: int, scenario: str) -> None:
    label = layout.plan.model.scenarios[scenario].label
    if page.title == INPUTS:
        page.text(LABELS_ROW, column, label, Role.HEADER)
        page.text(HEADER_ROW, column, scenario, Role.HEADER)
        return
    letter = get_column_letter(column)
    page.formula(LABELS_ROW, column, f"{quoted(INPUTS)}!{letter}${LABELS_ROW}", label, Role.HEADER_LINK)
    page.formula(HEADER_ROW, column, f"{quoted(INPUTS)}!{letter}${HEADER_ROW}", scenario, Role.HEADER_LINK)


def label_column(layout: Layout, header: str) -> Column:
    """Return a column that holds the labels, but for very long ones."""
    labels = (item.label for item in layout.plan.model.quantities.values())
    longest = max((column_for(label, Role.LABEL) for label in labels), default=0.0)
    return Column(header, min(max(30.0, longest), 44.0))


def name_column(layout: Layout) -> Column:
    """Return a column that holds the names in formulas, but for very long ones."""
    names = (name for (kind, *_), name in layout.names.items() if kind in ("step", "pick"))
    longest = max((column_for(name, Role.NAME) for name in names), default=0.0)
    return Column("Name in formulas", min(max(18.0, longest), 28.0))


def unit_column(layout: Layout) -> Column:
    """Return a column that holds the units, but for very long ones."""
    units = (item.unit_text for item in layout.plan.model.quantities.values())
    longest = max((column_for(unit, Role.UNIT) for unit in units), default=0.0)
    return Column("Unit", min(max(14.0, longest), 32.0))


def scenario_width(layout: Layout, results: Results) -> float:
    """Return a width that holds every number of the scenarios' columns."""
    known = layout.plan.model.quantities
    values = [
        value
        for result in results.scenarios.values()
        for name, value in result.values.items()
        if name in known
    ]
    numbers = (
        len(f"{value:,.0f}") + 1.5 for value in values if isinstance(value, float) and abs(value) < TOO_LONG
    )
    texts = (min(len(value) + 1.5, 20.0) for value in values if isinstance(value, str))
    return max(13.0, *numbers, *texts)


def write_section(page: Page, row: int, text: str, last_column: int) -> None:
    """Write a heading across the table."""
    page.text(row, 1, text, Role.SECTION)
    for column in range(2, last_column + 1):
        page.blank(row, column, Role.SECTION)
    page.height(row, 17)


def finish_grid(
    page: Page, layout: Layout, last_row: int, last_column: int, frozen_column: int = FIRST
) -> None:
    """Set up printing and scrolling."""
    set_up(page, layout.plan.model, max(last_row, FIRST_ROW), last_column, HEADER_ROW, frozen_column)
