"""The picture as code: one call an arrow, stopping after a stage that reported an error.

In: the path of a model or plan → Out: `Compilation`, the plan or the diagnostics that stand in its way.
Invariant: no stage knows the next; warnings travel along.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from capgraph.advise import advise
from capgraph.check import check
from capgraph.diagnostics import Diagnostic, has_errors, sort_diagnostics
from capgraph.graph import order
from capgraph.join import join
from capgraph.lower import lower
from capgraph.model import Model
from capgraph.plan import Plan
from capgraph.resolve import resolve


@dataclass(frozen=True, slots=True)
class Compilation:
    """A plan, unless an error stands in its way, and all diagnostics in order."""

    plan: Plan | None
    diagnostics: tuple[Diagnostic, ...]


def compile_model(path: Path) -> Compilation:
    """Compile the model or plan in a file."""
    joined, found = join(path)
    if joined is None or has_errors(found):
        return _stopped(found)
    model, more = resolve(joined)
    found += more
    if model is None or has_errors(found):
        return _stopped(found)
    graph, more = order(model)
    found += more
    if graph is None or has_errors(found):
        return _stopped(found)
    checked, more = check(model, graph)
    found += more
    if checked is None or has_errors(found):
        return _stopped(found)
    return Compilation(lower(checked), sort_diagnostics((*found, *advise(model, graph), *_stale_fits(model))))


def _stale_fits(model: Model) -> tuple[Diagnostic, ...]:
    if not model.fits:
        return ()
    from capgraph.measurement.stale import stale_fits

    return stale_fits(model)


def _stopped(found: tuple[Diagnostic, ...]) -> Compilation:
    # Warnings wait: what is wrong should not be looked for among them.
    return Compilation(None, sort_diagnostics(item for item in found if item.severity == "error"))
