"""What happens when a reader changes the workbook: rows added to a catalog, values missing, overrides, mistakes.

IronCalc stands in for the reader's spreadsheet; LibreOffice repeats the edits in `test_xlsx_parity`.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.cells import Cell, same
from oracles.expectation import edits_as_changes, layout_of, mismatches, results_after
from oracles.ironcalc import Calculation
from oracles.workbooks import SHIPPED, Built, build, built, model_file

from capgraph.calculate import calculate
from capgraph.emit.xlsx.layout import BASE, CHECKS, INPUTS, SUMMARY, Layout
from capgraph.emit.xlsx.page import at
from capgraph.emit.xlsx.summary import SELECTOR
from capgraph.evaluate import scenario_overrides
from capgraph.model import Choose, Given, Quantity, Value
from capgraph.plan import Fetch, Plan


@pytest.fixture
def small() -> Built:
    return built("small")


class Reader:
    """Someone with the workbook open."""

    def __init__(self, book: Built, folder: Path) -> None:
        self.book, self.layout = book, layout_of(book)
        self.calculation = Calculation(book.written(folder))

    def types(self, title: str, cell: str, value: Cell) -> None:
        self.calculation.edit(title, cell, value)
        self.calculation.calculate()

    def sets(self, name: str, value: Cell, scenario: str | None = None, kind: str = "step") -> None:
        self.types(INPUTS, at(self.layout.rows[INPUTS][kind, name], self.column(scenario, BASE)), value)

    def sees(self, name: str, scenario: str | None = None) -> Cell:
        title, row = self.layout.home(("step", name))
        return self.calculation.value(title, at(row, self.column(scenario, 4)))

    def column(self, scenario: str | None, otherwise: int) -> int:
        return next((number for number, name in self.layout.columns() if name == scenario), otherwise)

    def adds_row(self, catalog: str, values: Mapping[str, Cell]) -> None:
        table = self.layout.tables[catalog]
        row = table.first + len(self.book.plan.model.catalogs[catalog].rows)
        for field, value in values.items():
            column = {"id": 1, "name": 2, **table.columns}[field]
            self.calculation.edit(table.title, at(row, column), value)
        self.calculation.calculate()


@pytest.fixture
def reader(small: Built, tmp_path: Path) -> Reader:
    return Reader(small, tmp_path)


NEW_ROW: dict[str, Cell] = {
    "id": "huge",
    "name": "Huge server",
    "capacity": 30.0,
    "rent": 390.0,
    "draw": 700.0,
    "cooled": "yes",
    "maker": "M",
}


def test_a_row_that_a_reader_adds_counts_like_one_of_the_model(reader: Reader, tmp_path: Path) -> None:
    reader.adds_row("servers", NEW_ROW)
    reader.sets("server", "huge")
    text = model_file("small").read_text("utf-8").replace("default: big", "default: huge")
    row = "huge: {name: Huge server, capacity: 30, rent: 390, draw: 700, cooled: true, maker: M, source: s}"
    file = tmp_path / "more.yaml"
    file.write_text(text.replace("      small: {name", f"      {row}\n      small: {{name"), "utf-8")
    with_row = build(file)
    shown = mismatches(reader.layout, with_row.results.scenarios, "base", reader.calculation.value)
    assert list(shown) == []
    assert reader.sees("nodes") == 2.0
    assert reader.sees("own_cost") == 780.0


@pytest.mark.parametrize("value", [None, "n/a"])
def test_a_value_missing_in_an_added_row_is_an_error_never_a_zero(reader: Reader, value: Cell) -> None:
    reader.adds_row("servers", {**NEW_ROW, "rent": value})
    reader.sets("server", "huge")
    assert reader.sees("server.rent") == "n/a"
    assert reader.sees("own_cost") == "#VALUE!"
    assert reader.sees("cloud_cost") == pytest.approx(864.0)
    # A decision over an error is an error, not the next rule's option.
    assert (
        reader.calculation.value(CHECKS, at(reader.layout.rows[CHECKS]["verdict", "option"], 4)) == "#VALUE!"
    )
    # What does not use it goes on: small/measured has a server of its own.
    assert reader.sees("own_cost", "small/measured") == 573.0


@pytest.mark.parametrize("value", [None, "n/a"])
def test_a_missing_yes_or_no_and_a_missing_capacity_are_errors(reader: Reader, value: Cell) -> None:
    reader.adds_row("servers", {**NEW_ROW, "cooled": value, "capacity": value})
    reader.sets("server", "huge")
    assert reader.sees("power") == "#VALUE!"
    assert reader.sees("nodes") == "#VALUE!"


def test_a_missing_text_is_an_error_where_it_is_fetched(tmp_path: Path) -> None:
    reader = Reader(built("hostile"), tmp_path)
    reader.adds_row("model", {"id": "r9", "name": "Nine", "size": 9.0})
    reader.sets("h100", "r9")
    assert reader.sees("h100.kind") == "#N/A"
    assert reader.sees("chosen") == "#N/A"
    assert reader.sees("least") == 10.0


def test_a_text_is_compared_by_case_as_the_model_does(tmp_path: Path) -> None:
    reader = Reader(built("hostile"), tmp_path)
    assert reader.sees("chosen", "base") == 3.0  # mla is not MLA
    reader.sets("h100", "r2")
    assert reader.sees("chosen", "base") == 2.0


def test_a_choice_of_no_row_is_an_error_and_the_workbook_says_so(reader: Reader) -> None:
    reader.sets("server", "nowhere")
    assert reader.sees("own_cost") == "#N/A"
    status = reader.calculation.value(CHECKS, at(reader.layout.rows[CHECKS]["integrity", "choices"], 4))
    assert status == "FAIL"
    assert str(reader.calculation.value(SUMMARY, "F7")).endswith("fail, 0 warn")


def test_a_base_value_that_is_cleared_is_noticed(reader: Reader) -> None:
    reader.sets("rate", None)
    assert reader.calculation.value(SUMMARY, "F7") == "1 fail, 0 warn"


def test_a_scenario_that_does_not_exist_is_noticed(reader: Reader) -> None:
    reader.types(SUMMARY, SELECTOR, "nowhere")
    assert str(reader.calculation.value(SUMMARY, "F7")).endswith("fail, 0 warn")


def test_a_measured_value_is_typed_and_taken_back(reader: Reader) -> None:
    assert reader.sees("stored", "base") == pytest.approx(43.2)
    reader.sets("stored", 12.5, "base", kind="measured")
    assert reader.sees("stored", "base") == 12.5
    assert reader.sees("stored") == 12.5
    assert reader.sees("nodes") == 1.0
    reader.sets("stored", None, "base", kind="measured")
    assert reader.sees("stored") == pytest.approx(43.2)
    reader.types(SUMMARY, SELECTOR, "small/measured")
    assert reader.sees("stored") == 31.25


def test_an_override_that_is_cleared_falls_back_to_base(reader: Reader) -> None:
    assert reader.sees("users", "plain") == 1200.0
    reader.sets("users", None, "plain")
    assert reader.sees("users", "plain") == 900.0
    reader.sets("users", 0.0, "plain")
    assert reader.sees("users", "plain") == 0.0


def test_a_check_that_fails_says_so_with_its_numbers(reader: Reader) -> None:
    reader.sets("stored", 1e6, "base", kind="measured")
    reader.sets("server", "big", "base")
    assert reader.calculation.value(SUMMARY, "B7") == "0 fail, 1 warn"
    row = reader.layout.rows[CHECKS]["status", "spare"]
    assert str(reader.calculation.value(CHECKS, f"B{row}")).startswith("8,000 GB free")


def test_a_division_by_zero_shows_where_the_evaluator_has_none(tmp_path: Path) -> None:
    book = built("small")
    reader = Reader(book, tmp_path)
    table = reader.layout.tables["servers"]
    reader.types(table.title, at(table.first, table.columns["capacity"]), 0.0)
    assert reader.sees("nodes") == "#DIV/0!"
    assert reader.sees("cloud_cost") == pytest.approx(864.0)
    assert reader.sees("nodes", "small/measured") == 6.0


# Random edits of the models that ship: whatever is typed, the workbook and the evaluator agree, errors included.


def random_edits(book: Built, rng: random.Random) -> tuple[dict[str, Value], list[tuple[str, str, Value]]]:
    quantities = [item for item in book.plan.model.quantities.values() if item.is_input]
    base = {
        item.id: random_value(book, item, rng) for item in rng.sample(quantities, min(5, len(quantities)))
    }
    names = tuple(book.results.scenarios)
    own = [
        (rng.choice(names), item.id, random_value(book, item, rng))
        for item in rng.sample(quantities, min(3, len(quantities)))
    ]
    return base, own


def random_value(book: Built, quantity: Quantity, rng: random.Random) -> Value:
    definition = quantity.definition
    if isinstance(definition, Choose):
        return rng.choice(definition.options)
    assert isinstance(definition, Given)
    if isinstance(definition.value, bool):
        return rng.random() < 0.5
    limits = quantity.limits
    value = float(definition.value) * rng.choice([0.0, 0.37, 0.9, 1.3, 2.6])
    low = value if limits.minimum is None else max(value, limits.minimum)
    return low if limits.maximum is None else min(low, limits.maximum)


def typed(value: Value) -> Cell:
    return ("yes" if value else "no") if isinstance(value, bool) else value


@pytest.mark.parametrize("name", SHIPPED)
def test_random_edits_give_what_the_evaluator_gives(name: str, tmp_path: Path) -> None:
    book = built(name)
    layout = layout_of(book)
    path = book.written(tmp_path)

    @settings(max_examples=2, database=None)
    @given(st.integers(0, 2**32))
    def edit(seed: int) -> None:
        rng = random.Random(seed)
        base, own = random_edits(book, rng)
        selected = rng.choice(tuple(book.results.scenarios))
        calculation = Calculation(path)
        for quantity, value in base.items():
            calculation.edit(INPUTS, at(layout.rows[INPUTS]["step", quantity], BASE), typed(value))
        for scenario, quantity, value in own:
            column = next(number for number, other in layout.columns() if other == scenario)
            calculation.edit(INPUTS, at(layout.rows[INPUTS]["step", quantity], column), typed(value))
        calculation.edit(SUMMARY, SELECTOR, selected)
        calculation.calculate()
        assert disagreements(layout, edits_as_changes(book.plan, base, own), selected, calculation) == []

    edit()


def disagreements(
    layout: Layout, changes: Mapping[str, Mapping[str, Value]], selected: str, calculation: Calculation
) -> list[str]:
    """Return the numbers that differ; an error may stand only where the evaluator failed, or further on."""
    plan = layout.plan
    after, failed = results_after(plan, changes), failures_after(plan, changes)
    found = []
    for column, scenario in ((4, selected), *layout.columns()):
        for name, quantity in plan.model.quantities.items():
            if quantity.unit is None:
                continue
            title, row = layout.home(("step", name))
            shown, value = calculation.value(title, at(row, column)), after[scenario].values[name]
            if value is None and isinstance(plan.by_id[name], Fetch):
                agrees = shown == "n/a"
            elif isinstance(shown, str) and shown.startswith("#"):
                agrees = name in failed[scenario]
            else:
                agrees = same(shown, value)
            if not agrees:
                found.append(f"{name} in {scenario}: {shown!r} instead of {value!r}")
    return found


def failures_after(plan: Plan, changes: Mapping[str, Mapping[str, Value]]) -> dict[str, frozenset[str]]:
    """Return for each scenario the steps that have no value there, and all that need them."""
    scenarios = tuple(plan.model.scenarios)
    overrides = scenario_overrides(plan, scenarios, [changes.get(name, {}) for name in scenarios])
    failures = calculate(plan, overrides, len(scenarios)).failures
    failed = {}
    for lane, scenario in enumerate(scenarios):
        reached = {failure.step for failure in failures if lane in failure.lanes}
        pending = list(reached)
        while pending:
            users = set(plan.used_by.get(pending.pop(), ())) - reached
            reached |= users
            pending.extend(users)
        failed[scenario] = frozenset(reached)
    return failed
