"""The open table of functions: one record is everything the language knows of a function.

In: a function's name → Out: its `Function` record. Adding a function is adding a record.
Invariant: parser, unit check, numpy, Excel, mathematics and reference pages all read this table and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
UnitRule = Literal["same", "count", "plain", "root"]
"""same: one unit in, the same out; count: whole things; plain: no unit; root: √ of the unit."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function: `excel` and `maths` hold `{0}`, `{1}` for its arguments or `{all}` for a list of them."""

    name: str
    parameters: tuple[str, ...]
    variadic: bool
    rule: UnitRule
    compute: Callable[..., Array]
    excel: str
    maths: str
    doc: str
    examples: tuple[tuple[str, float], ...]
    outside: Callable[[Array], NDArray[np.bool_]] | None = None
    """Where the function has no value, of its first argument."""
    domain: str = ""
    """What the argument must be, in the words of a message."""


def round_half_away(value: Array, decimals: int = 0) -> Array:
    """Round half away from zero, as spreadsheets do; numbers too large to have that many decimals stay as they are."""
    scale = 10.0**decimals
    scaled = np.abs(value) * scale
    rounded = np.sign(value) * np.floor(scaled + 0.5) / scale
    return np.where(scaled < 2.0**52, rounded, value)


def _guarded(value: Array) -> Array:
    # 0.1 * 3 * 10 must be 3 in every engine before it is rounded up: spreadsheets differ by a whole GPU otherwise.
    return round_half_away(value, 9)


def _least(*values: Array) -> Array:
    return np.asarray(np.minimum.reduce(values))


def _greatest(*values: Array) -> Array:
    return np.asarray(np.maximum.reduce(values))


_RECORDS = (
    Function(
        "min", ("values",), True, "same", _least, "MIN({all})", "min({all})",
        "The smallest of its arguments.", (("min(3, 1, 2)", 1.0),),
    ),
    Function(
        "max", ("values",), True, "same", _greatest, "MAX({all})", "max({all})",
        "The largest of its arguments.", (("max(3, 1, 2)", 3.0),),
    ),
    Function(
        "abs", ("x",), False, "same", np.abs, "ABS({0})", "abs({0})",
        "The size of a number without its sign.", (("abs(-2)", 2.0),),
    ),
    Function(
        "clamp", ("x", "low", "high"), False, "same", lambda x, low, high: _greatest(low, _least(x, high)),
        "MAX({1},MIN({0},{2}))", "clamp({all})",
        "The number, held between a low and a high bound.", (("clamp(7, 0, 5)", 5.0), ("clamp(-1, 0, 5)", 0.0)),
    ),
    Function(
        "ceil", ("x",), False, "count", lambda x: np.ceil(_guarded(x)), "(-INT(-ROUND({0},9)))", "⌈{0}⌉",
        "The next whole number at or above a count, which is first rounded to 9 decimals.",
        (("ceil(2.1)", 3.0), ("ceil(-1.5)", -1.0), ("ceil(0.1 * 3 * 10)", 3.0)),
    ),
    Function(
        "floor", ("x",), False, "count", lambda x: np.floor(_guarded(x)), "INT(ROUND({0},9))", "⌊{0}⌋",
        "The whole number at or below a count, which is first rounded to 9 decimals.",
        (("floor(2.9)", 2.0), ("floor(-1.5)", -2.0)),
    ),
    Function(
        "round", ("x",), False, "count", lambda x: round_half_away(_guarded(x)), "ROUND(ROUND({0},9),0)", "round({0})",
        "The nearest whole number of a count, halves away from zero.", (("round(2.5)", 3.0), ("round(-2.5)", -3.0)),
    ),
    Function(
        "sqrt", ("x",), False, "root", np.sqrt, "SQRT({0})", "√({0})",
        "The square root.", (("sqrt(9)", 3.0),), lambda x: x < 0, "zero or more",
    ),
    Function(
        "exp", ("x",), False, "plain", np.exp, "EXP({0})", "exp({0})",
        "e to the power of a plain number.", (("exp(0)", 1.0),),
    ),
    Function(
        "ln", ("x",), False, "plain", np.log, "LN({0})", "ln({0})",
        "The natural logarithm of a plain number.", (("ln(1)", 0.0),), lambda x: x <= 0, "more than zero",
    ),
    Function(
        "log10", ("x",), False, "plain", np.log10, "LOG10({0})", "log₁₀({0})",
        "The logarithm to base 10 of a plain number.", (("log10(1000)", 3.0),), lambda x: x <= 0, "more than zero",
    ),
    Function(
        "log2", ("x",), False, "plain", np.log2, "LOG({0},2)", "log₂({0})",
        "The logarithm to base 2 of a plain number.", (("log2(8)", 3.0),), lambda x: x <= 0, "more than zero",
    ),
)  # fmt: skip

FUNCTIONS = MappingProxyType({record.name: record for record in _RECORDS})
