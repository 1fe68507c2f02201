"""The evaluator: lanes, branches, missing values, and failures that are told once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from compiling import model_of, plan_of, run_text

from capgraph.calculate import calculate
from capgraph.evaluate import evaluate_scenarios, scenario_overrides
from capgraph.model import Value
from capgraph.plan import Plan

CATALOG = """
catalogs:
  gpus:
    fields: {memory: {unit: GiB}, power: {unit: W}, vendor: {type: text}, linked: {type: yes/no}}
    rows:
      a: {name: Card A, memory: 80, power: 300, vendor: X, linked: yes}
      b: {name: Card B, memory: 141, vendor: Y, linked: no}
      c: {name: Card C, memory: 96, power: 400}
"""


def lanes(plan: Plan, step: str, overrides: dict[str, Sequence[Value | None]], size: int) -> list[object]:
    """Return a step's values, one a lane."""
    return list(calculate(plan, overrides, size).values[step].tolist())


def test_lanes_are_calculated_side_by_side() -> None:
    plan = plan_of(model_of("if(x > 2, x * 10, y)", x="1", y="7"))
    assert lanes(plan, "result", {"x": [1.0, 2.0, 3.0, 4.0]}, 4) == [7.0, 7.0, 30.0, 40.0]
    assert lanes(plan, "result", {"x": np.array([1.0, 5.0]).tolist()}, 2) == [7.0, 50.0]


def test_an_override_of_a_computed_quantity_holds_in_its_lanes_only() -> None:
    text = model_of("x * 2", x="1") + "  more: {unit: count, formula: result + 1}\n"
    plan = plan_of(text)
    assert lanes(plan, "more", {"result": [None, 100.0, None]}, 3) == [3.0, 101.0, 3.0]
    assert lanes(plan, "more", {"result": [5.0, 6.0, 7.0]}, 3) == [6.0, 7.0, 8.0]


def test_an_overridden_step_is_not_calculated() -> None:
    plan = plan_of(model_of("1 / x", x="0"))
    columns = calculate(plan, {"result": [None, 2.0]}, 2)
    assert [failure.lanes for failure in columns.failures] == [(0,)]
    assert columns.failed().tolist() == [True, False]


def test_a_scenarios_settings_and_further_changes() -> None:
    text = model_of("x + y", x="1", y="2") + "scenarios: {a: {set: {x: 10}}, b: {extends: a, set: {y: 20}}}\n"
    plan = plan_of(text)
    assert scenario_overrides(plan, ("a", "b")) == {"x": [10.0, 10.0], "y": [None, 20.0]}
    results, found = evaluate_scenarios(plan, ("b",), {"x": 0.5})
    assert found == ()
    assert results is not None
    assert results.scenarios["b"].number("result") == 20.5


def test_a_choice_reads_its_row_in_each_scenario() -> None:
    text = f"""
quantities:
  gpu: {{choose: gpus, default: b, source: s}}
  m: {{unit: MiB, formula: gpu.memory}}
  is_x: {{unit: yes/no, formula: 'gpu.vendor = "X"'}}
  is_a: {{unit: yes/no, formula: 'gpu <> "b"'}}
  on: {{unit: yes/no, formula: not gpu.linked}}
{CATALOG}
scenarios: {{base: {{}}, other: {{set: {{gpu: a}}}}}}
"""
    run = run_text(text)
    assert run.results is not None, run.found
    base, other = (dict(item.values) for item in run.results.scenarios.values())
    shown = ("gpu", "gpu.memory", "m", "is_x", "is_a", "on")
    assert [base[name] for name in shown] == ["b", 141.0, 141.0 * 1024, False, False, True]
    assert [other[name] for name in shown] == ["a", 80.0, 80.0 * 1024, True, True, False]


@pytest.mark.parametrize(
    ("formula", "unit"),
    [("gpu.power * 2", "W"), ('gpu.vendor = "X"', "yes/no"), ("gpu.linked", "yes/no")],
)
def test_a_field_that_the_row_lacks_is_an_error_where_it_is_used(formula: str, unit: str) -> None:
    field = formula.partition(".")[2].partition(" ")[0]
    text = f"""
quantities:
  gpu: {{choose: gpus, default: a, source: s}}
  q: {{unit: {unit}, formula: '{formula}'}}
{CATALOG.replace(", vendor: Y, linked: no", "")}
scenarios: {{base: {{}}, other: {{set: {{gpu: b}}}}}}
"""
    found = run_text(text).only
    assert (found.code, found.help) == ("CG604", f"give the row a `{field}`, or choose another `gpu`")
    assert (
        found.message == f"`q` has no value in the scenario `other`: the row `b` of `gpus` has no `{field}`"
    )


def test_each_row_that_lacks_a_field_is_named_with_its_scenarios() -> None:
    text = f"""
quantities:
  gpu: {{choose: gpus, default: a, source: s}}
  q: {{unit: yes/no, formula: 'gpu.power > gpu.power and gpu.linked'}}
{CATALOG}
scenarios: {{base: {{}}, one: {{set: {{gpu: b}}}}, two: {{set: {{gpu: c}}}}, three: {{set: {{gpu: c}}}}}}
"""
    messages = [item.message for item in run_text(text).errors]
    assert messages == [
        "`q` has no value in the scenario `one`: the row `b` of `gpus` has no `power`",
        "`q` has no value in the scenarios `two`, `three`: the row `c` of `gpus` has no `linked`",
    ]


def test_a_field_that_the_row_lacks_is_fine_where_it_is_not_used() -> None:
    text = f"""
quantities:
  gpu: {{choose: gpus, default: b, source: s}}
  one: {{value: 1, unit: W, source: definition}}
  q: {{unit: W, formula: 'if(gpu.linked, gpu.power, one)'}}
{CATALOG}
checks: {{k: {{condition: q > 0, message: "{{gpu}} takes {{gpu.power:1 kW}}, {{gpu.power}}, {{gpu.vendor}}"}}}}
scenarios: {{base: {{}}, other: {{set: {{gpu: a}}}}}}
"""
    run = run_text(text)
    assert run.results is not None, run.found
    assert [item.values["q"] for item in run.results.scenarios.values()] == [1.0, 300.0]
    assert [item.values["gpu.power"] for item in run.results.scenarios.values()] == [None, 300.0]
    assert [item.checks["k"].message for item in run.results.scenarios.values()] == [
        "Card B takes n/a, n/a, Y",
        "Card A takes 0.3 kW, 300 W, X",
    ]


def test_if_takes_only_its_branch_in_every_lane() -> None:
    plan = plan_of(model_of("if(x > 0, y / x, if(x < 0, ln(-x), 5))", x="1", y="6"))
    columns = calculate(plan, {"x": [2.0, 0.0, -1.0, 3.0]}, 4)
    assert columns.failures == ()
    assert columns.values["result"].tolist() == [3.0, 5.0, 0.0, 2.0]


def test_both_sides_of_and_are_calculated() -> None:
    found = run_text(model_of("if(x > 1 and 1 / y > 0, 1, 0)", x="0", y="0")).only
    assert found.code == "CG601"


@pytest.mark.parametrize(
    "rest",
    [
        "if(q > 1, 5, 1 / zero)",
        "if(q > 1, 1 / zero, 1 / zero)",
        "q / zero",
        "ln(q - q)",
        "(q - 5)^0.5",
        "(0 - q)^0.5",
        "ceil(q) + max(q, 1) + clamp(q, 0, 1)",
        "q * 1e308 * 1e308",
    ],
)
def test_a_failure_is_told_once_not_again_where_it_leads(rest: str) -> None:
    text = f"""
quantities:
  zero: {{value: 0, unit: count, source: s}}
  x: {{value: 1, unit: count, source: s}}
  q: {{unit: count, formula: x / zero}}
  r: {{unit: count, formula: "{rest}"}}
  s: {{unit: count, formula: r + ln(r)}}
checks: {{k: {{condition: s / r > 1, message: m}}}}
decision: {{options: {{a: {{}}}}, rules: [{{when: sqrt(r) > 1, option: a, headline: h}}]}}
"""
    found = run_text(text).only
    assert (found.code, found.message) == (
        "CG601",
        "`q` has no value in the scenario `base`: division by zero: `zero` is 0",
    )


def test_two_failures_of_one_formula_are_one_message() -> None:
    assert run_text(model_of("if(1 / x > 1, 2, 1 / x)", x="0")).codes == ["CG601"]


def test_failures_in_different_lanes_are_both_told() -> None:
    text = (
        model_of("1 / x + ln(y)", x="1", y="1") + "scenarios: {a: {set: {x: 0}}, b: {set: {y: 0}}, c: {}}\n"
    )
    messages = [item.message.partition(":")[0] for item in run_text(text).errors]
    assert messages == [
        "`result` has no value in the scenario `a`",
        "`result` has no value in the scenario `b`",
    ]


def test_many_scenarios_are_shortened() -> None:
    scenarios = ", ".join(f"s{number}: {{}}" for number in range(9))
    found = run_text(model_of("1 / x", x="0") + f"scenarios: {{{scenarios}}}\n").only
    assert "in the scenarios `s0`, `s1`, `s2` and 6 more:" in found.message


@pytest.mark.parametrize(
    ("entry", "what"),
    [
        ("checks: {k: {condition: 1 / x > 0, message: m}}", "the condition of the check `k`"),
        (
            "decision: {options: {a: {}}, rules: [{when: 1 / x > 0, option: a, headline: h}]}",
            "the condition of rule 1",
        ),
    ],
)
def test_a_condition_without_a_value_is_named(entry: str, what: str) -> None:
    found = run_text(model_of("x", x="0") + entry + "\n").only
    assert found.message.startswith(f"{what} has no value in the scenario `base`: division by zero")


def test_the_first_rule_that_holds_decides() -> None:
    text = (
        model_of("x * 2", x="1")
        + """
scenarios: {a: {}, b: {set: {x: 5}}, c: {set: {x: 50}}}
decision:
  options: {small: {}, large: {}}
  rules:
    - {when: result > 50, option: large, headline: "{result:1} is very large"}
    - {when: result > 5, option: large, headline: "{result:0} is large"}
    - {when: result > 5 or x < 2, option: small, headline: "small: {x}"}
"""
    )
    run = run_text(text)
    assert run.results is not None, run.found
    verdicts = [item.verdict for item in run.results.scenarios.values()]
    assert [(item.option, item.headline, item.rule) for item in verdicts if item] == [
        ("small", "small: 1", 2),
        ("large", "10 is large", 1),
        ("large", "100.0 is very large", 0),
    ]


def test_no_rule_that_holds_is_said() -> None:
    text = (
        model_of("x", x="1")
        + "decision: {options: {a: {}}, rules: [{when: x > 5, option: a, headline: h}]}\n"
    )
    run = run_text(text)
    assert run.results is not None
    verdict = run.results.scenarios["base"].verdict
    assert verdict is not None
    assert (verdict.option, verdict.rule) == ("", None)


def test_numbers_of_a_message_round_half_away_from_zero() -> None:
    text = (
        model_of("x", x="2.5", y="-2.5", p="0.125")
        + 'checks: {k: {condition: x > 0, message: "{x} {y} {p:0 %} {p:2 -} {x:3}"}}\n'
    )
    run = run_text(text)
    assert run.results is not None
    assert run.results.scenarios["base"].checks["k"].message == "3 -3 13% 0.13 2.500"


def test_a_deep_chain_is_no_recursion() -> None:
    steps = "".join(f"  q{number + 1}: {{unit: count, formula: q{number} + 1}}\n" for number in range(3000))
    run = run_text("quantities:\n  q0: {value: 0, unit: count, source: s}\n" + steps)
    assert run.values["q3000"] == 3000.0


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("48 - 43.2 >= 0.1 * 48", True),
        ("48 - 43.2 > 0.1 * 48", False),
        ("48 - 43.2 < 0.1 * 48", False),
        ("0.1 + 0.2 <= 0.3", True),
        ("1 < 1.00000001", True),
        ("0 < 1e-300", True),
        ("-1 < 1", True),
    ],
)
def test_numbers_that_differ_in_their_last_digits_are_equal(condition: str, holds: bool) -> None:
    """As in LibreOffice, IronCalc and Excel: the workbook's checks must not say otherwise than the memo's."""
    run = run_text(f"quantities: {{q: {{unit: yes/no, formula: {condition}}}}}\n")
    assert run.results is not None
    assert run.results.scenarios["base"].values["q"] is holds


def test_a_conversion_that_overflows_is_an_error_without_a_warning_of_numpy(
    recwarn: pytest.WarningsRecorder,
) -> None:
    text = "model: m\nquantities:\n  a: {unit: GB, value: 1e307, source: s}\n  b: {unit: kB, formula: a}\n"
    assert run_text(text).codes == ["CG603"]
    assert not list(recwarn)
