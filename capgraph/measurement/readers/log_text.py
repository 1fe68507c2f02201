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


def setting(line: str, key: str) -> str:
    """Return the value of `key=value`, `'key': value` or `--key value` in a line, without quotes, or nothing."""
    flag = re.escape(key.replace("_", "-"))
    found = re.search(
        rf"""(?:(?<![\w-]){re.escape(key)}['"]?\s{{0,9}}[=:]\s{{0,9}}|--{flag}[=\s]\s{{0,9}})"""
        r"""(?:'([^']{0,999})'|"([^"]{0,999})"|([^\s,)}'"]{1,999}))""",
        line,
    )
    value = next((group for group in found.groups() if group is not None), "") if found else ""
    return "" if value in ("None", "null") else value
