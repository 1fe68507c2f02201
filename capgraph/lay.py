"""Declarations over declarations: what a plan says, laid over what it extends.

In: the files of one model or plan, and what is joined so far → Out: `Joined`, changed in place, and diagnostics.
Invariant: entries merge by id and keep their order; a new value drops what was said of the old one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from capgraph.declarations import CatalogDecl, DecisionDecl, Declaration, FileDecl, QuantityDecl
from capgraph.diagnostics import MOST_OFFERS, Diagnostic, Related, Span, did_you_mean
from capgraph.yamltree import Scalar

_KINDS = ("scenarios", "sweeps", "checks", "levers", "charts", "measurements", "fits", "suspects")
_TOLD = ("source", "as_of", "range")


@dataclass
class Joined:
    """The declarations of a model with its plans laid over; `section_of` and entries keep the order of the files."""

    model: str = ""
    plan: str = ""
    title: str = ""
    description: str = ""
    as_of: Scalar | None = None
    origin: Span | None = None
    units: dict[Scalar, Scalar] = field(default_factory=dict)
    sections: list[str] = field(default_factory=list)
    section_of: dict[str, str] = field(default_factory=dict)
    quantities: dict[Scalar, QuantityDecl] = field(default_factory=dict)
    catalogs: dict[Scalar, CatalogDecl] = field(default_factory=dict)
    scenarios: dict[Scalar, Any] = field(default_factory=dict)
    sweeps: dict[Scalar, Any] = field(default_factory=dict)
    checks: dict[Scalar, Any] = field(default_factory=dict)
    levers: dict[Scalar, Any] = field(default_factory=dict)
    charts: dict[Scalar, Any] = field(default_factory=dict)
    measurements: dict[Scalar, Any] = field(default_factory=dict)
    fits: dict[Scalar, Any] = field(default_factory=dict)
    suspects: dict[Scalar, Any] = field(default_factory=dict)
    evidence: tuple[Scalar, ...] = ()
    key_figures: tuple[Scalar, ...] = ()
    decision: DecisionDecl | None = None
    files: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Layer:
    """Lays the files of one model or plan over what is joined so far."""

    joined: Joined
    found: list[Diagnostic]
    is_plan: bool
    own: dict[str, dict[str, Span]] = field(default_factory=dict)

    def lay(self, files: tuple[FileDecl, ...]) -> None:
        for declared in files:
            self.joined.units.update(declared.units)
            section = str(declared.section or ("Plan" if self.is_plan else "Quantities"))
            self._quantities(declared.quantities, section)
            for kind in _KINDS:
                self._entries(kind, getattr(declared, kind), getattr(self.joined, kind))
            if declared.catalog is not None:
                table = CatalogDecl(label=declared.label, fields=declared.fields, rows=declared.rows)
                self._catalog(declared.catalog, table)
            for name, table in declared.catalogs.items():
                self._catalog(name, table)
            # An empty list takes away what the extended model lists.
            for key in ("key_figures", "evidence"):
                if key in declared.model_fields_set:
                    setattr(self.joined, key, getattr(declared, key))
            if declared.decision is not None:
                self.joined.decision = _over(self.joined.decision, declared.decision)

    def _quantities(self, declared: Mapping[Scalar, QuantityDecl | None], section: str) -> None:
        target = self.joined.quantities
        _renew_keys(target, declared)
        for name, decl in declared.items():
            if not self._new("quantity", name) or decl is None:
                self._remove(name, decl, target)
                continue
            before = target.get(name)
            if before is not None and decl.unit is not None:
                self._check_unit(name, decl.unit, before, decl)
            target[name] = _over_quantity(before, decl) if before else decl
            if name not in self.joined.section_of:
                self.joined.section_of[name] = section
            if section not in self.joined.sections and self.joined.section_of[name] == section:
                self.joined.sections.append(section)

    def _check_unit(self, name: Scalar, unit: Scalar, before: QuantityDecl, decl: QuantityDecl) -> None:
        """Refuse a new unit for a number that stays: 4 GiB would become 4 GB without a word."""
        if before.value is None or unit == before.unit or decl.model_fields_set & {"value", "choose", "formula"}:
            return
        message = f"`{name}` gets the unit {unit}, but keeps its value {before.value} in {before.unit}"
        related = (Related("the value is given here", before.value.span),)
        way_out = "give the value in the new unit too"
        self.found.append(Diagnostic("CG213", message, unit.span, way_out, related=related))

    def _entries(self, kind: str, declared: Mapping[Scalar, Any], target: dict[Scalar, Any]) -> None:
        _renew_keys(target, declared)
        for name, decl in declared.items():
            if self._new(kind, name) and decl is not None:
                target[name] = _over(target.get(name), decl)
            else:
                self._remove(name, decl, target)

    def _catalog(self, name: Scalar, table: CatalogDecl) -> None:
        for column in table.fields:
            self._new(f"field of {name}", column)
        _renew_keys(self.joined.catalogs, (name,))
        before = self.joined.catalogs.get(name)
        if before is None:
            self.joined.catalogs[name] = table
            for row in table.rows:
                self._new(f"row of {name}", row)
            return
        rows = dict(before.rows)
        _renew_keys(rows, table.rows)
        for row, cells in table.rows.items():
            if self._new(f"row of {name}", row) and cells is not None:
                old = rows.get(row) or {}
                rows[row] = {**{key: cell for key, cell in old.items() if key not in cells}, **cells}
            else:
                self._remove(row, cells, rows)
        merged = {
            "label": table.label or before.label,
            "fields": {**before.fields, **table.fields},
            "rows": rows,
        }
        self.joined.catalogs[name] = before.model_copy(update=merged)

    def _new(self, kind: str, name: Scalar) -> bool:
        """Report a second definition of one id within the files of one model."""
        places = self.own.setdefault(kind, {})
        if name in places:
            related = (Related("first defined here", places[name]),)
            message = f"{kind.rstrip('s')} `{name}` is defined twice in this model"
            self.found.append(Diagnostic("CG209", message, name.span, "keep one of the two", related=related))
            return False
        places[name] = name.span
        return True

    def _remove(self, name: Scalar, decl: object, target: dict[Scalar, Any]) -> None:
        """Carry out `id: null`, which takes an entry of the extended model away."""
        if decl is None and target.pop(name, None) is None:
            near = did_you_mean(name, target) if len(self.found) < MOST_OFFERS else ""
            help_text = near or "an empty entry removes one of the extended model"
            self.found.append(
                Diagnostic(
                    "CG210", f"`{name}` is empty, and there is nothing to remove", name.span, help_text
                )
            )


def _renew_keys(target: dict[Scalar, Any], declared: Iterable[Scalar]) -> None:
    """Give the keys of entries that are declared again their new origin; the entries keep their places in the order."""
    renewed = {name: name for name in declared if name in target}
    if renewed:
        items = [(renewed.get(name, name), value) for name, value in target.items()]
        target.clear()
        target.update(items)


def _over(before: Any, decl: Declaration) -> Any:
    if before is None:
        return decl
    return before.model_copy(update={key: getattr(decl, key) for key in decl.model_fields_set})


def _over_quantity(before: QuantityDecl, decl: QuantityDecl) -> QuantityDecl:
    """Lay a quantity over another: a new definition drops what was said of the old one's value."""
    dropped: dict[str, None] = {}
    if decl.model_fields_set & {"value", "choose", "formula"}:
        dropped = dict.fromkeys(("value", "choose", "default", "formula", *_TOLD))
        if decl.formula is not None or before.formula is not None:
            dropped["because"] = None
    kept = before.model_copy(update=dropped)
    merged: QuantityDecl = _over(kept, decl)
    return merged
