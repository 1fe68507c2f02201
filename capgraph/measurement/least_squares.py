"""Predictions beside measurements → the parameters that bring them nearest, and how sure that is.

In: a function from parameters to predictions, what was measured, and each parameter's limits → Out: `Solution`.
Invariant: deterministic; limits are never crossed; the derivatives come with the predictions, in one call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Predict = Callable[[Numbers], Numbers]
"""Parameters of shape (sets, parameters) → predictions of shape (sets, rows); nan where there is none."""

TOLERATED = 0.1
"""Relative errors up to about this size count by their square, larger ones by their size (`soft_l1` of scipy)."""
STEP = 1e-6
NO_PREDICTION = 20.0
"""The logarithm of the error where parameters give no prediction above zero: far beyond any that do."""
AT_LIMIT = 1e-5
FINE, COARSE = 1e-10, 1e-6
"""How near a search comes to the best place; the error on rows that are left out needs fewer digits than a value."""
SINGULAR = 1e4
"""Beyond this condition number of the scaled derivatives there is no solution, but a line of them."""
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Axis:
    """The limits of a parameter and where its search starts; one above zero is searched by its logarithm."""

    low: float
    high: float
    start: float
    expected: tuple[float, float] | None = None
    """Where it lies two times of three: as good as one measurement with an error of `TOLERATED`."""

    @property
    def is_logarithmic(self) -> bool:
        """Say whether equal steps of the search are equal ratios."""
        return self.low > 0

    def at(self, start: float) -> Axis:
        """Return the axis with another start."""
        return replace(self, start=min(max(start, self.low), self.high))

    def surprise(self, value: float) -> tuple[float, float]:
        """Return how far a value is from what is expected, as an error, and how that changes with the place."""
        if self.expected is None:
            return 0.0, 0.0
        low, high = self.expected
        return TOLERATED * (2 * value - low - high) / (high - low), 2 * TOLERATED * self.slope(value) / (
            high - low
        )

    @property
    def scale(self) -> float:
        """Return the step of the search that counts as one, where steps are differences."""
        return abs(self.start) or (self.high - self.low) / 2

    def inward(self, value: float) -> float:
        """Return where a value stands on the axis."""
        return float(np.log(value)) if self.is_logarithmic else value / self.scale

    def outward(self, place: Numbers) -> Numbers:
        """Return the values that stand at places of the axis, within the limits."""
        within = np.clip(place, self.inward(self.low), self.inward(self.high))
        values = np.exp(within) if self.is_logarithmic else within * self.scale
        return np.asarray(np.clip(values, self.low, self.high), dtype=float)

    def slope(self, value: float) -> float:
        """Return by how much the value changes with the place."""
        return value if self.is_logarithmic else self.scale

    def spread(self, count: int) -> tuple[float, ...]:
        """Return places to start from: the start itself, then others between the limits, at most tenfold away."""
        low, high, start = self.inward(self.low), self.inward(self.high), self.inward(self.start)
        reach = np.log(10) if self.is_logarithmic else 10.0
        low, high = max(low, start - reach), min(high, start + reach)
        return (start, *(float(low + (high - low) * number / count) for number in range(1, count)))


@dataclass(frozen=True, slots=True)
class Solution:
    """The parameters that fit best, and what the data say of them.

    `errors` are standard errors (nan for a parameter at its limit, or that moves nothing), `low`..`high` the 95 %
    interval, `correlation` is of shape (parameters, parameters); `condition` tells how near they are to collinear.
    """

    values: Numbers
    cost: float
    errors: Numbers
    low: Numbers
    high: Numbers
    correlation: Numbers
    condition: float
    at_limit: NDArray[np.bool_]
    still: NDArray[np.bool_]
    """Parameters that move no prediction there."""


def solve(predict: Predict, measured: Numbers, axes: Sequence[Axis], starts: int = 3) -> Solution:
    """Fit by least squares of ln(predicted / measured), where large errors count by their size alone.

    Several starts: with `max` or `if` in the formulas the nearest minimum need not be the lowest.
    """
    places = zip(*(axis.spread(starts) for axis in axes), strict=True)
    # The first of equals, so that a fit which is right already stays as it is.
    precision = FINE if starts > 1 else COARSE
    found = [_search(predict, measured, axes, np.array(place), precision) for place in places]
    best = min(found, key=lambda item: round(item[1], 12))
    return _judged(predict, measured, axes, *best)


def _search(
    predict: Predict, measured: Numbers, axes: Sequence[Axis], start: Numbers, precision: float
) -> tuple[Numbers, float]:
    from scipy.optimize import least_squares

    low, high = _bounds(axes)
    margin = np.minimum(1e-9, (high - low) / 4)
    known: dict[bytes, tuple[Numbers, Numbers]] = {}

    def at(place: Numbers) -> tuple[Numbers, Numbers]:
        key = place.tobytes()
        if key not in known:
            known.clear()
            known[key] = _residuals(predict, measured, axes, place)
        return known[key]

    def residuals(place: Numbers) -> Numbers:
        return at(place)[0]

    def derivatives(place: Numbers) -> Numbers:
        return at(place)[1]

    made = least_squares(
        residuals,
        np.clip(start, low + margin, high - margin),
        jac=derivatives,
        bounds=(low, high),
        loss="soft_l1",
        f_scale=TOLERATED,
        xtol=precision,
        ftol=precision / 1000,
        gtol=precision / 1000,
        max_nfev=200,
    )
    return np.asarray(made.x, dtype=float), float(made.cost)


def _bounds(axes: Sequence[Axis]) -> tuple[Numbers, Numbers]:
    """Return the places between which the search stays. Shapes: (parameters,)."""
    ends = np.array([(axis.inward(axis.low), axis.inward(axis.high)) for axis in axes])
    return ends[:, 0], ends[:, 1]


def _residuals(
    predict: Predict, measured: Numbers, axes: Sequence[Axis], place: Numbers
) -> tuple[Numbers, Numbers]:
    """Return ln(predicted / measured), then what departs from expectations, and the derivatives by place.

    Shapes: (rows + expectations,) and (rows + expectations, parameters).
    """
    _, high = _bounds(axes)
    steps = np.where(place + STEP > high, -STEP, STEP)
    places = place + np.vstack([np.zeros(len(axes)), np.diag(steps)])
    values = np.column_stack([axis.outward(places[:, number]) for number, axis in enumerate(axes)])
    predicted = predict(values)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(predicted / measured)
    logs = np.where(np.isfinite(logs), logs, NO_PREDICTION)
    surprises = [axis.surprise(value) for axis, value in zip(axes, values[0], strict=True)]
    expected = np.array([axis.expected is not None for axis in axes])
    residuals = np.concatenate([logs[0], np.array([size for size, _ in surprises])[expected]])
    slopes = np.diag([slope for _, slope in surprises])[expected]
    return residuals, np.vstack([((logs[1:] - logs[0]) / steps[:, None]).T, slopes])


def _judged(
    predict: Predict, measured: Numbers, axes: Sequence[Axis], place: Numbers, cost: float
) -> Solution:
    from scipy.special import stdtrit

    residuals, jacobian = _residuals(predict, measured, axes, place)
    low, high = _bounds(axes)
    near = AT_LIMIT * np.minimum(1.0, high - low)
    at_limit = (place - low < near) | (high - place < near)
    place = np.where(place - low < near, low, np.where(high - place < near, high, place))
    still = np.linalg.norm(jacobian[: measured.size], axis=0) < 1e-7
    free = ~(at_limit | still)
    covariance, condition = _covariance(residuals, jacobian[:, free])
    deviations = np.sqrt(np.diag(covariance))
    spread = np.full(len(axes), np.nan)
    spread[free] = deviations
    correlation = np.eye(len(axes))
    with np.errstate(divide="ignore", invalid="ignore"):
        own = np.nan_to_num(covariance / np.outer(deviations, deviations))
    correlation[np.ix_(free, free)] = own
    np.fill_diagonal(correlation, 1.0)
    values = np.array([_value(axis, where) for axis, where in zip(axes, place, strict=True)])
    factor = stdtrit(max(residuals.size - int(free.sum()), 1), (1 + CONFIDENCE) / 2)
    reach = factor * np.nan_to_num(spread)
    return Solution(
        values,
        cost,
        np.array([axis.slope(value) for axis, value in zip(axes, values, strict=True)]) * spread,
        np.array([_value(axis, where) for axis, where in zip(axes, place - reach, strict=True)]),
        np.array([_value(axis, where) for axis, where in zip(axes, place + reach, strict=True)]),
        correlation,
        condition,
        at_limit,
        still,
    )


def _value(axis: Axis, place: float) -> float:
    return float(axis.outward(np.array([place]))[0])


def _covariance(residuals: Numbers, jacobian: Numbers) -> tuple[Numbers, float]:
    """Return the covariance of the parameters and the condition of their derivatives, scaled to equal length.

    Huber and Ronchetti, Robust Statistics (2009), section 7.6: the variance of an M-estimator,
    mean(psi^2) / mean(psi')^2 * inverse(J'J), here with rows less parameters as the degrees of freedom.
    """
    rows, parameters = jacobian.shape
    if not parameters:
        return np.zeros((0, 0)), 1.0
    lengths = np.linalg.norm(jacobian, axis=0)
    singular = np.linalg.svd(jacobian / lengths, compute_uv=False)
    condition = float(singular[0] / singular[-1]) if singular[-1] > 0 else float("inf")
    ratio = 1 + (residuals / TOLERATED) ** 2
    influence, bend = residuals / np.sqrt(ratio), ratio**-1.5
    variance = float((influence**2).sum() / max(rows - parameters, 1) / bend.mean() ** 2)
    inverse = np.linalg.pinv((jacobian / lengths).T @ (jacobian / lengths))
    return variance * inverse / np.outer(lengths, lengths), condition


def rounded(value: float, error: float) -> float:
    """Round a parameter to a thousandth of its standard error, so that what is written is what was judged."""
    if value == 0 or not np.isfinite(value):
        return value
    least = abs(value) * 1e-9
    unit = max(error / 1000 if np.isfinite(error) else least, least)
    return round(value, -int(np.floor(np.log10(unit))))


def shares(count: int, folds: int) -> tuple[NDArray[np.intp], ...]:
    """Split row numbers into folds of nearly equal size, the same ones each time."""
    mixed = np.random.default_rng(0).permutation(count)
    edges = np.linspace(0, count, folds + 1).astype(int)
    return tuple(np.sort(mixed[first:last]) for first, last in pairwise(edges))
