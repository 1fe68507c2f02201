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
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import pint

DEFINITIONS = Path(__file__).with_name("units.txt")

Terms = tuple[tuple[str, Fraction], ...]
SymbolTerms = tuple[tuple["Symbol", Fraction], ...]
# Beyond these a factor between two units is no double any more, and `byte^99999999` would never be worked out.
MAX_EXPONENT = 30
MAX_LENGTH = 200
MAX_SIZE = Fraction(10) ** 150
# What is offered for a misspelt unit beside the names of the definitions, which have no prefixes.
_PREFIXED = (*(f"{prefix}B" for prefix in ("k", "M", "G", "T", "P", "Ki", "Mi", "Gi", "Ti")), "ms", "us", "kW", "kWh",
             "TFLOP", "GFLOP", "Mtoken", "ktoken")  # fmt: skip


class Symbol(str):
    """The name of a unit as it is written, which knows its size in base units and its dimension."""

    size: Fraction
    dimension: Terms

    @classmethod
    def of(cls, name: str, size: Fraction, dimension: Terms) -> Symbol:
        """Make a symbol; one that a model defines is no other than these three say."""
        made = cls(name)
        made.size, made.dimension = size, dimension
        return made

    def __eq__(self, other: object) -> bool:
        # Two models may define one name differently, and results are cached by symbols.
        if isinstance(other, Symbol) and (self.size, self.dimension) != (other.size, other.dimension):
            return False
        return str.__eq__(self, other)

    __hash__ = str.__hash__


class UnitError(ValueError):
    """A unit text that cannot be read; `symbol` is the part that is wrong, or a name that no unit has."""

    def __init__(self, message: str, symbol: str = "", is_unknown: bool = False) -> None:
        super().__init__(message)
        self.symbol, self.is_unknown = symbol, is_unknown


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: its symbols with exponents, its size in base units, its dimension; equal when both of these agree."""

    text: str = field(compare=False)
    terms: SymbolTerms = field(compare=False, repr=False)
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
def parse_unit(text: str, defined: tuple[Symbol, ...] = ()) -> Unit:
    """Read a unit text; `defined` are a model's own units.

    Raises UnitError naming the symbol that is unknown or out of place.
    """
    if len(text) > MAX_LENGTH:
        raise UnitError(f"the unit is longer than {MAX_LENGTH} characters")
    return _unit_of(_terms_of(text, defined), text.strip())


def define_unit(name: str, size: Fraction, unit: Unit) -> Symbol:
    """Return a unit of a model: so many of another one. Raises UnitError for a name that has a meaning."""
    _refuse_known(name)
    return Symbol.of(name, size * unit.size, unit.dimension)


def define_base_unit(name: str) -> Symbol:
    """Return a unit of a model with a dimension of its own. Raises UnitError for a name that has a meaning."""
    _refuse_known(name)
    return Symbol.of(name, Fraction(1), ((name, Fraction(1)),))


def _refuse_known(name: str) -> None:
    try:
        _symbol(name)
    except UnitError:
        return
    raise UnitError(f"`{name}` is a unit already", name)


def reduced(unit: Unit) -> Unit:
    """Return the unit with what stands on both sides of the line cancelled: `GB/(GiB/sequence)` is in sequences."""
    left = {symbol: exp for symbol, exp in unit.terms if symbol.dimension}
    for symbol in sorted(left):
        while left[symbol] > 0 and (other := _partner(symbol, left)) is not None:
            left[symbol] -= 1
            left[other] += 1
    return _unit_of(tuple((symbol, exp) for symbol, exp in left.items() if exp))


def without_below(unit: Unit, symbols: Iterable[str]) -> Unit:
    """Return the unit less what stands below the line and is among the symbols."""
    dropped = frozenset(symbols)
    return _unit_of(tuple((symbol, exp) for symbol, exp in unit.terms if exp > 0 or symbol not in dropped))


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
def _combine(left: SymbolTerms, right: SymbolTerms, sign: int) -> Unit:
    return _unit_of(_sum_terms((*left, *((symbol, exp * sign) for symbol, exp in right))))


def _unit_of(terms: SymbolTerms, text: str | None = None) -> Unit:
    size = Fraction(1)
    dimension: list[tuple[str, Fraction]] = []
    for symbol, exponent in terms:
        if abs(exponent) > MAX_EXPONENT:
            raise UnitError(f"`{symbol}` has an exponent beyond {MAX_EXPONENT}", str(exponent))
        size *= _raise(symbol.size, exponent)
        dimension.extend((base, exp * exponent) for base, exp in symbol.dimension)
    spelled = spell(terms) if text is None else text
    if not 1 / MAX_SIZE < size < MAX_SIZE:
        raise UnitError(f"a number in `{spelled}` is too large or too small to calculate with")
    return Unit(spelled, terms, size, tuple(sorted(_sum_terms(dimension))))


def _raise(size: Fraction, exponent: Fraction) -> Fraction:
    if exponent.denominator == 1:
        return Fraction(size ** int(exponent))
    try:
        return Fraction(float(size) ** float(exponent))
    except OverflowError:
        raise UnitError("a root of this unit is too large to calculate with") from None


_Name = TypeVar("_Name", bound=str)


def _sum_terms(terms: Iterable[tuple[_Name, Fraction]]) -> tuple[tuple[_Name, Fraction], ...]:
    total: dict[_Name, Fraction] = {}
    for symbol, exponent in terms:
        total[symbol] = total.get(symbol, Fraction(0)) + exponent
    return tuple((symbol, exponent) for symbol, exponent in total.items() if exponent)


def spell(terms: Iterable[tuple[str, Fraction]]) -> str:
    """Write terms as a unit text: what is above the line, then `/` and what is below."""
    written = tuple(terms)
    above = [_spell_power(symbol, exp) for symbol, exp in written if exp > 0]
    below = [_spell_power(symbol, -exp) for symbol, exp in written if exp < 0]
    return "/".join(["*".join(above) or "1", *below])


def _spell_power(symbol: str, exponent: Fraction) -> str:
    return symbol if exponent == 1 else f"{symbol}^{exponent}"


_TOKEN = re.compile(r"\s*([*·/^()-]|\d+(?:\.\d+)?|%|[^\W\d][\w]*)", re.UNICODE)


def _terms_of(text: str, defined: tuple[Symbol, ...]) -> SymbolTerms:
    """Parse `factor (('*'|'·'|'/') factor)*`; a factor is `symbol[^n]` or symbols joined by hyphens (`GPU-hour`)."""
    tokens = _tokens(text)
    terms: list[tuple[Symbol, Fraction]] = []
    sign, place = Fraction(1), 0
    while True:
        place = _factor(tokens, place, sign, terms, text, defined)
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
    tokens: list[str],
    place: int,
    sign: Fraction,
    terms: list[tuple[Symbol, Fraction]],
    text: str,
    defined: tuple[Symbol, ...],
) -> int:
    while True:
        if place == len(tokens):
            raise UnitError(f"unit `{text}` ends where a unit name is needed")
        written, symbol = tokens[place], None
        exponent = sign
        if written != "1":
            if not (written[0].isalpha() or written[0] in "_%"):
                raise UnitError(f"unit `{text}` has `{written}` where a unit name is needed", written)
            own = next((known for known in defined if known == written), None)
            symbol = own or _symbol("percent" if written == "%" else written)
        place += 1
        if place + 1 < len(tokens) and tokens[place] == "^" and tokens[place + 1].isdecimal():
            exponent, place = sign * _exponent(tokens[place + 1], written), place + 2
        # A plain count leaves no trace in a unit.
        if symbol is not None and (symbol.dimension or symbol.size != 1):
            terms.append((symbol, exponent))
        if place == len(tokens) or tokens[place] != "-":
            return place
        place += 1


def _exponent(digits: str, symbol: str) -> int:
    # Python reads no number of more than 4,300 digits.
    if len(digits) > 9:
        raise UnitError(f"`{symbol}` has an exponent beyond {MAX_EXPONENT}", digits)
    return int(digits)


@cache
def _registry() -> pint.UnitRegistry[float]:
    import pint

    registry: pint.UnitRegistry[float] = pint.UnitRegistry(None, non_int_type=Fraction)
    registry.load_definitions(DEFINITIONS)
    return registry


@cache
def _symbol(symbol: str) -> Symbol:
    """Return what the definitions say of a symbol. Raises UnitError if they say nothing."""
    import pint

    try:
        factor, base = _registry().get_root_units(symbol)
    except (pint.UndefinedUnitError, AttributeError, ValueError, AssertionError):
        # The last: pint reads names with Python's tokenizer, which takes U+0E33 for two letters.
        raise UnitError(f"unknown unit `{symbol}`", symbol, is_unknown=True) from None
    size = Fraction(str(factor))
    dimension = tuple(sorted((name, Fraction(str(exp))) for name, exp in base._units.items()))
    return Symbol.of(symbol, size, tuple(term for term in dimension if term[0] != "count"))


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
def _convert(source: SymbolTerms, target: SymbolTerms) -> tuple[Conversion, ...]:
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


def _partner(symbol: Symbol, left: Mapping[Symbol, Fraction]) -> Symbol | None:
    """Find a symbol of the same dimension that stands on the other side of the line."""
    if left[symbol] < 1:
        return None
    return next(
        (other for other in sorted(left) if left[other] <= -1 and other.dimension == symbol.dimension), None
    )


def _step(terms: Mapping[Symbol, Fraction]) -> tuple[Conversion, ...]:
    size = Fraction(1)
    for symbol, exponent in terms.items():
        size *= _raise(symbol.size, exponent)
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
