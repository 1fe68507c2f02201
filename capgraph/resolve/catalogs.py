"""Catalog declarations → catalogs: fields with units, rows with numbers in them.

In: `Joined.catalogs` → Out: catalogs in the scope.
Invariant: a row holds only fields of its catalog; a field it lacks has its default, or is absent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from capgraph.declarations import CatalogDecl, FieldDecl, RowDecl
from capgraph.diagnostics import did_you_mean, known_names
from capgraph.model import Catalog, Field, Limits, Provenance, Row, Value
from capgraph.resolve.scope import Scope, _short, is_beyond
from capgraph.units import Unit
from capgraph.yamltree import Scalar

ROW_KEYS = ("name", "source", "as_of", "note", "unverified")


def resolve_catalogs(declared: Mapping[Scalar, CatalogDecl], scope: Scope) -> None:
    """Bind every catalog into the scope."""
    for name, decl in declared.items():
        if not scope.check_name(name, "catalog"):
            scope.broken.add(str(name))
            continue
        if not decl.fields:
            near = did_you_mean(name, (other for other in declared if declared[other].fields))
            way_out = near or "declare `fields:`, or check the catalog's name"
            scope.report("CG301", f"the catalog `{name}` has no fields", name.span, way_out)
            scope.broken.add(str(name))
            continue
        fields = _fields(name, decl, scope)
        rows = {}
        for row_id, cells in decl.rows.items():
            if cells is None:
                message = f"the row `{row_id}` of `{name}` is empty"
                scope.report("CG202", message, row_id.span, "give its fields, or remove it")
                scope.broken.add(f"{name}/{row_id}")
            else:
                rows[str(row_id)] = _row(row_id, cells, fields, decl, scope)
        scope.catalogs[str(name)] = Catalog(
            str(name), str(decl.label or _titled(name)), fields, rows, name.span
        )


def _titled(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _fields(catalog: str, decl: CatalogDecl, scope: Scope) -> dict[str, Field]:
    made = {}
    for name, item in decl.fields.items():
        if field := _field(name, item, scope):
            made[str(name)] = field
        else:
            scope.broken.add(f"{catalog}.{name}")
    return made


def _field(name: Scalar, decl: FieldDecl, scope: Scope) -> Field | None:
    if name in ROW_KEYS:
        scope.report(
            "CG205", f"`{name}` is a key of every row and cannot be a field", name.span, "choose another name"
        )
        return None
    if not scope.check_name(name, "field"):
        return None
    kind = "yes/no" if decl.unit == "yes/no" else decl.type or "number"
    if kind == "number" and decl.unit is None:
        scope.report("CG202", f"the field `{name}` lacks a unit", name.span, "add `unit: …`, or `type: text`")
        return None
    if kind != "number" and decl.unit is not None and decl.unit != kind:
        scope.report(
            "CG203", f"the field `{name}` is a {kind} and has no unit", decl.unit.span, "leave `unit` out"
        )
        return None
    unit = scope.unit(decl.unit) if decl.unit is not None and kind == "number" else None
    if kind == "number" and unit is None:
        return None
    limits = scope.limits(decl.range, None, None, unit)
    expected = _expected(decl, limits, unit, scope)
    field = Field(str(name), str(decl.label or _titled(name)), kind, unit, limits, name.span, expected=expected)
    return field if decl.default is None else replace(field, default=_cell(decl.default, field, scope))


def _expected(decl: FieldDecl, limits: Limits, unit: Unit | None, scope: Scope) -> tuple[float, float] | None:
    if decl.expected is None or unit is None:
        return None
    found = scope.limits(decl.expected, None, None, unit)
    if found.low is None or found.high is None:
        return None
    if found.low == found.high or is_beyond(found.low, found.high, Limits(None, None, limits.low, limits.high)):
        message = f"`expected` is {found.low:g} to {found.high:g} {unit}; it spans a part of the field's range"
        scope.report("CG211", message, decl.expected[0].span, "narrow it, or widen the range")
        return None
    return (found.low, found.high)


def _row(row_id: Scalar, cells: RowDecl, fields: Mapping[str, Field], decl: CatalogDecl, scope: Scope) -> Row:
    values = {field.id: field.default for field in fields.values() if field.default is not None}
    for key, cell in cells.items():
        if key in ROW_KEYS or cell is None:
            continue
        field = fields.get(key)
        if field is None:
            if key not in decl.fields:
                legal = (*fields, *ROW_KEYS)
                help_text = did_you_mean(key, legal) or f"fields: {known_names(legal, 20)}"
                scope.report("CG303", f"`{key}` is no field of this catalog", key.span, help_text)
            continue
        value = _cell(cell, field, scope)
        if value is not None:
            values[str(key)] = value
    told = {str(key): str(cell) for key, cell in cells.items() if key in ROW_KEYS and cell is not None}
    provenance = Provenance(row_id.span, "", told.get("source", ""), told.get("as_of", ""))
    unverified = tuple(item.strip() for item in told.get("unverified", "").split(",") if item.strip())
    return Row(
        str(row_id), told.get("name", str(row_id)), values, provenance, told.get("note", ""), unverified
    )


def _cell(cell: Scalar, field: Field, scope: Scope) -> Value | None:
    if field.kind == "text":
        return str(cell)
    if field.kind == "yes/no":
        return scope.yes_no(cell)
    assert field.unit is not None
    value = scope.number(cell, field.unit)
    low, high = field.limits.low, field.limits.high
    # Of a range with a mistake in it, half may be known: it judges nothing.
    if value is not None and low is not None and high is not None and not low <= value <= high:
        scope.report(
            "CG307",
            f"`{field.id}` is {_short(cell)}; the catalog expects {low:g} to {high:g} {field.unit}",
            cell.span,
            "correct the value, or the field's range",
        )
    return value
