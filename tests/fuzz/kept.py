"""Files that a mutation left alone are read once a process, not once a case.

In: nothing → Out: a compiler that keeps what it read of the texts of the shipped models.
Invariant: a mutated file is read anew; what is kept is frozen, so that no case sees another's.
"""

from __future__ import annotations

from collections.abc import Mapping
from unittest.mock import patch

from capgraph import decode, join, yamltree
from capgraph.declarations import FileDecl
from capgraph.diagnostics import Diagnostic, Source, Span
from capgraph.yamltree import Node


def keep_what_is_read(models: Mapping[str, Mapping[str, str]]) -> None:
    """Let the compiler of this process, and of those forked from it, read each text of the shipped models once."""
    shipped = {text for files in models.values() for text in files.values()}
    trees: dict[Source, tuple[Node, tuple[Diagnostic, ...]]] = {}
    declared: dict[int, tuple[FileDecl | None, tuple[Diagnostic, ...]]] = {}

    def read_once(source: Source) -> tuple[Node, tuple[Diagnostic, ...]]:
        if source.text not in shipped:
            return yamltree.read(source)
        if source not in trees:
            trees[source] = yamltree.read(source)
        return trees[source]

    def decode_once(tree: Node, start: Span) -> tuple[FileDecl | None, tuple[Diagnostic, ...]]:
        if start.source not in trees:
            return decode.decode(tree, start)
        if id(tree) not in declared:
            declared[id(tree)] = decode.decode(tree, start)
        return declared[id(tree)]

    patch.object(join, "read", read_once).start()
    patch.object(join, "decode", decode_once).start()
