"""The curves of the sweeps.

In: the case → Out: a `Graph` for each sweep and unit, and whether it compares what options cost.
Invariant: positions are in the drawing's own 640 units of width; curves differ in dashes and carry their names, so
that they are told apart in grey.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from capgraph.emit.memo.case import Case
from capgraph.emit.memo.charts import axis, wrapped
from capgraph.emit.memo.cite import show
from capgraph.emit.memo.drawing import Dot, Graph, Line, Tick
from capgraph.emit.memo.scale import Scale
from capgraph.findings import Curve
from capgraph.model import Quantity, Sweep
from capgraph.notation import show_in_prose, show_number

_LEFT, _RIGHT, _TOP, _BOTTOM = 62.0, 466.0, 26.0, 190.0
_LABEL_LETTERS, _LABEL_LINES, _LABEL_STEP = 20, 3, 14.0
_DASHES = 5
_STROKE = 16.0
_TICK_ROOM = 34.0
"""Places between two ticks below which their numbers would touch."""
_WIDE_RANGE = 20.0
"""Times the least value from which a logarithmic axis shows more of the curves."""

Points = tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class _Plot:
    """A sweep's place in the drawing: where its values stand across, and numbers upright."""

    case: Case
    sweep: Sweep
    across: Sequence[float]
    x: Scale
    y: Scale

    @property
    def over(self) -> Quantity:
        """Return the swept input."""
        return self.case.plan.model.quantities[self.sweep.over]


def draw_graphs(case: Case) -> tuple[tuple[Graph, bool], ...]:
    """Return the graphs of the sweeps, and of each whether it compares options' costs.

    A sweep over options among which today's is not, such as the parts of a whole, is for the workbook's table alone.
    """
    return tuple(graph for curve in case.findings.curves if _has_today(case, curve) for graph in _graphs(case, curve))


def _has_today(case: Case, curve: Curve) -> bool:
    sweep = case.plan.model.sweeps[curve.sweep]
    today = case.result.values[sweep.over]
    return not isinstance(today, str) or today in sweep.values


def _graphs(case: Case, curve: Curve) -> Iterator[tuple[Graph, bool]]:
    quantities = case.plan.model.quantities
    by_unit: dict[str, dict[str, Points]] = {}
    for name, points in curve.lines.items():
        if any(point is not None for point in points):
            by_unit.setdefault(quantities[name].unit_text, {})[name] = points
    for number, (unit, lines) in enumerate(by_unit.items()):
        shown = dict(list(lines.items())[:_DASHES])
        costs = [name for name in _costs(case) if name in shown]
        yield _graph(case, case.plan.model.sweeps[curve.sweep], number, shown, unit, costs), len(costs) > 1


def _costs(case: Case) -> tuple[str, ...]:
    decision = case.plan.model.decision
    options = decision.options.values() if decision else ()
    return tuple(dict.fromkeys(option.cost for option in options if option.cost))


def _graph(
    case: Case, sweep: Sweep, number: int, lines: Mapping[str, Points], unit: str, costs: Sequence[str]
) -> Graph:
    plot = _plot(case, sweep, lines)
    quantities = case.plan.model.quantities
    today, crossings = _today(plot), tuple(_crossings(plot, lines, costs))
    labels = {name: quantities[name].label for name in lines}
    ends = "; ".join(
        f"{labels[name]}: {_end(points[0], unit)} to {_end(points[-1], unit)}"
        for name, points in lines.items()
    )
    caption = _caption(plot, today, crossings, len(costs) > 1)
    only = next(iter(labels.values())) if len(labels) == 1 else "" if len(costs) < len(labels) else "Cost"
    return Graph(
        id=f"sweep-{sweep.id}-{number}",
        caption=caption,
        words=f"{caption} From {_value(plot, 0)} to {_value(plot, -1)}: {ends}.",
        right=_RIGHT,
        bottom=_BOTTOM,
        lines=tuple(_lines(plot, lines, labels)),
        across=_across_ticks(plot),
        upright=tuple(Tick(plot.y(value), show_number(value)) for value in plot.y.ticks(4)),
        across_label=axis(plot.over.label, plot.over.unit_text),
        upright_label=axis(only, unit) if only else unit,
        today=today,
        crossings=crossings,
    )


def _plot(case: Case, sweep: Sweep, lines: Mapping[str, Points]) -> _Plot:
    numeric = _is_numeric(sweep)
    across = [
        float(value) if numeric else float(number) for number, value in enumerate(sweep.values)
    ]  # fmt: skip
    log = numeric and sweep.scale == "log" and min(across) > 0
    found = [point for points in lines.values() for point in points if point is not None]
    low, high = min(found), max(found)
    if log and low > 0 and high > low * _WIDE_RANGE:
        y = Scale(low, high, _BOTTOM, _TOP, log=True)
    else:
        y = Scale(min(low, 0.0), max(high, 0.0), _BOTTOM, _TOP)
    # Options of a choice stand apart from the edges; between them there is nothing to read.
    edge = 0.0 if numeric else 0.5
    return _Plot(case, sweep, across, Scale(min(across) - edge, max(across) + edge, _LEFT, _RIGHT, log), y)


def _lines(plot: _Plot, lines: Mapping[str, Points], labels: Mapping[str, str]) -> Iterator[Line]:
    texts = {name: wrapped(labels[name], _LABEL_LETTERS, _LABEL_LINES) for name in lines}
    ends = {name: _last(plot, points) for name, points in lines.items()}
    places = _apart([(ends[name], len(texts[name])) for name in lines])
    for number, (name, points) in enumerate(lines.items()):
        yield Line(_path(plot, points), number % _DASHES, texts[name], places[number])


def _last(plot: _Plot, points: Points) -> float:
    return plot.y(next(point for point in reversed(points) if point is not None))


def _apart(labels: Sequence[tuple[float, int]]) -> list[float]:
    """Move the labels' middles down, then up, until no two of them overlap."""
    places = [place for place, _ in labels]
    order = sorted(range(len(labels)), key=lambda number: places[number])
    for above, below in pairwise(order):
        least = places[above] + (labels[above][1] + labels[below][1]) * _LABEL_STEP / 2
        places[below] = max(places[below], least)
    for below, above in pairwise(reversed(order)):
        most = (
            min(places[below], _BOTTOM + _LABEL_STEP)
            - (labels[above][1] + labels[below][1]) * _LABEL_STEP / 2
        )
        places[above] = min(places[above], most)
    return [round(place, 2) for place in places]


def _path(plot: _Plot, points: Points) -> str:
    """Write a curve, interrupted where it has no value; over the options of a choice, a stroke for each."""
    if not _is_numeric(plot.sweep):
        return "".join(
            f"M{plot.x(across) - _STROKE} {plot.y(point)}H{plot.x(across) + _STROKE}"
            for across, point in zip(plot.across, points, strict=True)
            if point is not None
        )
    parts, pen = [], "M"
    for across, point in zip(plot.across, points, strict=True):
        if point is None:
            pen = "M"
            continue
        parts.append(f"{pen}{plot.x(across)} {plot.y(point)}")
        pen = "L"
    return "".join(parts)


def _today(plot: _Plot) -> Tick | None:
    """Return where the selected scenario stands in the sweep."""
    value = plot.case.result.values[plot.sweep.over]
    if isinstance(value, float) and _is_numeric(plot.sweep):
        inside = plot.x.low <= value <= plot.x.high
        return Tick(plot.x(value), show(plot.case.plan, plot.over, value, as_given=True)) if inside else None
    if value not in plot.sweep.values:
        return None
    return Tick(plot.x(float(plot.sweep.values.index(value))), show(plot.case.plan, plot.over, value))


def _across_ticks(plot: _Plot) -> tuple[Tick, ...]:
    values = plot.sweep.values
    if _is_numeric(plot.sweep):
        ticks = [Tick(plot.x(value), show_number(value)) for value in plot.x.ticks(6)]
    else:
        ticks = [
            Tick(plot.x(float(number)), show(plot.case.plan, plot.over, value))
            for number, value in enumerate(values)
        ]
    return spaced(ticks)


def spaced(ticks: Sequence[Tick]) -> tuple[Tick, ...]:
    """Leave out the ticks of an axis whose numbers would touch the ones before."""
    kept: list[Tick] = []
    for tick in ticks:
        if not kept or tick.x - kept[-1].x >= max(_TICK_ROOM, 3.4 * (len(tick.text) + len(kept[-1].text))):
            kept.append(tick)
    return tuple(kept)


def _crossings(plot: _Plot, lines: Mapping[str, Points], costs: Sequence[str]) -> Iterator[Dot]:
    """Yield where two costs cross, on the lines as they are drawn."""
    if not _is_numeric(plot.sweep):
        return
    for one, other in combinations(costs, 2):
        ends = zip(plot.across, lines[one], lines[other], strict=True)
        for (x0, a0, b0), (x1, a1, b1) in pairwise(ends):
            if a0 is None or b0 is None or a1 is None or b1 is None or (a0 < b0) == (a1 < b1):
                continue
            before, after = plot.y(a0) - plot.y(b0), plot.y(a1) - plot.y(b1)
            share = before / (before - after) if before != after else 0.0
            x = plot.x(x0) + share * (plot.x(x1) - plot.x(x0))
            y = plot.y(a0) + share * (plot.y(a1) - plot.y(a0))
            value = float(f"{plot.x.at(x):.2g}")
            yield Dot(round(x, 2), round(y, 2), show_in_prose(value, plot.over.unit_text))


def _caption(plot: _Plot, today: Tick | None, crossings: Sequence[Dot], of_costs: bool) -> str:
    parts = [plot.sweep.label]
    if today:
        parts.append(f"the upright line is today’s value, {today.text}")
    if len(crossings) == 1:
        parts.append(f"the circle is where both cost the same, about {crossings[0].text}")
    elif len(crossings) > 3:
        parts.append(
            f"they cost the same at {len(crossings)} places (circles), the first at about {crossings[0].text}"
        )
    elif crossings:
        parts.append(
            f"the circles are where both cost the same, about {' and '.join(dot.text for dot in crossings)}"
        )
    elif of_costs:
        parts.append("no two curves cross in this range")
    because = plot.sweep.provenance.because
    return f"{'; '.join(parts)}.{f' {because}' if because else ''}"


def _is_numeric(sweep: Sweep) -> bool:
    return all(isinstance(value, float) for value in sweep.values)


def _end(value: float | None, unit: str) -> str:
    return show_in_prose(value, unit)


def _value(plot: _Plot, number: int) -> str:
    return show(plot.case.plan, plot.over, plot.sweep.values[number])
