"""What holds for every model: a formula's meaning, its text, its places, its units; and the same bytes each time."""

from __future__ import annotations

import hashlib
import math
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from compiling import Run, plan_of, run_path, run_text, tree_of
from generating import (
    CHOICES,
    FLAGS,
    INPUTS,
    SPAN,
    UNITS,
    Exact,
    FailedError,
    FragileError,
    binary,
    call,
    conditions,
    givens,
    mean,
    meanings,
    number_of,
    numbers,
    reference,
    write_model,
)
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from capgraph.analysis.derivation import derive
from capgraph.calculate import calculate
from capgraph.diagnostics import Source
from capgraph.emit.resolved import emit
from capgraph.formula.functions import FUNCTIONS
from capgraph.formula.reductions import REDUCTIONS
from capgraph.formula.text import print_formula, print_maths
from capgraph.formula.tree import Binary, Call, Expr, Number, Reduce, Reference, Text, Truth, Unary, walk
from capgraph.model import Given, Value
from capgraph.resources import models_root
from capgraph.units import Conversion, conversion_factor, convert, parse_unit, spell
from capgraph.yamltree import Map, Scalar, read

FEW = settings(max_examples=5, suppress_health_check=[HealthCheck.too_slow])
SOME = settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
MANY = settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])


# A formula's text.

_NAMES = st.sampled_from(["a", "b", "hbm_usable", "gpu.memory", "größe", "x1"])


def _trees(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    """Return every kind of node over some operands, whether it fits its units or not."""
    ops = ["+", "-", "*", "/", "^", "<", "<=", ">", ">=", "=", "<>", "and", "or"]
    fixed = [function for function in FUNCTIONS.values() if not function.variadic]
    sweep = st.sampled_from(["demand", "horizon"])
    picking = [name for name in REDUCTIONS if name != "count"]
    return st.one_of(
        st.builds(lambda op, x: Unary(op, x, SPAN), st.sampled_from(["-", "not"]), inner),
        st.builds(binary, st.sampled_from(ops), inner, inner),
        st.builds(lambda items: call("max", *items), st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda a, b, c: call("if", a, b, c), inner, inner, inner),
        st.sampled_from(fixed).flatmap(
            lambda function: st.tuples(*[inner] * len(function.parameters)).map(
                lambda items: call(function.name, *items)
            )
        ),
        st.builds(
            lambda name, x, where, s: Reduce(name, x, where, None, s, SPAN, SPAN),
            st.sampled_from(picking),
            inner,
            st.none() | inner,
            sweep,
        ),
        st.builds(lambda where, s: Reduce("count", None, where, None, s, SPAN, SPAN), inner, sweep),
        st.builds(lambda x, at, s: Reduce("interpolate", x, None, at, s, SPAN, SPAN), inner, inner, sweep),
    )


_NUMBERS = st.sampled_from(["0", "1", "2.5", "1_000", "30%", "12.3 %", "1e+9", ".5", "7."])
ANY_TREE = st.recursive(
    st.one_of(
        _NAMES.map(reference),
        _NUMBERS.map(tree_of),
        st.sampled_from(["fast", 'say "x"', "it's"]).map(lambda text: Text(text, SPAN)),
        st.booleans().map(lambda value: Truth(value, SPAN)),
    ),
    _trees,
    max_leaves=16,
)


@MANY
@given(ANY_TREE)
def test_a_printed_tree_reads_back_as_itself(tree: Expr) -> None:
    printed = print_formula(tree)
    assert tree_of(printed) == tree
    assert print_formula(tree_of(printed)) == printed


def test_the_trees_above_are_of_every_kind() -> None:
    kinds: set[type] = set()

    @settings(max_examples=300, database=None)
    @given(ANY_TREE)
    def collect(tree: Expr) -> None:
        kinds.update(map(type, walk(tree)))

    collect()
    assert kinds == {Number, Text, Truth, Reference, Unary, Binary, Call, Reduce}


_SIGNS = {"×": "*", "÷": "/", "−": "-", "≤": "<=", "≥": ">=", "≠": "<>", "⌈": "ceil(", "⌉": ")", "⌊": "floor(",
          "⌋": ")", "√": "sqrt", "log₁₀": "log10", "log₂": "log2"}  # fmt: skip
_POWERS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


def _in_the_language(maths: str) -> str:
    """Read mathematical signs back; what stands in quotation marks is left alone."""
    parts = re.split(r"""("[^"]*"|'[^']*')""", maths)
    for place in range(0, len(parts), 2):
        for sign, word in _SIGNS.items():
            parts[place] = parts[place].replace(sign, word)
        parts[place] = re.sub(r"[⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda found: "^" + found[0].translate(_POWERS), parts[place])
    return "".join(parts)


@MANY
@given(ANY_TREE)
def test_the_mathematics_reads_back_to_the_same_tree(tree: Expr) -> None:
    assert tree_of(_in_the_language(print_maths(tree))) == tree


# Places inside YAML.

_WORDS = st.sampled_from(
    ["a", "bb", "größe", "𝛼", "+", "*", "/", "(", ")", "<=", "12", "it's", "x''y", "^", "gpu.memory"]
)


@st.composite
def layouts(draw: st.DrawFn) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return a file with one scalar in some style, deep somewhere, and its words: as read, and as they stand there."""
    words = ("start", *draw(st.lists(_WORDS, min_size=1, max_size=8)))
    depth, step = draw(st.integers(0, 3)), draw(st.integers(1, 4))
    indent = " " * (depth * step)
    inner = indent + " " * draw(st.integers(1, 3))
    breaks = st.sampled_from([" ", "  ", f"\n{inner}", f"\n\n{inner}", f" \n{inner} "])
    style = draw(st.sampled_from(["plain", "single", "double", "|", "|-", "|+", ">", ">-", ">+", "|2"]))
    spelled = [word.replace("'", "''") if style == "single" else word for word in words]
    text = spelled[0] + "".join(draw(breaks) + word for word in spelled[1:])
    if style == "single":
        text = f"'{text}'"
    elif style == "double":
        text = f'"{text}"'
    elif style == "|2":
        inner = indent + "  "
        text = f"|2\n{inner}" + f"\n{inner}".join(
            " ".join(spelled[at : at + 2]) for at in range(0, len(spelled), 2)
        )
    elif style != "plain":
        comment = draw(st.sampled_from(["", " # why"]))
        text = f"{style}{comment}\n{inner}{text}"
    above = "".join(f"{' ' * (level * step)}k{level}:\n" for level in range(depth))
    anchor = draw(st.sampled_from(["", "&f ", "!!str "]))
    end = draw(st.sampled_from(["\n", "\n\n", f"\n{indent}next: [a, bb, 12]\n"]))
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    return (f"# größe 𝛼\n{above}{indent}key: {anchor}{text}{end}").replace("\n", newline), tuple(
        zip(words, spelled, strict=True)
    )


@MANY
@given(layouts())
def test_a_place_inside_a_scalar_holds_for_every_layout(
    layout: tuple[str, tuple[tuple[str, str], ...]],
) -> None:
    text, words = layout
    node, found = read(Source("t.yaml", text))
    assert found == ()
    while isinstance(node, Map) and Scalar("key") not in node:
        (node,) = node.values()
    assert isinstance(node, Map)
    scalar = node[Scalar("key")]
    assert isinstance(scalar, Scalar)
    lines = scalar.span.source.text.split("\n")
    place = 0
    for word, spelled in words:
        first = scalar.index(word, place)
        place = first + len(word)
        span = scalar.within(first, place)
        assert lines[span.line - 1][span.column - 1 : span.end_column - 1] == spelled
        assert span.line == span.end_line


# Units.

_SYMBOLS = {
    "data": ["B", "KiB", "GiB", "MB", "TB", "bit"],
    "time": ["s", "ms", "us", "µs", "hour", "day", "week"],
    "token": ["token", "ktoken", "Mtoken"],
    "money": ["USD", "kUSD"],
    "gpu": ["GPU"],
    "replica": ["replica"],
    "plain": ["count", "%", "ratio"],
    "work": ["FLOP", "TFLOP"],
    "energy": ["Wh", "kWh", "watt_hour"],
}


@st.composite
def unit_pairs(draw: st.DrawFn) -> tuple[str, str]:
    """Return two texts of units of one dimension."""
    parts = draw(
        st.lists(
            st.tuples(st.sampled_from(sorted(_SYMBOLS)), st.integers(1, 3), st.booleans()),
            min_size=1,
            max_size=4,
        )
    )
    made = []
    for _ in range(2):
        text = ""
        for kind, exponent, below in parts:
            symbol = draw(st.sampled_from(_SYMBOLS[kind])) + (f"^{exponent}" if exponent > 1 else "")
            joint = "/" if below else draw(st.sampled_from(["*", "·", " * "]))
            text = (f"1/{symbol}" if below else symbol) if not text else f"{text}{joint}{symbol}"
        made.append(text)
    return made[0], made[1]


@MANY
@given(unit_pairs())
def test_a_units_text_reads_back_as_itself(pair: tuple[str, str]) -> None:
    unit = parse_unit(pair[0])
    assert parse_unit(spell(unit.terms)) == unit
    assert spell(parse_unit(spell(unit.terms)).terms) == spell(unit.terms)


_CONSTANTS: dict[str, float] = {}


@MANY
@given(unit_pairs(), st.floats(1e-6, 1e6))
def test_conversions_there_and_back_are_the_factor_and_its_inverse(
    pair: tuple[str, str], number: float
) -> None:
    source, target = map(parse_unit, pair)
    there, back = convert(source, target), convert(target, source)
    near = (len(there) + len(back) + 1) * 2.3e-16
    assert _converted(_converted(number, there), back) == pytest.approx(number, rel=max(near, 1e-15))
    assert _converted(number, there) == pytest.approx(
        number * conversion_factor(source, target), rel=max(near, 1e-15)
    )
    for step in (*there, *back):
        assert step.value > 1
        assert _CONSTANTS.setdefault(step.constant, step.value) == step.value


def _converted(number: float, steps: tuple[Conversion, ...]) -> float:
    for step in steps:
        number = number / step.value if step.divide else number * step.value
    return number


def _in_unit(amount: Fraction, unit: str) -> str:
    """Write an amount of base units as a number in a unit, with more digits than a double has."""
    number = amount / UNITS[unit][1]
    return f"{Decimal(number.numerator) / Decimal(number.denominator)} {unit}"


@SOME
@given(givens(), numbers("data", 3), st.data())
def test_the_unit_of_an_input_does_not_change_results(
    texts: dict[str, str], tree: Expr, data: st.DataObject
) -> None:
    _, expected = _expected(tree, texts, "GiB")
    other = dict(texts)
    for name, unit in INPUTS.items():
        units = [candidate for candidate, (dimension, _) in UNITS.items() if dimension == UNITS[unit][0]]
        other[name] = _in_unit(Fraction(texts[name]) * UNITS[unit][1], data.draw(st.sampled_from(units)))
    formula = print_formula(tree)
    first, second = (run_text(write_model(written, formula, "GiB")) for written in (texts, other))
    assert first.codes == second.codes
    if first.results is not None:
        assert second.values["result"] == pytest.approx(first.values["result"], rel=1e-12, abs=expected)


@FEW
@given(st.data())
def test_the_units_of_the_flagships_inputs_do_not_change_its_results(data: st.DataObject) -> None:
    flagship = _flagship()
    assert flagship.plan is not None
    own = tuple(symbol for symbol, _ in flagship.plan.model.units)
    lines = ["extends: llm-serving", "quantities:"]
    for quantity in flagship.plan.model.quantities.values():
        if not isinstance(quantity.definition, Given) or quantity.unit is None:
            continue
        others = {
            "%": "fraction",
            "fraction": "%",
            "ms": "s",
            "s": "ms",
            "us": "ms",
            "GiB": "MiB",
            "day": "hour",
        }
        above, slash, below = quantity.unit.text.partition("/")
        unit = parse_unit(f"{others.get(above, above)}{slash}{below}", own)
        if not data.draw(st.booleans()) or unit.dimension != quantity.unit.dimension:
            continue
        number = Fraction(quantity.definition.value) * quantity.unit.size / unit.size
        text = f"{Decimal(number.numerator) / Decimal(number.denominator)} {unit}"
        lines.append(f"  {quantity.id}: {{value: {text}, source: s}}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plan.yaml"
        path.write_text("\n".join(lines) + ("" if len(lines) > 2 else " {}") + "\n")
        run = run_path(path)
    assert run.results is not None, run.found
    assert flagship.results is not None
    for scenario, result in flagship.results.scenarios.items():
        again = run.results.scenarios[scenario]
        assert again.verdict == result.verdict
        for name, value in result.values.items():
            assert again.values[name] == (
                pytest.approx(value, rel=1e-12) if isinstance(value, float) else value
            )


_KEPT: dict[str, Run] = {}


def _flagship() -> Run:
    if not _KEPT:
        _KEPT["llm-serving"] = run_path(models_root() / "llm-serving" / "model.yaml")
    return _KEPT["llm-serving"]


# A formula's meaning.


def _expected(tree: Expr, texts: Mapping[str, str], unit: str) -> tuple[Fraction, float]:
    """Return the exact value in a unit, and how far doubles may be from it; rejects what hangs on last digits."""
    try:
        exact = number_of(tree, meanings(texts))
    except FailedError:
        return Fraction(0), math.inf
    except FragileError:
        assume(False)
        raise
    size = UNITS[unit][1]
    return exact.value / size, float(exact.error / size)


@settings(SOME, max_examples=250)
@given(
    givens(),
    st.sampled_from(["count", "%", "GiB", "B", "ms", "hour", "MB/hour", "GPU"]).flatmap(
        lambda unit: st.tuples(st.just(unit), numbers(UNITS[unit][0], 3))
    ),
)
def test_the_evaluator_agrees_with_a_simple_reading_of_the_language(
    texts: dict[str, str], asked: tuple[str, Expr]
) -> None:
    unit, tree = asked
    value, error = _expected(tree, texts, unit)
    run = run_text(write_model(texts, print_formula(tree), unit))
    if error == math.inf:
        assert run.results is None
        assert set(run.codes) <= {"CG601", "CG602"}
        return
    assert run.results is not None, run.found
    found = run.values["result"]
    assert isinstance(found, float)
    assert abs(Fraction(found) - value) <= Fraction(error) + abs(value) * Fraction(1, 10**14)


@SOME
@given(givens(), conditions(3))
def test_conditions_agree_with_a_simple_reading_of_the_language(texts: dict[str, str], tree: Expr) -> None:
    try:
        expected = mean(tree, meanings(texts))
    except (FailedError, FragileError):
        assume(False)
        raise
    assert run_text(write_model(texts, print_formula(tree), "yes/no")).values["result"] is expected


ONES = dict.fromkeys(INPUTS, "1") | dict.fromkeys(FLAGS, "false") | dict.fromkeys(CHOICES, "fast")


def _as_values(texts: Mapping[str, str]) -> dict[str, Value]:
    return {
        name: float(text) if name in INPUTS else text == "true" if name in FLAGS else text
        for name, text in texts.items()
    }


@settings(SOME, max_examples=60)
@given(st.lists(givens(), min_size=2, max_size=6), numbers("plain", 3))
def test_lanes_side_by_side_are_lanes_one_at_a_time(lanes: list[dict[str, str]], tree: Expr) -> None:
    # `off` keeps the base values, which no lane uses, from having no value.
    plan = plan_of(write_model(ONES, f"if(off, {print_formula(tree)}, 1)", "count"))
    settings_of = [_as_values(texts) | {"off": True} for texts in lanes]
    together = calculate(
        plan, {name: [lane[name] for lane in settings_of] for name in settings_of[0]}, len(lanes)
    )
    for number, lane in enumerate(settings_of):
        alone = calculate(plan, {name: [value] for name, value in lane.items()}, 1)
        assert bool(alone.failures) == together.failed()[number]
        if not alone.failures:
            assert together.values["result"][number] == pytest.approx(alone.values["result"][0], rel=1e-14)


@settings(SOME, max_examples=60)
@given(st.lists(givens(), min_size=1, max_size=5), numbers("plain", 2), conditions(1))
def test_if_never_evaluates_the_branch_it_does_not_take(
    lanes: list[dict[str, str]], tree: Expr, condition: Expr
) -> None:
    inner, asked = print_formula(tree), print_formula(condition)
    plan = plan_of(write_model(ONES | {"zero": "0"}, f"if({asked}, 1 / zero, 5)", "count"))
    free = plan_of(
        write_model(ONES | {"zero": "0"}, f"if({asked}, 5, if(not ({asked}), 7, {inner} / zero))", "count")
    )
    overrides = {name: [_as_values(lane)[name] for lane in lanes] for name in lanes[0]}
    taken = [mean_or_reject(condition, lane) for lane in lanes]
    columns = calculate(plan, overrides, len(lanes))
    assert columns.failed().tolist() == taken
    assert all(columns.values["result"][lane] == 5.0 for lane in range(len(lanes)) if not taken[lane])
    assert calculate(free, overrides, len(lanes)).failures == ()


def mean_or_reject(tree: Expr, texts: Mapping[str, str]) -> bool:
    try:
        return bool(mean(tree, meanings(texts)))
    except (FailedError, FragileError):
        assume(False)
        raise


@MANY
@given(st.integers(-(10**6), 10**6), st.floats(-4e-10, 4e-10), st.sampled_from(["ceil", "floor", "round"]))
def test_rounding_is_guarded_close_to_whole_numbers(whole: int, distance: float, name: str) -> None:
    assume(abs(whole) < 10**6 or abs(distance) < 1e-10)
    assert FUNCTIONS[name].compute(np.array([whole + distance]))[0] == whole


@MANY
@given(st.integers(-(10**5), 10**5), st.integers(1, 10**4))
def test_a_whole_number_of_pieces_is_never_rounded_up(pieces: int, parts: int) -> None:
    size = 1 / parts
    assert FUNCTIONS["ceil"].compute(np.array([pieces * size * parts]))[0] == pieces
    assert FUNCTIONS["floor"].compute(np.array([pieces * (size * parts)]))[0] == pieces


@MANY
@given(st.decimals(-(10**5), 10**5, places=4))
def test_halves_are_rounded_away_from_zero(number: Decimal) -> None:
    expected = math.floor(abs(number) + Decimal("0.5")) * (-1 if number < 0 else 1)
    assert FUNCTIONS["round"].compute(np.array([float(number)]))[0] == expected


# The resolved plan, and the same bytes each time.


@settings(SOME, max_examples=60)
@given(givens(), givens(), numbers("data", 2), conditions(2))
def test_a_resolved_plan_says_the_same(
    texts: dict[str, str], more: dict[str, str], tree: Expr, condition: Expr
) -> None:
    sets = ", ".join(f"{name}: {text}" for name, text in more.items())
    scenarios = f"""
scenarios:
  base: {{}}
  other: {{set: {{{sets}}}}}
  measured: {{extends: other, set: {{result: 7 MB}}}}
checks:
  k:
    condition: |
      {print_formula(condition)}
    message: "{{result:2 MB}} {{mode}} {{share:1 %}}"
"""
    text = write_model(texts, print_formula(tree), "GiB") + scenarios
    run = run_text(text)
    assume(run.results is not None)
    assert run.plan is not None
    again = run_text(emit(run.plan).data)
    assert again.results == run.results, again.found


_PRINT_ALL = """
import hashlib
from capgraph.cli.values import results_json
from capgraph.compiler import compile_model
from capgraph.emit.resolved import emit
from capgraph.evaluate import evaluate
from capgraph.resources import models_root
for name in ("llm-serving", "published-answers"):
    plan = compile_model(models_root() / name / "model.yaml").plan
    results, _ = evaluate(plan)
    parts = (plan.steps, plan.constants, plan.messages, plan.uses, plan.used_by, tuple(plan.model.quantities), results)
    print(hashlib.sha256(repr(parts).encode()).hexdigest())
    print(hashlib.sha256(emit(plan).data).hexdigest())
    print(hashlib.sha256(results_json(plan, results, tuple(plan.model.quantities)).encode()).hexdigest())
"""


def test_the_same_input_gives_the_same_plan_results_and_bytes_in_any_process() -> None:
    root = Path(__file__).parents[1]
    printed = set()
    for seed in ("0", "4242"):
        environment = {**os.environ, "PYTHONPATH": str(root), "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", _PRINT_ALL], env=environment, capture_output=True, text=True, check=True
        )
        printed.add(done.stdout)
    (only,) = printed
    assert len(only.split()) == 6
    flagship = _flagship()
    assert flagship.plan is not None
    assert hashlib.sha256(emit(flagship.plan).data).hexdigest() == only.split()[1]


@pytest.mark.parametrize("name", ["llm-serving", "published-answers"])
def test_a_derivation_ends_with_its_target_and_cites_only_what_stands_above(name: str) -> None:
    run = run_path(models_root() / name / "model.yaml")
    assert run.plan is not None
    assert run.results is not None
    for scenario in list(run.results.scenarios)[:3]:
        for target in run.plan.model.quantities:
            above: set[str] = set()
            for line in derive(run.plan, scenario, run.results.scenarios[scenario], (target,)):
                assert set(line.needs) <= above
                above.add(line.quantity.id)
            assert line.quantity.id == target


def test_exact_numbers_know_how_far_doubles_may_be() -> None:
    third = number_of(binary("/", tree_of("1"), tree_of("3")), {})
    assert isinstance(third, Exact)
    assert 0 < abs(Fraction(1 / 3) - third.value) <= third.error < Fraction(1, 10**14)
