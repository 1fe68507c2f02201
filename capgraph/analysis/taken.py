"""One scenario's values → what of each formula has an effect on them.

In: a plan and a scenario's result → Out: the formulas, with `…` in place of what has no effect there.
Invariant: whatever stands behind a `…` may change alone, and no value of the scenario changes.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import replace

import numpy as np

from capgraph.analysis.derivation import REST, is_definition, names_in
from capgraph.calculate import Run
from capgraph.expression import Expression, full
from capgraph.formula.tree import Binary, Call, Expr, Reference, Scale, Unary, reductions, references
from capgraph.graph import reached
from capgraph.model import Value
from capgraph.plan import Compute, Plan
from capgraph.results import ScenarioResult

# An operand with this value decides alone, whatever the other one is.
_DECIDES: Mapping[str, Value] = {"*": 0.0, "/": 0.0, "and": False, "or": True}


def taken(
    plan: Plan, result: ScenarioResult, given: Container[str] = (), targets: Iterable[str] | None = None
) -> Mapping[str, Expr]:
    """Return the formula of each step that is not `given`, without the branches and factors that have no effect.

    Factors of one that only carry a unit, such as `one_replica`, go without a `…`. A step that the targets (all steps,
    if none are named) reduce over a sweep keeps all of its formula: other points may take other branches.
    """
    computed = {step.id: step.expr for step in plan.steps if isinstance(step, Compute)}
    run = Run(plan, 1, {})
    run.values |= {name: full(value, 1) for name, value in result.values.items() if value is not None}
    ones = {
        name
        for name, entry in plan.model.quantities.items()
        if is_definition(entry) and result.values[name] == 1.0
    }
    plain = {name: _without_units(expr, ones) for name, expr in computed.items() if name not in given}
    cut = {name: _taken(expr, Expression(run, name, np.arange(1))) for name, expr in plain.items()}
    wanted = tuple(plan.uses if targets is None else targets)
    whole: frozenset[str] = frozenset()
    while True:
        formulas = {name: plain[name] if name in whole else expr for name, expr in cut.items()}
        uses = {**plan.uses, **{name: names_in(expr) for name, expr in formulas.items()}}
        needed = reached(uses, wanted, given)
        swept = {node.sweep for name in needed & formulas.keys() for node in reductions(formulas[name])}
        found = frozenset(name for sweep in swept for name in plan.sweeps[sweep].steps)
        # What stays whole may need further sweeps.
        if found <= whole:
            return formulas
        whole |= found


def _without_units(expr: Expr, ones: Container[str]) -> Expr:
    match expr:
        case Binary(op="*" | "/", right=Reference(name)) if name in ones:
            return _without_units(expr.left, ones)
        case Binary(op="*", left=Reference(name)) if name in ones:
            return _without_units(expr.right, ones)
        case Binary():
            return replace(expr, left=_without_units(expr.left, ones), right=_without_units(expr.right, ones))
        case Unary() | Scale():
            return replace(expr, operand=_without_units(expr.operand, ones))
        case Call():
            return replace(expr, arguments=tuple(_without_units(item, ones) for item in expr.arguments))
        case _:
            return expr


def _taken(expr: Expr, at: Expression) -> Expr:
    match expr:
        case Unary() | Scale():
            return replace(expr, operand=_taken(expr.operand, at))
        case Call(function="if"):
            condition, *branches = expr.arguments
            used = 0 if at.value(condition)[0] else 1
            kept = [_taken(item, at) if place == used else _rest(item) for place, item in enumerate(branches)]
            return replace(expr, arguments=(_taken(condition, at), *kept))
        case Call():
            return replace(expr, arguments=tuple(_taken(item, at) for item in expr.arguments))
        case Binary() if _decides(expr, expr.left, at):
            left = _taken(expr.left, at)
            # `0 × … × …` says no more than `0 × …`.
            told = isinstance(left, Binary) and _is_rest(left.right)
            return left if told else replace(expr, left=left, right=_rest(expr.right))
        case Binary() if _decides(expr, expr.right, at):
            return replace(expr, left=_rest(expr.left), right=_taken(expr.right, at))
        case Binary():
            return replace(expr, left=_taken(expr.left, at), right=_taken(expr.right, at))
        case _:
            return expr


def _decides(expr: Binary, operand: Expr, at: Expression) -> bool:
    return expr.op in _DECIDES and bool(at.value(operand)[0] == _DECIDES[expr.op])


def _is_rest(expr: Expr) -> bool:
    return isinstance(expr, Reference) and expr.name == REST


def _rest(expr: Expr) -> Expr:
    """Put a `…` in place of what reads anything; a number says more than it."""
    return Reference(REST, expr.span) if references(expr) else expr
