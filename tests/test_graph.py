"""The order of steps, and the circles in it."""

from __future__ import annotations

import pytest
from compiling import plan_of, run_text

CHAIN = """
quantities:
  d: {unit: count, formula: c * 2 + a}
  c: {unit: count, formula: b + a}
  b: {unit: count, formula: a + 1}
  a: {value: 1, unit: count, source: s}
checks: {early: {condition: a > 0, message: m}, k: {condition: d > b, message: m}}
decision: {options: {x: {}}, rules: [{when: c > 1, option: x, headline: h}, {option: x, headline: h}]}
"""


def model(**formulas: str) -> str:
    """Write a model of computed quantities alone."""
    return "quantities:\n" + "".join(
        f"  {name}: {{unit: count, formula: '{text}'}}\n" for name, text in formulas.items()
    )


def test_a_step_comes_after_what_it_needs() -> None:
    plan = plan_of(CHAIN)
    order = [step.id for step in plan.steps]
    assert order == ["a", "b", "c", "d", "check.early", "check.k", "rule.1"]
    for name, needs in plan.uses.items():
        assert all(order.index(need) < order.index(name) for need in needs)
        assert all(name in plan.used_by[need] for need in needs)
    assert plan.used_by["a"] == ("b", "c", "check.early", "d")
    assert plan.uses["d"] == ("c", "a")


def test_independent_steps_keep_their_declared_order() -> None:
    names = ["z", "m", "a", "q"]
    plan = plan_of(model(**dict.fromkeys(names, "1")))
    assert [step.id for step in plan.steps] == names


@pytest.mark.parametrize(
    ("formulas", "message", "places"),
    [
        ({"a": "a + 1"}, "`a` needs itself", [2]),
        ({"a": "b", "b": "a"}, "quantities need each other in a circle: a → b → a", [2, 3]),
        (
            {"a": "b", "b": "c", "c": "a", "d": "a"},
            "quantities need each other in a circle: a → b → c → a",
            [2, 3, 4],
        ),
        ({"a": "b + c", "b": "c", "c": "a"}, "quantities need each other in a circle: a → c → a", [2, 4]),
        ({"a": "if(1 < 2, 1, b)", "b": "a"}, "quantities need each other in a circle: a → b → a", [2, 3]),
    ],
)
def test_a_circle_is_shown_by_its_shortest_loop(
    formulas: dict[str, str], message: str, places: list[int]
) -> None:
    found = run_text(model(**formulas)).only
    assert (found.code, found.message) == ("CG411", message)
    spans = [found.span, *(item.span for item in found.related)]
    assert [span.line for span in spans if span] == places
    assert found.help == "break the circle: make one of them an input"


def test_each_circle_is_one_message() -> None:
    run = run_text(model(a="b", b="a", c="d", d="c", e="a + c", f="f"))
    assert [item.message.rpartition(": ")[2] for item in run.found] == [
        "a → b → a",
        "c → d → c",
        "`f` needs itself",
    ]


def test_a_large_circle_is_found_in_time() -> None:
    names = [f"q{number}" for number in range(400)]
    formulas = {name: f"{names[number - 1]} + 1" for number, name in enumerate(names)}
    found = run_text(model(**formulas)).only
    assert found.message.endswith(": q0 → q399 → q398 → q397 → q396 → q395 → … → q1 → q0")
    assert len(found.related) == 7
