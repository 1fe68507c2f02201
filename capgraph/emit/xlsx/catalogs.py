"""One sheet per catalog: its rows, with room for those that a reader adds.

In: a page and a catalog → Out: the cells and a name for each column. Invariant: a value that a row lacks is
the text "n/a", never a blank that reads as 0; the named columns cover the spare rows.
"""

from __future__ import annotations

from collections.abc import Mapping

from openpyxl.worksheet.datavalidation import DataValidation

from capgraph.emit.xlsx.layout import CATALOG_FIRST_ROW, SPARE_ROWS, Layout, Table
from capgraph.emit.xlsx.page import Page, at, fixed
from capgraph.emit.xlsx.paper import set_up
from capgraph.emit.xlsx.steps import MISSING
from capgraph.emit.xlsx.styles import GENERAL, Role, number_format
from capgraph.emit.xlsx.validation import field_rule
from capgraph.model import Catalog, Field, Row, Value

ID, NAME = 1, 2
_LABELS_ROW, _UNITS_ROW, _IDS_ROW = CATALOG_FIRST_ROW - 3, CATALOG_FIRST_ROW - 2, CATALOG_FIRST_ROW - 1
_TOLD = (
    ("Source", "source", 60.0),
    ("As of", "as_of", 12.0),
    ("Note", "note", 70.0),
    ("Not verified", "unverified", 24.0),
)


def write_catalog(page: Page, layout: Layout, catalog: Catalog) -> None:
    """Write a catalog's sheet."""
    table = layout.tables[catalog.id]
    told = 3 + len(catalog.fields)
    page.text(1, 1, catalog.label, Role.TITLE)
    page.height(1, 24)
    note = (
        "One row per entry; choices on Inputs take its id. To add one, fill a blank row below the last: "
        f"there is room for {SPARE_ROWS}. What is not known stays {MISSING}: a formula that needs it shows an error."
    )
    page.text(2, 1, note, Role.NAME)
    widths = [_id_width(catalog), 34.0, *(_field_width(catalog, field) for field in catalog.fields.values())]
    page.widths(*widths, *(width for _, _, width in _TOLD))
    _write_head(page, catalog)
    shapes = {field.id: _shape(catalog, field) for field in catalog.fields.values()}
    for row, entry in enumerate(catalog.rows.values(), table.first):
        _write_row(page, catalog, row, entry, shapes)
    for row in range(table.first + len(catalog.rows), table.last + 1):
        _write_spare(page, catalog, row, shapes)
    _write_rules(page, layout, catalog, table)
    last_column = told + len(_TOLD) - 1
    page.sheet.auto_filter.ref = f"{at(_IDS_ROW, 1)}:{at(table.last, last_column)}"
    set_up(page, layout.plan.model, table.last, last_column, _IDS_ROW, 3)
    page.sheet.print_title_rows = f"{_LABELS_ROW}:{_IDS_ROW}"


def _write_head(page: Page, catalog: Catalog) -> None:
    heads = [("Id", "", "id"), ("Name", "", "name")]
    heads += [
        (field.label, field.unit.text if field.unit else field.kind, field.id)
        for field in catalog.fields.values()
    ]
    heads += [(label, "", key) for label, key, _ in _TOLD]
    for column, head in enumerate(heads, 1):
        for row, text in zip((_LABELS_ROW, _UNITS_ROW, _IDS_ROW), head, strict=True):
            page.text(row, column, text, Role.HEADER)


def _write_row(page: Page, catalog: Catalog, row: int, entry: Row, shapes: Mapping[str, str]) -> None:
    page.text(row, ID, entry.id, Role.INPUT_TEXT)
    page.text(row, NAME, entry.name, Role.INPUT_TEXT)
    for column, field in enumerate(catalog.fields.values(), 3):
        value = entry.values.get(field.id)
        if value is None:
            page.text(row, column, MISSING, _role(field))
        else:
            page.value(row, column, value, _role(field), shapes[field.id])
    texts = (entry.provenance.source, entry.provenance.as_of, entry.note, ", ".join(entry.unverified))
    for column, text in enumerate(texts, 3 + len(catalog.fields)):
        page.text(row, column, text, Role.INPUT_TEXT)


def _write_spare(page: Page, catalog: Catalog, row: int, shapes: Mapping[str, str]) -> None:
    looks = [(Role.INPUT_TEXT, GENERAL)] * 2
    looks += [(_role(field), shapes[field.id]) for field in catalog.fields.values()]
    looks += [(Role.INPUT_TEXT, GENERAL)] * len(_TOLD)
    for column, (role, shape) in enumerate(looks, 1):
        page.blank(row, column, role, shape)


def _write_rules(page: Page, layout: Layout, catalog: Catalog, table: Table) -> None:
    columns = {"id": ID, "name": NAME, **table.columns}
    for key, column in columns.items():
        name = layout.names["column", catalog.id, key]
        label = catalog.fields[key].label if column >= 3 else f"{catalog.label}: {key}"
        page.book.define(
            name, table.title, f"{fixed(table.first, column)}:{fixed(table.last, column)}", label
        )
        if column >= 3:
            rule = field_rule(catalog.fields[key], at(table.first, column), layout.names["list", "yes/no"])
        elif column == ID:
            rule = _unique(f"{fixed(table.first, ID)}:{fixed(table.last, ID)}", at(table.first, ID))
        else:
            rule = None
        if rule is not None:
            rule.sqref = f"{at(table.first, column)}:{at(table.last, column)}"
            page.sheet.add_data_validation(rule)


def _unique(area: str, first_cell: str) -> DataValidation:
    rule = DataValidation(type="custom", formula1=f"COUNTIF({area},{first_cell})=1", allow_blank=True)
    rule.errorTitle, rule.error = (
        "This id is taken",
        "Two rows of one id: every choice would take the first of them.",
    )
    rule.showErrorMessage = True
    return rule


def _role(field: Field) -> Role:
    return Role.INPUT if field.kind == "number" else Role.INPUT_TEXT


def _shape(catalog: Catalog, field: Field) -> str:
    if field.kind != "number":
        return GENERAL
    return number_format((row.values.get(field.id) for row in catalog.rows.values()), "", is_input=True)


def _id_width(catalog: Catalog) -> float:
    return min(max(12.0, *(len(row) * 1.05 + 2 for row in catalog.rows)), 44.0) if catalog.rows else 12.0


def _field_width(catalog: Catalog, field: Field) -> float:
    unit = field.unit.text if field.unit else ""
    shown = [_shown(row.values[field.id]) for row in catalog.rows.values() if field.id in row.values]
    longest = max((len(text) for text in shown), default=0)
    return min(max(11.0, len(unit) + 2.0, len(field.id) * 1.1 + 3.0, min(longest, 34) + 2.0), 36.0)


def _shown(value: Value) -> str:
    """Return about what a cell shows of a value."""
    if not isinstance(value, float):
        return str(value)
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.6g}"
