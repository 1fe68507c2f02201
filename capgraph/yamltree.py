"""YAML text → Tree: mappings, sequences and raw scalars, each with its place in the file.

In: a `Source` → Out: a tree of `Map`, `Seq` and `Scalar` (None for an empty value), and diagnostics.
Invariant: nothing is interpreted (`no`, `010`, `12:30` stay text), no tag constructs anything, aliases cannot explode.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import yaml

from capgraph.diagnostics import Diagnostic, Related, Source, Span

MAX_BYTES = 32 * 1024 * 1024
MAX_DEPTH = 60
MAX_ALIASED_NODES = 10_000

_Base = cast("type[yaml.BaseLoader]", getattr(yaml, "CBaseLoader", yaml.BaseLoader))
_TAGS = {yaml.ScalarNode: "str", yaml.SequenceNode: "seq", yaml.MappingNode: "map"}


class _Loader(_Base):  # type: ignore[misc, valid-type]
    """Composes nodes without a look at what their text might mean."""

    def resolve(self, kind: type[yaml.Node], _value: object, _implicit: object) -> str:
        return f"tag:yaml.org,2002:{_TAGS[kind]}"

    def descend_resolver(self, _node: object, _index: object) -> None:
        pass

    def ascend_resolver(self) -> None:
        pass


class Scalar(str):
    """The raw text of a scalar, with its span and what is needed to find a place inside it."""

    style: str | None
    start: int
    composed: tuple[Source, yaml.Node]

    @classmethod
    def at(cls, text: str, span: Span, style: str | None, start: int) -> Scalar:
        """Make a scalar that starts at character `start` of its source."""
        made = cls(text)
        made.__dict__["span"] = span
        made.style, made.start = style, start
        return made

    @classmethod
    def of(cls, source: Source, node: yaml.ScalarNode) -> Scalar:
        """Make the scalar of a composed node."""
        made = cls(node.value)
        made.style, made.start, made.composed = node.style, node.start_mark.index, (source, node)
        return made

    @cached_property
    def span(self) -> Span:
        # Made when asked for: of ten thousand scalars of a model, messages and origins need a few hundred.
        return _node_span(*self.composed)

    @cached_property
    def places(self) -> tuple[int, ...] | None:
        """Where each character stands in the source; None where escapes make that impossible to tell."""
        return _positions(self)

    def within(self, first: int, last: int) -> Span:
        """Return the span of the characters `first`..`last` (exclusive) of this text, in any quoting style."""
        places = self.places
        if places is None or first >= len(places):
            return self.span
        end = places[min(last, len(places)) - 1] + 1 if last > first else places[first] + 1
        line, column = _line_column(self.span.source.text, places[first])
        end_line, end_column = _line_column(self.span.source.text, end)
        return Span(self.span.source, line, column, end_line, end_column)

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: object, _handler: object) -> Any:
        from pydantic_core import core_schema

        return core_schema.is_instance_schema(cls)

    @classmethod
    def __get_pydantic_json_schema__(cls, _schema: object, _handler: object) -> dict[str, Any]:
        return {"type": ["string", "number", "boolean"]}


class Map(dict[Scalar, "Node"]):
    """A mapping in file order, with its span."""

    span: Span


class Seq(list["Node"]):
    """A sequence, with its span."""

    span: Span


Node = Map | Seq | Scalar | None


def read(source: Source) -> tuple[Node, tuple[Diagnostic, ...]]:
    """Return the tree of a YAML text and what is wrong with it; the tree is None when it cannot be read at all."""
    text = source.text.removeprefix("\ufeff")
    if text is not source.text:
        source = Source(source.name, text, source.path)
    loader = _Loader(text)
    try:
        root = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        return None, (_syntax_error(source, error),)
    except RecursionError:
        return None, (
            Diagnostic(
                "CG106", f"{source.name} is nested deeper than {MAX_DEPTH} levels", None, "flatten the file"
            ),
        )
    except (yaml.YAMLError, ValueError) as error:
        return None, (Diagnostic("CG101", f"{source.name} is not readable text: {_one_line(error)}"),)
    finally:
        loader.dispose()
    if root is None:
        return None, ()
    builder = _Builder(source)
    return builder.build(root), tuple(builder.found)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _syntax_error(source: Source, error: yaml.MarkedYAMLError) -> Diagnostic:
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    span = Span(source, line, column, line, column + 1)
    problem = error.problem or "cannot be read"
    if "\t" in source.line(line)[: column + 1]:
        return Diagnostic("CG102", "a tab stands where YAML needs spaces", span, "indent with spaces")
    if "expected a single document" in (error.context or problem):
        return Diagnostic(
            "CG101",
            "the file holds more than one YAML document",
            span,
            "keep one document a file; remove `---`",
        )
    help_text = (
        "quote a text that holds `: ` or starts with a special character"
        if "mapping values" in problem
        else ""
    )
    context = f" ({error.context})" if error.context else ""
    return Diagnostic("CG101", f"not valid YAML: {problem}{context}", span, help_text)


@dataclass
class _Builder:
    source: Source
    found: list[Diagnostic] = field(default_factory=list)
    seen: set[int] = field(default_factory=set)
    path: set[int] = field(default_factory=set)
    aliased: int = 0

    def build(self, node: yaml.Node, depth: int = 0) -> Node:
        """Turn a composed node into ours."""
        if id(node) in self.path or depth > MAX_DEPTH:
            self._report(
                "CG106",
                f"the YAML contains itself or is nested deeper than {MAX_DEPTH} levels",
                self._span(node),
            )
            return None
        if id(node) in self.seen:
            self.aliased += 1
            if self.aliased > MAX_ALIASED_NODES:
                if self.aliased == MAX_ALIASED_NODES + 1:
                    self._report(
                        "CG105", f"aliases expand to more than {MAX_ALIASED_NODES} nodes", self._span(node)
                    )
                return None
        self.seen.add(id(node))
        if not node.tag.startswith("tag:yaml.org,2002:") or node.tag.startswith("tag:yaml.org,2002:python"):
            self._report(
                "CG107",
                f"the tag `{node.tag}` is not allowed",
                self._span(node),
                "write plain text or numbers",
            )
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node)
        self.path.add(id(node))
        made = self._seq(node, depth) if isinstance(node, yaml.SequenceNode) else self._map(node, depth)
        self.path.discard(id(node))
        return made

    def _scalar(self, node: yaml.ScalarNode) -> Scalar | None:
        if not node.style and node.value in ("", "~", "null"):
            return None
        return Scalar.of(self.source, node)

    def _seq(self, node: yaml.SequenceNode, depth: int) -> Seq:
        made = Seq(self.build(item, depth + 1) for item in node.value)
        made.span = self._span(node)
        return made

    def _map(self, node: yaml.Node, depth: int) -> Map:
        made = Map()
        made.span = self._span(node)
        places: dict[str, Scalar] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self._report("CG103", "a key must be a plain name", self._span(key_node))
                continue
            key = Scalar.of(self.source, key_node)
            if key == "<<" and not key_node.style:
                self._report(
                    "CG108", "merge keys (`<<`) are not allowed", key.span, "use `extends`, or repeat the entries"
                )
            elif key in places:
                message = f"`{key}` is defined twice in one mapping"
                related = (Related("first defined here", places[key].span),)
                self.found.append(Diagnostic("CG104", message, key.span, "keep one of the two", related=related))
            else:
                places[key] = key
                made[key] = self.build(value_node, depth + 1)
        return made

    def _span(self, node: yaml.Node) -> Span:
        return _node_span(self.source, node)

    def _report(self, code: str, message: str, span: Span, help_text: str = "") -> None:
        self.found.append(Diagnostic(code, message, span, help_text))


def _node_span(source: Source, node: yaml.Node) -> Span:
    start, end = node.start_mark, node.end_mark
    return Span(source, start.line + 1, start.column + 1, end.line + 1, end.column + 1)


def _positions(scalar: Scalar) -> tuple[int, ...] | None:
    """Align the non-blank characters of a scalar with its source."""
    text, place = scalar.span.source.text, scalar.start
    if scalar.style in ("|", ">"):
        place = text.find("\n", place) + 1
    elif scalar.style in ("'", '"'):
        place += 1
        if scalar.style == '"' and "\\" in text[place : place + 2 * len(scalar) + 2]:
            return None
    places: list[int] = []
    for char in scalar:
        if not char.isspace():
            found = text.find(char, place)
            if found < 0:
                return None
            place = found
        places.append(min(place, len(text) - 1))
        place += 1
    return tuple(places)


def _line_column(text: str, index: int) -> tuple[int, int]:
    starts = _LineStarts.of(text).starts
    line = bisect_right(starts, index)
    return line, index - starts[line - 1] + 1


@dataclass(frozen=True)
class _LineStarts:
    text: str
    _last: list[_LineStarts] = field(default_factory=list, compare=False)

    @cached_property
    def starts(self) -> list[int]:
        return [0, *self._ends()]

    def _ends(self) -> Iterator[int]:
        place = self.text.find("\n")
        while place >= 0:
            yield place + 1
            place = self.text.find("\n", place + 1)

    @classmethod
    def of(cls, text: str) -> _LineStarts:
        if not _CACHE or _CACHE[0].text is not text:
            _CACHE[:] = [cls(text)]
        return _CACHE[0]


_CACHE: list[_LineStarts] = []
