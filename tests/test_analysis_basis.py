"""What numbers rest on, and the error of a fit as a range."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from compiling import Run, run_path
from measuring import MODEL, measured_memo, run_measured
from memos import memo_of, shipped

from capgraph.analysis.basis import bases, fits_in_force
from capgraph.analysis.sensitivity import swings
from capgraph.calculate import calculate
from capgraph.evaluate import scenario_overrides
from capgraph.findings import Basis
from capgraph.resources import models_root
from capgraph.results import Results


def of(run: Run, scenario: str = "base") -> tuple[dict[str, Basis], list[str]]:
    """Return the bases of a scenario's numbers, and the fits that hold in it."""
    assert run.plan is not None
    assert run.results is not None, run.found
    results = Results({scenario: run.results.scenarios[scenario]})
    return dict(bases(run.plan, results)), [fit.id for fit in fits_in_force(run.plan, results)]


def planned(folder: Path, text: str) -> Run:
    """Compile a plan over the model."""
    path = folder / "plan.yaml"
    path.write_text(f"extends: {os.path.relpath(MODEL, folder)}\n{text}")
    return run_path(path)


def test_what_follows_from_a_fit_is_fitted_and_the_rest_assumed() -> None:
    found, fits = of(run_measured())
    assert fits == ["brisk-step", "batch-step"]
    assert found["engine.efficiency"] == Basis("fitted", ("brisk-step",))
    assert found["per_request"] == Basis("fitted", ("batch-step",))
    assert found["step"] == found["rent"] == Basis("fitted", ("brisk-step", "batch-step"))
    assert found["api"] == Basis("assumed")
    assert not {"batch", "card", "one_token", "card.price"} & found.keys()


def test_a_branch_that_is_not_taken_bears_on_nothing() -> None:
    memo = shipped("llm-serving")
    run = Run(memo.plan, memo.results, ())
    alone, _ = of(run, "base")
    mixed, _ = of(run, "mixed-traffic")
    # The peak of one kind of traffic is users times habits; of several, work that a fit says something of.
    assert alone["demand_peak"] == alone["kernel_rate"] == Basis("assumed")
    assert mixed["demand_peak"].kind == alone["tpot"].kind == "fitted"
    # What is reduced over a sweep rests on all branches, which its points may take.
    assert alone["batch_within_targets"].kind == "fitted"


def test_a_row_that_was_not_fitted_ends_the_fit() -> None:
    found, fits = of(run_measured(), "calm")
    assert fits == ["batch-step"]
    assert "engine.efficiency" not in found
    assert found["read"] == Basis("assumed")
    assert found["step"] == Basis("fitted", ("batch-step",))


def test_what_a_scenario_sets_is_measured_and_what_follows_rests_on_no_fit_before_it() -> None:
    found, _ = of(run_measured(), "timed")
    assert found["step"] == Basis("measured")
    assert found["rent"] == Basis("assumed")
    assert found["wait"] == Basis("fitted", ("batch-step",))


def test_a_source_says_that_an_input_is_measured(tmp_path: Path) -> None:
    run = planned(
        tmp_path, 'quantities: {demand: {value: 8000, source: "Measured at the gateway, 2026-11"}}\n'
    )
    assert of(run)[0]["demand"] == Basis("measured")


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("catalogs: {engines: {brisk: {efficiency: 0.9}}}\n", ["batch-step"]),
        ("catalogs: {engines: {brisk: {efficiency: 0.74}}}\n", ["brisk-step", "batch-step"]),
        ("quantities: {per_request: {value: 0.3}}\n", ["brisk-step"]),
        ("scenarios: {base: {set: {per_request: 0.11}}}\n", ["brisk-step"]),
        ("fits: {brisk-step: null}\n", ["batch-step"]),
    ],
)
def test_a_value_outside_what_was_fitted_ends_the_fit(text: str, fits: list[str], tmp_path: Path) -> None:
    assert of(planned(tmp_path, text))[1] == fits


def test_a_fits_error_is_a_swing_in_place_of_its_parameters_ranges() -> None:
    run = run_measured()
    assert run.plan is not None
    assert run.results is not None
    found = {swing.quantity: swing for swing in swings(run.plan, run.results)}
    assert "per_request" not in found
    step = run.results.scenarios["base"].number("step")
    swing = found["step"]
    assert (swing.fit, swing.low, swing.high) == ("brisk-step", step * (1 - 0.064), step * (1 + 0.064))
    ends = ({"step": swing.low}, {"step": swing.high})
    columns = calculate(run.plan, scenario_overrides(run.plan, ("base", "base"), ends), 2)
    assert (swing.target_at_low, swing.target_at_high) == tuple(columns.values["times"])


def test_of_two_fits_of_one_quantity_the_less_exact_is_the_range() -> None:
    run = run_measured()
    assert run.plan is not None
    assert run.results is not None
    fits = dict(run.plan.model.fits)
    fits["other"] = replace(fits["batch-step"], id="other", of="step", error=0.2)
    plan = replace(run.plan, model=replace(run.plan.model, fits=fits))
    found = [swing.fit for swing in swings(plan, run.results) if swing.quantity == "step"]
    assert found == ["other"]


def test_what_the_scenario_measures_has_no_error_of_a_fit(tmp_path: Path) -> None:
    run = planned(tmp_path, "scenarios: {base: {set: {step: 14.2}}}\n")
    assert run.plan is not None
    assert run.results is not None
    assert [swing.quantity for swing in swings(run.plan, run.results) if swing.fit] == ["wait"]


def test_the_memo_says_what_each_figure_rests_on() -> None:
    memo = measured_memo()
    rows = {row.xpath("string(./th/text())"): row for row in memo.page.xpath("//section[@id='why']//tr")}
    fitted = "fitted: n = 40, error 6.4%, 2026-11-20; n = 38, error 9%, 2026-11-20"
    assert rows["Rent"].xpath("string(.//*[@class='stand'])") == fitted
    assert rows["Bill for answers"].xpath("string(.//*[@class='stand'])") == "assumed"
    (step,) = memo.page.xpath("//*[@id='step-step']")
    assert step.xpath("string(.//em)") == "fitted M1, M2"
    (fact,) = memo.page.xpath("//*[@id='fact-engine.efficiency']")
    assert "72% fitted M1 (69% – 76%)" in " ".join(fact.text_content().split())
    (row,) = memo.page.xpath("//p[@id='input-per_request']")
    assert "fitted M2" in row.text_content()


def test_the_memo_speaks_of_a_fits_error_as_of_a_range() -> None:
    memo = measured_memo()
    assert "4 inputs and 2 errors of fits were tried" in memo.text
    tornado = memo.page.xpath("string(//*[@id='tornado-title'])")
    assert "or fit’s mean error" in tornado
    assert "Error of the fit: Time of a step from 12\u202fms to 13.7\u202fms" in tornado


def test_a_fit_may_be_what_to_measure_first(tmp_path: Path) -> None:
    run = planned(
        tmp_path,
        "quantities: {token_price: {value: 0.4}, batch: {value: 16}, demand: {value: 9000}, prompt: {value: 900}}\n",
    )
    text = memo_of(run).text
    assert (
        "No single input changes the answer within its stated range, and no fit within its mean error" in text
    )
    assert (
        "Measure first: Error of the fit: Time of a step, estimated at 12.9 ms with a mean error of 6.4%."
        in text
    )


def test_a_model_without_fits_and_measurements_looks_as_before() -> None:
    memo = shipped("small")
    assert memo.findings.bases == {}
    assert memo.findings.fits == ()
    assert "assumed" not in memo.page.xpath("string(//section[@id='derivation'])")


def test_a_fit_holds_only_where_its_parameters_still_feed_what_it_predicts() -> None:
    path = models_root() / "published-answers" / "model.yaml"
    run = run_path(path)
    assert run.plan is not None
    assert run.results is not None
    # They inherit the flagship's fits, and put rates of their own in place of the profile's.
    assert run.plan.model.fits
    assert fits_in_force(run.plan, run.results) == ()
    assert run.plan.model.evidence == ()
    flagship = run_path(models_root() / "llm-serving" / "model.yaml")
    assert flagship.plan is not None
    assert flagship.results is not None
    assert {fit.row for fit in fits_in_force(flagship.plan, flagship.results)} == {"vllm-fp8"}
