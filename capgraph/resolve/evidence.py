"""Declarations about measurements → what columns of their files mean, and what was fitted to them.

In: `Joined.measurements` and `Joined.fits`, and a scope that knows every quantity → Out: columns and fits.
Invariant: a column sets or measures one quantity; a fit names parameters that exist, with ranges in their units.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Mapping

from capgraph.declarations import ColumnDecl, FitDecl
from capgraph.diagnostics import did_you_mean, known_names
from capgraph.model import Choose, Column, Field, Fit, Quantity
from capgraph.resolve.scope import Scope
from capgraph.units import Unit, parse_unit
from capgraph.yamltree import Scalar

_FRACTION = parse_unit("fraction")
_COUNT = parse_unit("count")


def resolve_columns(declared: Mapping[Scalar, ColumnDecl], scope: Scope) -> dict[str, Column]:
    """Bind what each column means."""
    made = {}
    for name, decl in declared.items():
        column = _column(name, decl, scope)
        if column is not None:
            made[str(name)] = column
    return made


def _column(name: Scalar, decl: ColumnDecl, scope: Scope) -> Column | None:
    target = decl.sets if decl.measures is None else decl.measures
    if target is None or (decl.sets is not None and decl.measures is not None):
        message = f"the column `{name}` needs exactly one of `sets` and `measures`"
        scope.report("CG206", message, name.span, "say which quantity it sets, or which one it measures")
        return None
    if not scope.known(target, scope.settable, "quantity", "CG304"):
        return None
    quantity = scope.quantities[str(target)]
    if decl.measures is not None and quantity.unit is None:
        message = f"`{target}` is no number; what is measured can only be compared with a number"
        scope.report("CG203", message, target.span, "name a quantity with a unit, or write `sets`")
        return None
    unit = scope.unit(decl.unit) if decl.unit is not None else None
    if (decl.unit is not None and not _fits_unit(decl.unit, unit, quantity, scope)) or not _fits_field(
        decl.by, quantity, scope
    ):
        return None
    by = str(decl.by) if decl.by is not None else None
    return Column(str(name), quantity.id, decl.measures is not None, unit, by, name.span)


def _fits_unit(text: Scalar, unit: Unit | None, quantity: Quantity, scope: Scope) -> bool:
    if unit is None:
        return False
    if quantity.unit is not None and unit.dimension == quantity.unit.dimension:
        return True
    needed = quantity.unit or "no unit"
    scope.report(
        "CG502", f"the column is in {unit}, `{quantity.id}` in {needed}", text.span, f"give {needed}"
    )
    return False


def _fits_field(by: Scalar | None, quantity: Quantity, scope: Scope) -> bool:
    if by is None:
        return True
    definition = quantity.definition
    if not isinstance(definition, Choose) or definition.catalog is None:
        message = f"`{quantity.id}` takes no row of a catalog, so nothing is looked up"
        scope.report("CG203", message, by.span, "leave `by` out")
        return False
    texts = [field.id for field in scope.catalogs[definition.catalog].fields.values() if field.kind == "text"]
    return scope.known(by, (*texts, "name"), "text field", "CG402")


def resolve_fits(
    declared: Mapping[Scalar, FitDecl], scenarios: Collection[str], scope: Scope
) -> dict[str, Fit]:
    """Bind each fit."""
    made = {}
    for name, decl in declared.items():
        if decl.scenario is not None:
            scope.known(decl.scenario, scenarios, "scenario", "CG305")
        fit = _fit(name, decl, scope)
        if fit is not None:
            made[str(name)] = fit
    return made


def _fit(name: Scalar, decl: FitDecl, scope: Scope) -> Fit | None:
    before = len(scope.found)
    for quantity in (decl.of, *decl.together):
        scope.known(quantity, scope.settable, "quantity", "CG304")
    holders = _holders(name, decl, scope)
    parameters = {}
    for key, (low, high) in decl.parameters.items():
        holder = holders.get(str(key))
        if holder is None:
            near = did_you_mean(key, holders) or f"numbers there: {known_names(holders)}"
            scope.report("CG304", f"`{key}` is no number that can be fitted", key.span, near)
            continue
        limits = scope.limits((low, high), None, None, holder.unit)
        if limits.low is not None and limits.high is not None:
            parameters[str(key)] = (limits.low, limits.high)
    rows, error = scope.number(decl.rows, _COUNT), scope.number(decl.error, _FRACTION)
    if (rows is not None and rows < 1) or (error is not None and error < 0):
        scope.report(
            "CG307", f"the fit `{name}` needs rows and an error above zero", name.span, "correct them"
        )
    _check_date(decl.date, scope)
    if rows is None or error is None or len(scope.found) > before:
        return None
    catalog, row = (str(decl.catalog), str(decl.row)) if decl.row is not None else (None, None)
    told = (str(decl.date), str(decl.data), str(decl.sha256 or ""))
    where = {str(key): _texts(value) for key, value in decl.where.items()}
    together = tuple(map(str, decl.together))
    return Fit(
        str(name), str(decl.of), catalog, row, parameters, int(rows), error, *told, where, str(decl.scenario or ""),
        together, name.span,
    )  # fmt: skip


def _texts(value: Scalar | tuple[Scalar, ...]) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, tuple) else (str(value),)


def _holders(name: Scalar, decl: FitDecl, scope: Scope) -> Mapping[str, Quantity | Field]:
    """Return what a fit may name as its parameters: the number fields of its row, or the quantities with a unit."""
    if decl.catalog is None and decl.row is None:
        return {key: item for key, item in scope.settable.items() if item.unit is not None}
    if decl.catalog is None or decl.row is None:
        scope.report(
            "CG202", f"the fit `{name}` needs both `catalog` and `row`", name.span, "add the other one"
        )
        return {}
    if not scope.known(decl.catalog, scope.catalogs, "catalog", "CG301"):
        return {}
    catalog = scope.catalogs[str(decl.catalog)]
    scope.known(decl.row, catalog.rows, "row", "CG302")
    return {key: field for key, field in catalog.fields.items() if field.unit is not None}


def _check_date(text: Scalar, scope: Scope) -> None:
    try:
        datetime.date.fromisoformat(text)
    except ValueError:
        scope.report("CG208", f"`date: {text}` is not a date", text.span, "write it as 2026-11-30")
