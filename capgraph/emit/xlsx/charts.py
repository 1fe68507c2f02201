"""The workbook's charts: cells of a sheet in → native charts that read them.

Invariant: a chart reads live cells and carries the numbers they hold now, for readers that do not calculate;
parts differ in lightness as well as in colour.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from openpyxl.chart import BarChart, ScatterChart
from openpyxl.chart.axis import ChartLines
from openpyxl.chart.data_source import (
    AxDataSource,
    NumData,
    NumDataSource,
    NumRef,
    NumVal,
    StrData,
    StrRef,
    StrVal,
)
from openpyxl.chart.label import DataLabelList
from openpyxl.chart.legend import Legend
from openpyxl.chart.marker import Marker
from openpyxl.chart.series import Series, SeriesLabel, XYSeries
from openpyxl.chart.shapes import GraphicalProperties
from openpyxl.chart.text import RichText, Text
from openpyxl.chart.title import Title
from openpyxl.drawing.line import LineProperties
from openpyxl.drawing.text import (
    CharacterProperties,
    Paragraph,
    ParagraphProperties,
    RegularTextRun,
    RichTextProperties,
)

from capgraph.emit.xlsx.page import Page, clean
from capgraph.notation import show_value

# From dark to light, so that neighbours differ in a grey print too.
_SHAPE = "#,##0"
_STROKES = ("1F3864", "C55A11", "548235", "7F6000")
_DASHES: tuple[Literal["solid", "dash", "sysDot", "lgDashDot"], ...] = (
    "solid",
    "dash",
    "sysDot",
    "lgDashDot",
)
_SYMBOLS: tuple[Literal["circle", "x", "square", "plus", "triangle", "diamond"], ...] = (
    "circle",
    "x",
    "square",
    "plus",
    "triangle",
    "diamond",
)
_FILLS = ("1F3864", "8FAADC", "2E75B6", "D6DCE5", "548235", "C5E0B4", "7F6000", "FFE699")


@dataclass(frozen=True, slots=True)
class Strip:
    """A run of cells: its address with the sheet, and the values it holds now."""

    address: str
    values: tuple[float | str, ...]


@dataclass(frozen=True, slots=True)
class Bars:
    """A chart of horizontal bars: categories along, one or more series of numbers."""

    title: str
    categories: Strip
    series: tuple[tuple[Strip, Strip], ...]
    """Each series' name and numbers."""
    stacked: bool

    @property
    def alternative(self) -> str:
        """Return the chart in words, for those who do not see it."""
        lines = [
            f"{label.values[0]}: "
            + ", ".join(
                f"{category} {show_value(number)}"
                for category, number in zip(self.categories.values, numbers.values, strict=True)
            )
            for label, numbers in self.series
        ]
        return f"{self.title}. {'; '.join(lines)}"


@dataclass(frozen=True, slots=True)
class Curves:
    """A chart of lines over numbers, such as costs over a growing demand."""

    title: str
    over: str
    points: Strip
    series: tuple[tuple[Strip, Strip], ...]
    """Each series' name and numbers."""
    scale: Literal["linear", "log"]

    @property
    def alternative(self) -> str:
        """Return the chart in words: where each curve starts and ends."""
        ends = [
            value for value in (self.points.values[0], self.points.values[-1]) if isinstance(value, float)
        ]
        across = " to ".join(show_value(value) for value in ends)
        lines = [
            f"{label.values[0]} from {show_value(numbers.values[0])} to {show_value(numbers.values[-1])}"
            for label, numbers in self.series
            if numbers.values
        ]
        return f"{self.title}, for {self.over} from {across}: {'; '.join(lines)}"


@dataclass(frozen=True, slots=True)
class Cloud:
    """A series of points: its name, where they stand across, and where upright."""

    name: Strip
    across: Strip
    upright: Strip


@dataclass(frozen=True, slots=True)
class Points:
    """A chart of points on logarithmic axes from `low` to `high` both ways, with lines of their own."""

    title: str
    across: str
    upright: str
    clouds: tuple[Cloud, ...]
    lines: tuple[Cloud, ...]
    low: float
    high: float
    told: str
    """What it shows, in words."""

    @property
    def alternative(self) -> str:
        """Return the chart in words."""
        groups = ", ".join(f"{cloud.name.values[0]} ({len(cloud.across.values):,})" for cloud in self.clouds)
        return f"{self.title}. {self.told}. {groups}"


def draw_points(page: Page, points: Points, anchor: str, width: int, height: int) -> None:
    """Put a chart of points on a sheet; sizes in centimetres."""
    chart = ScatterChart()
    chart.style = 10
    chart.scatterStyle = "lineMarker"
    chart.title = _title(points.title)
    chart.x_axis.title, chart.y_axis.title = _title(points.across, 900), _title(points.upright, 900)
    for number, line in enumerate(points.lines):
        series = _pairs(number, line)
        dash = _DASHES[number % len(_DASHES)]
        series.spPr = GraphicalProperties(ln=LineProperties(solidFill="595959", w=12_000, prstDash=dash))
        series.marker = Marker(symbol="none")
        chart.series.append(series)
    for number, cloud in enumerate(points.clouds):
        series = _pairs(len(points.lines) + number, cloud)
        series.spPr = GraphicalProperties(ln=LineProperties(noFill=True))
        series.marker = _marker(number)
        chart.series.append(series)
    for axis in (chart.x_axis, chart.y_axis):
        axis.scaling.logBase = 10
        axis.scaling.min, axis.scaling.max = points.low, points.high
        axis.delete, axis.crosses, axis.numFmt = False, "min", "General"
        axis.number_format = "General"
        axis.txPr = _text(900)
        axis.majorGridlines = ChartLines(spPr=GraphicalProperties(ln=LineProperties(solidFill="D9D9D9")))
    chart.legend = Legend()
    chart.legend.position = "b"
    chart.width, chart.height = width, height
    _add(page, chart, anchor, points.alternative)


def _pairs(number: int, cloud: Cloud) -> XYSeries:
    return XYSeries(
        idx=number,
        order=number,
        tx=SeriesLabel(strRef=StrRef(f=cloud.name.address, strCache=_strings(cloud.name.values))),
        xVal=AxDataSource(
            numRef=NumRef(f=cloud.across.address, numCache=_numbers(cloud.across.values, "General"))
        ),
        yVal=NumDataSource(
            numRef=NumRef(f=cloud.upright.address, numCache=_numbers(cloud.upright.values, "General"))
        ),
        smooth=False,
    )


def _marker(number: int) -> Marker:
    """Return a mark that differs from others in shape and lightness, not in colour alone."""
    symbol, stroke = _SYMBOLS[number % len(_SYMBOLS)], _STROKES[number % len(_STROKES)]
    marker = Marker(symbol=symbol, size=5)
    marker.spPr = GraphicalProperties(noFill=True, ln=LineProperties(solidFill=stroke, w=9_500))
    return marker


def draw_curves(page: Page, curves: Curves, anchor: str, width: int, height: int) -> None:
    """Put a chart of lines on a sheet; sizes in centimetres."""
    chart = ScatterChart()
    chart.style = 10
    chart.scatterStyle = "lineMarker"
    chart.title = _title(curves.title)
    chart.x_axis.title = _title(curves.over, 900)
    for number, (label, numbers) in enumerate(curves.series):
        chart.series.append(_curve(number, label, numbers, curves.points))
    if curves.scale == "log":
        chart.x_axis.scaling.logBase = 10
    chart.legend = Legend()
    chart.legend.position = "b"
    chart.x_axis.delete = chart.y_axis.delete = False
    chart.y_axis.numFmt = chart.x_axis.numFmt = _SHAPE
    chart.y_axis.majorGridlines = ChartLines(spPr=GraphicalProperties(ln=LineProperties(solidFill="D9D9D9")))
    chart.x_axis.majorGridlines = None
    chart.x_axis.txPr = chart.y_axis.txPr = _text(900)
    chart.width = width
    chart.height = height
    _add(page, chart, anchor, curves.alternative)


def _curve(number: int, label: Strip, numbers: Strip, points: Strip) -> XYSeries:
    series = XYSeries(
        idx=number,
        order=number,
        tx=SeriesLabel(strRef=StrRef(f=label.address, strCache=_strings(label.values))),
        xVal=AxDataSource(numRef=NumRef(f=points.address, numCache=_numbers(points.values, _SHAPE))),
        yVal=NumDataSource(numRef=NumRef(f=numbers.address, numCache=_numbers(numbers.values, _SHAPE))),
        smooth=False,
    )
    # Strokes differ as well as colours.
    line = LineProperties(
        solidFill=_STROKES[number % len(_STROKES)], w=22_000, prstDash=_DASHES[number % len(_DASHES)]
    )
    series.spPr = GraphicalProperties(ln=line)
    series.marker = Marker(symbol="none")
    return series


def _add(page: Page, chart: BarChart | ScatterChart, anchor: str, alternative: str) -> None:
    page.sheet.add_chart(chart, anchor)
    page.book.alternatives.setdefault(page.title, []).append(clean(alternative))


def draw(page: Page, bars: Bars, anchor: str, width: int, height: int) -> None:
    """Put a chart on a sheet; sizes in centimetres."""
    chart = BarChart()
    chart.type = "bar"
    chart.style = 10
    chart.title = _title(bars.title)
    chart.gapWidth = 45
    if bars.stacked:
        chart.grouping, chart.overlap = "stacked", 100
    for number, (label, numbers) in enumerate(bars.series):
        chart.series.append(_series(number, label, numbers, bars))
    chart.legend.position = "b"
    if len(bars.series) == 1:
        chart.legend = None
    if not bars.stacked:
        chart.dataLabels = DataLabelList()
        chart.dataLabels.showVal = True
        for other in ("showSerName", "showCatName", "showLegendKey", "showPercent", "showLeaderLines"):
            setattr(chart.dataLabels, other, False)
        chart.dataLabels.numFmt = _SHAPE
    numbers_held = [value for _, strip in bars.series for value in strip.values if isinstance(value, float)]
    if all(value >= 0 for value in numbers_held):
        # Bars compare by their length, so they begin at nothing.
        chart.y_axis.scaling.min = 0
    # The first category on top, as in the table beside it.
    chart.x_axis.scaling.orientation = "maxMin"
    chart.y_axis.crosses = "max"
    chart.x_axis.delete = chart.y_axis.delete = False
    chart.y_axis.numFmt = _SHAPE
    chart.y_axis.number_format = _SHAPE
    chart.y_axis.majorGridlines = ChartLines(spPr=GraphicalProperties(ln=LineProperties(solidFill="D9D9D9")))
    chart.x_axis.txPr = chart.y_axis.txPr = _text(900)
    chart.width = width
    chart.height = height
    _add(page, chart, anchor, bars.alternative)


def _series(number: int, label: Strip, numbers: Strip, bars: Bars) -> Series:
    series = Series(
        idx=number, order=number, tx=SeriesLabel(strRef=StrRef(f=label.address, strCache=_strings(label.values))),
        cat=AxDataSource(strRef=StrRef(f=bars.categories.address, strCache=_strings(bars.categories.values))),
        val=NumDataSource(numRef=NumRef(f=numbers.address, numCache=_numbers(numbers.values, _SHAPE))),
    )  # fmt: skip
    fill = _FILLS[number % len(_FILLS)]
    series.spPr = GraphicalProperties(solidFill=fill, ln=LineProperties(solidFill="FFFFFF"))
    series.invertIfNegative = False
    return series


def _strings(values: Sequence[float | str]) -> StrData:
    return StrData(
        ptCount=len(values), pt=[StrVal(idx=index, v=clean(str(value))) for index, value in enumerate(values)]
    )


def _numbers(values: Sequence[float | str], shape: str) -> NumData:
    points = [
        NumVal(idx=index, v=repr(value)) for index, value in enumerate(values) if isinstance(value, float)
    ]
    return NumData(formatCode=shape, ptCount=len(values), pt=points)


def _title(text: str, size: int = 1100) -> Title:
    title = Title(overlay=False)
    properties = CharacterProperties(sz=size, b=size > 1000)
    run = RegularTextRun(rPr=properties, t=clean(text))
    paragraph = Paragraph(pPr=ParagraphProperties(defRPr=properties), r=[run])
    title.tx = Text(rich=RichText(bodyPr=RichTextProperties(), p=[paragraph]))
    return title


def _text(size: int) -> RichText:
    properties = CharacterProperties(sz=size, b=False)
    return RichText(
        bodyPr=RichTextProperties(),
        p=[Paragraph(pPr=ParagraphProperties(defRPr=properties), endParaRPr=properties)],
    )
