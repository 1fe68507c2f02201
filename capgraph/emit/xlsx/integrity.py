"""The workbook's checks of itself: does it still hang together after a reader changed it?

In: the rows and the layout → Out: one status a check in every column. Invariant: each speaks of the workbook
alone, none of the model; all pass in a workbook as it was written.
"""

from __future__ import annotations

from capgraph.emit.xlsx.formula import print_excel, truth
from capgraph.emit.xlsx.layout import ACTIVE, BASE, CHECKS, INPUTS, MODEL, Layout, Line
from capgraph.emit.xlsx.names import quoted
from capgraph.emit.xlsx.page import fixed
from capgraph.emit.xlsx.references import ByName
from capgraph.emit.xlsx.status import FAIL, PASS, StatusRows

_TEXTS = {
    "scenario": ("The chosen scenario exists", "Summary names one of the scenarios on Inputs."),
    "base": ("Every input has a base value", "No base cell on Inputs is blank; a blank would be read as 0."),
    "choices": (
        "Every choice names a row of its sheet",
        "Each id that a scenario chooses is found in its catalog.",
    ),
    "active": (
        "The active column ties out",
        "Each active value equals the chosen scenario's, on Model and here.",
    ),
}


def write_integrity(rows: StatusRows, line: Line) -> None:
    """Write the row of one check."""
    layout = rows.layout
    if line.kind == "stack":
        _write_stack(rows, line)
        return

    def status(spelling: ByName, column: int) -> str:
        return f'IF({_condition(layout, line.name, spelling)},"{PASS}","{FAIL}")'

    rows.across(line.row, status, lambda result: PASS)
    label, words = _TEXTS[line.name]
    rows.texts(line.row, label, words=words)


def _condition(layout: Layout, name: str, spelling: ByName) -> str:
    if name == "scenario":
        return f"ISNUMBER({layout.names['own', 'scenario_number']})"
    if name == "base":
        rows = [line.row for line in layout.inputs if line.kind == "step"]
        cells = (
            f"{quoted(INPUTS)}!{fixed(rows[0], column)}:{fixed(rows[-1], column)}"
            for column in (BASE, ACTIVE)
        )
        return "=".join(f"COUNTA({area})" for area in cells)
    if name == "choices":
        picks = [line.key for line in layout.model if line.kind == "pick"]
        return f"AND({','.join(f'ISNUMBER({spelling.place(key)})' for key in picks)})"
    return f"{'+'.join(_untied(layout))}=0"


def _untied(layout: Layout) -> list[str]:
    """Return a formula for each sheet that counts its rows that do not tie out."""
    counts = []
    for title, lines in ((MODEL, layout.model), (CHECKS, layout.checks)):
        rows = [line.row for line in lines if line.kind in ("step", "pick", "measured")]
        if rows:
            area = f"{quoted(title)}!{fixed(rows[0], BASE)}:{fixed(rows[-1], BASE)}"
            counts.append(f"COUNTIF({area},{truth(False)})")
    return counts


def _write_stack(rows: StatusRows, line: Line) -> None:
    pile = next(pile for pile in rows.layout.stacks if pile.chart.id == line.name)
    left, whole = pile.remainder(), pile.whole
    assert left is not None
    assert whole is not None
    tolerance = rows.layout.names["own", "rounding_tolerance"]

    def status(spelling: ByName, column: int) -> str:
        difference, total = print_excel(left, spelling), print_excel(whole, spelling)
        return f'IF(ABS({difference})<={tolerance}*ABS({total}),"{PASS}","{FAIL}")'

    rows.across(line.row, status, lambda result: PASS)
    parts = ", ".join(rows.label(name) for name in pile.chart.parts)
    words = f"{rows.label(pile.chart.whole or '')} less {parts} is nothing"
    rows.texts(line.row, f"{pile.chart.label}: parts add up", words=words)
