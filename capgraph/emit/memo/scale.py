"""Numbers to places on an axis, and the round numbers that are written there.

In: the numbers' ends and the places of these → Out: `Scale`, ticks.
Invariant: a logarithmic scale is only made of numbers above zero.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

_WIDE = 1.5
"""Powers of ten from which a logarithmic axis is marked at these alone."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Numbers from `low` to `high` to places from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """Return a number's place."""
        low, high = self._drawn(self.low), self._drawn(self.high)
        step = (self.end - self.start) / (high - low) if high > low else 0.0
        return round(self.start + (self._drawn(value) - low) * step, 2)

    def at(self, place: float) -> float:
        """Return the number that stands at a place."""
        low, high = self._drawn(self.low), self._drawn(self.high)
        drawn = low + (place - self.start) / (self.end - self.start) * (high - low)
        return 10.0**drawn if self.log else drawn

    def ticks(self, wanted: int = 5) -> list[float]:
        """Return the round numbers on the scale, about `wanted` of them."""
        return _powers(self.low, self.high) if self.log else round_values(self.low, self.high, wanted)

    def _drawn(self, value: float) -> float:
        return math.log10(value) if self.log else value


def round_values(low: float, high: float, wanted: int = 5) -> list[float]:
    """Return the round numbers from `low` to `high`, about `wanted` of them."""
    if not high > low:
        return [low]
    rough = (high - low) / wanted
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
    return [number * step for number in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _powers(low: float, high: float) -> list[float]:
    """Return 1, 2, 5, 10 … from `low` to `high`; over many powers of ten these alone."""
    span = math.log10(high / low)
    factors = (1.0,) if span > 4 else (1.0, 3.0) if span > 2 * _WIDE else (1.0, 2.0, 5.0)
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    every = max(1, math.ceil(len(exponents) / 8))
    found = (factor * 10.0**exponent for exponent in exponents if exponent % every == 0 for factor in factors)
    return [value for value in found if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]
