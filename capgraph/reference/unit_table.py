"""`units.txt` as a table: every prefix and unit with its other spellings and what it is.

In: the definitions that pint reads → Out: `Prefix` and `UnitEntry`, in the order of the file.
Invariant: sizes come from `parse_unit`, so the table says what the compiler calculates with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from capgraph.units import DEFINITIONS, Terms, parse_unit

_LINE = re.compile(r"([\w%]+-?)\s*=\s*(.+)")


@dataclass(frozen=True, slots=True)
class Prefix:
    """A prefix: its name, its symbols and what it multiplies by."""

    name: str
    symbols: tuple[str, ...]
    factor: str


@dataclass(frozen=True, slots=True)
class UnitEntry:
    """A unit: `definition` is empty for a base unit; `group` is what the file says of the units around it."""

    name: str
    symbols: tuple[str, ...]
    group: str
    definition: str
    size: Fraction
    dimension: Terms

    @property
    def meaning(self) -> str:
        """Say what the unit is in words."""
        if not self.dimension and not self.definition:
            return "a plain number"
        return self.definition or "a dimension of its own"


def prefixes() -> tuple[Prefix, ...]:
    """Return the prefixes, the smallest factor first among the decimal and the binary ones."""
    return tuple(
        Prefix(name.rstrip("-"), tuple(symbol.rstrip("-") for symbol in symbols), definition)
        for _, name, definition, symbols in _definitions()
        if name.endswith("-")
    )


def units() -> tuple[UnitEntry, ...]:
    """Return the units."""
    return tuple(
        _unit(group, name, definition, symbols)
        for group, name, definition, symbols in _definitions()
        if not name.endswith("-")
    )


def _unit(group: str, name: str, definition: str, symbols: tuple[str, ...]) -> UnitEntry:
    # `percent` is written `%` in a unit; pint allows no sign in a name.
    shown, symbols = ("%", (name, *symbols)) if name == "percent" else (name, symbols)
    known = parse_unit(name)
    told = "" if definition.startswith("[") else definition
    return UnitEntry(shown, symbols, group, told, known.size, known.dimension)


def _definitions() -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
    """Yield the comment above a definition, then its name, what it is and its other spellings."""
    comment: list[str] = []
    is_open = False
    for line in DEFINITIONS.read_text("utf-8").splitlines():
        if line.startswith("#"):
            comment = [*(comment if is_open else []), line.lstrip("# ")]
            is_open = True
        elif found := _LINE.match(line):
            is_open = False
            definition, *symbols = (part.strip() for part in found[2].split("="))
            yield " ".join(comment), found[1], definition, tuple(symbols)
        else:
            is_open = False
