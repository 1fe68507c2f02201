"""The formula language: what is read, what it means, how it prints, and the table of functions."""

from __future__ import annotations

import numpy as np
import pytest
from compiling import model_of, parsed, run_text, tree_of, value_of

from capgraph.diagnostics import Diagnostic
from capgraph.formula.functions import FUNCTIONS, Function
from capgraph.formula.parser import MAX_DEPTH, MAX_LENGTH, MAX_OPERATIONS
from capgraph.formula.text import print_formula
from capgraph.formula.tree import Binary, Number, Reference, Scale, Text, Truth, children, references, walk


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7.0),
        ("1_000_000", 1e6),
        ("70e9", 70e9),
        ("1e+9", 1e9),
        ("1.5E-3", 0.0015),
        (".5", 0.5),
        ("5.", 5.0),
        ("30%", 0.3),
        ("30 %", 0.3),
        ("7%", 0.07),
        ("12.3%", 0.123),
        ("1e2%", 1.0),
        ("1e-99999999999", 0.0),
        ("010", 10.0),
    ],
)
def test_numbers_are_read_as_people_write_them(text: str, value: float) -> None:
    tree = tree_of(text)
    assert isinstance(tree, Number)
    assert (tree.value, tree.text) == (value, text)


@pytest.mark.parametrize(
    ("text", "brackets"),
    [
        ("-2^2", "-(2^2)"),
        ("2^-2", "2^(-2)"),
        ("-a*b", "(-a)*b"),
        ("a - b - c", "(a - b) - c"),
        ("a / b / c", "(a / b) / c"),
        ("a / b * c", "(a / b) * c"),
        ("a + b * c^d", "a + (b * (c^d))"),
        ("a - -b", "a - (-b)"),
        ("--a", "-(-a)"),
        ("a + b < c * d", "(a + b) < (c * d)"),
        ("not a < b", "not (a < b)"),
        ("not a and b", "(not a) and b"),
        ("a or b and c", "a or (b and c)"),
        ("a < b and c >= d or e <> f", "((a < b) and (c >= d)) or (e <> f)"),
        ("if(a > b, a - b, 0)", "if((a > b), (a - b), (0))"),
        ("a\n  + b", "a + b"),
        ("  a + 1 \n", "a + 1"),
    ],
)
def test_operators_bind_as_in_mathematics(text: str, brackets: str) -> None:
    assert tree_of(text) == tree_of(brackets)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-2^2", -4.0),
        ("2^-1", 0.5),
        ("(2^3)^2", 64.0),
        ("2^(3^2)", 512.0),
        ("7 - 2 - 1", 4.0),
        ("8 / 4 / 2", 1.0),
        ("0.1 * 3", 0.1 * 3),
        ("if(1 < 2, 3, 1 / 0)", 3.0),
        ("if(1 <= 1 and not (2 > 3), 1, 2)", 1.0),
        ("if(1 > 2 or 3 >= 3, 1, 2)", 1.0),
        ("if(true, if(false, 1, 2), 3)", 2.0),
    ],
)
def test_an_expression_has_its_meaning(text: str, value: float) -> None:
    assert value_of(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "a + b * c - d / e",
        "(a + b) * c",
        "a - (b - c)",
        "a / (b * c)",
        "-(a + b)",
        "-a^2",
        "(-a)^2",
        "2^-x",
        "a^(-(b + 1))",
        "(a^b)^c",
        "not (a and b)",
        "(a < b) = (c < d)",
        'gpu.vendor = "AMD"',
        "x = 'say \"hi\"'",
        "if(a <> b, true, not false)",
        "max(1, min(a, b), ceil(c))",
        "1_000 * 30%",
    ],
)
def test_what_is_printed_reads_back(text: str) -> None:
    printed = print_formula(tree_of(text))
    assert tree_of(printed) == tree_of(text)
    assert print_formula(tree_of(printed)) == printed


def test_a_number_keeps_its_spelling() -> None:
    assert print_formula(tree_of("1_000*30%+1e+9")) == "1_000 * 30% + 1e+9"


def _bracketed(item: Reference | Scale) -> str:
    return f"<{item.name if isinstance(item, Reference) else item.constant}>"


def test_a_writer_spells_the_references() -> None:
    assert print_formula(tree_of("a * gpu.memory"), _bracketed) == "<a> * <gpu.memory>"


@pytest.mark.parametrize(
    ("text", "code", "place", "says"),
    [
        ("", "CG405", "", "ends"),
        ("a +", "CG405", "", "ends"),
        ("a b", "CG405", "b", "operator"),
        ("5 GB", "CG405", "GB", "operator"),
        ("(a b)", "CG405", "b", "`)`"),
        ("(a + b", "CG405", "(", "not closed"),
        ("max(a, b", "CG405", "max", "not closed"),
        ("a)", "CG405", ")", "end of the formula"),
        ("a, b", "CG405", ",", "end of the formula"),
        ("()", "CG405", ")", "needed"),
        ("+a", "CG405", "+", "sign"),
        ("a == b", "CG405", "==", "not an operator"),
        ("a ** b", "CG405", "**", "not an operator"),
        ("a != b", "CG405", "!=", "not an operator"),
        ("a && b", "CG405", "&", "no meaning"),
        ("a × b", "CG405", "×", "no meaning"),
        ("a − b", "CG405", "−", "no meaning"),
        ("٣ + a", "CG405", "٣", "no meaning"),
        ("a.b.c", "CG405", ".", "no meaning"),
        ("gpu = 'x", "CG405", "'x", "not closed"),
        ("1e999", "CG405", "1e999", "too large"),
        ("and a", "CG405", "and", "needed"),
        ("foo(a)", "CG403", "foo", "unknown function"),
        ("abs(a, b)", "CG404", "abs", "takes x; 2 given"),
        ("clamp(a)", "CG404", "clamp", "takes x, low and high; 1 given"),
        ("min()", "CG404", "min", "at least one"),
        ("if(a, b)", "CG404", "if", "condition"),
        ("2^3^2", "CG406", "^", "ambiguous"),
        ("2^-3^2", "CG406", "^", "ambiguous"),
        ("a < b < c", "CG407", "<", "chain"),
        ("a = b = c", "CG407", "=", "chain"),
    ],
)
def test_what_cannot_be_read_is_named_at_its_place(text: str, code: str, place: str, says: str) -> None:
    found = parsed(text)
    assert isinstance(found, Diagnostic)
    assert found.span is not None
    covered = text[found.span.column - 1 : found.span.end_column - 1]
    assert (found.code, covered) == (code, place)
    assert place or found.span.column == len(text) + 1
    assert says in found.message
    assert found.help


@pytest.mark.parametrize(
    ("text", "way_out"),
    [
        ("a && b", "`and`"),
        ("a == b", "`=`"),
        ("a ** b", "`^`"),
        ("a ÷ b", "`/`"),
        ("ciel(a)", "`ceil`"),
        ("fold(a)", "there are if, min"),
        ("sum(a)", "over sweep"),
        ("clamp(a)", "`clamp(x, low, high)`"),
        ("2(a)", "`*`"),
    ],
)
def test_the_way_out_is_said(text: str, way_out: str) -> None:
    found = parsed(text)
    assert isinstance(found, Diagnostic)
    assert way_out in found.help


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("(" * (MAX_DEPTH - 1) + "1" + ")" * (MAX_DEPTH - 1), True),
        ("(" * MAX_DEPTH + "1" + ")" * MAX_DEPTH, False),
        ("abs(" * (MAX_DEPTH - 1) + "1" + ")" * (MAX_DEPTH - 1), True),
        (" + ".join(["1"] * (MAX_OPERATIONS + 1)), True),
        (" + ".join(["1"] * (MAX_OPERATIONS + 2)), False),
        ("-" * MAX_OPERATIONS + "1", True),
        ("-" * (MAX_OPERATIONS + 1) + "1", False),
        ("1" + " " * (MAX_LENGTH - 1), True),
        ("1" + " " * MAX_LENGTH, False),
        ("(" * 2000, False),
    ],
)
def test_a_formula_has_a_largest_size(text: str, fits: bool) -> None:
    found = parsed(text)
    assert fits != isinstance(found, Diagnostic)
    if isinstance(found, Diagnostic):
        assert (found.code, found.help) == ("CG408", "split it into quantities")
    else:
        assert tree_of(print_formula(found)) == found


def test_the_largest_formula_goes_through_every_stage() -> None:
    inner = " + ".join(["-x"] * (MAX_OPERATIONS // 2))
    nested = "abs(" * (MAX_DEPTH - 1) + inner + ")" * (MAX_DEPTH - 1)
    assert value_of(nested, x="2") == MAX_OPERATIONS


def test_walk_and_references_go_in_reading_order() -> None:
    tree = tree_of("if(a > 1, b * -c, max(d, e))")
    assert [item.name for item in references(tree)] == ["a", "b", "c", "d", "e"]
    assert next(walk(tree)) is tree
    assert sum(1 for _ in walk(tree)) == 1 + sum(1 for part in children(tree) for _ in walk(part))


def test_trees_are_equal_by_meaning_not_by_place() -> None:
    assert tree_of("1_000+a") == tree_of("  1e3  +  a")
    tree = tree_of("true and 'x' = a")
    assert isinstance(tree, Binary)
    assert isinstance(tree.left, Truth)
    assert list(map(type, children(tree.right))) == [Text, Reference]


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_function_is_complete(function: Function) -> None:
    assert FUNCTIONS[function.name] is function
    assert function.name.isidentifier()
    assert function.doc.endswith(".")
    assert function.examples
    assert (function.outside is None) == (function.domain == "")
    wanted = {"{all}"} if function.variadic else {f"{{{n}}}" for n in range(len(function.parameters))}
    for template in (function.excel, function.maths):
        assert "{all}" in template or all(part in template for part in wanted), template
    lanes = np.array([1.0, 2.0, 3.0])
    assert function.compute(*[lanes] * len(function.parameters)).shape == lanes.shape


@pytest.mark.parametrize(
    ("text", "value"),
    [example for function in FUNCTIONS.values() for example in function.examples],
)
def test_an_example_of_a_function_is_true(text: str, value: float) -> None:
    assert value_of(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("ceil(3.0000000001)", 3.0),
        ("ceil(3.00000001)", 4.0),
        ("floor(2.9999999999)", 3.0),
        ("floor(-0.0000000001)", 0.0),
        ("round(0.5)", 1.0),
        ("round(-0.5)", -1.0),
        ("round(1.4999999999)", 2.0),
        ("ceil(1e15)", 1e15),
        ("ceil(4503599627370497)", 4503599627370497.0),
        ("floor(-1e300)", -1e300),
        ("clamp(3, 5, 1)", 5.0),
        ("max(1)", 1.0),
        ("log10(1e-300)", -300.0),
    ],
)
def test_functions_at_their_edges(text: str, value: float) -> None:
    assert value_of(text) == value


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("1 / (x - x)", "CG601"),
        ("x / 0", "CG601"),
        ("sqrt(-x)", "CG602"),
        ("ln(x - x)", "CG602"),
        ("ln(-x)", "CG602"),
        ("log2(0 * x)", "CG602"),
        ("log10(-x)", "CG602"),
        ("(x - x)^-1", "CG602"),
        ("(x - x)^0", "CG602"),
        ("(-x)^0.5", "CG602"),
        ("exp(x * 1000)", "CG603"),
        ("x^5000", "CG603"),
        ("1e308 * 10 * x", "CG603"),
        ("x / 1e-320", "CG603"),
    ],
)
def test_what_has_no_value_is_an_error_with_name_and_scenario(text: str, code: str) -> None:
    follows = "  more: {unit: count, formula: result * 2 + ceil(result)}\n"
    found = run_text(model_of(text, x="2") + follows).only
    assert found.code == code
    assert "`result` has no value in the scenario `base`" in found.message
    assert found.help
