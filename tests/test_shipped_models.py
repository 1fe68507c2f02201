"""The models of other fields: what they compile to, what their catalogs hold, and figures published elsewhere.

In: photo-archive, object-storage, a plan of published examples → Out: the examples' figures, within their rounding.
"""

from __future__ import annotations

import datetime
import json
import math
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from oracles.cells import differences, formulas, stored
from oracles.ironcalc import Calculation
from oracles.workbooks import build

from capgraph.calculate import calculate
from capgraph.compiler import compile_model
from capgraph.evaluate import evaluate
from capgraph.plan import Plan
from capgraph.resources import models_root
from capgraph.results import Results

ROOT = Path(__file__).parent.parent
PUBLISHED = Path(__file__).with_name("published")
_TEXT = (PUBLISHED / "storage-figures.yaml").read_text("utf-8")
FIGURES: list[dict[str, Any]] = yaml.safe_load(_TEXT)["figures"]
CATALOGS = ("drives", "layouts", "servers", "cloud_classes", "egress_tariffs")
COMMON_KEYS = {"name", "source", "as_of", "note", "unverified"}
LEAST_ROWS = {"drives": 10, "layouts": 10, "servers": 5, "cloud_classes": 10, "egress_tariffs": 5}


def _model_file(name: str) -> Path:
    return models_root() / name / "model.yaml"


@cache
def compiled(name: str) -> tuple[Plan, Results]:
    """Compile a model that ships, which must leave nothing to say."""
    compilation = compile_model(_model_file(name))
    assert compilation.plan is not None, compilation.diagnostics
    assert compilation.diagnostics == ()
    results, found = evaluate(compilation.plan)
    assert results is not None, found
    assert found == ()
    return compilation.plan, results


def number(name: str, scenario: str, quantity: str) -> float:
    """Return a number of a scenario."""
    return compiled(name)[1].scenarios[scenario].number(quantity)


def lanes(quantity: str, **settings: list[float] | list[str]) -> list[float]:
    """Return a quantity of object-storage for each of some values of its inputs, else as in its first scenario."""
    size = max(len(values) for values in settings.values())
    columns = calculate(compiled("object-storage")[0], settings, size)
    assert not columns.failures
    return [float(value) for value in np.broadcast_to(columns.values[quantity], size)]


# The teaching model


def _lines(text: str) -> list[str]:
    return [line for line in text.strip().splitlines() if not line.startswith("#")]


def test_the_teaching_model_is_the_readmes() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    blocks = re.findall(r"^```yaml\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    text = _model_file("photo-archive").read_text("utf-8")
    assert _lines(text) in [_lines(block) for block in blocks]
    assert len(text.splitlines()) <= 12


def test_the_teaching_model_says_what_the_archive_costs() -> None:
    assert number("photo-archive", "base", "stored") == pytest.approx(2e6 * 3.5e6 * 24 / 1e12, rel=1e-12)
    assert number("photo-archive", "base", "cost") == pytest.approx(3_864, rel=1e-12)


# Object storage: figures that others have published


@cache
def published() -> dict[str, Any]:
    """Evaluate the plan of published examples through the command line, once."""
    command = [sys.executable, "-m", "capgraph", "eval", str(PUBLISHED / "storage-plan.yaml"), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.stdout, done.stderr
    scenarios: dict[str, Any] = json.loads(done.stdout)["scenarios"]
    return scenarios


@pytest.mark.parametrize("row", FIGURES, ids=lambda row: f"{row['scenario']}:{row['quantity']}")
def test_published_figure_comes_out(row: dict[str, Any]) -> None:
    found = published()[row["scenario"]]["values"][row["quantity"]]
    assert found["unit"] == row["unit"]
    assert found["value"] == pytest.approx(row["value"], rel=float(row["tolerance"]), abs=0)


# Backblaze Hard Drive Failure Rates for 2024, column AFR; the last is the total.
AFR_2024 = {
    "huh721212ale604": 3.32, "st12000nm001g": 1.26, "st14000nm001g": 1.65, "mg07aca14ta": 1.10,
    "wuh721414ale6l4": 0.84, "st16000nm001g": 0.70, "st16000nm002j": 0.22, "mg08aca16ta": 1.25,
    "mg08aca16te": 1.14, "wuh721816ale6l0": 1.22, "wuh721816ale6l4": 0.37, "mg10aca20te": 0.87,
    "wuh722222ale6l4": 1.07, "exos-x24-24tb": 1.57,
}  # fmt: skip


def test_failure_rates_are_those_that_backblaze_publishes() -> None:
    assert set(AFR_2024) == set(ROWS["drives"])
    found = lanes("annual_failure_rate", drive=list(AFR_2024))
    assert found == pytest.approx(list(AFR_2024.values()), abs=0.005 + 1e-9)


# Raw space per byte: Ceph's documentation for the first two, MinIO's table of approximate ratios for the others.
OVERHEADS = {
    "ec-2-1": (1.5, 1e-9), "ec-10-4": (1.4, 1e-9), "ec-8-8": (2.00, 0.01),
    "ec-12-4": (1.34, 0.01), "ec-13-3": (1.23, 0.01), "ec-14-2": (1.14, 0.01),
}  # fmt: skip


def test_overheads_are_those_that_makers_publish() -> None:
    found = lanes("overhead", layout=list(OVERHEADS))
    for ratio, (stated, tolerance) in zip(found, OVERHEADS.values(), strict=True):
        assert ratio == pytest.approx(stated, abs=tolerance)


# Object storage: its own arithmetic against another way of reckoning


@pytest.mark.parametrize("layout", ["copies-3", "ec-4-2", "ec-8-3"])
def test_durability_is_that_of_the_markov_chain(layout: str) -> None:
    row = ROWS["layouts"][layout]
    bearable, shards = row["parity_shards"], row["data_shards"] + row["parity_shards"]
    rate, repair_time = 0.05, 100 / 8760
    # Expected times to absorption: from `down` failed drives one more fails, or one of them is repaired.
    chain = np.zeros((bearable + 1, bearable + 1))
    for down in range(bearable + 1):
        fail, repair = (shards - down) * rate, down / repair_time
        chain[down, down] = fail + repair
        if down:
            chain[down, down - 1] = -repair
        if down < bearable:
            chain[down, down + 1] = -fail
    exact = float(np.linalg.solve(chain, np.ones(bearable + 1))[0])
    settings = {"annual_failure_rate": [5.0], "rebuild_time": [100.0], "failures_clustered": [1.0]}
    (found,) = lanes("mean_time_to_data_loss", layout=[layout], **settings)
    assert found == pytest.approx(exact, rel=0.02)


def test_the_mean_of_a_growing_archive_is_that_of_its_months() -> None:
    today = number("object-storage", "base", "stored_today")
    growth = number("object-storage", "base", "growth_per_year")
    middles = [today * (1 + growth) ** ((month + 0.5) / 12) for month in range(60)]
    assert number("object-storage", "base", "stored_mean") == pytest.approx(sum(middles) / 60, rel=1e-4)


def _crossing(scenario: str) -> float:
    """Search for the volume from which own nodes cost no more than the bucket."""
    plan = compiled("object-storage")[0]
    settings = {key: item.value for key, item in plan.model.scenarios[scenario].settings.items()}
    today = [float(value) for value in np.geomspace(100, 40_000, 4_000)]
    values: dict[str, Any] = {key: [value] * len(today) for key, value in settings.items()}
    columns = calculate(plan, {**values, "stored_today": today}, len(today))
    dearer = np.asarray(columns.values["own_cost"] > columns.values["cloud_cost"])
    last = int(np.flatnonzero(dearer)[-1])
    return float(np.asarray(columns.values["stored_mean"])[last + 1])


@pytest.mark.parametrize("scenario", ["base", "today", "two-buildings", "frame-contract", "ten-petabytes"])
def test_the_break_even_volume_is_where_a_search_finds_it(scenario: str) -> None:
    found = number("object-storage", scenario, "break_even_volume")
    assert found == pytest.approx(_crossing(scenario), rel=0.15)


def test_charts_add_up() -> None:
    plan, results = compiled("object-storage")
    assert len(plan.model.charts) == 3
    for chart in plan.model.charts.values():
        assert chart.whole is not None
        for scenario in results.scenarios:
            parts = sum(number("object-storage", scenario, part) for part in chart.parts)
            assert parts == pytest.approx(number("object-storage", scenario, chart.whole), rel=1e-12)


# What each scenario is there to show
VERDICTS = {
    "base": "cloud", "today": "own", "two-buildings": "cloud", "three-copies": "cloud", "thin-code": "redesign",
    "frame-contract": "cloud", "ten-petabytes": "own", "ten-petabytes/list-price": "cloud",
    "small-objects": "cloud", "masters": "cloud", "small-office": "cloud",
}  # fmt: skip
FAILING = {("three-copies", "durable_enough"), ("thin-code", "durable_enough")}


def test_each_scenario_decides_as_its_label_says() -> None:
    results = compiled("object-storage")[1]
    decided = {name: result.verdict.option for name, result in results.scenarios.items() if result.verdict}
    assert decided == VERDICTS


def test_only_layouts_that_lose_data_fail_a_check() -> None:
    plan, results = compiled("object-storage")
    failing = {
        (scenario, check)
        for scenario, result in results.scenarios.items()
        for check, outcome in result.checks.items()
        if not outcome.holds and plan.model.checks[check].severity == "error"
    }
    assert failing == FAILING


@pytest.mark.parametrize("name", ["photo-archive", "object-storage"])
def test_the_workbook_is_calculated_to_its_stored_values(name: str, tmp_path: Path) -> None:
    path = build(_model_file(name)).written(tmp_path)
    held, cells = stored(path), formulas(path)
    expected = {title: {cell: held[title].get(cell) for cell in found} for title, found in cells.items()}
    assert sum(map(len, expected.values())) > 40
    assert list(differences(Calculation(path).values(expected), expected)) == []


# Object storage: its catalogs, read without the compiler: a wrong fact and a wrong compiler cannot hide each other


@cache
def _catalog(name: str) -> dict[str, Any]:
    path = ROOT / "models" / "object-storage" / "catalogs" / f"{name}.yaml"
    loaded = yaml.safe_load(path.read_text("utf-8"))
    assert isinstance(loaded, dict)
    return loaded


ROWS: dict[str, dict[str, dict[str, Any]]] = {name: _catalog(name)["rows"] for name in CATALOGS}
EVERY_ROW = [(name, row_id) for name, rows in ROWS.items() for row_id in rows]


@pytest.mark.parametrize("name", CATALOGS)
def test_catalog_has_enough_rows(name: str) -> None:
    assert _catalog(name)["catalog"] == name
    assert len(ROWS[name]) >= LEAST_ROWS[name]


@pytest.mark.parametrize(("name", "row_id"), EVERY_ROW)
def test_row_has_its_fields_a_source_and_a_date(name: str, row_id: str) -> None:
    row, fields = ROWS[name][row_id], set(_catalog(name)["fields"])
    assert fields <= set(row) <= fields | COMMON_KEYS
    assert row["source"].strip()
    assert row["as_of"] <= datetime.date(2026, 11, 30)
    assert set(re.split(r",\s*", row.get("unverified", "name"))) <= fields | {"name"}
    if "assumption" in row["source"]:
        assert row["unverified"]


@pytest.mark.parametrize("row_id", ROWS["layouts"])
def test_sets_of_drives_are_counted_right(row_id: str) -> None:
    row = ROWS["layouts"][row_id]
    shards = row["data_shards"] + row["parity_shards"]
    assert row["loss_sets"] == math.comb(shards, row["parity_shards"] + 1)


def test_every_provider_of_a_class_has_an_egress_tariff() -> None:
    tariffs = {row["provider"] for row in ROWS["egress_tariffs"].values()}
    assert {row["provider"] for row in ROWS["cloud_classes"].values()} == tariffs
