"""Swings: every end is what the evaluator says there, and the verdict with it."""

from __future__ import annotations

import pytest
from compiling import run_text
from memos import SHIPPED, SMALL, shipped

from capgraph.analysis.findings import find
from capgraph.analysis.sensitivity import swings
from capgraph.calculate import calculate
from capgraph.evaluate import scenario_overrides, scenario_result
from capgraph.findings import Swing


def swings_of(text: str) -> dict[str, Swing]:
    run = run_text(text)
    assert run.plan is not None
    assert run.results is not None, run.found
    return {swing.quantity: swing for swing in swings(run.plan, run.results)}


def test_ends_of_a_range_move_the_target_and_the_verdict() -> None:
    found = swings_of(SMALL)
    assert list(found) == ["pages", "price"], "widest first, and only inputs with a range"
    pages = found["pages"]
    assert (pages.low, pages.high) == (400, 5000)
    assert pages.target_at_low == pytest.approx(0.25)
    assert pages.target_at_high == pytest.approx(3.125)
    assert (pages.verdict_at_low, pages.verdict_at_high) == ("buy", "rent")
    assert pages.width(0.625) == pytest.approx(2.875)


def test_the_selected_scenario_is_the_centre() -> None:
    busy = SMALL.replace("  base: {label: Today}\n", "").replace("extends: base, because", "because")
    busy = busy.replace("  counted: {label: As counted, extends: base, set: {bought: 900}}\n", "")
    assert swings_of(busy)["price"].target_at_low == pytest.approx(4000 * 0.02 / 80)


def test_an_end_without_a_value_has_no_target_and_no_verdict() -> None:
    text = SMALL.replace("value: 80,", "value: 80, range: [0, 90],")
    rent = swings_of(text)["rent_price"]
    assert rent.target_at_low is None
    assert rent.target_at_high == pytest.approx(50 / 90)
    # The rule compares costs, which both have values where the ratio has none.
    assert rent.verdict_at_low == "rent"
    ruled = swings_of(text.replace("when: rent_cost < buy_cost", "when: ratio > 1"))["rent_price"]
    assert ruled.verdict_at_low == "", "the first rule cannot be tried, so the second must not decide"


def test_without_a_decision_the_first_result_is_the_target() -> None:
    undecided = SMALL[: SMALL.index("decision:")]
    pages = swings_of(undecided)["pages"]
    assert (pages.target_at_low, pages.target_at_high, pages.verdict_at_low) == (400, 5000, "")
    # Without key figures, what no other quantity uses is the result: the ratio.
    unnamed = swings_of(undecided.replace("key_figures: [bought, buy_cost, rent_cost]\n", ""))
    assert unnamed["pages"].target_at_high == pytest.approx(3.125)
    only_inputs = "model: m\nquantities:\n  a: {unit: count, value: 1, range: [0, 2]}\n"
    assert swings_of(only_inputs) == {}


@pytest.mark.parametrize("name", SHIPPED)
def test_every_end_is_the_evaluators(name: str) -> None:
    memo = shipped(name)
    decision = memo.plan.model.decision
    assert decision is not None
    assert decision.target is not None
    selected = memo.results.selected
    assert memo.findings.swings
    for swing in memo.findings.swings:
        ends = (
            (swing.low, swing.target_at_low, swing.verdict_at_low),
            (swing.high, swing.target_at_high, swing.verdict_at_high),
        )
        for end, target, verdict in ends:
            columns = calculate(
                memo.plan, scenario_overrides(memo.plan, (selected,), ({swing.quantity: end},)), 1
            )
            if columns.failures:
                continue
            lane = scenario_result(memo.plan, columns, 0)
            assert lane.verdict is not None
            assert (target, verdict) == (lane.values[decision.target], lane.verdict.option), swing.quantity
    centre = memo.results.scenarios[selected].number(decision.target)
    widths = [swing.width(centre) for swing in memo.findings.swings]
    assert widths == sorted(widths, reverse=True)


def test_findings_of_a_bare_model_are_empty() -> None:
    run = run_text("model: m\nquantities:\n  a: {unit: count, value: 1}\n")
    assert run.plan is not None
    assert run.results is not None
    found = find(run.plan, run.results)
    assert (found.swings, found.levers, found.together) == ((), (), None)
