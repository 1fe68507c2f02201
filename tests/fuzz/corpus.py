"""The shipped models as texts, and the pieces that mutations are made of.

In: the folder of the models → Out: files by name, and every formula, unit, name and key in them.
Invariant: read once a process; the same order on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import yaml

from capgraph.join import shipped_models
from capgraph.resources import models_root

Files = dict[str, str]
"""The files of one model by their path in its folder; a lone surrogate stands for a byte that is no UTF-8."""

FORMULA_KEYS = frozenset({"formula", "condition", "when"})


@dataclass(frozen=True, slots=True)
class Pieces:
    """What the shipped models hold, to be put where it does not belong."""

    formulas: tuple[str, ...]
    units: tuple[str, ...]
    names: tuple[str, ...]
    keys: tuple[str, ...]


@cache
def models() -> Mapping[str, Mapping[str, str]]:
    """Return the files of every shipped model."""
    return {name: _files(name) for name in shipped_models()}


def _files(name: str) -> Mapping[str, str]:
    folder = models_root() / name
    return {
        path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in sorted(folder.rglob("*.yaml"))
    }


@cache
def measurements() -> tuple[str, ...]:
    """Return the files of measurements beside the models: a compiler only looks whether they are there."""
    folders = [models_root() / name for name in shipped_models()]
    return tuple(path.relative_to(folder).as_posix() for folder in folders for path in sorted(folder.rglob("*.csv")))


@cache
def pieces() -> Pieces:
    """Return the formulas, units, names and keys of all shipped models."""
    pairs = [
        pair
        for files in models().values()
        for text in files.values()
        for node in nodes(text)
        if isinstance(node, yaml.MappingNode)
        for pair in node.value
    ]
    keys = dict.fromkeys(key.value for key, _ in pairs if isinstance(key, yaml.ScalarNode))

    def under(wanted: frozenset[str]) -> tuple[str, ...]:
        found = (value for key, value in pairs if is_text(key) and key.value in wanted)
        return tuple(dict.fromkeys(value.value for value in found if is_text(value)))

    names = tuple(key for key in keys if key.isidentifier())
    return Pieces(under(FORMULA_KEYS), under(frozenset({"unit"})), names, tuple(keys))


def nodes(text: str) -> tuple[yaml.Node, ...]:
    """Return every node of a text in reading order; none where it is no YAML."""
    try:
        root = yaml.compose(text, yaml.CBaseLoader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return ()
    return tuple(_walk(root)) if root is not None else ()


def _walk(root: yaml.Node) -> Iterator[yaml.Node]:
    pending, seen = [root], set[int]()
    while pending:
        node = pending.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        if isinstance(node, yaml.MappingNode):
            pending.extend(part for pair in reversed(node.value) for part in reversed(pair))
        elif isinstance(node, yaml.SequenceNode):
            pending.extend(reversed(node.value))


def is_text(node: yaml.Node) -> bool:
    """Say whether a node is a scalar."""
    return isinstance(node, yaml.ScalarNode)
