"""Levers: each alone and all together, from the selected scenario."""

from __future__ import annotations

import pytest
from compiling import run_text
from memos import SHIPPED, SMALL, shipped

from capgraph.analysis.levers import pull_levers
from capgraph.calculate import calculate
from capgraph.evaluate import scenario_overrides, scenario_result
from capgraph.findings import LeverEffect


def pulled(text: str) -> tuple[tuple[LeverEffect, ...], LeverEffect | None]:
    run = run_text(text)
    assert run.plan is not None
    assert run.results is not None, run.found
    return pull_levers(run.plan, run.results)


def test_each_lever_is_pulled_alone_and_all_together() -> None:
    (duplex, fewer), together = pulled(SMALL)
    assert (duplex.lever, fewer.lever) == ("duplex", "fewer")
    assert duplex.values["buy_cost"] == pytest.approx(30)
    assert fewer.values["buy_cost"] == pytest.approx(25)
    assert together is not None
    assert together.values["buy_cost"] == pytest.approx(15)
    assert together.values["ratio"] == pytest.approx(15 / 80)
    assert {duplex.verdict, fewer.verdict, together.verdict} == {"buy"}


def test_a_lever_can_turn_the_verdict() -> None:
    (duplex, _), _ = pulled(SMALL.replace("set: {price: 0.03}", "set: {price: 0.5}"))
    assert duplex.verdict == "rent"


def test_of_two_levers_on_one_input_the_later_holds_together() -> None:
    _, together = pulled(SMALL.replace("set: {pages: 500}", "set: {price: 0.01}"))
    assert together is not None
    assert together.values["buy_cost"] == pytest.approx(10)


def test_a_lever_that_leaves_no_value_is_no_crash() -> None:
    (duplex, fewer), together = pulled(SMALL.replace("set: {price: 0.03}", "set: {rent_price: 0}"))
    assert duplex.values["ratio"] is None
    assert duplex.values["buy_cost"] == pytest.approx(50)
    assert fewer.values["ratio"] == pytest.approx(25 / 80)
    assert together is not None
    assert together.values["ratio"] is None


def test_one_lever_has_no_together() -> None:
    effects, together = pulled(
        SMALL.replace("  fewer: {label: Print fewer pages, set: {pages: 500}, shows: [buy_cost]}\n", "")
    )
    assert [effect.lever for effect in effects] == ["duplex"]
    assert together is None


@pytest.mark.parametrize("name", SHIPPED)
def test_every_effect_is_the_evaluators(name: str) -> None:
    memo = shipped(name)
    levers = memo.plan.model.levers
    assert levers
    for effect in memo.findings.levers:
        change = {key: setting.value for key, setting in levers[effect.lever].settings.items()}
        overrides = scenario_overrides(memo.plan, (memo.results.selected,), (change,))
        lane = scenario_result(memo.plan, calculate(memo.plan, overrides, 1), 0)
        assert lane.verdict is not None
        assert effect.verdict == lane.verdict.option
        assert set(levers[effect.lever].shows) <= set(effect.values)
        for quantity, value in effect.values.items():
            assert value == lane.values[quantity], (effect.lever, quantity)
