"""The evidence behind the decision: derivation, levers, assumptions, catalog rows, scenarios, provenance.

In: the case and its derivation → Out: the parts of the view that the later sections show.
Invariant: steps, inputs and facts carry the anchors that `Citations` gave them; scenarios show their own values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from capgraph.analysis.derivation import derive
from capgraph.emit.artifact import Artifact
from capgraph.emit.memo.cite import exact, in_reading_order, show, typeset
from capgraph.emit.memo.front import Case, standing
from capgraph.emit.memo.view import (
    AssumptionGroup,
    AssumptionView,
    CheckView,
    Effect,
    Fact,
    Figure,
    FileView,
    LeverView,
    Piece,
    RowView,
    ScenarioView,
    StepGroup,
    StepView,
)
from capgraph.findings import LeverEffect
from capgraph.model import Choose, Given, Lever, Lookup, Quantity, Row, Setting, Value
from capgraph.notation import show_given, show_number, show_value

View = TypeVar("View", StepView, AssumptionView)


def step_groups(case: Case) -> tuple[StepGroup, ...]:
    """Return the computed quantities that the memo cites, by section, in reading order."""
    places = case.citations.places
    targets = [name for name, place in places.items() if place.anchor.startswith("step-")]
    lines = {line.quantity: line for line in derive(case.plan, case.result, targets)}
    views = [
        (entry.section, _step(case, entry, lines[entry.id].formula, lines[entry.id].numbers))
        for entry in in_reading_order(case.plan)
        if entry.id in lines and entry.id in targets
    ]
    return tuple(StepGroup(title, tuple(steps)) for title, steps in _by_section(views).items())


def _step(case: Case, entry: Quantity, formula: str, numbers: str) -> StepView:
    place = case.citations.places[entry.id]
    figure = case.citations.figure(entry.id)
    return StepView(
        place.anchor, place.mark, figure,
        () if figure.measured else case.citations.formula(formula),
        "" if figure.measured else typeset(numbers),
        entry.provenance.source, entry.provenance.as_of,
    )  # fmt: skip


def _by_section(views: Iterable[tuple[str, View]]) -> Mapping[str, list[View]]:
    groups: dict[str, list[View]] = {}
    for section, view in views:
        groups.setdefault(section, []).append(view)
    return groups


def assumption_groups(case: Case) -> tuple[AssumptionGroup, ...]:
    """Return every input, by section, in reading order."""
    views = [
        (entry.section, _assumption(case, entry))
        for entry in in_reading_order(case.plan)
        if entry.is_input and entry.id in case.citations.places
    ]
    return tuple(AssumptionGroup(title, tuple(inputs)) for title, inputs in _by_section(views).items())


def _assumption(case: Case, entry: Quantity) -> AssumptionView:
    place, limits = case.citations.places[entry.id], entry.limits
    given = isinstance(entry.definition, Given) and not isinstance(entry.definition.value, bool)
    setting = case.plan.model.scenarios[case.results.selected].settings.get(entry.id)
    ranged = limits.low is not None and limits.high is not None
    return AssumptionView(
        anchor=place.anchor,
        mark=place.mark,
        value=case.citations.figure(entry.id, as_given=True),
        range=f"{_bare(limits.low, entry)} – {_bare(limits.high, entry)}" if ranged else "",
        source=entry.provenance.source,
        as_of=entry.provenance.as_of,
        standing=standing(entry.provenance.source) if given else "",
        scenario=setting is not None and setting.value != _default(entry),
        effect=_effect(case, entry.id),
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
    decision = case.plan.model.decision
    target = decision.target if decision else None
    swing = next((item for item in case.findings.swings if item.quantity == name), None)
    centre = case.result.values.get(target) if target else None
    if swing is None or target is None or not isinstance(centre, float) or swing.width(centre) <= abs(centre) * 1e-9:
        return ""
    ends = [end for end in (swing.target_at_low, swing.target_at_high) if end is not None]
    unit = _close(case.plan.model.quantities[target])
    return f"{show_value(min([*ends, centre]), unit)} – {show_value(max([*ends, centre]), unit)}"


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
    return RowView(choice.label, row.name, row.id, facts, row.provenance.source, row.provenance.as_of, row.note)


def _fact(case: Case, entry: Quantity, row: Row) -> Fact:
    place = case.citations.places[entry.id]
    field = entry.definition.field if isinstance(entry.definition, Lookup) else ""
    return Fact(place.anchor, place.mark, case.citations.figure(entry.id, as_given=True), field in row.unverified)


def lever_views(case: Case) -> tuple[LeverView, ...]:
    """Return what each lever does alone, in the order in which the model lists them."""
    effects = {effect.lever: effect for effect in case.findings.levers}
    return tuple(
        _lever(case, lever.id, lever, effects[lever.id])
        for lever in case.plan.model.levers.values()
        if lever.id in effects
    )


def together_view(case: Case) -> LeverView | None:
    """Return what all levers do together, or None for fewer than two."""
    levers, effect = case.plan.model.levers, case.findings.together
    if effect is None or len(levers) < 2:
        return None
    return _lever(case, "together", None, effect)


def _lever(case: Case, name: str, lever: Lever | None, effect: LeverEffect) -> LeverView:
    levers = case.plan.model.levers.values()
    shown = lever.shows if lever else tuple(dict.fromkeys(name for item in levers for name in item.shows))
    verdict = case.result.verdict
    return LeverView(
        id=name,
        label=lever.label if lever else "",
        settings=settings(case, lever.settings) if lever else (),
        because=lever.provenance.because if lever else "",
        effects=tuple(_moved(case, quantity, effect.values.get(quantity)) for quantity in shown),
        option=case.option_label(effect.verdict),
        flips=verdict is not None and effect.verdict != verdict.option,
    )


def _moved(case: Case, quantity: str, after: Value | None) -> Effect:
    entry = case.plan.model.quantities[quantity]
    before = case.result.values.get(quantity)
    times = ""
    if isinstance(before, float) and isinstance(after, float) and before > 0 and after >= 0:
        times = "unchanged" if before == after else f"×{show_number(after / before)}"
    return Effect(
        quantity, entry.label, show(case.plan, entry, before), show(case.plan, entry, after), times, exact(after)
    )


def settings(case: Case, found: Mapping[str, Setting]) -> tuple[str, ...]:
    """Write what a scenario or a lever sets."""
    quantities = case.plan.model.quantities
    return tuple(
        f"{quantities[name].label}: {show(case.plan, quantities[name], setting.value, as_given=True)}"
        for name, setting in found.items()
    )


def scenario_views(case: Case) -> tuple[ScenarioView, ...]:
    """Return every scenario with its verdict, key figures and checks."""
    return tuple(_scenario(case, name) for name in case.results.scenarios)


def _scenario(case: Case, name: str) -> ScenarioView:
    scenario, result = case.plan.model.scenarios[name], case.results.scenarios[name]
    own = {key: scenario.settings[key] for key in scenario.own if key in scenario.settings}
    quantities = case.plan.model.quantities
    figures = tuple(
        Figure(
            key, quantities[key].label, show(case.plan, quantities[key], result.values.get(key)),
            exact(result.values.get(key)), "", "", "", key in scenario.settings,
        )
        for key in case.plan.model.key_figures
    )  # fmt: skip
    checks = tuple(
        CheckView(check.id, check.label, outcome.holds, check.severity, (Piece(outcome.message),))
        for check in case.plan.model.checks.values()
        if (outcome := result.checks.get(check.id)) is not None
    )
    return ScenarioView(
        f"scenario-{name}", name, scenario.label, scenario.provenance.because, scenario.provenance.source,
        settings(case, own),
        case.option_label(result.verdict.option) if result.verdict else "",
        result.verdict.headline if result.verdict else "",
        figures, checks,
    )  # fmt: skip


def files(case: Case) -> tuple[FileView, ...]:
    """Return the files that were read, the model first."""
    return tuple(FileView(name, digest, "") for name, digest in case.plan.model.files)


def attached(attachments: Iterable[Artifact]) -> tuple[FileView, ...]:
    """Return the files that go with the memo."""
    return tuple(FileView(item.name, item.digest, item.description) for item in attachments)
