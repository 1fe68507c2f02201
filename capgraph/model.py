"""The model with every name bound: what `resolve` makes of the declarations.

In: nothing → Out: the frozen types that `graph`, `check` and the emitters read.
Invariant: every id that a formula, scenario, message or report names exists; entries keep their origin.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from capgraph.diagnostics import Severity, Span
from capgraph.formula.tree import Expr
from capgraph.units import Symbol, Unit

Value = float | bool | str
"""A number in its quantity's unit, a yes/no, or the option that a choice takes."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Who says so, when, why, and where it was written."""

    origin: Span
    because: str = ""
    source: str = ""
    as_of: str = ""


@dataclass(frozen=True, slots=True)
class Limits:
    """Numbers in the quantity's unit: `low`..`high` the stated range, `minimum`..`maximum` the hard limits."""

    low: float | None = None
    high: float | None = None
    minimum: float | None = None
    maximum: float | None = None


@dataclass(frozen=True, slots=True)
class Given:
    """An input: a number in the quantity's unit, or a yes/no."""

    value: float | bool


@dataclass(frozen=True, slots=True)
class Choose:
    """An input that takes one row of a catalog, or one of an inline list when `catalog` is None."""

    catalog: str | None
    options: tuple[str, ...]
    default: str


@dataclass(frozen=True, slots=True)
class Formula:
    """A computed quantity: the formula as written and its tree."""

    text: str
    expr: Expr


@dataclass(frozen=True, slots=True)
class Lookup:
    """The value of a catalog field in the row that a choice takes; its id is `choice.field`."""

    choice: str
    catalog: str
    field: str


Definition = Given | Choose | Formula | Lookup


@dataclass(frozen=True, slots=True)
class Quantity:
    """One named number, yes/no or choice of the model. `unit` is None for a yes/no, a choice and a text."""

    id: str
    label: str
    section: str
    unit: Unit | None
    definition: Definition
    limits: Limits
    provenance: Provenance

    @property
    def is_input(self) -> bool:
        """Say whether a reader may set it: a given value or a choice."""
        return isinstance(self.definition, Given | Choose)

    @property
    def unit_text(self) -> str:
        """Return the unit as written, empty for a yes/no, a choice or a text."""
        return self.unit.text if self.unit else ""


@dataclass(frozen=True, slots=True)
class Field:
    """A column of a catalog. `kind` says what its cells hold; only a number has a unit.

    `default` stands in the rows that do not give the field; two rows of three are `expected` between its ends.
    """

    id: str
    label: str
    kind: Literal["number", "text", "yes/no"]
    unit: Unit | None
    limits: Limits
    origin: Span
    default: Value | None = None
    expected: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a catalog: values by field id, in the field's unit; a field it lacks is absent."""

    id: str
    name: str
    values: Mapping[str, Value]
    provenance: Provenance
    note: str = ""
    unverified: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Catalog:
    """A table of facts that choices pick rows from."""

    id: str
    label: str
    fields: Mapping[str, Field]
    rows: Mapping[str, Row]
    origin: Span


@dataclass(frozen=True, slots=True)
class Setting:
    """What a scenario or a lever sets one quantity to. A set formula is an override by a measured value."""

    value: Value
    origin: Span


@dataclass(frozen=True, slots=True)
class Scenario:
    """Settings over the base values. `settings` are all that hold, `own` the ids that it sets itself."""

    id: str
    label: str
    settings: Mapping[str, Setting]
    own: tuple[str, ...]
    provenance: Provenance


@dataclass(frozen=True, slots=True)
class Sweep:
    """The values that one input runs through, in order and in its unit; `shows` are the curves to draw."""

    id: str
    label: str
    over: str
    values: tuple[Value, ...]
    scale: Literal["linear", "log"]
    shows: tuple[str, ...]
    provenance: Provenance


@dataclass(frozen=True, slots=True)
class Slot:
    """A value inside a message: a quantity's number with `decimals`, converted to `unit`; or a choice's name."""

    quantity: str
    decimals: int
    unit: Unit | None
    span: Span


Message = tuple[str | Slot, ...]


@dataclass(frozen=True, slots=True)
class Check:
    """A condition that must hold, with a message that reads right whether it does or not."""

    id: str
    label: str
    condition: Expr
    text: str
    message: Message
    severity: Severity
    origin: Span


@dataclass(frozen=True, slots=True)
class Lever:
    """A named change of inputs, and the quantities it is meant to move."""

    id: str
    label: str
    settings: Mapping[str, Setting]
    shows: tuple[str, ...]
    provenance: Provenance


@dataclass(frozen=True, slots=True)
class Option:
    """One way to decide: its cost, its capacity-like figures, and what speaks against it."""

    id: str
    label: str
    cost: str | None
    shows: tuple[str, ...]
    because: str
    risk: str
    origin: Span


@dataclass(frozen=True, slots=True)
class Rule:
    """If `when` holds (None: always), `option` is the verdict and `headline` says it with numbers."""

    when: Expr | None
    text: str
    option: str
    headline: Message
    origin: Span


@dataclass(frozen=True, slots=True)
class Decision:
    """The question, the options, the ordered rules; the first rule that holds decides."""

    question: str
    target: str | None
    options: Mapping[str, Option]
    rules: tuple[Rule, ...]
    exceptions: tuple[Message, ...]
    policy: tuple[Message, ...]
    alerts: tuple[Message, ...]
    origin: Span


@dataclass(frozen=True, slots=True)
class Chart:
    """A stack of quantities of one unit that add up to `whole`, such as a memory budget."""

    id: str
    label: str
    parts: tuple[str, ...]
    whole: str | None


@dataclass(frozen=True, slots=True)
class Column:
    """What a column of a file of measurements means: it sets a quantity, or measures one.

    `unit` is that of its numbers, the quantity's own when None; `by` is the catalog field that a cell is looked up in.
    """

    id: str
    quantity: str
    measures: bool
    unit: Unit | None
    by: str | None
    origin: Span


@dataclass(frozen=True, slots=True)
class Fit:
    """Parameters that were fitted to measurements of `of`: fields of a catalog's row, or quantities (`row` is None).

    `parameters` holds the low and high end of each, in its unit; `error` is the mean absolute relative error; `where`
    says which rows of the data count, by the texts that columns hold; an empty `scenario` is the first one.
    """

    id: str
    of: str
    catalog: str | None
    row: str | None
    parameters: Mapping[str, tuple[float, float]]
    rows: int
    error: float
    date: str
    data: str
    sha256: str
    where: Mapping[str, tuple[str, ...]]
    scenario: str
    together: tuple[str, ...]
    """Quantities whose measurements were fitted to at the same time."""
    origin: Span


@dataclass(frozen=True, slots=True)
class Suspect:
    """Why a measurement may differ from the model: `settings` that were otherwise, and a number `vary` to look for.

    `limits` hold how far the number may plausibly go, and its hard limits; `check` says what to look at.
    """

    id: str
    label: str
    settings: Mapping[str, Setting]
    vary: str | None
    limits: Limits
    check: str
    shows: tuple[str, ...]
    provenance: Provenance


@dataclass(frozen=True, slots=True)
class Model:
    """Everything that is declared. `quantities` holds the lookups that formulas use, under `choice.field`."""

    id: str
    title: str
    description: str
    as_of: str
    sections: tuple[str, ...]
    quantities: Mapping[str, Quantity]
    catalogs: Mapping[str, Catalog]
    scenarios: Mapping[str, Scenario]
    sweeps: Mapping[str, Sweep]
    checks: Mapping[str, Check]
    levers: Mapping[str, Lever]
    charts: Mapping[str, Chart]
    columns: Mapping[str, Column]
    """What columns of files of measurements mean, by the column's name."""
    fits: Mapping[str, Fit]
    suspects: Mapping[str, Suspect]
    evidence: tuple[str, ...]
    """Files of measurements that the reports hold the model against, as paths that can be opened."""
    key_figures: tuple[str, ...]
    decision: Decision | None
    plan: str
    files: tuple[tuple[str, str], ...]
    """Name and SHA-256 of each file that was read, the model first and the plan last."""
    units: tuple[tuple[Symbol, str], ...]
    """Units that the model defines, and how it does."""
