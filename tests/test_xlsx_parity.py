"""The workbook against the evaluator: recalculated by engines that know nothing of us, as written and after edits.

In: models that ship and small ones → Out: no cell that shows anything but the evaluator's value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest
from openpyxl import load_workbook
from oracles import formualizer, libreoffice
from oracles.cells import Cell, differences, formulas, stored
from oracles.expectation import Look, edits_as_changes, layout_of, mismatches, results_after
from oracles.ironcalc import Calculation
from oracles.workbooks import SHIPPED, SMALL, Built, built

from capgraph.emit.xlsx.inputs import base_value
from capgraph.emit.xlsx.layout import BASE, INPUTS, SUMMARY, Layout
from capgraph.emit.xlsx.page import at
from capgraph.emit.xlsx.summary import SELECTOR
from capgraph.model import Choose, Given, Quantity, Value

ALL = (*SHIPPED, "object-storage", *SMALL)
MOST_SELECTED = 5


@pytest.fixture(params=ALL)
def book(request: pytest.FixtureRequest) -> Built:
    return built(request.param)


@pytest.fixture
def path(book: Built, tmp_path: Path) -> Path:
    return book.written(tmp_path)


def looking(cells: dict[str, dict[str, Cell]]) -> Look:
    """Return how to look into cells that were read."""
    return lambda title, address: cells[title].get(address)


def written_values(path: Path) -> dict[str, dict[str, Cell]]:
    """Return the cached value of every formula cell."""
    held = stored(path)
    return {title: {cell: held[title].get(cell) for cell in cells} for title, cells in formulas(path).items()}


def test_the_file_holds_the_evaluators_values(book: Built, path: Path) -> None:
    shown = mismatches(layout_of(book), book.results.scenarios, book.results.selected, looking(stored(path)))
    assert list(shown) == []


def test_ironcalc_calculates_every_formula_cell_to_its_stored_value(path: Path) -> None:
    expected = written_values(path)
    assert sum(map(len, expected.values())) > 150
    assert list(differences(Calculation(path).values(expected), expected)) == []


def test_formualizer_calculates_every_formula_cell_to_its_stored_value(path: Path) -> None:
    expected = written_values(path)
    assert list(differences(formualizer.calculated(path, expected), expected)) == []


def test_every_scenario_can_be_selected(book: Built, path: Path) -> None:
    layout, calculation = layout_of(book), Calculation(path)
    names = tuple(book.results.scenarios)
    # Each has its column in every file; of many, some are selected, the last among them.
    for scenario in names[-1 :: -max(1, len(names) // MOST_SELECTED)]:
        calculation.edit(SUMMARY, SELECTOR, scenario)
        calculation.calculate()
        assert list(mismatches(layout, book.results.scenarios, scenario, calculation.value)) == []


@pytest.mark.office
@pytest.mark.parametrize("name", ALL)
def test_libreoffice_agrees_in_every_scenario(name: str, tmp_path: Path) -> None:
    book = built(name)
    layout, path = layout_of(book), book.written(tmp_path)
    # Every file has a column a scenario; what is selected moves one more, which of many scenarios the edits below try.
    scenarios = tuple(book.results.scenarios)
    chosen = scenarios if len(scenarios) <= MOST_SELECTED else ()
    files = [path, *(selected(path, scenario, number) for number, scenario in enumerate(chosen))]
    as_written, *calculated = libreoffice.recalculated(files)
    expected = written_values(path)
    assert list(differences(as_written, expected)) == []
    for scenario, cells in zip(chosen, calculated, strict=True):
        assert list(mismatches(layout, book.results.scenarios, scenario, looking(cells))) == [], scenario


def selected(path: Path, scenario: str, number: int) -> Path:
    """Write the workbook with another scenario chosen, all stored values left as they are."""
    chosen = f't="inlineStr"><is><t>{scenario}</t></is></c>'.encode()
    cell = re.compile(rf'(<c r="{SELECTOR}"[^>]*) t="s"><v>\d+</v></c>'.encode())
    return patched(path, path.with_name(f"{number}.xlsx"), "xl/worksheets/sheet1.xml", cell, rb"\1 " + chosen)


def patched(path: Path, there: Path, part: str, pattern: re.Pattern[bytes], text: bytes) -> Path:
    """Write a workbook with one place of one part replaced."""
    with ZipFile(path) as source, ZipFile(there, "w") as target:
        for name in source.namelist():
            data = source.read(name)
            if name == part:
                data, count = pattern.subn(text, data, count=1)
                assert count == 1
            target.writestr(name, data)
    return there


@pytest.mark.office
def test_libreoffice_does_calculate(tmp_path: Path) -> None:
    """A wrong stored value comes back right: else the tests above compare our numbers with themselves."""
    good = built("small").written(tmp_path)
    value = re.compile(rb"<v>43\.2</v>")
    wrong = patched(good, tmp_path / "wrong.xlsx", "xl/worksheets/sheet3.xml", value, b"<v>99.9</v>")
    assert 99.9 in stored(wrong)["Model"].values()
    (calculated,) = libreoffice.recalculated([wrong])
    assert 99.9 not in calculated["Model"].values()
    assert list(differences(calculated, written_values(good))) == []


# Edits that a reader makes: the selector, a choice, three inputs, an override cleared and one typed.


def numbers(book: Built) -> list[Quantity]:
    """Return the numeric inputs that some calculated quantity depends on, other than the constants of one."""
    quantities = book.plan.model.quantities.values()
    return [
        quantity
        for quantity in quantities
        if isinstance(quantity.definition, Given)
        and not isinstance(quantity.definition.value, bool)
        and quantity.definition.value not in (0, 1)
        and book.plan.used_by.get(quantity.id)
    ]


def edited_inputs(book: Built) -> dict[str, Value]:
    """Return three inputs with other values within their limits, and a choice with another row."""
    chosen: dict[str, Value] = {}
    for quantity in numbers(book)[:3]:
        assert isinstance(quantity.definition, Given)
        value = float(quantity.definition.value) * 1.07
        limit = quantity.limits.maximum
        chosen[quantity.id] = value if limit is None else min(value, limit)
    definition, name = next(other_rows(book))
    chosen[definition] = name
    return chosen


def other_rows(book: Built) -> Iterator[tuple[str, str]]:
    """Yield another row of a catalog for each choice, the one with the most fields first."""
    for quantity in book.plan.model.quantities.values():
        if isinstance(quantity.definition, Choose) and quantity.definition.catalog is not None:
            rows = book.plan.model.catalogs[quantity.definition.catalog].rows.values()
            others = [row for row in rows if row.id != quantity.definition.default]
            yield quantity.id, max(others, key=lambda row: len(row.values)).id


def base_cell(layout: Layout, name: str) -> str:
    return at(layout.rows[INPUTS]["step", name], BASE)


def own_cell(layout: Layout, name: str, scenario: str) -> str:
    column = next(number for number, other in layout.columns() if other == scenario)
    return at(layout.rows[INPUTS]["step", name], column)


def last_scenario(book: Built) -> str:
    return tuple(book.results.scenarios)[-1]


def edited(book: Built, layout: Layout) -> tuple[dict[str, Cell], dict[str, dict[str, Value]]]:
    """Return the cells of Inputs to type into, and what that means for each scenario."""
    base, last = edited_inputs(book), last_scenario(book)
    typed: dict[str, Cell] = {base_cell(layout, name): value for name, value in base.items()}
    own_name = numbers(book)[1].id
    given = numbers(book)[1].definition
    assert isinstance(given, Given)
    own_value = float(given.value) * 0.93
    typed[own_cell(layout, own_name, last)] = own_value
    changes = edits_as_changes(book.plan, base, [(last, own_name, own_value)])
    cleared = next(
        (
            (scenario.id, name)
            for scenario in book.plan.model.scenarios.values()
            for name in scenario.settings
            if ("step", name) in layout.rows[INPUTS] and name not in base and name != own_name
        ),
        None,
    )
    if cleared is not None:
        scenario_id, name = cleared
        typed[own_cell(layout, name, scenario_id)] = None
        changes[scenario_id][name] = base_value(book.plan.model.quantities[name])
    return typed, changes


def test_edits_in_the_workbook_give_what_the_evaluator_gives(book: Built, path: Path) -> None:
    layout, calculation, last = layout_of(book), Calculation(path), last_scenario(book)
    typed, changes = edited(book, layout)
    for cell, value in typed.items():
        calculation.edit(INPUTS, cell, value)
    calculation.edit(SUMMARY, SELECTOR, last)
    calculation.calculate()
    after = results_after(book.plan, changes)
    assert after[last].values != book.results.scenarios[last].values
    assert list(mismatches(layout, after, last, calculation.value)) == []


@pytest.mark.office
@pytest.mark.parametrize("name", ALL)
def test_edits_give_the_same_in_libreoffice(name: str, tmp_path: Path) -> None:
    book = built(name)
    layout, path, last = layout_of(book), book.written(tmp_path), last_scenario(book)
    typed, changes = edited(book, layout)
    workbook = load_workbook(path)
    for cell, value in typed.items():
        workbook[INPUTS][cell] = value
    workbook[SUMMARY][SELECTOR] = last
    there = tmp_path / "edited.xlsx"
    workbook.save(there)
    (cells,) = libreoffice.recalculated([there])
    assert list(mismatches(layout, results_after(book.plan, changes), last, looking(cells))) == []
