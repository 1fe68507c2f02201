"""Formulas in words: a formula tree in → text with labels in place of names, for readers who do not trace
cells.

Invariant: brackets stand wherever the order of operations needs them, so the words mean what the formula
means.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import assert_never

from capgraph.formula.tree import (
    Binary,
    Call,
    Expr,
    Number,
    Reduce,
    Reference,
    Scale,
    Text,
    Truth,
    Unary,
    children,
    walk,
)

Label = Callable[[str], str]

_OR, _AND, _NOT, _COMPARE, _SUM, _PRODUCT, _SIGN, _POWER, _ATOM = range(1, 10)
_LEVELS = {"or": _OR, "and": _AND, "+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "^": _POWER}
_SIGNS = {
    "-": "−", "*": "×", "/": "÷", "<": "is below", "<=": "is at most", ">": "is above", ">=": "is at least", "=": "is",
    "<>": "is not",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Phrase:
    text: str
    level: int

    def within(self, level: int) -> str:
        return self.text if self.level >= level else f"({self.text})"


def say(expr: Expr, label: Label) -> str:
    """Write a formula with labels, such as `Users × Requests per user ÷ Hours per day`."""
    said: dict[int, _Phrase] = {}
    for node in reversed(tuple(walk(expr))):
        said[id(node)] = _say(node, [said[id(child)] for child in children(node)], label)
    return said[id(expr)].text


def _say(node: Expr, parts: Sequence[_Phrase], label: Label) -> _Phrase:
    match node:
        case Number():
            return _Phrase(node.text, _ATOM)
        case Text():
            return _Phrase(f"“{node.value}”", _ATOM)
        case Truth():
            return _Phrase("yes" if node.value else "no", _ATOM)
        case Reference():
            return _Phrase(label(node.name), _ATOM)
        case Unary(op="not"):
            return _Phrase(f"not {parts[0].within(_NOT)}", _NOT)
        case Unary():
            return _Phrase(f"−{parts[0].within(_POWER)}", _SIGN)
        case Binary():
            return _pair(node, parts[0], parts[1])
        case Scale():
            sign = "÷" if node.divide else "×"
            return _Phrase(f"{parts[0].within(_PRODUCT)} {sign} {node.constant.replace('_', ' ')}", _PRODUCT)
        case Call(function="if"):
            condition, then, otherwise = (part.text for part in parts)
            return _Phrase(f"if {condition}, then {then}, else {otherwise}", 0)
        case Reduce():
            return _Phrase(_said_reduction(node, [part.text for part in parts]), _ATOM)
        case Call():
            return _Phrase(f"{node.function}({', '.join(part.text for part in parts)})", _ATOM)
        case _:
            assert_never(node)


def _said_reduction(node: Reduce, parts: list[str]) -> str:
    words = node.function
    for part, before in ((node.value, "of"), (node.condition, "where"), (node.at, "at")):
        if part is not None:
            words += f" {before} {parts.pop(0)}"
    return f"({words}, over the sweep {node.sweep})"


def _pair(node: Binary, left: _Phrase, right: _Phrase) -> _Phrase:
    level = _LEVELS.get(node.op, _COMPARE)
    below, above = level, level + 1
    if node.op in ("and", "or"):
        above = level
    elif level in (_COMPARE, _POWER):
        below = level + 1
    return _Phrase(f"{left.within(below)} {_SIGNS.get(node.op, node.op)} {right.within(above)}", level)
