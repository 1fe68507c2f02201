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
class Comparison:
    """What the model says of a quantity in each row, and what was measured, in its unit; nan where there is none."""

    quantity: str
    predicted: tuple[float, ...]
    measured: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Errors:
    """Errors relative to the measurement: how many, mean and median size, size at the 90th percentile, mean (bias)."""

    count: int
    mean: float
    median: float
    p90: float
    bias: float


@dataclass(frozen=True, slots=True)
class Backtest:
    """The model against a file of measurements.

    `groups` holds, by column, the errors of each of its groups and measured quantities; `rows` says where each row
    stands, `settings` what it sets (as `name=value`); `labels` holds texts a row that tell it from others.
    """

    data: str
    digest: str
    scenario: str
    rows: tuple[str, ...]
    settings: tuple[tuple[str, ...], ...]
    comparisons: Mapping[str, Comparison]
    errors: Mapping[str, Errors]
    groups: Mapping[str, Mapping[str, Mapping[str, Errors]]]
    labels: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Findings:
    """Swings by width, widest first; levers in declared order, then all of them together; sweeps as declared."""

    swings: tuple[Swing, ...]
    levers: tuple[LeverEffect, ...]
    together: LeverEffect | None
    curves: tuple[Curve, ...] = ()
    backtests: tuple[Backtest, ...] = ()
    """The model against each of its files of evidence."""
