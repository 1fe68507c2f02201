"""Live sentences: a plan's message in → formulas that write it with the active scenario's numbers.

Invariant: the text equals `capgraph.message.write_message`. Numbers are written by FIXED, not TEXT: a format
code such as `#,##0.0` means something else in a German Excel, FIXED does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from capgraph.emit.xlsx.formula import literal, print_excel
from capgraph.emit.xlsx.references import ByName
from capgraph.formula.tree import Reference
from capgraph.message import unit_suffix
from capgraph.model import Choose
from capgraph.plan import Figure, Message

LONGEST_FORMULA = 8_000
_LONGEST_PART = 2_000


@dataclass(frozen=True, slots=True)
class Sentence:
    """A stretch of a message, and the formula that writes it."""

    message: Message
    formula: str


def sentences(message: Message, spelling: ByName) -> tuple[Sentence, ...]:
    """Write a message as few formulas, one after the other, each short enough for a spreadsheet."""
    made: list[Sentence] = []
    parts: list[str | Figure] = []
    written: list[str] = []
    for part in _in_pieces(message):
        text = literal(part) if isinstance(part, str) else _figure(part, spelling)
        if written and len("&".join((*written, text))) > LONGEST_FORMULA:
            made.append(Sentence(tuple(parts), "&".join(written)))
            parts, written = [], []
        parts.append(part)
        written.append(text)
    return (*made, Sentence(tuple(parts), "&".join(written) or literal("")))


def _in_pieces(message: Message) -> Iterator[str | Figure]:
    for part in message:
        if isinstance(part, Figure):
            yield part
        else:
            yield from (part[start : start + _LONGEST_PART] for start in range(0, len(part), _LONGEST_PART))


def _figure(figure: Figure, spelling: ByName) -> str:
    if isinstance(figure.expr, Reference):
        written = _plain(figure.expr.name, spelling)
        if written is not None:
            return written
        if spelling.missing(figure.expr.name):
            name = spelling.quantity(figure.expr.name)
            return f"IF(ISNUMBER({name}),{_number(name, figure)},{literal('n/a')})"
    return _number(print_excel(figure.expr, spelling), figure)


def _number(formula: str, figure: Figure) -> str:
    # Rounded first: some engines write a small negative number as "-0.0".
    fixed = f"FIXED(ROUND({formula},{figure.decimals}),{figure.decimals})"
    suffix = unit_suffix(figure.unit)
    return f"{fixed}&{literal(suffix)}" if suffix else fixed


def _plain(name: str, spelling: ByName) -> str | None:
    """Write a choice, a text or a yes/no; nothing for a number."""
    plan, written = spelling.layout.plan, spelling.quantity(name)
    quantity = plan.model.quantities[name]
    if isinstance(quantity.definition, Choose):
        if quantity.definition.catalog is None:
            return written
        names = spelling.layout.names["column", quantity.definition.catalog, "name"]
        return f"INDEX({names},{spelling.place(('pick', name))})"
    if spelling.domains.fetched.get(name) == "text":
        return written
    if quantity.unit is not None:
        return None
    flag = f"IF({written},{literal('yes')},{literal('no')})"
    return f"IF(ISLOGICAL({written}),{flag},{literal('n/a')})" if spelling.missing(name) else flag
