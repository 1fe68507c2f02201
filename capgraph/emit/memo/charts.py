"""The charts: cost by option, what moves the target, what a whole is made of.

In: the case and the views that the text shows → Out: `Drawings`: where each bar, tick and word of a chart stands;
`templates/memo/chart.svg.j2` draws them.
Invariant: positions are in the drawing's own 640 units of width; marks side by side differ in hatch, not in colour
alone.

Bars and ticks are all there is, so a template draws them: importing matplotlib and laying its figures out took a
third of the memo's time, and the charts' look stays with the rest of the look.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from capgraph.emit.memo.case import Case
from capgraph.emit.memo.drawing import Bar, Drawing, Drawings, Mark, Note, Tick
from capgraph.emit.memo.view import OptionView, SwingView
from capgraph.findings import Swing
from capgraph.model import Chart
from capgraph.notation import show_in_prose, show_number

WIDTH = 640.0
_LABELS = 196.0
"""Where the column of labels ends."""
_SOLID, _HATCHED = 0, 1
_FILLS = 6
_LABEL_LETTERS = 28
_SWINGS_SHOWN = 10
_LETTER = 6.6
"""Width of a letter, near enough to leave room for a text."""


@dataclass(frozen=True, slots=True)
class _Scale:
    """Numbers from `low` to `high` to places from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        step = (self.end - self.start) / (self.high - self.low) if self.high > self.low else 0.0
        return round(self.start + (value - self.low) * step, 2)


def draw(case: Case, options: Sequence[OptionView], swings: Sequence[SwingView]) -> Drawings:
    """Lay out what there is to draw."""
    stacks = (_stack(case, chart) for chart in case.plan.model.charts.values())
    return Drawings(
        cost=_cost(case, options),
        tornado=_tornado(case, swings),
        stacks=tuple(drawing for drawing in stacks if drawing is not None),
    )


def _cost(case: Case, options: Sequence[OptionView]) -> Drawing | None:
    priced = [option for option in options if option.cost is not None and option.cost.exact]
    units = {case.plan.model.quantities[option.cost.quantity].unit for option in priced if option.cost}
    if len(priced) < 2 or len(units) > 1:
        return None
    costs = [float(option.cost.exact) for option in priced if option.cost]
    place = _Scale(min(0.0, *costs), max(0.0, *costs), _LABELS + 8, WIDTH - 140)
    bars = tuple(
        Bar(
            _wrapped(option.label),
            (_mark(place(0), place(cost), _SOLID if option.recommended else _HATCHED),),
            (Note(max(place(cost), place(0)) + 6, option.cost.text, "start", option.recommended),),
        )
        for option, cost in zip(priced, costs, strict=True)
        if option.cost
    )
    words = "; ".join(f"{option.label}: {option.cost.text}" for option in priced if option.cost)
    return Drawing("cost", "Cost by option; the recommended one is filled.", words, bars, (), "", None, ())


def _tornado(case: Case, views: Sequence[SwingView]) -> Drawing | None:
    if case.target is None or not views:
        return None
    target, centre = case.plan.model.quantities[case.target], case.result.number(case.target)
    by_id = {swing.quantity: swing for swing in case.findings.swings}
    shown = [(view, _ends(view, by_id[view.input.quantity], centre)) for view in views[:_SWINGS_SHOWN]]
    values = [centre, *(end.value for _, ends in shown for end in ends)]
    room = [
        max((len(end.text) for _, ends in shown for end in ends if side(end)), default=0) for side in _SIDES
    ]
    start, stop = (_LABELS + 14 + room[0] * _LETTER, WIDTH - 8 - room[1] * _LETTER)
    place = _Scale(min(values), max(values), start, stop)
    flips = any(view.flips for view, _ in shown)
    caption = f"{target.label} at the low end (hatched) and the high end (filled) of each input’s range"
    caption += "; ◆ the answer changes within the range." if flips else "."
    words = "; ".join(
        f"{view.input.label} from {view.low} to {view.high}: {view.target_low} to {view.target_high}"
        for view, _ in shown
    )
    return Drawing(
        id="tornado",
        caption=caption,
        words=f"{caption} {words}.",
        bars=tuple(_swing(view, ends, centre, place) for view, ends in shown),
        ticks=tuple(
            Tick(place(value), show_number(value)) for value in _round_values(min(values), max(values))
        ),
        axis=_axis(target.label, target.unit_text),
        line=place(centre),
        legend=(),
    )


@dataclass(frozen=True, slots=True)
class _End:
    """The target at one end of a range, and the end as text."""

    value: float
    text: str
    fill: int
    right: bool


_SIDES: tuple[Callable[[_End], bool], ...] = (lambda end: not end.right, lambda end: end.right)


def _ends(view: SwingView, swing: Swing, centre: float) -> tuple[_End, ...]:
    """Return the ends that move the target, the farther first, so that the nearer is not hidden behind it."""
    both = ((swing.target_at_low, view.low, _HATCHED), (swing.target_at_high, view.high, _SOLID))
    moved = [
        _End(value, text, fill, value > centre) for value, text, fill in both if value not in (None, centre)
    ]
    return tuple(sorted(moved, key=lambda end: -abs(end.value - centre)))


def _swing(view: SwingView, ends: Sequence[_End], centre: float, place: _Scale) -> Bar:
    marks = tuple(_mark(place(centre), place(end.value), end.fill) for end in ends)
    # Where both ends lie on one side, the nearer one's text would stand inside the other's bar.
    named = ends[:1] if len({end.right for end in ends}) == 1 else ends
    notes = tuple(
        Note(place(end.value) + (5 if end.right else -5), end.text, "start" if end.right else "end", False)
        for end in named
    )
    return Bar(_wrapped(f"{view.input.label}{' ◆' if view.flips else ''}"), marks, notes)


def _stack(case: Case, chart: Chart) -> Drawing | None:
    quantities = case.plan.model.quantities
    parts = [(quantities[name], case.result.values.get(name)) for name in chart.parts]
    shown = [(part, value) for part, value in parts if isinstance(value, float) and value > 0]
    if len(shown) < 2:
        return None
    place = _Scale(0, sum(value for _, value in shown), 1, WIDTH - 1)
    marks, legend, left = [], [], 0.0
    for number, (part, value) in enumerate(shown):
        marks.append(_mark(place(left), place(left + value), number % _FILLS))
        legend.append((number % _FILLS, f"{part.label}: {show_in_prose(value, part.unit_text)}"))
        left += value
    words = f"{chart.label}: {'; '.join(text for _, text in legend)}."
    bar = Bar((), tuple(marks), ())
    return Drawing(f"stack-{chart.id}", f"{chart.label}.", words, (bar,), (), "", None, tuple(legend))


def _mark(start: float, end: float, fill: int) -> Mark:
    return Mark(min(start, end), round(abs(end - start), 2), fill)


def _wrapped(label: str) -> tuple[str, ...]:
    return tuple(textwrap.wrap(label, _LABEL_LETTERS, max_lines=2, placeholder=" …"))


def _round_values(low: float, high: float, wanted: int = 5) -> list[float]:
    """Return the round numbers from `low` to `high` for an axis, about `wanted` of them."""
    if not high > low:
        return [low]
    rough = (high - low) / wanted
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
    return [number * step for number in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _axis(label: str, unit: str) -> str:
    return label if unit in ("", "ratio", "count", "fraction") else f"{label}, {unit}"
