"""A failing case → a smaller one that fails likewise, to be made a test of.

In: files and whether files fail → Out: fewer files and lines that still do.
Invariant: what is returned fails; no trial begins after a minute.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from fuzz.cases import Case

Files = Mapping[str, bytes]
_Line = tuple[str, bytes]
SECONDS = 60.0


def shrink_steps(case: Case, fails: Callable[[Case], bool]) -> Case:
    """Take away the mutations that a failure does not need."""
    for step in case.steps:
        if len(case.steps) > 1 and fails(less := case.without(step)):
            case = less
    return case


def shrink_files(files: Files, fails: Callable[[Files], bool], seconds: float = SECONDS) -> Files:
    """Take away lines, many at once and then fewer, while the rest fails."""
    lines = [(name, line) for name, text in files.items() for line in text.splitlines(keepends=True)]
    size, end = max(1, len(lines) // 2), time.monotonic() + seconds
    while time.monotonic() < end:
        before, place = len(lines), 0
        while place < len(lines) and time.monotonic() < end:
            less = lines[:place] + lines[place + size :]
            if fails(_files(less)):
                lines = less
            else:
                place += size
        if size == 1 and len(lines) == before:
            break
        size = max(1, size // 2)
    return _files(lines) if lines else files


def _files(lines: list[_Line]) -> Files:
    made: dict[str, bytes] = {}
    for name, line in lines:
        made[name] = made.get(name, b"") + line
    return made


def written(files: Files) -> str:
    """Return files as text to read and to copy."""
    return "\n".join(f"--- {name}\n{_shown(text)}" for name, text in files.items())


def _shown(text: bytes) -> str:
    try:
        shown = text.decode()
    except UnicodeDecodeError:
        return repr(text)
    return shown if all(char.isprintable() or char == "\n" for char in shown) else repr(text)
