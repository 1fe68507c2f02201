"""The findings: what the analyses say about a decision, ready for the emitters to show.

In: nothing → Out: the frozen types that `analysis` makes.
Invariant: numbers are in the quantities' own units, for the selected scenario.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from capgraph.model import Value


@dataclass(frozen=True, slots=True)
class Swing:
    """The target at both ends of one input's stated range, and the verdicts there (None: no value there)."""

    quantity: str
    low: float
    high: float
    target_at_low: float | None
    target_at_high: float | None
    verdict_at_low: str
    verdict_at_high: str

    def width(self, centre: float) -> float:
        """Return how far the target moves over the range, in the target's unit."""
        low = centre if self.target_at_low is None else self.target_at_low
        high = centre if self.target_at_high is None else self.target_at_high
        return max(abs(low - centre), abs(high - centre), abs(high - low))


@dataclass(frozen=True, slots=True)
class LeverEffect:
    """Quantities after one lever is pulled (None: no value then), and the verdict then."""

    lever: str
    values: Mapping[str, Value | None]
    verdict: str


@dataclass(frozen=True, slots=True)
class Curve:
    """A sweep over the selected scenario: the numbers of each quantity that it shows, one a point (None: no value)."""

    sweep: str
    lines: Mapping[str, tuple[float | None, ...]]


@dataclass(frozen=True, slots=True)
class Findings:
    """Swings by width, widest first; levers in declared order, then all of them together; sweeps as declared."""

    swings: tuple[Swing, ...]
    levers: tuple[LeverEffect, ...]
    together: LeverEffect | None
    curves: tuple[Curve, ...] = ()
