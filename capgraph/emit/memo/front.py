"""The page and a half to sign on: recommendation, why, options, rules, what would change it.

In: plan, results, findings and citations → Out: the parts of the view that the first sections show.
Invariant: every figure is the evaluator's for the selected scenario.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from capgraph.emit.memo.cite import Citations
from capgraph.emit.memo.view import (
    Change,
    CheckView,
    Comparison,
    Figure,
    Flip,
    OptionView,
    Piece,
    Recommendation,
    RuleView,
    ScenarioGroup,
    SwingView,
)
from capgraph.findings import Findings, Swing
from capgraph.formula.tree import references
from capgraph.model import Choose, Decision, Given, Option
from capgraph.notation import MINUS, show_given, show_number, show_value
from capgraph.plan import Figure as Slot
from capgraph.plan import Plan
from capgraph.results import Results, ScenarioResult, Verdict

DECIDING_FIGURES = 4
SWINGS_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Case:
    """What every part is made from: the plan, its results and findings, and the citations."""

    plan: Plan
    results: Results
    findings: Findings
    citations: Citations

    @property
    def result(self) -> ScenarioResult:
        """Return the selected scenario's result."""
        return self.results.scenarios[self.results.selected]

    def option_label(self, option: str) -> str:
        """Return an option's label; its id where it has none, nothing where no rule decided."""
        decision = self.plan.model.decision
        found = decision.options.get(option) if decision else None
        return found.label if found else option


def recommendation(case: Case) -> Recommendation | None:
    """Return what is asked of the reader, or None for a model that decides nothing."""
    decision, verdict = case.plan.model.decision, case.result.verdict
    if decision is None or verdict is None:
        return None
    options = option_views(case)
    chosen = next((option for option in options if option.recommended), None)
    agreeing = [other for other in case.results.scenarios.values() if _option(other.verdict) == verdict.option]
    dates = sorted(set(_dates(case)))
    sources = [entry.provenance.source for entry in case.plan.model.quantities.values() if _is_number(entry.definition)]
    return Recommendation(
        question=decision.question,
        headline=_headline(case, verdict),
        option=chosen,
        failing=tuple(check for check in check_views(case) if not check.holds),
        scenarios=len(case.results.scenarios),
        agreeing=len(agreeing),
        sources_from=dates[0] if dates else "",
        sources_to=dates[-1] if dates else "",
        inputs=len(sources),
        assumed=sum(standing(source) == "assumption" for source in sources),
        unsourced=sum(standing(source) == "unsourced" for source in sources),
    )


def standing(source: str) -> str:
    """Say what a source is worth: nothing to remark, an `assumption`, or `unsourced`."""
    if not source.strip():
        return "unsourced"
    return "assumption" if source.strip().lower().startswith("assumption") else ""


def _is_number(definition: object) -> bool:
    return isinstance(definition, Given) and not isinstance(definition.value, bool)


def _option(verdict: Verdict | None) -> str:
    return verdict.option if verdict else ""


def _headline(case: Case, verdict: Verdict) -> tuple[Piece, ...]:
    if verdict.rule is None:
        return (Piece(verdict.headline),) if verdict.headline else ()
    message = case.plan.messages.get(f"rule.{verdict.rule + 1}", (verdict.headline,))
    return case.citations.message(message, verdict.headline)


def _dates(case: Case) -> Iterator[str]:
    """Yield the date of every source that the selected scenario rests on."""
    model = case.plan.model
    for entry in model.quantities.values():
        if not entry.is_input:
            continue
        if entry.provenance.as_of:
            yield entry.provenance.as_of
        taken = case.result.values.get(entry.id)
        if isinstance(entry.definition, Choose) and entry.definition.catalog and isinstance(taken, str):
            row = model.catalogs[entry.definition.catalog].rows.get(taken)
            if row and row.provenance.as_of:
                yield row.provenance.as_of


def check_views(case: Case) -> tuple[CheckView, ...]:
    """Return the checks of the selected scenario, with their messages cited."""
    return tuple(
        CheckView(
            check.id, check.label, outcome.holds, check.severity,
            case.citations.message(case.plan.messages.get(f"check.{check.id}", (outcome.message,)), outcome.message),
        )
        for check in case.plan.model.checks.values()
        if (outcome := case.result.checks.get(check.id)) is not None
    )  # fmt: skip


def deciding(case: Case) -> tuple[Figure, ...]:
    """Return the few figures that decide: those of the headline, the options' costs, the target, key figures."""
    decision, verdict = case.plan.model.decision, case.result.verdict
    if decision is None or verdict is None:
        return ()
    names: list[str] = []
    if verdict.rule is not None:
        message = case.plan.messages.get(f"rule.{verdict.rule + 1}", ())
        names += [part.name for slot in message if isinstance(slot, Slot) for part in references(slot.expr)]
    names += [option.cost for option in decision.options.values() if option.cost]
    names += [decision.target] if decision.target else []
    names += case.plan.model.key_figures
    numbers = [name for name in dict.fromkeys(names) if _computed_number(case, name)]
    return tuple(case.citations.figure(name) for name in numbers[:DECIDING_FIGURES])


def _computed_number(case: Case, name: str) -> bool:
    value = case.result.values.get(name)
    return isinstance(value, float) and not case.plan.model.quantities[name].is_input


def option_views(case: Case) -> tuple[OptionView, ...]:
    """Return the options, the recommended one first and then as declared."""
    decision, verdict = case.plan.model.decision, case.result.verdict
    if decision is None:
        return ()
    chosen = decision.options.get(_option(verdict))
    views = [_option_view(case, decision, option, chosen) for option in decision.options.values()]
    return tuple(sorted(views, key=lambda view: not view.recommended))


def _option_view(case: Case, decision: Decision, option: Option, chosen: Option | None) -> OptionView:
    cite, verdict = case.citations, case.result.verdict
    # Rules after the one that decided were not tried: nothing is said of them.
    tried = decision.rules[: verdict.rule] if verdict else ()
    conditions = tuple(cite.formula(rule.text) for rule in tried if rule.option == option.id)
    return OptionView(
        id=option.id,
        label=option.label,
        recommended=option is chosen,
        cost=cite.figure(option.cost) if option.cost else None,
        against=_against(case, option, chosen) if chosen and option is not chosen else None,
        shows=tuple(cite.figure(name) for name in option.shows if name != option.cost),
        because=option.because,
        risk=option.risk,
        conditions=conditions,
    )


def _against(case: Case, option: Option, chosen: Option) -> Comparison | None:
    if option.cost is None or chosen.cost is None:
        return None
    cost, other = case.result.values.get(option.cost), case.result.values.get(chosen.cost)
    units = {case.plan.model.quantities[name].unit for name in (option.cost, chosen.cost)}
    if not isinstance(cost, float) or not isinstance(other, float) or len(units) > 1 or cost == other:
        return None
    unit = case.plan.model.quantities[option.cost].unit_text
    times = f"{show_number(cost / other)}×" if other > 0 and cost > 0 else ""
    return Comparison(show_value(abs(cost - other), unit), times, cost > other)


def rule_views(case: Case) -> tuple[RuleView, ...]:
    """Return the rules in order, and which of them decided."""
    decision, verdict = case.plan.model.decision, case.result.verdict
    if decision is None or verdict is None:
        return ()
    decided = len(decision.rules) if verdict.rule is None else verdict.rule
    return tuple(
        RuleView(
            number + 1,
            case.citations.formula(rule.text) if rule.when is not None else (),
            case.option_label(rule.option),
            "no" if number < decided else "yes" if number == decided else "after",
        )
        for number, rule in enumerate(decision.rules)
    )


def change(case: Case) -> Change | None:
    """Return what would change the verdict, or None where nothing can be said of it."""
    decision, verdict = case.plan.model.decision, case.result.verdict
    if decision is None or verdict is None:
        return None
    flips = sorted((flip for swing in case.findings.swings for flip in _flips(case, swing, verdict.option)), key=_near)
    groups = _groups(case, verdict.option) if len(case.results.scenarios) > 1 else ()
    if not (case.findings.swings or groups or decision.exceptions):
        return None
    target = decision.target
    return Change(
        target=case.citations.figure(target) if target else None,
        ranged=len(case.findings.swings),
        flips=tuple(flip for _, flip in flips),
        first=_first(swing_views(case)),
        groups=groups,
        exceptions=decision.exceptions,
    )


def _near(item: tuple[float, Flip]) -> tuple[float, str]:
    return (item[0], item[1].input.quantity)


def _flips(case: Case, swing: Swing, verdict: str) -> Iterator[tuple[float, Flip]]:
    """Yield each end of a range that gives another verdict, with its distance from today."""
    now = case.result.number(swing.quantity)
    ends = (
        (swing.low, swing.target_at_low, swing.verdict_at_low),
        (swing.high, swing.target_at_high, swing.verdict_at_high),
    )
    unit = case.plan.model.quantities[swing.quantity].unit_text
    for end, target, option in ends:
        if option == verdict or end == now:
            continue
        share = (end - now) / abs(now) if now else float("inf")
        yield (
            abs(share),
            Flip(
                input=case.citations.figure(swing.quantity, as_given=True),
                end=show_given(end, unit),
                rises=end > now,
                change=_percent(share) if now else "",
                option=case.option_label(option),
                target=_target(case, target),
            ),
        )


def _percent(share: float) -> str:
    return f"{'+' if share > 0 else MINUS}{show_number(abs(share) * 100, 2)}%"


def _target(case: Case, value: float | None) -> str:
    target = case.plan.model.decision.target if case.plan.model.decision else None
    if target is None:
        return ""
    return show_value(value, case.plan.model.quantities[target].unit_text)


def swing_views(case: Case) -> tuple[SwingView, ...]:
    """Return the inputs that move the target, the widest swing first."""
    decision = case.plan.model.decision
    target = case.result.values.get(decision.target) if decision and decision.target else None
    if not isinstance(target, float):
        return ()
    moving = [swing for swing in case.findings.swings if swing.width(target) > abs(target) * 1e-9]
    return tuple(_swing_view(case, swing) for swing in moving)


def _swing_view(case: Case, swing: Swing) -> SwingView:
    unit = case.plan.model.quantities[swing.quantity].unit_text
    verdict = _option(case.result.verdict)
    return SwingView(
        input=case.citations.figure(swing.quantity, as_given=True),
        low=show_given(swing.low, unit),
        high=show_given(swing.high, unit),
        target_low=_target(case, swing.target_at_low),
        target_high=_target(case, swing.target_at_high),
        flips=not swing.verdict_at_low == swing.verdict_at_high == verdict,
    )


def _first(swings: tuple[SwingView, ...]) -> SwingView | None:
    """Return the input to measure first: the widest of those that flip the verdict, else the widest."""
    return next((swing for swing in swings if swing.flips), swings[0] if swings else None)


def _groups(case: Case, verdict: str) -> tuple[ScenarioGroup, ...]:
    found: dict[str, list[tuple[str, str]]] = {}
    for name, result in case.results.scenarios.items():
        label = case.plan.model.scenarios[name].label
        found.setdefault(_option(result.verdict), []).append((f"scenario-{name}", label))
    ordered = sorted(found.items(), key=lambda item: item[0] != verdict)
    return tuple(
        ScenarioGroup(case.option_label(option), option == verdict, tuple(scenarios)) for option, scenarios in ordered
    )
