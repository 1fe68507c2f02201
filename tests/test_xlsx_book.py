"""The workbook as a careful modeller's: conventions, texts, protection, print, bytes; each trap once met has a test."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest
from openpyxl import Workbook, load_workbook
from openpyxl.cell.cell import Cell
from openpyxl.formula.tokenizer import Token, Tokenizer
from openpyxl.formula.translate import Translator
from openpyxl.worksheet.worksheet import Worksheet
from openxml_audit import OpenXmlValidator
from oracles.cells import formulas, stored
from oracles.expectation import layout_of
from oracles.ironcalc import Calculation
from oracles.workbooks import MADE, SHIPPED, SMALL, Built, build, built, model_file

from capgraph.emit.xlsx import emit
from capgraph.emit.xlsx.decision import rule_rows
from capgraph.emit.xlsx.layout import (
    BACKTEST,
    BASE,
    CHECKS,
    FIRST,
    INPUTS,
    MEASUREMENTS,
    MODEL,
    SPARE_ROWS,
    SUMMARY,
    UNITS,
)
from capgraph.emit.xlsx.measure import lines
from capgraph.emit.xlsx.names import quoted
from capgraph.emit.xlsx.page import at, clean
from capgraph.emit.xlsx.styles import Role
from capgraph.emit.xlsx.summary import SELECTOR
from capgraph.formula.tree import Number, walk
from capgraph.plan import Compute, Figure

ALL = (*SHIPPED, *SMALL)
# Of Excel 2010 at the latest, and none that is calculated anew when nothing changed.
FUNCTIONS = {
    "ABS", "AND", "AVERAGE", "AVERAGEIFS", "COUNT", "COUNTA", "COUNTIF", "COUNTIFS", "EXACT", "EXP", "FALSE", "FIXED",
    "IF", "IFERROR", "INDEX", "INT", "ISERROR", "ISLOGICAL", "ISNUMBER", "LN", "LOG", "LOG10", "MATCH", "MAX",
    "MEDIAN", "MIN", "NA", "NOT", "OR", "PERCENTILE", "ROUND", "ROWS", "SQRT", "SUM", "TRUE",
}  # fmt: skip


@pytest.fixture(params=ALL)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def book(name: str) -> Built:
    return built(name)


@pytest.fixture
def sheets(name: str) -> Workbook:
    return loaded(name)


@cache
def loaded(name: str) -> Workbook:
    """Load a workbook once: reading takes longer than looking."""
    return load_workbook(BytesIO(built(name).data))


def formula_cells(workbook: Workbook) -> Iterator[Cell]:
    for sheet in workbook.worksheets:
        for row in sheet.iter_rows():
            yield from (cell for cell in row if isinstance(cell, Cell) and cell.data_type == "f")


def tokens(formula: str) -> list[Token]:
    found: list[Token] = Tokenizer(formula).items
    return found


# Numbers


def test_every_number_is_an_input_a_formula_a_stated_range_or_a_conversion(sheets: Workbook) -> None:
    for sheet in sheets.worksheets:
        for row in sheet.iter_rows():
            for cell in row:
                if cell.data_type != "n" or cell.value is None:
                    continue
                if cell.style == "capgraph input":
                    assert not cell.protection.locked
                else:
                    # A range states how sure an input is; a conversion or a measurement is no one's to change.
                    assert cell.style == "capgraph constant"
                    assert sheet.title in (INPUTS, UNITS, BACKTEST, MEASUREMENTS)


def test_no_number_stands_in_a_formula_but_a_structural_one(book: Built, sheets: Workbook) -> None:
    declared = {9.0, 0.0, 1.0, 2.0}  # ROUND(x,9), +0, MATCH(…,0), LOG(x,2), the first scenario
    for step in book.plan.steps:
        if isinstance(step, Compute):
            declared |= {node.value for node in walk(step.expr) if isinstance(node, Number)}
    for message in book.plan.messages.values():
        declared |= {float(part.decimals) for part in message if isinstance(part, Figure)}
    for cell in formula_cells(sheets):
        for token in tokens(str(cell.value)):
            if token.type == Token.OPERAND and token.subtype == Token.NUMBER:
                assert float(token.value) in declared, f"{cell.parent.title}!{cell.coordinate}: {cell.value}"


def test_formulas_use_old_functions_only_and_stay_within_limits(sheets: Workbook) -> None:
    for cell in formula_cells(sheets):
        formula = str(cell.value)
        assert len(formula) <= 8_192
        called = {
            item.value[:-1]
            for item in tokens(formula)
            if item.type == Token.FUNC and item.subtype == Token.OPEN
        }
        assert called <= FUNCTIONS, called - FUNCTIONS
        for item in tokens(formula):
            if item.type == Token.OPERAND and item.subtype == Token.TEXT:
                assert len(item.value) - 2 <= 255
            if item.type == Token.OPERAND and item.subtype == Token.RANGE and "!" in item.value:
                assert item.value.startswith("'")


def test_one_formula_serves_a_row(book: Built, sheets: Workbook) -> None:
    layout = layout_of(book)
    for title in (MODEL, CHECKS):
        sheet = sheets[title]
        for row in range(6, sheet.max_row + 1):
            first = sheet.cell(row, FIRST)
            for column in range(FIRST + 1, layout.last + 1):
                cell = sheet.cell(row, column)
                if first.data_type == "f" or cell.data_type == "f":
                    there = Translator(str(first.value), origin=first.coordinate).translate_formula(
                        cell.coordinate
                    )
                    assert there == cell.value


def test_the_active_column_names_its_operands(book: Built, sheets: Workbook) -> None:
    layout = layout_of(book)
    for (kind, name), row in layout.rows[MODEL].items():
        if kind != "step":
            continue
        formula = str(sheets[MODEL].cell(row, 4).value)
        ranges = [item.value for item in tokens(formula) if item.subtype == Token.RANGE]
        # A reduction reads the active column of its sweep's points.
        named = [item for item in ranges if not item.startswith("'Sweeps'!$D$")]
        assert all(item in sheets.defined_names for item in named), (name, formula)


def test_names_lead_to_the_cells_they_stand_beside(book: Built, sheets: Workbook) -> None:
    layout = layout_of(book)
    for name, quantity in book.plan.model.quantities.items():
        defined = sheets.defined_names[layout.names["step", name]]
        title = INPUTS if quantity.is_input else MODEL
        row = layout.rows[title]["step", name]
        assert defined.attr_text == f"{quoted(title)}!$D${row}"
        assert sheets[title].cell(row, 2).value == layout.names["step", name]


def test_every_defined_name_lies_in_the_workbook(sheets: Workbook) -> None:
    for defined in sheets.defined_names.values():
        for title, area in defined.destinations:
            assert sheets[title][area.replace("$", "")] is not None


# What a reader may do


def test_inputs_are_unlocked_formulas_locked_and_no_password_is_set(sheets: Workbook) -> None:
    for sheet in sheets.worksheets:
        assert sheet.protection.sheet
        assert sheet.protection.password is None
        assert sheet.sheet_state == "visible"
    assert all(cell.protection.locked for cell in formula_cells(sheets))
    assert not sheets[SUMMARY][SELECTOR].protection.locked


def test_every_input_cell_has_a_rule_and_says_what_it_takes(book: Built, sheets: Workbook) -> None:
    layout, sheet = layout_of(book), sheets[INPUTS]
    ruled = {
        cell
        for rule in sheet.data_validations.dataValidation
        for area in rule.sqref.ranges
        for cell in area.cells
    }
    for (kind, _), row in layout.rows[INPUTS].items():
        if kind == "heading":
            continue
        columns = [*range(FIRST, layout.last + 1), *([BASE] if kind == "step" else [])]
        assert {(row, column) for column in columns} <= ruled
    for rule in sheet.data_validations.dataValidation:
        assert 0 < len(rule.prompt or "") <= 255
        assert rule.showErrorMessage
        assert len(rule.promptTitle or "") <= 32
        if rule.type == "list":
            # A blank in the list lets Excel take any text at all, unless blanks are refused.
            assert rule.formula1 in sheets.defined_names
            assert not rule.allowBlank


def test_lists_cover_the_rows_that_a_reader_may_add(book: Built, sheets: Workbook) -> None:
    layout = layout_of(book)
    for catalog in book.plan.model.catalogs.values():
        table = layout.tables[catalog.id]
        assert table.last - table.first + 1 == len(catalog.rows) + SPARE_ROWS
        for field in ("id", "name", *catalog.fields):
            area = sheets.defined_names[layout.names["column", catalog.id, field]].attr_text or ""
            assert area.endswith(f"${table.last}")
            assert area.startswith(quoted(table.title))
        spare = sheets[table.title].cell(table.last, 1)
        assert spare.value is None
        assert not spare.protection.locked


# Texts


def test_texts_stay_texts() -> None:
    cells = stored_texts(built("hostile"))
    for text in (
        "=label",
        "+label",
        "-label",
        "@label",
        "#N/A",
        "'quoted",
        "=",
        "=cmd|calc",
        "#REF!",
        "=drop",
        "=1+1",
    ):
        assert text in cells, text
    assert cells["=label"].data_type == "s"
    for text, cell in cells.items():
        if text.startswith(("=", "+", "-", "@")):
            assert cell.quotePrefix, text


def stored_texts(book: Built) -> dict[str, Cell]:
    workbook = load_workbook(BytesIO(book.data))
    return {
        str(cell.value): cell
        for sheet in workbook.worksheets
        for row in sheet.iter_rows()
        for cell in row
        if isinstance(cell, Cell) and cell.data_type == "s"
    }


def test_a_text_that_no_cell_can_hold_is_cleaned(tmp_path: Path) -> None:
    text = model_file("small").read_text("utf-8").replace("label: Shops", "label: Shops")
    text = text.replace("label: Users,", 'label: "Users _x0041_",')
    text = text.replace('on {nodes} of "{server}".', "on {nodes}." + " again" * 400 + '"' * 300)
    text = text.replace("source: staff list", f'source: "{"s" * 40_000}"')
    file = tmp_path / "long.yaml"
    file.write_text(text, "utf-8")
    book = build(file)
    held = stored(book.written(tmp_path))
    message = book.results.scenarios["base"].checks["fits"].message
    assert len(message) > 2_700
    assert held[CHECKS]["B8"] == message
    labels = held[INPUTS].values()
    assert "Users _x005F_x0041_" in labels or "Users _x0041_" in labels
    assert max(len(value) for value in labels if isinstance(value, str)) == 32_767
    # The language takes no control characters; a caller's plan might.
    assert clean("Us\x07ers") == "Users"


def test_a_catalog_value_that_is_not_known_is_a_text(book: Built, sheets: Workbook) -> None:
    layout = layout_of(book)
    for catalog in book.plan.model.catalogs.values():
        table = layout.tables[catalog.id]
        for row, entry in enumerate(catalog.rows.values(), table.first):
            for field, column in table.columns.items():
                cell = sheets[table.title].cell(row, column)
                assert (cell.value == "n/a") == (field not in entry.values)


# The file


def test_a_reader_that_does_not_calculate_sees_every_value(book: Built, tmp_path: Path) -> None:
    path = book.written(tmp_path)
    held = stored(path)
    blank = [
        f"{title}!{cell}"
        for title, cells in formulas(path).items()
        for cell, formula in cells.items()
        if held[title].get(cell) is None and '""' not in formula and not formula.endswith("_measured")
    ]
    assert blank == []


def test_same_inputs_same_bytes(book: Built) -> None:
    again = emit(book.plan, book.results, book.findings, MADE)
    assert again.data == book.data


def test_nothing_tells_when_or_where_it_was_written(book: Built) -> None:
    with ZipFile(BytesIO(book.data)) as package:
        assert {item.date_time for item in package.infolist()} == {(2026, 10, 1, 0, 0, 0)}
        core = package.read("docProps/core.xml").decode()
        texts = b"".join(package.read(name) for name in package.namelist()).decode("utf-8", "replace")
    assert re.findall(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", core) == ["2026-10-01T00:00:00Z"] * 2
    assert str(Path(__file__).resolve().parents[1]) not in texts
    assert "externalLink" not in texts
    assert "vbaProject" not in texts


# The small models have every kind of sheet that the flagship has; the cells of its sweeps would take minutes.
@pytest.mark.parametrize("name", [name for name in ALL if name != "llm-serving"])
def test_the_file_is_as_valid_as_an_empty_one(name: str, tmp_path: Path) -> None:
    empty = tmp_path / "empty.xlsx"
    Workbook().save(empty)
    validator = OpenXmlValidator(max_errors=10_000)
    noise = len(validator.validate(str(empty)).errors)
    found = validator.validate(str(built(name).written(tmp_path))).errors
    assert len(found) <= noise, [str(item) for item in found]


def test_names_and_titles_are_legal(book: Built, sheets: Workbook) -> None:
    titles = [sheet.title for sheet in sheets.worksheets]
    swept = ["Sweeps"] if book.plan.model.sweeps else []
    assert titles[: 4 + len(swept)] == ["Summary", "Inputs", "Model", *swept, "Checks"]
    assert titles[-2:] == ["Units", "About"]
    assert all(len(title) <= 31 and not re.search(r"[\[\]:*?/\\]", title) for title in titles)
    folded = [name.casefold() for name in sheets.defined_names]
    assert len(set(folded)) == len(folded)


# Screen and paper


def test_every_sheet_prints_in_landscape_within_its_width(sheets: Workbook) -> None:
    for sheet in sheets.worksheets:
        assert sheet.page_setup.orientation == "landscape"
        assert sheet.sheet_properties.pageSetUpPr is not None
        assert sheet.sheet_properties.pageSetUpPr.fitToPage
        assert (sheet.page_setup.fitToWidth or 0) >= 1
        footer, header = sheet.HeaderFooter.oddFooter, sheet.HeaderFooter.oddHeader
        assert footer is not None
        assert footer.right is not None
        assert footer.right.text == "Page &P of &N"
        assert str(header)
        assert sheet.print_area


def test_tables_keep_their_heads_in_sight(book: Built, sheets: Workbook) -> None:
    for title in (INPUTS, MODEL, CHECKS):
        assert sheets[title].freeze_panes == "F6"
        assert sheets[title].print_title_rows == "$4:$5"
    for table in layout_of(book).tables.values():
        assert sheets[table.title].freeze_panes == "C7"
        assert sheets[table.title].auto_filter.ref


def test_the_summary_is_one_page_with_its_charts(book: Built, sheets: Workbook) -> None:
    sheet = sheets[SUMMARY]
    assert (sheet.page_setup.fitToWidth, sheet.page_setup.fitToHeight) == (1, 1)
    model = book.plan.model
    priced = [option for option in (model.decision.options.values() if model.decision else ()) if option.cost]
    with ZipFile(BytesIO(book.data)) as package:
        drawing = next(
            (name for name in package.namelist() if name.startswith("xl/worksheets/_rels/sheet1.")), None
        )
    assert (drawing is not None) == bool(model.charts or priced)
    curves = sum(
        len({model.quantities[name].unit_text for name in sweep.shows}) for sweep in model.sweeps.values()
    )
    measured = sum(len(backtest.comparisons) for backtest in book.findings.backtests)
    assert len(charts_of(book)) == len(model.charts) + bool(priced) + curves + measured


def charts_of(book: Built) -> list[str]:
    with ZipFile(BytesIO(book.data)) as package:
        return [
            package.read(name).decode() for name in package.namelist() if name.startswith("xl/charts/chart")
        ]


def summary_charts(book: Built) -> list[str]:
    """Return the charts that show cells of the Summary."""
    return [chart for chart in charts_of(book) if "<f>'Summary'!" in chart]


def test_charts_read_live_cells_and_hold_what_they_show() -> None:
    book = built("llm-serving")
    held = load_workbook(BytesIO(book.data), data_only=True)
    for chart in summary_charts(book):
        numbers = re.findall(r"<numRef><f>'Summary'!([^<]*)</f><numCache>(.*?)</numCache>", chart)
        assert numbers
        for area, held_now in numbers:
            shown = [float(value) for value in re.findall(r"<v>([^<]*)</v>", held_now)]
            assert shown == pytest.approx([cell.value for cell in area_cells(held[SUMMARY], area)], rel=1e-14)


def area_cells(sheet: Worksheet, area: str) -> list[Cell]:
    first, _, last = area.replace("$", "").partition(":")
    rows = sheet[f"{first}:{last or first}"]
    return [cell for row in rows for cell in row if isinstance(cell, Cell)]


def test_charts_are_described_in_words() -> None:
    with ZipFile(BytesIO(built("llm-serving").data)) as package:
        drawing = package.read("xl/drawings/drawing1.xml").decode()
    described = re.findall(r'descr="([^"]+)"', drawing)
    assert len(described) == len(summary_charts(built("llm-serving"))) > 2
    assert described[0].startswith("Cost by option, USD/month.")


def test_a_rule_that_does_not_decide_says_so_instead_of_its_headline(tmp_path: Path) -> None:
    book = built("object-storage")
    layout, calculation = layout_of(book), Calculation(book.written(tmp_path))
    rules = rule_rows(layout)
    for scenario, result in book.results.scenarios.items():
        calculation.edit(SUMMARY, SELECTOR, scenario)
        calculation.calculate()
        assert result.verdict is not None
        for number, row in enumerate(range(rules[0], rules[1] + 1)):
            shown = calculation.value(CHECKS, at(row, 2))
            if number == result.verdict.rule:
                assert shown == result.verdict.headline
            elif result.values.get(f"rule.{number + 1}", True):
                assert shown == "Holds as well, but an earlier rule decides."
            else:
                assert shown == "Does not hold."


@pytest.mark.parametrize("title", [INPUTS, MODEL])
def test_definitions_stand_last(title: str) -> None:
    layout = layout_of(built("object-storage"))
    lines = layout.inputs if title == INPUTS else layout.model
    quantities = layout.plan.model.quantities
    steps = [quantities[line.name].provenance.source for line in lines if line.kind == "step"]
    assert steps.count("definition") == 7
    assert steps[-7:] == ["definition"] * 7


def test_a_model_without_key_figures_shows_what_nothing_else_uses() -> None:
    sheet = loaded("photo-archive")[SUMMARY]
    shown = [cell.value for cell in sheet["A"] if cell.value is not None]
    assert shown[-2:] == ["Key figures", "Cost"]
    assert sheet.print_area == f"'{SUMMARY}'!$A$1:$H${sheet.max_row + 1}"
    assert "Checks" not in shown


def test_no_text_takes_more_lines_than_its_row_has_room_for() -> None:
    sheet = loaded("object-storage")[INPUTS]
    broad, narrow = "Power of the room against that of its machines", 44.0
    assert lines(broad, narrow, Role.LABEL) == 1
    assert lines(broad, narrow / 2, Role.LABEL) == 2
    units = {str(cell.value) for cell in sheet["C"] if cell.value}
    assert "request/object/month" in units
    assert all(lines(unit, sheet.column_dimensions["C"].width, Role.UNIT) == 1 for unit in units)


def test_about_speaks_of_no_field_in_particular() -> None:
    words = {
        str(cell.value) for row in loaded("photo-archive")["About"].iter_rows() for cell in row if cell.value
    }
    assert not [text for text in words if re.search(r"GPU|LLM|[Tt]oken", text)]
