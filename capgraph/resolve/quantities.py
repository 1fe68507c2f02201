"""Quantity declarations → quantities: inputs with numbers, choices with options, formulas as trees.

In: `Joined.quantities` → Out: quantities in the scope, computed ones after all names are known.
Invariant: exactly one of `value`, `choose` and `formula`; a unit for everything but a yes/no and a choice.
"""

from __future__ import annotations

from dataclasses import replace

from capgraph.declarations import QuantityDecl
from capgraph.diagnostics import did_you_mean, known_names
from capgraph.formula.tree import Truth
from capgraph.lay import Joined
from capgraph.model import Choose, Definition, Formula, Given, Limits, Provenance, Quantity
from capgraph.resolve.scope import YES_NO, Scope
from capgraph.units import Unit
from capgraph.yamltree import Scalar

_YES_NO_UNIT = "yes/no"


def resolve_quantities(joined: Joined, scope: Scope) -> None:
    """Bind inputs and choices, then the formulas, in declared order."""
    formulas: list[tuple[str, Scalar]] = []
    for name, decl in joined.quantities.items():
        quantity = (
            _quantity(name, decl, joined.section_of[name], scope)
            if scope.check_name(name, "quantity")
            else None
        )
        if quantity is None:
            scope.broken.add(str(name))
            continue
        scope.quantities[str(name)] = quantity
        if decl.formula is not None:
            formulas.append((str(name), decl.formula))
    for key, text in formulas:
        tree = scope.formula(text)
        if tree is not None:
            definition = Formula(str(text).strip(), tree)
            scope.quantities[key] = replace(scope.quantities[key], definition=definition)


def _quantity(name: Scalar, decl: QuantityDecl, section: str, scope: Scope) -> Quantity | None:
    given = [key for key in ("value", "choose", "formula") if getattr(decl, key) is not None]
    if len(given) != 1:
        found = " and ".join(f"`{key}`" for key in given) or "none"
        message = f"`{name}` needs exactly one of `value`, `choose` and `formula`; it has {found}"
        scope.report(
            "CG206", message, name.span, "remove all but one" if given else "add `value: …` or `formula: …`"
        )
        return None
    unit = scope.unit(decl.unit) if decl.unit is not None and decl.unit != _YES_NO_UNIT else None
    if unit is None and decl.unit is not None and decl.unit != _YES_NO_UNIT:
        return None
    definition = _definition(name, decl, unit, scope)
    if definition is None:
        return None
    told = Provenance(name.span, str(decl.because or ""), str(decl.source or ""), str(decl.as_of or ""))
    if unit is None and (bound := decl.range[0] if decl.range else decl.min or decl.max) is not None:
        scope.report(
            "CG201", f"`{name}` is no number and takes no range or limits", bound.span, "leave them out"
        )
        return None
    limits = scope.limits(decl.range, decl.min, decl.max, unit)
    if (
        isinstance(definition, Given)
        and not isinstance(definition.value, bool)
        and unit
        and decl.value is not None
    ):
        scope.within_limits(name, definition.value, limits, unit, decl.value.span)
    label = str(decl.label or name.replace("_", " ").capitalize())
    return Quantity(str(name), label, section, unit, definition, limits if unit else Limits(), told)


def _definition(name: Scalar, decl: QuantityDecl, unit: Unit | None, scope: Scope) -> Definition | None:
    if decl.choose is not None:
        if unit is not None:
            scope.report(
                "CG203",
                f"`{name}` is a choice and has no unit",
                decl.unit.span if decl.unit else name.span,
                "leave `unit` out",
            )
            return None
        return _choose(name, decl, scope)
    if decl.default is not None:
        scope.report(
            "CG201",
            f"`{name}` has a `default`, but is no choice",
            decl.default.span,
            "write `value: …` alone",
        )
    if decl.formula is not None:
        if unit is None and decl.unit is None:
            _lacks_unit(name, scope)
            return None
        # Bound later: a formula may name quantities that come after it.
        return Formula(str(decl.formula), Truth(False, decl.formula.span))
    assert decl.value is not None
    if unit is not None:
        value = scope.number(decl.value, unit)
        return None if value is None else Given(value)
    if decl.unit is None and decl.value.lower() not in YES_NO:
        _lacks_unit(name, scope)
        return None
    truth = scope.yes_no(decl.value)
    return None if truth is None else Given(truth)


def _lacks_unit(name: Scalar, scope: Scope) -> None:
    scope.report(
        "CG202",
        f"`{name}` lacks a unit",
        name.span,
        "add `unit: …`; `count` or `ratio` for a plain number, `yes/no` for a condition",
    )


def _choose(name: Scalar, decl: QuantityDecl, scope: Scope) -> Choose | None:
    assert decl.choose is not None
    if isinstance(decl.choose, tuple):
        catalog, options = None, tuple(str(item) for item in decl.choose)
    elif decl.choose in scope.broken:
        return None
    elif (found := scope.catalogs.get(decl.choose)) is None:
        help_text = did_you_mean(decl.choose, scope.catalogs) or f"catalogs: {known_names(scope.catalogs)}"
        scope.report("CG301", f"unknown catalog `{decl.choose}`", decl.choose.span, help_text)
        return None
    else:
        catalog, options = found.id, tuple(found.rows)
    if not options or len({option.lower() for option in options}) < len(options):
        state = "has no options" if not options else "has options that differ only in case"
        scope.report("CG302", f"`{name}` {state}", name.span, "give each option a name of its own")
        return None
    choice = Choose(catalog, options, options[0])
    if decl.default is None:
        return choice
    draft = Quantity(str(name), str(name), "", None, choice, Limits(), Provenance(name.span))
    default = scope.option(draft, decl.default)
    return None if default is None else replace(choice, default=default)
