"""The levers, the scenarios and the suspects: what else was calculated beside the selected scenario.

In: the case → Out: a view of every lever and of all together, of every scenario, of every suspect that shows something.
Invariant: a variation shows its own values; nothing here cites the selected scenario's derivation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from capgraph.analysis.subject import results_of
from capgraph.emit.memo.case import Case
from capgraph.emit.memo.cite import exact, show
from capgraph.emit.memo.pieces import Figure, Piece
from capgraph.emit.memo.view import CheckView, Effect, LeverView, ScenarioView, SuspectView
from capgraph.findings import LeverEffect
from capgraph.model import Lever, Setting, Value
from capgraph.notation import plural, show_change, without_unit

_COSTS_SHOWN = 3


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
    return LeverView(
        id=name,
        label=lever.label if lever else "",
        settings=settings(case, lever.settings) if lever else (),
        because=lever.provenance.because if lever else "",
        effects=tuple(_moved(case, quantity, effect.values.get(quantity)) for quantity in shown),
        option=case.option_label(effect.verdict),
        flips=effect.verdict != case.verdict,
    )


def _moved(case: Case, quantity: str, after: Value | None) -> Effect:
    entry = case.plan.model.quantities[quantity]
    before = case.result.values.get(quantity)
    change = ""
    if isinstance(before, float) and isinstance(after, float):
        change = show_change(before, after)
    return Effect(
        quantity,
        entry.label,
        show(case.plan, entry, before),
        show(case.plan, entry, after),
        change,
        exact(after),
    )


def settings(case: Case, found: Mapping[str, Setting]) -> tuple[str, ...]:
    """Write what a scenario or a lever sets."""
    return _written(case, {name: setting.value for name, setting in found.items()})


def _written(case: Case, found: Mapping[str, Value]) -> tuple[str, ...]:
    quantities = case.plan.model.quantities
    return tuple(
        f"{quantities[name].label}: {show(case.plan, quantities[name], value, as_given=True)}"
        for name, value in found.items()
    )


def suspect_views(case: Case) -> tuple[SuspectView, ...]:
    """Return how far each suspect alone brings down what it shows, in the order in which the model lists them."""
    suspects = case.plan.model.suspects
    return tuple(
        SuspectView(
            item.suspect,
            suspects[item.suspect].label,
            _written(case, item.settings),
            suspects[item.suspect].provenance.because,
            suspects[item.suspect].check,
            tuple(_moved(case, name, value) for name, value in item.values.items()),
        )
        for item in case.findings.shortfalls
    )


def scenario_views(case: Case) -> tuple[ScenarioView, ...]:
    """Return every scenario with its verdict, key figures and checks."""
    return tuple(_scenario(case, name) for name in case.results.scenarios)


def _scenario(case: Case, name: str) -> ScenarioView:
    scenario, result = case.plan.model.scenarios[name], case.results.scenarios[name]
    own = {key: scenario.settings[key] for key in scenario.own if key in scenario.settings}
    checks = [
        CheckView(check.id, check.label, outcome.holds, check.severity, (Piece(outcome.message),))
        for check in case.plan.model.checks.values()
        if (outcome := result.checks.get(check.id)) is not None
    ]
    failing = [check for check in checks if not check.holds]
    told = checks if name == case.results.selected else failing
    return ScenarioView(
        f"scenario-{name}", name, scenario.label, scenario.provenance.because, scenario.provenance.source,
        settings(case, own),
        case.option_label(result.verdict.option) if result.verdict else "",
        result.verdict.headline if result.verdict else "",
        _bare(_figures(case, name, costs(case)), case), _told(case, name), tuple(told), len(checks) - len(told),
    )  # fmt: skip


def _told(case: Case, name: str) -> tuple[Figure, ...]:
    """Return the key figures: all of the selected scenario's, elsewhere those that are written otherwise there."""
    found = _figures(case, name, results_of(case.plan))
    if name == case.results.selected:
        return found
    there = [item.text for item in _figures(case, case.results.selected, results_of(case.plan))]
    return tuple(item for item, text in zip(found, there, strict=True) if item.text != text or item.measured)


def costs(case: Case) -> tuple[str, ...]:
    """Return the quantities that the options cost, each once."""
    options = case.plan.model.decision.options.values() if case.plan.model.decision else ()
    return tuple(dict.fromkeys(option.cost for option in options if option.cost))[:_COSTS_SHOWN]


def cost_labels(case: Case) -> tuple[str, ...]:
    """Return the heads of the columns of costs: label and unit."""
    quantities = (case.plan.model.quantities[name] for name in costs(case))
    return tuple(
        f"{entry.label}, {plural(entry.unit_text)}" if entry.unit_text else entry.label
        for entry in quantities
    )


def _bare(figures: tuple[Figure, ...], case: Case) -> tuple[Figure, ...]:
    """Leave the unit out, where the head of the column says it."""
    quantities = case.plan.model.quantities
    return tuple(
        replace(item, text=without_unit(item.text, quantities[item.quantity].unit_text)) for item in figures
    )


def _figures(case: Case, scenario: str, names: Iterable[str]) -> tuple[Figure, ...]:
    quantities, values = case.plan.model.quantities, case.results.scenarios[scenario].values
    measured = case.plan.model.scenarios[scenario].settings
    return tuple(
        Figure(
            name, quantities[name].label, show(case.plan, quantities[name], values.get(name)),
            exact(values.get(name)), "", "", "", name in measured and not quantities[name].is_input,
        )
        for name in names
    )  # fmt: skip
