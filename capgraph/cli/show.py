"""Diagnostics → text for a person, a log or a program.

In: diagnostics → Out: lines on standard error. Invariant: colour only on a terminal; the first line stands alone.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from typing import Literal

from capgraph.diagnostics import Diagnostic, Span

Format = Literal["full", "concise", "json"]
# Of very many a person mends the first ones and asks again.
MOST_SHOWN = 200
_LONGEST_LINE = 120
_LONGEST_MESSAGE = 400


def show_diagnostics(found: Iterable[Diagnostic], chosen: Format | None) -> None:
    """Write diagnostics to standard error; without a format, full on a terminal and concise in a pipe."""
    items = tuple(found)
    form = chosen or ("full" if sys.stderr.isatty() else "concise")
    if form == "json":
        print(json.dumps([_record(item) for item in items], ensure_ascii=False, indent=1), file=sys.stderr)
        return
    if not items:
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, highlight=False, soft_wrap=True)
    for item in items[:MOST_SHOWN]:
        text = full_text(item) if form == "full" else concise_text(item)
        head, _, rest = text.partition("\n")
        colour = "bold red" if item.severity == "error" else "bold yellow"
        label, _, message = head.partition(": ") if form == "full" else ("", "", head)
        line = Text.assemble((f"{label}: ", colour), (message, "bold")) if form == "full" else Text(head)
        console.print(line)
        if rest:
            console.print(Text(rest))
    if (more := len(items) - MOST_SHOWN) > 0:
        console.print(Text(f"… and {more} more of them; `--format json` prints all"))


def concise_text(item: Diagnostic) -> str:
    """Return the diagnostic in one line."""
    where = f"{item.span}: " if item.span else ""
    help_text = f" ({_one_line(item.help)})" if item.help else ""
    return f"{where}{item.severity}[{item.code}]: {_one_line(item.message)}{help_text}"


def full_text(item: Diagnostic) -> str:
    """Return the diagnostic with its source lines, carets, related places and the way out."""
    lines = [f"{item.severity}[{item.code}]: {_one_line(item.message)}"]
    places = [(item.span, "")] if item.span else []
    places += [(related.span, related.message) for related in item.related]
    width = max((len(str(span.line)) for span, _ in places), default=1)
    for index, (span, label) in enumerate(places):
        lines.extend(_excerpt(span, label, width, first=index == 0 and item.span is not None))
    notes = [f"{kind}: {text}" for kind, text in (("note", item.note), ("help", item.help)) if text]
    if notes and places:
        lines.append(f"{'':{width}} |")
    lines.extend(f"{'':{width}} = {_one_line(note)}" for note in notes)
    return "\n".join((*lines, ""))


def _one_line(text: str) -> str:
    """Return a message as one line without what would steer a terminal; it may quote a file."""
    shown = _visible(" ".join(text.split()))
    return shown if len(shown) <= _LONGEST_MESSAGE else f"{shown[: _LONGEST_MESSAGE - 1]}…"


def _visible(text: str) -> str:
    """Replace a tab by a blank, and each character that is not printed by a sign for it."""
    return "".join(char if char.isprintable() else " " if char == "\t" else "\ufffd" for char in text)


def _excerpt(span: Span, label: str, width: int, first: bool) -> Iterator[str]:
    line = span.source.line(span.line)
    start, end = span.column - 1, span.end_column - 1 if span.end_line == span.line else len(line.rstrip())
    if len(line) > _LONGEST_LINE:
        cut = max(0, start - _LONGEST_LINE // 3)
        line = ("…" if cut else "") + line[cut : cut + _LONGEST_LINE] + "…"
        start, end = (start - cut + bool(cut), min(end - cut + bool(cut), len(line)))
    line = _visible(line)
    caret = ("^" if first else "-") * max(_cells(line[start:end]), 1)
    yield f"{'':{width}} {'-->' if first else ':::'} {span}"
    yield f"{'':{width}} |"
    yield f"{span.line:{width}} | {line}".rstrip()
    yield f"{'':{width}} | {'':{_cells(line[:start])}}{caret} {label}".rstrip()


def _cells(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _record(item: Diagnostic) -> dict[str, object]:
    return {
        "code": item.code,
        "severity": item.severity,
        "message": item.message,
        **_place(item.span),
        "help": item.help,
        "note": item.note,
        "related": [{"message": related.message, **_place(related.span)} for related in item.related],
    }


def _place(span: Span | None) -> dict[str, object]:
    if span is None:
        return {"file": None, "line": None, "column": None, "end_line": None, "end_column": None}
    return {
        "file": span.source.path or span.source.name,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
    }
