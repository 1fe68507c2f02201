"""`name=value` from outside the files → a value in the quantity's unit.

In: a model and the text → Out: the quantity's id and its value, or what is wrong with the text.
Invariant: the same rules hold as for a scenario's `set`.
"""

from __future__ import annotations

from capgraph.diagnostics import Diagnostic, Source, did_you_mean
from capgraph.model import Lookup, Model, Value
from capgraph.resolve.scope import Scope
from capgraph.yamltree import Scalar


def resolve_setting(model: Model, text: str) -> tuple[str, Value | None, tuple[Diagnostic, ...]]:
    """Read one setting; the value is None when it is wrong."""
    name, equals, raw = text.partition("=")
    source = Source("--set", text)
    span = Scalar.at(source).span
    settable = [item.id for item in model.quantities.values() if not isinstance(item.definition, Lookup)]
    if not equals:
        return name, None, (Diagnostic("CG801", f"`{text}` is not a setting", span, "write `--set name=value`"),)
    if name not in settable:
        help_text = did_you_mean(name, settable) or "settable are the quantities of the model"
        return name, None, (Diagnostic("CG304", f"unknown quantity `{name}`", span, help_text),)
    scope = Scope(quantities=dict(model.quantities), catalogs=dict(model.catalogs))
    first = len(text) - len(raw.lstrip())
    value = scope.setting(model.quantities[name], Scalar.at(source, first, first + len(raw.strip())))
    return name, None if scope.found else value, tuple(scope.found)
