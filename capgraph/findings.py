"""The findings: what the analyses say about a decision, ready for the emitters to show.

In: nothing → Out: the frozen types that `analysis` makes.
Invariant: numbers are in the quantities' own units, for the selected scenario.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from capgraph.model import Value
from capgraph.notation import show_setting


@dataclass(frozen=True, slots=True)
class Swing:
    """The target at both ends of one input's stated range, and the verdicts there (None: no value there).

    With `fit`, the quantity is what that fit predicts, and the ends are as far off as its mean error.
    """

    quantity: str
    low: float
    high: float
    target_at_low: float | None
    target_at_high: float | None
    verdict_at_low: str
    verdict_at_high: str
    fit: str = ""

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
class Shortfall:
    """What a suspect alone would change, and the quantities that it shows then (None: no value then)."""

    suspect: str
    settings: Mapping[str, Value]
    values: Mapping[str, Value | None]


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
    """Errors relative to the measurement: how many, mean and median size, size at the 90th percentile, mean (bias).

    `within_10` and `within_25` are the shares that are off by at most 10% and 25%.
    """

    count: int
    mean: float
    median: float
    p90: float
    bias: float
    within_10: float
    within_25: float


@dataclass(frozen=True, slots=True)
class Backtest:
    """The model against a file of measurements.

    `groups` holds, by column, the errors of each of its groups and measured quantities; `rows` says where each row
    stands, `settings` by quantity what it sets (None: nothing); `labels` holds texts a row that tell it from others.
    """

    data: str
    digest: str
    scenario: str
    rows: tuple[str, ...]
    settings: Mapping[str, tuple[Value | None, ...]]
    comparisons: Mapping[str, Comparison]
    errors: Mapping[str, Errors]
    groups: Mapping[str, Mapping[str, Mapping[str, Errors]]]
    labels: Mapping[str, tuple[str, ...]]

    def texts(self, column: str) -> tuple[str, ...]:
        """Return what stands in a column in each row: its label, or the value that it sets; empty for nothing."""
        if column in self.labels:
            return self.labels[column]
        own = self.settings.get(column, (None,) * len(self.rows))
        return tuple("" if value is None else show_setting(value) for value in own)

    def set_in(self, row: int) -> Mapping[str, Value]:
        """Return what a row sets."""
        own = ((name, values[row]) for name, values in self.settings.items())
        return {name: value for name, value in own if value is not None}


@dataclass(frozen=True, slots=True)
class Explanation:
    """One change alone, and what it makes of the measured quantities.

    `cause` is a suspect's id, empty for a bare input; `settings` are all values of the change, `quantity` the one that
    was looked for (empty: none was), which stands at `now` and would have to be `needed`; `low`..`high` is its range.
    `strain` says how far outside its range that is, in widths of the range; without a range, in doublings. `error` is
    the largest size of the remaining relative errors.
    """

    cause: str
    quantity: str
    settings: Mapping[str, Value]
    now: Value | None
    needed: Value | None
    low: float | None
    high: float | None
    strain: float
    predicted: Mapping[str, float]
    error: float


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Why measurements may differ from what the model says of them in a scenario, in the quantities' units.

    `error` is the largest size of the relative errors as they are. `explanations` leave at most `within` of it, the
    likeliest first; `fall_short` come nearer and not that near, the nearest first.
    """

    scenario: str
    measured: Mapping[str, float]
    predicted: Mapping[str, float]
    error: float
    within: float
    explanations: tuple[Explanation, ...]
    fall_short: tuple[Explanation, ...]

    @property
    def fits(self) -> bool:
        """Say whether there is nothing to explain."""
        return self.error <= self.within


@dataclass(frozen=True, slots=True)
class Basis:
    """What a number rests on; `fits` are the ids of those that it is a parameter of, predicted by, or follows from."""

    kind: Literal["measured", "fitted", "assumed"]
    fits: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Findings:
    """Swings by width, widest first; levers in declared order, then all of them together; sweeps as declared."""

    swings: tuple[Swing, ...]
    levers: tuple[LeverEffect, ...]
    together: LeverEffect | None
    curves: tuple[Curve, ...] = ()
    backtests: tuple[Backtest, ...] = ()
    """The model against each of its files of evidence."""
    shortfalls: tuple[Shortfall, ...] = ()
    """What would bring measurements below the selected scenario, in declared order."""
    fits: tuple[str, ...] = ()
    """Ids of the fits that hold in the selected scenario."""
    bases: Mapping[str, Basis] = field(default_factory=dict)
    """What numbers of the selected scenario rest on, by quantity; none in a model without measurements."""
