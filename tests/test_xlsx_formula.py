"""The Excel printer: a tree in → text that spreadsheets read as the same tree.

A row of the table is a formula of the language and what it becomes; random trees must agree with three engines.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from oracles import formualizer, libreoffice
from oracles.ironcalc import Calculation
from oracles.trees import TREES, Plainly, call, disagreements, number, workbook

from capgraph.diagnostics import Diagnostic, Source
from capgraph.emit.xlsx.formula import MOST_ARGUMENTS, literal, print_excel
from capgraph.formula.functions import FUNCTIONS
from capgraph.formula.parser import parse_formula
from capgraph.formula.tree import Binary, Expr, Number, Text
from capgraph.yamltree import Scalar

# `memory` is a number that a catalog may lack, `tied` a yes/no, `word` a text; `n` and `m` are numbers of the model.
SPELLING = Plainly({"memory": "number", "tied": "yes/no"})


def tree(text: str) -> Expr:
    parsed = parse_formula(Scalar.at(Source("test", text)))
    assert not isinstance(parsed, Diagnostic), parsed
    return parsed


@pytest.mark.parametrize(
    ("formula", "excel"),
    [
        # Excel reads -2^2 as (-2)^2, and 2^3^2 from the left.
        ("-2^2", "-(2^2)"),
        ("(-2)^2", "(-2)^2"),
        ("(2^3)^2", "(2^3)^2"),
        ("2^(3^2)", "2^(3^2)"),
        ("2^-1", "2^(-1)"),
        ("-n*m", "-n*m"),
        ("-(n*m)", "-n*m"),
        ("-(n*m/2)", "-n*m/2"),
        ("-((n + 1)*m)", "-(n+1)*m"),
        ("-(n^2*m)", "-(n^2*m)"),
        ("2/(-(n*m))", "2/(-n*m)"),
        ("2 - -(n*m)", "2-(-n*m)"),
        ("n - -m", "n-(-m)"),
        ("n - (m - 1)", "n-(m-1)"),
        ("n - m - 1", "n-m-1"),
        ("n / (m / 2)", "n/(m/2)"),
        ("n / m * 2", "n/m*2"),
        ("n * (m + 1)", "n*(m+1)"),
        ("n + (m + 1)", "n+(m+1)"),
        ("n < m + 1", "n<m+1"),
        ("n < 1 and m > 2", "AND(n<1,m>2)"),
        ("n < 1 and m > 2 and n > 0", "AND(n<1,m>2,n>0)"),
        ("n < 1 or m > 2 and n > 0", "OR(n<1,AND(m>2,n>0))"),
        ("not n < 1", "NOT(n<1)"),
        ("true or false", "OR(TRUE(),FALSE())"),
        ("if(n < 1, n, m)", "IF(n<1,n,m)"),
        ("ceil(n / m)", "(-INT(-ROUND(n/m,9)))"),
        ("floor(n)", "INT(ROUND(n,9))"),
        ("round(n)", "ROUND(ROUND(n,9),0)"),
        ("clamp(n, 1, 5)", "MAX(1,MIN(n,5))"),
        ("ln(n) + log10(n) + log2(n)", "LN(n)+LOG10(n)+LOG(n,2)"),
        ("70e9", "70000000000"),
        ("30%", "0.3"),
        ("1e-7", "0.0000001"),
        ("1e-30 * n", "1E-30*n"),
        # A choice is compared as spreadsheets do it, a text field by case too.
        ('pick = "fp8"', 'pick="fp8"'),
        ('pick <> "fp8"', 'pick<>"fp8"'),
        ('word = "mla"', 'EXACT(word,"mla")'),
        ('word <> "mla"', 'NOT(EXACT(word,"mla"))'),
        # "n/a" is an error in arithmetic by itself; MIN, MAX, comparisons, AND and a bare reference would let it pass.
        ("memory * 2", "memory*2"),
        ("-memory", "-memory"),
        ("memory", "memory+0"),
        ("max(memory, 3)", "MAX(memory+0,3)"),
        ("memory > 5", "memory+0>5"),
        ("if(tied, memory, n)", "IF(tied,memory+0,n)"),
        ("tied and n > 1", "AND(tied+0,n>1)"),
        ("not tied", "NOT(tied)"),
        ("if(n > 1, tied, true)", "IF(n>1,AND(tied+0),TRUE())"),
    ],
)
def test_prints(formula: str, excel: str) -> None:
    assert print_excel(tree(formula), SPELLING) == excel


def drawn(count: int) -> list[Expr]:
    """Draw random formulas: many for one workbook, since starting an engine costs more than a formula."""
    collected: list[Expr] = []

    @settings(max_examples=count, database=None)
    @given(TREES)
    def collect(drawn_tree: Expr) -> None:
        collected.append(drawn_tree)

    collect()
    return collected


def test_random_formulas_agree_with_two_engines(tmp_path: Path) -> None:
    trees = drawn(600)
    path = workbook(trees, tmp_path / "trees.xlsx")
    wanted = {"Sheet": dict.fromkeys((f"A{row}" for row in range(1, len(trees) + 1)), None)}
    assert len(trees) >= 300
    assert disagreements(trees, Calculation(path).values(wanted)["Sheet"]) == []
    assert disagreements(trees, formualizer.calculated(path, wanted)["Sheet"]) == []


@pytest.mark.office
def test_random_formulas_agree_with_libreoffice(tmp_path: Path) -> None:
    trees = drawn(600)
    (cells,) = libreoffice.recalculated([workbook(trees, tmp_path / "trees.xlsx")])
    assert disagreements(trees, cells["Sheet"]) == []


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_every_function_prints_what_its_examples_say(name: str, tmp_path: Path) -> None:
    trees = [tree(text) for text, _ in FUNCTIONS[name].examples]
    path = workbook(trees, tmp_path / "examples.xlsx")
    calculation = Calculation(path)
    for row, (_, value) in enumerate(FUNCTIONS[name].examples, 1):
        assert calculation.value("Sheet", f"A{row}") == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        # Unguarded, five engines say 3 and four say 4.
        ("ceil(0.1 * 3 * 10)", 3.0),
        ("floor(0.29 * 100)", 29.0),
        ("floor(-1.5)", -2.0),
        ("round(2.5)", 3.0),
        ("round(-2.5)", -3.0),
        ("round(1.5)", 2.0),
        ("ceil(-0.2)", 0.0),
    ],
)
def test_whole_numbers_are_the_same_everywhere(text: str, value: float, tmp_path: Path) -> None:
    path = workbook([tree(text)], tmp_path / "whole.xlsx")
    wanted = {"Sheet": {"A1": None}}
    assert Calculation(path).value("Sheet", "A1") == value
    assert formualizer.calculated(path, wanted)["Sheet"]["A1"] == value
    assert disagreements([tree(text)], {"A1": value}) == []


def test_an_untaken_branch_is_not_calculated(tmp_path: Path) -> None:
    trees = [
        tree("if(x > 1, 2, 1 / z)"),
        tree("if(x < 1, 2, 1 / z)"),
        tree("1 / z"),
        tree("ln(z)"),
        tree("sqrt(y)"),
    ]
    path = workbook(trees, tmp_path / "branches.xlsx")
    found = {f"A{row}": Calculation(path).value("Sheet", f"A{row}") for row in range(1, 6)}
    assert disagreements(trees, found) == []
    assert [found["A1"], found["A2"], found["A3"]] == [2.0, "#DIV/0!", "#DIV/0!"]


def test_more_arguments_than_excel_takes_become_a_function_of_functions(tmp_path: Path) -> None:
    trees = [call("max", *(number(float(index)) for index in range(900)))]
    text = print_excel(trees[0], SPELLING)
    assert text.startswith("MAX(MAX(")
    assert text.count("MAX(") == 5
    assert Calculation(workbook(trees, tmp_path / "many.xlsx")).value("Sheet", "A1") == 899.0


def test_a_long_chain_of_conditions_keeps_to_the_arguments_that_excel_takes() -> None:
    chain = tree("n < 0")
    for _ in range(600):
        chain = Binary("and", chain, tree("n < 1"), chain.span)
    text = print_excel(chain, SPELLING)
    assert text.count("n<") == 601
    most, counts = 0, [0]
    for sign in text:
        if sign == "(":
            counts.append(1)
        elif sign == ")":
            most = max(most, counts.pop())
        elif sign == ",":
            counts[-1] += 1
    assert most <= MOST_ARGUMENTS


def test_a_long_text_is_written_in_pieces_that_excel_takes() -> None:
    text = 'say "no" ' * 100
    pieces = literal(text).split('"&"')
    assert all(len(piece.strip('"').replace('""', '"')) <= 255 for piece in pieces)
    assert "".join(pieces).strip('"').replace('""', '"') == text.strip('"')
    assert literal("") == '""'


def test_a_sum_of_very_many_terms_prints_without_recursion() -> None:
    total: Expr = Number(0.0, "0", tree("0").span)
    for _ in range(5_000):
        total = Binary("+", total, Number(1.0, "1", total.span), total.span)
    assert print_excel(total, SPELLING).count("+") == 5_000


def test_a_text_that_is_compared_is_quoted() -> None:
    quoted = Text('a"b', tree("0").span)
    assert print_excel(Binary("=", tree("pick"), quoted, quoted.span), SPELLING) == 'pick="a""b"'
