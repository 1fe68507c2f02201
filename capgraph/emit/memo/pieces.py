"""The pieces that the parts of a memo are made of: texts with marks, places that can be cited, figures.

In: nothing → Out: the frozen types that views hold and macros write.
Invariant: a figure that can be derived has the place of its step.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text; with `anchor`, it names a quantity whose line in the memo that is."""

    text: str
    anchor: str = ""
    mark: str = ""


Line = tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a line of the memo stands, and the number that it carries there."""

    anchor: str
    mark: str


@dataclass(frozen=True, slots=True)
class Rest:
    """What a number rests on: `measured`, `fitted` or `assumed`; the fits, and all of it in words."""

    kind: str
    fits: tuple[Place, ...]
    told: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A shown value: `text` for people, `exact` as the evaluator has it, and the line that derives it."""

    quantity: str
    label: str
    text: str
    exact: str
    anchor: str
    mark: str
    because: str
    measured: bool = False
    rests: Rest | None = None
