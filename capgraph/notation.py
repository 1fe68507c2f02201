"""Numbers for people: three significant figures, thousands separators, units behind a narrow space.

In: a value and a unit → Out: text. Invariant: this module only shows.
"""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Context, Decimal

from capgraph.model import Value

NARROW_SPACE = "\u202f"
MINUS = "\u2212"
_PLAIN_UNITS = ("", "1", "count", "ratio", "yes/no")
# The currencies of units.txt: money is written to the cent below 1,000 and in whole units up to a million.
_CURRENCIES = ("USD",)
_TYPED_DIGITS = 12
# Written in capitals, and counted all the same; other capitals are symbols: USD, FLOP, W.
_COUNTED_CAPITALS = ("GPU", "CPU", "TPU", "NPU", "VM", "SSD")
# Lower case, and without a plural of their own: symbols, and words behind a prefix, such as `ktoken`.
_LOWER_CASE_SYMBOLS = ("min", "mol", "rad", "bar", "lux", "hertz", "siemens", "percent")
_PREFIXED_WORDS = ("token", "request", "parameter", "byte", "bit", "second")
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def show_number(value: float, digits: int = 3) -> str:
    """Write a number with `digits` significant figures; whole numbers below 10,000 stay whole."""
    exact = float(value)
    if exact == 0:
        return "0"
    if exact == int(exact) and abs(exact) < 10_000:
        return _signed(f"{exact:,.0f}")
    magnitude = math.floor(math.log10(abs(exact)))
    if magnitude < -4 or magnitude >= 12:
        return _power(exact, digits)
    rounded = Decimal(repr(exact)).quantize(Decimal(1).scaleb(magnitude - digits + 1), ROUND_HALF_UP)
    return _plain(rounded)


def show_exact(value: float) -> str:
    """Write an input as it was given: every digit, with thousands separators."""
    exact = float(value)
    if exact == 0:
        return "0"
    if not 1e-6 <= abs(exact) < 1e15:
        return _power(exact, 6)
    # More digits than anyone types are what a conversion leaves: 50 GB is 46.566128730773926 GiB.
    if not exact.is_integer() and len(Decimal(repr(exact)).as_tuple().digits) > _TYPED_DIGITS:
        return show_number(exact, 6)
    return _plain(Decimal(repr(exact)))


def show_constant(value: float) -> str:
    """Write the factor between two units: whole ones in full, so that a reader's calculator agrees."""
    return show_exact(value) if float(value).is_integer() else show_number(value, 6)


def _percent(value: float) -> str:
    # In decimal: 0.07 * 100 is not 7 in doubles.
    return with_unit(_plain(Decimal(repr(float(value))) * 100), "%")


def _power(value: float, digits: int) -> str:
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    short = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{_signed(short)}×10{str(int(exponent)).translate(_SUPERSCRIPTS)}"


def _plain(value: Decimal) -> str:
    text = f"{value:,f}"
    return _signed(text.rstrip("0").rstrip(".") if "." in text else text)


def _signed(text: str) -> str:
    return text.replace("-", MINUS)


# A double has up to 309 digits before the point; Decimal refuses more than 28 unless told.
_EVERY_DIGIT = Context(prec=400)


def show_decimals(value: float, decimals: int) -> str:
    """Write a number with a fixed count of decimals, half away from zero, as a workbook's TEXT does."""
    quantum = Decimal(1).scaleb(-decimals)
    rounded = Decimal(repr(float(value))).quantize(quantum, ROUND_HALF_UP, _EVERY_DIGIT)
    return f"{rounded if rounded else abs(rounded):,.{decimals}f}"


def show_value(value: Value | None, unit: str = "") -> str:
    """Write a value for people with its unit: `14,400 USD/month`, `2.5%`, `yes`, `n/a`, an option's id."""
    if value is None:
        return "n/a"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if unit == "fraction":
        return with_unit(show_number(value * 100), "%")
    if _is_money(unit) and 1_000 <= abs(value) < 1_000_000:
        return with_unit(_signed(show_decimals(value, 0)), unit)
    if _has_cents(value, unit):
        return with_unit(_signed(show_decimals(value, 2)), unit)
    return with_unit(show_number(value), unit)


def show_in_prose(value: Value | None, unit: str = "") -> str:
    """Write a value as a sentence would: `90 million tokens`."""
    spoken = unit not in (*_PLAIN_UNITS, "fraction")
    if spoken and isinstance(value, float) and 1_000_000 <= abs(value) < 1e12:
        return with_unit(_in_words(value), unit)
    return show_value(value, unit)


def show_given(value: Value | None, unit: str = "") -> str:
    """Write an input for people as it was given, with its unit and every digit."""
    if value is None or isinstance(value, bool | str) or _has_cents(value, unit):
        return show_value(value, unit)
    if unit == "fraction":
        return _percent(value)
    return with_unit(show_exact(value), unit)


def show_setting(value: Value) -> str:
    """Write a value as a person types it after `--set name=`: `true`, `0.92`, an option's id."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.12g}" if isinstance(value, float) else value


def _is_money(unit: str) -> bool:
    return unit.partition("/")[0] in _CURRENCIES


def _has_cents(value: float, unit: str) -> bool:
    cents = round(abs(value) * 100, 6)
    return _is_money(unit) and 100 <= cents < 100_000 and cents % 100 != 0 and cents % 1 == 0


def _in_words(value: float) -> str:
    """Write a large number in millions or billions, whichever it still is after rounding."""
    rounded = float(f"{value:.2e}")
    scale, word = (1e9, "billion") if abs(rounded) >= 1e9 else (1e6, "million")
    return f"{show_number(rounded / scale)}{NARROW_SPACE}{word}"


def with_unit(text: str, unit: str) -> str:
    """Put a unit behind a written number: `1 node`, `12 nodes`; plain units are not shown, `%` stands close."""
    if unit in _PLAIN_UNITS:
        return text
    if unit == "%":
        return f"{text}%"
    return f"{text}{NARROW_SPACE}{unit if text.lstrip(MINUS) == '1' else plural(unit)}"


def without_unit(text: str, unit: str) -> str:
    """Take the unit off again, for a column whose head names it."""
    return text.removesuffix(f"{NARROW_SPACE}{unit}").removesuffix(f"{NARROW_SPACE}{plural(unit)}")


def plural(unit: str) -> str:
    """Return the plural of a unit that is one bare word, such as `node` or `month`; a symbol or a compound has none."""
    if unit in _COUNTED_CAPITALS:
        return f"{unit}s"
    word = unit.isascii() and unit.isalpha() and unit.islower() and len(unit) > 2
    prefixed = unit[:1] in "kmun" and unit[1:] in _PREFIXED_WORDS
    if not word or prefixed or unit in (*_LOWER_CASE_SYMBOLS, *_PLAIN_UNITS):
        return unit
    if unit.endswith(("s", "x", "z", "ch", "sh")):
        return f"{unit}es"
    if unit.endswith("y") and unit[-2] not in "aeiou":
        return f"{unit[:-1]}ies"
    return f"{unit}s"


def show_change(before: float, after: float) -> str:
    """Write how a number changed: `+26%`, `×2.8`, `unchanged`; nothing where a ratio says nothing."""
    if before == after:
        return "unchanged"
    if before <= 0 or after < 0:
        return ""
    if not 0.1 < after / before < 2:
        return f"×{show_number(after / before, 2)}"
    share = (after - before) / before
    return f"{'+' if share > 0 else MINUS}{show_number(abs(share) * 100, 2)}%"
