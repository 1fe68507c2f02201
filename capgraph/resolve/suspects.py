"""Suspect declarations → their bound forms.

In: `Joined.suspects` and a scope that knows every quantity → Out: suspects.
Invariant: each sets something, or has a number to look for, with limits in its unit.
"""

from __future__ import annotations

from dataclasses import replace

from capgraph.declarations import SuspectDecl
from capgraph.lay import Joined
from capgraph.model import Limits, Provenance, Suspect
from capgraph.resolve.entries import is_settable, settings_of, titled
from capgraph.resolve.scope import Scope


def resolve_suspects(joined: Joined, scope: Scope) -> dict[str, Suspect]:
    """Bind the suspects: each sets something, or has a number to look for."""
    made = {}
    for name, decl in joined.suspects.items():
        if decl.vary is None and not decl.set:
            message = f"the suspect `{name}` changes nothing"
            scope.report("CG833", message, name.span, "add `vary: quantity`, or `set: {quantity: value}`")
            continue
        settings = settings_of(decl.set, scope, "suspect")
        limits = _suspected(decl, scope) if decl.vary is not None else Limits()
        if limits is None:
            continue
        told = Provenance(name.span, str(decl.because or ""), str(decl.source or ""))
        vary, check = (str(text) if text is not None else None for text in (decl.vary, decl.check))
        label = str(decl.label or titled(name))
        shows = tuple(
            str(item) for item in decl.shows if scope.known(item, scope.quantities, "quantity", "CG304")
        )
        made[str(name)] = Suspect(str(name), label, settings, vary, limits, check or "", shows, told)
    return made


def _suspected(decl: SuspectDecl, scope: Scope) -> Limits | None:
    """Return how far the number of a suspect may go, or nothing when it names none."""
    assert decl.vary is not None
    if not is_settable(decl.vary, scope):
        return None
    quantity = scope.quantities[str(decl.vary)]
    if quantity.unit is None:
        message = f"`{decl.vary}` is no number; only a number's value can be looked for"
        scope.report("CG833", message, decl.vary.span, f"write `set: {{{decl.vary}: …}}`")
        return None
    if decl.range is None:
        return quantity.limits
    own = scope.limits(decl.range, None, None, quantity.unit)
    for end, text in zip((own.low, own.high), decl.range, strict=True):
        if end is not None:
            scope.within_limits(quantity.id, end, quantity.limits, quantity.unit, text.span)
    return replace(quantity.limits, low=own.low, high=own.high)
