"""The evidence behind the decision: derivation, levers, assumptions, catalog rows, scenarios, provenance.

In: the case and its derivation → Out: the parts of the view that the later sections show.
Invariant: steps, inputs and facts carry the anchors that `Citations` gave them; scenarios show their own values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from capgraph.analysis.derivation import Line, is_definition, only_converts
from capgraph.emit.artifact import Artifact
from capgraph.emit.memo.case import Case
from capgraph.emit.memo.change import moving_swings
from capgraph.emit.memo.cite import in_reading_order, typeset
from capgraph.emit.memo.front import standing
from capgraph.emit.memo.rests import range_of
from capgraph.emit.memo.view import (
    AssumptionGroup,
    AssumptionView,
    Fact,
    FileView,
    RowView,
    StepGroup,
    StepView,
)
from capgraph.model import Choose, Formula, Given, Lookup, Quantity, Row, Value
from capgraph.notation import show_given, show_value
from capgraph.plan import Compute

Backlinks = Mapping[str, tuple[str, ...]]
View = TypeVar("View", StepView, AssumptionView)


def step_groups(
    case: Case, chain: Sequence[Line], cited: Backlinks
) -> tuple[tuple[StepGroup, ...], tuple[StepView, ...], tuple[StepView, ...]]:
    """Return the computed quantities of the chain: by section in reading order, those that only convert, and zeros."""
    lines = {line.quantity.id: line for line in chain if isinstance(line.quantity.definition, Formula)}
    shown = [entry for entry in in_reading_order(case.plan) if entry.id in lines]
    formulas = {step.id: step.expr for step in case.plan.steps if isinstance(step, Compute)}
    aside = {
        entry.id
        for entry in shown
        if not lines[entry.id].measured and only_converts(case.plan, formulas[entry.id])
    }
    # Where nothing but conversions is shown, they are the derivation.
    aside = aside if len(aside) < len(shown) else set()
    views = [(entry, _step(case, lines[entry.id], cited)) for entry in shown if entry.id not in aside]
    zeros = {entry.id for entry, view in views if _is_zero(lines[entry.id]) and not view.cited}
    zeros = zeros if len(zeros) < len(views) else set()
    groups = _by_section((entry.section, view) for entry, view in views if entry.id not in zeros)
    return (
        tuple(StepGroup(title, tuple(steps)) for title, steps in groups.items()),
        tuple(_step(case, lines[entry.id], cited) for entry in shown if entry.id in aside),
        tuple(view for entry, view in views if entry.id in zeros),
    )


def _is_zero(line: Line) -> bool:
    return isinstance(line.value, float) and line.value == 0 and not line.measured


def _step(case: Case, line: Line, cited: Backlinks) -> StepView:
    entry = line.quantity
    place = case.citations.places[entry.id]
    # Where a formula only reduces a sweep, its numbers are those of the points: it is written once.
    numbers = "" if line.numbers == line.formula else typeset(line.numbers)
    return StepView(
        place.anchor, place.mark, case.citations.figure(entry.id), case.citations.formula(line.formula),
        numbers, entry.provenance.source, entry.provenance.as_of, cited.get(place.anchor, ()),
    )  # fmt: skip


def _by_section(views: Iterable[tuple[str, View]]) -> Mapping[str, list[View]]:
    groups: dict[str, list[View]] = {}
    for section, view in views:
        groups.setdefault(section, []).append(view)
    return groups


def assumption_groups(
    case: Case, chain: Sequence[Line], cited: Backlinks
) -> tuple[tuple[AssumptionGroup, ...], tuple[AssumptionView, ...], tuple[AssumptionView, ...]]:
    """Return the inputs: those of the chain by section in reading order, mere definitions, and those without effect."""
    counted = {line.quantity.id for line in chain}
    inputs = [
        entry for entry in in_reading_order(case.plan) if entry.is_input and entry.id in case.citations.places
    ]
    said = [entry for entry in inputs if not is_definition(entry)]
    groups = _by_section(
        (entry.section, _assumption(case, entry, cited)) for entry in said if entry.id in counted
    )
    return (
        tuple(AssumptionGroup(title, tuple(views)) for title, views in groups.items()),
        tuple(_assumption(case, entry, cited) for entry in inputs if is_definition(entry)),
        tuple(_assumption(case, entry, cited) for entry in said if entry.id not in counted),
    )


def _assumption(case: Case, entry: Quantity, cited: Backlinks) -> AssumptionView:
    place, limits = case.citations.places[entry.id], entry.limits
    setting = case.plan.model.scenarios[case.results.selected].settings.get(entry.id)
    ranged = limits.low is not None and limits.high is not None
    return AssumptionView(
        anchor=place.anchor,
        mark=place.mark,
        value=case.citations.figure(entry.id, as_given=True),
        range=f"{_bare(limits.low, entry)} – {_bare(limits.high, entry)}"
        if ranged
        else range_of(case, entry, entry.id),
        source=entry.provenance.source,
        as_of=entry.provenance.as_of,
        standing=standing(entry),
        scenario=setting is not None and setting.value != _default(entry),
        effect=_effect(case, entry.id),
        cited=cited.get(place.anchor, ()),
    )


def _bare(value: float | None, entry: Quantity) -> str:
    return show_given(value, _close(entry))


def _close(entry: Quantity) -> str:
    """Return the unit where it changes how a number is written; elsewhere the column names it once."""
    return entry.unit_text if entry.unit_text in ("%", "fraction") else ""


def _default(entry: Quantity) -> Value | None:
    match entry.definition:
        case Given():
            return entry.definition.value
        case Choose():
            return entry.definition.default
        case _:
            return None


def _effect(case: Case, name: str) -> str:
    swing = next((item for item in moving_swings(case) if item.quantity == name), None)
    if swing is None or case.target is None:
        return ""
    centre, unit = case.result.number(case.target), _close(case.plan.model.quantities[case.target])
    ends = [centre, *(end for end in (swing.target_at_low, swing.target_at_high) if end is not None)]
    return f"{show_value(min(ends), unit)} – {show_value(max(ends), unit)}"


def row_views(case: Case) -> tuple[RowView, ...]:
    """Return the catalog rows that the selected scenario takes, with the fields that the model reads."""
    views = []
    for entry in in_reading_order(case.plan):
        taken, definition = case.result.values.get(entry.id), entry.definition
        if not isinstance(definition, Choose) or definition.catalog is None or not isinstance(taken, str):
            continue
        row = case.plan.model.catalogs[definition.catalog].rows.get(taken)
        if row is not None:
            views.append(_row(case, entry, row))
    return tuple(view for view in views if view.facts)


def _row(case: Case, choice: Quantity, row: Row) -> RowView:
    fields = [
        entry
        for entry in case.plan.model.quantities.values()
        if isinstance(entry.definition, Lookup)
        and entry.definition.choice == choice.id
        and entry.id in case.citations.places
    ]
    facts = tuple(_fact(case, entry, row) for entry in fields)
    return RowView(
        choice.label, row.name, row.id, facts, row.provenance.source, row.provenance.as_of, row.note
    )


def _fact(case: Case, entry: Quantity, row: Row) -> Fact:
    place = case.citations.places[entry.id]
    field = entry.definition.field if isinstance(entry.definition, Lookup) else ""
    return Fact(
        place.anchor,
        place.mark,
        case.citations.figure(entry.id, as_given=True),
        range_of(case, entry, field),
        field in row.unverified,
    )


def files(case: Case) -> tuple[FileView, ...]:
    """Return the files that were read, the model first, then the measurements that it is held against."""
    measured = ((item.data, item.digest) for item in case.findings.backtests)
    return tuple(FileView(name, digest, "") for name, digest in (*case.plan.model.files, *measured))


def attached(attachments: Iterable[Artifact]) -> tuple[FileView, ...]:
    """Return the files that go with the memo."""
    return tuple(FileView(item.name, item.digest, item.description) for item in attachments)
