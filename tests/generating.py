"""Random formulas with units, and what they mean: a second, slow and simple reading of the language.

In: hypothesis' choices → Out: trees that fit their units, and their value in base units as exact fractions.
Invariant: nothing here uses the compiler's units, elaboration or arithmetic; sizes of units are written out below.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from hypothesis import strategies as st

from capgraph.diagnostics import Source, Span
from capgraph.formula.tree import Binary, BinaryOp, Call, Expr, Number, Reference, Text, Truth, Unary

SPAN = Span(Source("random", ""), 1, 1, 1, 1)
EPSILON = Fraction(1, 2**50)
LARGEST = Fraction(10) ** 60

# The dimension of each unit, and its size in base units: bytes, seconds, plain numbers, GPUs.
UNITS: Mapping[str, tuple[str, Fraction]] = {
    "count": ("plain", Fraction(1)),
    "ratio": ("plain", Fraction(1)),
    "%": ("plain", Fraction(1, 100)),
    "B": ("data", Fraction(1)),
    "KiB": ("data", Fraction(1024)),
    "MB": ("data", Fraction(1000**2)),
    "GiB": ("data", Fraction(1024**3)),
    "s": ("time", Fraction(1)),
    "ms": ("time", Fraction(1, 1000)),
    "hour": ("time", Fraction(3600)),
    "GiB/s": ("rate", Fraction(1024**3)),
    "MB/hour": ("rate", Fraction(1000**2, 3600)),
    "GPU": ("gpu", Fraction(1)),
}
INPUTS: Mapping[str, str] = {
    "n": "count", "r": "ratio", "share": "%", "zero": "count", "big": "GiB", "small": "KiB", "disk": "MB", "wait": "s",
    "tick": "ms", "day": "hour", "speed": "GiB/s", "flow": "MB/hour", "gpus": "GPU",
}  # fmt: skip
FLAGS = ("on", "off")
CHOICES = {"mode": ("fast", "slow"), "tier": ("fast", "slow")}


class FailedError(Exception):
    """The expression has no value."""


class FragileError(Exception):
    """The value hangs on the last digits of a double, so that two right evaluators may differ."""


@dataclass(frozen=True, slots=True)
class Exact:
    """A number in base units, and how far a calculation in doubles may be from it."""

    value: Fraction
    error: Fraction

    @classmethod
    def of(cls, value: Fraction, error: Fraction = Fraction(0)) -> Exact:
        """Make a number that doubles round."""
        if abs(value) > LARGEST or (value and abs(value) < 1 / LARGEST):
            raise FragileError
        return cls(value, error + abs(value) * EPSILON)


Meaning = Exact | bool | str


def mean(expr: Expr, given: Mapping[str, Meaning]) -> Meaning:
    """Return what an expression means. Raises FailedError or FragileError."""
    match expr:
        case Number():
            percent = expr.text.endswith("%")
            number = Fraction(expr.text.rstrip("% ").replace("_", ""))
            return Exact.of(number / 100 if percent else number)
        case Text() | Truth():
            return expr.value
        case Reference():
            return given[expr.name]
        case Unary(op="not"):
            return not mean(expr.operand, given)
        case Unary():
            operand = number_of(expr.operand, given)
            return Exact(-operand.value, operand.error)
        case Binary():
            return _binary(expr.op, mean(expr.left, given), mean(expr.right, given))
        case Call(function="if"):
            condition, yes, no = expr.arguments
            return mean(yes if mean(condition, given) else no, given)
        case Call():
            return _FUNCTIONS[expr.function](*(number_of(item, given) for item in expr.arguments))
        case _:
            raise TypeError(expr)


def number_of(expr: Expr, given: Mapping[str, Meaning]) -> Exact:
    """Return what an expression means that is a number."""
    value = mean(expr, given)
    assert isinstance(value, Exact)
    return value


def _binary(op: BinaryOp, left: Meaning, right: Meaning) -> Meaning:
    if op in ("and", "or"):
        return (left and right) if op == "and" else (left or right)
    if op in ("=", "<>"):
        return (left == right) == (op == "=")
    assert isinstance(left, Exact)
    assert isinstance(right, Exact)
    a, b = left.value, right.value
    match op:
        case "+":
            return Exact.of(a + b, left.error + right.error)
        case "-":
            return Exact.of(a - b, left.error + right.error)
        case "*":
            return Exact.of(a * b, abs(a) * right.error + abs(b) * left.error + left.error * right.error)
        case "/":
            _away_from_zero(right)
            return Exact.of(a / b, (abs(a) * right.error + abs(b) * left.error) * 2 / (b * b))
        case "^":
            return _power(left, b)
        case _:
            if abs(a - b) <= left.error + right.error:
                raise FragileError
            return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[op]


def _away_from_zero(number: Exact) -> None:
    if abs(number.value) <= number.error:
        raise FragileError if number.error else FailedError
    if number.error * 1000 > abs(number.value):
        raise FragileError


def _power(base: Exact, exponent: Fraction) -> Exact:
    if exponent <= 0:
        _away_from_zero(base)
    value = base.value**exponent
    assert isinstance(value, Fraction)
    spread = abs(exponent) * base.error / abs(base.value) if base.value else Fraction(0)
    return Exact.of(value, 2 * abs(value) * (spread + 4 * EPSILON))


def _count(number: Exact, whole: Callable[[Fraction], int]) -> Exact:
    """Round to 9 decimals, half away from zero, then to a whole number; what lies on an edge is fragile."""
    scaled, error = abs(number.value) * 10**9, number.error * 10**9
    if scaled >= 2**52 or abs(scaled - math.floor(scaled) - Fraction(1, 2)) <= 2 * error + Fraction(1, 1000):
        raise FragileError
    rounded = Fraction(math.floor(scaled + Fraction(1, 2)), 10**9)
    return Exact.of(Fraction(whole(-rounded if number.value < 0 else rounded)))


def _half_away(value: Fraction) -> int:
    return math.floor(abs(value) + Fraction(1, 2)) * (-1 if value < 0 else 1)


def _sqrt(number: Exact) -> Exact:
    if number.value == number.error == 0:
        return number
    if number.value < -number.error:
        raise FailedError
    _away_from_zero(number)
    root = Fraction(math.sqrt(number.value))
    return Exact.of(root, number.error / root + 4 * EPSILON * root)


def _ln(number: Exact) -> Exact:
    if number.value < -number.error:
        raise FailedError
    _away_from_zero(number)
    return Exact.of(Fraction(math.log(number.value)), 2 * number.error / number.value + 8 * EPSILON)


def _exp(number: Exact) -> Exact:
    if abs(number.value) > 100:
        raise FragileError
    value = Fraction(math.exp(number.value))
    return Exact.of(value, value * (2 * number.error + 4 * EPSILON))


def _widest(pick: Callable[[list[Fraction]], Fraction], numbers: tuple[Exact, ...]) -> Exact:
    return Exact(pick([number.value for number in numbers]), max(number.error for number in numbers))


_FUNCTIONS: Mapping[str, Callable[..., Exact]] = {
    "min": lambda *numbers: _widest(min, numbers),
    "max": lambda *numbers: _widest(max, numbers),
    "clamp": lambda x, low, high: _widest(
        lambda values: max(values[1], min(values[0], values[2])), (x, low, high)
    ),
    "abs": lambda x: Exact(abs(x.value), x.error),
    "ceil": lambda x: _count(x, math.ceil),
    "floor": lambda x: _count(x, math.floor),
    "round": lambda x: _count(x, _half_away),
    "sqrt": _sqrt,
    "ln": _ln,
    "exp": _exp,
}


def reference(name: str) -> Reference:
    """Make a reference that stands nowhere."""
    return Reference(name, SPAN)


def call(function: str, *arguments: Expr) -> Call:
    """Make a call that stands nowhere."""
    return Call(function, arguments, SPAN)


def binary(op: BinaryOp, left: Expr, right: Expr) -> Binary:
    """Make an operation that stands nowhere."""
    return Binary(op, left, right, SPAN)


def literal(text: str) -> Number:
    """Make a number that stands nowhere."""
    return Number(float(Fraction(text.rstrip("%"))) / (100 if "%" in text else 1), text, SPAN)


LITERALS = st.sampled_from(["0.5", "2", "3", "7", "10", "0.125", "25%", "1000", "1.5e1"]).map(literal)


@cache
def numbers(dimension: str, depth: int) -> st.SearchStrategy[Expr]:
    """Return trees of numbers of a dimension."""
    leaves: st.SearchStrategy[Expr] = st.sampled_from(
        [name for name, unit in INPUTS.items() if UNITS[unit][0] == dimension]
    ).map(reference)
    if dimension == "plain":
        leaves = leaves | LITERALS
    if depth == 0:
        return leaves
    same, plain = numbers(dimension, depth - 1), numbers("plain", depth - 1)
    kinds = [
        leaves,
        st.builds(binary, st.sampled_from(["+", "-"]), same, same),
        st.builds(binary, st.just("*"), plain, same),
        st.builds(binary, st.sampled_from(["*", "/"]), same, plain),
        st.builds(lambda x: Unary("-", x, SPAN), same),
        st.builds(call, st.sampled_from(["min", "max"]), same, same),
        st.builds(call, st.just("clamp"), same, same, same),
        st.builds(call, st.just("abs"), same),
        st.builds(call, st.just("if"), conditions(depth - 1), same, same),
    ]
    if dimension in ("plain", "gpu"):
        kinds.append(st.builds(call, st.sampled_from(["ceil", "floor", "round"]), same))
    kinds.extend(_mixed(dimension, depth - 1))
    return st.one_of(kinds)


def _mixed(dimension: str, depth: int) -> list[st.SearchStrategy[Expr]]:
    """Return the kinds whose operands have another dimension than the result."""
    data, time, rate, gpu = (numbers(name, depth) for name in ("data", "time", "rate", "gpu"))
    if dimension == "data":
        return [st.builds(binary, st.just("*"), rate, time)]
    if dimension == "rate":
        return [st.builds(binary, st.just("/"), data, time)]
    if dimension == "plain":
        plain = numbers("plain", depth)
        exponents = st.sampled_from(["2", "3", "1"]).map(literal)
        return [
            st.builds(binary, st.just("/"), data, data),
            st.builds(binary, st.just("/"), gpu, gpu),
            st.builds(binary, st.just("/"), time, time),
            st.builds(binary, st.just("^"), plain, exponents),
            st.builds(binary, st.just("^"), plain, exponents.map(lambda n: Unary("-", n, SPAN))),
            st.builds(call, st.sampled_from(["sqrt", "ln", "exp"]), plain),
        ]
    return []


@cache
def conditions(depth: int) -> st.SearchStrategy[Expr]:
    """Return trees of yes/no."""
    leaves: st.SearchStrategy[Expr] = st.one_of(
        st.sampled_from(FLAGS).map(reference),
        st.booleans().map(lambda value: Truth(value, SPAN)),
        st.builds(
            lambda op, value: binary(op, reference("mode"), Text(value, SPAN)),
            st.sampled_from(["=", "<>"]),
            st.sampled_from(["fast", "slow"]),
        ),
        st.builds(
            binary, st.sampled_from(["=", "<>"]), st.just(reference("mode")), st.just(reference("tier"))
        ),
    )
    if depth == 0:
        return leaves
    inner = conditions(depth - 1)
    compared = [
        st.builds(
            binary,
            st.sampled_from(["<", "<=", ">", ">="]),
            numbers(name, depth - 1),
            numbers(name, depth - 1),
        )
        for name in ("plain", "data", "time", "rate", "gpu")
    ]
    kinds = [leaves, st.builds(binary, st.sampled_from(["and", "or"]), inner, inner)]
    return st.one_of(*kinds, st.builds(lambda x: Unary("not", x, SPAN), inner), *compared)


AMOUNTS = st.builds(
    lambda digits, places: f"{digits / 10**places:.{places}f}", st.integers(-9_999, 99_999), st.integers(0, 3)
)


@st.composite
def givens(draw: st.DrawFn) -> dict[str, str]:
    """Return a text for each input: a number in its unit, a yes/no, an option."""
    made = {name: "0" if name == "zero" else draw(AMOUNTS) for name in INPUTS}
    made |= {name: draw(st.sampled_from(["true", "false"])) for name in FLAGS}
    return made | {name: draw(st.sampled_from(options)) for name, options in CHOICES.items()}


def meanings(texts: Mapping[str, str]) -> dict[str, Meaning]:
    """Return what the inputs mean, in base units."""
    made: dict[str, Meaning] = {}
    for name, text in texts.items():
        if name in INPUTS:
            made[name] = Exact.of(Fraction(text) * UNITS[INPUTS[name]][1])
        else:
            made[name] = text == "true" if name in FLAGS else text
    return made


def write_model(texts: Mapping[str, str], formula: str, unit: str) -> str:
    """Write the model whose inputs are given and whose `result` is a formula."""
    lines = ["model: random", "quantities:"]
    for name, text in texts.items():
        if name in INPUTS:
            lines.append(f"  {name}: {{value: {text}, unit: '{INPUTS[name]}', source: s}}")
        elif name in FLAGS:
            lines.append(f"  {name}: {{value: {text}, source: s}}")
        else:
            lines.append(f"  {name}: {{choose: [fast, slow], default: {text}, source: s}}")
    quoted = formula.replace("'", "''")
    lines.append(f"  result: {{unit: '{unit}', formula: '{quoted}'}}")
    return "\n".join(lines) + "\n"
