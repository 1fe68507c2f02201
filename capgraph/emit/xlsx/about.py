"""The About sheet: what the workbook is, what its marks mean, how to change it, what it was made from.

In: a page, the plan and the making → Out: the cells. Invariant: nothing here is calculated, and nothing tells
of the machine.
"""

from __future__ import annotations

from collections.abc import Sequence

from capgraph.emit.artifact import Making
from capgraph.emit.xlsx.grid import write_section
from capgraph.emit.xlsx.layout import SPARE_ROWS, SUMMARY
from capgraph.emit.xlsx.page import Page
from capgraph.emit.xlsx.paper import set_up
from capgraph.emit.xlsx.styles import Role
from capgraph.findings import Findings
from capgraph.plan import Plan

_LEGEND = (
    (
        Role.INPUT,
        "input",
        "Blue in a box on pale yellow: yours to change. A bold one is a scenario's override.",
    ),
    (Role.FORMULA, "formula", "Black, upright: calculated on this sheet. Locked."),
    (Role.LINK, "link", "Green, slanted: brought from another sheet. Locked."),
    (Role.STATUS, "pass / FAIL / warn", "The outcome of a check, in words as well as in colour."),
)
_MARKS = (
    ("6,000 (m)", "Bold, slanted, marked (m): a measured value that replaces the formula in that scenario."),
    ("n/a", "The catalog does not say. A formula that needs it shows an error, never a silent 0."),
    ("+0", "Behind a catalog value in a formula: makes a missing value an error where it would be skipped."),
    ("ROUND(x,9)", "Where a formula counts whole things: 3.0000000001 nodes are 3, in every program."),
)
_HOW = (
    ("See another scenario", "Choose it on Summary. Every active column, the verdict and the charts follow."),
    (
        "Change an input",
        "On Inputs: the base value for all scenarios, or a scenario's own cell. Clear that to fall back to base.",
    ),
    (
        "Add a row to a catalog",
        f"Fill one of the {SPARE_ROWS} blank rows of its sheet, then choose its id on Inputs.",
    ),
    (
        "Enter a measured value",
        "At the end of Inputs, where there are such rows: a value replaces the formula.",
    ),
    ("Follow a number", "Its active cell on Model names its operands; each name stands beside its own row."),
    (
        "Change a formula",
        "Sheets are protected without a password. Better: change the model, and build again.",
    ),
)


def write_about(page: Page, plan: Plan, findings: Findings, made: Making) -> None:
    """Write the sheet."""
    page.text(1, 1, "About", Role.TITLE)
    page.height(1, 24)
    page.widths(30, 34, 96)
    page.text(2, 1, plan.model.description, Role.NAME)
    row = _legend(page, 4)
    row = _table(page, row, "How to", _HOW)
    row = _table(page, row, "What it was made from", _provenance(plan, made))
    measured = tuple((item.data, item.digest) for item in findings.backtests)
    row = _files(page, row, (*plan.model.files, *measured))
    set_up(page, plan.model, row, 3, 3, 2)
    page.sheet.print_title_rows = "1:1"


def _legend(page: Page, row: int) -> int:
    write_section(page, row, "What the marks mean", 3)
    for line, (role, sample, text) in enumerate(_LEGEND, row + 1):
        page.text(line, 1, sample, role)
        page.text(line, 2, f"style “{role.value}”", Role.UNIT)
        page.text(line, 3, text, Role.NOTE)
    for line, (sample, text) in enumerate(_MARKS, row + len(_LEGEND) + 1):
        page.text(line, 1, sample, Role.LABEL)
        page.text(line, 3, text, Role.NOTE)
    return row + len(_LEGEND) + len(_MARKS) + 2


def _table(page: Page, row: int, heading: str, entries: tuple[tuple[str, str], ...]) -> int:
    write_section(page, row, heading, 3)
    for line, (label, text) in enumerate(entries, row + 1):
        page.text(line, 1, label, Role.LABEL)
        page.text(line, 2, text, Role.NOTE, until=3)
    return row + len(entries) + 2


def _provenance(plan: Plan, made: Making) -> tuple[tuple[str, str], ...]:
    model = plan.model
    entries = [("Model", f"{model.id}: {model.title}"), ("Plan", model.plan), ("As of", model.as_of)]
    entries += [("Made by", f"capgraph {made.version}"), ("Make it again with", made.command)]
    entries += [("First sheet", f"{SUMMARY} shows the verdict; the memo beside this file argues for it.")]
    return tuple((label, text) for label, text in entries if text)


def _files(page: Page, row: int, files: Sequence[tuple[str, str]]) -> int:
    write_section(page, row, "Files it was made from", 3)
    for line, (name, digest) in enumerate(files, row + 1):
        page.text(line, 1, name, Role.LABEL)
        page.text(line, 2, f"SHA-256 {digest}", Role.UNIT, until=3)
    return row + len(files)
