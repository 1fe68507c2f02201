"""What explains a measurement: values against closed forms, their order, and what is left alone."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest
from compiling import plan_of
from hypothesis import given, settings
from hypothesis import strategies as st

from capgraph.analysis.diagnosis import diagnose
from capgraph.evaluate import evaluate_scenarios
from capgraph.findings import Diagnosis, Explanation
from capgraph.model import Value
from capgraph.plan import Plan

FLEET = """
model: fleet
quantities:
  servers: {unit: count, value: 4, min: 1, max: 40, source: inventory}
  rate: {unit: 1/s, value: 100, range: [60, 120], min: 10, max: 1000, source: load test}
  overhead: {unit: s, value: 0, range: [0, 0.01], min: 0, source: load test}
  checked: {value: false, source: configuration}
  plan_of_power: {choose: [full, saving, sleep], default: full, source: configuration}
  busy: {unit: s, formula: 1 / rate + overhead}
  speed: {unit: ratio, formula: 'if(plan_of_power = "full", 1, if(plan_of_power = "saving", saving, sleeping))'}
  saving: {unit: ratio, value: 0.75, source: definition}
  sleeping: {unit: ratio, value: 0.1, source: definition}
  checking: {unit: ratio, value: 0.74, source: definition}
  throughput: {unit: 1/s, formula: "servers * speed / busy * if(checked, checking, 1)"}
  used: {unit: count, formula: floor(servers)}
  unrelated: {unit: count, value: 3, source: inventory}
  other: {unit: count, formula: unrelated * 2}
"""
SUSPECTS = """
suspects:
  hot: {label: The processors ran hot, vary: rate, range: [50, 100], because: They slow down., check: The clock rate.}
  checks: {label: Checks were on, set: {checked: true}}
  rest: {label: Pauses between calls, set: {checked: true}, vary: overhead, range: [0, 0.005]}
"""


def diagnosed(
    text: str | Plan,
    measured: Mapping[str, float],
    known: Mapping[str, Value] | None = None,
    within: float = 0.05,
    scenario: str = "base",
) -> Diagnosis:
    plan = plan_of(text) if isinstance(text, str) else text
    made, found = diagnose(plan, scenario, known or {}, measured, within)
    assert made is not None, found
    return made


def by_name(items: tuple[Explanation, ...]) -> dict[str, Explanation]:
    return {item.cause or item.quantity: item for item in items}


def test_each_input_alone_has_the_value_of_the_closed_form() -> None:
    made = diagnosed(FLEET, {"throughput": 300.0})
    found = by_name(made.explanations)
    assert made.error == pytest.approx(1 / 3)
    assert found["servers"].needed == pytest.approx(3, rel=1e-12)
    assert found["rate"].needed == pytest.approx(75, rel=1e-12)
    assert found["overhead"].needed == pytest.approx(4 / 300 - 1 / 100, rel=1e-12)
    for name in ("servers", "rate", "overhead"):
        assert found[name].predicted["throughput"] == pytest.approx(300, rel=1e-12)


def test_choices_and_switches_are_tried() -> None:
    found = by_name(diagnosed(FLEET, {"throughput": 300.0}).explanations)
    assert found["plan_of_power"].needed == "saving"
    assert found["checked"].needed is True
    assert found["checked"].predicted["throughput"] == pytest.approx(296)
    assert found["checked"].error == pytest.approx(4 / 300)


def test_only_what_the_measured_quantity_rests_on_is_tried() -> None:
    made = diagnosed(FLEET, {"throughput": 300.0})
    assert "unrelated" not in by_name((*made.explanations, *made.fall_short))


def test_what_lies_in_its_range_comes_first_then_what_is_a_step_away() -> None:
    order = [item.quantity for item in diagnosed(FLEET, {"throughput": 300.0}).explanations]
    # In range: by the size of the change. Without one: a third fewer servers; then options, of which one is exact.
    assert order == ["overhead", "rate", "servers", "plan_of_power", "checked"]
    far = diagnosed(FLEET, {"throughput": 100.0}).explanations
    assert [item.quantity for item in far] == ["rate", "servers", "overhead"]
    assert [item.strain for item in far] == pytest.approx([35 / 60, 2, 2])


def test_suspects_come_first_in_the_order_of_their_author() -> None:
    made = diagnosed(FLEET + SUSPECTS, {"throughput": 290.0})
    assert [item.cause for item in made.explanations[:3]] == ["hot", "checks", "rest"]
    found = by_name(made.explanations)
    assert found["hot"].needed == pytest.approx(72.5, rel=1e-12)
    assert (found["hot"].low, found["hot"].high) == (50, 100)
    assert found["checks"].settings == {"checked": True}
    assert found["rest"].needed == pytest.approx(4 * 0.74 / 290 - 0.01, rel=1e-9)
    assert found["rest"].settings == {"checked": True, "overhead": found["rest"].needed}
    # A suspect says what the bare input would say.
    assert not {"rate", "checked"} & {item.quantity for item in made.explanations if not item.cause}


def test_a_suspect_that_is_so_already_or_known_not_to_be_is_left_out() -> None:
    plan = plan_of(FLEET + SUSPECTS)
    found = by_name(diagnosed(plan, {"throughput": 200.0}, {"checked": True}).explanations)
    assert "checks" not in found
    assert found["rest"].settings == {"overhead": found["rest"].needed}
    found = by_name(diagnosed(plan, {"throughput": 200.0}, {"checked": False, "rate": 90.0}).explanations)
    assert not {"checks", "rest", "hot", "rate", "checked"} & found.keys()


def test_what_the_scenario_gives_in_place_of_a_formula_may_be_wrong_too() -> None:
    text = FLEET + "scenarios:\n  base: {set: {busy: 0.02}}\n"
    made = diagnosed(text, {"throughput": 100.0})
    found = by_name(made.explanations)
    assert found["busy"].now == pytest.approx(0.02)
    assert found["busy"].needed == pytest.approx(0.04, rel=1e-12)
    assert not {"rate", "overhead"} & found.keys()


def test_a_measured_quantity_that_the_scenario_sets_is_calculated() -> None:
    text = FLEET + "scenarios:\n  base: {set: {throughput: 300}}\n"
    assert diagnosed(text, {"throughput": 300.0}).predicted == {"throughput": pytest.approx(400)}


def test_a_change_that_leaves_another_measurement_wrong_is_no_explanation() -> None:
    made = diagnosed(FLEET, {"throughput": 300.0, "used": 4.0})
    assert "servers" not in by_name(made.explanations)
    assert by_name(made.explanations)["rate"].predicted == {
        "throughput": pytest.approx(300),
        "used": pytest.approx(4),
    }
    made = diagnosed(FLEET, {"throughput": 300.0, "used": 3.0})
    assert [item.quantity for item in made.explanations] == ["servers"]
    assert by_name(made.explanations)["servers"].needed == pytest.approx(3)


def test_what_fits_is_not_explained() -> None:
    made = diagnosed(FLEET, {"throughput": 410.0})
    assert made.fits
    assert not made.explanations
    assert not diagnosed(FLEET, {"throughput": 410.0}, within=0.01).fits


def test_what_cannot_be_reached_is_said_with_what_comes_nearest() -> None:
    made, found = diagnose(plan_of(FLEET), "base", {}, {"throughput": 50_000.0})
    assert [item.code for item in found] == ["CG832"]
    assert made is not None
    assert not made.explanations
    assert made.fall_short[0].quantity in ("servers", "rate")
    assert {item.quantity: item.predicted["throughput"] for item in made.fall_short} == {
        "servers": pytest.approx(4000),
        "rate": pytest.approx(4000),
    }


def test_nothing_to_change_is_an_error() -> None:
    plan = plan_of(FLEET)
    for measured, known in (({"rate": 50.0}, {}), ({"other": 8.0}, {"unrelated": 3.0})):
        made, found = diagnose(plan, "base", known, measured)
        assert made is None
        assert [item.code for item in found] == ["CG831"]


def test_a_model_without_a_value_there_says_why() -> None:
    text = FLEET.replace("formula: 1 / rate + overhead", "formula: (1 / rate + overhead) / (servers - 4)")
    made, found = diagnose(
        plan_of(text + "  free: {unit: s, formula: 1 / rate}\n"), "base", {}, {"throughput": 3.0}
    )
    assert made is None
    assert [item.code for item in found] == ["CG601"]


def test_of_a_function_that_turns_the_nearest_crossing_is_taken() -> None:
    text = """
model: m
quantities:
  x: {unit: count, value: 3, min: 0, max: 20, source: test}
  y: {unit: count, formula: (x - 6) ^ 2 + 1}
"""
    made = diagnosed(text, {"y": 2.0})
    assert by_name(made.explanations)["x"].needed == pytest.approx(5, rel=1e-12)
    assert diagnosed(text, {"y": 0.97}).explanations[0].error < 0.05


def test_definitions_and_fixed_numbers_stay() -> None:
    text = """
model: m
quantities:
  one: {unit: count, value: 1, source: definition}
  two: {unit: count, value: 2, min: 2, max: 2, source: physics}
  x: {unit: count, value: 3, source: test}
  y: {unit: count, formula: one * two * x}
"""
    assert [item.quantity for item in diagnosed(text, {"y": 4.0}).explanations] == ["x"]


FITTED = """
model: m
quantities:
  kind: {choose: kinds, default: a, source: test}
  x: {unit: count, value: 3, source: test}
  loss: {unit: ratio, formula: 1 - kind.share}
  y: {unit: count, formula: x * kind.share}
catalogs:
  kinds:
    fields: {share: {unit: ratio}}
    rows: {a: {share: 0.5, source: fit}, b: {share: 0.9, source: fit}}
fits:
  a: {of: y, catalog: kinds, row: a, parameters: {share: [0.4, 0.6]}, rows: 9, error: 5%, date: 2026-11-01, data: a.csv}
  b: {of: y, catalog: kinds, row: b, parameters: {share: [0.8, 1]}, rows: 9, error: 5%, date: 2026-11-01, data: a.csv}
"""


def test_a_fitted_parameter_in_force_is_a_suspect_of_its_own() -> None:
    found = by_name(diagnosed(FITTED, {"y": 1.3}).explanations)
    assert found["kind.share"].needed == pytest.approx(1.3 / 3, rel=1e-12)
    assert (found["kind.share"].low, found["kind.share"].high, found["kind.share"].strain) == (0.4, 0.6, 0)


@given(st.data())
@settings(max_examples=40)
def test_what_is_needed_put_in_gives_the_measurement(data: st.DataObject) -> None:
    plan = plan_of(FLEET + SUSPECTS)
    measured = data.draw(st.floats(5, 9_000))
    made, _ = diagnose(plan, "base", {}, {"throughput": measured}, 0.001)
    assert made is not None
    for item in made.explanations:
        results, _ = evaluate_scenarios(plan, ("base",), item.settings)
        assert results is not None
        assert results.scenarios["base"].number("throughput") == item.predicted["throughput"]
        if isinstance(item.needed, float):
            assert item.predicted["throughput"] == pytest.approx(measured, rel=1e-9)
            assert math.isfinite(item.needed)
