"""The sheets Backtest and Measurements: every row is there, every statistic is the backtest's, and live."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest
from openpyxl import load_workbook
from openpyxl.worksheet.worksheet import Worksheet
from oracles.ironcalc import Calculation
from oracles.workbooks import MADE, Built, built

from capgraph.emit.xlsx import emit, measurements
from capgraph.emit.xlsx.layout import BACKTEST, MEASUREMENTS
from capgraph.emit.xlsx.measurements import lay_out_measurements
from capgraph.measurement.backtest import errors_of


@pytest.fixture
def book() -> Built:
    return built("measured")


def sheet(book: Built, title: str, values: bool = True) -> Worksheet:
    """Read a sheet, with values or with formulas."""
    return load_workbook(BytesIO(book.data), data_only=values)[title]


def lines(page: Worksheet) -> list[tuple[object, ...]]:
    """Return the rows of a sheet as tuples."""
    return list(page.iter_rows(values_only=True))


def test_a_model_without_measurements_has_no_such_sheets() -> None:
    titles = load_workbook(BytesIO(built("small").data)).sheetnames
    assert not {BACKTEST, MEASUREMENTS} & set(titles)


def test_each_measurement_is_a_row_with_its_place_settings_and_numbers(book: Built) -> None:
    backtest = book.findings.backtests[0]
    rows = [row for row in lines(sheet(book, MEASUREMENTS))[5:] if row[1] == "Time to the first token"]
    comparison = backtest.comparisons["wait"]
    expected = {
        f"speed.csv:{backtest.rows[row].rpartition(':')[2]}": (measured, predicted)
        for row, (measured, predicted) in enumerate(
            zip(comparison.measured, comparison.predicted, strict=True)
        )
        if math.isfinite(measured)
    }
    assert {str(row[0]): (row[8], row[9]) for row in rows} == expected
    texts = backtest.texts("engine")
    by_place = {f"speed.csv:{backtest.rows[row].rpartition(':')[2]}": texts[row] for row in range(len(texts))}
    assert all(row[5] == by_place[str(row[0])] for row in rows)


def test_the_statistics_are_the_backtests(book: Built) -> None:
    rows = [row for row in lines(sheet(book, BACKTEST)) if row[0] == "All rows"]
    for row, errors in zip(rows, book.findings.backtests[0].errors.values(), strict=True):
        assert row[2:9] == pytest.approx(
            (
                errors.count,
                errors.mean,
                errors.median,
                errors.p90,
                errors.bias,
                errors.within_10,
                errors.within_25,
            )
        )


def test_groups_are_those_of_the_backtest(book: Built) -> None:
    backtest = book.findings.backtests[0]
    row = next(row for row in lines(sheet(book, BACKTEST)) if row[0] == "calm")
    errors = backtest.groups["engine"]["calm"]["step"]
    assert (row[2], row[3], row[6]) == pytest.approx((errors.count, errors.mean, errors.bias))
    assert row[4] is None


def test_errors_and_statistics_follow_a_measurement_that_is_changed(book: Built, tmp_path: Path) -> None:
    """Nobody may type there, but the numbers are live all the same."""
    place = next(
        number for number, row in enumerate(lines(sheet(book, MEASUREMENTS)), 1) if row[1] == "Time of a step"
    )
    calculation = Calculation(book.written(tmp_path))
    before = calculation.value(BACKTEST, "D8")
    calculation.edit(MEASUREMENTS, f"I{place}", 1.0)
    calculation.calculate()
    predicted = calculation.value(MEASUREMENTS, f"J{place}")
    assert isinstance(predicted, float)
    assert calculation.value(MEASUREMENTS, f"K{place}") == pytest.approx(predicted - 1)
    after = calculation.value(BACKTEST, "D8")
    assert isinstance(before, float)
    assert isinstance(after, float)
    assert after > before


def test_a_group_is_one_series_of_a_chart_on_logarithmic_axes(book: Built) -> None:
    with ZipFile(BytesIO(book.data)) as package:
        charts = [package.read(name).decode() for name in package.namelist() if "charts/chart" in name]
    drawn = [chart for chart in charts if "predicted against measured" in chart]
    assert len(drawn) == 2
    for chart, name in zip(drawn, ("step", "wait"), strict=True):
        assert chart.count('<logBase val="10"') == 2
        named = re.findall(r"<ser>.*?<tx>.*?<v>([^<]*)</v>.*?</ser>", chart, re.DOTALL)
        assert named == ["Predicted = measured", "Within ±10%", "Within ±25%", "plain", "swift"]
        counts = [int(count) for count in re.findall(r"<xVal>.*?<ptCount val=\"(\d+)\"", chart, re.DOTALL)]
        groups = book.findings.backtests[0].groups["card"]
        assert counts == [5, 5, 5, *(groups[group][name].count for group in ("plain", "swift"))]


def test_of_very_many_rows_the_first_are_shown_and_the_sheet_says_so(
    book: Built, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measurements, "MOST_ROWS", 20)
    short = replace(book, data=emit(book.plan, book.results, book.findings, MADE).data)
    rows = lines(sheet(short, BACKTEST))
    assert "The first 20 of 60 rows are in this workbook." in [row[0] for row in rows]
    found = next(row for row in rows if row[0] == "All rows")
    errors = errors_of(book.findings.backtests[0].comparisons["step"], range(20))
    assert (found[2], found[3]) == pytest.approx((20, errors.mean))
    assert len(lines(sheet(short, MEASUREMENTS))) == 5 + 40


def test_rows_of_a_group_stand_together(book: Built) -> None:
    for block in lay_out_measurements(book.plan, book.findings).blocks:
        assert block.drawn is not None
        numbers = block.groupings[block.drawn].numbers
        assert list(numbers) == sorted(numbers)


def test_the_measurements_can_be_filtered_and_their_head_stays(book: Built) -> None:
    page = sheet(book, MEASUREMENTS)
    assert page.freeze_panes == "C6"
    assert page.print_title_rows == "$4:$5"
    assert page.auto_filter.ref == "A5:O118"
