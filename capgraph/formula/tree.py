"""The formula tree: a closed set of node kinds.

In: nothing → Out: the types that the parser makes, `check` elaborates and every printer matches over.
Invariant: nodes are frozen; two trees are equal when they mean the same, wherever they were written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, assert_never

from capgraph.diagnostics import Span

BinaryOp = Literal["+", "-", "*", "/", "^", "<", "<=", ">", ">=", "=", "<>", "and", "or"]
UnaryOp = Literal["-", "not"]

COMPARISONS = ("<", "<=", ">", ">=", "=", "<>")


@dataclass(frozen=True, slots=True)
class Number:
    """A number as written; `text` keeps the spelling (`1_000`, `30%`)."""

    value: float
    text: str = field(compare=False)
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Text:
    """A quoted text: an option of a choice, compared with `=` or `<>`."""

    value: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Truth:
    """`true` or `false`."""

    value: bool
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Reference:
    """A quantity by its id, or a field of a chosen catalog row as `choice.field`."""

    name: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Unary:
    """`-x` or `not x`."""

    op: UnaryOp
    operand: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Binary:
    """Arithmetic, a comparison, or `and`/`or` between two operands."""

    op: BinaryOp
    left: Expr
    right: Expr
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A function of the table, or `if`, applied to its arguments."""

    function: str
    arguments: tuple[Expr, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Reduce:
    """A reduction over a sweep: `sum(a over s)`, `first(a where b over s)`, `interpolate(a at x over s)`.

    `count(condition over s)` has its condition in `condition` and no value.
    """

    function: str
    value: Expr | None
    condition: Expr | None
    at: Expr | None
    sweep: str
    span: Span = field(compare=False, repr=False)
    sweep_span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Scale:
    """A visible unit conversion: the operand times or over a named constant. Only `check` inserts it."""

    operand: Expr
    constant: str
    value: float
    divide: bool
    span: Span = field(compare=False, repr=False)


Expr = Number | Text | Truth | Reference | Unary | Binary | Call | Reduce | Scale


def children(expr: Expr) -> tuple[Expr, ...]:
    """Return the operands of a node, left to right."""
    # The frequent kinds first: nothing is called more often.
    match expr:
        case Reference() | Number():
            return ()
        case Binary():
            return (expr.left, expr.right)
        case Unary() | Scale():
            return (expr.operand,)
        case Text() | Truth():
            return ()
        case Call():
            return expr.arguments
        case Reduce():
            return tuple(part for part in (expr.value, expr.condition, expr.at) if part is not None)
        case _:
            assert_never(expr)


def walk(expr: Expr) -> Iterator[Expr]:
    """Yield every node of the tree, parents before children."""
    pending = [expr]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(children(node)))


def reductions(expr: Expr) -> tuple[Reduce, ...]:
    """Return the reductions over a sweep in a formula, in reading order."""
    return tuple(node for node in walk(expr) if isinstance(node, Reduce))


def references(expr: Expr) -> tuple[Reference, ...]:
    """Return the references of a formula in reading order."""
    return tuple(node for node in walk(expr) if isinstance(node, Reference))
