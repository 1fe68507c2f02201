"""Formulas too long or too deep for a cell: a plan in → the same plan with their parts as steps of their own.

Invariant: Excel takes 8,192 characters and 64 levels of brackets; no formula of the plan that comes out needs more. The
values are the evaluator's, and a part stands before the formula that names it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from capgraph.calculate import calculate
from capgraph.emit.xlsx.formula import Kind, print_excel
from capgraph.evaluate import scenario_overrides, scenario_result
from capgraph.formula.functions import FUNCTIONS
from capgraph.formula.tree import (
    Binary,
    Call,
    Expr,
    Reduce,
    Reference,
    Scale,
    Unary,
    children,
    reductions,
    references,
    walk,
)
from capgraph.plan import Compute, Plan, Step
from capgraph.results import Results

MOST_CHARACTERS, MOST_LEVELS = 6_000, 40
_SMALL = 40
"""A formula of so few nodes is neither long nor deep."""
_GROUP = 50


def split_formulas(plan: Plan, results: Results) -> tuple[Plan, Results]:
    """Take the formulas apart that no cell can hold, and calculate the parts."""
    steps = tuple(part for step in plan.steps for part in _steps(step))
    if len(steps) == len(plan.steps):
        return plan, results
    split = _linked(replace(plan, steps=steps))
    scenarios = tuple(results.scenarios)
    columns = calculate(split, scenario_overrides(split, scenarios), len(scenarios))
    lanes = {name: scenario_result(split, columns, lane) for lane, name in enumerate(scenarios)}
    return split, Results(lanes)


def _linked(plan: Plan) -> Plan:
    """Return the plan with the parts among what uses what."""
    uses = dict(plan.uses)
    for step in plan.steps:
        if isinstance(step, Compute):
            uses[step.id] = tuple(dict.fromkeys(item.name for item in references(step.expr)))
    used_by: dict[str, list[str]] = {step.id: [] for step in plan.steps}
    for name, needed in uses.items():
        for other in needed:
            used_by[other].append(name)
    return replace(plan, uses=uses, used_by={name: tuple(sorted(users)) for name, users in used_by.items()})


def is_part(name: str) -> bool:
    """Say whether a step is a part of a longer formula."""
    return "/part" in name


def _steps(step: Step) -> Iterator[Step]:
    # What a reduction takes moves with its sweep, and is no step of its own outside of it.
    if not isinstance(step, Compute) or len(tuple(walk(step.expr))) <= _SMALL or reductions(step.expr):
        yield step
        return
    splitter = _Splitter(step.id)
    whole = splitter.shortened(step.expr)
    yield from splitter.parts
    yield Compute(step.id, whole)


@dataclass(frozen=True)
class _Ids:
    """Names as long as the defined names will be."""

    def quantity(self, name: str) -> str:
        return f"{name}_"

    def constant(self, name: str) -> str:
        return f"{name}_"

    def missing(self, name: str) -> Kind | None:
        return "number"

    def reduced(self, node: Reduce) -> str:
        return ""

    def exact(self, name: str) -> bool:
        return False


@dataclass
class _Splitter:
    owner: str
    parts: list[Compute] = field(default_factory=list)

    def shortened(self, expr: Expr) -> Expr:
        """Return the formula with its largest operands made parts, from the inside out."""
        made: dict[int, Expr] = {}
        for node in reversed(tuple(walk(expr))):
            made[id(node)] = self._fitted(_with_children(node, [made[id(child)] for child in children(node)]))
        return made[id(expr)]

    def _fitted(self, node: Expr) -> Expr:
        while not _fits(node):
            operands = list(children(node))
            large = max(range(len(operands)), key=lambda index: _size(operands[index]), default=None)
            if large is not None and children(operands[large]):
                operands[large] = self._part(operands[large])
            elif isinstance(node, Call) and FUNCTIONS[node.function].variadic and len(operands) > _GROUP:
                groups = (operands[start : start + _GROUP] for start in range(0, len(operands), _GROUP))
                operands = [self._part(replace(node, arguments=tuple(group))) for group in groups]
            else:
                return node
            node = _with_children(node, operands)
        return node

    def _part(self, expr: Expr) -> Expr:
        name = f"{self.owner}/part{len(self.parts) + 1}"
        self.parts.append(Compute(name, expr))
        return Reference(name, expr.span)


def _with_children(node: Expr, operands: Sequence[Expr]) -> Expr:
    match node:
        case Unary() | Scale():
            return replace(node, operand=operands[0])
        case Binary():
            return replace(node, left=operands[0], right=operands[1])
        case Call():
            return replace(node, arguments=tuple(operands))
        case _:
            return node


def _fits(node: Expr) -> bool:
    characters, levels = _measured(node)
    return characters <= MOST_CHARACTERS and levels <= MOST_LEVELS


def _size(node: Expr) -> int:
    characters, levels = _measured(node)
    return characters + levels * MOST_CHARACTERS // MOST_LEVELS


def _measured(node: Expr) -> tuple[int, int]:
    """Return how many characters and how many levels of brackets a formula takes."""
    text = print_excel(node, _Ids())
    level = deepest = 0
    for sign in text:
        level += (sign == "(") - (sign == ")")
        deepest = max(deepest, level)
    return len(text), deepest
