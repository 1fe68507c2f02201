"""Scenario, check, lever, chart and decision declarations → their bound forms.

In: `Joined` and a scope that knows every quantity → Out: the entries of `Model`.
Invariant: settings hold values in their quantities' units; messages are split into texts and slots.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from capgraph.declarations import DecisionDecl, OptionDecl, RuleDecl, ScenarioDecl, Settings
from capgraph.diagnostics import Span
from capgraph.formula.tree import Truth
from capgraph.lay import Joined
from capgraph.model import (
    Chart,
    Check,
    Choose,
    Decision,
    Lever,
    Lookup,
    Message,
    Option,
    Provenance,
    Rule,
    Scenario,
    Setting,
    Slot,
)
from capgraph.resolve.scope import Scope
from capgraph.units import Unit
from capgraph.yamltree import Scalar

_SLOT = re.compile(r"\{([^{}]*)\}")
_INSIDE = re.compile(r"\s*([^\W\d]\w*(?:\.\w+)?)\s*(?::\s*(\d+)?\s*(\S.*)?)?", re.DOTALL)


def titled(name: str) -> str:
    """Make a label of an id."""
    return name.replace("_", " ").replace("-", " ").capitalize()


def resolve_scenarios(joined: Joined, scope: Scope) -> dict[str, Scenario]:
    """Bind the scenarios, each with what it inherits; without any, `base` is the one scenario."""
    if not joined.scenarios:
        origin = joined.origin or next(iter(joined.quantities)).span
        return {"base": Scenario("base", "Base", {}, (), Provenance(origin))}
    own = {str(name): settings_of(decl.set, scope, "scenario") for name, decl in joined.scenarios.items()}
    declared = {str(name): (name, decl) for name, decl in joined.scenarios.items()}
    settled: dict[str, dict[str, Setting]] = {}
    made = {}
    for name, (key, decl) in declared.items():
        for ancestor in _unsettled(name, declared, settled, scope):
            parent = declared[ancestor][1].extends
            settled[ancestor] = {**settled.get(str(parent), {}), **own[ancestor]}
        told = Provenance(key.span, str(decl.because or ""), str(decl.source or ""), str(decl.as_of or ""))
        made[name] = Scenario(name, str(decl.label or titled(name)), settled[name], tuple(own[name]), told)
    return made


def _unsettled(
    name: str,
    declared: Mapping[str, tuple[Scalar, ScenarioDecl]],
    settled: Mapping[str, dict[str, Setting]],
    scope: Scope,
) -> list[str]:
    """Return a scenario and its ancestors, the eldest first, from the one on whose settings are not known yet."""
    chain: dict[str, None] = {}
    while name not in settled:
        chain[name] = None
        parent = declared[name][1].extends
        if parent is None or not scope.known(parent, declared, "scenario", "CG305"):
            break
        if parent in chain:
            names = list(chain)
            _report_circle(names[names.index(str(parent)) :], declared, scope)
            break
        name = str(parent)
    return list(chain)[::-1]


def _report_circle(
    circle: list[str], declared: Mapping[str, tuple[Scalar, ScenarioDecl]], scope: Scope
) -> None:
    """Report a circle from its first name on, so that all who stand in it say the same."""
    start = circle.index(min(circle))
    names = (*circle[start:], *circle[: start + 1])
    message = f"scenarios extend each other in a circle: {' → '.join(names)}"
    place = declared[names[0]][1].extends
    scope.report("CG306", message, place.span if place is not None else None, "let one of them stand alone")


def settings_of(declared: Settings, scope: Scope, kind: str) -> dict[str, Setting]:
    """Bind what an entry sets; only a lever is held to inputs."""
    made = {}
    for name, text in declared.items():
        if not is_settable(name, scope):
            continue
        quantity = scope.quantities[str(name)]
        if kind == "lever" and not quantity.is_input:
            scope.report(
                "CG304", f"`{name}` is computed; a lever changes inputs", name.span, "name one of its inputs"
            )
            continue
        value = scope.setting(quantity, text)
        if value is not None:
            made[str(name)] = Setting(value, text.span)
    return made


def is_settable(name: Scalar, scope: Scope) -> bool:
    """Report a name that is no quantity which may be set."""
    choice, dot, field = name.partition(".")
    if dot and choice in scope.quantities:
        message = f"`{name}` is read from the row that `{choice}` takes"
        scope.report("CG304", message, name.span, f"set `{choice}` to a row with another `{field}`")
        return False
    if name in scope.quantities and not dot:
        return True
    return scope.known(name, scope.settable, "quantity", "CG304")


def resolve_checks(joined: Joined, scope: Scope) -> dict[str, Check]:
    """Bind the checks."""
    made = {}
    for name, decl in joined.checks.items():
        condition = scope.formula(decl.condition)
        message = resolve_message(decl.message, scope)
        if condition is not None and scope.check_name(name, "check"):
            label = str(decl.label or titled(name))
            made[str(name)] = Check(
                str(name), label, condition, str(decl.condition).strip(), message, decl.severity, name.span
            )
    return made


def resolve_levers(joined: Joined, scope: Scope) -> dict[str, Lever]:
    """Bind the levers."""
    made = {}
    for name, decl in joined.levers.items():
        told = Provenance(name.span, str(decl.because or ""), str(decl.source or ""))
        shows = tuple(
            str(item) for item in decl.shows if scope.known(item, scope.quantities, "quantity", "CG304")
        )
        made[str(name)] = Lever(
            str(name), str(decl.label or titled(name)), settings_of(decl.set, scope, "lever"), shows, told
        )
    return made


def resolve_charts(joined: Joined, scope: Scope) -> dict[str, Chart]:
    """Bind the charts; parts and whole must be of one dimension."""
    made = {}
    for name, decl in joined.charts.items():
        named = (*decl.parts, *((decl.whole,) if decl.whole is not None else ()))
        unknown = [item for item in named if not scope.known(item, scope.quantities, "quantity", "CG304")]
        if unknown:
            continue
        units = {unit.dimension if (unit := scope.quantities[str(item)].unit) else None for item in named}
        if len(units) > 1:
            scope.report(
                "CG502",
                f"the parts of the chart `{name}` have different units",
                name.span,
                "chart quantities of one unit",
            )
        whole = str(decl.whole) if decl.whole is not None else None
        made[str(name)] = Chart(
            str(name), str(decl.label or titled(name)), tuple(map(str, decl.parts)), whole
        )
    return made


def resolve_decision(decl: DecisionDecl | None, origin: Span | None, scope: Scope) -> Decision | None:
    """Bind the decision: its target, options and rules."""
    if decl is None or origin is None:
        return None
    options = {
        str(name): _option(name, option or OptionDecl(), scope) for name, option in decl.options.items()
    }
    rules = tuple(rule for item in decl.rules if (rule := _rule(item, options, scope)))
    target = None
    if decl.target is not None and scope.known(decl.target, scope.quantities, "quantity", "CG304"):
        target = str(decl.target)
    exceptions, policy, alerts = (
        tuple(resolve_message(item, scope) for item in items)
        for items in (decl.exceptions, decl.policy, decl.alerts)
    )
    return Decision(str(decl.question or ""), target, options, rules, exceptions, policy, alerts, origin)


def _option(name: Scalar, decl: OptionDecl, scope: Scope) -> Option:
    cost = None
    if decl.cost is not None and scope.known(decl.cost, scope.quantities, "quantity", "CG304"):
        cost = str(decl.cost)
    shows = tuple(
        str(item) for item in decl.shows if scope.known(item, scope.quantities, "quantity", "CG304")
    )
    label = str(decl.label or titled(name))
    return Option(str(name), label, cost, shows, str(decl.because or ""), str(decl.risk or ""), name.span)


def _rule(decl: RuleDecl, options: Mapping[str, Option], scope: Scope) -> Rule | None:
    when = scope.formula(decl.when) if decl.when is not None else None
    headline = resolve_message(decl.headline, scope)
    known = scope.known(decl.option, options, "option", "CG309")
    if not known or (decl.when is not None and when is None):
        return None
    text = str(decl.when).strip() if decl.when is not None else ""
    always = when is None or when == Truth(True, decl.option.span)
    return Rule(None if always else when, text, str(decl.option), headline, decl.option.span)


def resolve_message(text: Scalar, scope: Scope) -> Message:
    """Split a message into texts and slots such as `{weights:1 GiB/replica}`."""
    parts: list[str | Slot] = []
    place = 0
    for found in _SLOT.finditer(text):
        _text(text.part(place, found.start()), parts, scope)
        place = found.end()
        if slot := _slot(text.part(*found.span(1)), text.within(*found.span()), scope):
            parts.append(slot)
    _text(text.part(place, len(text)), parts, scope)
    return tuple(parts)


def _text(text: Scalar, parts: list[str | Slot], scope: Scope) -> None:
    """Add what stands between two slots of a message."""
    if text:
        parts.append(str(text))
    if brace := re.search(r"[{}]", text):
        message = f"`{brace[0]}` stands alone in this message"
        scope.report(
            "CG410", message, text.within(*brace.span()), "write a quantity as `{name}` or `{name:1 unit}`"
        )


def _slot(inside: Scalar, whole: Span, scope: Scope) -> Slot | None:
    found = _INSIDE.fullmatch(inside.rstrip())
    if not found:
        scope.report(
            "CG410",
            f"`{{{inside}}}` is not a value in a message",
            whole,
            "write `{name}`, `{name:1}` or `{name:1 unit}`",
        )
        return None
    name, digits, unit_text = found[1], found[2] or "0", found[3] or ""
    span = inside.within(*found.span(1))
    if not scope.bind(name, span):
        return None
    # Python reads no number of more than 4,300 digits.
    if len(digits) > 9 or int(digits) > 9:
        scope.report("CG410", f"`{{{inside}}}` asks for {digits} decimals", whole, "ask for at most 9")
        return None
    decimals = int(digits)
    quantity = scope.quantities[name]
    if isinstance(quantity.definition, Choose | Lookup) and quantity.unit is None:
        return Slot(name, 0, None, span)
    if unit_text == "-":
        return Slot(name, decimals, _BARE, span)
    asked = inside.part(*found.span(3)) if unit_text else None
    unit = scope.unit(asked) if asked is not None else quantity.unit
    if unit and quantity.unit and unit.dimension != quantity.unit.dimension:
        scope.report(
            "CG502",
            f"`{name}` is in {quantity.unit}, the message asks for {unit}",
            asked.span if asked is not None else span,
            f"ask for a multiple of {quantity.unit}",
        )
        return None
    return Slot(name, decimals, unit, span)


_BARE = Unit("", (), Fraction(1), ())
