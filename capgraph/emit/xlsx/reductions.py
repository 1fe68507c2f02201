"""Reductions as formulas: a reduction in → what it is over the cells of its sweep.

Invariant: nothing but INDEX, MATCH and sums over plain columns, no array formula; a reduction that no point fits is an
error where the evaluator has no value.
"""

from __future__ import annotations

from capgraph.emit.xlsx.swept import BlockKey, Swept
from capgraph.formula.reductions import REDUCTIONS
from capgraph.formula.tree import Reduce


def reduction_formula(node: Reduce, swept: Swept, sheet: str, letter: str) -> str:
    """Write a reduction over the cells of one column of the sweep's sheet."""

    def area(key: BlockKey | None) -> str:
        return f"{sheet}!{swept.area(key, letter)}" if key is not None else ""

    values = area(swept.values(node))
    if node.at is not None:
        at, below = area(swept.auxiliary("at", node)), area(swept.auxiliary("below", node))
        return _line(area(swept.over), values, at, below)
    fitting = area(swept.auxiliary("fitting", node)) or values
    position = area(swept.auxiliary("position", node))
    return REDUCTIONS[node.function].excel.format(values=values, fitting=fitting, position=position)


def below_formula(swept: Swept, at: str, letter: str) -> str:
    """Write the number of the last point at or below a number, and the one before the last at most."""
    points = swept.area(swept.over, letter)
    return f"IF({at}>MAX({points}),NA(),MIN(MATCH({at},{points},1),ROWS({points})-1))"


def _line(points: str, values: str, at: str, below: str) -> str:
    """Write the value on the straight line between two points."""
    start, end = f"INDEX({points},{below})", f"INDEX({points},{below}+1)"
    low, high = f"INDEX({values},{below})", f"INDEX({values},{below}+1)"
    return f"({low}+({at}-{start})/({end}-{start})*({high}-{low}))"
