"""Fits to measurements: known parameters come back, doubt is told, and what is written gives the same numbers."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
import yaml
from compiling import inside, plan_of, run_path, run_text
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from capgraph.cli.main import app
from capgraph.diagnostics import Diagnostic, Source
from capgraph.join import shipped_models
from capgraph.measurement.calibrate import calibrate
from capgraph.measurement.calibration import Calibration, Estimate, GroupFit
from capgraph.measurement.data import Data, bind
from capgraph.measurement.least_squares import Axis, Numbers, rounded, shares, solve
from capgraph.measurement.parameters import parameters
from capgraph.measurement.table import read_csv
from capgraph.plan import Plan

MODEL = """
model: disk
as_of: 2026-11-30
quantities:
  fixed: {value: 5, unit: ms, min: 0, source: estimate}
  rate: {value: 2, unit: GB/ms, range: [1, 4], source: estimate}
  size: {value: 10, unit: GB, source: log}
  engine: {choose: engines, default: a, source: log}
  spills: {value: false, source: log}
  slowdown: {value: 2, unit: ratio, min: 1, max: 10, source: estimate}
  overhead: {unit: ms, formula: engine.overhead, because: Each engine has its own.}
  time: {unit: ms, formula: "fixed + overhead + size / rate * if(spills, slowdown, 1)"}
  flow: {unit: GB/ms, formula: size / time}
catalogs:
  engines:
    fields: {overhead: {unit: ms, range: [0, 100], label: Overhead}, cores: {unit: count}}
    rows: {a: {overhead: 1, source: list}, b: {overhead: 2, cores: 4, source: list}, c: {cores: 4, source: list}}
scenarios:
  base: {}
  slow: {set: {rate: 1}}
"""
PLAN = plan_of(MODEL)
GIVEN = {"a": 1.0, "b": 2.0}
TRUE = {"a": 0.5, "b": 3.0, "c": 7.0}
RNG = np.random.default_rng


def law(size: float, engine: str = "a", fixed: float = 7.0, rate: float = 3.0) -> float:
    return fixed + TRUE[engine] + size / rate


def table(
    count: int = 40, noise: float = 0.0, engines: str = "ab", outliers: float = 0.0, seed: int = 1
) -> str:
    """Write measurements by a known law; an outlier is off by a factor of two or three."""
    chance = RNG(seed)
    lines = ["size,engine,host,use,measured.time"]
    for row in range(count):
        size, engine = float(chance.uniform(1, 100)), engines[row % len(engines)]
        time = law(size, engine) * float(np.exp(noise * chance.normal()))
        time *= float(chance.uniform(2, 3)) if chance.random() < outliers else 1.0
        lines.append(f"{size!r},{engine},host-{row % 3},{'target' if row % 5 else 'other'},{time!r}")
    return "\n".join(lines) + "\n"


def data_of(text: str, plan: Plan = PLAN) -> Data:
    read, found = read_csv(Source("data.csv", text, "data.csv"))
    assert read is not None, found
    data, found = bind(read, plan.model)
    assert data is not None, found
    return data


def fitted(
    text: str,
    names: str,
    plan: Plan = PLAN,
    of: str = "time",
    by: Sequence[str] = (),
    leave_out: Sequence[str] = (),
) -> tuple[Calibration | None, tuple[Diagnostic, ...]]:
    data, scenario = data_of(text, plan), next(iter(plan.model.scenarios))
    fit, wrong = parameters(plan, scenario, data, names.split(","), of.split(","))
    assert not wrong, wrong
    return calibrate(plan, scenario, data, fit, of.split(","), by, leave_out)


def right(*arguments: str, **more: Sequence[str]) -> Calibration:
    made, _ = fitted(*arguments, **more)  # type: ignore[arg-type]
    assert made is not None
    return made


def only(made: Calibration) -> GroupFit:
    (group,) = made.groups.values()
    return group


def codes(found: Sequence[Diagnostic]) -> list[str]:
    return [item.code for item in found]


# What is known comes back


def test_parameters_without_noise_are_exact() -> None:
    made = right(table(), "fixed,rate", by=["engine"])
    assert list(made.groups) == ["a", "b"]
    for engine, group in made.groups.items():
        found = {name: item.value for name, item in group.estimates.items()}
        assert found == pytest.approx({"fixed": 7 + TRUE[engine] - GIVEN[engine], "rate": 3}, rel=1e-6)
        assert group.whole.after.mean < 1e-8
        assert group.whole.folds.mean < 1e-6


def test_fields_are_fitted_row_by_row() -> None:
    made = right(table(noise=0.0), "engine.overhead,rate")
    assert made.by == ("engine",)
    # The model holds 5 ms fixed where the law has 7.
    for engine, group in made.groups.items():
        assert group.estimates["engine.overhead"].value == pytest.approx(TRUE[engine] + 2, rel=1e-6)
        assert group.estimates["rate"].value == pytest.approx(3, rel=1e-6)
        assert made.options[engine] == {"engine": (engine,)}


@settings(max_examples=10)
@given(fixed=st.floats(0.5, 20), rate=st.floats(0.5, 11), slowdown=st.floats(1.5, 9))
def test_any_parameters_within_their_limits_come_back(fixed: float, rate: float, slowdown: float) -> None:
    lines = ["size,spills,measured.time"]
    for size in (1, 3, 10, 30, 100, 300):
        for spills in (False, True):
            time = fixed + 1 + size / rate * (slowdown if spills else 1)
            lines.append(f"{size},{spills},{time!r}")
    found = only(right("\n".join(lines), "fixed,rate,slowdown")).estimates
    told = {name: item.value for name, item in found.items()}
    assert told == pytest.approx({"fixed": fixed, "rate": rate, "slowdown": slowdown}, rel=1e-6)


def test_noise_stays_within_its_standard_errors() -> None:
    strays = []
    for seed in range(25):
        found = only(right(table(noise=0.05, engines="a", seed=seed), "fixed,rate")).estimates
        for name, true in (("fixed", 6.5), ("rate", 3.0)):
            item = found[name]
            assert item.error is not None
            assert item.low < item.value < item.high
            strays.append((item.value - true) / item.error)
    # The law has 7 + 0.5, the model adds the engine's 1 itself.
    assert np.std(strays) == pytest.approx(1, abs=0.3)
    assert abs(float(np.mean(strays))) < 0.4


def test_a_tenth_of_outliers_hardly_matters() -> None:
    found = only(right(table(200, noise=0.03, engines="a", outliers=0.1), "fixed,rate")).estimates
    assert found["rate"].value == pytest.approx(3, rel=0.05)
    assert found["fixed"].value == pytest.approx(6.5, rel=0.05)


def test_errors_are_those_of_a_general_least_squares_routine() -> None:
    from scipy.optimize import curve_fit

    chance = RNG(3)
    size = np.linspace(1, 100, 60)
    measured = (7 + size / 3) * np.exp(0.004 * chance.normal(size=60))

    def logs(size: Numbers, fixed: float, rate: float) -> Numbers:
        return np.asarray(np.log(fixed + size / rate))

    values, covariance = curve_fit(logs, size, np.log(measured), p0=(5, 2))
    made = solve(lambda sets: sets[:, :1] + size / sets[:, 1:], measured, (Axis(0, 50, 5), Axis(0.1, 9, 2)))
    errors = np.sqrt(np.diag(covariance))
    assert made.values == pytest.approx(values, rel=1e-4)
    assert made.errors == pytest.approx(errors, rel=0.01)
    assert made.correlation[0, 1] == pytest.approx(covariance[0, 1] / errors.prod(), rel=1e-3)


def test_one_factor_is_the_mean_of_the_logarithms() -> None:
    chance = RNG(4)
    noise = 0.001 * chance.normal(size=30)
    made = solve(lambda sets: sets[:, :1] * np.ones(30), 5 * np.exp(noise), (Axis(0.1, 100, 1),))
    assert math.log(made.values[0] / 5) == pytest.approx(noise.mean(), abs=1e-7)
    # Student's t for 29 degrees of freedom, 97.5 %: 2.0452 (any table).
    half = 2.0452 * noise.std(ddof=1) / math.sqrt(30)
    assert math.log(made.high[0] / made.values[0]) == pytest.approx(half, rel=1e-3)


@settings(max_examples=30)
@given(st.integers(2, 60), st.integers(2, 12))
def test_folds_hold_each_row_once_and_are_always_the_same(count: int, folds: int) -> None:
    made = shares(count, folds)
    assert sorted(np.concatenate(made).tolist()) == list(range(count))
    assert max(own.size for own in made) - min(own.size for own in made) <= 1
    assert all((one == other).all() for one, other in zip(made, shares(count, folds), strict=True))


@given(st.floats(1e-6, 1e6), st.floats(1e-12, 1e6))
def test_rounding_is_far_below_the_standard_error(value: float, error: float) -> None:
    assert abs(rounded(value, error) - value) <= max(error / 1000, value * 1e-9)


def test_the_same_measurements_give_the_same_bytes() -> None:
    first, second = (right(table(noise=0.1), "rate,engine.overhead", leave_out=["host"]) for _ in range(2))
    assert first == second


# Groups, and rows that are left out


def test_rows_left_out_have_no_part_in_their_prediction() -> None:
    text = table(noise=0.02, engines="a")
    stray = "\n".join(
        re.sub(r"[\d.]+$", lambda number: str(3 * float(number[0])), line) if ",host-1," in line else line
        for line in text.splitlines()
    )
    made = right(stray, "fixed,rate", leave_out=["host", "engine"])
    # A host that is three times slower is predicted as the two others are, which are fitted without it.
    others = right("\n".join(line for line in stray.splitlines() if ",host-1," not in line), "fixed,rate")
    assert made.left_out["host"]["time"]["host-1"].bias == pytest.approx(-2 / 3, abs=0.02)
    assert others.whole.after.mean < 0.03
    # All rows are of one engine: nothing is left to fit to.
    assert made.left_out["engine"]["time"]["a"].count == 0


def test_a_group_that_cannot_be_fitted_keeps_its_values() -> None:
    lines = table(20, noise=0.01, engines="b").splitlines()
    made, found = fitted("\n".join([*lines, "10,a,host-1,target,9"]), "engine.overhead,rate")
    assert made is not None
    assert [(item.code, item.severity, item.message[:6]) for item in found] == [
        ("CG821", "warning", "a: 1 r")
    ]
    assert made.groups["a"].estimates == {}
    assert made.groups["a"].whole.after == made.groups["a"].whole.before
    assert made.groups["b"].estimates["engine.overhead"].value == pytest.approx(5, rel=0.1)


def test_a_row_that_lacks_the_parameter_gets_one() -> None:
    group = only(right(table(engines="c"), "engine.overhead,rate"))
    assert group.whole.before.count == 0
    assert group.estimates["engine.overhead"].before is None
    assert group.estimates["engine.overhead"].value == pytest.approx(9, rel=1e-6)


def test_a_computed_quantity_can_be_fitted() -> None:
    found = only(right(table(engines="a"), "overhead,rate")).estimates
    assert found["overhead"].before == 1
    assert found["overhead"].value == pytest.approx(2.5, rel=1e-6)


def test_several_quantities_are_fitted_to_at_once() -> None:
    lines = ["size,measured.time,measured.flow"]
    for size in (1, 2, 5, 10, 20, 50):
        lines += [f"{size},{law(size)!r},", f"{2 * size},,{2 * size / law(2 * size)!r}"]
    group = only(right("\n".join(lines), "fixed,rate", of="time,flow"))
    assert {name: item.after.count for name, item in group.each.items()} == {"time": 6, "flow": 6}
    assert {name: item.value for name, item in group.estimates.items()} == pytest.approx(
        {"fixed": 6.5, "rate": 3}
    )


def test_what_moves_in_a_sweep_is_fitted_through_it() -> None:
    swept = plan_of(
        "quantities:\n"
        "  fixed: {value: 5, unit: ms, source: s}\n  rate: {value: 2, unit: GB/ms, source: s}\n"
        "  size: {value: 10, unit: GB, source: s}\n  share: {value: 1, unit: ratio, source: s}\n"
        "  load: {unit: GB, formula: size * share}\n"
        "  part: {unit: ms, formula: fixed + load / rate}\n  time: {unit: ms, formula: sum(part over shares)}\n"
        "sweeps:\n  shares: {over: share, values: [1, 2, 3]}\n"
    )
    lines = [f"{size},{3 * 7 + 6 * size / 3!r}" for size in (1, 3, 10, 30, 60, 90)]
    found = only(right("\n".join(["size,measured.time", *lines]), "fixed,rate", swept)).estimates  # type: ignore[arg-type]
    assert {name: item.value for name, item in found.items()} == pytest.approx({"fixed": 7, "rate": 3})


EXPECTING = MODEL.replace("range: [0, 100], label", "range: [0, 100], expected: [2, 4], label")


def test_an_expectation_holds_where_the_data_say_little_and_yields_where_they_do() -> None:
    plan = plan_of(EXPECTING)
    few = "size,engine,measured.time\n10,a,17\n11,a,17.7\n"
    held, found = fitted(few, "engine.overhead,rate", plan)
    assert codes(found) == ["CG822"]
    assert held is not None
    free = right(table(engines="b", noise=0.01), "engine.overhead,rate", plan)  # type: ignore[arg-type]
    assert 2 < only(held).estimates["engine.overhead"].value < 5
    assert only(free).estimates["engine.overhead"].value == pytest.approx(5, rel=0.1)


@pytest.mark.parametrize("ends", ["[4, 2]", "[50, 120]", "[3, 3]", "[2, many]"])
def test_an_expectation_lies_within_the_range_of_its_field(ends: str) -> None:
    (code,) = run_text(
        MODEL.replace("range: [0, 100], label", f"range: [0, 100], expected: {ends}, label")
    ).codes
    assert code in ("CG211", "CG207")


# Doubt


def estimate(found: Calibration, name: str) -> Estimate:
    return only(found).estimates[name]


@pytest.mark.parametrize(
    ("text", "names", "told"),
    [
        ("size,measured.time\n5,9\n5,9.1\n5,8.9\n5,9\n5,9.2\n5,9\n", "fixed,rate", ["CG824"]),
        ("size,measured.time\n5,9\n", "rate", ["CG821"]),
        ("size,measured.time\n5,9\n6,10\n", "fixed,rate", ["CG821"]),
        ("size,measured.time\n5,9\n6,10\n7,11\n", "slowdown", ["CG823"]),
        (table(), "fixed,overhead", ["CG824"]),
    ],
    ids=["no variation", "one row", "as many rows as parameters", "nothing moves", "a sum of two constants"],
)
def test_nothing_is_fitted_that_the_data_cannot_support(text: str, names: str, told: list[str]) -> None:
    made, found = fitted(text, names)
    assert made is None
    assert [(item.code, item.severity) for item in found] == [(code, "error") for code in told]
    assert all(item.help for item in found)


def test_a_parameter_at_its_limit_is_told_and_has_no_error() -> None:
    text = "size,measured.time\n" + "".join(f"{size},{0.5 + size / 3!r}\n" for size in (1, 3, 10, 30, 60, 90))
    made, found = fitted(text, "fixed,rate")
    assert made is not None
    assert codes(found) == ["CG826"]
    item = estimate(made, "fixed")
    assert (item.value, item.error, item.low, item.high) == (0, None, 0, 0)
    assert only(made).correlation == {}


def test_the_interval_stays_within_the_limits() -> None:
    noise = RNG(2).normal(size=8)
    sizes = (30, 60, 90, 120, 150, 220, 300, 400)
    rows = (
        f"{size},{(1.4 + size / 3) * math.exp(0.05 * own)}" for size, own in zip(sizes, noise, strict=True)
    )
    made, found = fitted("\n".join(["size,measured.time", *rows]), "fixed,rate")
    assert made is not None
    item = estimate(made, "fixed")
    assert item.error is not None
    assert item.low == 0 < item.value < item.high
    assert codes(found) == ["CG827"]


def test_parameters_that_can_hardly_be_told_apart_are_named() -> None:
    text = table(20, noise=0.01, engines="a")
    near = "\n".join(
        line if line.startswith("size") or 40 < float(line.partition(",")[0]) < 60 else ""
        for line in text.splitlines()
    )
    near += "".join(
        f"\n{size},a,host-1,target,{law(size) * (1 + 0.01 * (-1) ** size)}" for size in range(45, 55)
    )
    made, found = fitted(near, "fixed,rate")
    assert made is not None
    assert codes(found) == ["CG825"]
    assert "`fixed` and `rate` (correlation +0.9" in found[0].message


# The command line


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "model.yaml").write_text(MODEL)
    (tmp_path / "data.csv").write_text(table(noise=0.03))
    return tmp_path


def run(folder: Path, *arguments: str) -> Result:
    with inside(folder):
        result = CliRunner().invoke(app, list(arguments))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--fit", "ratte"], "CG820", "did you mean `rate`?"),
        (["--fit", "engine.cores"], "CG820", "no `choice.field` of a formula"),
        (["--fit", "engine"], "CG820", "is no number"),
        (["--fit", "size"], "CG820", "each row of data.csv sets it"),
        (["--fit", "flow"], "CG820", "nothing there needs it"),
        (["--fit", "rate", "--scenario", "slow"], "CG820", "the scenario `slow` sets it"),
        (["--fit", "rate", "--set", "rate=3"], "CG820", "sets it"),
        ([], "CG801", "--fit"),
        (["--fit", "rate", "--of", "tme"], "CG803", "did you mean `time`?"),
        (["--fit", "rate", "--by", "hots"], "CG803", "did you mean `host`?"),
        (["--fit", "rate", "--leave-out", "hots"], "CG803", "did you mean `host`?"),
        (["--fit", "rate", "--rows", "use"], "CG801", "--rows column=text"),
        (["--fit", "rate", "--rows", "usse=target"], "CG803", "did you mean `use`?"),
        (["--fit", "rate", "--rows", "use=nothing"], "CG816", "no row of data.csv has use=nothing"),
        (["--fit", "rate", "--scenario", "slwo"], "CG802", "did you mean `slow`?"),
        (["--fit", "rate", "--set", "fixed=7", "-o", "out.yaml"], "CG801", "--scenario"),
        (["--fit", "rate", "-o", "out.txt"], "CG828", ".yaml"),
        (["--fit", "rate", "-o", "model.yaml"], "CG828", "was not written by"),
        (["--fit", "rate", "--by", "host", "-o", "out.yaml"], "CG828", "--rows"),
        (["--fit", "engine.overhead,rate", "--by", "host", "-o", "out.yaml"], "CG828", "leave --by out"),
    ],
)
def test_wrong_use_is_one_message_and_writes_nothing(
    folder: Path, arguments: list[str], code: str, says: str
) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    result = run(folder, "calibrate", "model.yaml", "data.csv", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert f"error[{code}]" in line
    assert says in line
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_quantity_must_be_named_where_several_are_measured(folder: Path) -> None:
    (folder / "two.csv").write_text("size,measured.time,measured.flow\n5,9,1\n7,10,1\n9,11,2\n")
    result = run(folder, "calibrate", "model.yaml", "two.csv", "--fit", "rate")
    assert (result.exit_code, "--of time" in result.stderr) == (2, True)


def test_without_a_file_the_models_evidence_is_taken(folder: Path) -> None:
    result = run(folder, "calibrate", "model.yaml", "--fit", "rate")
    assert (result.exit_code, "`evidence:`" in result.stderr) == (2, True)
    (folder / "plan.yaml").write_text("extends: model.yaml\nevidence: [data.csv]\n")
    assert run(folder, "calibrate", "--fit", "rate").exit_code == 0
    (folder / "plan.yaml").write_text("extends: model.yaml\nevidence: [data.csv, other.csv]\n")
    (folder / "other.csv").write_text(table())
    result = run(folder, "calibrate", "--fit", "rate")
    assert (result.exit_code, "name one of them" in result.stderr) == (2, True)


def after(folder: Path, *arguments: str) -> dict[str, object]:
    """Return the errors of a fit as the command prints them."""
    document = json.loads(run(folder, "calibrate", "model.yaml", "data.csv", *arguments, "--json").stdout)
    errors: dict[str, object] = document["quantities"]["time"]["after"]
    return errors


@pytest.mark.parametrize("names", ["rate,fixed", "engine.overhead", "overhead"])
def test_the_written_plan_gives_the_same_numbers(folder: Path, names: str) -> None:
    shown = after(folder, "--fit", names, "-o", "out/fitted.yaml")
    result = run(folder, "check", "out/fitted.yaml")
    assert result.exit_code == 0, result.stderr
    told = json.loads(run(folder, "backtest", "out/fitted.yaml", "data.csv", "--json").stdout)
    own = told["backtests"][0]["quantities"]["time"]
    assert {name: own[name] for name in ("count", "mean", "median", "p90", "bias")} == pytest.approx(
        shown, rel=1e-12
    )
    assert run(folder, "calibrate", "out/fitted.yaml", "--refit").exit_code == 0


def test_a_fit_says_what_it_rests_on(folder: Path) -> None:
    arguments = (
        "--fit",
        "rate,fixed",
        "--rows",
        "use=target",
        "--rows",
        "host=host-0",
        "--rows",
        "host=host-1",
    )
    assert run(folder, "calibrate", "model.yaml", "data.csv", *arguments, "-o", "f.yaml").exit_code == 0
    plan = run_path(folder / "f.yaml").plan
    assert plan is not None
    fit = plan.model.fits["rate-fixed-time"]
    rate = plan.model.quantities["rate"]
    assert (fit.of, fit.row, fit.data, fit.date) == ("time", None, "data.csv", "2026-11-30")
    assert fit.where == {"use": ("target",), "host": ("host-0", "host-1")}
    assert fit.parameters["rate"] == (rate.limits.low, rate.limits.high)
    assert rate.provenance.source.startswith(f"fitted to {fit.rows} rows of data.csv: mean error of time ")
    assert rate.provenance.as_of == "2026-11-30"


def test_the_date_is_the_plans_or_that_of_the_environment(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")
    run(folder, "calibrate", "model.yaml", "data.csv", "--fit", "rate", "-o", "f.yaml")
    assert yaml.safe_load((folder / "f.yaml").read_text())["fits"]["rate-time"]["date"] == "2026-01-01"


def test_a_row_keeps_its_source_where_it_holds_other_facts(folder: Path) -> None:
    run(folder, "calibrate", "model.yaml", "data.csv", "--fit", "engine.overhead", "-o", "f.yaml")
    rows = yaml.safe_load((folder / "f.yaml").read_text())["catalogs"]["engines"]
    assert rows["a"]["source"].startswith("fitted to 20 rows of data.csv")
    assert set(rows["b"]) == {"overhead"}


def test_its_own_file_is_written_again_and_no_other(folder: Path) -> None:
    command = ("calibrate", "model.yaml", "data.csv", "--fit", "rate", "-o", "f.yaml")
    assert run(folder, *command).exit_code == 0
    first = (folder / "f.yaml").read_bytes()
    assert run(folder, *command).exit_code == 0
    assert (folder / "f.yaml").read_bytes() == first
    result = run(folder, "calibrate", "f.yaml", "data.csv", "--fit", "rate", "-o", "f.yaml")
    assert (result.exit_code, "cannot extend itself" in result.stderr) == (2, True)
    assert (folder / "f.yaml").read_bytes() == first


def test_a_shipped_model_is_extended_by_its_name(folder: Path) -> None:
    (folder / "photos.csv").write_text("photo_size,measured.cost\n2,2000\n3,3100\n4,4000\n5,5100\n")
    command = ("calibrate", "photo-archive", "photos.csv", "--fit", "price", "-o", "f.yaml")
    assert run(folder, *command).exit_code == 0
    assert yaml.safe_load((folder / "f.yaml").read_text())["extends"] == "photo-archive"
    assert run(folder, "check", "f.yaml").exit_code == 0


def test_what_is_printed_says_how_far_to_trust_it(folder: Path) -> None:
    result = run(
        folder, "calibrate", "model.yaml", "data.csv", "--fit", "engine.overhead,rate", "--leave-out", "host"
    )
    assert result.exit_code == 0
    for said in (
        "before",
        "after",
        "left out",
        "± std error",
        "correlated: engine.overhead ~ rate +0.",
        "Fitted without each host",
    ):
        assert said in result.stdout


# What ships is what its data give


def change(path: Path, edit: Callable[[str], str]) -> None:
    path.write_text(edit(path.read_text()))


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: re.sub(r"value: [\d.]+", "value: 2.5", text, count=1),
        lambda text: re.sub(r"rows: \d+", "rows: 39", text),
        lambda text: re.sub(r"error: [\d.]+%", "error: 9%", text),
        lambda text: re.sub(r"sha256: \w+", f"sha256: {'0' * 64}", text),
        lambda text: re.sub(r"(parameters:\s+rate:\s+- )[\d.]+", r"\g<1>1.5", text),
    ],
    ids=["value", "rows", "error", "file", "range"],
)
def test_a_fit_that_was_changed_is_found(folder: Path, edit: Callable[[str], str]) -> None:
    run(folder, "calibrate", "model.yaml", "data.csv", "--fit", "rate,fixed", "-o", "f.yaml")
    before = (folder / "f.yaml").read_text()
    change(folder / "f.yaml", edit)
    assert (folder / "f.yaml").read_text() != before
    result = run(folder, "calibrate", "f.yaml", "--refit", "-o", "again.yaml")
    assert (result.exit_code, "error[CG829]" in result.stderr) == (1, True)
    assert "differs" in result.stdout
    assert run(folder, "calibrate", "again.yaml", "--refit").exit_code == 0


def test_fits_to_several_quantities_are_made_again(folder: Path) -> None:
    lines = ["size,engine,measured.time,measured.flow"]
    for row, line in enumerate(table(30, noise=0.02).splitlines()[1:]):
        size, engine, *_, time = line.split(",")
        lines.append(f"{size},{engine},{time},{float(size) / float(time) if row % 3 else ''}")
    (folder / "two.csv").write_text("\n".join(lines))
    (folder / "field.yaml").write_text(
        "extends: model.yaml\n"
        "quantities: {rate: {formula: engine.rate}}\n"
        "catalogs: {engines: {fields: {rate: {unit: GB/ms, range: [0.1, 50]}}, "
        "rows: {a: {rate: 2}, b: {rate: 2}, c: {rate: 2}}}}\n"
    )
    command = (
        "calibrate",
        "field.yaml",
        "two.csv",
        "--fit",
        "engine.overhead,engine.rate",
        "--of",
        "time,flow",
    )
    assert run(folder, *command, "-o", "f.yaml").exit_code == 0
    plan = run_path(folder / "f.yaml").plan
    assert plan is not None
    told = {name: (fit.together, fit.rows) for name, fit in plan.model.fits.items()}
    assert told == {
        "a-time": (("flow",), 15),
        "a-flow": (("time",), 10),
        "b-time": (("flow",), 15),
        "b-flow": (("time",), 10),
    }
    result = run(folder, "calibrate", "f.yaml", "--refit")
    assert result.exit_code == 0, result.stdout + result.stderr


def test_a_model_without_fits_has_nothing_to_fit_again(folder: Path) -> None:
    result = run(folder, "calibrate", "model.yaml", "--refit")
    assert (result.exit_code, "has no `fits:`" in result.stderr) == (2, True)
    result = run(folder, "calibrate", "model.yaml", "data.csv", "--refit")
    assert (result.exit_code, "--refit" in result.stderr) == (2, True)


def test_a_fit_whose_parameter_does_not_reach_its_quantity_is_told(folder: Path) -> None:
    change(folder / "model.yaml", lambda text: text + (
        "fits:\n  f: {of: time, catalog: engines, row: b, parameters: {cores: [1, 2]}, rows: 9, error: 5%, "
        "date: 2026-11-30, data: data.csv}\n"
    ))  # fmt: skip
    result = run(folder, "calibrate", "model.yaml", "--refit")
    assert (result.exit_code, "error[CG829]" in result.stderr) == (1, True)


# The published answers replace the parameters by their own, so that no fit of the flagship is in force there.
@pytest.mark.parametrize("name", [name for name in shipped_models() if name != "published-answers"])
def test_fits_that_ship_are_what_their_data_give(name: str, tmp_path: Path) -> None:
    result = run(tmp_path, "calibrate", name, "--refit")
    nothing = result.exit_code == 2 and "has no `fits:`" in result.stderr
    assert nothing or result.exit_code == 0, result.stdout + result.stderr
