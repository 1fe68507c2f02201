"""What would change the verdict, and what moves the target.

In: the case → Out: flips, the first input to measure, scenarios by verdict, swings.
Invariant: every number is the evaluator's at an end of a stated range, or of a fit's error.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from capgraph.emit.memo.case import Case
from capgraph.emit.memo.drawing import Graph
from capgraph.emit.memo.pieces import Figure
from capgraph.emit.memo.rests import error_of
from capgraph.emit.memo.view import Change, Flip, ScenarioGroup, SwingView
from capgraph.findings import Swing
from capgraph.notation import show_change, show_given, show_in_prose


def change(case: Case, graphs: tuple[Graph, ...]) -> Change | None:
    """Return what would change the verdict or moves the target, or None where nothing can be said of it."""
    decision = case.plan.model.decision
    exceptions = case.told("exception")
    flips = sorted((flip for swing in case.findings.swings for flip in _flips(case, swing)), key=_near)
    groups = _groups(case)
    first = _first(swing_views(case))
    tried = case.findings.swings if decision else first
    if not (tried or len(groups) > 1 or exceptions or graphs):
        return None
    return Change(
        decides=decision is not None,
        target=case.citations.figure(case.target) if case.target else None,
        ranged=sum(not swing.fit for swing in case.findings.swings),
        fitted=sum(bool(swing.fit) for swing in case.findings.swings),
        flips=tuple(flip for _, flip in flips),
        first=first,
        groups=groups,
        graphs=graphs,
        exceptions=exceptions,
    )


def _near(item: tuple[float, Flip]) -> tuple[float, str]:
    return (item[0], item[1].input.quantity)


def _flips(case: Case, swing: Swing) -> Iterator[tuple[float, Flip]]:
    """Yield each end of a range that gives another verdict, with its distance from today."""
    now = case.result.number(swing.quantity)
    ends = (
        (swing.low, swing.target_at_low, swing.verdict_at_low),
        (swing.high, swing.target_at_high, swing.verdict_at_high),
    )
    unit = case.plan.model.quantities[swing.quantity].unit_text
    for end, target, option in ends:
        if option == case.verdict or end == now:
            continue
        yield (
            abs(end - now) / abs(now) if now else float("inf"),
            Flip(
                input=_tried(case, swing),
                end=_end(swing, end, unit),
                rises=end > now,
                change=show_change(now, end),
                option=case.option_label(option),
                target=_target(case, target),
            ),
        )


def _target(case: Case, value: float | None) -> str:
    return show_in_prose(value, case.plan.model.quantities[case.target].unit_text) if case.target else ""


def swing_views(case: Case) -> tuple[SwingView, ...]:
    """Return the inputs that move the target, the widest swing first."""
    return tuple(_swing_view(case, swing) for swing in moving_swings(case))


def moving_swings(case: Case) -> tuple[Swing, ...]:
    """Return the swings that are wider than the rounding of doubles."""
    if case.target is None:
        return ()
    centre = case.result.number(case.target)
    return tuple(swing for swing in case.findings.swings if swing.width(centre) > abs(centre) * 1e-9)


def _swing_view(case: Case, swing: Swing) -> SwingView:
    unit = case.plan.model.quantities[swing.quantity].unit_text
    return SwingView(
        input=_tried(case, swing),
        low=_end(swing, swing.low, unit),
        high=_end(swing, swing.high, unit),
        target_low=_target(case, swing.target_at_low),
        target_high=_target(case, swing.target_at_high),
        flips=not swing.verdict_at_low == swing.verdict_at_high == case.verdict,
        error=error_of(case.plan.model.fits[swing.fit]) if swing.fit else "",
    )


def _tried(case: Case, swing: Swing) -> Figure:
    """Return what a swing moves: an input as it was given, or what a fit predicts."""
    if not swing.fit:
        return case.citations.figure(swing.quantity, as_given=True)
    found = case.citations.figure(swing.quantity)
    return replace(found, label=f"Error of the fit: {found.label}")


def _end(swing: Swing, value: float, unit: str) -> str:
    return show_in_prose(value, unit) if swing.fit else show_given(value, unit)


def _first(swings: tuple[SwingView, ...]) -> SwingView | None:
    """Return the input to measure first: the widest of those that flip the verdict, else the widest."""
    return next((swing for swing in swings if swing.flips), swings[0] if swings else None)


def _groups(case: Case) -> tuple[ScenarioGroup, ...]:
    found: dict[str, list[tuple[str, str]]] = {}
    for name, result in case.results.scenarios.items():
        label = case.plan.model.scenarios[name].label
        found.setdefault(result.verdict.option if result.verdict else "", []).append(
            (f"scenario-{name}", label)
        )
    ordered = sorted(found.items(), key=lambda item: item[0] != case.verdict)
    return tuple(
        ScenarioGroup(case.option_label(option), option == case.verdict, tuple(scenarios))
        for option, scenarios in ordered
    )
