"""The Excel printer: a formula tree in → the formula text out, without its `=`.

Invariant: a spreadsheet that reads the text computes what the tree means, in the same order of operations.
Excel binds a minus tighter than a power and reads `2^3^2` from the left, so such operands stand in brackets.
A catalog value that is missing is the text "n/a". Arithmetic turns it into an error by itself; MIN, MAX, AND,
OR and comparisons would skip or sort it, so there the reference gets a `+0`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, Protocol, assert_never

from capgraph.formula.functions import FUNCTIONS
from capgraph.formula.tree import (
    COMPARISONS,
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

# Excel counts 255 UTF-16 units, of which a character outside the basic plane takes two.
LONGEST_LITERAL = 127
MOST_ARGUMENTS = 255

_COMPARE, _JOIN, _SUM, _PRODUCT, _POWER, _SIGN, _ATOM = range(1, 8)
_LEVELS = {"+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "^": _POWER} | dict.fromkeys(
    COMPARISONS, _COMPARE
)

Kind = Literal["number", "yes/no", "text"]


class Spelling(Protocol):
    """How a formula names things where it stands: by defined names, or by the cells of its own column."""

    def quantity(self, name: str) -> str:
        """Return the name or the cell of a quantity."""

    def constant(self, name: str) -> str:
        """Return the name of a unit conversion."""

    def missing(self, name: str) -> Kind | None:
        """Return what a quantity holds if it may hold "n/a" instead, else nothing."""

    def reduced(self, node: Reduce) -> str:
        """Return the formula of a reduction over a sweep's cells."""

    def exact(self, name: str) -> bool:
        """Say whether two texts that the quantity may hold differ by case alone, or may once a reader adds some."""


@dataclass(frozen=True, slots=True)
class _Piece:
    text: str
    level: int

    def within(self, level: int) -> str:
        return self.text if self.level >= level else f"({self.text})"


def print_excel(expr: Expr, spelling: Spelling) -> str:
    """Write a formula as Excel reads it."""
    printed: dict[int, _Piece] = {}
    # Children before parents, and no recursion: a sum may have more terms than Python has frames.
    for node in reversed(tuple(walk(expr))):
        operands = tuple(_Operand(child, printed[id(child)], spelling) for child in children(node))
        printed[id(node)] = _print(node, operands, spelling)
    return _Operand(expr, printed[id(expr)], spelling).value


@dataclass(frozen=True, slots=True)
class _Operand:
    node: Expr
    piece: _Piece
    spelling: Spelling

    @property
    def _kind(self) -> Kind | None:
        return self.spelling.missing(self.node.name) if isinstance(self.node, Reference) else None

    @property
    def checked(self) -> _Piece:
        """The operand where "n/a" would be skipped or sorted: made an error."""
        return _Piece(f"{self.piece.text}+0", _SUM) if self._kind in ("number", "yes/no") else self.piece

    @property
    def value(self) -> str:
        """The operand as a result: "n/a" made an error, a yes/no left a yes/no."""
        return f"AND({self.checked.text})" if self._kind == "yes/no" else self.checked.text


def _print(node: Expr, operands: Sequence[_Operand], spelling: Spelling) -> _Piece:
    match node:
        case Number():
            return _number(node.value)
        case Text():
            return _Piece(literal(node.value), _ATOM if len(node.value) <= LONGEST_LITERAL else _JOIN)
        case Truth():
            return _Piece(truth(node.value), _ATOM)
        case Reference():
            return _Piece(spelling.quantity(node.name), _ATOM)
        case Unary():
            return _unary(node, operands[0])
        case Binary():
            return _binary(node, operands[0], operands[1])
        case Scale():
            operator = "/" if node.divide else "*"
            return _Piece(
                f"{operands[0].piece.within(_PRODUCT)}{operator}{spelling.constant(node.constant)}", _PRODUCT
            )
        case Call():
            return _call(node.function, operands)
        case Reduce():
            return _Piece(spelling.reduced(node), _ATOM)
        case _:
            assert_never(node)


def _unary(node: Unary, operand: _Operand) -> _Piece:
    if node.op == "not":
        return _Piece(f"NOT({operand.piece.text})", _ATOM)
    text = operand.piece.text
    if operand.piece.level == _PRODUCT and not text.startswith("-") and not _begins_with_power(operand.node):
        # (-a)*b is -(a*b) to the last bit, and IronCalc loses the brackets of `c/(-(a*b))`.
        return _Piece(f"-{text}", _PRODUCT)
    return _Piece(f"-{operand.piece.within(_ATOM)}", _SIGN)


def _begins_with_power(node: Expr) -> bool:
    """Say whether a product's first factor is a power, to which a minus before it would bind tighter."""
    while isinstance(node, Scale) or (isinstance(node, Binary) and node.op in ("*", "/")):
        node = node.operand if isinstance(node, Scale) else node.left
    return isinstance(node, Binary) and node.op == "^"


def _binary(node: Binary, left: _Operand, right: _Operand) -> _Piece:
    if node.op in ("and", "or"):
        return _Piece(_both(node, left, right), _ATOM)
    if node.op in ("=", "<>") and _is_exact(left, right):
        same = f"EXACT({left.piece.text},{right.piece.text})"
        return _Piece(same if node.op == "=" else f"NOT({same})", _ATOM)
    level = _LEVELS[node.op]
    if level == _COMPARE:
        return _Piece(f"{left.checked.within(_JOIN)}{node.op}{right.checked.within(_JOIN)}", level)
    # A signed right operand would be legal, but `a--b` is not what a person writes.
    above = _ATOM if level == _POWER or right.piece.text.startswith("-") else level + 1
    first = left.piece.within(_ATOM if level == _POWER else level)
    return _Piece(f"{first}{node.op}{right.piece.within(above)}", level)


def _both(node: Binary, left: _Operand, right: _Operand) -> str:
    """Join `a and b and c` into one call as long as it has room for another argument."""
    count, inner = 2, node.left
    while isinstance(inner, Binary) and inner.op == node.op:
        count, inner = count + 1, inner.left
    if count == 2 or count % (MOST_ARGUMENTS - 1) == 2:
        return f"{node.op.upper()}({left.checked.text},{right.checked.text})"
    return f"{left.piece.text[:-1]},{right.checked.text})"


def _is_exact(left: _Operand, right: _Operand) -> bool:
    names = [side.node.name for side in (left, right) if isinstance(side.node, Reference)]
    return any(left.spelling.exact(name) for name in names)


def _call(function: str, operands: Sequence[_Operand]) -> _Piece:
    if function == "if":
        condition, *branches = operands
        return _Piece(f"IF({condition.piece.text},{','.join(branch.value for branch in branches)})", _ATOM)
    record = FUNCTIONS[function]
    arguments = [operand.checked.text for operand in operands]
    if record.variadic and len(arguments) > MOST_ARGUMENTS:
        return _Piece(_chain(record.excel.partition("(")[0], arguments), _ATOM)
    return _Piece(record.excel.format(*arguments, all=",".join(arguments)), _ATOM)


def _chain(function: str, arguments: Sequence[str]) -> str:
    """Apply a function that may be applied to its own results, over as many arguments as there are."""
    while len(arguments) > MOST_ARGUMENTS:
        groups = [
            arguments[start : start + MOST_ARGUMENTS] for start in range(0, len(arguments), MOST_ARGUMENTS)
        ]
        arguments = [f"{function}({','.join(group)})" for group in groups]
    return f"{function}({','.join(arguments)})"


def _number(value: float) -> _Piece:
    text = str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))
    if "e" in text:
        # Positional where that is short: not every engine reads `1E-3`, and none writes `1e-3`.
        plain = format(Decimal(text), "f")
        text = plain if len(plain) <= 21 else text.upper()
    return _Piece(text, _ATOM if value >= 0 else _SIGN)


def truth(value: bool) -> str:
    """Write a truth value as a call, which every engine reads."""
    return "TRUE()" if value else "FALSE()"


def literal(text: str) -> str:
    """Write a text as a string literal, in pieces of a length that Excel takes."""
    pieces = [text[start : start + LONGEST_LITERAL] for start in range(0, len(text), LONGEST_LITERAL)] or [""]
    return "&".join('"' + piece.replace('"', '""') + '"' for piece in pieces)
