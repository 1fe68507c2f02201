"""Formula tree → the text a person would write, with the fewest brackets that keep its meaning.

In: `Expr`, and how to write a reference → Out: text in the language's own spelling, or in mathematical signs.
Invariant: without a custom writer the language's text parses to the same tree; both notations put the same brackets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import assert_never

from capgraph.formula.functions import FUNCTIONS
from capgraph.formula.tree import Binary, Call, Expr, Number, Reduce, Reference, Scale, Text, Truth, Unary

_LEVEL = {
    "or": 1,
    "and": 2,
    "not": 3,
    "<": 4,
    "<=": 4,
    ">": 4,
    ">=": 4,
    "=": 4,
    "<>": 4,
    "+": 5,
    "-": 5,
    "*": 6,
    "/": 6,
}
_SIGN, _POWER, _ATOM = 7, 8, 9
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")

Writer = Callable[[Reference | Scale], str]


def named(node: Reference | Scale) -> str:
    """Write a reference by its id, and a conversion by its constant's name."""
    return node.name if isinstance(node, Reference) else node.constant


@dataclass(frozen=True, slots=True)
class _Notation:
    """How references, signs and functions are written; `signs` holds what differs from the language."""

    write: Writer
    signs: Mapping[str, str]
    is_maths: bool

    def sign(self, op: str) -> str:
        return self.signs.get(op, op)

    def call(self, expr: Call) -> str:
        arguments = [_print(item, self)[0] for item in expr.arguments]
        listed = ", ".join(arguments)
        if not self.is_maths or expr.function not in FUNCTIONS:
            return f"{expr.function}({listed})"
        return FUNCTIONS[expr.function].maths.format(*arguments, all=listed)

    def power(self, base: str, exponent: str) -> str:
        if self.is_maths and exponent.isdecimal():
            return base + exponent.translate(_SUPERSCRIPTS)
        return f"{base}^{exponent}"


_MATHS = {"*": "×", "/": "÷", "-": "−", "<=": "≤", ">=": "≥", "<>": "≠"}


def print_formula(expr: Expr, write: Writer = named) -> str:
    """Return the formula as text in the language's own spelling; `write` spells references and constants."""
    return _print(expr, _Notation(write, {}, is_maths=False))[0]


def print_maths(expr: Expr, write: Writer = named) -> str:
    """Return the formula in mathematical signs: `⌈users × need⌉`, `2 × a²`."""
    return _print(expr, _Notation(write, _MATHS, is_maths=True))[0]


def _print(expr: Expr, notation: _Notation) -> tuple[str, int]:
    """Return the text and the level at which it binds."""
    match expr:
        case Number():
            return expr.text, _ATOM
        case Text():
            return f"'{expr.value}'" if '"' in expr.value else f'"{expr.value}"', _ATOM
        case Truth():
            return ("true" if expr.value else "false"), _ATOM
        case Reference():
            return notation.write(expr), _ATOM
        case Unary(op="not"):
            return f"not {_at_least(expr.operand, 3, notation)}", 3
        case Unary():
            return f"{notation.sign('-')}{_at_least(expr.operand, _SIGN, notation)}", _SIGN
        case Binary():
            return _binary(expr, notation)
        case Call():
            return notation.call(expr), _ATOM
        case Reduce():
            return _reduction(expr, notation), _ATOM
        case Scale():
            sign = notation.sign("/" if expr.divide else "*")
            return f"{_at_least(expr.operand, 6, notation)} {sign} {notation.write(expr)}", 6
        case _:
            assert_never(expr)


def _reduction(expr: Reduce, notation: _Notation) -> str:
    # What stands before `over` has another value at each point, so that names are kept in it.
    plain = replace(notation, write=named)
    parts = [_print(part, plain)[0] for part in (expr.value or expr.condition,) if part is not None]
    if expr.value is not None and expr.condition is not None:
        parts.append(f"where {_print(expr.condition, plain)[0]}")
    if expr.at is not None:
        parts.append(f"at {_print(expr.at, notation)[0]}")
    return f"{expr.function}({' '.join(parts)} over {expr.sweep})"


def _binary(expr: Binary, notation: _Notation) -> tuple[str, int]:
    if expr.op == "^":
        left = _at_least(expr.left, _ATOM, notation)
        exponent, level = _print(expr.right, notation)
        bare = level == _ATOM or (
            level == _SIGN
            and isinstance(expr.right, Unary)
            and isinstance(expr.right.operand, Number | Reference)
        )
        return notation.power(left, exponent if bare else f"({exponent})"), _POWER
    level = _LEVEL[expr.op]
    # Comparisons do not chain, and a chain of + - or * / groups to the left: the right side needs the next level.
    left = _at_least(expr.left, level + 1 if level == 4 else level, notation)
    return f"{left} {notation.sign(expr.op)} {_at_least(expr.right, level + 1, notation)}", level


def _at_least(expr: Expr, level: int, notation: _Notation) -> str:
    text, binds = _print(expr, notation)
    return text if binds >= level else f"({text})"
