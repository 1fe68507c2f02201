"""JSON → objects with their places: one document, several one after another, or a list of them.

In: a source → Out: `Fields`, one for each object, or what is wrong with the text.
Invariant: every number is a float; NaN and the infinities count as not stated; no text, however deep or long, raises
or takes more than a bounded multiple of its size. A field of another type than its reader needs is kept as the first
mistake, so that a table is never made of half of what is there.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping

from capgraph.diagnostics import Diagnostic, Source, Span
from capgraph.measurement.readers.record import Record

# A list of empty lists takes twenty times the memory of its text.
MAX_CONTAINERS = 2_000_000
MAX_VALUES = 8_000_000
_BLANK = re.compile(r"[\s,]*")
# How a problem begins as Python says it, and for people.
_PROBLEMS = (
    ("Expecting ','", "a comma or a bracket is missing before this"),
    ("Expecting ':'", "a colon is missing before this"),
    ("Expecting property name", "a name in double quotes is missing here"),
    ("Expecting value", "a value is missing here"),
    ("Illegal trailing comma", "this comma has nothing behind it"),
    ("Invalid control character", "a text goes over the end of its line"),
    ("Invalid \\\\", "a backslash has a meaning in JSON, and this is none"),
)
_NEAR_END = 1_000
_JSON = re.compile(r"\s*(?:\{|\[\s*\{)")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


def is_json(text: str) -> bool:
    """Say whether a text begins as an object, or a list of objects, does."""
    return _JSON.match(text) is not None


class Fields:
    """An object of a JSON text, between the characters `first` and `last` of its source."""

    def __init__(self, source: Source, values: Mapping[str, object], first: int, last: int) -> None:
        self.source, self.values, self.first, self.last = source, values, first, last
        self.wrong: Diagnostic | None = None

    @property
    def span(self) -> Span:
        """Return where the object begins, to the end of that line."""
        line, column = self.source.position(self.first)
        end = column + max(min(self.last - self.first, len(self.source.line(line)) + 1 - column), 1)
        return Span(self.source, line, column, line, end)

    def at(self, *path: str) -> object:
        """Return what stands at the end of a path of keys, or nothing."""
        found: object = self.values
        for key in path:
            found = found.get(key) if isinstance(found, dict) else None
        return found

    def has(self, *path: str) -> bool:
        """Say whether there is something at the end of a path."""
        return self.at(*path) is not None

    def number(self, *path: str) -> float | None:
        """Return a finite number, or nothing where there is none; a text counts if it is a number."""
        found = self.at(*path)
        if isinstance(found, str) and (
            found.lower() in ("", "inf", "none") or _NUMBER.fullmatch(found.strip())
        ):
            found = float(found) if _NUMBER.fullmatch(found.strip()) else None
        if isinstance(found, float):
            return found if math.isfinite(found) else None
        if found is not None:
            self._refuse(path, "a number", found)
        return None

    def text(self, *path: str) -> str | None:
        """Return a text, or nothing; a list of one text is that text, a number is written out."""
        found = self.at(*path)
        if isinstance(found, list) and len(found) == 1:
            found = found[0]
        if isinstance(found, float):
            found = f"{found:g}"
        if isinstance(found, str):
            return found
        if found is not None:
            self._refuse(path, "a text", found)
        return None

    def numbers(self, *path: str) -> tuple[float, ...]:
        """Return a list of numbers, empty where there is none or where one of them is missing."""
        found = self.at(*path)
        if not isinstance(found, list):
            return ()
        return (
            tuple(found) if all(isinstance(value, float) and math.isfinite(value) for value in found) else ()
        )

    def take(self, record: Record, column: str, *path: str, factor: float = 1.0) -> None:
        """Read a number into a column of a record."""
        value = self.number(*path)
        record.number(column, None if value is None else value * factor, ".".join(path))

    def name(self, record: Record, column: str, *path: str) -> None:
        """Read a text into a column of a record."""
        record.text(column, self.text(*path), ".".join(path))

    def _refuse(self, path: tuple[str, ...], needed: str, found: object) -> None:
        if self.wrong is not None:
            return
        start, key = self.first, ""
        for name in path:
            key = json.dumps(name, ensure_ascii=False)
            start = max(self.source.text.find(key, start, self.last), start)
        line, column = self.source.position(start)
        place = Span(self.source, line, column, line, column + len(key))
        kinds = {dict: "an object", list: "a list", str: "a text", bool: "true or false", float: "a number"}
        message = f"`{'.'.join(path)}` must be {needed}, and is {kinds.get(type(found), 'something else')}"
        self.wrong = Diagnostic("CG856", message, place, "check that the file is as the tool wrote it")


def read_json(source: Source) -> tuple[Fields, ...] | Diagnostic:
    """Read all objects of a text: of a document, of JSON lines, or of a list."""
    text = source.text
    if text.count("[") + text.count("{") > MAX_CONTAINERS or text.count(",") > MAX_VALUES:
        message = (
            f"{source.name} holds more than {MAX_CONTAINERS:,} objects and lists, or {MAX_VALUES:,} values"
        )
        return Diagnostic(
            "CG851", message, Span(source, 1, 1, 1, 2), "leave out the single requests, or split the file"
        )
    decoder = json.JSONDecoder(parse_int=float, parse_float=float, parse_constant=float)
    found: list[Fields] = []
    index = _BLANK.match(text).end()  # type: ignore[union-attr]
    while index < len(text):
        try:
            value, last = decoder.raw_decode(text, index)
        except json.JSONDecodeError as error:
            return _broken(source, error.pos, error.msg)
        except RecursionError:
            return _broken(source, index, "it is nested too deep")
        found.extend(_objects(source, value, index, last))
        index = _BLANK.match(text, last).end()  # type: ignore[union-attr]
    return tuple(found)


def _objects(source: Source, value: object, first: int, last: int) -> Iterator[Fields]:
    """Yield an object, or those of a list."""
    for item in value if isinstance(value, list) else (value,):
        if isinstance(item, dict):
            yield Fields(source, item, first, last)


def _broken(source: Source, index: int, problem: str) -> Diagnostic:
    """Say where a text stops being JSON: at its end if it was cut off."""
    line, column = source.position(min(index, len(source.text)))
    ended = index + _NEAR_END > len(source.text) and not source.text[index:].strip()
    if ended or problem.startswith("Unterminated"):
        message = f"{source.name} is not whole: it ends within a value"
    else:
        told = next((words for sign, words in _PROBLEMS if problem.startswith(sign)), problem)
        message = f"{source.name} is no JSON: {told}"
    way_out = "copy the whole file; a run that was stopped leaves half a line behind"
    return Diagnostic("CG853", message, Span(source, line, column, line, column + 1), way_out)
