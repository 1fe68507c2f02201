"""The Checks sheet: every check in every scenario, the decision's rules, and the workbook's own integrity;
all live.

In: a page, the layout and the results → Out: the cells. Invariant: a status says pass only where its
condition holds; an error in a condition is never a pass.
"""

from __future__ import annotations

from openpyxl.utils import get_column_letter

from capgraph.emit.xlsx.decision import deciding_rule, option_label, rule_rows, write_verdict
from capgraph.emit.xlsx.grid import Column, finish_grid, write_head, write_section
from capgraph.emit.xlsx.integrity import write_integrity
from capgraph.emit.xlsx.layout import ACTIVE, BASE, CHECKS, FIRST_ROW, LABEL, Key, Layout, Line
from capgraph.emit.xlsx.messages import sentences
from capgraph.emit.xlsx.page import Page, at, fixed
from capgraph.emit.xlsx.references import ByName
from capgraph.emit.xlsx.rows import RowWriter
from capgraph.emit.xlsx.status import FAIL, MESSAGE, PASS, WARN, StatusRows, colour_status, overall
from capgraph.emit.xlsx.styles import Role
from capgraph.emit.xlsx.words import say
from capgraph.message import write_message
from capgraph.plan import Compute
from capgraph.results import Results

_BEFORE = (
    Column("Check", 40),
    Column("Message for the active scenario", 58),
    Column("Severity, option", 16),
    Column("Active", 15),
    Column("Ties out", 9),
)
_AFTER = (Column("Condition in words", 60), Column("Name in formulas", 26), Column("Declared at", 28))
_NO, _TOO_LATE = "Does not hold.", "Holds as well, but an earlier rule decides."
_NOTE = "A check that fails as an error says FAIL, one that only warns says warn. Everything here follows the inputs."


def write_checks(page: Page, layout: Layout, results: Results) -> None:
    """Write the sheet."""
    write_head(page, layout, results, "Checks", _NOTE, _BEFORE, _AFTER)
    last_column = layout.details + len(_AFTER) - 1
    rows = StatusRows(page, layout, results, RowWriter(page, layout, results))
    for line in layout.checks:
        match line.kind:
            case "heading":
                write_section(page, line.row, line.name, last_column)
            case "status":
                _write_status(rows, line)
            case "step":
                _write_condition(rows, line)
            case "verdict":
                write_verdict(rows, line)
            case "overall":
                _write_overall(rows, line)
            case _:
                write_integrity(rows, line)
    last_row = layout.checks[-1].row
    colour_status(page, f"{at(FIRST_ROW, ACTIVE)}:{at(last_row, layout.last)}", at(FIRST_ROW, ACTIVE))
    finish_grid(page, layout, last_row, last_column)


def _write_status(rows: StatusRows, line: Line) -> None:
    check = rows.layout.plan.model.checks[line.name]
    fails = FAIL if check.severity == "error" else WARN
    condition: Key = ("step", f"check.{line.name}")
    rows.across(
        line.row,
        lambda spelling, column: f'IF({spelling.place(condition)},"{PASS}","{fails}")',
        lambda result: PASS if result.checks[line.name].holds else fails,
    )
    words = say(check.condition, rows.label)
    rows.texts(line.row, check.label, check.severity, words, declared=check.origin.place)
    _write_sentence(rows, line.row, f"check.{line.name}")


def _write_condition(rows: StatusRows, line: Line) -> None:
    layout = rows.layout
    rows.rows.write(line.key, line.row)
    rows.rows.write_tie(line.key, line.row, BASE)
    step, name = layout.steps.get(line.name), layout.names[line.key]
    words = say(step.expr, rows.label) if isinstance(step, Compute) else "in every other case"
    kind, _, number = line.name.partition(".")
    if kind == "check":
        check = layout.plan.model.checks[number]
        rows.texts(line.row, check.label, words=words, name=name, declared=check.origin.place)
        return
    assert layout.plan.model.decision is not None
    rule = layout.plan.model.decision.rules[int(number) - 1]
    option = option_label(layout, rule.option)
    rows.texts(line.row, f"Rule {number}", option, words, name, rule.origin.place)
    _write_headline(rows, line, int(number))


def _write_overall(rows: StatusRows, line: Line) -> None:
    of_checks = line.name == "checks"
    kinds = ("status",) if of_checks else ("integrity", "stack")
    counted = [other.row for other in rows.layout.checks if other.kind in kinds]

    def count(spelling: ByName, column: int) -> str:
        area = f"{at(counted[0], column)}:{at(counted[-1], column)}"
        passed, warned = f'COUNTIF({area},"{PASS}")', f'COUNTIF({area},"{WARN}")'
        return f'IF({passed}=ROWS({area}),"{PASS}",ROWS({area})-{passed}-{warned}&" fail, "&{warned}&" warn")'

    rows.across(line.row, count, lambda result: overall(rows.layout, result) if of_checks else PASS)
    label = "All checks together" if of_checks else "All of the workbook's own checks"
    name = rows.layout.names[line.key]
    rows.texts(line.row, label, name=name)
    rows.page.book.define(name, CHECKS, fixed(line.row, ACTIVE), label)


def _write_sentence(rows: StatusRows, row: int, message_id: str) -> None:
    """Write a message live."""
    formula, text = _sentence(rows, row, message_id)
    rows.page.formula(row, MESSAGE, formula, text, Role.FORMULA_TEXT)


def _write_headline(rows: StatusRows, line: Line, number: int) -> None:
    """Write the headline of a rule, whose numbers make sense only where the rule decides."""
    formula, text = _sentence(rows, line.row, line.name)
    result = rows.results.scenarios[rows.results.selected]
    holds = result.values.get(line.name, True)
    decides = deciding_rule(result) == number
    page, names = rows.page, rows.layout.names
    instead = f'IF({names[line.key]},"{_TOO_LATE}","{_NO}")'
    first, _ = rule_rows(rows.layout)
    position = f"ROWS({fixed(first, LABEL)}:{at(line.row, LABEL)})"
    live = f"IF({names['verdict', 'rule']}={position},{formula},{instead})"
    page.formula(line.row, MESSAGE, live, text if decides else _TOO_LATE if holds else _NO, Role.FORMULA_TEXT)
    # High enough for what it says in each scenario that it decides.
    width = page.sheet.column_dimensions[get_column_letter(MESSAGE)].width
    for other in rows.results.scenarios.values():
        if other.verdict is not None and deciding_rule(other) == number:
            page.grow(line.row, other.verdict.headline, width, Role.FORMULA_TEXT)


def _sentence(rows: StatusRows, row: int, message_id: str) -> tuple[str, str]:
    """Return a message as a formula, and what it says. One too long stands in pieces to the right, and is joined."""
    plan, values = rows.layout.plan, rows.results.scenarios[rows.results.selected].values
    message = plan.messages[message_id]
    pieces = sentences(message, rows.rows.by_name)
    formula = pieces[0].formula
    if len(pieces) > 1:
        start = rows.layout.details + len(_AFTER)
        for column, piece in enumerate(pieces, start):
            rows.page.formula(
                row, column, piece.formula, write_message(plan, piece.message, values), Role.NAME
            )
        formula = "&".join(at(row, start + offset) for offset in range(len(pieces)))
    return formula, write_message(plan, message, values)
