"""The page and a half to sign on: recommendation, why, options and rules.

In: plan, results, findings and citations → Out: the parts of the view that the first sections show.
Invariant: every figure is the evaluator's for the selected scenario.
"""

from __future__ import annotations

from collections.abc import Iterator

from capgraph.emit.memo.case import Case
from capgraph.emit.memo.pieces import Figure, Piece
from capgraph.emit.memo.view import CheckView, Comparison, OptionView, Recommendation, RuleView
from capgraph.formula.tree import references
from capgraph.model import Choose, Decision, Given, Option, Quantity
from capgraph.notation import show_in_prose, show_number
from capgraph.plan import Figure as Slot
from capgraph.results import Verdict

DECIDING_FIGURES = 4


def recommendation(case: Case) -> Recommendation | None:
    """Return what is asked of the reader, or None for a model that decides nothing."""
    decision, verdict = case.plan.model.decision, case.result.verdict
    if decision is None or verdict is None:
        return None
    options = option_views(case)
    chosen = next((option for option in options if option.recommended), None)
    verdicts = [other.verdict.option for other in case.results.scenarios.values() if other.verdict]
    dates = sorted(set(_dates(case)))
    standings = [standing(entry) for entry in case.plan.model.quantities.values() if entry.is_input]
    return Recommendation(
        question=decision.question,
        headline=_headline(case, verdict),
        option=chosen,
        failing=tuple(check for check in check_views(case) if not check.holds),
        scenarios=len(case.results.scenarios),
        agreeing=verdicts.count(verdict.option),
        sources_from=dates[0] if dates else "",
        sources_to=dates[-1] if dates else "",
        inputs=len(standings),
        assumed=standings.count("assumption"),
        unsourced=standings.count("unsourced"),
    )


def standing(entry: Quantity) -> str:
    """Say what an input's source is worth: nothing to remark, an `assumption`, or `unsourced`.

    A choice or a yes/no without a source is a decision of the plan, not a fact that someone must vouch for.
    """
    source = entry.provenance.source.strip().lower()
    if source.startswith("assumption"):
        return "assumption"
    number = isinstance(entry.definition, Given) and not isinstance(entry.definition.value, bool)
    return "unsourced" if number and not source else ""


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
    decision = case.plan.model.decision
    if decision is None:
        return ()
    chosen = decision.options.get(case.verdict)
    views = [_option_view(case, decision, option, chosen) for option in decision.options.values()]
    return tuple(sorted(views, key=lambda view: not view.recommended))


def _option_view(case: Case, decision: Decision, option: Option, chosen: Option | None) -> OptionView:
    cite, verdict = case.citations, case.result.verdict
    # Rules after the one that decided were not tried: nothing is said of them.
    tried = decision.rules[: verdict.rule] if verdict else ()
    conditions = tuple(cite.condition(rule.text) for rule in tried if rule.option == option.id)
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
    times = show_number(cost / other) if other > 0 and cost > 0 else ""
    return Comparison(show_in_prose(abs(cost - other), unit), times, cost > other)


def rule_views(case: Case) -> tuple[RuleView, ...]:
    """Return the rules in order, and which of them decided."""
    decision, verdict = case.plan.model.decision, case.result.verdict
    if decision is None or verdict is None:
        return ()
    decided = len(decision.rules) if verdict.rule is None else verdict.rule
    return tuple(
        RuleView(
            number + 1,
            case.citations.condition(rule.text) if rule.when is not None else (),
            case.option_label(rule.option),
            "no" if number < decided else "yes" if number == decided else "after",
        )
        for number, rule in enumerate(decision.rules)
    )
