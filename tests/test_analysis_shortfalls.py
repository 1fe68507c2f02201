"""What each suspect alone would do to the selected scenario."""

from __future__ import annotations

import pytest
from compiling import run_text
from test_analysis_diagnosis import FLEET

from capgraph.analysis.shortfalls import find_shortfalls
from capgraph.findings import Shortfall

SUSPECTS = """
suspects:
  hot: {vary: rate, range: [50, 120], shows: [throughput, used]}
  checks: {set: {checked: true}, shows: [throughput]}
  rest: {set: {checked: true}, vary: overhead, range: [0, 0.01], shows: [throughput]}
  slow: {vary: rate, range: [100, 120], shows: [throughput]}
  silent: {vary: rate, range: [50, 100]}
"""


def found(text: str) -> dict[str, Shortfall]:
    run = run_text(text)
    assert run.plan is not None, run.found
    assert run.results is not None
    return {item.suspect: item for item in find_shortfalls(run.plan, run.results)}


def test_a_suspect_is_taken_to_the_end_of_its_range_at_which_least_is_left() -> None:
    made = found(FLEET + SUSPECTS)
    assert list(made) == ["hot", "checks", "rest", "slow"]
    assert made["hot"].settings == {"rate": 50}
    assert made["hot"].values == {"throughput": pytest.approx(200), "used": 4}
    assert made["rest"].settings == {"checked": True, "overhead": 0.01}
    assert made["rest"].values == {"throughput": pytest.approx(148)}


def test_an_end_at_which_the_input_stands_is_no_change() -> None:
    assert found(FLEET + SUSPECTS)["slow"].settings == {"rate": 120}


def test_what_is_so_already_is_left_out() -> None:
    made = found(FLEET + SUSPECTS + "scenarios:\n  base: {set: {checked: true}}\n")
    assert "checks" not in made
    assert made["rest"].settings == {"overhead": 0.01}


def test_a_model_without_suspects_has_none() -> None:
    assert found(FLEET) == {}
