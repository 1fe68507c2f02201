"""What a chart consists of, before a template draws it.

In: nothing → Out: the frozen types that `charts` fills and `templates/memo/chart.svg.j2` reads.
Invariant: places are in units of the drawing, from its left edge.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mark:
    """A stretch of a bar; `fill` numbers the patterns of the template."""

    x: float
    width: float
    fill: int


@dataclass(frozen=True, slots=True)
class Note:
    """A word beside a bar; `anchor` says which end of it stands at `x`: `start` or `end`."""

    x: float
    text: str
    anchor: str
    strong: bool


@dataclass(frozen=True, slots=True)
class Bar:
    """A row of a chart: its label in lines, and what stands in it."""

    label: tuple[str, ...]
    marks: tuple[Mark, ...]
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class Tick:
    """A number on the axis."""

    x: float
    text: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """A chart: its caption, what it shows in words, its bars, and under them ticks with the axis's name."""

    id: str
    caption: str
    words: str
    bars: tuple[Bar, ...]
    ticks: tuple[Tick, ...]
    axis: str
    line: float | None
    """Where an upright line marks the present value."""
    legend: tuple[tuple[int, str], ...]
    """Fill and text."""


@dataclass(frozen=True, slots=True)
class Line:
    """A curve: an SVG path, the number of its dashes, and its label, whose middle stands at `y`."""

    path: str
    dash: int
    label: tuple[str, ...]
    y: float


@dataclass(frozen=True, slots=True)
class Dot:
    """A marked point, with a word below it."""

    x: float
    y: float
    text: str


@dataclass(frozen=True, slots=True)
class Graph:
    """Curves over a swept input; ticks of the upright axis stand at their distance from the top."""

    id: str
    caption: str
    words: str
    right: float
    bottom: float
    lines: tuple[Line, ...]
    across: tuple[Tick, ...]
    upright: tuple[Tick, ...]
    across_label: str
    upright_label: str
    today: Tick | None
    crossings: tuple[Dot, ...]


@dataclass(frozen=True, slots=True)
class Band:
    """What lies within a share of the measurement: an SVG path, and its label, whose middle stands at `y`."""

    path: str
    label: str
    y: float


@dataclass(frozen=True, slots=True)
class Cloud:
    """The points of a group as one SVG path, its label (none: no legend) at `y`, and beside that a mark of its kind."""

    path: str
    stroke: float
    label: tuple[str, ...]
    y: float
    sample: str


@dataclass(frozen=True, slots=True)
class Scatter:
    """Points in a square of `side`, whose corner stands at `left` and `top`; bands from the widest on."""

    id: str
    caption: str
    words: str
    left: float
    top: float
    side: float
    bands: tuple[Band, ...]
    clouds: tuple[Cloud, ...]
    across: tuple[Tick, ...]
    upright: tuple[Tick, ...]
    across_label: str
    upright_label: str
    legend: float
    """Where the legend begins."""


@dataclass(frozen=True, slots=True)
class Drawings:
    """The charts, where there is something to draw."""

    cost: Drawing | None
    tornado: Drawing | None
    stacks: tuple[Drawing, ...]
    graphs: tuple[Graph, ...]
    """Sweeps that show something else than what options cost."""
