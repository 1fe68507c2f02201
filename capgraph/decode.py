"""Tree → Declarations: known keys of the right shape.

In: the tree of one file → Out: its `FileDecl`, or a diagnostic for every key and value that does not fit.
Invariant: every message points at the key or value itself, and names the keys that are legal there.
"""

from __future__ import annotations

import types
import typing
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from capgraph.declarations import FileDecl
from capgraph.diagnostics import Diagnostic, Span, did_you_mean, known_names
from capgraph.yamltree import Map, Node, Scalar, Seq


def decode(tree: Node, fallback: Span) -> tuple[FileDecl | None, tuple[Diagnostic, ...]]:
    """Return the declarations of a file's tree; `fallback` is the place of an empty file."""
    if not isinstance(tree, Map):
        found = "nothing" if tree is None else _shape(tree)
        message = f"a model file is a mapping of keys; this one holds {found}"
        return None, (
            Diagnostic("CG112", message, getattr(tree, "span", fallback), "start with `model: my-model`"),
        )
    try:
        return FileDecl.model_validate(tree), ()
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=True)
        return None, _once_a_place(_diagnostic(tree, detail) for detail in details)


def _once_a_place(found: typing.Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    # A union reports each of its members; the first says enough.
    kept: dict[str, Diagnostic] = {}
    for item in found:
        kept.setdefault(f"{item.span} {item.code == 'CG202' and item.message}", item)
    # A list is refused as a text, too, where an entry of it has a message of its own.
    inside = {item.message.partition(" is ")[0].partition(" of ")[2] for item in kept.values()}
    return tuple(
        item
        for item in kept.values()
        if "is a list; needed is a text" not in item.message or item.message.partition(" is ")[0] not in inside
    )


def _diagnostic(tree: Map, detail: ErrorDetails) -> Diagnostic:
    loc, kind = detail["loc"], detail["type"]
    node, span, what = _walk(tree, loc)
    if kind == "extra_forbidden":
        return _unknown_key(tree, loc, span)
    # A list of two that holds one lacks the "key" 1.
    if kind == "missing" and isinstance(loc[-1], str):
        return Diagnostic("CG202", f"{what} lacks the key `{loc[-1]}`", span, f"add `{loc[-1]}: …`")
    if kind == "literal_error":
        expected = str((detail.get("ctx") or {}).get("expected", "")).replace("'", "`")
        return Diagnostic(
            "CG204", f"{what} is {_shown(node)}; needed is {expected}", span, "write one of these"
        )
    needed, way_out = _needed(loc, kind, node)
    found = (
        f"has {_count(node)}"
        if isinstance(node, Seq) and needed.startswith("a list")
        else f"is {_shown(node)}"
    )
    return Diagnostic("CG203", f"{what} {found}; needed is {needed}", span, way_out)


def _unknown_key(tree: Map, loc: tuple[int | str, ...], span: Span) -> Diagnostic:
    key, parent = _key(tree, loc), _parent(tree, loc)
    if key is not None and _is_cut_off(key, parent):
        first = next(name for name in parent if _is_cut_off(name, parent))
        message = f"a comma ends the text before `{_short(first)}`"
        way_out = "inside `{…}`, put a text or formula that holds a comma in quotes"
        return Diagnostic("CG201", message, first.span, way_out)
    legal = _legal_keys(loc[:-1])
    way_out = did_you_mean(str(loc[-1]), legal) or f"keys here: {known_names(legal, 20)}"
    return Diagnostic(
        "CG201", f"unknown key `{_short(str(loc[-1]))}`", key.span if key is not None else span, way_out
    )


def _is_cut_off(key: Scalar, node: Map) -> bool:
    """Say whether a key is what a comma cut off a text: it has no value, and no colon follows it."""
    span = key.span
    return node[key] is None and not span.source.line(span.end_line)[span.end_column - 1 :].lstrip().startswith(":")


def _needed(loc: tuple[int | str, ...], kind: str, node: Node) -> tuple[str, str]:
    """Return what should stand at a place, and how to write it."""
    key = next((part for part in reversed(loc) if isinstance(part, str) and part.isidentifier()), "key")
    if kind in ("missing", "too_short", "too_long") or (kind == "tuple_type" and "range" in loc):
        return "a list `[low, high]`", f"write `{key}: [1, 2]`"
    if kind == "tuple_type":
        return "a list", f"write `{key}: [{_short(node) if isinstance(node, Scalar) else 'a, b'}]`"
    if loc[0] == "quantities" and len(loc) == 2 and isinstance(node, Scalar):
        return "a mapping of keys", f"write `{loc[1]}: {{value: {_short(node)}}}`"
    if kind in ("model_type", "model_attributes_type", "dict_type"):
        return (
            "a mapping of keys",
            "write its keys on lines of their own below, indented, or as `{key: value}`",
        )
    return (
        "a text or a number",
        "write one text or number" if node is not None else "fill it in, or remove the line",
    )


def _count(node: Seq) -> str:
    return "one entry" if len(node) == 1 else f"{len(node)} entries"


def _walk(tree: Map, loc: tuple[int | str, ...]) -> tuple[Node, Span, str]:
    """Return the node at a location, the place to point at, and words for it."""
    node: Node = tree
    span, what = tree.span, "the file"
    for part in loc:
        if isinstance(node, Map) and part in node:
            found = node.written[str(part)]
            node, span, what = node[found], found.span, f"`{part}`"
        elif isinstance(node, Seq) and isinstance(part, int) and part < len(node):
            node, what = node[part], f"entry {part + 1} of {what}"
            span = node.span if isinstance(node, Map) else span
        if isinstance(node, Seq | Scalar):
            span = node.span
    return node, span, what


def _parent(tree: Map, loc: tuple[int | str, ...]) -> Map:
    """Return the mapping that holds the key at the end of a location."""
    node: Node = tree
    for part in loc[:-1]:
        if isinstance(node, Map) and part in node:
            node = node[Scalar(str(part))]
        elif isinstance(node, Seq) and isinstance(part, int):
            node = node[part]
    return node if isinstance(node, Map) else tree


def _key(tree: Map, loc: tuple[int | str, ...]) -> Scalar | None:
    return _parent(tree, loc).written.get(str(loc[-1]))


def _type_at(loc: tuple[int | str, ...]) -> Any:
    """Follow a location through the declarations to the type that stands there."""
    current: Any = FileDecl
    for part in loc:
        current = _unwrap(current)
        if isinstance(current, type) and issubclass(current, BaseModel):
            field = _fields(current).get(str(part))
            current = field.annotation if field else Any
        elif typing.get_origin(current) is dict:
            current = typing.get_args(current)[1]
        elif typing.get_origin(current) is tuple:
            current = typing.get_args(current)[0]
    return _unwrap(current)


def _fields(model: type[BaseModel]) -> dict[str, typing.Any]:
    """Return a declaration's fields by the key that a file writes."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _unwrap(annotation: Any) -> Any:
    if typing.get_origin(annotation) in (types.UnionType, typing.Union):
        inner = [arg for arg in typing.get_args(annotation) if arg is not type(None)]
        return _unwrap(next((arg for arg in inner if arg is not Scalar), inner[0]))
    if typing.get_origin(annotation) is typing.Annotated:
        return _unwrap(typing.get_args(annotation)[0])
    return annotation


def _legal_keys(loc: tuple[int | str, ...]) -> tuple[str, ...]:
    current = _type_at(loc)
    return tuple(_fields(current)) if isinstance(current, type) and issubclass(current, BaseModel) else ()


def _shape(node: Node) -> str:
    return "a mapping" if isinstance(node, Map) else "a list" if isinstance(node, Seq) else "a single text"


def _shown(node: Node) -> str:
    if isinstance(node, Scalar):
        return f"`{_short(node)}`"
    return "empty" if node is None else _shape(node)


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}…"
