"""Measurements: what a table means to a model, the predictions beside it, and the errors."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from compiling import plan_of
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from capgraph.cli.main import app
from capgraph.diagnostics import Diagnostic, Source
from capgraph.findings import Backtest
from capgraph.measurement.backtest import backtest, errors_of, relative_errors, worst
from capgraph.measurement.data import Data, bind
from capgraph.measurement.table import Table, read_csv
from capgraph.plan import Plan

MODEL = """
model: shop
units: {m: base, km: 1000 m}
catalogs:
  vans:
    fields: {speed: {unit: m/s}, maker: {type: text}}
    rows:
      small: {name: Small van, speed: 10, maker: ACME/One}
      large: {name: Large van, speed: 5, maker: "ACME/Two, ACME/Zwei"}
quantities:
  van: {choose: vans, default: small}
  way: {unit: km, value: 3, min: 0.1, max: 1000, source: map}
  loaded: {value: false, source: log}
  trips: {unit: count, value: 1, min: 1, source: log}
  time: {unit: min, formula: "trips * way / van.speed * if(loaded, 2, 1)"}
  rate: {unit: GB/GPU, value: 2, source: log}
scenarios:
  base: {}
  twice: {set: {trips: 2}}
measurements:
  minutes: {measures: time, unit: min}
  make: {sets: van, by: maker}
  distance: {sets: way, unit: m}
"""


CELLS = [
    "van",
    "way",
    "measured.time",
    "measured.time [s]",
    "distance",
    "small",
    "6",
    "6 km",
    "1e400",
    "-0",
    '"',
    "a,b",
]


def table_of(text: str) -> Table:
    """Return the table of a text that is one."""
    table, found = read_csv(Source("data.csv", text, "data.csv"))
    assert table is not None, found
    return table


def bound(text: str, plan: Plan | None = None) -> tuple[Data | None, tuple[Diagnostic, ...]]:
    """Return the data of a text."""
    return bind(table_of(text), (plan or plan_of(MODEL)).model)


def held(text: str, scenario: str = "base", by: tuple[str, ...] = ()) -> Backtest:
    """Return the backtest of a text."""
    plan = plan_of(MODEL)
    data, found = bound(text, plan)
    assert data is not None, found
    made, more = backtest(plan, scenario, data, by)
    assert made is not None, more
    return made


def codes(found: tuple[Diagnostic, ...]) -> list[tuple[str, str]]:
    """Return severity and code of each."""
    return [(item.severity, item.code) for item in found]


def test_rows_set_inputs_and_choices_and_are_predicted_beside_what_was_measured() -> None:
    made = held("van,way,loaded,measured.time\nsmall,6,,10\nlarge,6,yes,50\n,,,5\n")
    assert made.comparisons["time"].predicted == (10.0, 40.0, 5.0)
    assert made.comparisons["time"].measured == (10.0, 50.0, 5.0)
    assert made.errors["time"].count == 3
    assert made.errors["time"].mean == pytest.approx(0.2 / 3)
    assert made.set_in(1) == {"van": "large", "way": 6.0, "loaded": True}


def test_what_a_row_leaves_open_is_the_scenarios() -> None:
    assert held("way,measured.time\n6,10\n", "twice").comparisons["time"].predicted == (20.0,)
    assert held("trips,measured.time\n3,10\n,10\n", "twice").comparisons["time"].predicted == (15.0, 10.0)


@pytest.mark.parametrize("head", ["measured.time [s]", "measured.time (s)", "measured.time[s]"])
def test_a_header_may_name_the_unit(head: str) -> None:
    made = held(f"way [m],{head}\n6000,600\n")
    assert made.comparisons["time"].measured == (10.0,)
    assert made.comparisons["time"].predicted == (10.0,)


def test_a_cell_may_carry_its_unit_and_leave_out_what_it_is_counted_by() -> None:
    data, found = bound("way,rate,measured.time\n6 km,500 MB,600 s\n")
    assert data is not None, found
    assert data.settings == {"way": (6.0,), "rate": (0.5,)}
    assert data.measured["time"].tolist() == [10.0]


def test_the_model_says_what_foreign_columns_mean() -> None:
    data, found = bound("make,distance,minutes,who\nacme/two,1500,7,Ann\n")
    assert data is not None, found
    assert data.settings == {"van": ("large",), "way": (1.5,)}
    assert data.measured["time"].tolist() == [7.0]
    assert data.labels == {"who": ("Ann",)}


@pytest.mark.parametrize(
    "text",
    ["way;measured.time\n6;10\n", "way\tmeasured.time\r\n6\t10\r\n", "\ufeffway,measured.time\n\n6,10"],
)
def test_tables_as_people_have_them(text: str) -> None:
    assert held(text).comparisons["time"].predicted == (10.0,)


def test_quoted_cells_hold_commas_and_line_ends_and_places_stay_right() -> None:
    data, found = bound('note,van,measured.time\n"a, b\nc",small,1\n"x, y",smal,2\n')
    assert data is not None
    assert data.labels["note"] == ("a, b\nc",)
    (problem,) = found
    assert problem.code == "CG302"
    assert problem.span is not None
    assert (problem.span.line, problem.span.column, problem.span.end_column) == (4, 8, 12)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "no header"),
        ("a,b\n", "no rows"),
        ("a,a\n1,2\n", "two columns are named `a`"),
        ("a,b\n1,2,3\n", "the row has 3 cells, the header 2"),
        ("a,b\n1,250\n1,2,50\n", "the row has 3 cells"),
    ],
)
def test_what_is_no_table_is_refused(text: str, expected: str) -> None:
    table, found = read_csv(Source("data.csv", text, "data.csv"))
    assert table is None
    assert [item.code for item in found] == ["CG812"]
    assert expected in found[0].message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("way,measured.tme\n6,10\n", ("error", "CG304")),
        ("way,measured.van\n6,small\n", ("error", "CG203")),
        ("way,measured.time [kg]\n6,10\n", ("error", "CG501")),
        ("way,measured.time [km]\n6,10\n", ("error", "CG502")),
        ("way,distance,measured.time\n6,6,10\n", ("error", "CG813")),
        ("way,who\n6,Ann\n", ("error", "CG816")),
        ("way,measured.time\n6,\n7,n/a\n", ("error", "CG816")),
    ],
)
def test_columns_that_cannot_be_used_are_errors(text: str, expected: tuple[str, str]) -> None:
    data, found = bound(text)
    assert data is None
    assert codes(found) == [expected]
    assert all(item.span for item in found)


@pytest.mark.parametrize(
    ("bad", "code"),
    [("9999", "CG307"), ("six", "CG207"), ("6 kg", "CG501"), ("6 s", "CG502"), ("1,5", "CG207")],
)
def test_a_wrong_setting_leaves_its_row_out_and_says_so_once(bad: str, code: str) -> None:
    data, found = bound(f'way,measured.time\n6,10\n"{bad}",10\n"{bad}",11\n')
    assert data is not None
    assert data.lines == (2,)
    assert codes(found) == [("warning", code)]
    assert found[0].message.endswith("2 rows are left out")


def test_an_unknown_row_of_a_catalog_offers_the_nearest() -> None:
    data, found = bound("van,measured.time\nsmal,10\nsmall,5\n")
    assert data is not None
    assert data.lines == (3,)
    assert codes(found) == [("warning", "CG302")]
    assert "did you mean `small`?" in found[0].help


@pytest.mark.parametrize("bad", ["0", "-3", "1e999", "inf", "abc"])
def test_a_measurement_that_is_none_leaves_the_other_measurements_of_its_row(bad: str) -> None:
    data, found = bound(f"way,measured.time,measured.rate\n6,{bad},2\n6,10,2\n")
    assert data is not None
    assert np.isnan(data.measured["time"][0])
    assert data.measured["rate"].tolist() == [2.0, 2.0]
    assert [item.severity for item in found] == ["warning"]


def test_a_mistyped_input_is_told_and_a_label_is_not() -> None:
    _, found = bound("wy,who,measured.time\n6,Ann,10\n")
    assert codes(found) == [("warning", "CG811")]
    assert "did you mean `way`?" in found[0].help


def test_many_wrong_cells_are_told_in_short() -> None:
    lines = "".join(f"x{number},10\n" for number in range(50))
    data, found = bound(f"way,measured.time\n{lines}6,10\n")
    assert data is not None
    assert data.size == 1
    assert len(found) == 21
    assert "30 more" in found[-1].message


def test_errors_are_those_of_a_definition_written_apart() -> None:
    generator = np.random.default_rng(7)
    ways, measured = generator.uniform(1, 100, 200), generator.uniform(1, 100, 200)
    rows = "".join(f"{way!r},{time!r}\n" for way, time in zip(ways.tolist(), measured.tolist(), strict=True))
    made = held(f"way,measured.time\n{rows}")
    own = np.abs(ways * 1000 / 10 / 60 / measured - 1)
    errors = made.errors["time"]
    assert errors.count == 200
    assert errors.mean == pytest.approx(float(own.mean()), rel=1e-12)
    assert errors.median == pytest.approx(float(np.percentile(own, 50)), rel=1e-12)
    assert errors.p90 == pytest.approx(float(np.percentile(own, 90)), rel=1e-12)
    assert worst(made.comparisons["time"], 3) == tuple(np.argsort(-own)[:3].tolist())


def test_groups_are_by_choices_and_labels_that_repeat() -> None:
    made = held("van,id,site,measured.time\nsmall,1,N,5\nsmall,2,S,5\nlarge,3,N,20\nlarge,4,S,8\n")
    assert set(made.groups) == {"van", "site"}
    assert made.groups["van"]["large"]["time"].count == 2
    assert made.groups["van"]["small"]["time"].mean == 0.0
    own = held("van,id,measured.time\nsmall,1,5\nlarge,2,20\n", by=("id",))
    assert set(own.groups) == {"id"}


def test_of_a_programs_columns_that_mean_one_quantity_the_models_first_counts() -> None:
    plan = plan_of(MODEL.replace("  distance:", "  meters: {sets: way, unit: m}\n  distance:"))
    table = replace(table_of("distance,meters,minutes\n1000,6000,10\n"), tool="a program")
    data, found = bind(table, plan.model)
    assert data is not None, found
    assert data.settings == {"way": (6.0,)}
    assert data.labels == {"distance": ("1000",)}


def test_what_a_programs_column_means_the_model_says_alone() -> None:
    plan = plan_of(MODEL)
    table = replace(table_of("van,make,minutes\nsmall,acme/zwei,10\n"), tool="a program")
    data, found = bind(table, plan.model)
    assert data is not None, found
    assert data.settings == {"van": ("large",)}
    assert data.labels == {"van": ("small",)}


def test_what_is_set_for_all_rows_need_not_be_read() -> None:
    plan = plan_of(MODEL)
    data, found = bind(table_of("van,measured.time\nsmal,10\n"), plan.model, {"van": "large"})
    assert data is not None
    assert not found
    assert data.settings == {"van": ("large",)}


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.lists(
            st.sampled_from(CELLS) | st.text(max_size=8),
            min_size=1,
            max_size=4,
        ),
        max_size=5,
    ),
    st.sampled_from([",", ";", "\t"]),
)
def test_whatever_stands_in_a_table_ends_in_data_or_diagnostics(
    rows: list[list[str]], delimiter: str
) -> None:
    source = Source("data.csv", "\n".join(delimiter.join(row) for row in rows), "data.csv")
    table, found = read_csv(source)
    if table is not None:
        plan = plan_of(MODEL)
        data, found = bind(table, plan.model)
        if data is not None:
            made, found = backtest(plan, "base", data)
            assert made is not None or found
    assert all(item.message and (item.span is None or item.span.line >= 1) for item in found)


def test_a_row_without_a_prediction_is_told_and_left_out() -> None:
    plan = plan_of(
        "model: m\nquantities:\n  x: {unit: count, value: 1, source: s}\n  y: {unit: count, formula: 1 / x}\n"
    )
    data, _ = bound("x,measured.y\n0,1\n2,0.5\n", plan)
    assert data is not None
    made, found = backtest(plan, "base", data)
    assert made is not None
    assert codes(found) == [("warning", "CG601")]
    assert "line 2 of data.csv" in found[0].message
    assert made.errors["y"].count == 1
    assert math.isnan(relative_errors(made.comparisons["y"])[0])
    assert errors_of(made.comparisons["y"], [0]).count == 0


def run(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """Run the command in a folder with the model and return exit code, output and messages."""
    (folder / "shop.yaml").write_text(MODEL)
    result = CliRunner().invoke(app, arguments)
    return result.exit_code, result.stdout, result.stderr


def test_the_command_prints_errors_and_the_worst_rows_with_their_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text(
        "van,way,site,measured.time [s]\nsmall,6,N,600\nlarge,6,N,1000\nlarge,6,S,600\nsmall,6,S,700\n"
    )
    code, out, told = run(tmp_path, "backtest", "shop.yaml", "data.csv")
    assert code == 0
    assert "error" not in told
    assert "data.csv: 4 rows against shop, base" in out
    assert "by van" in out
    assert "data.csv:4: 20 for 10 (+100%)" in out
    (why,) = (line for line in out.splitlines() if line.startswith("Why the first: "))
    again = CliRunner().invoke(app, why.removeprefix("Why the first: capgraph ").split())
    assert again.exit_code == 0
    assert again.stdout.startswith("time in base: 20 min")
    (explain,) = (line for line in out.splitlines() if line.startswith("What would explain it: "))
    again = CliRunner().invoke(app, explain.removeprefix("What would explain it: capgraph ").split())
    assert again.exit_code == 0
    assert "[time]: 10 min measured, 50% below the 20 of the model" in again.stdout


def test_json_has_every_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text("van,site,measured.time\nsmall,N,5\nlarge,N,\nlarge,S,11\n")
    code, out, _ = run(tmp_path, "backtest", "shop.yaml", "data.csv", "--json", "--set", "trips=2")
    assert code == 0
    (made,) = json.loads(out)["backtests"]
    assert made["quantities"]["time"]["count"] == 2
    assert [row["time"]["predicted"] for row in made["rows"]] == [10.0, 20.0]
    assert made["rows"][0]["set"] == ["van=small", "trips=2"]


MEASUREMENTS = Path(__file__).parent / "measurements"


def test_a_programs_output_is_held_against_the_flagship_and_says_what_was_read() -> None:
    file = str(MEASUREMENTS / "vllm-log-0.11.txt")
    asked = ["backtest", "llm-serving", file, "--set", "gpu=h100-sxm-80", "--set", "engine=vllm-0.10"]
    result = CliRunner().invoke(app, asked)
    assert result.exit_code == 0, result.stderr
    out = " ".join(result.stdout.split())
    assert "Read as vLLM log: llm from model, weight_format from dtype" in out
    assert "weights_per_gpu from Model loading took" in out
    assert "Not in the file, so as in base: window_reservation=reserved" in out
    made = json.loads(CliRunner().invoke(app, [*asked, "--json"]).stdout)["backtests"][0]
    assert made["quantities"]["weights_per_gpu"]["mean"] < 0.01
    assert made["quantities"]["reported_concurrency"]["mean"] < 0.02


def test_what_a_program_does_not_tell_is_named() -> None:
    result = CliRunner().invoke(
        app, ["backtest", "llm-serving", str(MEASUREMENTS / "vllm-bench-printed.txt")]
    )
    assert result.exit_code == 0, result.stderr
    assert "weight_format=fp8" in result.stdout
    assert "gpu=h100-sxm-80" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["backtest", "shop.yaml"], "CG801", "no file of measurements is named"),
        (["backtest", "shop.yaml", "data.csv", "--by", "sit"], "CG803", "did you mean `site`?"),
        (["backtest", "shop.yaml", "data.csv", "-s", "bas"], "CG802", "did you mean `base`?"),
    ],
)
def test_wrong_use_is_told(
    arguments: list[str], code: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text("van,site,measured.time\nsmall,N,5\nlarge,N,10\n")
    exit_code, _, messages = run(tmp_path, *arguments)
    assert exit_code == 2
    assert f"error[{code}]" in messages
    assert told in messages
