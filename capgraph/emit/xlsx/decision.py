"""The decision on the Checks sheet: which rule decides, and for which option, in every column.

In: the rows and the layout → Out: the verdict's two rows. Invariant: the first rule that holds decides; a
rule in error makes the verdict an error, never the next rule's option.
"""

from __future__ import annotations

from capgraph.emit.xlsx.formula import truth
from capgraph.emit.xlsx.layout import ACTIVE, CHECKS, Layout, Line
from capgraph.emit.xlsx.page import Cached, at, fixed
from capgraph.emit.xlsx.status import MESSAGE, RANK, StatusRows
from capgraph.results import ScenarioResult

NO_RULE = "No rule of the decision holds."


def write_verdict(rows: StatusRows, line: Line) -> None:
    """Write the row of the deciding rule's number, or of its option."""
    layout = rows.layout
    if line.name == "rule":
        label, words = "Number of the rule that decides", "The first rule below that holds; 0: none"
        rows.across(line.row, lambda _, column: _rule(layout, column), deciding_rule)
    else:
        label, words = "Verdict", "The option of the first rule that holds"
        rows.across(
            line.row, lambda _, column: _option(layout, column), lambda found: verdict_label(layout, found)
        )
    name = layout.names[line.key]
    rows.texts(line.row, label, words=words, name=name)
    rows.page.book.define(name, CHECKS, fixed(line.row, ACTIVE), label)


def rule_rows(layout: Layout) -> tuple[int, int]:
    """Return the first and the last row of the rules."""
    rows = [line.row for line in layout.checks if line.kind == "step" and line.name.startswith("rule.")]
    return rows[0], rows[-1]


def headlines(layout: Layout) -> str:
    """Return the cells that hold the rules' headlines."""
    first, last = rule_rows(layout)
    return f"{fixed(first, MESSAGE)}:{fixed(last, MESSAGE)}"


def _rule(layout: Layout, column: int) -> str:
    first, last = rule_rows(layout)
    rules = f"{at(first, column)}:{at(last, column)}"
    # OR is an error as soon as one rule is; MATCH alone would pass over it.
    return f"IF(OR({rules}),MATCH({truth(True)},{rules},0),0)"


def _option(layout: Layout, column: int) -> str:
    first, last = rule_rows(layout)
    chosen = at(layout.rows[CHECKS]["verdict", "rule"], column)
    return f'IF({chosen}=0,"{NO_RULE}",INDEX({fixed(first, RANK)}:{fixed(last, RANK)},{chosen}))'


def option_label(layout: Layout, option: str) -> str:
    """Return what an option is called."""
    decision = layout.plan.model.decision
    known = decision.options.get(option) if decision is not None else None
    return known.label if known is not None else option or "no option"


def verdict_label(layout: Layout, result: ScenarioResult) -> str:
    """Return the label of the option that a scenario's verdict names."""
    verdict = result.verdict
    if verdict is None or verdict.rule is None:
        return NO_RULE
    return option_label(layout, verdict.option)


def deciding_rule(result: ScenarioResult) -> Cached:
    """Return the number of the rule that decides, from 1; 0 if none holds."""
    verdict = result.verdict
    return 0.0 if verdict is None or verdict.rule is None else float(verdict.rule + 1)
