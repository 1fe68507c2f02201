"""`capgraph build` reads the model's evidence and files of one's own; what cannot be used is told."""

from __future__ import annotations

import os
from dataclasses import replace
from io import BytesIO
from pathlib import Path

from lxml import html
from measuring import MODEL, backtests_of, memo_with, run_measured
from openpyxl import load_workbook
from oracles.workbooks import MADE
from typer.testing import CliRunner, Result

from capgraph.analysis.findings import find
from capgraph.cli.main import app
from capgraph.emit.xlsx import emit
from capgraph.findings import Backtest

ROWS = (
    "card,engine,batch,measured.step [ms],measured.wait [s]\nswift,brisk,16,13,0.09\nplain,brisk,8,24,0.2\n"
)


def build(folder: Path, plan: Path, *more: str) -> Result:
    """Build the page of a plan into a folder."""
    return CliRunner().invoke(app, ["build", str(plan), "-o", str(folder / "out"), "--only", "html", *more])


def headings(folder: Path) -> list[str]:
    """Return what the page holds the model against."""
    (page,) = (folder / "out").glob("*.html")
    return [str(item.text_content()) for item in html.parse(page).xpath("//section[@id='backtest']/h3")]


def planned(folder: Path, text: str) -> Path:
    """Write a plan over the model."""
    path = folder / "plan.yaml"
    path.write_text(f"extends: {os.path.relpath(MODEL, folder)}\n{text}")
    return path


def test_the_evidence_of_the_model_is_read_without_being_asked_for(tmp_path: Path) -> None:
    result = build(tmp_path, MODEL)
    assert result.exit_code == 0
    assert "measurements 0." in result.stdout
    assert headings(tmp_path) == ["Time of a step, by speed.csv", "Time to the first token, by speed.csv"]


def test_files_of_ones_own_come_after_and_are_named_in_the_command(tmp_path: Path) -> None:
    own = tmp_path / "own.csv"
    own.write_text(ROWS)
    result = build(tmp_path, MODEL, "--measurements", str(own))
    assert result.exit_code == 0
    assert headings(tmp_path)[2:] == ["Time of a step, by own.csv", "Time to the first token, by own.csv"]
    (page,) = (tmp_path / "out").glob("*.html")
    assert f"capgraph build {MODEL} --measurements {own}" in page.read_text("utf-8")


def test_a_bad_row_is_a_warning(tmp_path: Path) -> None:
    own = tmp_path / "own.csv"
    own.write_text(f"{ROWS}swift,unheard-of,4,12,0.1\n")
    result = build(tmp_path, MODEL, "--measurements", str(own))
    assert result.exit_code == 0
    assert "own.csv:4:7: warning[CG302]" in result.stderr
    assert "2 rows of own.csv" in next((tmp_path / "out").glob("*.html")).read_text("utf-8")


def test_a_file_that_measures_nothing_ends_the_build(tmp_path: Path) -> None:
    own = tmp_path / "own.csv"
    own.write_text("card,place\nswift,lab\n")
    result = build(tmp_path, MODEL, "--measurements", str(own))
    assert result.exit_code == 2
    assert "error[CG816]" in result.stderr
    assert not (tmp_path / "out").exists()


def test_evidence_that_a_plan_has_made_useless_is_a_warning(tmp_path: Path) -> None:
    plan = planned(
        tmp_path,
        "quantities:\n"
        "  step: null\n"
        "  pace: {label: Pace, unit: ms, formula: read + batch * per_request}\n"
        "  wait: {formula: prompt / card.prompt_speed + pace}\n"
        "  speed: {formula: batch * one_token / pace}\n"
        "key_figures: [pace, wait]\n"
        "scenarios: {timed: null}\n"
        "fits: {brisk-step: null}\n",
    )
    result = build(tmp_path, plan)
    assert result.exit_code == 0, result.stderr
    assert "warning[CG304]: unknown quantity `step`" in result.stderr
    assert headings(tmp_path) == []


def with_prediction(value: float) -> Backtest:
    """Return the backtest, with another prediction in its first row."""
    (backtest,) = backtests_of(run_measured())
    comparison = backtest.comparisons["step"]
    changed = replace(comparison, predicted=(value, *comparison.predicted[1:]))
    return replace(backtest, comparisons={**backtest.comparisons, "step": changed})


def test_a_prediction_of_zero_or_less_is_counted_and_not_drawn() -> None:
    backtest, run = with_prediction(-1.0), run_measured()
    memo = memo_with(run, (backtest,))
    assert "60 rows of speed.csv; 1 of them predicted at zero or below is not drawn" in memo.text
    data = emit(memo.plan, memo.results, find(memo.plan, memo.results, (backtest,)), MADE).data
    assert -1.0 in [
        row[9] for row in load_workbook(BytesIO(data))["Measurements"].iter_rows(values_only=True)
    ]


def test_without_any_prediction_above_zero_there_is_no_chart() -> None:
    (backtest,) = backtests_of(run_measured())
    comparison = backtest.comparisons["step"]
    none = replace(comparison, predicted=tuple(0.0 for _ in comparison.predicted))
    memo = memo_with(run_measured(), (replace(backtest, comparisons={**backtest.comparisons, "step": none}),))
    assert not memo.page.xpath("//*[@id='backtest-0-step-title']")
    assert memo.page.xpath("//*[@id='backtest-0-wait-title']")
