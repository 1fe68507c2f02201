"""The formula language as tables: functions, reductions and operators, each with its meaning, units and Excel spelling.

In: the tables that parser, unit check and printers read → Out: one `Entry` a line.
Invariant: functions and reductions are told from their records; what the parser alone knows, precedence, stands here
and is tested against the parser.
"""

from __future__ import annotations

from dataclasses import dataclass

from capgraph.formula.functions import FUNCTIONS, Function, UnitRule
from capgraph.formula.reductions import INTERPOLATE, INTERPOLATE_DOC, REDUCTIONS, Reduction

RULES: dict[UnitRule, str] = {
    "same": "one dimension; the result is in the first one's unit",
    "count": "counts only (GPU, replica, plain numbers): no time, money or energy",
    "plain": "plain numbers only",
    "root": "the result has the root of the unit",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that a formula may hold; `examples` are formulas of plain numbers with their results."""

    written: str
    gives: str
    units: str
    excel: str
    examples: tuple[tuple[str, float | bool], ...] = ()


@dataclass(frozen=True, slots=True)
class Operator(Entry):
    """An operator or several that bind alike; those of a lower `level` bind tighter."""

    level: int = 0
    symbols: tuple[str, ...] = ()


IF = Entry(
    "if(condition, a, b)",
    "a where the condition holds, else b; only the branch that is taken is evaluated.",
    "a condition, then two of one dimension; the result is in the first one's unit",
    "IF(condition,a,b)",
    (("if(2 > 1, 5, 1 / 0)", 5.0),),
)

OPERATORS = (
    Operator(
        "a ^ b", "A power. A power of a power needs brackets.",
        "the exponent is a plain number; of a base with a unit, a number as written",
        "a^b", (("2 ^ 3", 8.0), ("4 ^ 0.5", 2.0), ("2 ^ -1", 0.5)), 1, ("^",),
    ),
    Operator(
        "-a", "The number with the other sign. It binds looser than a power: -2^2 is -(2^2).",
        "as the number has", "-a; -(a^b) for -a^b", (("-2 ^ 2", -4.0), ("3 * -2", -6.0)), 2, ("-",),
    ),
    Operator(
        "a * b, a / b", "Product and quotient, from left to right.",
        "multiplied and divided as the numbers are", "a*b, a/b",
        (("8 / 4 / 2", 1.0), ("8 / 4 * 2", 4.0)), 3, ("*", "/"),
    ),
    Operator(
        "a + b, a - b", "Sum and difference, from left to right.",
        "both of one dimension; the right side is converted, and the conversion shown; a bare 0 fits any unit",
        "a+b, a-b", (("10 - 4 - 3", 3.0), ("2 + 3 * 4", 14.0)), 4, ("+", "-"),
    ),
    Operator(
        "a < b, <=, >, >=", "A comparison, true or false. Comparisons do not chain.",
        "both of one dimension", "a<b", (("2 < 3", True), ("1 + 1 >= 3", False)), 5, ("<", "<=", ">", ">="),
    ),
    Operator(
        "a = b, a <> b", "Whether two texts are the same: a choice, a text field, a text in quotes. Numbers are not "
        "compared so; write abs(a - b) <= tolerance.",
        "texts have none", "a=b, or EXACT(a,b) where case alone tells two options apart", (), 5, ("=", "<>"),
    ),
    Operator(
        "not a", "True where a is false.", "a condition", "NOT(a)",
        (("not 2 < 1", True), ("not true and false", False)), 6, ("not",),
    ),
    Operator(
        "a and b", "True where both are. Both sides are evaluated.", "conditions", "AND(a,b)",
        (("true and 1 > 2", False),), 7, ("and",),
    ),
    Operator(
        "a or b", "True where one of the two is, or both. Both sides are evaluated.", "conditions", "OR(a,b)",
        (("true or false and false", True),), 8, ("or",),
    ),
)  # fmt: skip


def functions() -> tuple[Entry, ...]:
    """Return `if` and the functions of numbers."""
    return (IF, *map(_function, FUNCTIONS.values()))


def _function(record: Function) -> Entry:
    names = ("a", "b", "…") if record.variadic else record.parameters
    excel = record.excel.format(*names, all=",".join(names))
    return Entry(f"{record.name}({', '.join(names)})", record.doc, RULES[record.rule], excel, record.examples)


def reductions() -> tuple[Entry, ...]:
    """Return the reductions over a sweep."""
    between = f"{INTERPOLATE}(value at number over sweep)"
    line = Entry(
        between, INTERPOLATE_DOC, "the result is in the value's unit", "a line between two rows of the table"
    )
    return (*map(_reduction, REDUCTIONS.values()), line)


def _reduction(record: Reduction) -> Entry:
    if record.takes == "condition":
        written, units = f"{record.name}(condition over sweep)", "the result is a plain number"
    else:
        written, units = (
            f"{record.name}(value [where condition] over sweep)",
            "the result is in the value's unit",
        )
    return Entry(
        written,
        record.doc,
        units,
        record.excel.format(values="values", fitting="fitting", position="position"),
    )
