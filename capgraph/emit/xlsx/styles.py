"""How cells look: a role and a number's size in → one of the workbook's named styles and a number format.

Invariant: what a cell is shows in more than its colour: inputs are boxed, links slanted, measured values bold
and slanted; each role is a named style that the reader finds in the style list.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from openpyxl.styles import Alignment, Border, Color, Font, NamedStyle, PatternFill, Protection, Side

from capgraph.model import Value

FONT = "Calibri"
GENERAL = "General"
WHOLE = "[>=1000]#,##0;General"
LOGICAL = '"TRUE";"TRUE";"FALSE"'
"""Excel shows a truth value as such in any format; LibreOffice would show 1 and 0."""
ROW_HEIGHT = 15.0
HUGE = "[>=1000000000000]0.00E+00;[>=1000]#,##0;General"

TOO_LONG = 1e12
"""From here on a number is shown by its power of ten."""

BLUE, BLACK, GREEN, GREY, WHITE, NAVY, PALE_YELLOW, PALE_BLUE, LINE = (
    "FF0000FF", "FF000000", "FF00682F", "FF595959", "FFFFFFFF", "FF1F3864", "FFFFFBDC", "FFE4EAF5", "FFB7B7B7",
)  # fmt: skip


class Role(StrEnum):
    """What a cell is. The value is the name of its style in the workbook."""

    TITLE = "capgraph title"
    QUESTION = "capgraph question"
    HEADLINE = "capgraph headline"
    HEADER = "capgraph header"
    HEADER_LINK = "capgraph header link"
    SECTION = "capgraph section"
    LABEL = "capgraph label"
    BLOCK = "capgraph block"
    NAME = "capgraph name"
    UNIT = "capgraph unit"
    NOTE = "capgraph note"
    INPUT = "capgraph input"
    INPUT_TEXT = "capgraph input text"
    FORMULA = "capgraph formula"
    FORMULA_TEXT = "capgraph formula text"
    LINK = "capgraph link"
    LINK_LABEL = "capgraph link label"
    STATUS = "capgraph status"
    CONSTANT = "capgraph constant"


@dataclass(frozen=True, slots=True)
class _Look:
    color: str = BLACK
    bold: bool = False
    italic: bool = False
    size: float = 10
    fill: str = ""
    border: str = ""
    across: str = "left"
    wrap: bool = False
    locked: bool = True
    indent: int = 0


_LOOKS = {
    Role.TITLE: _Look(NAVY, bold=True, size=16),
    Role.QUESTION: _Look(GREY, size=11, wrap=True),
    Role.HEADLINE: _Look(NAVY, bold=True, size=12, fill=PALE_BLUE, border="box", wrap=True, indent=1),
    Role.HEADER: _Look(WHITE, bold=True, fill=NAVY, wrap=True, across="center"),
    Role.HEADER_LINK: _Look(WHITE, bold=True, italic=True, fill=NAVY, wrap=True, across="center"),
    Role.SECTION: _Look(NAVY, bold=True, fill=PALE_BLUE),
    Role.LABEL: _Look(wrap=True),
    Role.BLOCK: _Look(bold=True, wrap=True),
    Role.NAME: _Look(GREY, size=9),
    Role.UNIT: _Look(GREY, size=9, wrap=True, indent=1),
    Role.NOTE: _Look(GREY, size=9, wrap=True, indent=1),
    Role.INPUT: _Look(BLUE, fill=PALE_YELLOW, border="box", across="right", wrap=True, locked=False),
    Role.INPUT_TEXT: _Look(BLUE, fill=PALE_YELLOW, border="box", wrap=True, locked=False, indent=1),
    Role.FORMULA: _Look(across="right", wrap=True),
    Role.FORMULA_TEXT: _Look(wrap=True),
    Role.LINK: _Look(GREEN, italic=True, across="right", wrap=True),
    Role.LINK_LABEL: _Look(GREEN, italic=True, indent=1),
    Role.STATUS: _Look(across="center", wrap=True),
    Role.CONSTANT: _Look(across="right"),
}


def wraps(role: Role) -> bool:
    """Say whether a role's texts break into lines."""
    return _LOOKS[role].wrap


def size(role: Role) -> float:
    """Return the size of a role's letters in points."""
    return _LOOKS[role].size


def is_bold(role: Role) -> bool:
    """Say whether a role's letters are bold."""
    return _LOOKS[role].bold


def indent(role: Role) -> int:
    """Return by how many steps a role's texts are indented."""
    return _LOOKS[role].indent


def line_height(role: Role) -> float:
    """Return the height of a line in points."""
    return _LOOKS[role].size * 1.27


def named_styles() -> tuple[NamedStyle, ...]:
    """Return a named style for every role."""
    return tuple(_named(role, look) for role, look in _LOOKS.items())


def _named(role: Role, look: _Look) -> NamedStyle:
    style = NamedStyle(name=role.value)
    style.font = Font(
        name=FONT, size=look.size, bold=look.bold, italic=look.italic, color=Color(rgb=look.color)
    )
    if look.fill:
        style.fill = PatternFill("solid", fgColor=Color(rgb=look.fill))
    if look.border:
        side = Side(style="thin", color=Color(rgb=LINE))
        style.border = Border(left=side, right=side, top=side, bottom=side)
    style.alignment = Alignment(
        horizontal=look.across, vertical="center", wrap_text=look.wrap, indent=look.indent or 0
    )
    style.protection = Protection(locked=look.locked)
    return style


def number_format(
    values: Iterable[Value | None], unit: str, is_whole: bool = False, is_input: bool = False
) -> str:
    """Return a format that shows three to four figures of each of a row's numbers, and of those it may become.

    An input shows what was typed. The sections are chosen by size, so a cell stays legible when its scenario changes.
    """
    numbers = [
        float(value) for value in values if isinstance(value, int | float) and not isinstance(value, bool)
    ]
    sizes = [abs(number) for number in numbers if number]
    suffix = '"%"' if unit == "%" else ""
    if max(sizes, default=0) >= TOO_LONG:
        return HUGE
    # `General` in a section does not round to the column's width everywhere, so long fractions are not left to it.
    if not sizes or is_whole or (is_input and all(_is_short(number) for number in numbers)):
        return GENERAL + suffix if suffix else WHOLE
    if any(number < 0 for number in numbers):
        return _plain(max(sizes)) + suffix
    sections = _sections_with_zero(min(sizes)) if 0 in numbers else _sections(min(sizes))
    return ";".join(f"{condition}{shape}{suffix}" for condition, shape in sections)


def _is_short(number: float) -> bool:
    return len(f"{number:.12g}") <= 8 or number == int(number)


def _sections(smallest: float) -> tuple[tuple[str, str], ...]:
    """At most two conditions and a rest: that is all that spreadsheets take."""
    if smallest >= 0.1:
        return (("[>=100]", "#,##0"), ("[>=10]", "0.0"), ("", "0.00" if smallest >= 1 else "0.000"))
    if smallest >= 0.001:
        return (("[>=100]", "#,##0"), ("[>=1]", "0.00"), ("", "0.0000"))
    return (("[>=100]", "#,##0"), ("[>=0.01]", "0.000"), ("", "0.00E+00"))


def _sections_with_zero(smallest: float) -> tuple[tuple[str, str], ...]:
    return (("[=0]", "0"), ("[>=100]", "#,##0"), ("", "0.00" if smallest >= 1 else "0.0000"))


def _plain(largest: float) -> str:
    if largest >= 100:
        return "#,##0"
    return "#,##0.0" if largest >= 10 else "0.00" if largest >= 1 else "0.0000"
