"""YAML text → Tree: mappings, sequences and raw scalars, each with its place in the file.

In: a `Source` → Out: a tree of `Map`, `Seq` and `Scalar` (None for an empty value), and diagnostics.
Invariant: nothing is interpreted (`no`, `010`, `12:30` stay text), no tag constructs anything, aliases cannot explode.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import yaml

from capgraph.diagnostics import Diagnostic, Related, Source, Span

MAX_BYTES = 32 * 1024 * 1024
MAX_DEPTH = 60
MAX_ALIASED_NODES = 10_000
# A list of single letters makes a kilobyte of every two.
MAX_NODES = 2_000_000

_Base = cast("type[yaml.BaseLoader]", getattr(yaml, "CBaseLoader", yaml.BaseLoader))
# What YAML allows in a stream (YAML 1.1, 5.1).
_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_PROPERTIES = re.compile(r"(?:[!&]\S*\s+)*")
_MISFIT = ("this line does not fit those above", "check its indentation, and the quotes and brackets before it")
# A part of libyaml's problem, the same for people, and what they do about it.
_PROBLEMS = (
    ("mapping values", "a second `: ` stands in one line", "quote a text that holds `: `"),
    ("could not find expected ':'", "a key lacks its `:`", "write `key: value`, or indent what goes on from above"),
    ("did not find expected ',' or", "a list or mapping is not closed", "close the bracket, or add the comma"),
    ("undefined alias", "a text that starts with `*` refers to an anchor, and there is none", "quote the text"),
    ("cannot start any token", "a text cannot start with this character", "quote the text"),
    ("quoted scalar", "a quote is not closed", "close the quote"),
    ("escape character", "a backslash has a meaning in double quotes", "write it twice, or use single quotes"),
    ("expected key", *_MISFIT),
    ("block end", *_MISFIT),
)  # fmt: skip
_TAGS: dict[type[yaml.Node], str] = {
    kind: f"tag:yaml.org,2002:{name}"
    for kind, name in ((yaml.ScalarNode, "str"), (yaml.SequenceNode, "seq"), (yaml.MappingNode, "map"))
}
_PLAIN_TAGS = frozenset(_TAGS.values())


class _TooManyError(Exception):
    """More keys and values than a file may hold."""


class _Loader(_Base):  # type: ignore[misc, valid-type]
    """Composes nodes without a look at what their text might mean."""

    nodes = 0

    def resolve(self, kind: type[yaml.Node], _value: object, _implicit: object) -> str:
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise _TooManyError
        return _TAGS[kind]

    def descend_resolver(self, _node: object, _index: object) -> None:
        pass

    def ascend_resolver(self) -> None:
        pass


class Scalar(str):
    """The raw text of a scalar, with its span and what is needed to find a place inside it."""

    style: str | None
    composed: tuple[Source, yaml.Node]

    @classmethod
    def at(cls, source: Source, first: int = 0, last: int | None = None) -> Scalar:
        """Make the scalar that the characters `first`..`last` (exclusive) of a source are."""
        end = len(source.text) if last is None else last
        made = cls(source.text[first:end])
        made.style = None
        made.__dict__["places"] = tuple(range(first, end))
        made.__dict__["span"] = _span_at(source, first, max(end, first + 1))
        return made

    def part(self, first: int, last: int) -> Scalar:
        """Return the characters `first`..`last` (exclusive) as a scalar that knows its place."""
        made = Scalar(self[first:last])
        made.style = None
        made.__dict__["places"] = self.places[first:last] if self.places is not None else None
        made.__dict__["span"] = self.within(first, last)
        return made

    @classmethod
    def of(cls, source: Source, node: yaml.ScalarNode) -> Scalar:
        """Make the scalar of a composed node."""
        made = cls(node.value)
        made.style, made.composed = node.style, (source, node)
        return made

    @cached_property
    def span(self) -> Span:
        # Made when asked for: of ten thousand scalars of a model, messages and origins need a few hundred.
        return _node_span(*self.composed)

    @cached_property
    def places(self) -> Sequence[int] | None:
        """Where each character stands in the source; None where escapes make that impossible to tell."""
        return _positions(self)

    @cached_property
    def _first_position(self) -> tuple[int, int]:
        assert self.places is not None
        return self.span.source.position(self.places[0])

    def within(self, first: int, last: int) -> Span:
        """Return the span of the characters `first`..`last` (exclusive) of this text, in any quoting style."""
        places = self.places
        if not places:
            return self.span
        if first >= len(places):
            return _span_at(self.span.source, places[-1] + 1)
        end = places[min(last, len(places)) - 1] + 1 if last > first else places[first] + 1
        if isinstance(places, range):
            line, column = self._first_position
            return Span(self.span.source, line, column + first, line, column + first + end - places[first])
        line, column = self.span.source.position(places[first])
        end_line, end_column = self.span.source.position(end)
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

    composed: tuple[Source, yaml.Node]

    @cached_property
    def span(self) -> Span:
        return _node_span(*self.composed)

    @cached_property
    def written(self) -> dict[str, Scalar]:
        """The keys by their text, to find the place of one."""
        return {key: key for key in self}


class Seq(list["Node"]):
    """A sequence, with its span."""

    composed: tuple[Source, yaml.Node]

    @cached_property
    def span(self) -> Span:
        return _node_span(*self.composed)


Node = Map | Seq | Scalar | None


def read(source: Source) -> tuple[Node, tuple[Diagnostic, ...]]:
    """Return the tree of a YAML text and what is wrong with it; the tree is None when it cannot be read at all."""
    text = source.text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    source = Source(source.name, text, source.path)
    loader = _Loader(text)
    try:
        root = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        return None, (_syntax_error(source, error),)
    except _TooManyError:
        message = f"{source.name} holds more than {MAX_NODES:,} keys and values"
        return None, (Diagnostic("CG111", message, Span(source, 1, 1, 1, 2), "split the model into several files"),)
    except RecursionError:
        return None, (_too_deep(Span(source, 1, 1, 1, 2)),)
    except (yaml.YAMLError, ValueError) as error:
        return None, (_unreadable(source, error),)
    finally:
        loader.dispose()
    if root is None:
        return None, ()
    builder = _Builder(source)
    return builder.build(root), tuple(builder.found)


def _unreadable(source: Source, error: Exception) -> Diagnostic:
    found = _FORBIDDEN.search(source.text)
    if found is None:
        return Diagnostic("CG101", f"{source.name} is not readable text: {' '.join(str(error).split())}")
    message = f"the file holds a control character (U+{ord(found[0]):04X})"
    return Diagnostic("CG101", message, _span_at(source, found.start()), "remove it: a model file is plain text")


def _too_deep(span: Span) -> Diagnostic:
    return Diagnostic("CG106", f"the YAML is nested deeper than {MAX_DEPTH} levels", span, "flatten it")


def _syntax_error(source: Source, error: yaml.MarkedYAMLError) -> Diagnostic:
    mark, opened = error.problem_mark or error.context_mark, error.context_mark
    problem, context = error.problem or "cannot be read", error.context or ""
    if opened and ("end of stream" in problem or mark is None or not source.text[mark.index :].strip()):
        mark = opened  # where the text ends says nothing of where it went wrong
    span = _span_at(source, mark.index if mark else 0)
    line = source.line(span.line)
    indent = len(line) - len(line.lstrip())
    if "\t" in line[:indent] and span.column <= indent + 1:
        column = line.index("\t") + 1
        span = Span(source, span.line, column, span.line, column + 1)
        return Diagnostic("CG102", "a tab stands where YAML needs spaces", span, "indent with spaces")
    if "expected a single document" in (context or problem):
        message = "the file holds more than one YAML document"
        return Diagnostic("CG101", message, span, "keep one document a file; remove `---`")
    if "maximum nesting depth" in problem:
        return _too_deep(span)
    shown = f"{problem}" + (f" ({context})" if context else "")
    way_out = _MISFIT[1]
    for part, words, known_way_out in _PROBLEMS:
        if part in f"{problem} {context}":
            shown, way_out = words, known_way_out
            break
    shown = f"not valid YAML: {shown}"
    if opened is None or opened is mark or "flow" not in context:
        return Diagnostic("CG101", shown, span, way_out)
    related = Related("opened here", _span_at(source, opened.index))
    return Diagnostic("CG101", shown, span, way_out, related=(related,))


@dataclass
class _Builder:
    source: Source
    found: list[Diagnostic] = field(default_factory=list)
    seen: set[int] = field(default_factory=set)
    path: set[int] = field(default_factory=set)
    aliased: int = 0
    too_deep: bool = False

    def build(self, node: yaml.Node, depth: int = 0) -> Node:
        """Turn a composed node into ours."""
        if id(node) in self.path:
            self._report("CG106", "an anchor contains itself", self._span(node), "write out what is needed")
            return None
        if depth > MAX_DEPTH:
            if not self.too_deep:
                self.found.append(_too_deep(self._span(node)))
            self.too_deep = True
            return None
        if id(node) in self.seen:
            self.aliased += 1
            if self.aliased == MAX_ALIASED_NODES + 1:
                message = f"aliases expand to more than {MAX_ALIASED_NODES} nodes"
                self._report("CG105", message, self._span(node), "write out what is needed")
            if self.aliased > MAX_ALIASED_NODES:
                return None
        self.seen.add(id(node))
        if node.tag not in _PLAIN_TAGS and not _is_harmless(node.tag):
            self._report(
                "CG107",
                f"the tag `{node.tag.replace('tag:yaml.org,2002:', '!!')}` is not allowed",
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
        return self._text(node)

    def _text(self, node: yaml.ScalarNode) -> Scalar:
        made = Scalar.of(self.source, node)
        # The reader lets none through, but an escape in double quotes can spell one.
        if node.style == '"' and (found := _FORBIDDEN.search(made)):
            message = f"a text holds a control character (U+{ord(found[0]):04X})"
            self._report("CG101", message, made.span, "leave it out")
        return made

    def _seq(self, node: yaml.SequenceNode, depth: int) -> Seq:
        made = Seq(self.build(item, depth + 1) for item in node.value)
        made.composed = (self.source, node)
        return made

    def _map(self, node: yaml.Node, depth: int) -> Map:
        made = Map()
        made.composed = (self.source, node)
        places: dict[str, Scalar] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self._report("CG103", "a key must be a plain name", self._span(key_node), "write `name: …`")
                continue
            key = self._text(key_node)
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


def _is_harmless(tag: str) -> bool:
    return tag.startswith("tag:yaml.org,2002:") and not tag.startswith("tag:yaml.org,2002:python")


def _node_span(source: Source, node: yaml.Node) -> Span:
    # By index: libyaml also counts U+0085 and U+2028 as line ends, which no editor does.
    line, column = source.position(node.start_mark.index)
    end_line, end_column = source.position(node.end_mark.index)
    return Span(source, line, column, end_line, end_column)


def _span_at(source: Source, first: int, last: int | None = None) -> Span:
    line, column = source.position(first)
    if last is None:
        return Span(source, line, column, line, column + 1)
    return Span(source, line, column, *source.position(last))


def _positions(scalar: Scalar) -> Sequence[int] | None:
    """Align the non-blank characters of a scalar with its source; a range is a stretch of one line."""
    source, node = scalar.composed
    text, place, end = source.text, node.start_mark.index, node.end_mark.index
    if found := _PROPERTIES.match(text, place, end):
        place = found.end()
    if scalar.style in ("|", ">"):
        place = text.find("\n", place) + 1
    elif scalar.style in ("'", '"'):
        place += 1
        if scalar.style == '"' and "\\" in text[place:end]:
            return None
    if text.startswith(scalar, place) and "\n" not in scalar:
        return range(place, place + len(scalar))
    places: list[int] = []
    for char in scalar:
        if not char.isspace():
            place = text.find(char, place, end)
            if place < 0:
                return None
        places.append(min(place, len(text) - 1))
        place += 2 if char == scalar.style == "'" else 1
    return tuple(places)
