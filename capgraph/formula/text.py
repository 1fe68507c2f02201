"""Formula tree → the text a person would write, with the fewest brackets that keep its meaning.

In: `Expr`, and how to write a reference → Out: text. Invariant: without a custom writer it parses to the same tree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

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

Writer = Callable[[Reference | Scale], str]


def _named(node: Reference | Scale) -> str:
    return node.name if isinstance(node, Reference) else node.constant


def print_formula(expr: Expr, write: Writer = _named) -> str:
    """Return the formula as text in the language's own spelling; `write` spells references and constants."""
    return _print(expr, write)[0]


def _print(expr: Expr, write: Writer) -> tuple[str, int]:
    """Return the text and the level at which it binds."""
    match expr:
        case Number():
            return expr.text, _ATOM
        case Text():
            return f"'{expr.value}'" if '"' in expr.value else f'"{expr.value}"', _ATOM
        case Truth():
            return ("true" if expr.value else "false"), _ATOM
        case Reference():
            return write(expr), _ATOM
        case Unary(op="not"):
            return f"not {_at_least(expr.operand, 3, write)}", 3
        case Unary():
            return f"-{_at_least(expr.operand, _SIGN, write)}", _SIGN
        case Binary():
            return _binary(expr, write)
        case Call():
            return (
                f"{expr.function}({', '.join(print_formula(item, write) for item in expr.arguments)})",
                _ATOM,
            )
        case Reduce():
            return _reduction(expr, write), _ATOM
        case Scale():
            sign = "/" if expr.divide else "*"
            return f"{_at_least(expr.operand, 6, write)} {sign} {write(expr)}", 6
        case _:
            assert_never(expr)


def _reduction(expr: Reduce, write: Writer) -> str:
    # What stands before `over` has another value at each point, so that names are kept in it.
    parts = [print_formula(part) for part in (expr.value or expr.condition,) if part is not None]
    if expr.value is not None and expr.condition is not None:
        parts.append(f"where {print_formula(expr.condition)}")
    if expr.at is not None:
        parts.append(f"at {print_formula(expr.at, write)}")
    return f"{expr.function}({' '.join(parts)} over {expr.sweep})"


def _binary(expr: Binary, write: Writer) -> tuple[str, int]:
    if expr.op == "^":
        left = _at_least(expr.left, _ATOM, write)
        exponent, level = _print(expr.right, write)
        bare = level == _ATOM or (
            level == _SIGN and isinstance(expr.right, Unary) and isinstance(expr.right.operand, Number | Reference)
        )
        return f"{left}^{exponent if bare else f'({exponent})'}", _POWER
    level = _LEVEL[expr.op]
    # Comparisons do not chain, and a chain of + - or * / groups to the left: the right side needs the next level.
    left = _at_least(expr.left, level + 1 if level == 4 else level, write)
    return f"{left} {expr.op} {_at_least(expr.right, level + 1, write)}", level


def _at_least(expr: Expr, level: int, write: Writer) -> str:
    text, binds = _print(expr, write)
    return text if binds >= level else f"({text})"
