"""Plan, one scenario's results → the numbered chain from inputs to a quantity.

In: target ids → Out: lines in calculation order, each with its formula as text and with numbers.
Invariant: a line cites only lines before it; the numbers shown are the evaluator's.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass

from capgraph.formula.text import Writer, named, print_formula
from capgraph.formula.tree import Binary, Expr, Reference, Scale, references
from capgraph.graph import reached
from capgraph.model import Given, Quantity, Value
from capgraph.notation import show_constant, show_value
from capgraph.plan import Compute, Plan
from capgraph.results import ScenarioResult

REST = "…"
"""What a formula names in place of what has no effect."""


@dataclass(frozen=True, slots=True)
class Line:
    """One step of a derivation. `formula` and `numbers` are empty for inputs and catalog fields.

    `measured` says that a computed quantity is overridden; `set_at` is where a value that is not the base one was
    set (a place in a file, or `--set`), else empty; `needs` are the ids of the lines that it reads.
    """

    number: int
    quantity: Quantity
    formula: str
    numbers: str
    value: Value | None
    measured: bool
    set_at: str
    needs: tuple[str, ...]


def ancestors(plan: Plan, targets: Iterable[str], given: Container[str] = ()) -> frozenset[str]:
    """Return the targets and every step that they need, directly or not; a `given` step needs nothing."""
    return reached(plan.uses, targets, given)


def is_definition(entry: Quantity) -> bool:
    """Say whether an input only defines something, such as `one_replica`: its source says `definition`."""
    return isinstance(entry.definition, Given) and entry.provenance.source.strip().lower().startswith(
        "definition"
    )


def only_converts(plan: Plan, expr: Expr) -> bool:
    """Say whether a formula only writes one quantity in another unit or under another name."""
    match expr:
        case Reference():
            return True
        case Scale():
            return only_converts(plan, expr.operand)
        case Binary(op="*" | "/"):
            return _defines(plan, expr.right) and only_converts(plan, expr.left)
        case _:
            return False


def _defines(plan: Plan, expr: Expr) -> bool:
    return isinstance(expr, Reference) and is_definition(plan.model.quantities[expr.name])


def derive(
    plan: Plan,
    scenario: str,
    result: ScenarioResult,
    targets: Iterable[str],
    changed: frozenset[str] = frozenset(),
    printed: Callable[[Expr, Writer], str] = print_formula,
    formulas: Mapping[str, Expr] | None = None,
) -> tuple[Line, ...]:
    """Return the chain of a scenario for the targets; `check.<id>` and `rule.<n>` are not lines themselves.

    `changed` are quantities that a caller set beside the scenario; `printed` writes formulas, in the language's own
    spelling or in mathematical signs; `formulas`, those of `taken`, make the chain that has an effect.
    """
    settings = plan.model.scenarios[scenario].settings
    set_at = {name: str(setting.origin) for name, setting in settings.items()} | dict.fromkeys(
        changed, "--set"
    )
    uses = {**plan.uses, **{name: names_in(expr) for name, expr in (formulas or {}).items()}}
    cone = reached(uses, targets, set_at)
    chain = [step for step in plan.steps if step.id in cone and step.id in plan.model.quantities]
    lines = []
    for number, step in enumerate(chain, 1):
        quantity = plan.model.quantities[step.id]
        computed = isinstance(step, Compute)
        measured = computed and step.id in set_at
        formula = numbers = ""
        if isinstance(step, Compute) and not measured:
            expr = step.expr if formulas is None else formulas[step.id]
            formula = printed(expr, named)
            numbers = printed(expr, lambda node: _shown(node, result.values))
        needs = () if measured else uses[step.id]
        lines.append(
            Line(
                number,
                quantity,
                formula,
                numbers,
                result.values[step.id],
                measured,
                set_at.get(step.id, ""),
                needs,
            )
        )
    return tuple(lines)


def names_in(expr: Expr) -> tuple[str, ...]:
    """Return what a formula reads, without what has no effect."""
    return tuple(dict.fromkeys(node.name for node in references(expr) if node.name != REST))


def _shown(node: Reference | Scale, values: Mapping[str, Value | None]) -> str:
    if isinstance(node, Scale):
        return show_constant(node.value)
    if node.name == REST:
        return REST
    value = values[node.name]
    text = show_value(value)
    if isinstance(value, str):
        return f'"{text}"'
    return f"({text})" if isinstance(value, float) and value < 0 else text
