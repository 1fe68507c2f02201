"""Sweep declarations → sweeps: the values that an input runs through.

In: `Joined.sweeps` and a scope that knows every quantity → Out: the sweeps of `Model`.
Invariant: at least two points, in the input's unit and within its limits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from capgraph.declarations import SweepDecl
from capgraph.model import Choose, Provenance, Quantity, Sweep, Value
from capgraph.resolve.scope import Scope
from capgraph.yamltree import Scalar

MAX_POINTS = 2_000
_DEFAULT_POINTS = 25


def resolve_sweeps(declared: Mapping[Scalar, SweepDecl], scope: Scope) -> dict[str, Sweep]:
    """Bind the sweeps."""
    made = {}
    for name, decl in declared.items():
        if not scope.check_name(name, "sweep"):
            continue
        if (named := scope.quantities.get(str(decl.over))) is not None and not named.is_input:
            message = f"`{named.id}` is computed; a sweep runs through an input"
            scope.report("CG310", message, decl.over.span, "name one of its inputs")
            continue
        inputs = [item.id for item in scope.quantities.values() if item.is_input]
        if not scope.known(decl.over, inputs, "input", "CG310"):
            continue
        quantity = scope.quantities[str(decl.over)]
        values = _values(name, decl, quantity, scope)
        if values is None:
            continue
        shows = tuple(
            str(item) for item in decl.shows if scope.known(item, scope.quantities, "quantity", "CG304")
        )
        label = str(decl.label or name.replace("_", " ").capitalize())
        told = Provenance(name.span, str(decl.because or ""))
        made[str(name)] = Sweep(str(name), label, quantity.id, values, decl.scale, shows, told)
    return made


def _values(name: Scalar, decl: SweepDecl, quantity: Quantity, scope: Scope) -> tuple[Value, ...] | None:
    ends = [decl.from_, decl.to]
    if (decl.values is None) == (ends == [None, None]) or (decl.values is None and None in ends):
        message = f"the sweep `{name}` needs either `values`, or `from` and `to`"
        scope.report(
            "CG311", message, name.span, "write `from: 1`, `to: 100`, `points: 25`, or `values: [1, 2, 5]`"
        )
        return None
    if decl.values is not None:
        return _listed(name, decl.values, quantity, scope)
    assert decl.from_ is not None
    assert decl.to is not None
    return _spaced(name, decl, decl.from_, decl.to, quantity, scope)


def _listed(
    name: Scalar, listed: Scalar | tuple[Scalar, ...], quantity: Quantity, scope: Scope
) -> tuple[Value, ...] | None:
    if not isinstance(listed, tuple):
        if listed == "rows" and isinstance(quantity.definition, Choose):
            return quantity.definition.options
        scope.report(
            "CG311",
            f"`values` of the sweep `{name}` is no list",
            listed.span,
            "write `[1, 2, 5]`, or `rows` for a choice",
        )
        return None
    values = tuple(value for item in listed if (value := scope.setting(quantity, item)) is not None)
    if len(values) < len(listed):
        return None
    if not 2 <= len(values) <= MAX_POINTS or len(set(values)) < len(values):
        message = f"the sweep `{name}` has {len(values)} values; it needs 2 to {MAX_POINTS} that differ"
        scope.report("CG311", message, name.span, "list the values to run through")
        return None
    return values


def _spaced(
    name: Scalar, decl: SweepDecl, first: Scalar, last: Scalar, quantity: Quantity, scope: Scope
) -> tuple[Value, ...] | None:
    if quantity.unit is None:
        scope.report(
            "CG311",
            f"`{quantity.id}` is no number to run from and to",
            first.span,
            "write `values: [...]`, or `values: rows`",
        )
        return None
    low, high = scope.setting(quantity, first), scope.setting(quantity, last)
    points = _points(name, decl.points, scope)
    if not isinstance(low, float) or not isinstance(high, float) or points is None:
        return None
    if low == high or (decl.scale == "log" and min(low, high) <= 0):
        state = (
            "begins where it ends"
            if low == high
            else "has a logarithmic scale, which needs numbers above zero"
        )
        scope.report("CG311", f"the sweep `{name}` {state}", first.span, "choose other ends")
        return None
    steps = [number / (points - 1) for number in range(points)]
    if decl.scale == "log":
        between = [math.exp(math.log(low) + share * (math.log(high) - math.log(low))) for share in steps]
    else:
        between = [low + share * (high - low) for share in steps]
    # The ends are as written, whatever the spacing rounds to; the points between need no seventeenth digit.
    return (low, *(float(f"{value:.12g}") for value in between[1:-1]), high)


def _points(name: Scalar, text: Scalar | None, scope: Scope) -> int | None:
    if text is None:
        return _DEFAULT_POINTS
    if text.isdecimal() and len(text) <= 6 and 2 <= int(text) <= MAX_POINTS:
        return int(text)
    scope.report(
        "CG311",
        f"the sweep `{name}` has `{text}` points; it needs 2 to {MAX_POINTS}",
        text.span,
        f"write a whole number from 2 to {MAX_POINTS}",
    )
    return None
