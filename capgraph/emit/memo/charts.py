"""The charts: cost by option, what moves the target, what a whole is made of.

In: the case and the views that the text shows → Out: `Drawings`, inline SVG whose colours are CSS variables.
Invariant: a mark is told apart by label or hatch, never by colour alone; the title says in words what is drawn;
the same case gives the same bytes.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from xml.sax.saxutils import escape

from matplotlib import font_manager, rc_context, rc_params_from_file
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from capgraph.emit.fonts import TEXT_FAMILY, font_faces
from capgraph.emit.memo.front import SWINGS_SHOWN, Case
from capgraph.emit.memo.view import Drawing, Drawings, OptionView, SwingView
from capgraph.findings import Swing
from capgraph.model import Chart
from capgraph.notation import show_number, show_value
from capgraph.resources import templates_root

WIDTH = 6.7
"""Inches: the width of the text on an A4 page."""

_INK, _RULE, _ACCENT, _TINT, _PAPER = "#1b1e23", "#c4cad2", "#1f4b73", "#b9cbdc", "#fdfdfe"
_VARIABLES = {
    _INK: "--ink",
    "#5b6470": "--quiet",
    _RULE: "--rule",
    _ACCENT: "--accent",
    _TINT: "--tint",
    _PAPER: "--paper",
}
_HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----", "++++", "oooo")
_LABEL_WIDTH = 34


@dataclass(frozen=True, slots=True)
class _Bar:
    label: str
    value: float
    text: str
    strong: bool


def draw(case: Case, options: Sequence[OptionView], swings: Sequence[SwingView], variables: bool) -> Drawings:
    """Draw what there is to draw; with `variables`, colours follow the page's light or dark theme."""
    style = rc_params_from_file(templates_root() / "memo" / "charts.mplstyle", use_default_template=True)
    _register_fonts()
    with rc_context(style):
        return Drawings(
            cost=_cost(case, options, variables),
            tornado=_tornado(case, swings, variables),
            stacks=tuple(
                drawing
                for chart in case.plan.model.charts.values()
                if (drawing := _stack(case, chart, variables)) is not None
            ),
        )


def _register_fonts() -> None:
    known = {entry.fname for entry in font_manager.fontManager.ttflist}
    for face in font_faces():
        if face.family == TEXT_FAMILY and str(face.path) not in known:
            font_manager.fontManager.addfont(face.path)


def _cost(case: Case, options: Sequence[OptionView], variables: bool) -> Drawing | None:
    bars = [
        _Bar(option.label, float(option.cost.exact), option.cost.text, option.recommended)
        for option in options
        if option.cost is not None and _is_number(option.cost.exact)
    ]
    units = {case.plan.model.quantities[option.cost.quantity].unit for option in options if option.cost}
    if len(bars) < 2 or len(units) > 1:
        return None
    canvas, axes = _canvas(len(bars), 0.42)
    for place, bar in enumerate(bars):
        axes.barh(
            place, bar.value, height=0.56, facecolor=_ACCENT if bar.strong else _PAPER, edgecolor=_ACCENT,
            hatch="" if bar.strong else "////",
        )  # fmt: skip
        axes.annotate(
            bar.text, (max(bar.value, 0), place), xytext=(5, 0), textcoords="offset points", va="center",
            weight="semibold" if bar.strong else "normal",
        )  # fmt: skip
    _rows(axes, [bar.label for bar in bars])
    axes.set_xlim(min(0.0, *(bar.value for bar in bars)), 1.28 * max([bar.value for bar in bars] + [0]) or 1)
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)
    words = "; ".join(f"{bar.label} {bar.text}" for bar in bars)
    return Drawing("Cost by option; the recommended one is filled.", _svg(canvas, "cost", words, variables))


def _is_number(text: str) -> bool:
    return bool(re.fullmatch(r"-?[\d.]+(?:e[+-]?\d+)?", text))


def _tornado(case: Case, views: Sequence[SwingView], variables: bool) -> Drawing | None:
    decision = case.plan.model.decision
    centre = case.result.values.get(decision.target) if decision and decision.target else None
    if decision is None or decision.target is None or not isinstance(centre, float) or not views:
        return None
    by_id = {swing.quantity: swing for swing in case.findings.swings}
    shown = [(view, by_id[view.input.quantity]) for view in views[:SWINGS_SHOWN]]
    canvas, axes = _canvas(len(shown), 0.33, 0.5)
    for place, (view, swing) in enumerate(shown):
        _swing(axes, place, view, swing, centre)
    axes.axvline(centre, color=_INK, linewidth=0.9)
    target = case.plan.model.quantities[decision.target]
    _rows(axes, [f"{view.input.label}{' ◆' if view.flips else ''}" for view, _ in shown])
    axes.margins(x=0.16)
    axes.xaxis.set_major_formatter(lambda value, _: show_number(value))
    axes.set_xlabel(f"{target.label}{f', {target.unit_text}' if target.unit_text not in ('', 'ratio') else ''}")
    words = "; ".join(
        f"{view.input.label} {view.low} to {view.high}: {view.target_low} to {view.target_high}" for view, _ in shown
    )
    caption = f"{target.label} at the low (hatched) and high (filled) end of each input's range"
    caption += "; ◆ the verdict changes within the range." if any(view.flips for view, _ in shown) else "."
    return Drawing(caption, _svg(canvas, "tornado", f"{caption} {words}", variables))


def _swing(axes: Axes, place: int, view: SwingView, swing: Swing, centre: float) -> None:
    ends = ((swing.target_at_low, view.low, False), (swing.target_at_high, view.high, True))
    for value, text, high in ends:
        if value is None:
            continue
        axes.barh(
            place, value - centre, left=centre, height=0.6, facecolor=_ACCENT if high else _PAPER,
            edgecolor=_ACCENT, hatch="" if high else "////",
        )  # fmt: skip
        other = swing.target_at_low if high else swing.target_at_high
        right = value > centre or (value == centre and other is not None and other < centre)
        if value != centre:
            axes.annotate(
                text, (value, place), xytext=(4 if right else -4, 0), textcoords="offset points", va="center",
                ha="left" if right else "right", size=8.5,
            )  # fmt: skip


def _stack(case: Case, chart: Chart, variables: bool) -> Drawing | None:
    quantities = case.plan.model.quantities
    parts = [(quantities[name], case.result.values.get(name)) for name in chart.parts]
    values = [(part, value) for part, value in parts if isinstance(value, float) and value > 0]
    if len(values) < 2:
        return None
    canvas, axes = _canvas(1, 0.5, 0.32 + 0.24 * ((len(values) + 1) // 2))
    left = 0.0
    for number, (part, value) in enumerate(values):
        axes.barh(
            0, value, left=left, height=0.7, facecolor=(_ACCENT, _PAPER, _TINT)[min(number, 2)], edgecolor=_ACCENT,
            hatch=_HATCHES[number % len(_HATCHES)], label=f"{part.label}: {show_value(value, part.unit_text)}",
        )  # fmt: skip
        left += value
    axes.set_yticks([])
    axes.set_xlim(0, left)
    axes.xaxis.set_major_formatter(lambda value, _: show_number(value))
    axes.set_xlabel(values[0][0].unit_text)
    axes.legend(ncols=2, loc="upper left", bbox_to_anchor=(-0.01, -0.75), borderaxespad=0, handlelength=1.6)
    words = "; ".join(f"{part.label} {show_value(value, part.unit_text)}" for part, value in values)
    return Drawing(f"{chart.label}.", _svg(canvas, f"stack-{chart.id}", f"{chart.label}: {words}", variables))


def _canvas(rows: int, height: float, extra: float = 0.05) -> tuple[Canvas, Axes]:
    canvas = Canvas(figsize=(WIDTH, rows * height + extra), layout="constrained")
    canvas.get_layout_engine().set(w_pad=0.01, h_pad=0.01)  # type: ignore[union-attr]
    return canvas, canvas.add_subplot()


def _rows(axes: Axes, labels: Sequence[str]) -> None:
    wrapped = [textwrap.fill(_plain(label), _LABEL_WIDTH, max_lines=2, placeholder=" …") for label in labels]
    axes.set_yticks(range(len(labels)), wrapped)
    axes.set_ylim(len(labels) - 0.45, -0.55)


def _plain(text: str) -> str:
    # A dollar sign would start matplotlib's own mathematics.
    return text.replace("$", r"\$")


def _svg(canvas: Canvas, name: str, words: str, variables: bool) -> str:
    written = StringIO()
    metadata = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    canvas.savefig(written, format="svg", metadata=metadata)
    text = written.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<!--.*?-->\n?|<metadata>.*?</metadata>\n?", "", text, flags=re.DOTALL)
    text = re.sub(r'(\bid="|xlink:href="#|url\(#)', rf"\g<1>{name}-", text)
    if variables:
        text = re.sub("|".join(_VARIABLES), lambda found: f"var({_VARIABLES[found[0]]})", text)
    head = f'<svg role="img" aria-labelledby="{name}-title"'
    title = f'<title id="{name}-title">{escape(words)}</title>'
    return re.sub(r"<svg(.*?)>", lambda found: f"{head}{found[1]}>{title}", text, count=1, flags=re.DOTALL)
