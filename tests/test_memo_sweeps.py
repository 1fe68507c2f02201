"""Sweeps in the memo: the curves are the evaluator's, today and the crossing are marked, reductions read well."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path

import pytest
from compiling import run_path
from lxml import html
from memos import Memo, memo_of, shipped
from pypdf import PdfReader

from capgraph.calculate import calculate
from capgraph.emit.memo.case import Case
from capgraph.emit.memo.cite import cite
from capgraph.emit.memo.graphs import draw_graphs
from capgraph.emit.memo.scale import Scale
from capgraph.evaluate import scenario_overrides

GROWTH = Path(__file__).with_name("oracles") / "models" / "sweeps.yaml"


def growth() -> Memo:
    """Write the memo of the model that sweeps a number and a choice."""
    return memo_of(run_path(GROWTH))


def graph(memo: Memo, name: str) -> html.HtmlElement:
    """Return the figure of a sweep."""
    found = memo.page.xpath(f"//figure[.//*[@id='sweep-{name}-title']]")
    assert len(found) == 1
    return found[0]


def corners(figure: html.HtmlElement) -> list[list[tuple[float, float]]]:
    """Return the corners of each curve, from left to right."""
    paths = [str(path.get("d")) for path in figure.xpath(".//*[name()='path'][@stroke-linejoin='round']")]
    return [[(float(x), float(y)) for x, y in re.findall(r"[ML]([\d.]+) ([\d.]+)", path)] for path in paths]


@pytest.mark.parametrize("name", ["object-storage", "growth"])
def test_every_point_is_the_evaluators(name: str) -> None:
    memo = growth() if name == "growth" else shipped(name)
    for curve in memo.findings.curves:
        sweep = memo.plan.model.sweeps[curve.sweep]
        for number, value in enumerate(sweep.values):
            lane = ({sweep.over: value},)
            columns = calculate(memo.plan, scenario_overrides(memo.plan, (memo.results.selected,), lane), 1)
            for quantity, points in curve.lines.items():
                assert points[number] == columns.values[quantity][0], (quantity, value)


def test_costs_of_options_cross_where_the_memo_says_what_would_change_the_verdict() -> None:
    memo = shipped("object-storage")
    figure = graph(memo, "volume-0")
    assert figure.xpath("ancestor::section/@id") == ["change"]
    own, cloud = corners(figure)
    assert len(own) == len(cloud) == 40
    circles = figure.xpath(".//*[name()='circle']")
    assert len(circles) == 1
    x, y = float(circles[0].get("cx")), float(circles[0].get("cy"))
    place = next(number for number in range(40) if own[number][0] > x)
    for line in (own, cloud):
        (x0, y0), (x1, y1) = line[place - 1], line[place]
        assert y == pytest.approx(y0 + (y1 - y0) * (x - x0) / (x1 - x0), abs=0.1), "it lies on both lines"
    curve = memo.findings.curves[0]
    values = memo.plan.model.sweeps["volume"].values
    dearer = [
        value
        for value, own_cost, cloud_cost in zip(
            values, curve.lines["own_cost"], curve.lines["cloud_cost"], strict=True
        )
        if own_cost is not None and cloud_cost is not None and own_cost > cloud_cost
    ]
    shown = re.search(r"both cost the same, about ([\d,]+)\u202fTB", figure.text_content())
    assert shown
    assert isinstance(dearer[-1], float)
    assert dearer[-1] * 0.95 < float(shown[1].replace(",", "")) < dearer[-1] * 1.2


def test_today_is_marked_at_its_place() -> None:
    figure = graph(shipped("object-storage"), "volume-0")
    assert "today: 1,500\u202fTB" in figure.text_content()
    across = Scale(100.0, 20000.0, 62.0, 466.0, log=True)
    assert figure.xpath(f".//*[name()='path'][starts-with(@d, 'M{across(1500.0)} 16')]")


def test_curves_differ_without_colour_and_carry_their_names() -> None:
    figure = graph(growth(), "demand-0")
    lines = figure.xpath(".//*[name()='path'][@stroke-linejoin='round']")
    assert [line.get("stroke-dasharray") for line in lines] == [None, "7 4"]
    assert "Cost of servers" in figure.text_content()
    assert "Cost of the cloud" in figure.text_content()


def test_without_options_that_cost_a_sweep_stands_beside_the_levers() -> None:
    memo = growth()
    assert graph(memo, "demand-0").xpath("ancestor::section/@id") == ["levers"]
    kinds = graph(memo, "kinds-0")
    assert "Big server" in kinds.text_content()
    assert "Small server" in kinds.text_content()
    assert "today: Big server" in kinds.text_content()
    strokes = kinds.xpath("string(.//*[name()='path'][@stroke-linejoin='round']/@d)")
    assert "L" not in strokes, "nothing lies between two servers"
    assert strokes.count("H") == 2
    assert memo.page.xpath("//section[@id='change']") == [], "no input moves the result"


def test_a_reduction_is_written_once_and_reads_well() -> None:
    memo = growth()
    total = memo.page.get_element_by_id("step-mean_dear").text_content()
    assert "= mean(own_cost where users ≥ wanted over demand) = " in total
    assert total.count("mean(") == 1
    last = memo.page.get_element_by_id("step-later").text_content()
    assert "interpolate(own_cost at wanted over demand)" in last
    assert "interpolate(own_cost at 1,234 over demand)" in last


def test_the_curve_of_hundreds_of_points_is_a_curve_alone() -> None:
    text = GROWTH.read_text("utf-8").replace("points: 13", "points: 400")
    from memos import memo_of_text

    memo = memo_of_text(text)
    assert [len(line) for line in corners(graph(memo, "demand-0"))] == [400, 400]
    assert len(PdfReader(BytesIO(memo.paper)).pages) <= 4


def test_a_gap_in_a_curve_stays_a_gap() -> None:
    text = """
model: m
quantities:
  a: {unit: count, value: 5}
  b: {unit: count, formula: 10 / (a - 3)}
sweeps:
  s: {over: a, values: [1, 2, 3, 4, 5], shows: [b]}
"""
    from memos import memo_of_text

    memo = memo_of_text(text)
    assert memo.findings.curves[0].lines["b"] == (-5.0, -10.0, None, 10.0, 5.0)
    path = graph(memo, "s-0").xpath("string(.//*[name()='path'][@stroke-linejoin='round']/@d)")
    assert [part.count("L") for part in path.split("M")[1:]] == [1, 1]
    case = Case(
        memo.plan,
        memo.results,
        memo.findings,
        cite(
            memo.plan, memo.results.scenarios[memo.results.selected], memo.results.selected, frozenset({"b"})
        ),
    )
    assert [of_costs for _, of_costs in draw_graphs(case)] == [False]


def test_a_sweep_of_parts_in_place_of_the_whole_draws_no_curve() -> None:
    memo = shipped("llm-serving")
    drawn = {str(name).split("-")[1] for name in memo.page.xpath("//@id") if str(name).startswith("sweep-")}
    assert drawn == {"batches", "layouts", "quarters"}
    assert {"kinds", "pools"} <= {curve.sweep for curve in memo.findings.curves}
