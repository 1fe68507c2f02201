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
        found_all = (
            _diagnostic(tree, detail) for detail in error.errors(include_url=False, include_context=True)
        )
        return None, _once_a_place(found_all)


def _once_a_place(found: typing.Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    # A union reports each of its members; the first says enough.
    kept: dict[str, Diagnostic] = {}
    for item in found:
        kept.setdefault(f"{item.span} {item.code == 'CG202' and item.message}", item)
    return tuple(kept.values())


def _diagnostic(tree: Map, detail: ErrorDetails) -> Diagnostic:
    loc, kind = detail["loc"], detail["type"]
    node, span, key = _walk(tree, loc)
    if kind == "extra_forbidden":
        legal = _legal_keys(loc[:-1])
        help_text = did_you_mean(str(key), legal) or f"keys here: {known_names(legal, 20)}"
        return Diagnostic("CG201", f"unknown key `{key}`", _key_span(tree, loc) or span, help_text)
    if kind == "missing":
        return Diagnostic("CG202", f"`{key}` lacks the key `{loc[-1]}`", span, f"add `{loc[-1]}: …`")
    if kind == "literal_error":
        expected = str((detail.get("ctx") or {}).get("expected", ""))
        return Diagnostic("CG204", f"`{key}` is {_shown(node)}; needed is {expected}", span)
    needed = _NEEDED.get(kind, "a text or a number")
    if kind in ("too_short", "too_long", "tuple_type") or (
        isinstance(node, Seq) and "tuple" in str(_type_at(loc))
    ):
        needed = "a list `[low, high]`" if loc[-1] == "range" or "range" in loc else "a list"
    return Diagnostic("CG203", f"`{key}` is {_shown(node)}; needed is {needed}", span)


_NEEDED = {
    "model_type": "a mapping of keys",
    "model_attributes_type": "a mapping of keys",
    "dict_type": "a mapping of keys",
    "tuple_type": "a list",
    "missing_argument": "a list `[low, high]`",
}


def _walk(tree: Map, loc: tuple[int | str, ...]) -> tuple[Node, Span, str]:
    """Return the node at a location, the place to point at, and the last key that names it."""
    node: Node = tree
    span, key = tree.span, "the file"
    for part in loc:
        if isinstance(node, Map) and part in node:
            found = next(name for name in node if name == part)
            node, span, key = node[found], found.span, str(part)
        elif isinstance(node, Seq) and isinstance(part, int) and part < len(node):
            node = node[part]
        elif isinstance(node, Map) and part == "rows":
            continue
        elif isinstance(part, str) and part == loc[-1] and not isinstance(node, Map):
            key = key if "[" in part or part in ("Scalar", "tuple") else str(part)
        if isinstance(node, Map | Seq | Scalar) and not isinstance(node, Map):
            span = getattr(node, "span", span)
    return node, span, key


def _key_span(tree: Map, loc: tuple[int | str, ...]) -> Span | None:
    node: Node = tree
    for part in loc[:-1]:
        if isinstance(node, Map):
            node = node.get(part, node) if part != "rows" or "rows" in node else node  # type: ignore[call-overload]
        elif isinstance(node, Seq) and isinstance(part, int):
            node = node[part]
    if isinstance(node, Map):
        return next((name.span for name in node if name == loc[-1]), None)
    return None


def _type_at(loc: tuple[int | str, ...]) -> Any:
    """Follow a location through the declarations to the type that stands there."""
    current: Any = FileDecl
    for part in loc:
        current = _unwrap(current)
        if isinstance(current, type) and issubclass(current, BaseModel):
            field = current.model_fields.get(str(part))
            current = field.annotation if field else Any
        elif typing.get_origin(current) is dict:
            current = typing.get_args(current)[1]
        elif typing.get_origin(current) is tuple:
            current = typing.get_args(current)[0]
    return _unwrap(current)


def _unwrap(annotation: Any) -> Any:
    if typing.get_origin(annotation) in (types.UnionType, typing.Union):
        inner = [arg for arg in typing.get_args(annotation) if arg is not type(None)]
        return _unwrap(next((arg for arg in inner if arg is not Scalar), inner[0]))
    if typing.get_origin(annotation) is typing.Annotated:
        return _unwrap(typing.get_args(annotation)[0])
    return annotation


def _legal_keys(loc: tuple[int | str, ...]) -> tuple[str, ...]:
    current = _type_at(loc)
    return tuple(current.model_fields) if isinstance(current, type) and issubclass(current, BaseModel) else ()


def _shape(node: Node) -> str:
    return "a mapping" if isinstance(node, Map) else "a list" if isinstance(node, Seq) else "a single text"


def _shown(node: Node) -> str:
    if isinstance(node, Scalar):
        return f"`{node}`" if len(node) <= 40 else "a long text"
    return "empty" if node is None else _shape(node)
