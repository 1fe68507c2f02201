"""The parts of a memo that speak of measurements: fits, and estimates held against what was measured.

In: nothing → Out: the frozen types that `rests` and `backtests` fill and `templates/memo` reads.
Invariant: numbers are texts, as a person reads them.
"""

from __future__ import annotations

from dataclasses import dataclass

from capgraph.emit.memo.drawing import Scatter
from capgraph.emit.memo.pieces import Figure, Place


@dataclass(frozen=True, slots=True)
class FitView:
    """A fit that holds: what it predicts, the row or inputs that it gave values to, and how well it does."""

    place: Place
    of: Figure
    row: str
    parameters: tuple[str, ...]
    rows: str
    error: str
    date: str
    data: str


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """The errors of a group of measurements."""

    group: str
    count: str
    mean: str
    median: str
    p90: str
    bias: str


@dataclass(frozen=True, slots=True)
class ErrorTable:
    """The errors by the groups that a column tells apart, but for `left_out`, the smallest, and `other_columns`."""

    column: str
    rows: tuple[ErrorRow, ...]
    left_out: int
    other_columns: int


@dataclass(frozen=True, slots=True)
class WorstRow:
    """A measurement that the model is far from: where it stands, what it was, and both numbers."""

    place: str
    told: str
    predicted: str
    measured: str
    error: str


@dataclass(frozen=True, slots=True)
class BacktestView:
    """A quantity as a file measured it, and how far off the model is; `leans` is `high`, `low` or empty."""

    quantity: Figure
    unit: str
    data: str
    count: str
    median: str
    mean: str
    p90: str
    bias: str
    leans: str
    within_10: str
    within_25: str
    drawing: Scatter | None
    table: ErrorTable | None
    worst: tuple[WorstRow, ...]
