"""Sweeps and reductions: against plain Python, lane by lane, and what is wrong with them."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from capgraph.calculate import calculate, narrowed
from capgraph.compiler import Compilation, compile_model
from capgraph.evaluate import evaluate
from capgraph.model import Value
from capgraph.plan import Plan

MODEL = """
model: fleet
quantities:
  users: {unit: user, value: 2000, min: 1}
  need: {unit: GPU/user, value: 0.001}
  kind: {choose: [small, big]}
  price: {unit: USD/GPU/month, value: 1000}
  rate: {unit: USD/user/month, value: 1.4}
  fixed: {unit: USD/month, value: 3000}
  one_user: {unit: user, value: 1}
  gpus: {unit: GPU, formula: ceil(users * need)}
  own: {unit: USD/month, formula: 'gpus * price + fixed * if(kind = "big", 2, 1)'}
  rent: {unit: USD/month, formula: users * rate}
  result: {unit: UNIT, formula: 'FORMULA'}
sweeps:
  demand: {over: users, from: 100, to: 20000, points: 150, scale: log, shows: [own, rent]}
  kinds: {over: kind, values: [small, big]}
scenarios:
  base: {}
  dear: {set: {kind: big, rate: 1.5}}
  measured: {set: {gpus: 3}}
"""


def _compile(folder: Path, formula: str, unit: str = "USD/month", model: str = MODEL) -> Compilation:
    path = folder / "model.yaml"
    path.write_text(model.replace("FORMULA", formula).replace("UNIT", unit), "utf-8")
    return compile_model(path)


def _plan(folder: Path, formula: str, unit: str = "USD/month") -> Plan:
    compilation = _compile(folder, formula, unit)
    assert compilation.plan is not None, compilation.diagnostics
    return compilation.plan


def _points() -> list[float]:
    low, high = math.log(100), math.log(20000)
    return [100.0, *(math.exp(low + n / 149 * (high - low)) for n in range(1, 149)), 20000.0]


def _own(users: float, scenario: str) -> float:
    gpus = 3.0 if scenario == "measured" else math.ceil(round(users * 0.001, 9))
    return gpus * 1000 + 3000 * (2 if scenario == "dear" else 1)


def _rent(users: float, scenario: str) -> float:
    return users * (1.5 if scenario == "dear" else 1.4)


def _paying(scenario: str) -> list[float]:
    return [_rent(u, scenario) for u in _points() if _own(u, scenario) <= _rent(u, scenario)]


CASES: dict[str, Callable[[str], float]] = {
    "sum(own over demand)": lambda s: sum(_own(u, s) for u in _points()),
    "mean(own over demand)": lambda s: sum(_own(u, s) for u in _points()) / 150,
    "max(rent - own over demand)": lambda s: max(_rent(u, s) - _own(u, s) for u in _points()),
    "min(rent - own over demand)": lambda s: min(_rent(u, s) - _own(u, s) for u in _points()),
    "min(own where rent > own over demand)": lambda s: min(_own(u, s) for u in _points() if _rent(u, s) > _own(u, s)),
    "first(rent where own <= rent over demand)": lambda s: _paying(s)[0],
    "last(rent where own <= rent over demand)": lambda s: _paying(s)[-1],
    "sum(own where users > 300 * one_user over demand)": lambda s: sum(_own(u, s) for u in _points() if u > 300),
    "interpolate(rent at 2 * users over demand)": lambda s: _rent(4000, s),
    "own + min(own over kinds)": lambda s: _own(2000, s) + _own(2000, "measured" if s == "measured" else "base"),
    "if(count(rent > 1e9 * own over demand) > 0, first(own where rent > 1e9 * own over demand), 0)": lambda s: 0.0,
}  # fmt: skip


@pytest.mark.parametrize("formula", CASES)
def test_against_plain_python(formula: str, tmp_path: Path) -> None:
    results, found = evaluate(_plan(tmp_path, formula))
    assert results is not None, found
    for scenario, result in results.scenarios.items():
        assert result.number("result") == pytest.approx(CASES[formula](scenario), rel=1e-11)


def test_count_is_a_plain_number(tmp_path: Path) -> None:
    results, _ = evaluate(_plan(tmp_path, "count(own <= rent over demand)", "count"))
    assert results is not None
    assert results.scenarios["base"].number("result") == sum(
        _own(u, "base") <= _rent(u, "base") for u in _points()
    )


def test_lanes_together_are_lanes_alone(tmp_path: Path) -> None:
    plan = _plan(
        tmp_path, "if(own > rent, 0, sum(own over demand)) + first(rent where own <= rent over demand)"
    )
    rates = np.linspace(1.35, 3.0, 7)
    together = calculate(plan, {"rate": rates}, 7)
    assert together.failures == ()
    for lane, rate in enumerate(rates):
        alone = calculate(plan, {"rate": np.array([rate])}, 1)
        assert alone.values["result"][0] == together.values["result"][lane]


def test_what_a_measured_step_needs_is_left_out_at_each_point_too(tmp_path: Path) -> None:
    plan = _plan(tmp_path, "sum(own + rent over demand)")
    measured = {"own": np.array([2000.0])}
    small = narrowed(plan, ["result"], measured)
    assert "gpus" not in {step.id for step in small.steps}
    assert calculate(small, measured, 1).values["result"] == calculate(plan, measured, 1).values["result"]


def test_the_table_holds_what_moves_and_is_needed(tmp_path: Path) -> None:
    plan = _plan(tmp_path, "first(rent where own <= rent over demand)")
    assert plan.sweeps["demand"].steps == ("users", "gpus", "own", "rent")
    assert plan.sweeps["kinds"].steps == ("kind",)


@pytest.mark.parametrize(
    ("formula", "unit", "code"),
    [
        ("first(rent where own > 1e9 * rent over demand)", "USD/month", "CG605"),
        ("interpolate(rent at 100 * users over demand)", "USD/month", "CG606"),
        ("sum(rent / (users - 100 * one_user) * one_user over demand)", "USD/month", "CG601"),
    ],
)
def test_what_has_no_value(formula: str, unit: str, code: str, tmp_path: Path) -> None:
    results, found = evaluate(_plan(tmp_path, formula, unit))
    assert results is None
    assert {item.code for item in found} == {code}


def test_a_failing_point_is_named(tmp_path: Path) -> None:
    _, found = evaluate(_plan(tmp_path, "sum(rent / (users - 100 * one_user) * one_user over demand)"))
    assert "sets `users` to 100" in found[0].message


@pytest.mark.parametrize(
    ("formula", "code"),
    [
        ("sum(own over demnd)", "CG312"),
        ("sum(own)", "CG412"),
        ("interpolate(own over demand)", "CG412"),
        ("sum(own at users over demand)", "CG412"),
        ("first(own where rent over demand)", "CG506"),
        ("sum(own > rent over demand)", "CG506"),
        ("interpolate(own at rent over demand)", "CG502"),
        ("interpolate(own at users over kinds)", "CG506"),
        ("count(own <= rent over demand)", "CG503"),
    ],
)
def test_mistakes(formula: str, code: str, tmp_path: Path) -> None:
    assert [item.code for item in _compile(tmp_path, formula).diagnostics] == [code]


@pytest.mark.parametrize(
    ("sweep", "code"),
    [
        ("{over: own, values: [1, 2]}", "CG310"),
        ("{over: users}", "CG311"),
        ("{over: users, from: 1}", "CG311"),
        ("{over: users, from: 1, to: 5, values: [1, 2]}", "CG311"),
        ("{over: users, from: 5, to: 5}", "CG311"),
        ("{over: price, from: 0, to: 5, scale: log}", "CG311"),
        ("{over: users, from: 1, to: 5, points: 1}", "CG311"),
        ("{over: users, values: [1]}", "CG311"),
        ("{over: users, values: [1, 1]}", "CG311"),
        ("{over: kind, from: 1, to: 2}", "CG311"),
        ("{over: kind, values: [small, huge]}", "CG302"),
        ("{over: users, from: 0, to: 5}", "CG307"),
        ("{over: users, values: [1 GiB, 2]}", "CG502"),
    ],
)
def test_wrong_sweeps(sweep: str, code: str, tmp_path: Path) -> None:
    model = MODEL.replace("  kinds:", f"  wrong: {sweep}\n  kinds:")
    assert [item.code for item in _compile(tmp_path, "own", model=model).diagnostics] == [code]


def test_a_sweep_inside_a_sweep_is_refused(tmp_path: Path) -> None:
    model = MODEL.replace("  result:", "  inner: {unit: USD/month, formula: sum(own over demand)}\n  result:")
    (found,) = _compile(tmp_path, "max(inner over kinds)", model=model).diagnostics
    assert found.code == "CG413"
    assert found.related


def test_lanes_in_blocks_are_the_lanes_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = """
quantities:
  a: {unit: count, value: 1, source: x}
  kind: {choose: [one, two], source: x}
  big: {unit: yes/no, formula: a > 10}
  root: {unit: count, formula: 100 / (a - 7)}
  total: {unit: count, formula: sum(1 / (a - 50) over s)}
sweeps: {s: {over: a, from: 1, to: 40, points: 40}}
"""
    (tmp_path / "model.yaml").write_text(text)
    plan = compile_model(tmp_path / "model.yaml").plan
    assert plan is not None
    overrides: dict[str, list[Value | None]] = {
        "a": [float(lane) for lane in range(20)],
        "kind": ["one", None] * 10,
        "big": [*[None] * 19, False],
    }
    whole = calculate(plan, overrides, 20)
    monkeypatch.setattr("capgraph.calculate.MAX_CELLS", 3 * (40 * 2 + 1))
    parts = calculate(plan, overrides, 20)
    assert whole.failures == parts.failures
    assert [failure.lanes for failure in parts.failures] == [(7,)]
    for name, column in whole.values.items():
        assert column.dtype == parts.values[name].dtype
        assert all(one == other or one != one for one, other in zip(column, parts.values[name], strict=True)), name
