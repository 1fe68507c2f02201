"""Predicted against measured, on logarithmic axes, with the diagonal and the bands around it.

In: a backtest and one of its quantities → Out: `Scatter`; `templates/memo/scatter.svg.j2` draws it.
Invariant: one path a group, however many points; groups differ in the shape of their marks, not in colour alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from capgraph.emit.memo.case import Case
from capgraph.emit.memo.charts import axis, wrapped
from capgraph.emit.memo.cite import group_name
from capgraph.emit.memo.drawing import Band, Cloud, Scatter, Tick
from capgraph.emit.memo.graphs import spaced
from capgraph.emit.memo.scale import Scale
from capgraph.findings import Backtest, Comparison
from capgraph.notation import show_in_prose, show_number

_LEFT, _TOP, _SIDE = 62.0, 24.0, 140.0
_LEGEND, _LEGEND_STEP, _LETTERS = 234.0, 18.0, 58
_MOST_GROUPS = 6
_MANY = 300
"""Points from which the marks are drawn smaller."""
_PADDING = 1.15
_LEAST_SPAN = 3.0
"""Times the least value that the axes reach at least, so that the bands have room."""
_WIDTHS = (0.25, 0.10)


def draw_scatter(case: Case, item: Backtest, number: int, name: str) -> Scatter | None:
    """Lay out the points of one quantity, told apart by the first column of few groups; None where there are none."""
    comparison, entry = item.comparisons[name], case.plan.model.quantities[name]
    both = np.array([comparison.measured, comparison.predicted])
    # A logarithmic axis has no place for a prediction of zero or less.
    known = np.isfinite(both).all(axis=0)
    shown = known & (both > 0).all(axis=0)
    if not shown.any():
        return None
    low, high = _ends(both[:, shown])
    across = Scale(low, high, _LEFT, _LEFT + _SIDE, log=True)
    upright = Scale(low, high, _TOP + _SIDE, _TOP, log=True)
    column = _column(item, name)
    members = _members(item, column, shown)
    size = 2.2 if shown.sum() > _MANY else 3.2
    clouds, place = [], _TOP + 8
    for shape, (group, rows) in enumerate(members.items()):
        label = wrapped(f"{group_name(case.plan, column, group)} ({len(rows):,})", _LETTERS) if column else ()
        sample = mark(_LEGEND + 8, place, shape, 3.2) if column else ""
        points = _points(across, upright, comparison, rows)
        path = "".join(mark(x, y, shape, size) for x, y in points)
        clouds.append(Cloud(path, stroke(shape, size), label, place, sample))
        place += _LEGEND_STEP + 13.5 * max(len(label) - 1, 0) if column else 0.0
    bands = []
    for width in _WIDTHS:
        bands.append(Band(_band(across, upright, low, high, width), f"within ±{width:.0%}", place + 6))
        place += _LEGEND_STEP
    errors = item.errors[name]
    caption = f"Predicted against measured, {errors.count:,} rows of {item.data}"
    if lost := int(known.sum() - shown.sum()):
        caption += f"; {lost:,} of them predicted at zero or below {'is' if lost == 1 else 'are'} not drawn"
    return Scatter(
        id=f"backtest-{number}-{name}",
        caption=f"{caption}. Above the diagonal the model predicts too much.",
        words=f"{entry.label}. {caption}, from {show_in_prose(low * _PADDING, entry.unit_text)} to "
        f"{show_in_prose(high / _PADDING, entry.unit_text)}; {errors.within_10:.0%} lie within ±10% of the "
        f"diagonal, {errors.within_25:.0%} within ±25%.",
        left=_LEFT,
        top=_TOP,
        side=_SIDE,
        bands=tuple(bands),
        clouds=tuple(clouds),
        across=spaced([Tick(across(value), show_number(value)) for value in across.ticks()]),
        upright=tuple(Tick(upright(value), show_number(value)) for value in upright.ticks()),
        across_label=f"Measured: {axis(entry.label, entry.unit_text)}",
        upright_label=f"Predicted: {axis(entry.label, entry.unit_text)}",
        legend=_LEGEND,
    )


def _ends(both: NDArray[np.float64]) -> tuple[float, float]:
    """Return the ends of both axes: all points, some room around them, and never less than the bands need."""
    low, high = float(both.min()) / _PADDING, float(both.max()) * _PADDING
    if high < low * _LEAST_SPAN:
        middle = (low * high) ** 0.5
        low, high = middle / _LEAST_SPAN**0.5, middle * _LEAST_SPAN**0.5
    return low, high


def _column(item: Backtest, name: str) -> str:
    """Return the first column that has few enough groups for a legend, or nothing."""
    for column, groups in item.groups.items():
        if 1 < sum(name in errors for errors in groups.values()) <= _MOST_GROUPS:
            return column
    return ""


def _members(item: Backtest, column: str, shown: NDArray[np.bool_]) -> Mapping[str, Sequence[int]]:
    rows = [int(row) for row in np.flatnonzero(shown)]
    if not column:
        return {"": rows}
    texts = item.texts(column)
    members: dict[str, list[int]] = {group: [] for group in item.groups[column]}
    for row in rows:
        members[texts[row]].append(row)
    return {group: found for group, found in members.items() if found}


def _points(
    across: Scale, upright: Scale, comparison: Comparison, rows: Sequence[int]
) -> Sequence[tuple[float, float]]:
    """Return where rows stand, each place once."""
    places = (
        (round(across(comparison.measured[row]), 1), round(upright(comparison.predicted[row]), 1))
        for row in rows
    )
    return list(dict.fromkeys(places))


def mark(x: float, y: float, shape: int, size: float) -> str:
    """Write a mark as a piece of an SVG path: dot, cross, square, plus, triangle or diamond.

    A dot is a stroke of no length with round ends: WeasyPrint takes ten times as long over a circle.
    """
    r, d = size, round(2 * size, 1)
    match shape % _MOST_GROUPS:
        case 0:
            return f"M{x:g} {y:g}h0"
        case 1:
            return f"M{x - r:g} {y - r:g}l{d} {d}m{-d} 0l{d} {-d}"
        case 2:
            return f"M{x - r:g} {y - r:g}h{d}v{d}h{-d}z"
        case 3:
            return f"M{x - r:g} {y:g}h{d}m{-r} {-r}v{d}"
        case 4:
            return f"M{x:g} {y - r:g}l{r} {d}h{-d}z"
        case _:
            return f"M{x:g} {y - r:g}l{r} {r}l{-r} {r}l{-r} {-r}z"


def stroke(shape: int, size: float) -> float:
    """Return how wide the strokes of a mark are; a dot is all stroke."""
    return round(1.6 * size, 1) if shape % _MOST_GROUPS == 0 else 0.9


def _band(across: Scale, upright: Scale, low: float, high: float, width: float) -> str:
    """Write the outline of what lies within a share of the measurement; lines of one ratio are straight here."""
    above, below = 1 + width, 1 - width
    corners = (
        (low, low), (low, low * above), (high / above, high), (high, high), (high, high * below), (low / below, low),
    )  # fmt: skip
    return "M" + "L".join(f"{across(x):g} {upright(y):g}" for x, y in corners) + "z"
