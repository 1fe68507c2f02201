"""Cost grows with the size of a model and no faster; counted, since a clock would measure the machine."""

from __future__ import annotations

import json
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from compiling import plan_of, run_path
from generated import chain, large_model

from capgraph.calculate import calculate
from capgraph.cli.show import MOST_SHOWN, Format, full_text, show_diagnostics
from capgraph.diagnostics import Diagnostic

LINEAR = 12
"""Calls for ten times the size, in times of the calls for one; sorting is allowed its logarithm."""


def calls_of(work: Callable[[], object]) -> int:
    """Count the calls of Python and C functions that some work makes."""
    counted = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return counted


def ratio(text: Callable[[int], str], size: int, tmp_path: Path) -> float:
    """Return how many times the calls are for ten times the size."""
    paths = [tmp_path / f"of{number}.yaml" for number in (10, size, 10 * size)]
    for path, number in zip(paths, (10, size, 10 * size), strict=True):
        path.write_text(text(number))
    # The first pays for imports and caches.
    _, small, large = (calls_of(lambda path=path: run_path(path)) for path in paths)  # type: ignore[misc]
    return large / small


def test_a_model_costs_what_its_size_costs(tmp_path: Path) -> None:
    assert ratio(large_model, 500, tmp_path) < LINEAR


def test_a_chain_costs_what_its_length_costs(tmp_path: Path) -> None:
    assert ratio(chain, 300, tmp_path) < LINEAR


def test_a_chain_ten_thousand_deep_has_a_value(tmp_path: Path) -> None:
    (tmp_path / "model.yaml").write_text(chain(10_000))
    run = run_path(tmp_path / "model.yaml")
    assert run.values["step_10000"] == 10_001.0


def scenarios(order: int) -> Callable[[int], str]:
    """Return models whose scenarios extend each other in one line, written first to last or last to first."""

    def text(number: int) -> str:
        lines = [f"  s{place}: {{extends: s{place - 1}}}" for place in range(1, number)][::order]
        body = "\n".join(lines)
        return f"quantities: {{a: {{unit: GB, value: 1}}}}\nscenarios:\n  s0: {{set: {{a: 2}}}}\n{body}\n"

    return text


@pytest.mark.parametrize("order", [1, -1])
def test_a_line_of_scenarios_costs_what_its_length_costs(order: int, tmp_path: Path) -> None:
    assert ratio(scenarios(order), 200, tmp_path) < LINEAR
    run = run_path(tmp_path / "of2000.yaml")
    assert run.results is not None
    assert {result.values["a"] for result in run.results.scenarios.values()} == {2.0}


def _unknown_settings(number: int) -> str:
    inputs = [f"  input_{place}: {{unit: GB, value: 1}}" for place in range(number)]
    settings = ", ".join(f"inputs_{place}: 2" for place in range(number))
    return "\n".join(["quantities:", *inputs, "scenarios:", f"  s: {{set: {{{settings}}}}}"]) + "\n"


def test_many_unknown_settings_cost_what_their_number_costs(tmp_path: Path) -> None:
    assert ratio(_unknown_settings, 200, tmp_path) < LINEAR


def _mistakes(what: str) -> Callable[[int], str]:
    """Return models with as many mistakes of a kind as their number says."""

    def text(number: int) -> str:
        lines = ["model: wrong", "quantities:"]
        lines += [f"  input_{place}: {{unit: GB, value: 1, source: x}}" for place in range(number)]
        lines += [f"  step_{place}: {{unit: GB, {what.format(place)}}}" for place in range(number)]
        return "\n".join(lines) + "\n"

    return text


MISTAKES = {
    "unknown names": "formula: inpt_{0} * 2",
    "unknown units": "formula: input_{0}, min: 3 Gbx{0}",
    "units that do not fit": "formula: input_{0} * input_{0}",
    "unknown keys": "formul_{0}: 1, formula: input_{0}",
    "lists for texts": "formula: [input_{0}]",
    "keys twice": "formula: 1, formula: 2",
    "divisions by zero": "formula: input_{0} / (input_{0} - input_{0}) * input_{0}",
    "numbers that are none": "value: x{0}",
    "no formulas": "formula: input_{0} input_{0}",
    "circles": "formula: step_{0}",
}


@pytest.mark.parametrize("what", MISTAKES)
def test_many_mistakes_cost_what_their_number_costs(what: str, tmp_path: Path) -> None:
    assert ratio(_mistakes(MISTAKES[what]), 200, tmp_path) < LINEAR


def found_in(text: str, tmp_path: Path) -> tuple[Diagnostic, ...]:
    """Return what is wrong with a model."""
    (tmp_path / "model.yaml").write_text(text)
    return run_path(tmp_path / "model.yaml").found


def test_each_of_many_mistakes_is_told(tmp_path: Path) -> None:
    for what in MISTAKES.values():
        assert len(found_in(_mistakes(what)(300), tmp_path)) >= 300


def test_the_nearest_name_is_offered_among_thousands(tmp_path: Path) -> None:
    text = _mistakes("formula: input_{0}")(3_000) + "  wrong: {unit: GB, formula: inptu_1234}\n"
    assert [item.help for item in found_in(text, tmp_path)] == ["did you mean `input_1234`?"]


def test_a_long_circle_is_found(tmp_path: Path) -> None:
    text = chain(3_000).replace("{unit: GB, value: 1, source: generated}", "{unit: GB, formula: step_3000}")
    assert [item.code for item in found_in(text, tmp_path)] == ["CG411"]


def shown(capsys: pytest.CaptureFixture[str], items: tuple[Diagnostic, ...], form: Format) -> str:
    """Return what is printed of diagnostics."""
    show_diagnostics(items, form)
    return capsys.readouterr().err


def test_the_first_of_very_many_are_shown_and_a_program_gets_all(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    items = found_in(_mistakes("value: x{0}")(300), tmp_path)
    concise = shown(capsys, items, "concise").splitlines()
    assert len(concise) == MOST_SHOWN + 1
    assert concise[-1] == f"… and {300 - MOST_SHOWN} more of them; `--format json` prints all"
    assert shown(capsys, items, "full").count("error[CG207]") == MOST_SHOWN
    assert len(json.loads(shown(capsys, items, "json"))) == 300
    assert "more of them" not in shown(capsys, items[:MOST_SHOWN], "concise")


def test_a_place_in_a_very_long_line_is_shown_without_the_line(tmp_path: Path) -> None:
    names = ", ".join(f"input_{place}: {{unit: GB, value: \t{place}}}" for place in range(2_000))
    (item,) = found_in(f"quantities: {{{names}, wrong: {{unit: GB, formula: inputs_7}}}}\n", tmp_path)
    assert len(full_text(item)) < 1_000
    assert "formula: inputs_7" in full_text(item)


def test_a_sweep_of_many_lanes_takes_the_memory_of_a_few() -> None:
    steps, points, lanes = 300, 2_000, 60
    lines = [
        f"  step_{number}: {{unit: GB, formula: {f'step_{number - 1}' if number else 'a'} + a}}"
        for number in range(steps)
    ]
    plan = plan_of(
        "\n".join(["quantities:", "  a: {unit: GB, value: 1, source: x}", *lines])
        + f"\n  all: {{unit: GB, formula: sum(step_{steps - 1} over s)}}\n"
        + f"sweeps: {{s: {{over: a, from: 1, to: 2, points: {points}}}}}\n"
    )
    tracemalloc.start()
    columns = calculate(plan, {"a": np.arange(1.0, lanes + 1)}, lanes)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert columns.values["all"] == pytest.approx([1.5 * points * (steps + 1)] * lanes)
    assert peak < steps * points * lanes * 8 / 2
