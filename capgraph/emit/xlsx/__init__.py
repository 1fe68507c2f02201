"""The live workbook: a plan, its results and the findings in → an Open XML workbook out.

Invariant: every number in it is an input or a live formula; formulas hold the evaluator's values; same
inputs, same bytes.
"""

from __future__ import annotations

from io import BytesIO

from capgraph.emit.artifact import Artifact, Making
from capgraph.emit.xlsx.about import write_about
from capgraph.emit.xlsx.backtest import write_backtest
from capgraph.emit.xlsx.catalogs import write_catalog
from capgraph.emit.xlsx.checks import write_checks
from capgraph.emit.xlsx.finish import finish
from capgraph.emit.xlsx.inputs import write_inputs
from capgraph.emit.xlsx.layout import (
    ABOUT,
    BACKTEST,
    CHECKS,
    INPUTS,
    MEASUREMENTS,
    MODEL,
    SUMMARY,
    SWEEPS,
    UNITS,
    lay_out,
)
from capgraph.emit.xlsx.measurements import lay_out_measurements, write_measurements
from capgraph.emit.xlsx.model import write_model
from capgraph.emit.xlsx.page import Book, clean
from capgraph.emit.xlsx.split import split_formulas
from capgraph.emit.xlsx.summary import write_summary
from capgraph.emit.xlsx.sweeps import write_sweeps
from capgraph.emit.xlsx.units import write_units
from capgraph.findings import Findings
from capgraph.plan import Plan
from capgraph.results import Results

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def emit(plan: Plan, results: Results, findings: Findings, made: Making) -> Artifact:
    """Write the workbook of a plan."""
    plan, results = split_formulas(plan, results)
    layout = lay_out(plan, results, findings)
    book = Book()
    calculated = (SUMMARY, INPUTS, MODEL, *((SWEEPS,) if layout.sweeps else ()), CHECKS)
    pages = {title: book.page(title) for title in calculated}
    if findings.backtests:
        pages |= {title: book.page(title) for title in (BACKTEST, MEASUREMENTS)}
    catalogs = [
        (book.page(layout.tables[catalog.id].title), catalog) for catalog in plan.model.catalogs.values()
    ]
    pages |= {title: book.page(title) for title in (UNITS, ABOUT)}
    write_summary(pages[SUMMARY], layout, results)
    write_inputs(pages[INPUTS], layout, results)
    write_model(pages[MODEL], layout, results)
    if layout.sweeps:
        write_sweeps(pages[SWEEPS], layout, results)
    write_checks(pages[CHECKS], layout, results)
    if findings.backtests:
        measured = lay_out_measurements(plan, findings)
        write_backtest(pages[BACKTEST], layout, measured)
        write_measurements(pages[MEASUREMENTS], layout, measured)
    for page, catalog in catalogs:
        write_catalog(page, layout, catalog)
    write_units(pages[UNITS], layout)
    write_about(pages[ABOUT], plan, findings, made)
    more = {title: table.rows for title, table in book.long.items()}
    data = finish(_saved(book, plan, made), book.cached, made.timestamp, book.alternatives, more)
    name = f"{plan.model.plan or plan.model.id}.xlsx"
    return Artifact(name, data, MEDIA_TYPE, "the live workbook: every number an input or a formula")


def _saved(book: Book, plan: Plan, made: Making) -> bytes:
    properties = book.workbook.properties
    properties.title = clean(plan.model.title)
    properties.subject = clean(plan.model.description)
    properties.creator = f"capgraph {made.version}"
    properties.lastModifiedBy = None
    buffer = BytesIO()
    book.workbook.save(buffer)
    return buffer.getvalue()
