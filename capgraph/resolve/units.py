"""Unit declarations → the symbols that a model defines beside the shipped ones.

In: `Joined.units` → Out: the symbols in the scope, each defined by those before it.
Invariant: no name that has a meaning already gets another one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from capgraph.resolve.scope import Scope
from capgraph.units import Symbol, UnitError, define_base_unit, define_unit
from capgraph.yamltree import Scalar

BASE = "base"
_SO_MANY = re.compile(r"\s*([0-9]{1,30}(?:\.[0-9]{1,30})?(?:[eE][+-]?[0-9]{1,2})?)\s+(\S.*)")


def resolve_units(declared: Mapping[Scalar, Scalar], scope: Scope) -> None:
    """Bind the units of a model: `shelf: base`, then `rack: 12 shelf`."""
    for name, text in declared.items():
        if not name.isidentifier():
            scope.report(
                "CG205", f"`{name}` cannot be the name of a unit", name.span, "use letters, digits and `_`"
            )
            continue
        symbol = _symbol(name, text, scope)
        if symbol is None:
            scope.broken.add(str(name))
        else:
            scope.units = (*scope.units, symbol)


def _symbol(name: Scalar, text: Scalar, scope: Scope) -> Symbol | None:
    try:
        if text == BASE:
            return define_base_unit(str(name))
        found = _SO_MANY.fullmatch(text.rstrip())
        if not found or not float(found[1]):
            message = f"the unit `{name}` is `{text}`, which is neither `base` nor so many of another unit"
            scope.report("CG508", message, text.span, f"write `{name}: base`, or `{name}: 12 other_unit`")
            return None
        unit = scope.unit(text.part(*found.span(2)))
        return define_unit(str(name), Fraction(found[1]), unit) if unit else None
    except UnitError as error:
        scope.report("CG508", str(error), name.span, "choose another name")
        return None
