"""`name=value` from outside the files → a value in the quantity's unit.

In: a model and the text → Out: the quantity's id and its value, or what is wrong with the text.
Invariant: the same rules hold as for a scenario's `set`.
"""

from __future__ import annotations

from capgraph.diagnostics import Diagnostic, Source, did_you_mean
from capgraph.model import Lookup, Model, Value
from capgraph.resolve.scope import Scope
from capgraph.yamltree import Scalar


def resolve_setting(
    model: Model, text: str, origin: str = "--set"
) -> tuple[str, Value | None, tuple[Diagnostic, ...]]:
    """Read one setting; the value is None when it is wrong. `origin` says where the text stands."""
    before, equals, raw = text.partition("=")
    name, source = before.strip(), Source(origin, text)
    settable = [item.id for item in model.quantities.values() if not isinstance(item.definition, Lookup)]
    if not equals:
        found = Diagnostic(
            "CG801", f"`{text}` is not a setting", Scalar.at(source).span, "write `--set name=value`"
        )
        return name, None, (found,)
    if name not in settable:
        place = Scalar.at(source, len(before) - len(before.lstrip()), len(before.rstrip())).span
        way_out = did_you_mean(name, settable) or "settable are the quantities of the model"
        return name, None, (Diagnostic("CG304", f"unknown quantity `{name}`", place, way_out),)
    units = tuple(symbol for symbol, _ in model.units)
    scope = Scope(quantities=dict(model.quantities), catalogs=dict(model.catalogs), units=units)
    first = len(text) - len(raw.lstrip())
    value = scope.setting(model.quantities[name], Scalar.at(source, first, first + len(raw.strip())))
    return name, None if scope.found else value, tuple(scope.found)
