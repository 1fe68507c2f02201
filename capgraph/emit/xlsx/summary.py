"""The Summary sheet: the question, the verdict, the figures that decide, on one page; all live.

In: a page, the layout and the results → Out: the cells and the charts. Invariant: nothing is calculated here;
every cell shows what another sheet holds, for the scenario that is chosen here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from capgraph.emit.xlsx.charts import Bars, Strip, draw
from capgraph.emit.xlsx.decision import NO_RULE, headlines, verdict_label
from capgraph.emit.xlsx.grid import unit_column
from capgraph.emit.xlsx.layout import CHECKS, FIRST, INPUTS, LABELS_ROW, SUMMARY, Layout
from capgraph.emit.xlsx.names import quoted
from capgraph.emit.xlsx.page import Page, at, fixed
from capgraph.emit.xlsx.paper import set_up_single
from capgraph.emit.xlsx.references import ByName, Domains
from capgraph.emit.xlsx.stacks import Stack
from capgraph.emit.xlsx.status import colour_status, overall
from capgraph.emit.xlsx.styles import ROW_HEIGHT, Role
from capgraph.emit.xlsx.tables import ACTIVE, BESIDE, LABEL, LAST, MARK, UNIT, Tables
from capgraph.emit.xlsx.validation import list_rule
from capgraph.results import Results

_CHART, _END = 10, 18
"""The charts' first column, and the page's last."""
_SCENARIO_ROW, _VERDICT_ROW, _HEADLINE_ROW = 4, 5, 6
SELECTOR = at(_SCENARIO_ROW, UNIT)
"""The cell that chooses the scenario."""
_HEADLINE_WIDTH = 160.0
_COST_CHART, _STACK_CHART = (15, 5), (15, 7)
"""Width and height in centimetres."""


def write_summary(page: Page, layout: Layout, results: Results) -> None:
    """Write the sheet."""
    tables = Tables(page, layout, results, ByName(layout, Domains(layout.plan)))
    has_charts = bool(tables.priced or layout.stacks)
    end = _END if has_charts else MARK
    unit = max(16.0, unit_column(layout).width)
    page.widths(40, unit, 16, 15, 15, 15, 15, 10, 2, *[9.5] * (_END - _CHART + 1))
    _write_head(tables, end)
    _write_selector(tables)
    _write_verdict(tables, end)
    first = _write_status(tables) + 2
    row = tables.figures(first)
    row, costs = tables.options(row + 1)
    piles = []
    for pile in layout.stacks:
        start, row = row + 1, tables.stack(row + 1, pile)
        piles.append((pile, start))
    row = _write_reasons(tables, row + 1)
    last = max(row, _draw_charts(tables, first, costs, piles))
    set_up_single(page, layout.plan.model, last, end)


def _write_head(tables: Tables, end: int) -> None:
    model, page = tables.layout.plan.model, tables.page
    page.text(1, 1, model.title, Role.TITLE)
    page.height(1, 26)
    question = model.decision.question if model.decision else model.description
    page.text(2, 1, question, Role.QUESTION, until=end)


def _write_selector(tables: Tables) -> None:
    page, layout, results = tables.page, tables.layout, tables.results
    scenario, scenarios, number = (
        layout.names["own", name] for name in ("scenario", "scenarios", "scenario_number")
    )
    page.text(_SCENARIO_ROW, LABEL, "Scenario (choose here)", Role.SECTION)
    page.text(_SCENARIO_ROW, UNIT, results.selected, Role.INPUT_TEXT, until=ACTIVE)
    page.book.define(
        scenario, SUMMARY, fixed(_SCENARIO_ROW, UNIT), "The scenario that the active columns show"
    )
    rule = list_rule(scenarios, "Choose the scenario that every active column shows.")
    rule.sqref = SELECTOR
    page.sheet.add_data_validation(rule)
    labels = f"{quoted(INPUTS)}!{fixed(LABELS_ROW, FIRST)}:{fixed(LABELS_ROW, layout.last)}"
    label = layout.plan.model.scenarios[results.selected].label
    page.formula(_SCENARIO_ROW, BESIDE, f"INDEX({labels},{number})", label, Role.LINK_LABEL, until=LAST)
    page.formula(_SCENARIO_ROW, MARK, f"MATCH({scenario},{scenarios},0)", 1.0, Role.FORMULA, '"no. "0')
    page.book.define(number, SUMMARY, fixed(_SCENARIO_ROW, MARK), "The chosen scenario's position on Inputs")


def _write_verdict(tables: Tables, end: int) -> None:
    page, layout = tables.page, tables.layout
    decision, names = layout.plan.model.decision, layout.names
    if decision is not None and decision.rules:
        page.text(_VERDICT_ROW, LABEL, "Verdict", Role.SECTION)
        verdict = verdict_label(layout, tables.now)
        page.formula(_VERDICT_ROW, UNIT, names["verdict", "option"], verdict, Role.HEADLINE, until=end)
        page.text(_HEADLINE_ROW, LABEL, "Because", Role.SECTION)
        deciding = names["verdict", "rule"]
        live = f'IF({deciding}=0,"{NO_RULE}",INDEX({quoted(CHECKS)}!{headlines(layout)},{deciding}))'
        page.formula(_HEADLINE_ROW, UNIT, live, _headline(tables), Role.HEADLINE, until=end)
        for result in tables.results.scenarios.values():
            longest = result.verdict.headline if result.verdict else ""
            page.grow(_HEADLINE_ROW, longest, _HEADLINE_WIDTH, Role.HEADLINE)


def _write_status(tables: Tables) -> int:
    """Write whether the checks pass, the model's and the workbook's own; return the row."""
    page, layout = tables.page, tables.layout
    decision, names = layout.plan.model.decision, layout.names
    row = (_HEADLINE_ROW if decision is not None and decision.rules else _SCENARIO_ROW) + 1
    label, until, status = LABEL, LABEL, UNIT
    if layout.plan.model.checks:
        page.text(row, LABEL, "Checks", Role.SECTION)
        page.formula(row, UNIT, names["overall", "checks"], overall(layout, tables.now), Role.STATUS)
        colour_status(page, at(row, UNIT), at(row, UNIT))
        label, until, status = BESIDE, BESIDE + 1, BESIDE + 2
    page.text(row, label, "This workbook's own checks", Role.SECTION, until=until)
    page.formula(row, status, names["overall", "integrity"], "pass", Role.STATUS)
    colour_status(page, at(row, status), at(row, status))
    return row


def _headline(tables: Tables) -> str:
    verdict = tables.now.verdict
    return verdict.headline if verdict is not None else NO_RULE


def _write_reasons(tables: Tables, row: int) -> int:
    """Write what speaks for and against each option; return the next free row."""
    page, decision = tables.page, tables.layout.plan.model.decision
    options = [item for item in (decision.options.values() if decision else ()) if item.because or item.risk]
    if not options:
        return row - 1
    page.text(row, LABEL, "What speaks for and against", Role.SECTION, until=MARK)
    for offset, option in enumerate(options, 1):
        parts = (
            f"For: {option.because}" if option.because else "",
            f"Against: {option.risk}" if option.risk else "",
        )
        page.text(row + offset, LABEL, option.label, Role.LABEL)
        page.text(row + offset, UNIT, "\n".join(filter(None, parts)), Role.NOTE, until=MARK)
    return row + len(options) + 1


def _draw_charts(
    tables: Tables, row: int, costs: tuple[int, int] | None, piles: Sequence[tuple[Stack, int]]
) -> int:
    """Draw the charts down the right side; return the row they reach to."""
    drawn = [(_cost_bars(tables, *costs), _COST_CHART)] if costs is not None else []
    drawn += [(_stack_bars(tables, pile, start), _STACK_CHART) for pile, start in piles]
    for bars, (width, height) in drawn:
        draw(tables.page, bars, at(row, _CHART), width, height)
        row += math.ceil(height / 2.54 * 72 / ROW_HEIGHT) + 1
    return row


def _cost_bars(tables: Tables, first: int, last: int) -> Bars:
    labels = [str(tables.page.sheet.cell(row, LABEL).value) for row in range(first, last + 1)]
    unit = str(tables.page.sheet.cell(first, UNIT).value)
    numbers = _strip(tables, first, ACTIVE, last, ACTIVE)
    name = _strip(tables, first - 1, ACTIVE, first - 1, ACTIVE)
    categories = _strip(tables, first, LABEL, last, LABEL, labels)
    return Bars(f"Cost by option, {unit}", categories, ((name, numbers),), stacked=False)


def _stack_bars(tables: Tables, pile: Stack, start: int) -> Bars:
    last = BESIDE + len(tables.shown) - 1
    labels = [tables.layout.plan.model.quantities[name].label for name in pile.chart.parts]
    parts = tuple(
        (_strip(tables, row, LABEL, row, LABEL, [label]), _strip(tables, row, ACTIVE, row, last))
        for row, label in enumerate(labels, start + 1)
    )
    categories = _strip(tables, start, ACTIVE, start, last)
    return Bars(f"{pile.chart.label}, {pile.unit}", categories, parts, stacked=True)


def _strip(
    tables: Tables, row: int, column: int, last_row: int, last_column: int, texts: Sequence[str] = ()
) -> Strip:
    """Return a run of cells, with the values of its formulas unless its texts are given."""
    cached = tables.page.book.cached[SUMMARY]
    cells = [
        at(down, across) for down in range(row, last_row + 1) for across in range(column, last_column + 1)
    ]
    values: tuple[float | str, ...] = tuple(texts)
    if not texts:
        values = tuple(value for cell in cells if isinstance(value := cached[cell], float | str))
    return Strip(f"{quoted(SUMMARY)}!{fixed(row, column)}:{fixed(last_row, last_column)}", values)
