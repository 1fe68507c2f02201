"""Model → Graph: what needs what, in which order, and where it runs in a circle.

In: `Model` → Out: `Graph` over step ids, or a diagnostic per circle.
Invariant: networkx is imported here alone; the graph is frozen; the same model always gives the same order.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from capgraph.diagnostics import Diagnostic, Related, Span
from capgraph.formula.tree import Expr, Reduce, reductions, references
from capgraph.model import Formula, Lookup, Model

if TYPE_CHECKING:
    import networkx as nx

# Hops of a circle that a message names.
_SHOWN = 8
# How far the search for the shortest circle of a tangle goes: not through each of ten thousand steps from each.
_STEPS_TRIED = 100_000


@dataclass(frozen=True, slots=True)
class Graph:
    """The steps in calculation order, and each step's direct inputs and users."""

    order: tuple[str, ...]
    uses: Mapping[str, tuple[str, ...]]
    used_by: Mapping[str, tuple[str, ...]]


def formulas(model: Model) -> Iterator[tuple[str, Expr]]:
    """Yield the id and the tree of everything that is computed: quantities, `check.<id>` and `rule.<n>`."""
    for name, quantity in model.quantities.items():
        if isinstance(quantity.definition, Formula):
            yield name, quantity.definition.expr
    for name, check in model.checks.items():
        yield f"check.{name}", check.condition
    for number, rule in enumerate(model.decision.rules if model.decision else (), 1):
        if rule.when is not None:
            yield f"rule.{number}", rule.when


def order(model: Model) -> tuple[Graph | None, tuple[Diagnostic, ...]]:
    """Return the graph of a model, or its circles."""
    import networkx as nx

    uses = {
        name: tuple(dict.fromkeys(node.name for node in references(expr))) for name, expr in formulas(model)
    }
    for name, quantity in model.quantities.items():
        uses.setdefault(
            name, (quantity.definition.choice,) if isinstance(quantity.definition, Lookup) else ()
        )
    place = {
        name: number for number, name in enumerate((*model.quantities, *(set(uses) - set(model.quantities))))
    }
    steps: nx.DiGraph[str] = nx.DiGraph()
    steps.add_nodes_from(uses)
    steps.add_edges_from((source, name) for name, sources in uses.items() for source in sources)
    frozen = nx.freeze(steps)
    circles = tuple(_circles(frozen, model))
    if circles:
        return None, circles
    nested = tuple(_nested_sweeps(frozen, model))
    if nested:
        return None, nested
    rank = {
        name: (name not in model.quantities, place[name] if name in model.quantities else name)
        for name in uses
    }
    ordered = tuple(nx.lexicographical_topological_sort(frozen, key=lambda name: _key(rank[name])))
    used_by = {name: tuple(sorted(frozen.successors(name))) for name in ordered}
    return Graph(ordered, uses, used_by), ()


def cone(uses: Mapping[str, tuple[str, ...]], source: str, targets: Iterable[str]) -> frozenset[str]:
    """Return the steps that move with `source` and that the targets need; `source` itself is among them."""
    needed = reached(uses, targets)
    users: dict[str, list[str]] = {}
    for name in needed:
        for read in uses[name]:
            users.setdefault(read, []).append(name)
    return reached(users, (source,)) & (needed | {source})


def reached(
    edges: Mapping[str, Iterable[str]], starts: Iterable[str], ends: Container[str] = ()
) -> frozenset[str]:
    """Return the starts and all that edges lead to from them; none of the `ends` leads any further."""
    found: set[str] = set()
    pending = list(starts)
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending.extend(() if name in ends else edges.get(name, ()))
    return frozenset(found)


def _nested_sweeps(steps: nx.DiGraph[str], model: Model) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each reduction over what reduces a sweep itself and moves with the same input."""
    if not model.sweeps:
        return
    uses = {name: tuple(steps.predecessors(name)) for name in steps}
    reducing = {name: found for name, expr in formulas(model) if (found := reductions(expr))}
    for name, found in reducing.items():
        for node in found:
            over = model.sweeps[node.sweep].over
            inside = cone(uses, over, [part.name for part in references(node)])
            for inner in sorted(inside & reducing.keys()):
                yield _nested(name, node, inner, reducing[inner][0])


def _nested(name: str, node: Reduce, inner: str, reduction: Reduce) -> Diagnostic:
    again = "that sweep itself" if reduction.sweep == node.sweep else f"the sweep `{reduction.sweep}`"
    message = f"`{name}` reduces the sweep `{node.sweep}` over `{inner}`, which reduces {again}"
    related = (Related(f"`{inner}` reduces here", reduction.span),)
    return Diagnostic(
        "CG413",
        message,
        node.span,
        "a sweep cannot run inside a sweep: reduce one of the two",
        related=related,
    )


def _key(rank: tuple[bool, int | str]) -> tuple[bool, int, str]:
    late, place = rank
    return (late, place, "") if isinstance(place, int) else (late, 0, place)


def _circles(steps: nx.DiGraph[str], model: Model) -> Iterator[Diagnostic]:
    import networkx as nx

    for component in sorted(nx.strongly_connected_components(steps), key=min):
        first = min(component)
        if len(component) > 1 or steps.has_edge(first, first):
            yield _circle(_shortest(steps.subgraph(component).copy()), model)


def _shortest(component: nx.DiGraph[str]) -> list[str]:
    """Return the shortest loop of a strongly connected component, in the direction of calculation."""
    starts = sorted(component)[: max(1, _STEPS_TRIED // len(component))]
    return min((_loop(component, start) for start in starts), key=lambda loop: (len(loop), loop))


def _loop(component: nx.DiGraph[str], start: str) -> list[str]:
    """Return the shortest loop through a step."""
    import networkx as nx

    loop, before = [start], dict[str, str]()
    if component.has_edge(start, start):
        return loop
    for parent, name in nx.bfs_edges(component, start):
        before[name] = parent
        # The first to lead back is the nearest.
        if component.has_edge(name, start):
            loop = [name]
            break
    while loop[-1] != start:
        loop.append(before[loop[-1]])
    return loop[::-1]


def _circle(loop: list[str], model: Model) -> Diagnostic:
    start = loop.index(min(loop))
    names = loop[start:] + loop[:start]
    # Read as a person does: each name needs the next one.
    names.reverse()
    names = names[-1:] + names[:-1]
    shown = names if len(names) <= _SHOWN else [*names[: _SHOWN - 2], "…", names[-1]]
    hops = " → ".join((*shown, names[0]))
    places = [(name, names[(index + 1) % len(names)]) for index, name in enumerate(names[:_SHOWN])]
    related = tuple(
        Related(f"`{name}` needs `{need}`", _reference(model, name, need)) for name, need in places
    )
    message = (
        f"`{names[0]}` needs itself" if len(names) == 1 else f"quantities need each other in a circle: {hops}"
    )
    way_out = "break the circle: make one of them an input"
    return Diagnostic("CG411", message, related[0].span, way_out, related=related[1:])


def _reference(model: Model, name: str, wanted: str) -> Span:
    definition = model.quantities[name].definition
    if isinstance(definition, Formula):
        return next(node.span for node in references(definition.expr) if node.name == wanted)
    return model.quantities[name].provenance.origin
