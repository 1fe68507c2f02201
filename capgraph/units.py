"""Units as people write them: `GiB/GPU`, `token/s/replica`, `USD/GPU-hour`.

In: unit text → Out: `Unit`: its size in base units and its dimension; and the constants that convert between two.
Invariant: pint defines what a symbol means; no pint object leaves this module.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pint

DEFINITIONS = Path(__file__).with_name("units.txt")

Terms = tuple[tuple[str, Fraction], ...]
# Beyond these a factor between two units is no double any more, and `byte^99999999` would never be worked out.
MAX_EXPONENT = 30
MAX_SIZE = Fraction(10) ** 150
# What is offered for a misspelt unit beside the names of the definitions, which have no prefixes.
_PREFIXED = (*(f"{prefix}B" for prefix in ("k", "M", "G", "T", "P", "Ki", "Mi", "Gi", "Ti")), "ms", "us", "kW", "kWh",
             "TFLOP", "GFLOP", "Mtoken", "ktoken")  # fmt: skip
_ONE: tuple[Fraction, Terms] = (Fraction(1), ())


class UnitError(ValueError):
    """A unit text that cannot be read; `symbol` is the part that is wrong, or a name that no unit has."""

    def __init__(self, message: str, symbol: str = "", is_unknown: bool = False) -> None:
        super().__init__(message)
        self.symbol, self.is_unknown = symbol, is_unknown


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: its symbols with exponents, its size in base units, its dimension; equal when both of these agree."""

    text: str = field(compare=False)
    terms: Terms = field(compare=False, repr=False)
    size: Fraction
    dimension: Terms

    @property
    def is_plain(self) -> bool:
        """Say whether the unit has no dimension (a count, a ratio, a per cent)."""
        return not self.dimension

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Conversion:
    """One named factor between two units: multiply by `value`, or divide by it."""

    constant: str
    value: float
    divide: bool


@cache
def parse_unit(text: str) -> Unit:
    """Read a unit text. Raises UnitError naming the symbol that is unknown or out of place."""
    return _unit_of(_terms_of(text), text.strip())


def product(left: Unit, right: Unit) -> Unit:
    """Return the unit of a product."""
    return _combine(left.terms, right.terms, 1)


def quotient(left: Unit, right: Unit) -> Unit:
    """Return the unit of a quotient."""
    return _combine(left.terms, right.terms, -1)


def power(unit: Unit, exponent: Fraction) -> Unit:
    """Return the unit raised to a plain exponent."""
    return _unit_of(tuple((symbol, exp * exponent) for symbol, exp in unit.terms))


@cache
def _combine(left: Terms, right: Terms, sign: int) -> Unit:
    return _unit_of(_sum_terms((*left, *((symbol, exp * sign) for symbol, exp in right))))


def _unit_of(terms: Terms, text: str | None = None) -> Unit:
    size = Fraction(1)
    dimension: list[tuple[str, Fraction]] = []
    for symbol, exponent in terms:
        if abs(exponent) > MAX_EXPONENT:
            raise UnitError(f"`{symbol}` has an exponent beyond {MAX_EXPONENT}", str(exponent))
        symbol_size, symbol_dimension = _symbol(symbol)
        size *= _raise(symbol_size, exponent)
        dimension.extend((base, exp * exponent) for base, exp in symbol_dimension)
    spelled = spell(terms) if text is None else text
    if not 1 / MAX_SIZE < size < MAX_SIZE:
        raise UnitError(f"a number in `{spelled}` is too large or too small to calculate with")
    return Unit(spelled, terms, size, _sum_terms(dimension, ordered=True))


def _raise(size: Fraction, exponent: Fraction) -> Fraction:
    if exponent.denominator == 1:
        return Fraction(size ** int(exponent))
    return Fraction(float(size) ** float(exponent))


def _sum_terms(terms: Iterable[tuple[str, Fraction]], ordered: bool = False) -> Terms:
    total: dict[str, Fraction] = {}
    for symbol, exponent in terms:
        total[symbol] = total.get(symbol, Fraction(0)) + exponent
    kept = [(symbol, exponent) for symbol, exponent in total.items() if exponent]
    return tuple(sorted(kept)) if ordered else tuple(kept)


def spell(terms: Terms) -> str:
    """Write terms as a unit text: what is above the line, then `/` and what is below."""
    above = [_spell_power(symbol, exp) for symbol, exp in terms if exp > 0]
    below = [_spell_power(symbol, -exp) for symbol, exp in terms if exp < 0]
    return "/".join(["*".join(above) or "1", *below]) if terms else "1"


def _spell_power(symbol: str, exponent: Fraction) -> str:
    return symbol if exponent == 1 else f"{symbol}^{exponent}"


_TOKEN = re.compile(r"\s*([*·/^()-]|\d+(?:\.\d+)?|%|[^\W\d][\w]*)", re.UNICODE)


def _terms_of(text: str) -> Terms:
    """Parse `factor (('*'|'·'|'/') factor)*`; a factor is `symbol[^n]` or symbols joined by hyphens (`GPU-hour`)."""
    tokens = _tokens(text)
    terms: list[tuple[str, Fraction]] = []
    sign, place = Fraction(1), 0
    while True:
        place = _factor(tokens, place, sign, terms, text)
        if place == len(tokens):
            return _sum_terms(terms)
        if tokens[place] not in "*·/":
            raise UnitError(f"unit `{text}` has `{tokens[place]}` where `*` or `/` is needed", tokens[place])
        sign = Fraction(-1 if tokens[place] == "/" else 1)
        place += 1


def _tokens(text: str) -> list[str]:
    tokens, place, stripped = [], 0, text.strip()
    while place < len(stripped):
        found = _TOKEN.match(stripped, place)
        if not found:
            raise UnitError(
                f"unit `{text}` has a character that units cannot hold: `{stripped[place]}`", stripped[place]
            )
        tokens.append(found[1])
        place = found.end()
    if not tokens:
        raise UnitError("the unit is empty: write `count` or `ratio` for a plain number")
    return tokens


def _factor(
    tokens: list[str], place: int, sign: Fraction, terms: list[tuple[str, Fraction]], text: str
) -> int:
    while True:
        if place == len(tokens):
            raise UnitError(f"unit `{text}` ends where a unit name is needed")
        symbol = "percent" if tokens[place] == "%" else tokens[place]
        exponent = sign
        if symbol != "1":
            if not (symbol[0].isalpha() or symbol[0] == "_"):
                raise UnitError(f"unit `{text}` has `{symbol}` where a unit name is needed", symbol)
            _symbol(symbol)
        place += 1
        if place + 1 < len(tokens) and tokens[place] == "^" and tokens[place + 1].isdigit():
            exponent, place = sign * Fraction(tokens[place + 1]), place + 2
        if symbol != "1" and _symbol(symbol) != _ONE:
            terms.append((symbol, exponent))
        if place == len(tokens) or tokens[place] != "-":
            return place
        place += 1


@cache
def _registry() -> pint.UnitRegistry[float]:
    import pint

    registry: pint.UnitRegistry[float] = pint.UnitRegistry(None, non_int_type=Fraction)
    registry.load_definitions(DEFINITIONS)
    return registry


@cache
def _symbol(symbol: str) -> tuple[Fraction, Terms]:
    """Return a symbol's size in base units and its dimension. Raises UnitError if it is not defined."""
    import pint

    try:
        factor, base = _registry().get_root_units(symbol)
    except (pint.UndefinedUnitError, AttributeError, ValueError):
        raise UnitError(f"unknown unit `{symbol}`", symbol, is_unknown=True) from None
    size = Fraction(str(factor))
    dimension = tuple(sorted((name, Fraction(str(exp))) for name, exp in base._units.items()))
    return size, tuple(term for term in dimension if term[0] != "count")


def spelled_units() -> tuple[str, ...]:
    """Return known units and those with a prefix that people use most."""
    return (*known_units(), *_PREFIXED)


@cache
def known_units() -> tuple[str, ...]:
    """Return the names and symbols that the definitions hold, without prefixes."""
    defined = re.findall(r"^(\w+) =.*?(?:= (\w+))?$", DEFINITIONS.read_text("utf-8"), re.MULTILINE)
    return tuple(sorted({name for pair in defined for name in pair if name} - {"percent"} | {"%"}))


def convert(source: Unit, target: Unit) -> tuple[Conversion, ...]:
    """Return the named factors that turn a number in `source` into one in `target`, both of one dimension."""
    return _convert(source.terms, target.terms)


@cache
def _convert(source: Terms, target: Terms) -> tuple[Conversion, ...]:
    # Keyed by the terms: two units of equal size (B/TB, FLOP/TFLOP) need constants of different names.
    left = dict(_sum_terms((*source, *((symbol, -exp) for symbol, exp in target))))
    steps: list[Conversion] = []
    for symbol in sorted(left):
        while left[symbol] > 0 and (other := _partner(symbol, left)) is not None:
            left[symbol] -= 1
            left[other] += 1
            steps.extend(_step({symbol: Fraction(1), other: Fraction(-1)}))
    steps.extend(_step({symbol: exp for symbol, exp in left.items() if exp}))
    return tuple(steps)


def conversion_factor(source: Unit, target: Unit) -> float:
    """Return what a number in `source` is multiplied with to be in `target`."""
    return float(source.size / target.size)


def _partner(symbol: str, left: Mapping[str, Fraction]) -> str | None:
    """Find a symbol of the same dimension that stands on the other side of the line."""
    if left[symbol] < 1:
        return None
    wanted = _symbol(symbol)[1]
    return next((other for other in sorted(left) if left[other] <= -1 and _symbol(other)[1] == wanted), None)


def _step(terms: Mapping[str, Fraction]) -> tuple[Conversion, ...]:
    size = Fraction(1)
    for symbol, exponent in terms.items():
        size *= _raise(_symbol(symbol)[0], exponent)
    if size == 1:
        return ()
    above = "_".join(_name(symbol, exp) for symbol, exp in terms.items() if exp > 0) or "one"
    below = "_".join(_name(symbol, -exp) for symbol, exp in terms.items() if exp < 0) or "one"
    if size > 1:
        return (Conversion(f"{below}_per_{above}", float(size), divide=False),)
    return (Conversion(f"{above}_per_{below}", float(1 / size), divide=True),)


def _name(symbol: str, exponent: Fraction) -> str:
    spelled = symbol.replace("µ", "u").replace("μ", "u")
    if exponent.denominator > 1:
        return f"{spelled}{exponent.numerator}_{exponent.denominator}"
    return spelled if exponent == 1 else f"{spelled}{exponent.numerator}"
