"""Signs that the memo's fonts lack.

In: text → Out: the same text with a replacement sign for what would come out as an empty box or from a stray font.
Invariant: text that the fonts can show is returned as it is.
"""

from __future__ import annotations

from functools import cache

from fontTools.ttLib import TTFont

from capgraph.emit.fonts import font_faces

_REPLACEMENT = "\ufffd"
# Up to here every sign in use has its glyph in the text family or its fallback; most memos never look further.
_COMMON = 0x17F
_INVISIBLE = frozenset("\u200b\u200c\u200d\u200e\u200f\u2060\ufe0e\ufe0f\u2028\u2029")


def legible(text: str) -> str:
    """Return the text with every sign that no upright face of ours has replaced by `�`, and invisible ones left out."""
    rare = {sign for sign in set(text) if ord(sign) > _COMMON or (ord(sign) < 0x20 and sign not in "\n\t\r")}
    lacking = {sign for sign in rare if ord(sign) not in _covered()}
    if not lacking:
        return text
    return text.translate({ord(sign): None if sign in _INVISIBLE else _REPLACEMENT for sign in lacking})


@cache
def _covered() -> frozenset[int]:
    paths = [face.path for face in font_faces() if face.weight == 400 and face.style == "normal"]
    signs: set[int] = set()
    for path in paths:
        with TTFont(path, lazy=True) as font:
            signs.update(font.getBestCmap())
    return frozenset(signs)
