"""Estimates against measurements in the memo: the figures are the backtest's, every row has its mark."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from io import BytesIO

import numpy as np
from lxml import html
from measuring import MODEL, backtests_of, measured_memo, memo_with, run_measured
from memos import shipped
from pypdf import PdfReader

from capgraph.emit.memo.scatter import mark
from capgraph.measurement.backtest import errors_of

SECTION = "Estimates against measurements"


def figure(name: str) -> html.HtmlElement:
    """Return the chart of a measured quantity."""
    (found,) = measured_memo().page.xpath(f"//figure[.//*[@id='backtest-0-{name}-title']]")
    return found


def test_a_model_without_measurements_has_no_such_section() -> None:
    assert not shipped("small").page.xpath("//section[@id='backtest']")
    assert SECTION not in shipped("small").text


def test_the_words_say_what_the_backtest_found() -> None:
    memo = measured_memo()
    errors = memo.findings.backtests[0].errors["step"]
    (section,) = memo.page.xpath("//section[@id='backtest']")
    said = " ".join(section.xpath("./p[@class='told']")[0].text_content().split())
    assert f"was measured in {errors.count} rows of speed.csv" in said
    assert (
        f"off by {100 * errors.median:.1f}% in the median and by {100 * errors.mean:.1f}% on average" in said
    )
    assert f"Its predictions are {-100 * errors.bias:.1f}% too low on average" in said
    assert f"lie {errors.within_10:.0%}, within ±25% {errors.within_25:.0%}." in said


def test_what_was_measured_is_cited_and_cites_back() -> None:
    page = measured_memo().page
    (link,) = page.xpath("//section[@id='backtest']/p[@class='told'][1]/a")
    (step,) = page.xpath(f"//*[@id='{link.get('href')[1:]}']")
    assert "(step)" in step.text_content()
    assert step.xpath(".//a[@href='#backtest']")


def test_each_row_has_a_mark_and_each_group_one_path() -> None:
    backtest = measured_memo().findings.backtests[0]
    paths = figure("wait").xpath(".//*[name()='path'][@class='points']")
    assert len(paths) == len(backtest.groups["card"])
    comparison = backtest.comparisons["wait"]
    places = [
        tuple(map(float, place))
        for path in paths
        for place in re.findall(r"M([\d.]+) ([\d.]+)", str(path.get("d")))
    ]
    rows = {
        (measured, predicted)
        for measured, predicted in zip(comparison.measured, comparison.predicted, strict=True)
        if math.isfinite(measured)
    }
    # Two rows may share a place.
    assert len(rows) - 3 <= len(places) <= len(rows)


def test_groups_differ_in_shape() -> None:
    assert len({mark(0, 0, shape, 3) for shape in range(6)}) == 6
    assert mark(1, 2, 0, 3) == mark(1, 2, 6, 3)


def test_the_chart_is_told_in_words_and_names_its_bands() -> None:
    words = figure("step").xpath(".//*[name()='title']")[0].text_content()
    assert re.search(
        r"60 rows of speed.csv.* from 1\d(\.\d)? ms to \d+(\.\d)? ms; \d+% lie within ±10%",
        words.replace("\u202f", " "),
    )
    assert "within ±25%" in figure("step").text_content()


def test_the_rows_furthest_off_are_named_by_file_and_line() -> None:
    memo = measured_memo()
    (table,) = memo.page.xpath("(//table[@class='worst'])[1]")
    first = table.xpath("./tbody/tr")[0].text_content()
    comparison = memo.findings.backtests[0].comparisons["step"]
    row = np.argmax(np.abs(np.array(comparison.predicted) / comparison.measured - 1))
    assert f"speed.csv:{row + 2}" in first
    assert str(MODEL.parent) not in html.tostring(memo.page, encoding="unicode")


def test_errors_by_group_are_those_of_its_rows() -> None:
    memo = measured_memo()
    backtest = memo.findings.backtests[0]
    rows = [row for row, text in enumerate(backtest.texts("engine")) if text == "calm"]
    errors = errors_of(backtest.comparisons["step"], rows)
    (line,) = memo.page.xpath("(//table[@class='errors'])[1]//tr[th='Calm 1']")
    assert [cell.text for cell in line.xpath("./td")][:3] == [
        str(errors.count), f"{100 * errors.mean:.1f}%", f"{100 * errors.median:.1f}%",
    ]  # fmt: skip


def test_many_groups_are_told_by_the_largest() -> None:
    (backtest,) = backtests_of(run_measured())
    names = tuple(f"site {row % 20}" for row in range(len(backtest.rows)))
    errors = {
        name: {
            "step": errors_of(
                backtest.comparisons["step"], [row for row, own in enumerate(names) if own == name]
            )
        }
        for name in sorted(set(names))
    }
    changed = replace(backtest, groups={"site": errors}, labels={"site": names})
    memo = memo_with(run_measured(), (changed,))
    assert "12 smaller groups are in the workbook" in memo.text
    assert len(memo.page.xpath("(//figure[.//*[@class='points']])[1]//*[@class='points']")) == 1


def test_the_files_of_measurements_are_named_with_their_digest() -> None:
    memo = measured_memo()
    digest = memo.findings.backtests[0].digest
    assert memo.page.xpath(f"//section[@id='provenance']//tr[th='speed.csv'][td='{digest}']")


def test_the_paper_has_the_section_and_its_charts() -> None:
    text = "\n".join(page.extract_text() for page in PdfReader(BytesIO(measured_memo().paper)).pages)
    assert SECTION in text
    assert "Predicted: Time of a step, ms" in text
