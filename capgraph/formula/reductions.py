"""The table of reductions over a sweep: one record is everything the language knows of one.

In: a reduction's name → Out: its `Reduction` record. Adding a reduction is adding a record.
Invariant: a row of `values` is one lane's points in order; `picked` marks the points that fit the condition.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Reduction:
    """A reduction: `compute(values, picked)` gives one number a lane; `needs_a_point` says it has none otherwise.

    `takes` says what stands before `over`: a number, or a condition. `excel` holds columns of the sweep's table:
    `{values}`, `{fitting}` (the value where the condition holds, else an empty text) and `{position}` (the point's
    number from 1 where it holds, else an empty text).
    """

    name: str
    takes: Literal["number", "condition"]
    needs_a_point: bool
    compute: Callable[[Array, Flags], NDArray[Any]]
    excel: str
    doc: str


def _first(values: Array, picked: Flags) -> Array:
    lanes = np.arange(len(values))
    return np.asarray(values[lanes, np.argmax(picked, axis=1)])


def _last(values: Array, picked: Flags) -> Array:
    return _first(values[:, ::-1], picked[:, ::-1])


def _sum(values: Array, picked: Flags) -> Array:
    # One after the other, as a spreadsheet adds: numpy's pairwise sum differs in the last digits.
    return np.asarray(np.add.accumulate(np.where(picked, values, 0.0), axis=1)[:, -1])


def _min(values: Array, picked: Flags) -> Array:
    return np.asarray(np.where(picked, values, np.inf).min(axis=1))


def _max(values: Array, picked: Flags) -> Array:
    return np.asarray(np.where(picked, values, -np.inf).max(axis=1))


def _count(_values: Array, picked: Flags) -> Array:
    return np.asarray(picked.sum(axis=1, dtype=np.float64))


def _mean(values: Array, picked: Flags) -> Array:
    return np.asarray(_sum(values, picked) / np.maximum(picked.sum(axis=1), 1))


_RECORDS = (
    Reduction(
        "sum", "number", False, _sum, "SUM({fitting})", "The sum over the points that fit; 0 when none does.",
    ),
    Reduction(
        "mean", "number", True, _mean, "AVERAGE({fitting})", "The mean over the points that fit.",
    ),
    Reduction(
        "min", "number", True, _min, "IF(COUNT({fitting})=0,NA(),MIN({fitting}))",
        "The smallest value among the points that fit.",
    ),
    Reduction(
        "max", "number", True, _max, "IF(COUNT({fitting})=0,NA(),MAX({fitting}))",
        "The largest value among the points that fit.",
    ),
    Reduction(
        "count", "condition", False, _count, "COUNT({position})", "How many points fit the condition.",
    ),
    Reduction(
        "first", "number", True, _first, "IF(COUNT({position})=0,NA(),INDEX({values},MIN({position})))",
        "The value at the first point that fits, in the sweep's order.",
    ),
    Reduction(
        "last", "number", True, _last, "IF(COUNT({position})=0,NA(),INDEX({values},MAX({position})))",
        "The value at the last point that fits, in the sweep's order.",
    ),
)  # fmt: skip

REDUCTIONS = MappingProxyType({record.name: record for record in _RECORDS})
INTERPOLATE = "interpolate"
INTERPOLATE_DOC = (
    "The value at a number of the swept input between two points, on the straight line between them."
)


def interpolate(points: Array, values: Array, at: Array) -> Array:
    """Return each lane's value at `at` on the lines between its points, which ascend; nan outside them.

    Shapes: points (n,), values (lanes, n), at (lanes,).
    """
    right = np.clip(np.searchsorted(points, at, side="left"), 1, len(points) - 1)
    lanes = np.arange(len(values))
    low, high = points[right - 1], points[right]
    share = (at - low) / (high - low)
    line = values[lanes, right - 1] + share * (values[lanes, right] - values[lanes, right - 1])
    return np.asarray(np.where((at < points[0]) | (at > points[-1]), np.nan, line))
