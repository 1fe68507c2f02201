"""Small and large: models with hardly anything in them, and formulas that no single cell can hold."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest
from openpyxl import load_workbook
from oracles.cells import differences, formulas, stored
from oracles.expectation import mismatches
from oracles.ironcalc import Calculation
from oracles.workbooks import MADE, Built, build, built

from capgraph.emit.xlsx import emit
from capgraph.emit.xlsx.layout import CHECKS, MODEL, lay_out
from capgraph.emit.xlsx.split import MOST_CHARACTERS, split_formulas
from capgraph.evaluate import evaluate
from capgraph.findings import Findings
from capgraph.formula.tree import Binary, Call, Expr, Reference
from capgraph.plan import Compute, Plan

NOTHING = Findings((), (), None)

MINIMAL = """
model: tiny
title: One number
as_of: 2026-01-01
section: All
quantities:
  x: {value: 2, unit: count, label: A number, source: none}
  y: {label: Its double, unit: count, formula: 2 * x}
"""


def parity(path: Path) -> list[str]:
    """Return where IronCalc differs from the stored values."""
    held = stored(path)
    expected = {
        title: {cell: held[title].get(cell) for cell in cells} for title, cells in formulas(path).items()
    }
    return list(differences(Calculation(path).values(expected), expected))


@pytest.mark.parametrize(
    ("extra", "sheets"),
    [
        ("", []),
        ("scenarios: {only: {label: The one}}", []),
        ("checks: {positive: {label: Positive, condition: x > 0, message: '{x}'}}", []),
        ("key_figures: [y]", []),
        ("charts: {pile: {label: Pile, parts: [x, x], whole: y}}", []),
        (
            "decision: {question: Which?, options: {a: {cost: y}}, rules: [{option: a, headline: 'It is {y}'}]}",
            [],
        ),
        (
            "decision: {question: Which?, options: {a: }, rules: [{when: x > 5, option: a, headline: 'No'}]}",
            [],
        ),
        ("catalogs: {rows: {label: Rows, fields: {f: {unit: count}}, rows: {r: {name: R, f: 1}}}}", ["rows"]),
    ],
)
def test_a_model_with_hardly_anything_gives_a_whole_workbook(
    extra: str, sheets: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "tiny.yaml"
    file.write_text(f"{MINIMAL}{extra}\n", "utf-8")
    book = build(file)
    path = book.written(tmp_path)
    assert parity(path) == []
    titles = load_workbook(path).sheetnames
    assert titles == ["Summary", "Inputs", "Model", "Checks", *sheets, "Units", "About"]


def test_a_model_without_inputs_gives_a_whole_workbook(tmp_path: Path) -> None:
    file = tmp_path / "none.yaml"
    file.write_text(MINIMAL.replace("x: {value: 2, ", "x: {formula: 1 + 1, "), "utf-8")
    assert parity(build(file).written(tmp_path)) == []


def large(book: Built, name: str, expr: Expr) -> Built:
    """Build a model again with one quantity's formula replaced."""
    uses = {**book.plan.uses, name: tuple(dict.fromkeys(node.name for node in _references(expr)))}
    steps = tuple(Compute(name, expr) if step.id == name else step for step in book.plan.steps)
    plan: Plan = replace(book.plan, steps=steps, uses=uses)
    results, found = evaluate(plan)
    assert results is not None, found
    return Built(plan, results, NOTHING, emit(plan, results, NOTHING, MADE).data)


def _references(expr: Expr) -> list[Reference]:
    from capgraph.formula.tree import references

    return list(references(expr))


def ref(name: str) -> Reference:
    return Reference(name, built("small").plan.model.decision.origin)  # type: ignore[union-attr]


def sum_of(count: int) -> Expr:
    """Return a sum of so many terms; a tree as deep as it has terms would be too deep for the evaluator."""
    terms: list[Expr] = [ref(("users", "rate", "server.capacity")[number % 3]) for number in range(count)]
    while len(terms) > 1:
        pairs = zip(terms[::2], terms[1::2], strict=False)
        odd = terms[-1:] if len(terms) % 2 else []
        terms = [Binary("+", left, right, left.span) for left, right in pairs] + odd
    return terms[0]


def nested(count: int) -> Expr:
    inner: Expr = ref("nodes")
    for _ in range(count):
        inner = Call("ceil", (Binary("/", inner, ref("nodes"), inner.span),), inner.span)
    return inner


def choice_between(left: Expr, right: Expr, then: Expr, otherwise: Expr) -> Expr:
    return Call("if", (Binary("<", left, right, left.span), then, otherwise), left.span)


def wide(count: int) -> Expr:
    return Call("max", tuple(ref("rate") for _ in range(count)), ref("rate").span)


@pytest.mark.parametrize(
    ("expr", "parts"),
    [
        (sum_of(1_500), 2),
        (nested(60), 4),
        (wide(3_000), 2),
        (choice_between(nested(30), sum_of(400), sum_of(900), nested(25)), 2),
    ],
)
def test_a_formula_that_no_cell_can_hold_is_taken_apart(expr: Expr, parts: int, tmp_path: Path) -> None:
    book = large(built("small"), "own_cost", expr)
    path = book.written(tmp_path)
    split, _ = split_formulas(book.plan, book.results)
    assert len(split.steps) - len(book.plan.steps) >= parts
    for cells in formulas(path).values():
        for formula in cells.values():
            assert len(formula) <= 8_192
            assert deepest(formula) <= 64
    assert parity(path) == []
    layout = lay_out(*split_formulas(book.plan, book.results), NOTHING)
    calculation = Calculation(path)
    assert list(mismatches(layout, book.results.scenarios, "base", calculation.value)) == []


def deepest(formula: str) -> int:
    level = most = 0
    for sign in formula:
        level += (sign == "(") - (sign == ")")
        most = max(most, level)
    return most


def test_formulas_that_fit_are_left_alone() -> None:
    book = built("llm-serving")
    assert split_formulas(book.plan, book.results) == (book.plan, book.results)
    assert MOST_CHARACTERS < 8_192


def test_a_message_that_no_formula_can_hold_is_written_in_pieces(tmp_path: Path) -> None:
    slots = " ".join("{x} of {y:2} is" for _ in range(300))
    file = tmp_path / "long.yaml"
    file.write_text(f"{MINIMAL}checks: {{long: {{condition: x > 0, message: '{slots}'}}}}\n", "utf-8")
    book = build(file)
    path = book.written(tmp_path)
    assert max(len(formula) for formula in formulas(path)[CHECKS].values()) <= 8_192
    message = book.results.scenarios[book.results.selected].checks["long"].message
    assert Calculation(path).value(CHECKS, "B8") == message
    assert parity(path) == []


def many(scenarios: int, quantities: int) -> str:
    chain = "".join(f"  q{n}_: {{unit: count, formula: 'x + 0 * q{n - 1}_'}}\n" for n in range(2, quantities))
    sets = "".join(f"  s{n}: {{set: {{x: {n}}}}}\n" for n in range(scenarios))
    return f"{MINIMAL}  q1_: {{unit: count, formula: x}}\n{chain}scenarios:\n{sets}"


def test_thirty_scenarios_and_many_quantities(tmp_path: Path) -> None:
    file = tmp_path / "many.yaml"
    file.write_text(many(30, 300), "utf-8")
    book = build(file)
    assert parity(book.written(tmp_path)) == []
    sheet = load_workbook(BytesIO(book.data))[MODEL]
    assert sheet.max_row > 300
    assert sheet.cell(5, 35).value is not None
