"""Expression → the same expression with its unit known and its conversions visible.

In: a bound tree → Out: (tree with `Scale` nodes, its kind); raises UnitMistakeError where operands do not fit.
Invariant: the unit rules of operators and functions stand here and in the function table, nowhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Never, assert_never

from capgraph.diagnostics import Diagnostic, did_you_mean, known_names
from capgraph.formula.functions import FUNCTIONS
from capgraph.formula.text import print_formula
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
)
from capgraph.model import Choose, Model, Quantity
from capgraph.units import Terms, Unit, convert, parse_unit, power, product, quotient, reduced


@dataclass(frozen=True, slots=True)
class Flag:
    """The kind of a condition: true or false."""


@dataclass(frozen=True, slots=True)
class Words:
    """The kind of a choice or a text field; `options` are its legal values, empty when any text is."""

    options: tuple[str, ...]


Kind = Unit | Flag | Words
ONE = parse_unit("count")
UNCOUNTABLE = frozenset({"second", "USD", "watt_hour", "month"})
_NOUNS = {Flag: "a yes/no", Words: "a text"}


class UnitMistakeError(Exception):
    """Operands that do not go together."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


@dataclass(frozen=True)
class Elaborator:
    """Knows the kinds of a model's quantities."""

    model: Model

    def typed(self, expr: Expr) -> tuple[Expr, Kind]:
        """Return the elaborated tree and its kind. Raises UnitMistakeError."""
        match expr:
            case Number():
                return expr, ONE
            case Text():
                return expr, Words(())
            case Truth():
                return expr, Flag()
            case Reference():
                return expr, self._kind_of(expr.name)
            case Unary():
                return self._unary(expr)
            case Binary(op="and" | "or"):
                return self._logic(expr)
            case Binary(op="*" | "/" | "^"):
                return self._power(expr) if expr.op == "^" else self._product(expr)
            case Binary():
                return self._like(expr)
            case Call():
                return self._call(expr)
            case Reduce():
                return self._reduction(expr)
            case Scale():
                raise TypeError("the tree is elaborated already")
            case _:
                assert_never(expr)

    def _kind_of(self, name: str) -> Kind:
        quantity = self.model.quantities[name]
        if quantity.unit is not None:
            return quantity.unit
        if isinstance(quantity.definition, Choose):
            return Words(quantity.definition.options)
        choice, dot, field = name.partition(".")
        if dot:
            definition = self.model.quantities[choice].definition
            assert isinstance(definition, Choose)
            assert definition.catalog is not None
            catalog = self.model.catalogs[definition.catalog]
            if catalog.fields[field].kind == "text":
                return Words(
                    tuple(
                        dict.fromkeys(
                            str(row.values[field]) for row in catalog.rows.values() if field in row.values
                        )
                    )
                )
        return Flag()

    def _unary(self, expr: Unary) -> tuple[Expr, Kind]:
        operand, kind = self.typed(expr.operand)
        if expr.op == "not":
            self.need_flag(expr.operand, kind, "`not`")
            return replace(expr, operand=operand), Flag()
        return replace(expr, operand=operand), self.need_number(expr.operand, kind, "a sign")

    def _logic(self, expr: Binary) -> tuple[Expr, Kind]:
        sides = []
        for side in (expr.left, expr.right):
            tree, kind = self.typed(side)
            self.need_flag(side, kind, f"`{expr.op}`")
            sides.append(tree)
        return Binary(expr.op, sides[0], sides[1], expr.span), Flag()

    def _product(self, expr: Binary) -> tuple[Expr, Kind]:
        left, left_kind = self.typed(expr.left)
        right, right_kind = self.typed(expr.right)
        left_unit = self.need_number(expr.left, left_kind, f"`{expr.op}`")
        right_unit = self.need_number(expr.right, right_kind, f"`{expr.op}`")
        left, left_unit = self._per_cent_aside(left, left_unit)
        right, right_unit = self._per_cent_aside(right, right_unit)
        unit = product(left_unit, right_unit) if expr.op == "*" else quotient(left_unit, right_unit)
        return Binary(expr.op, left, right, expr.span), unit

    def _per_cent_aside(self, tree: Expr, unit: Unit) -> tuple[Expr, Unit]:
        """Turn per cent into a ratio where it multiplies, so that no sum later mixes GiB with GiB·%."""
        return (self.scaled(tree, unit, ONE), ONE) if unit.is_plain and unit.size != 1 else (tree, unit)

    def _power(self, expr: Binary) -> tuple[Expr, Kind]:
        base, base_kind = self.typed(expr.left)
        exponent, exponent_kind = self.typed(expr.right)
        base_unit = self.need_number(expr.left, base_kind, "`^`")
        exponent_unit = self.need_number(expr.right, exponent_kind, "`^`")
        if not exponent_unit.is_plain:
            message = f"an exponent is a plain number; `{_text(expr.right)}` is in {exponent_unit}"
            raise self.mistake("CG505", message, expr.right, f"divide it by a value in {exponent_unit}")
        exponent = self.scaled(exponent, exponent_unit, ONE)
        if base_unit.is_plain:
            return replace(expr, left=self.scaled(base, base_unit, ONE), right=exponent), ONE
        literal = _literal(expr.right)
        if literal is None:
            message = f"`{_text(expr.left)}` is in {base_unit}: its exponent must be a number as written, not a formula"
            raise self.mistake("CG505", message, expr.right, "divide by a quantity of that unit first")
        return replace(expr, left=base, right=exponent), power(base_unit, literal)

    def _like(self, expr: Binary) -> tuple[Expr, Kind]:
        """Elaborate `+ -` and comparisons, whose sides must be alike."""
        left, left_kind = self.typed(expr.left)
        right, right_kind = self.typed(expr.right)
        if isinstance(left_kind, Words) or isinstance(right_kind, Words):
            return self._words(expr, left_kind, right_kind)
        if expr.op in ("=", "<>"):
            self._equality(expr, left_kind, right_kind)
        sides = ((expr.left, left, left_kind), (expr.right, right, right_kind))
        trees, unit = self._alike(sides, expr, f"`{expr.op}`")
        made = Binary(expr.op, trees[0], trees[1], expr.span)
        return made, Flag() if expr.op in COMPARISONS else unit

    def _equality(self, expr: Binary, left: Kind, right: Kind) -> Never:
        if isinstance(left, Flag) and isinstance(right, Flag):
            raise self.mistake(
                "CG409",
                "two yes/no are not compared with `=`",
                expr,
                "write the condition itself, or `not` before it",
            )
        help_text = f"write `abs({_text(expr.left)} - {_text(expr.right)}) <= tolerance`"
        raise self.mistake(
            "CG409",
            f"numbers are not compared with `{expr.op}`: computed ones are seldom equal",
            expr,
            help_text,
        )

    def _words(self, expr: Binary, left: Kind, right: Kind) -> tuple[Expr, Kind]:
        if expr.op not in ("=", "<>"):
            message = f"`{expr.op}` needs numbers; texts and choices are compared with `=` and `<>`"
            raise self.mistake("CG506", message, expr, "write `=` or `<>`, or name a field that is a number")
        if not (isinstance(left, Words) and isinstance(right, Words)):
            words, other_kind = (left, right) if isinstance(left, Words) else (right, left)
            message = f"`{expr.op}` compares a text with {_noun(other_kind)}"
            values = f": {known_names(words.options)}" if isinstance(words, Words) and words.options else ""
            raise self.mistake("CG506", message, expr, f"compare it with a text in quotes{values}")
        for side, other in ((expr.left, right), (expr.right, left)):
            if isinstance(side, Text) and other.options and side.value not in other.options:
                help_text = did_you_mean(side.value, other.options) or f"values: {known_names(other.options)}"
                raise self.mistake(
                    "CG302", f"`{side.value}` is none of the values it is compared with", side, help_text
                )
        return expr, Flag()

    def _alike(
        self, sides: Sequence[tuple[Expr, Expr, Kind]], where: Expr, what: str
    ) -> tuple[tuple[Expr, ...], Unit]:
        """Convert all sides to the unit of the first that is not a bare 0; 0 is 0 in any unit."""
        units = [self.need_number(side, kind, what) for side, _, kind in sides]
        lead = next((index for index, (side, _, _) in enumerate(sides) if not self.is_zero(side)), 0)
        for index, (side, _, _) in enumerate(sides):
            if units[index].dimension != units[lead].dimension and not self.is_zero(side):
                message = (
                    f"{what} needs one unit: `{_text(sides[lead][0])}` is in {units[lead]}, "
                    f"`{_text(side)}` in {units[index]}"
                )
                raise self.mistake(
                    "CG502",
                    message,
                    where,
                    self.missing_factor(quotient(units[lead], units[index]), _text(side)),
                )
        return tuple(
            self.scaled(tree, units[index], units[lead]) for index, (_, tree, _) in enumerate(sides)
        ), units[lead]

    def _call(self, expr: Call) -> tuple[Expr, Kind]:
        typed = [self.typed(item) for item in expr.arguments]
        sides = tuple((item, tree, kind) for item, (tree, kind) in zip(expr.arguments, typed, strict=True))
        if expr.function == "if":
            return self._if(expr, sides)
        rule, what = FUNCTIONS[expr.function].rule, f"`{expr.function}`"
        if rule == "same":
            trees, unit = self._alike(sides, expr, what)
            return replace(expr, arguments=trees), unit
        item, tree, kind = sides[0]
        given = self.need_number(item, kind, what)
        if rule == "root":
            return replace(expr, arguments=(tree,)), power(given, Fraction(1, 2))
        target = self._countable(item, given, what) if rule == "count" else self._plain(item, given, what)
        return replace(expr, arguments=(self.scaled(tree, given, target),)), target

    def _if(self, expr: Call, sides: tuple[tuple[Expr, Expr, Kind], ...]) -> tuple[Expr, Kind]:
        condition, *branches = sides
        self.need_flag(condition[0], condition[2], "the condition of `if`")
        if all(isinstance(kind, Flag) for _, _, kind in branches):
            return replace(expr, arguments=tuple(tree for _, tree, _ in sides)), Flag()
        trees, unit = self._alike(branches, expr, "`if`")
        return replace(expr, arguments=(condition[1], *trees)), unit

    def _reduction(self, expr: Reduce) -> tuple[Expr, Kind]:
        """Elaborate a reduction: its unit is its value's; `count` gives a plain number."""
        condition = at = value = None
        unit = ONE
        if expr.condition is not None:
            condition, kind = self.typed(expr.condition)
            self.need_flag(expr.condition, kind, f"`{expr.function}`")
        if expr.value is not None:
            value, kind = self.typed(expr.value)
            unit = self.need_number(expr.value, kind, f"`{expr.function}`")
        if expr.at is not None:
            at = self._swept_at(expr, expr.at)
        return replace(expr, value=value, condition=condition, at=at), unit

    def _swept_at(self, expr: Reduce, at: Expr) -> Expr:
        """Return where to interpolate, in the unit of the swept input."""
        sweep = self.model.sweeps[expr.sweep]
        target = self.model.quantities[sweep.over].unit
        if target is None or list(sweep.values) != sorted(sweep.values, key=float):
            message = f"`interpolate` needs ascending numbers; `{sweep.over}` in `{sweep.id}` does not run through such"
            raise self.mistake("CG506", message, expr, "order the values, or use `first(… where … over …)`")
        tree, kind = self.typed(at)
        unit = self.need_number(at, kind, "`at`")
        if unit.dimension != target.dimension:
            message = f"`at` needs the unit of `{sweep.over}`, {target}; `{_text(at)}` is in {unit}"
            raise self.mistake("CG502", message, at, self.missing_factor(quotient(target, unit), _text(at)))
        return self.scaled(tree, unit, target)

    def _countable(self, item: Expr, unit: Unit, what: str) -> Unit:
        """Return the unit of whole things that the argument counts, as it is written; no time, money or energy."""
        if UNCOUNTABLE & {base for base, _ in unit.dimension}:
            message = f"{what} is of a count only; `{_text(item)}` is in {unit}"
            raise self.mistake("CG507", message, item, "divide by the size of one piece first")
        return reduced(unit)

    def _plain(self, item: Expr, unit: Unit, what: str) -> Unit:
        if not unit.is_plain:
            message = f"{what} is of a plain number only; `{_text(item)}` is in {unit}"
            raise self.mistake("CG504", message, item, f"divide by a reference value in {unit}")
        return ONE

    def scaled(self, tree: Expr, source: Unit, target: Unit) -> Expr:
        """Wrap a tree in the conversions from one unit to another of the same dimension."""
        if source is target or self.is_zero(tree) or source.size == target.size:
            return tree
        for step in convert(source, target):
            tree = Scale(tree, step.constant, step.value, step.divide, tree.span)
        return tree

    @staticmethod
    def is_zero(expr: Expr) -> bool:
        """Say whether the expression is a bare 0."""
        return isinstance(expr, Number) and expr.value == 0

    def need_flag(self, expr: Expr, kind: Kind, what: str) -> None:
        """Raise UnitMistakeError unless the kind is a yes/no."""
        if not isinstance(kind, Flag):
            found = f"a number in {kind}" if isinstance(kind, Unit) else "a text"
            raise self.mistake(
                "CG506",
                f"{what} needs a yes/no; `{_text(expr)}` is {found}",
                expr,
                "compare it with something",
            )

    def need_number(self, expr: Expr, kind: Kind, what: str) -> Unit:
        """Return the unit of a number. Raises UnitMistakeError for a yes/no or a text."""
        if isinstance(kind, Unit):
            return kind
        help_text = (
            "write `if(condition, 1, 0)`"
            if isinstance(kind, Flag)
            else "name a field of the row, as `choice.field`"
        )
        raise self.mistake(
            "CG506", f"{what} needs a number; `{_text(expr)}` is {_noun(kind)}", expr, help_text
        )

    @cached_property
    def _first_of(self) -> dict[Terms, Quantity]:
        """The first quantity of each dimension."""
        found: dict[Terms, Quantity] = {}
        for item in self.model.quantities.values():
            if item.unit is not None:
                found.setdefault(item.unit.dimension, item)
        return found

    def missing_factor(self, unit: Unit, text: str = "it") -> str:
        """Propose the quantity whose unit is the factor that would make a formula right."""
        of_side = "" if text == "it" else f" `{text}`"
        for factor, word in ((unit, "multiply"), (quotient(ONE, unit), "divide")):
            if (item := self._first_of.get(factor.dimension)) is not None and not factor.is_plain:
                return f"{word}{of_side} by `{item.id}` ({item.unit})"
        return f"a factor in {unit} is missing"

    @staticmethod
    def mistake(code: str, message: str, expr: Expr, help_text: str = "") -> UnitMistakeError:
        """Make the exception that carries a diagnostic at an expression."""
        return UnitMistakeError(Diagnostic(code, message, expr.span, help_text))


def _literal(expr: Expr) -> Fraction | None:
    match expr:
        case Number():
            return Fraction(expr.value).limit_denominator(1000)
        case Unary(op="-", operand=Number() as number):
            return -Fraction(number.value).limit_denominator(1000)
        case _:
            return None


def _text(expr: Expr) -> str:
    text = print_formula(expr)
    return text if len(text) <= 60 else f"{text[:57]}…"


def _noun(kind: Kind) -> str:
    return _NOUNS.get(type(kind), "a number")
