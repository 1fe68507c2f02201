"""Formula text → tokens with their offsets.

In: the raw scalar of a formula → Out: tokens, the last of kind `end`; raises FormulaError.
Invariant: offsets count characters of the scalar, so that every message points at the very characters.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["number", "name", "text", "op", "end"]

# A text keeps its quotes, so that none is ever one of these.
WORDS = frozenset({"and", "or", "not", "true", "false"})
_PATTERN = re.compile(
    r"""\s*(?:
      (?P<number>(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9]+)?\s?%?)
    | (?P<name>[^\W\d]\w*(?:\.[^\W\d]\w*)?)
    | (?P<text>"[^"]*"|'[^']*')
    | (?P<op><=|>=|<>|!=|==|\*\*|[-+*/^()<>=,])
    )""",
    re.VERBOSE,
)


class FormulaError(Exception):
    """A formula that cannot be read: a diagnostic code, a message, offsets of the place, and the way out."""

    def __init__(self, code: str, message: str, first: int, last: int, help_text: str = "") -> None:
        super().__init__(message)
        self.code, self.message, self.first, self.last, self.help = code, message, first, last, help_text


@dataclass(frozen=True, slots=True)
class Token:
    """A token: `first`..`last` are its offsets, `last` exclusive; `sign` is its text if it is an operator or a word."""

    kind: Kind
    text: str
    first: int
    last: int
    sign: str = ""


_SPELLINGS = {"!=": "<>", "==": "=", "**": "^"}
# What people write for an operator, and what it is called here.
_STRANGERS = {
    "&": "and", "|": "or", "!": "not", "≤": "<=", "≥": ">=", "≠": "<>",
    "×": "*", "·": "*", "÷": "/", "−": "-", "–": "-",
    "[": "(", "]": ")", "{": "(", "}": ")", ";": ",",
}  # fmt: skip


def _stranger(text: str, first: int, end: int) -> FormulaError:
    """Say what a character is that no token begins with."""
    char = text[first]
    if char in "\"'":
        return FormulaError("CG405", "a text is not closed", first, end, f"add `{char}`")
    known = _STRANGERS.get(char)
    help_text = f"write `{known}`" if known else "formulas hold numbers, names, + - * / ^ ( ) and comparisons"
    return FormulaError("CG405", f"`{char}` has no meaning in a formula", first, first + 1, help_text)


def tokenize(text: str) -> tuple[Token, ...]:
    """Split a formula. Raises FormulaError."""
    tokens: list[Token] = []
    place = 0
    end = len(text.rstrip())
    while place < end:
        found = _PATTERN.match(text, place, end)
        if not found:
            first = place + len(text[place:]) - len(text[place:].lstrip())
            raise _stranger(text, first, end)
        kind: Kind = found.lastgroup  # type: ignore[assignment]
        first, last = found.span(kind)
        if (spelled := _SPELLINGS.get(found[kind])) is not None:
            raise FormulaError(
                "CG405", f"`{found[kind]}` is not an operator here", first, last, f"write `{spelled}`"
            )
        written = found[kind].rstrip()
        sign = written if kind == "op" or written in WORDS else ""
        tokens.append(Token(kind, written, first, first + len(written), sign))
        place = last
    tokens.append(Token("end", "", end, end + 1))
    return tuple(tokens)
