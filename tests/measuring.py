"""A model that is held against measurements, for the tests of reports."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from compiling import Run, run_path
from lxml import html
from memos import MADE, RESOLVED, WORKBOOK, Memo

from capgraph.analysis.findings import find
from capgraph.emit.html import emit as emit_page
from capgraph.findings import Backtest
from capgraph.measurement.backtest import held_against

MODEL = Path(__file__).parent / "measured" / "model.yaml"


@cache
def run_measured() -> Run:
    """Compile the model."""
    return run_path(MODEL)


def backtests_of(run: Run) -> tuple[Backtest, ...]:
    """Hold a model against its evidence."""
    assert run.plan is not None
    scenario = next(iter(run.plan.model.scenarios))
    made = (held_against(run.plan, scenario, Path(name))[0] for name in run.plan.model.evidence)
    return tuple(item for item in made if item is not None)


def memo_with(run: Run, backtests: tuple[Backtest, ...]) -> Memo:
    """Write both memos of a model beside what was measured."""
    assert run.plan is not None
    assert run.results is not None, run.found
    findings = find(run.plan, run.results, backtests)
    page = emit_page(run.plan, run.results, findings, MADE, (WORKBOOK, RESOLVED))
    return Memo(run.plan, run.results, findings, html.document_fromstring(page.data.decode()))


@cache
def measured_memo() -> Memo:
    """Write the memos of the model with its evidence."""
    return memo_with(run_measured(), backtests_of(run_measured()))
