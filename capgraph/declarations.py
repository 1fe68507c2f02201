"""The declarations: which keys a file may hold, and of what shape.

In: nothing → Out: frozen pydantic models; scalars stay raw text with their place, formulas unparsed.
Invariant: an unknown key is an error; which keys are needed together is decided after files are joined.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from capgraph.yamltree import Map, Scalar

Texts = tuple[Scalar, ...]
Settings = dict[Scalar, Scalar]


class Declaration(BaseModel):
    """An entry of a file: closed, frozen, with its place left on every scalar."""

    # Only FileDecl is ever validated: the others are built as its parts, not once more on their own.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class QuantityDecl(Declaration):
    """An input (`value`), a choice (`choose`) or a computed quantity (`formula`)."""

    label: Scalar | None = None
    unit: Scalar | None = None
    value: Scalar | None = None
    choose: Scalar | Texts | None = None
    default: Scalar | None = None
    formula: Scalar | None = None
    range: tuple[Scalar, Scalar] | None = None
    min: Scalar | None = None
    max: Scalar | None = None
    because: Scalar | None = None
    source: Scalar | None = None
    as_of: Scalar | None = None


class FieldDecl(Declaration):
    """A column of a catalog: numbers in a `unit`, or `type: text` or `type: yes/no`."""

    label: Scalar | None = None
    unit: Scalar | None = None
    type: Literal["number", "text", "yes/no"] | None = None
    range: tuple[Scalar, Scalar] | None = None


RowDecl = dict[Scalar, Scalar | None]


class CatalogDecl(Declaration):
    """A table of facts: its fields, and rows that may lack some."""

    label: Scalar | None = None
    fields: dict[Scalar, FieldDecl] = Field(default_factory=dict)
    rows: dict[Scalar, RowDecl | None] = Field(default_factory=dict)


def _rows_alone(value: Any) -> Any:
    """Accept a plan's rows directly under the catalog's id."""
    if not isinstance(value, Map) or {"fields", "rows"} & set(value):
        return value
    wrapped = Map()
    wrapped[Scalar("rows")] = value
    return wrapped


class ScenarioDecl(Declaration):
    """Settings over another scenario or the base values."""

    label: Scalar | None = None
    extends: Scalar | None = None
    set: Settings = Field(default_factory=dict)
    because: Scalar | None = None
    source: Scalar | None = None
    as_of: Scalar | None = None


class CheckDecl(Declaration):
    """A condition with a message and a severity."""

    label: Scalar | None = None
    condition: Scalar
    message: Scalar
    severity: Literal["error", "warning"] = "error"


class LeverDecl(Declaration):
    """A named change to inputs and the quantities it is to move."""

    label: Scalar | None = None
    set: Settings
    shows: Texts = ()
    because: Scalar | None = None
    source: Scalar | None = None


class ChartDecl(Declaration):
    """Quantities that add up to a whole."""

    label: Scalar | None = None
    parts: Texts
    whole: Scalar | None = None


class OptionDecl(Declaration):
    """One way to decide."""

    label: Scalar | None = None
    cost: Scalar | None = None
    shows: Texts = ()
    because: Scalar | None = None
    risk: Scalar | None = None


class RuleDecl(Declaration):
    """A condition (left out: always), the option it decides for, and the headline."""

    when: Scalar | None = None
    option: Scalar
    headline: Scalar


class DecisionDecl(Declaration):
    """The question, the options, the ordered rules, and what arithmetic cannot see."""

    question: Scalar | None = None
    target: Scalar | None = None
    options: dict[Scalar, OptionDecl | None] = Field(default_factory=dict)
    rules: tuple[RuleDecl, ...] = ()
    exceptions: Texts = ()
    policy: Texts = ()
    alerts: Texts = ()


class FileDecl(Declaration):
    """A file: a model, a plan, a section or a catalog; any of the parts may stand in any of them."""

    model: Scalar | None = None
    plan: Scalar | None = None
    extends: Scalar | None = None
    title: Scalar | None = None
    description: Scalar | None = None
    as_of: Scalar | None = None
    include: Texts = ()
    section: Scalar | None = None
    quantities: dict[Scalar, QuantityDecl | None] = Field(default_factory=dict)
    catalog: Scalar | None = None
    label: Scalar | None = None
    fields: dict[Scalar, FieldDecl] = Field(default_factory=dict)
    rows: dict[Scalar, RowDecl | None] = Field(default_factory=dict)
    catalogs: dict[Scalar, Annotated[CatalogDecl, BeforeValidator(_rows_alone)]] = Field(default_factory=dict)
    scenarios: dict[Scalar, ScenarioDecl | None] = Field(default_factory=dict)
    checks: dict[Scalar, CheckDecl | None] = Field(default_factory=dict)
    levers: dict[Scalar, LeverDecl | None] = Field(default_factory=dict)
    charts: dict[Scalar, ChartDecl | None] = Field(default_factory=dict)
    key_figures: Texts = ()
    decision: DecisionDecl | None = None


Entries = Mapping[Scalar, Any]
