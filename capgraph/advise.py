"""Model, Graph → warnings: what is legal but unwise.

In: a model that compiles → Out: diagnostics of severity `warning`.
Invariant: nothing here stops a compilation; ages are counted to the model's own date, never to the clock.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator

from capgraph.diagnostics import Diagnostic, Span
from capgraph.formula.text import print_formula
from capgraph.formula.tree import Binary, Call, Expr, Number, Unary, children, reductions, references, walk
from capgraph.graph import Graph, cone, formulas
from capgraph.model import Choose, Given, Model, Quantity, Slot

STALE_DAYS = 400
MAX_OPERATIONS = 16
# Numbers that belong to a formula's shape: nothing, one, a half, two, and per cent.
STRUCTURAL = frozenset({0.0, 0.5, 1.0, 2.0, 100.0})


def advise(model: Model, graph: Graph) -> tuple[Diagnostic, ...]:
    """Return the warnings on a model."""
    return (
        *_unsourced(model),
        *_unused(model, graph),
        *_outside_range(model),
        *_stale(model),
        *_formulas(model),
        *_still_sweeps(model, graph),
    )


def _warning(code: str, message: str, span: Span, help_text: str) -> Diagnostic:
    return Diagnostic(code, message, span, help_text, severity="warning")


def _inputs(model: Model) -> Iterator[Quantity]:
    return (item for item in model.quantities.values() if item.is_input)


def _unsourced(model: Model) -> Iterator[Diagnostic]:
    for item in _inputs(model):
        if not item.provenance.source:
            message = f"the input `{item.id}` has no source"
            yield _warning(
                "CG212",
                message,
                item.provenance.origin,
                "add `source: …`: who says so, or that it is an assumption",
            )


def _unused(model: Model, graph: Graph) -> Iterator[Diagnostic]:
    shown = frozenset(_shown(model))
    for item in _inputs(model):
        if not graph.used_by[item.id] and item.id not in shown:
            message = f"nothing uses the input `{item.id}`"
            yield _warning("CG221", message, item.provenance.origin, "use it in a formula, or remove it")


def _shown(model: Model) -> Iterator[str]:
    """Yield the quantities that messages, options, charts, levers, suspects and sweeps name."""
    yield from model.key_figures
    messages = [item.message for item in model.checks.values()]
    decision = model.decision
    if decision is not None:
        messages.extend(rule.headline for rule in decision.rules)
        messages.extend((*decision.exceptions, *decision.policy, *decision.alerts))
        for option in decision.options.values():
            yield from (*option.shows, *((option.cost,) if option.cost else ()))
    for message in messages:
        yield from (part.quantity for part in message if isinstance(part, Slot))
    for names in (
        *(chart.parts for chart in model.charts.values()),
        *(lever.shows for lever in model.levers.values()),
        *(suspect.shows for suspect in model.suspects.values()),
        *(sweep.shows for sweep in model.sweeps.values()),
    ):
        yield from names


def _outside_range(model: Model) -> Iterator[Diagnostic]:
    for item in _inputs(model):
        low, high = item.limits.low, item.limits.high
        value = item.definition.value if isinstance(item.definition, Given) else None
        if low is None or high is None or not isinstance(value, float) or low <= value <= high:
            continue
        message = f"the range of `{item.id}`, {low:g} to {high:g}, leaves out its value {value:g}"
        yield _warning("CG222", message, item.provenance.origin, "widen the range, or correct the value")


def _stale(model: Model) -> Iterator[Diagnostic]:
    today = _date(model.as_of)
    if today is None:
        return
    for name, as_of, span in _dated(model):
        date = _date(as_of)
        if date is not None and (today - date).days > STALE_DAYS:
            message = f"{name} is as of {as_of}, {(today - date).days} days before the model's date"
            yield _warning("CG223", message, span, "look it up again, and renew `as_of`")


def _dated(model: Model) -> Iterator[tuple[str, str, Span]]:
    """Yield what has a date: inputs, and the catalog rows that a default or a scenario takes."""
    for item in _inputs(model):
        yield f"the input `{item.id}`", item.provenance.as_of, item.provenance.origin
        if isinstance(item.definition, Choose) and item.definition.catalog is not None:
            settings = (scenario.settings.get(item.id) for scenario in model.scenarios.values())
            taken = dict.fromkeys(
                (item.definition.default, *(str(found.value) for found in settings if found))
            )
            rows = model.catalogs[item.definition.catalog].rows
            for row in (rows[name] for name in taken):
                yield f"the row `{row.id}`", row.provenance.as_of, row.provenance.origin


def _date(text: str) -> datetime.date | None:
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        return None


def _formulas(model: Model) -> Iterator[Diagnostic]:
    for name, expr in formulas(model):
        for number in _hard_coded(expr) if name in model.quantities else ():
            message = f"the number {number.text} stands in the formula of `{name}`, without unit or source"
            yield _warning(
                "CG224", message, number.span, "make it an input, with a name, a unit and a source"
            )
        operations = sum(isinstance(node, Binary | Unary | Call) for node in walk(expr))
        if operations > MAX_OPERATIONS:
            message = f"the formula of `{name}` has {operations} operations"
            yield _warning(
                "CG225", message, expr.span, f"name its parts, so that each has at most {MAX_OPERATIONS}"
            )


def _hard_coded(expr: Expr) -> Iterable[Number]:
    """Yield the numbers of a formula that are neither its shape nor an exponent."""
    pending = [expr]
    while pending:
        node = pending.pop()
        if isinstance(node, Number) and node.value not in STRUCTURAL:
            yield node
        is_power = isinstance(node, Binary) and node.op == "^"
        pending.extend(children(node)[:1] if is_power else children(node))


def _still_sweeps(model: Model, graph: Graph) -> Iterator[Diagnostic]:
    for name, expr in formulas(model) if model.sweeps else ():
        for node in reductions(expr):
            over = model.sweeps[node.sweep].over
            named = [part.name for part in references(node)]
            if over not in named and len(cone(graph.uses, over, named)) == 1:
                message = f"`{print_formula(node)}` in `{name}` is over a sweep of `{over}`, and does not move with it"
                yield _warning("CG226", message, node.span, f"reduce something that needs `{over}`")
