"""Numbers for people: three significant figures, thousands separators, units behind a narrow space.

In: a value and a unit → Out: text. Invariant: exact numbers stay in the workbook and in `--json`; this module only shows.
"""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Decimal

from capgraph.model import Value

NARROW_SPACE = "\u202f"
MINUS = "\u2212"
_PLAIN_UNITS = ("", "1", "count", "ratio", "fraction", "yes/no")


def show_number(value: float, digits: int = 3) -> str:
    """Write a number with `digits` significant figures; whole numbers below 10,000 stay whole."""
    if value == 0:
        return "0"
    if value == int(value) and abs(value) < 10_000:
        return _grouped(value, 0)
    magnitude = math.floor(math.log10(abs(value)))
    if magnitude < -4 or magnitude >= 12:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        return _power(mantissa, exponent)
    decimals = max(digits - 1 - magnitude, 0)
    rounded = float(Decimal(repr(value)).quantize(Decimal(1).scaleb(magnitude - digits + 1), ROUND_HALF_UP))
    text = _grouped(rounded, decimals)
    return text.rstrip("0").rstrip(".") if "." in text else text


def _power(mantissa: str, exponent: str) -> str:
    raised = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    short = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{_signed(short)}×10{raised}"


def _grouped(value: float, decimals: int) -> str:
    return _signed(f"{value:,.{decimals}f}")


def _signed(text: str) -> str:
    return text.replace("-", MINUS)


def show_decimals(value: float, decimals: int) -> str:
    """Write a number with a fixed count of decimals, half away from zero, as a workbook's TEXT does."""
    quantum = Decimal(1).scaleb(-decimals)
    rounded = Decimal(repr(value)).quantize(quantum, ROUND_HALF_UP)
    return f"{rounded if rounded else abs(rounded):,.{decimals}f}"


def show_value(value: Value | None, unit: str = "") -> str:
    """Write a value for people with its unit: `14,400 USD/month`, `2.5 %`, `yes`, an option's id, `n/a`."""
    if value is None:
        return "n/a"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    return with_unit(show_number(value), unit)


def with_unit(text: str, unit: str) -> str:
    """Put a unit behind a written number; plain units are not shown."""
    return text if unit in _PLAIN_UNITS else f"{text}{NARROW_SPACE}{unit}"
