"""What of a formula has an effect: the parts that are left out may change, and nothing that is shown does."""

from __future__ import annotations

import pytest
from compiling import run_text
from memos import shipped

from capgraph.analysis.derivation import derive, is_definition
from capgraph.analysis.taken import taken
from capgraph.calculate import calculate
from capgraph.evaluate import scenario_overrides
from capgraph.formula.text import print_formula
from capgraph.model import Choose, Given, Quantity, Value

MODEL = """
model: m
quantities:
  on: {{value: true}}
  off: {{value: false}}
  none: {{unit: count, value: 0}}
  one_unit: {{unit: count, value: 1, source: definition}}
  a: {{unit: count, value: 2}}
  b: {{unit: count, value: 3}}
  result: {{unit: {unit}, formula: "{formula}"}}
"""


@pytest.mark.parametrize(
    ("formula", "left"),
    [
        ("if(on, a, b)", "if(on, a, …)"),
        ("if(off, a, b)", "if(off, …, b)"),
        ("if(on, a, 7)", "if(on, a, 7)"),
        ("if(off, 1, if(on, a, b))", "if(off, 1, if(on, a, …))"),
        ("none * a", "none * …"),
        ("a * none", "… * none"),
        ("none * none", "none * …"),
        ("none * a * b / a", "none * …"),
        ("(a - 2) * b + a", "(a - 2) * … + a"),
        ("none / a", "none / …"),
        ("a / b", "a / b"),
        ("none + a", "none + a"),
        ("max(none, a * none)", "max(none, … * none)"),
        ("a * one_unit / one_unit", "a"),
        ("one_unit * a", "a"),
        ("one_unit + a", "one_unit + a"),
        ("off and a > b", "off and …"),
        ("a > b and on", "a > b and …"),
        ("on and a > b", "… and a > b"),
        ("on or a > b", "on or …"),
        ("a < b or off", "a < b or …"),
        ("not (off or a > b)", "not (off or a > b)"),
    ],
)
def test_what_has_no_effect_is_left_out(formula: str, left: str) -> None:
    is_truth = any(sign in f" {formula} " for sign in (" and ", " or "))
    run = run_text(MODEL.format(formula=formula, unit="yes/no" if is_truth else "count"))
    assert run.plan is not None, run.found
    assert run.results is not None, run.found
    result = run.results.scenarios[run.results.selected]
    assert print_formula(taken(run.plan, result)["result"]) == left


def test_what_a_formula_reduces_over_a_sweep_stays_whole() -> None:
    text = MODEL.format(formula="sum(c over s)", unit="count")
    text += '  c: {unit: count, formula: "if(a > 2, a * none, b * one_unit)"}\n'
    text += "sweeps:\n  s: {over: a, values: [1, 2, 3]}\n"
    run = run_text(text)
    assert run.plan is not None, run.found
    assert run.results is not None, run.found
    formulas = taken(run.plan, run.results.scenarios[run.results.selected])
    assert print_formula(formulas["c"]) == "if(a > 2, a * none, b)"
    assert print_formula(formulas["result"]) == "sum(c over s)"


def test_a_sweep_that_nothing_asks_for_keeps_no_formula_whole() -> None:
    text = MODEL.format(formula="if(off, sum(c over s), c)", unit="count")
    text += '  c: {unit: count, formula: "if(a > 2, a, b)"}\n'
    text += "sweeps:\n  s: {over: a, values: [1, 2, 3]}\n"
    run = run_text(text)
    assert run.plan is not None, run.found
    assert run.results is not None, run.found
    result = run.results.scenarios[run.results.selected]
    assert print_formula(taken(run.plan, result, targets=["result"])["c"]) == "if(a > 2, …, b)"
    assert print_formula(taken(run.plan, result, {"result"})["c"]) == "if(a > 2, …, b)"


@pytest.mark.parametrize("name", ["llm-serving", "object-storage", "published-answers"])
def test_inputs_without_effect_change_nothing(name: str) -> None:
    memo = shipped(name)
    plan, selected = memo.plan, memo.results.selected
    result = memo.results.scenarios[selected]
    settings = plan.model.scenarios[selected].settings
    shown = [step.id for step in plan.steps if step.id not in plan.model.quantities]
    options = plan.model.decision.options.values() if plan.model.decision else ()
    shown += [option.cost for option in options if option.cost]
    shown += plan.model.key_figures
    chain = derive(plan, selected, result, shown, formulas=taken(plan, result, settings, shown))
    counted = {line.quantity.id for line in chain}
    inputs = (
        entry for entry in plan.model.quantities.values() if entry.is_input and not is_definition(entry)
    )
    idle = [entry for entry in inputs if entry.id not in counted]
    assert idle
    changes = [{entry.id: _other(entry, result.values[entry.id])} for entry in idle]
    columns = calculate(
        plan, scenario_overrides(plan, (selected,) * len(changes), changes), len(changes), shown
    )
    for step in shown:
        for lane, change in enumerate(changes):
            assert columns.values[step][lane] == result.values[step], (step, change)


def _other(entry: Quantity, value: Value | None) -> Value:
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        assert isinstance(entry.definition, Choose)
        return next(option for option in entry.definition.options[::-1] if option != value)
    assert isinstance(entry.definition, Given)
    return 1.1 * float(value or 0.0) + 1
