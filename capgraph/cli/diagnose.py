"""The command `diagnose`.

In: a plan and what was measured → Out: the single changes that would explain it, or all that were tried as JSON.
Invariant: a model that agrees with the measurement is no error, nor is one that nothing reconciles.
"""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Mapping, Sequence

import typer

from capgraph.cli.session import (
    Settings,
    chosen_scenarios,
    chosen_settings,
    default_plan,
    finite,
    load,
    stop,
    written_settings,
)
from capgraph.diagnostics import Diagnostic
from capgraph.findings import Diagnosis, Explanation
from capgraph.notation import NARROW_SPACE, show_number, show_value, with_unit, without_unit
from capgraph.plan import Plan
from capgraph.resolve.setting import resolve_setting

EXPLANATIONS_SHOWN = 8
OTHERS_SHOWN = 5
NOT_EXACT = 0.001
"""Relative error from which on a person is told what a change leads to."""


def run_diagnose(
    names: Sequence[str],
    scenario: str | None,
    texts: Sequence[str],
    within: str,
    as_json: bool,
    settings: Settings,
) -> None:
    """Print what would explain measurements."""
    from capgraph.analysis.diagnosis import diagnose

    argument = names[0] if names and "=" not in names[0] else None
    plan = load(argument, settings)
    asked = [scenario] if scenario else [next(iter(plan.model.scenarios))]
    (selected,) = chosen_scenarios(plan, asked, settings)
    known = chosen_settings(plan, texts, settings)
    measured = _measured(plan, names[argument is not None :], settings)
    made, found = diagnose(plan, selected, known, measured, _share(within, settings))
    if made is None:
        stop(found, settings)
    settings.show(found)
    if as_json:
        typer.echo(_json(plan, made))
        return
    _say_state(plan, made)
    _say_explanations(plan, made)
    _say_others(plan, made)
    if made.explanations and (settable := _as_options(plan, made.explanations[0])):
        quantity = next(iter(measured))
        command = ["capgraph", "why", quantity, argument or default_plan(), "--scenario", selected]
        for text in (*texts, *settable):
            command += ["--set", text]
        _say(f"\nTry the first: {shlex.join(command)}")


def _measured(plan: Plan, texts: Sequence[str], settings: Settings) -> Mapping[str, float]:
    """Read `quantity=value` for each quantity that was measured."""
    made: dict[str, float] = {}
    way_out = "write `capgraph diagnose PLAN quantity=value`"
    if not texts:
        stop((Diagnostic("CG830", "no measurement is given", None, way_out),), settings, 2)
    for text in texts:
        if "=" not in text:
            stop((Diagnostic("CG830", f"`{text}` is no measurement", None, way_out),), settings, 2)
        name, value, found = resolve_setting(plan.model, text, "measured")
        if found:
            stop(found, settings, 2)
        if isinstance(value, bool | str):
            message = f"`{name}` is no number; only numbers are held against a measurement"
            stop(
                (Diagnostic("CG830", message, None, f"say what the run had by `--set {text}`"),), settings, 2
            )
        if value is None or value <= 0:
            message = f"`{text}` is no measurement: an error relative to it needs a number above zero"
            stop((Diagnostic("CG830", message, None, "leave it out"),), settings, 2)
        made[name] = value
    return made


def _share(text: str, settings: Settings) -> float:
    """Read a share such as 5% or 0.05."""
    number = text.strip().removesuffix("%")
    try:
        share = float(number) / (100 if number != text.strip() else 1)
    except ValueError:
        share = math.nan
    if not 0 <= share < 1:
        stop((Diagnostic("CG801", f"`{text}` is no share", None, "write `--within 5%`"),), settings, 2)
    return share


def _say_state(plan: Plan, made: Diagnosis) -> None:
    _say(f"{plan.model.plan or plan.model.id}, {made.scenario}:")
    for name, measured in made.measured.items():
        unit, predicted = plan.model.quantities[name].unit_text, made.predicted[name]
        side = "below" if measured < predicted else "above"
        off = f", {show_number(100 * abs(measured / predicted - 1), 2)}% {side}" if predicted else ", against"
        line = f"{_result(measured, unit)} measured{off} the {_result(predicted, '')} of the model"
        _say(f"  {plan.model.quantities[name].label}  [{name}]: {line}")
    if made.fits:
        _say(f"\nThe model agrees within {show_number(100 * made.within)}%; there is nothing to explain.")


def _say_explanations(plan: Plan, made: Diagnosis) -> None:
    if made.explanations:
        _say("\nWhat would explain it, each change alone, the likeliest first:\n")
    for number, item in enumerate(made.explanations[:EXPLANATIONS_SHOWN], 1):
        suspect = plan.model.suspects.get(item.cause)
        _say(f"{number:>3}. {_label(plan, item)}  [{item.cause or item.quantity}]")
        _say(f"     {_change(plan, item)}{_plausibility(plan, item)}")
        if item.error > NOT_EXACT or len(made.measured) > 1:
            _say(f"     leads to {_outcome(plan, item)}")
        if suspect is not None and suspect.provenance.because:
            _say(f"     why: {suspect.provenance.because}")
        if suspect is not None and suspect.check:
            _say(f"     check: {suspect.check}")
    _say_more(made.explanations, EXPLANATIONS_SHOWN)


def _say_others(plan: Plan, made: Diagnosis) -> None:
    if made.fall_short:
        _say("\nWhat does not explain it alone, and how near it comes:\n")
    for item in made.fall_short[:OTHERS_SHOWN]:
        name = f"{_label(plan, item)}  [{item.cause or item.quantity}]"
        _say(f"     {name}: {_change(plan, item)} leads to {_outcome(plan, item)}")
    _say_more(made.fall_short, OTHERS_SHOWN)


def _say_more(items: Sequence[Explanation], shown: int) -> None:
    if len(items) > shown:
        _say(f"     and {len(items) - shown} more, which --json lists")


def _label(plan: Plan, item: Explanation) -> str:
    if item.cause:
        return plan.model.suspects[item.cause].label
    return plan.model.quantities[item.quantity].label


def _change(plan: Plan, item: Explanation) -> str:
    """Write what a change sets; of what was looked for, from where to where."""
    parts = [
        f"{name} = {show_value(value, plan.model.quantities[name].unit_text)}"
        for name, value in item.settings.items()
        if name != item.quantity
    ]
    if item.quantity:
        unit = plan.model.quantities[item.quantity].unit_text
        name = f"{item.quantity} " if item.cause else ""
        now = without_unit(show_value(item.now, unit), unit)
        parts.append(f"{name}{now} → {show_value(item.needed, unit)}")
    return ", ".join(parts)


def _plausibility(plan: Plan, item: Explanation) -> str:
    if not isinstance(item.needed, float):
        return ""
    if item.low is None or item.high is None:
        return ", no range is stated"
    unit = plan.model.quantities[item.quantity].unit_text
    low = without_unit(show_value(item.low, unit), unit)
    state = "within" if item.strain == 0 else "outside" if item.strain <= 1 else "far outside"
    return f", {state} {low} to {show_value(item.high, unit)}"


def _outcome(plan: Plan, item: Explanation) -> str:
    told = []
    for name, value in item.predicted.items():
        text = _result(value, plan.model.quantities[name].unit_text)
        told.append(f"{name} {text}" if len(item.predicted) > 1 else text)
    return ", ".join(told)


def _result(value: float, unit: str) -> str:
    """Write a measured or predicted number, with a digit more than others, so that two that are close differ."""
    if math.isnan(value):
        return "no value"
    return show_value(value, unit) if unit == "fraction" else with_unit(show_number(value, 4), unit)


def _as_options(plan: Plan, item: Explanation) -> tuple[str, ...]:
    """Return a change as a person sets it; nothing where it is a field of a catalog's row."""
    if any("." in name for name in item.settings):
        return ()
    return written_settings(item.settings)


def _json(plan: Plan, made: Diagnosis) -> str:
    document = {
        "model": plan.model.id,
        "plan": plan.model.plan,
        "scenario": made.scenario,
        "within": made.within,
        "fits": made.fits,
        "quantities": {
            name: {
                "unit": plan.model.quantities[name].unit_text,
                "measured": value,
                "predicted": made.predicted[name],
            }
            for name, value in made.measured.items()
        },
        "explanations": [_record(plan, item) for item in made.explanations],
        "fall_short": [_record(plan, item) for item in made.fall_short],
    }
    return json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False)


def _record(plan: Plan, item: Explanation) -> dict[str, object]:
    suspect = plan.model.suspects.get(item.cause)
    return {
        "cause": item.cause or item.quantity,
        "declared": bool(item.cause),
        "label": _label(plan, item),
        "quantity": item.quantity or None,
        "unit": plan.model.quantities[item.quantity].unit_text if item.quantity else "",
        "now": item.now,
        "needed": item.needed,
        "range": [item.low, item.high] if item.low is not None else None,
        "plausible": item.strain == 0,
        "strain": finite(item.strain),
        "set": item.settings,
        "predicted": {name: finite(value) for name, value in item.predicted.items()},
        "error": finite(item.error),
        "because": suspect.provenance.because if suspect else "",
        "check": suspect.check if suspect else "",
    }


def _say(text: str) -> None:
    """Print a line with ordinary spaces, which a search in the output finds."""
    typer.echo(text.replace(NARROW_SPACE, " "))
