"""Where a calculated number meets a wanted one as an input moves.

In: the gap between the two as a function of lanes, and for each input the values to try → Out: the crossings that
are nearest to where the input stands, below and above it, and where the gap is smallest.
Invariant: all inputs and all values of a round are lanes of one call; nothing is assumed of the function's shape.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from capgraph.model import Limits

Floats = NDArray[np.float64]
Gap = Callable[[NDArray[np.intp], Floats], Floats]
"""(which input, its value) a lane → the gaps of that lane, nan where there is none. Shape: (lanes, wanted numbers)."""

Search = Callable[[Gap, Sequence[Floats], Sequence[float]], tuple[tuple[int, float], ...]]
"""(gap, values to try, where each input stands) → (which input, value) of what is found."""

PARTS = 16
ROUNDS = 14
"""Sixteen parts, fourteen times: a cell is cut by 2 to the 56th, more than the digits of a double."""
FURTHEST = 1_000.0
"""How many times its own size an input without limits is followed."""
PER_DECADE = 12
_SHARES = np.linspace(0, 1, PARTS + 1)


@dataclass(frozen=True, slots=True)
class Bracket:
    """Two values of an input between which one gap changes its sign; `sign` is that at `inner`, the nearer one."""

    which: int
    wanted: int
    inner: float
    outer: float
    sign: float


def values_to_try(value: float, limits: Limits) -> Floats:
    """Return the values between an input's hard limits that are tried, its own among them, in ascending order.

    They stand at equal steps through its range and its limits, and at equal ratios around its own size.
    """
    given = [
        item for item in (value, limits.low, limits.high, limits.minimum, limits.maximum) if item is not None
    ]
    size = abs(value) or max((abs(item) for item in given), default=0.0)
    decades = np.log10(FURTHEST) if size else 6.0
    size = size or 1.0
    below = limits.minimum if limits.minimum is not None else min(FURTHEST * min(given), 0.0)
    above = limits.maximum if limits.maximum is not None else max(*given, size * 10.0**decades)
    ratios = size * 10.0 ** np.linspace(-decades, decades, int(2 * decades * PER_DECADE) + 1)
    spans = [(below, above), (limits.low, limits.high)]
    equal = [
        np.linspace(low, high, 2 * PARTS + 1) for low, high in spans if low is not None and high is not None
    ]
    made = np.concatenate([ratios, -ratios, *equal, np.array(given)])
    return np.unique(made[(made >= below) & (made <= above)])


def crossings(gap: Gap, grids: Sequence[Floats], starts: Sequence[float]) -> tuple[tuple[int, float], ...]:
    """Return (which input, value) of the crossings, in the order of the inputs.

    A gap that jumps over zero counts as crossing there; the side with the smaller gap is returned.
    """
    brackets = [
        found
        for number, (grid, gaps) in enumerate(_calculated(gap, grids))
        for found in _brackets(number, grid, gaps, int(np.searchsorted(grid, starts[number])))
    ]
    return _narrowed(gap, brackets) if brackets else ()


def nearest(gap: Gap, grids: Sequence[Floats], _: Sequence[float]) -> tuple[tuple[int, float], ...]:
    """Return (which input, value) where the largest of its gaps is smallest, so far as the grids show it."""
    low, best, high = (np.empty(len(grids)) for _ in range(3))
    for number, (grid, gaps) in enumerate(_calculated(gap, grids)):
        at = int(_largest(gaps).argmin())
        low[number], best[number] = grid[max(at - 1, 0)], grid[at]
        high[number] = grid[min(at + 1, grid.size - 1)]
    rows, which = np.arange(len(grids)), np.repeat(np.arange(len(grids)), PARTS + 2)
    for _round in range(ROUNDS // 2):
        points = np.sort(
            np.column_stack([best, low[:, None] * (1 - _SHARES) + high[:, None] * _SHARES]), axis=1
        )
        sizes = _largest(gap(which, points.ravel())).reshape(points.shape)
        place = sizes.argmin(axis=1)
        low, best = points[rows, np.maximum(place - 1, 0)], points[rows, place]
        high = points[rows, np.minimum(place + 1, PARTS + 1)]
    return tuple(enumerate(best.tolist()))


def _calculated(gap: Gap, grids: Sequence[Floats]) -> Iterator[tuple[Floats, Floats]]:
    """Yield each grid with its gaps, all from one call."""
    sizes = [grid.size for grid in grids]
    gaps = gap(np.repeat(np.arange(len(grids)), sizes), np.concatenate(grids))
    return zip(grids, np.split(gaps, np.cumsum(sizes)[:-1]), strict=True)


def _largest(gaps: Floats) -> Floats:
    """Return the largest size of each lane's gaps, infinite where one has no value."""
    sizes: Floats = np.abs(gaps).max(axis=1)
    return np.where(np.isnan(sizes), np.inf, sizes)


def _brackets(number: int, grid: Floats, gaps: Floats, start: int) -> Iterator[Bracket]:
    """Yield where each gap first differs in sign from its own at the start, going up and going down."""
    for wanted in range(gaps.shape[1]):
        signs = np.sign(gaps[:, wanted])
        sign = signs[start]
        if np.isnan(sign):
            continue
        if sign == 0:
            yield Bracket(number, wanted, float(grid[start]), float(grid[start]), 0.0)
            continue
        other = np.flatnonzero(~np.isnan(signs) & (signs != sign))
        for outer, step in ((other[other > start][:1], 1), (other[other < start][-1:], -1)):
            for place in outer:
                yield Bracket(number, wanted, float(grid[place - step]), float(grid[place]), float(sign))


def _narrowed(gap: Gap, brackets: Sequence[Bracket]) -> tuple[tuple[int, float], ...]:
    """Return the value that each bracket closes in on."""
    which = np.array([item.which for item in brackets])
    wanted = np.array([item.wanted for item in brackets])
    signs = np.array([item.sign for item in brackets])
    inner, outer = (np.array([getattr(item, end) for item in brackets]) for end in ("inner", "outer"))
    rows = np.arange(which.size)

    def own_gap(points: Floats) -> Floats:
        lanes = gap(np.repeat(which, points.shape[1]), points.ravel())
        own: Floats = lanes[np.arange(points.size), np.repeat(wanted, points.shape[1])]
        return own.reshape(points.shape)

    for _ in range(ROUNDS):
        points = inner[:, None] * (1 - _SHARES) + outer[:, None] * _SHARES
        gaps = own_gap(points)
        over = ~np.isnan(gaps) & (np.sign(gaps) != signs[:, None])
        over[:, -1] = True
        first = np.maximum(over.argmax(axis=1), 1)
        inner, outer = points[rows, first - 1], points[rows, first]
    ends = np.column_stack([outer, inner])
    sizes = np.nan_to_num(np.abs(own_gap(ends)), nan=np.inf)
    return tuple(zip(which.tolist(), ends[rows, sizes.argmin(axis=1)].tolist(), strict=True))
