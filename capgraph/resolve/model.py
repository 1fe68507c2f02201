"""The order in which declarations are bound.

In: `Joined` → Out: `Model` and diagnostics.
Invariant: catalogs before choices, inputs before formulas, formulas before entries.
"""

from __future__ import annotations

import datetime
from pathlib import Path
from types import MappingProxyType

from capgraph.diagnostics import Diagnostic, Span
from capgraph.lay import Joined
from capgraph.model import Model, Quantity
from capgraph.resolve.catalogs import resolve_catalogs
from capgraph.resolve.entries import (
    resolve_charts,
    resolve_checks,
    resolve_decision,
    resolve_levers,
    resolve_scenarios,
)
from capgraph.resolve.evidence import resolve_columns, resolve_fits
from capgraph.resolve.quantities import resolve_quantities
from capgraph.resolve.scope import Scope
from capgraph.resolve.suspects import resolve_suspects
from capgraph.resolve.sweeps import resolve_sweeps
from capgraph.resolve.units import resolve_units
from capgraph.yamltree import Scalar


def resolve(joined: Joined) -> tuple[Model | None, tuple[Diagnostic, ...]]:
    """Return the model with every name bound, and everything that does not fit."""
    scope = Scope(sweeps=frozenset(map(str, joined.sweeps)))
    if not joined.quantities:
        scope.report(
            "CG118", f"the model `{joined.model}` declares no quantity", joined.origin, "add `quantities:`"
        )
        return None, tuple(scope.found)
    resolve_units(joined.units, scope)
    resolve_catalogs(joined.catalogs, scope)
    resolve_quantities(joined, scope)
    scenarios = resolve_scenarios(joined, scope)
    sweeps = resolve_sweeps(joined.sweeps, scope)
    checks = resolve_checks(joined, scope)
    levers = resolve_levers(joined, scope)
    charts = resolve_charts(joined, scope)
    decision = resolve_decision(joined.decision, _first_place(joined), scope)
    columns, fits = resolve_columns(joined.measurements, scope), resolve_fits(joined.fits, scenarios, scope)
    suspects = resolve_suspects(joined, scope)
    evidence = tuple(str(Path(name.span.source.path).parent / name) for name in joined.evidence)
    key_figures = tuple(
        str(name) for name in joined.key_figures if scope.known(name, scope.quantities, "quantity", "CG304")
    )
    model = Model(
        joined.model, joined.title, joined.description, _date(joined, scope), tuple(joined.sections),
        MappingProxyType(_in_sections(joined, scope)), MappingProxyType(scope.catalogs), MappingProxyType(scenarios),
        MappingProxyType(sweeps),
        MappingProxyType(checks), MappingProxyType(levers), MappingProxyType(charts),
        MappingProxyType(columns), MappingProxyType(fits), MappingProxyType(suspects), evidence, key_figures, decision,
        joined.plan, tuple(joined.files), tuple((symbol, str(joined.units[Scalar(symbol)])) for symbol in scope.units),
    )  # fmt: skip
    return model, tuple(scope.found)


def _first_place(joined: Joined) -> Span:
    return next(iter(joined.quantities)).span


def _in_sections(joined: Joined, scope: Scope) -> dict[str, Quantity]:
    """Order the quantities by section, each choice followed by the fields that are read from its row."""
    ordered: dict[str, Quantity] = {}
    lookups: dict[str, list[str]] = {}
    for name in scope.quantities:
        choice, dot, _ = name.partition(".")
        if dot:
            lookups.setdefault(choice, []).append(name)
    by_section: dict[str, list[str]] = {section: [] for section in joined.sections}
    for name, quantity in scope.quantities.items():
        if "." not in name:
            by_section[quantity.section].extend((name, *lookups.get(name, ())))
    for name in (name for names in by_section.values() for name in names):
        ordered[name] = scope.quantities[name]
    return ordered


def _date(joined: Joined, scope: Scope) -> str:
    if joined.as_of is None:
        return ""
    try:
        return datetime.date.fromisoformat(joined.as_of).isoformat()
    except ValueError:
        scope.report(
            "CG208", f"`as_of: {joined.as_of}` is not a date", joined.as_of.span, "write it as 2026-11-30"
        )
        return ""
