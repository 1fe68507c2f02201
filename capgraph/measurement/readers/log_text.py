"""Logs → the lines that matter, and whose they are.

In: a source and the words that mark a line → Out: the marked lines in order, each with its number.
Invariant: a text is searched once for each mark, not line by line; colours of a terminal are taken out, and a line is
looked at up to a stated length.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from capgraph.diagnostics import Source, Span

_LONGEST_LINE = 100_000
_SETTING = re.compile(
    r"""(?<![\w-])(?:['"](?P<name>[a-z]\w{1,60})['"]: ?|(?P<key>[a-z]\w{1,60})=|--(?P<flag>[a-z][a-z-]{1,60})[= ])"""
    r"""(?:'(?P<text>[^']{0,999})'|"(?P<quoted>[^"]{0,999})"|(?P<plain>[^\s,(){}'"]{1,999}))"""
)
_COLOUR = re.compile("\x1b\\[[0-9;]*m")


def marked_lines(source: Source, marks: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines that hold one of the marks, each once, with its number."""
    numbers: set[int] = set()
    for mark in marks:
        at = source.text.find(mark)
        while at >= 0:
            number = source.position(at)[0]
            numbers.add(number)
            end = source.starts[number] if number < len(source.starts) else len(source.text)
            at = source.text.find(mark, end)
    for number in sorted(numbers):
        yield number, _COLOUR.sub("", source.line(number)[:_LONGEST_LINE])


def line_span(source: Source, number: int) -> Span:
    """Return the place of a whole line."""
    return Span(source, number, 1, number, max(len(source.line(number)) + 1, 2))


def settings_of(line: str) -> dict[str, str]:
    """Return what a line sets by `key=value`, `'key': value` or `--key value`: key → value, the first of each."""
    found: dict[str, str] = {}
    for match in _SETTING.finditer(line):
        key = match["key"] or match["name"] or match["flag"].replace("-", "_")
        value = match["text"] or match["quoted"] or match["plain"] or ""
        if value not in ("None", "null"):
            found.setdefault(key, value)
    return found
