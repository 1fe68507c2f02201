"""Places and messages: what every stage returns beside its result.

In: a place in a text and what is wrong there → Out: a `Diagnostic`, a value that is collected, sorted and printed.
Invariant: a user's mistake is a `Diagnostic`, never an exception; the message alone says what was found.
"""

from __future__ import annotations

import difflib
import heapq
import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

# Of very many mistakes only the first get an offer of a near name: nobody reads the rest before these are mended.
MOST_OFFERS = 100
_MOST_COMPARED = 300
LONGEST_TEXT = 1_000
_LONGEST_NAME = 100

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Source:
    """A text that was read: `name` is the same on every machine, `path` is where messages send the reader."""

    name: str
    text: str = field(repr=False)
    path: str = ""
    starts: tuple[int, ...] = field(init=False, repr=False, compare=False)
    """Where each line begins: found once, since every place in a message is looked up here."""

    def __post_init__(self) -> None:
        starts = (0, *(found.end() for found in re.finditer("\n", self.text)))
        object.__setattr__(self, "starts", starts)

    def line(self, number: int) -> str:
        """Return line `number`, counted from 1, without its end."""
        if number > len(self.starts):
            return ""
        end = self.starts[number] - 1 if number < len(self.starts) else len(self.text)
        return self.text[self.starts[number - 1] : end].rstrip("\r")

    def position(self, index: int) -> tuple[int, int]:
        """Return line and column of a character."""
        line = bisect_right(self.starts, index)
        return line, index - self.starts[line - 1] + 1


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a source: lines and columns counted from 1, the end column exclusive."""

    source: Source
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.source.path or self.source.name}:{self.line}:{self.column}"

    @property
    def place(self) -> str:
        """Return `file:line`, as reports name the origin of an entry."""
        return f"{self.source.name}:{self.line}"


@dataclass(frozen=True, slots=True)
class Related:
    """A second place that a diagnostic speaks of, such as the other definition of a duplicate."""

    message: str
    span: Span


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One mistake or warning: a stable code, one line that stands alone, a place and the way out."""

    code: str
    message: str
    span: Span | None = None
    help: str = ""
    note: str = ""
    related: tuple[Related, ...] = ()
    severity: Severity = "error"

    def __post_init__(self) -> None:
        # A message quotes what was found, and a file may hold a word of a million letters.
        for name in ("message", "help", "note"):
            text = getattr(self, name)
            if len(text) > LONGEST_TEXT:
                object.__setattr__(self, name, f"{text[: LONGEST_TEXT - 1]}…")


def sort_diagnostics(found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return the diagnostics by file, place and code, each once."""
    unique = dict.fromkeys(found)
    return tuple(sorted(unique, key=_order))


def _order(item: Diagnostic) -> tuple[str, int, int, str, str]:
    if item.span is None:
        return ("", 0, 0, item.code, item.message)
    return (item.span.source.name, item.span.line, item.span.column, item.code, item.message)


def has_errors(found: Iterable[Diagnostic]) -> bool:
    """Say whether any of the diagnostics stops the compilation."""
    return any(item.severity == "error" for item in found)


def did_you_mean(name: str, legal: Iterable[str]) -> str:
    """Return `did you mean …?` for the nearest legal name, or nothing."""
    wanted = name.lower()
    if len(wanted) > _LONGEST_NAME:
        return ""
    lowered = {candidate.lower(): candidate for candidate in legal}
    likely: Iterable[str] = lowered
    if len(lowered) > _MOST_COMPARED:
        # A typo leaves what stands before and behind it; comparing letter by letter takes a hundred times longer.
        likely = heapq.nlargest(_MOST_COMPARED, lowered, key=lambda candidate: _shared_ends(wanted, candidate))
    near = difflib.get_close_matches(wanted, likely, n=1, cutoff=0.6)
    return f"did you mean `{lowered[near[0]]}`?" if near else ""


def _shared_ends(one: str, other: str) -> int:
    """Return how many characters two names begin and end with alike."""
    before, most = 0, min(len(one), len(other))
    while before < most and one[before] == other[before]:
        before += 1
    behind = 0
    while behind < most - before and one[-1 - behind] == other[-1 - behind]:
        behind += 1
    return before + behind


def known_names(legal: Iterable[str], limit: int = 8) -> str:
    """Return a short list of the legal names, for the help of a message."""
    names = sorted(legal)
    shown = ", ".join(f"`{name}`" for name in names[:limit])
    return f"{shown} and {len(names) - limit} more" if len(names) > limit else shown
