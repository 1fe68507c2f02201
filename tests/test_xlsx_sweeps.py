"""Sweeps in the workbook: every point live, reductions over them, and what a reader's edits do to both."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest
from openpyxl import load_workbook
from openpyxl.formula.translate import Translator
from oracles.expectation import layout_of, mismatches
from oracles.ironcalc import Calculation
from oracles.workbooks import Built, build, built, model_file

from capgraph.emit.xlsx.layout import ACTIVE, BASE, FIRST, INPUTS, LABEL, MODEL, SUMMARY, SWEEPS
from capgraph.emit.xlsx.page import at
from capgraph.emit.xlsx.summary import SELECTOR


@pytest.fixture
def book() -> Built:
    return built("sweeps")


def other_model(folder: Path, old: str, new: str) -> Built:
    """Build the model with one thing written differently."""
    text = model_file("sweeps").read_text("utf-8")
    assert old in text
    file = folder / "other.yaml"
    file.write_text(text.replace(old, new), "utf-8")
    return build(file)


def test_points_that_a_reader_changes_move_every_reduction(book: Built, tmp_path: Path) -> None:
    layout, calculation = layout_of(book), Calculation(book.written(tmp_path))
    demand = layout.sweeps["demand"]
    points = [150.0 + 190.0 * number for number in range(demand.points)]
    for offset, point in enumerate(points):
        calculation.edit(SWEEPS, at(demand.first + offset, LABEL), point)
    calculation.calculate()
    other = other_model(tmp_path, "from: 100, to: 3100, points: 13", f"values: {points}")
    assert other.results.scenarios["base"].values["total"] != book.results.scenarios["base"].values["total"]
    assert list(mismatches(layout, other.results.scenarios, "base", calculation.value)) == []


def test_an_input_that_a_reader_changes_moves_every_point(book: Built, tmp_path: Path) -> None:
    layout, calculation = layout_of(book), Calculation(book.written(tmp_path))
    calculation.edit(INPUTS, at(layout.rows[INPUTS]["step", "rate"], BASE), 27.5)
    calculation.calculate()
    other = other_model(tmp_path, "rate: {value: 20,", "rate: {value: 27.5,")
    assert other.results.scenarios["base"].values["cheaper_from"] == 850.0
    assert list(mismatches(layout, other.results.scenarios, "base", calculation.value)) == []


@pytest.mark.parametrize("wanted", [99.0, 3100.5])
def test_a_place_outside_the_sweep_has_no_value(book: Built, tmp_path: Path, wanted: float) -> None:
    layout, calculation = layout_of(book), Calculation(book.written(tmp_path))
    calculation.edit(INPUTS, at(layout.rows[INPUTS]["step", "wanted"], BASE), wanted)
    calculation.calculate()
    row = layout.rows[MODEL]["step", "later"]
    assert calculation.value(MODEL, at(row, ACTIVE)) == "#N/A"
    assert calculation.value(MODEL, at(row, FIRST)) == "#N/A"
    assert calculation.value(MODEL, at(row, FIRST + 1)) == pytest.approx(777.5)


@pytest.mark.parametrize("wanted", [100.0, 350.0, 351.0, 3100.0])
def test_a_place_on_a_point_or_at_an_end_has_the_points_value(
    book: Built, tmp_path: Path, wanted: float
) -> None:
    layout, calculation = layout_of(book), Calculation(book.written(tmp_path))
    calculation.edit(INPUTS, at(layout.rows[INPUTS]["step", "wanted"], BASE), wanted)
    calculation.calculate()
    other = other_model(tmp_path, "wanted: {value: 1234,", f"wanted: {{value: {wanted},")
    expected = other.results.scenarios["base"].number("later")
    assert calculation.value(MODEL, at(layout.rows[MODEL]["step", "later"], ACTIVE)) == pytest.approx(
        expected
    )


def test_where_no_point_fits_there_is_no_value_and_no_zero(book: Built, tmp_path: Path) -> None:
    layout, calculation = layout_of(book), Calculation(book.written(tmp_path))
    calculation.edit(INPUTS, at(layout.rows[INPUTS]["step", "few"], BASE), 1e9)
    calculation.calculate()
    assert calculation.value(MODEL, at(layout.rows[MODEL]["step", "peak"], ACTIVE)) == "#N/A"
    assert calculation.value(MODEL, at(layout.rows[MODEL]["step", "cheaper_from"], ACTIVE)) == 1100.0


def test_one_formula_serves_a_block_across_and_down(book: Built) -> None:
    layout = layout_of(book)
    sheet = load_workbook(BytesIO(book.data))[SWEEPS]
    for swept in layout.sweeps.values():
        for key, first in swept.blocks.items():
            start = sheet.cell(first, FIRST)
            for row in range(first, first + swept.rows(key)):
                for column in range(FIRST, layout.last + 1):
                    cell = sheet.cell(row, column)
                    there = Translator(str(start.value), origin=start.coordinate).translate_formula(
                        cell.coordinate
                    )
                    assert there == cell.value, cell.coordinate


def test_reductions_of_the_same_operands_share_their_cells(book: Built) -> None:
    demand = layout_of(book).sweeps["demand"]
    assert len(demand.reductions) == 9
    assert sum(kind == "position" for kind, _ in demand.blocks) == 2


def test_curves_of_one_unit_are_one_chart(book: Built) -> None:
    with ZipFile(BytesIO(book.data)) as package:
        charts = [package.read(name).decode() for name in package.namelist() if name.startswith("xl/charts/")]
        drawing = package.read("xl/drawings/drawing1.xml").decode()
    assert len(charts) == 2
    assert [len(re.findall(r"<ser>", chart)) for chart in charts] == [2, 1]
    assert "Demand grows, USD/month, for Users, user from 100 to 3,100" in drawing


def test_the_table_on_top_shows_the_chosen_scenario_and_is_what_prints(book: Built, tmp_path: Path) -> None:
    layout, calculation = layout_of(book), Calculation(book.written(tmp_path))
    demand = layout.sweeps["demand"]
    calculation.edit(SUMMARY, SELECTOR, "measured")
    calculation.calculate()
    own = [calculation.value(SWEEPS, at(demand.first + point, LABEL + 1)) for point in range(demand.points)]
    column = layout.scenarios.index("measured") + FIRST
    block = demand.blocks["step", "own_cost"]
    assert own == [calculation.value(SWEEPS, at(block + point, column)) for point in range(demand.points)]
    assert own != [calculation.value(SWEEPS, at(block + point, FIRST)) for point in range(demand.points)]
    sheet = load_workbook(BytesIO(book.data))[SWEEPS]
    _, last = sheet.print_area.split("!")[-1].replace("$", "").split(":")
    assert sheet[last].row < min(swept.heading for swept in layout.sweeps.values())


def test_long_numbers_of_points_show_three_to_four_figures(tmp_path: Path) -> None:
    long = other_model(
        tmp_path, "from: 100, to: 3100, points: 13", "from: 100, to: 3100, points: 13, scale: log"
    )
    swept = layout_of(long).sweeps["demand"]
    sheet = load_workbook(BytesIO(long.data))[SWEEPS]
    second = sheet.cell(swept.first + 1, LABEL)
    assert second.value == pytest.approx(133.13, abs=0.01)
    assert second.number_format.startswith("[>=100]#,##0;")


def test_scenarios_have_no_columns_where_no_formula_reduces_over_a_sweep() -> None:
    book = built("object-storage")
    layout, sheet = layout_of(book), load_workbook(BytesIO(book.data))[SWEEPS]
    assert len(layout.scenarios) > 1
    (swept,) = layout.sweeps.values()
    assert not swept.reductions
    below = sheet.iter_rows(min_row=swept.heading, min_col=ACTIVE + 1)
    assert [cell.coordinate for row in below for cell in row if cell.value is not None] == []
