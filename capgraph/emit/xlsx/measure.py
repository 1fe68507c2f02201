"""How much room texts take: a text and its role in → its width in points, and the lines it breaks into.

Invariant: a text takes no less room than here in Calibri and in Carlito, which has the same widths; letters that
are not listed count as broad ones.
"""

from __future__ import annotations

from functools import lru_cache

from capgraph.emit.xlsx.styles import Role, indent, is_bold, size

# A column's width counts digits of 11 points at 96 dots an inch, which are 7 pixels, and 5 pixels of margin.
_POINTS, _MARGIN = 5.25, 3.75
_INDENT = 6.75
# Programs round letters to pixels, and bold ones are broader.
_PLAIN, _BOLD = 1.03, 1.07
# Advance widths of Carlito in 1/1000 em, rounded up by group.
_GROUPS = {
    230: "ijl' ",
    268: "I.,:;’·",
    310: "()-[]f{}`",
    350: "Jrt!",
    395: "/sz\\",
    460: "LFSZckvxy?|",
    500: '"#*+<=>^_~–×aegETYX',
    535: "0123456789$bdhnopquBPC",
    580: "KRVA",
    675: "DGHNOQU&",
    720: "%w",
    800: "m",
}
_EMS = {letter: width / 1000 for width, letters in _GROUPS.items() for letter in letters}
_BROAD = 0.9


def text_width(text: str, role: Role) -> float:
    """Return how wide a line is, in points."""
    return _ems(text) * size(role) * (_BOLD if is_bold(role) else _PLAIN)


@lru_cache(maxsize=10_000)
def _ems(text: str) -> float:
    return sum(_EMS.get(letter, _BROAD) for letter in text)


def column_for(text: str, role: Role) -> float:
    """Return the width of a column, in its own unit, that holds a text in one line."""
    return (text_width(text, role) + _INDENT * indent(role) + _MARGIN) / _POINTS


def lines(text: str, width: float, role: Role) -> int:
    """Return how many lines a text takes in a column of that width; a word breaks only where it must."""
    room = max(width * _POINTS - _INDENT * indent(role), 1.0)
    space = text_width(" ", role)
    count = 0
    for paragraph in text.split("\n"):
        count += 1
        if text_width(paragraph, role) <= room:
            continue
        used = 0.0
        for word in paragraph.split(" "):
            needed = text_width(word, role)
            if used and used + space + needed > room:
                count, used = count + 1, 0.0
            used += needed + (space if used else 0.0)
            while used > room:
                count, used = count + 1, used - room
    return count
