"""The charts: cost by option, what moves the target, what a whole is made of.

In: the case and the views that the text shows → Out: `Drawings`: where each bar, tick and word of a chart stands;
`templates/memo/chart.svg.j2` draws them.
Invariant: positions are in the drawing's own 640 units of width; marks side by side differ in hatch, not in colour
alone.

Bars and ticks are all there is, so a template draws them: importing matplotlib and laying its figures out took a
third of the memo's time, and the charts' look stays with the rest of the look.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from capgraph.emit.memo.case import Case
from capgraph.emit.memo.drawing import Bar, Drawing, Drawings, Graph, Mark, Note, Tick
from capgraph.emit.memo.scale import Scale, round_values
from capgraph.emit.memo.view import OptionView, SwingView
from capgraph.findings import Swing
from capgraph.model import Chart
from capgraph.notation import plural, show_in_prose, show_number

WIDTH = 640.0
_LABELS = 196.0
"""Where the column of labels ends."""
_SOLID, _HATCHED = 0, 1
_FILLS = 6
_LABEL_LETTERS = 28
_SWINGS_SHOWN = 10
_LETTER = 6.6
"""Width of a letter, near enough to leave room for a text."""


def draw(
    case: Case, options: Sequence[OptionView], swings: Sequence[SwingView], graphs: tuple[Graph, ...]
) -> Drawings:
    """Lay out what there is to draw."""
    stacks = (_stack(case, chart) for chart in case.plan.model.charts.values())
    return Drawings(
        cost=_cost(case, options),
        tornado=_tornado(case, swings),
        stacks=tuple(drawing for drawing in stacks if drawing is not None),
        graphs=graphs,
    )


def _cost(case: Case, options: Sequence[OptionView]) -> Drawing | None:
    priced = [option for option in options if option.cost is not None and option.cost.exact]
    units = {case.plan.model.quantities[option.cost.quantity].unit for option in priced if option.cost}
    if len(priced) < 2 or len(units) > 1:
        return None
    costs = [float(option.cost.exact) for option in priced if option.cost]
    place = Scale(min(0.0, *costs), max(0.0, *costs), _LABELS + 8, WIDTH - 140)
    bars = tuple(
        Bar(
            wrapped(option.label),
            (_mark(place(0), place(cost), _SOLID if option.recommended else _HATCHED),),
            (Note(max(place(cost), place(0)) + 6, option.cost.text, "start", option.recommended),),
        )
        for option, cost in zip(priced, costs, strict=True)
        if option.cost
    )
    words = "; ".join(f"{option.label}: {option.cost.text}" for option in priced if option.cost)
    return Drawing("cost", "Cost by option; the recommended one is filled.", words, bars, (), "", None, ())


def _tornado(case: Case, views: Sequence[SwingView]) -> Drawing | None:
    if case.target is None or len(views) < 2:
        return None
    target, centre = case.plan.model.quantities[case.target], case.result.number(case.target)
    by_id = {swing.quantity: swing for swing in case.findings.swings}
    shown = [(view, _ends(view, by_id[view.input.quantity], centre)) for view in views[:_SWINGS_SHOWN]]
    values = [centre, *(end.value for _, ends in shown for end in ends)]
    room = [
        max((len(end.text) for _, ends in shown for end in ends if side(end)), default=0) for side in _SIDES
    ]
    start, stop = (_LABELS + 14 + room[0] * _LETTER, WIDTH - 8 - room[1] * _LETTER)
    place = Scale(min(values), max(values), start, stop)
    flips = any(view.flips for view, _ in shown)
    caption = f"{target.label} at the low end (hatched) and the high end (filled) of each input’s range"
    if any(view.error for view, _ in shown):
        caption += " or fit’s mean error"
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
            Tick(place(value), show_number(value)) for value in round_values(min(values), max(values))
        ),
        axis=axis(target.label, target.unit_text),
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


def _swing(view: SwingView, ends: Sequence[_End], centre: float, place: Scale) -> Bar:
    marks = tuple(_mark(place(centre), place(end.value), end.fill) for end in ends)
    # Where both ends lie on one side, the nearer one's text would stand inside the other's bar.
    named = ends[:1] if len({end.right for end in ends}) == 1 else ends
    notes = tuple(
        Note(place(end.value) + (5 if end.right else -5), end.text, "start" if end.right else "end", False)
        for end in named
    )
    return Bar(wrapped(f"{view.input.label}{' ◆' if view.flips else ''}"), marks, notes)


def _stack(case: Case, chart: Chart) -> Drawing | None:
    quantities = case.plan.model.quantities
    parts = [(quantities[name], case.result.values.get(name)) for name in chart.parts]
    given = [(part, value) for part, value in parts if isinstance(value, float) and value > 0]
    if len(given) < 2:
        return None
    shown = _few([(part.label, value) for part, value in given])
    unit = given[0][0].unit_text
    place = Scale(0, sum(value for _, value in shown), 1, WIDTH - 1)
    marks, legend, left = [], [], 0.0
    for number, (label, value) in enumerate(shown):
        marks.append(_mark(place(left), place(left + value), number % _FILLS))
        legend.append((number % _FILLS, f"{label}: {show_in_prose(value, unit)}"))
        left += value
    words = f"{chart.label}: {'; '.join(text for _, text in legend)}."
    bar = Bar((), tuple(marks), ())
    return Drawing(f"stack-{chart.id}", f"{chart.label}.", words, (bar,), (), "", None, tuple(legend))


def _few(parts: list[tuple[str, float]]) -> list[tuple[str, float]]:
    """Put the smallest parts together where there are more than patterns to tell them by."""
    if len(parts) <= _FILLS:
        return parts
    least = sorted(value for _, value in parts)[: len(parts) - _FILLS + 1]
    small = [part for part in parts if part[1] <= least[-1]][-len(least) :]
    names = ", ".join(label for label, _ in small)
    return [part for part in parts if part not in small] + [(f"Other ({names})", sum(least))]


def _mark(start: float, end: float, fill: int) -> Mark:
    return Mark(min(start, end), round(abs(end - start), 2), fill)


def wrapped(label: str, letters: int = _LABEL_LETTERS, lines: int = 2) -> tuple[str, ...]:
    """Break a label into a few lines."""
    return tuple(textwrap.wrap(label, letters, max_lines=lines, placeholder=" …"))


def axis(label: str, unit: str) -> str:
    """Name an axis: what it measures, and in which unit."""
    plain = unit in ("", "ratio", "count", "fraction") or plural(unit) == label.lower()
    return label if plain else f"{label}, {plural(unit)}"
