"""From a line of the evidence back to the sections that cite it.

In: the parts that cite → Out: for each anchor, the ids of the sections that lead there, in reading order.
Invariant: a section stands here only if its text links to the anchor.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from capgraph.emit.memo.pieces import Figure, Line
from capgraph.emit.memo.view import Change, OptionView, Recommendation


def backlinks(
    recommendation: Recommendation | None,
    why: Sequence[Figure],
    options: Sequence[OptionView],
    change: Change | None,
    measured: Sequence[Figure],
    operation: Sequence[Line],
) -> Mapping[str, tuple[str, ...]]:
    """Return which sections cite each line."""
    found: dict[str, list[str]] = {}
    cited = {
        "recommendation": _recommendation(recommendation) if recommendation else iter(()),
        "why" if recommendation else "result": (figure.anchor for figure in why),
        "change": _change(change) if change else iter(()),
        "options": (anchor for option in options for anchor in _option(option)),
        "backtest": (figure.anchor for figure in measured),
        "operation": (anchor for line in operation for anchor in _line(line)),
    }
    for section, anchors in cited.items():
        for anchor in dict.fromkeys(anchors):
            if anchor:
                found.setdefault(anchor, []).append(section)
    return {anchor: tuple(sections) for anchor, sections in found.items()}


def _recommendation(part: Recommendation) -> Iterator[str]:
    yield from _line(part.headline)
    for check in part.failing:
        yield from _line(check.message)
    if part.option and part.option.cost:
        yield part.option.cost.anchor


def _change(part: Change) -> Iterator[str]:
    yield from (flip.input.anchor for flip in part.flips)
    for exception in part.exceptions:
        yield from _line(exception)
    if part.first and part.target:
        yield part.first.input.anchor
        yield part.target.anchor


def _option(option: OptionView) -> Iterator[str]:
    yield from (figure.anchor for figure in (*((option.cost,) if option.cost else ()), *option.shows))
    for condition in option.conditions:
        yield from _line(condition)


def _line(line: Line) -> Iterator[str]:
    yield from (piece.anchor for piece in line)
