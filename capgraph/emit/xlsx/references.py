"""How formulas name things where they stand: a layout in → spellings for the active column and for the
scenarios' columns.

Invariant: the active column names everything by defined names; a scenario's column reads its own column
alone, so one formula, copied across, serves a whole row.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from openpyxl.utils import get_column_letter

from capgraph.emit.xlsx.formula import Kind
from capgraph.emit.xlsx.layout import ACTIVE, INPUTS, SWEEPS, Key, Layout
from capgraph.emit.xlsx.names import quoted
from capgraph.emit.xlsx.reductions import reduction_formula
from capgraph.emit.xlsx.swept import Swept
from capgraph.formula.tree import Reduce
from capgraph.model import Choose
from capgraph.plan import Fetch, Plan

COLUMN = "\x01"
"""Stands for the letter of a column in a formula that is printed once for all of them."""


@dataclass(frozen=True)
class Domains:
    """What quantities may hold, as far as comparing and guarding them goes."""

    plan: Plan

    @cached_property
    def fetched(self) -> dict[str, Kind]:
        """Return what each fetched field holds."""
        catalogs = self.plan.model.catalogs
        fetches = (step for step in self.plan.steps if isinstance(step, Fetch))
        return {step.id: catalogs[step.catalog].fields[step.field].kind for step in fetches}

    def missing(self, name: str) -> Kind | None:
        """Return what a fetched field holds; a missing text is an error where it is fetched."""
        kind = self.fetched.get(name)
        return None if kind == "text" else kind

    def exact(self, name: str) -> bool:
        """Say whether case may tell two of a quantity's texts apart: text fields, and choices that are that near."""
        quantity = self.plan.model.quantities.get(name)
        if quantity is not None and isinstance(quantity.definition, Choose):
            options = quantity.definition.options
            return len({option.casefold() for option in options}) < len(set(options))
        return self.fetched.get(name) == "text"


@dataclass(frozen=True)
class ByName:
    """The active column: everything by its defined name."""

    layout: Layout
    domains: Domains

    def quantity(self, name: str) -> str:
        """Return a quantity's defined name."""
        return self.layout.names["step", name]

    def place(self, key: Key) -> str:
        """Return the defined name of an auxiliary row."""
        return self.layout.names[key]

    def constant(self, name: str) -> str:
        """Return a conversion's defined name."""
        return self.layout.names["constant", name]

    def missing(self, name: str) -> Kind | None:
        """Return what a quantity holds if it may hold "n/a" instead."""
        return self.domains.missing(name)

    def exact(self, name: str) -> bool:
        """Say whether case may tell two of the quantity's texts apart."""
        return self.domains.exact(name)

    def reduced(self, node: Reduce) -> str:
        """Return a reduction over the active column of its sweep."""
        return reduction_formula(
            node, self.layout.sweeps[node.sweep], quoted(SWEEPS), f"${get_column_letter(ACTIVE)}"
        )


@dataclass(frozen=True)
class InColumn(ByName):
    """A scenario's column on one sheet: everything by its cell in that column."""

    title: str
    letter: str = COLUMN

    def quantity(self, name: str) -> str:
        """Return a quantity's cell in this column."""
        return self.place(("step", name))

    def place(self, key: Key) -> str:
        """Return an auxiliary row's cell in this column."""
        title, row = self.layout.home(key)
        cell = f"{self.letter}{row}"
        return cell if title == self.title else f"{quoted(title)}!{cell}"

    def reduced(self, node: Reduce) -> str:
        """Return a reduction over this column of its sweep."""
        return reduction_formula(node, self.layout.sweeps[node.sweep], quoted(SWEEPS), self.letter)

    def given(self, key: Key) -> tuple[str, str]:
        """Return the cells on Inputs that hold a key's override in this scenario, and its base value."""
        row = self.layout.rows[INPUTS][key]
        sheet = quoted(INPUTS)
        return f"{sheet}!{self.letter}{row}", f"{sheet}!$E{row}"


@dataclass(frozen=True)
class AtPoint(ByName):
    """A column at one point of a sweep: what moves by its cell at that point, the rest as outside the sweep."""

    outer: ByName
    letter: str
    swept: Swept
    offset: int

    def quantity(self, name: str) -> str:
        """Return a quantity's cell at this point, or what it is outside."""
        return self.place(("step", name))

    def place(self, key: Key) -> str:
        """Return an auxiliary row's cell at this point, or what it is outside."""
        kind, name = key
        if (kind, name) in self.swept.blocks:
            return f"{self.letter}{self.swept.blocks[kind, name] + self.offset}"
        if not isinstance(self.outer, InColumn):
            return self.outer.place(key)
        title, row = self.layout.home(key)
        return f"{quoted(title)}!{self.letter}${row}"

    def reduced(self, node: Reduce) -> str:
        """Return a reduction over another sweep, which does not move with this one."""
        return self.outer.reduced(node)
