"""Random formulas whose value every engine must agree on, and the plan that calculates them.

Spreadsheets round a difference of nearly equal numbers to 0, so differences and comparisons are drawn over numbers
that a double holds exactly; quotients, roots and the like are only added up and multiplied, with one sign.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hypothesis import strategies as st
from openpyxl import Workbook
from openpyxl.workbook.defined_name import DefinedName

from capgraph.calculate import calculate
from capgraph.diagnostics import Source, Span
from capgraph.emit.xlsx.formula import Kind, print_excel
from capgraph.formula.tree import Binary, BinaryOp, Call, Expr, Number, Reduce, Reference, Scale, Truth, Unary
from capgraph.plan import Compute, Plan, Read, Step
from oracles.cells import Cell, same
from oracles.workbooks import built

SPAN = Span(Source("test", ""), 1, 1, 1, 1)
VALUES = {"x": 3.0, "y": -1.25, "z": 0.0, "w": 40.5}
CONSTANTS = {"KiB_per_GiB": 1048576.0, "ms_per_s": 1000.0}


@dataclass(frozen=True)
class Plainly:
    """Spelling by the names themselves."""

    fetched: Mapping[str, Kind]

    def quantity(self, name: str) -> str:
        """Return the name."""
        return name

    def constant(self, name: str) -> str:
        """Return the name."""
        return name

    def missing(self, name: str) -> Kind | None:
        """Return what a fetched field holds."""
        return self.fetched.get(name)

    def reduced(self, node: Reduce) -> str:
        """Return nothing: these formulas have no reductions."""
        return ""

    def exact(self, name: str) -> bool:
        """Say that texts of `word` differ by case."""
        return name == "word"


def number(value: float) -> Number:
    """Return a number as a formula has it."""
    return Number(value, repr(value), SPAN)


def pair(op: BinaryOp, left: Expr, right: Expr) -> Expr:
    """Return an operation of two operands."""
    return Binary(op, left, right, SPAN)


def call(function: str, *arguments: Expr) -> Expr:
    """Return a function of its arguments."""
    return Call(function, arguments, SPAN)


def minus(operand: Expr) -> Expr:
    """Return an operand with its sign turned."""
    return Unary("-", operand, SPAN)


LEAVES = st.one_of(
    st.sampled_from(sorted(VALUES)).map(lambda name: Reference(name, SPAN)),
    st.integers(0, 40).map(lambda quarters: number(quarters / 4)),
)
EXACT: st.SearchStrategy[Expr] = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(pair, st.sampled_from(["+", "-", "*"]), inner, inner),
        st.builds(minus, inner),
        st.builds(call, st.sampled_from(["min", "max"]), inner, inner),
        st.builds(lambda operand: call("abs", operand), inner),
        st.builds(
            lambda one, two, three: call("clamp", one, two, call("max", two, three)), inner, inner, inner
        ),
    ),
    max_leaves=5,
)
COMPARISONS = st.builds(pair, st.sampled_from(["<", "<=", ">", ">="]), EXACT, EXACT)
CONDITIONS: st.SearchStrategy[Expr] = st.recursive(
    st.one_of(COMPARISONS, st.booleans().map(lambda value: Truth(value, SPAN))),
    lambda inner: st.one_of(
        st.builds(pair, st.sampled_from(["and", "or"]), inner, inner),
        st.builds(lambda operand: Unary("not", operand, SPAN), inner),
    ),
    max_leaves=4,
)


def _positive(operand: Expr) -> Expr:
    return call("abs", operand)


def _scaled(operand: Expr, constant: str, divide: bool) -> Expr:
    return Scale(operand, constant, CONSTANTS[constant], divide, SPAN)


# A power under a minus, of a negative, of a power; the rest has a value, or has none in every engine.
POWERS = st.one_of(
    st.builds(
        lambda base, exponent: pair("^", base, number(exponent)), EXACT, st.sampled_from([1.0, 2.0, 3.0])
    ),
    st.builds(
        lambda base, exponent: pair(
            "^", pair("^", pair("+", _positive(base), number(1.0)), number(2.0)), exponent
        ),
        LEAVES,
        st.sampled_from([number(0.5), minus(number(1.0)), minus(number(2.0))]),
    ),
)
SMOOTH = st.one_of(
    st.builds(lambda left, right: pair("/", left, right), EXACT, EXACT),
    st.builds(lambda operand: call("sqrt", operand), EXACT),
    st.builds(
        lambda function, operand: call(function, operand), st.sampled_from(["ln", "log10", "log2"]), EXACT
    ),
    st.builds(lambda operand: call("exp", call("min", operand, number(20.0))), EXACT),
    st.builds(
        lambda function, left, right: call(function, pair("/", left, right)),
        st.sampled_from(["ceil", "floor", "round"]),
        EXACT,
        EXACT,
    ),
    st.builds(_scaled, EXACT, st.sampled_from(sorted(CONSTANTS)), st.booleans()),
    st.builds(minus, POWERS),
    POWERS,
)
TREES: st.SearchStrategy[Expr] = st.recursive(
    st.one_of(EXACT, SMOOTH),
    lambda inner: st.one_of(
        st.builds(lambda left, right: pair("+", _positive(left), _positive(right)), inner, inner),
        st.builds(lambda left, right: pair("*", _positive(left), right), inner, inner),
        st.builds(lambda condition, one, two: call("if", condition, one, two), CONDITIONS, inner, inner),
    ),
    max_leaves=4,
)


def evaluated(trees: Sequence[Expr]) -> list[float | None]:
    """Return the evaluator's value of each formula, None where it has none."""
    steps: tuple[Step, ...] = tuple(Read(name) for name in VALUES)
    steps += tuple(Compute(f"t{index}", tree) for index, tree in enumerate(trees))
    uses = {step.id: tuple(VALUES) if isinstance(step, Compute) else () for step in steps}
    plan: Plan = replace(built("small").plan, steps=steps, uses=uses)
    columns = calculate(plan, {name: [value] for name, value in VALUES.items()}, 1)
    found = [float(columns.values[f"t{index}"][0]) for index in range(len(trees))]
    return [value if value == value else None for value in found]


def workbook(trees: Sequence[Expr], path: Path) -> Path:
    """Write the formulas into column A of a workbook, their operands behind defined names."""
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    for row, (name, value) in enumerate({**VALUES, **CONSTANTS}.items(), 1):
        sheet.cell(row, 2, value)
        book.defined_names[name] = DefinedName(name, attr_text=f"'{sheet.title}'!$B${row}")
    for row, tree in enumerate(trees, 1):
        sheet.cell(row, 1, "=" + print_excel(tree, Plainly({})))
    book.save(path)
    return path


def disagreements(trees: Sequence[Expr], found: Mapping[str, Cell]) -> list[str]:
    """Return a line for each formula whose cell does not show the evaluator's value, or an error for none."""
    lines = []
    for row, (tree, value) in enumerate(zip(trees, evaluated(trees), strict=True), 1):
        cell = found.get(f"A{row}")
        agrees = isinstance(cell, str) and cell.startswith("#") if value is None else same(cell, value)
        if not agrees:
            lines.append(f"={print_excel(tree, Plainly({}))}: {cell!r} instead of {value!r}")
    return lines
