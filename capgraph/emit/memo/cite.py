"""Which line of the memo derives a quantity, and how text cites it.

In: the plan and the selected scenario's result → Out: `Citations`, which makes figures and cited lines.
Invariant: every anchor that a figure or a line names is written exactly once by the templates: steps `step-…`,
inputs `input-…`, catalog facts `fact-…`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from capgraph.emit.memo.pieces import Figure, Line, Piece, Place, Rest
from capgraph.formula.tree import references
from capgraph.model import Choose, Formula, Lookup, Quantity, Value
from capgraph.notation import show_given, show_in_prose
from capgraph.plan import Message, Plan
from capgraph.results import ScenarioResult

# What follows `over` is a sweep, even where a quantity has its name.
_NAME = re.compile(r"""("[^"]*"|'[^']*'|\bover \w+)|([A-Za-z_][^\W⁰¹²³⁴⁵⁶⁷⁸⁹]*(?:\.[^\W⁰¹²³⁴⁵⁶⁷⁸⁹]+)?)""")
_SHORT_CONDITION = 76
_SHORT_NAME = 30
_SIGNS = {" * ": " × ", " / ": " ÷ ", " - ": " − ", "<=": "≤", ">=": "≥", "<>": "≠"}


@dataclass(frozen=True, slots=True)
class Citations:
    """The places of all quantities of a memo, and the result that its figures are taken from."""

    plan: Plan
    result: ScenarioResult
    measured: frozenset[str]
    places: Mapping[str, Place]
    rests: Mapping[str, Rest] = field(default_factory=dict)

    def figure(self, quantity: str, as_given: bool = False) -> Figure:
        """Return a quantity's value in the selected scenario, with its place."""
        place = self.places.get(quantity, Place("", ""))
        entry = self.plan.model.quantities[quantity]
        value = self.result.values.get(quantity)
        text = show(self.plan, entry, value, as_given)
        return Figure(
            quantity, entry.label, text, exact(value), place.anchor, place.mark, entry.provenance.because,
            quantity in self.measured, self.rests.get(quantity),
        )  # fmt: skip

    def formula(self, text: str) -> Line:
        """Return a formula's text with every quantity in it cited, and typographic signs."""
        pieces: list[Piece] = []
        end = 0
        for found in _NAME.finditer(text):
            name = found[2]
            if name and name in self.places:
                pieces.append(Piece(typeset(text[end : found.start()])))
                pieces.append(self._cited(name, name))
                end = found.end()
        return tuple(piece for piece in (*pieces, Piece(typeset(text[end:]))) if piece.text)

    def condition(self, text: str) -> Line:
        """Return a condition as `formula` does, with labels in place of ids where that stays short.

        It breaks at operators alone: the blanks of a name hold together.
        """
        line = self.formula(text)
        named = tuple(
            replace(piece, text=self._label(piece.text)) if piece.anchor else piece for piece in line
        )
        short = sum(len(piece.text) for piece in named) <= _SHORT_CONDITION
        return named if short and all(len(piece.text) <= _SHORT_NAME for piece in named) else line

    def _label(self, quantity: str) -> str:
        """Return a label that stays in one line; a statement, which may be true or not, in quotation marks."""
        entry = self.plan.model.quantities[quantity]
        label = entry.label.replace(" ", "\u00a0")
        return label if entry.unit else f"“{label}”"

    def message(self, message: Message, shown: str) -> Line:
        """Return a message as the evaluator wrote it, its figures cited.

        The texts between the figures are found in order; where that fails the message stays one plain piece.
        """
        pieces: list[Piece] = []
        place = 0
        for number, part in enumerate(message):
            if isinstance(part, str):
                if not shown.startswith(part, place):
                    return (Piece(shown),)
                pieces.append(Piece(part))
                place += len(part)
                continue
            end = _next_text(message[number + 1 :], shown, place)
            if end < 0:
                return (Piece(shown),)
            names = references(part.expr)
            text = shown[place:end]
            pieces.append(self._cited(names[0].name, text) if names else Piece(text))
            place = end
        return tuple(pieces) if place == len(shown) else (Piece(shown),)

    def _cited(self, quantity: str, text: str) -> Piece:
        place = self.places.get(quantity, Place("", ""))
        return Piece(text, place.anchor, place.mark)


def _next_text(rest: Message, shown: str, place: int) -> int:
    following = next((part for part in rest if isinstance(part, str) and part), None)
    return len(shown) if following is None else shown.find(following, place)


def typeset(text: str) -> str:
    """Write the signs of the formula language as a book does."""
    for plain, sign in _SIGNS.items():
        text = text.replace(plain, sign)
    return text


def exact(value: Value | None) -> str:
    """Return a value for programs: the evaluator's own digits."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else repr(float(value))


def show(plan: Plan, quantity: Quantity, value: Value | None, as_given: bool = False) -> str:
    """Write a quantity's value for people; a choice by the name of the row that it takes."""
    definition = quantity.definition
    if isinstance(definition, Choose) and definition.catalog is not None and isinstance(value, str):
        row = plan.model.catalogs[definition.catalog].rows.get(value)
        return row.name if row else value
    write = show_given if as_given else show_in_prose
    return write(value, quantity.unit_text)


def column_name(plan: Plan, column: str) -> str:
    """Return what a column of measurements is called: the label of the quantity that it sets, else its own name."""
    entry = plan.model.quantities.get(column)
    return entry.label if entry else column


def group_name(plan: Plan, column: str, group: str) -> str:
    """Return what a group of measurements is called: the row that a choice takes, else the text in the file."""
    entry = plan.model.quantities.get(column)
    return show(plan, entry, group) if entry and group else group or "not said"


def cite(
    plan: Plan,
    result: ScenarioResult,
    scenario: str,
    shown: frozenset[str],
    rests: Mapping[str, Rest] | None = None,
) -> Citations:
    """Number the computed quantities and catalog facts of `shown` and all inputs, in the model's reading order."""
    quantities = plan.model.quantities
    known = {step.id for step in plan.steps}
    ordered = tuple(item for item in in_reading_order(plan) if item.id in known)
    settings = plan.model.scenarios[scenario].settings
    measured = frozenset(name for name in settings if isinstance(quantities[name].definition, Formula))
    places: dict[str, Place] = {}
    steps = [item.id for item in ordered if isinstance(item.definition, Formula) and item.id in shown]
    places |= {name: Place(f"step-{name}", str(number)) for number, name in enumerate(steps, 1)}
    inputs = [item.id for item in ordered if item.is_input]
    places |= {name: Place(f"input-{name}", f"A{number}") for number, name in enumerate(inputs, 1)}
    facts = [item.id for item in ordered if isinstance(item.definition, Lookup) and item.id in shown]
    places |= {name: Place(f"fact-{name}", f"F{number}") for number, name in enumerate(facts, 1)}
    return Citations(plan, result, measured, places, rests or {})


def in_reading_order(plan: Plan) -> tuple[Quantity, ...]:
    """Return the quantities section by section, as declared."""
    rank = {section: number for number, section in enumerate(plan.model.sections)}
    return tuple(sorted(plan.model.quantities.values(), key=lambda item: rank.get(item.section, len(rank))))
