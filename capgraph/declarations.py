"""The declarations: which keys a file may hold, and of what shape.

In: nothing → Out: frozen pydantic models; scalars stay raw text with their place, formulas unparsed.
Invariant: an unknown key is an error; which keys are needed together is decided after files are joined.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from capgraph.yamltree import Map, Scalar

# As `resolve` reads ids, written so that Python and JavaScript read it alike: ASCII signs are left out.
_NAME = r"^[^0-9\s!-/:-@\[-^`{-~][^\s!-/:-@\[-^`{-~]*$"
_ID = r"^[^\s!-/:-@\[-^`{-~][^\s!-*,/:-@\[-^`{-~]*$"

Name = Annotated[Scalar, WithJsonSchema({"type": "string", "pattern": _NAME})]
Texts = tuple[Scalar, ...]
Settings = dict[Name, Scalar]


def _key(told: str, *examples: str | float, default: object = None, **more: str) -> Any:
    """Declare a key that may be left out; editors show what is told of it."""
    extra: dict[str, Any] | None = {**more} or None
    return Field(default=default, description=told, examples=list(examples) or None, json_schema_extra=extra)


def _entries(told: str) -> Any:
    """Declare a mapping of ids that may be left out."""
    return Field(default_factory=dict, description=told)


class Declaration(BaseModel):
    """An entry of a file: closed, frozen, with its place left on every scalar."""

    # Only FileDecl is ever validated: the others are built as its parts, not once more on their own.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class QuantityDecl(Declaration):
    """An input (`value`), a choice (`choose`) or a computed quantity (`formula`)."""

    label: Scalar | None = _key("What readers see in place of the id.", "KV cache per token")
    unit: Scalar | None = _key(
        "The unit, with its basis; `count` or `ratio` for a plain number, `yes/no` for a computed condition.",
        "GiB/GPU",
        "token/s/replica",
        "USD/month",
        "ratio",
    )
    value: Scalar | None = _key(
        "Makes an input: a number in `unit`, a number with a unit of its own, or true/false.",
        5000,
        "80 GB",
        "30%",
        "true",
    )
    choose: Scalar | Texts | None = _key(
        "Makes a choice: the id of a catalog, whose rows are the options, or a list of options.", "gpus"
    )
    default: Scalar | None = _key(
        "The option that a choice takes where no scenario says otherwise; the first when left out.",
        "h100-sxm-80",
    )
    formula: Scalar | None = _key(
        "Makes a computed quantity; `capgraph functions` lists what a formula may hold.",
        "weights / hbm_bandwidth",
        "ceil(demand / capacity)",
    )
    range: tuple[Scalar, Scalar] | None = _key(
        "`[low, high]`: how sure we are of an input; the tornado chart swings over it."
    )
    min: Scalar | None = _key("The least that the input may be: less is an error, in the workbook too.")
    max: Scalar | None = _key("The most that the input may be: more is an error, in the workbook too.")
    because: Scalar | None = _key(
        "Why the quantity is so, or why it is needed.", "Keys and values of every layer stay resident."
    )
    source: Scalar | None = _key(
        "Who says so: a document, a measurement, or `assumption: …`.", "HR headcount, 2026-Q4"
    )
    as_of: Scalar | None = _key("The day the source speaks of.", "2026-11-30")


class FieldDecl(Declaration):
    """A column of a catalog: numbers in a `unit`, or `type: text` or `type: yes/no`."""

    label: Scalar | None = _key("What readers see in place of the field's id.")
    unit: Scalar | None = _key("The unit of the field's numbers.", "GiB/GPU", "USD/GPU-hour")
    type: Literal["number", "text", "yes/no"] | None = _key("What the field holds; a number when left out.")
    range: tuple[Scalar, Scalar] | None = _key("`[low, high]`: a row's number outside it is an error.")
    default: Scalar | None = _key("What holds for a row that does not give this field.", 0)
    expected: tuple[Scalar, Scalar] | None = _key(
        "`[low, high]`: where two rows of three lie; counts as one more measurement when a row is fitted."
    )


RowDecl = Annotated[
    dict[Scalar, Scalar | None],
    Field(description="Fields of the catalog, and `name`, `source`, `as_of`, `note`, `unverified`."),
]


class CatalogDecl(Declaration):
    """A table of facts: its fields, and rows that may lack some."""

    label: Scalar | None = _key("What readers see in place of the catalog's id.")
    fields: dict[Name, FieldDecl] = _entries("The columns: id → unit or type.")
    rows: dict[Scalar, RowDecl | None] = _entries("What can be chosen: id → its fields; null removes a row.")


def _rows_alone(value: Any) -> Any:
    """Accept a plan's rows directly under the catalog's id."""
    if not isinstance(value, Map) or {"fields", "rows"} & set(value):
        return value
    wrapped = Map()
    wrapped[Scalar("rows")] = value
    return wrapped


class ScenarioDecl(Declaration):
    """Settings over another scenario or the base values."""

    label: Scalar | None = _key("What readers see in place of the scenario's id.")
    extends: Scalar | None = _key(
        "The scenario that this one starts from; the base values when left out.", "base"
    )
    set: Settings = _entries("Quantity → its value here; a computed one may be given as measured.")
    because: Scalar | None = _key("Why the scenario is looked at.")
    source: Scalar | None = _key("Who says that its values are so.")
    as_of: Scalar | None = _key("The day the source speaks of.", "2026-11-30")


class SweepDecl(Declaration):
    """The values that one input runs through: `from`/`to`/`points`/`scale`, or `values`."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True, populate_by_name=False)

    label: Scalar | None = _key("What readers see in place of the sweep's id.")
    over: Scalar = Field(description="The input that runs through the values.", examples=["users"])
    from_: Scalar | None = Field(
        default=None, alias="from", description="The first value, in the input's unit."
    )
    to: Scalar | None = _key("The last value, in the input's unit.")
    points: Scalar | None = _key("How many values there are, both ends included.")
    scale: Literal["linear", "log"] = _key("Equal steps, or equal ratios.", default="linear")
    values: Scalar | Texts | None = _key("In place of from/to/points: the values themselves.")
    shows: Texts = _key("The quantities that the curve is drawn of.", default=())
    because: Scalar | None = _key("Why the input is swept.")


class CheckDecl(Declaration):
    """A condition with a message and a severity."""

    label: Scalar | None = _key("What readers see in place of the check's id.")
    condition: Scalar = Field(description="What must hold.", examples=["weights < hbm_total"])
    message: Scalar = Field(
        description="What is said when it fails, with values in it.",
        examples=["{weights:1 GiB} exceed {hbm_total:1 GiB}"],
    )
    severity: Literal["error", "warning"] = _key("How grave a failure is.", default="error")


class LeverDecl(Declaration):
    """A named change to inputs and the quantities it is to move."""

    label: Scalar | None = _key("What readers see in place of the lever's id.")
    set: Settings = Field(description="Input → the value that the lever gives it.")
    shows: Texts = _key("The quantities that it is to move; reports show by how much.", default=())
    because: Scalar | None = _key("Why it would help.")
    source: Scalar | None = _key("Who says so.")


class ChartDecl(Declaration):
    """Quantities that add up to a whole."""

    label: Scalar | None = _key("The chart's title.")
    parts: Texts = Field(description="The quantities that add up, all in one unit.")
    whole: Scalar | None = _key("The quantity that they add up to.")


class OptionDecl(Declaration):
    """One way to decide."""

    label: Scalar | None = _key("What readers see in place of the option's id.")
    cost: Scalar | None = _key("The quantity that the option costs.")
    shows: Texts = _key("Further quantities to show beside it.", default=())
    because: Scalar | None = _key("What speaks for it.")
    risk: Scalar | None = _key("What speaks against it.")


class RuleDecl(Declaration):
    """A condition (left out: always), the option it decides for, and the headline."""

    when: Scalar | None = _key("The condition; a rule without one always holds.", "cost_ratio < 1")
    option: Scalar = Field(description="The option that the rule decides for.")
    headline: Scalar = Field(
        description="The verdict in one sentence, with values in it.", examples=["Rent: {cost:0 USD/month}."]
    )


class DecisionDecl(Declaration):
    """The question, the options, the ordered rules, and what arithmetic cannot see."""

    question: Scalar | None = _key("What is to be decided.")
    target: Scalar | None = _key(
        "The quantity that the decision hangs on; sensitivity and levers are measured by it."
    )
    options: dict[Scalar, OptionDecl | None] = _entries(
        "The ways to decide: id → cost and what speaks for and against it."
    )
    rules: tuple[RuleDecl, ...] = _key("Tried in order: the first that holds decides.", default=())
    exceptions: Texts = _key("What arithmetic cannot see and may overrule it; may have values in it.", default=())
    policy: Texts = _key("What the verdict commits to; may have values in it.", default=())
    alerts: Texts = _key("What tells that the estimate has gone stale; may have values in it.", default=())


class ColumnDecl(Declaration):
    """What a column of a file of measurements means."""

    sets: Scalar | None = _key(
        "The quantity that each row sets: an input, or a computed one as it was measured.", "batch"
    )
    measures: Scalar | None = _key("The quantity that the column's numbers are compared with.", "tpot")
    unit: Scalar | None = _key(
        "The unit of the numbers; the header's, or the quantity's, when left out.", "token/s/replica"
    )
    by: Scalar | None = _key(
        "For a choice: the text field of its catalog, a name or several by comma, in which the cell is looked up.",
        "hub_id",
    )


class FitDecl(Declaration):
    """Parameters that were fitted to measurements, and how well; `capgraph calibrate` writes it."""

    of: Scalar = Field(description="The quantity that was measured and predicted.", examples=["tpot"])
    catalog: Scalar | None = _key(
        "The catalog whose row holds the parameters; left out where they are quantities.", "engines"
    )
    row: Scalar | None = _key("The row that holds the parameters.", "vllm-fp8")
    parameters: dict[Name, tuple[Scalar, Scalar]] = Field(
        description="Fitted field or quantity → `[low, high]`, how sure the fit is of it.",
        examples=[{"decode_efficiency": [0.71, 0.78]}],
    )
    rows: Scalar = Field(description="How many measurements it rests on.", examples=[42])
    error: Scalar = Field(
        description="Mean absolute error of the prediction against the measurement.", examples=["7.2%"]
    )
    date: Scalar = Field(description="The day of the fit.", examples=["2026-11-30"])
    data: Scalar = Field(
        description="The file of measurements, relative to this one.", examples=["evidence/throughput.csv"]
    )
    sha256: Scalar | None = _key("The SHA-256 of that file.")
    where: dict[Scalar, Scalar | Texts] = Field(
        default_factory=dict,
        description="Only rows whose columns hold one of these texts; all rows when left out.",
        examples=[{"use": "target"}],
    )
    scenario: Scalar | None = _key(
        "What rows leave unset is as in this scenario; the first when left out.", "base"
    )
    together: Texts = _key("Further quantities whose measurements were fitted to at the same time.", default=())


class SuspectDecl(Declaration):
    """Why a measurement may differ from the model; `capgraph diagnose` tries it."""

    label: Scalar | None = _key("What readers see in place of the suspect's id.")
    set: Settings = _entries("Quantity → what it would have been in the run that was measured.")
    vary: Scalar | None = _key("The number whose value is looked for.", "memory_utilization")
    range: tuple[Scalar, Scalar] | None = _key(
        "`[low, high]`: how far that number may plausibly go; its own range when left out."
    )
    because: Scalar | None = _key("How it comes about.")
    check: Scalar | None = _key("What to look at, to see whether it is so.")
    shows: Texts = _key("The quantities that it brings down; reports show how far.", default=())
    source: Scalar | None = _key("Who says so.")


class FileDecl(Declaration):
    """A file: a model, a plan, a section or a catalog; any of the parts may stand in any of them."""

    model: Scalar | None = _key("The model's name, which names its reports.", "llm-serving", pattern=_ID)
    plan: Scalar | None = _key(
        "The name of a plan, a file that `extends` a model.", "support-eu", pattern=_ID
    )
    extends: Scalar | None = _key(
        "The model that this file is laid over: one that ships, or a path.", "llm-serving", "../model.yaml"
    )
    title: Scalar | None = _key("The title of the reports.")
    description: Scalar | None = _key("What the model answers, in a sentence.")
    as_of: Scalar | None = _key(
        "The day the model speaks of.", "2026-11-30", pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
    )
    include: Texts = _key("Further files of the model, relative to this one.", default=())
    units: dict[Scalar, Scalar] = Field(
        default_factory=dict,
        description="Units of this model: `base` for one with a dimension of its own, or so many of another.",
        examples=[{"shelf": "base", "rack": "12 shelf"}],
    )
    section: Scalar | None = _key("The heading under which the file's quantities stand.")
    quantities: dict[Name, QuantityDecl | None] = _entries(
        "Id → an input, a choice or a computed quantity; null removes one of the extended model."
    )
    catalog: Scalar | None = _key("The id of the catalog whose `fields` and `rows` this file holds.")
    label: Scalar | None = _key("What readers see in place of the catalog's id.")
    fields: dict[Name, FieldDecl] = _entries("The catalog's columns: id → unit or type.")
    rows: dict[Scalar, RowDecl | None] = _entries("The catalog's rows: id → its fields; null removes one.")
    catalogs: dict[Name, Annotated[CatalogDecl, BeforeValidator(_rows_alone)]] = _entries(
        "Id → rows to add or change; with `fields`, a catalog of its own."
    )
    scenarios: dict[Scalar, ScenarioDecl | None] = _entries(
        "Id → what is set differently; the reports open with the first."
    )
    sweeps: dict[Name, SweepDecl | None] = _entries("Id → the values that one input runs through.")
    checks: dict[Name, CheckDecl | None] = _entries("Id → a condition that must hold in every scenario.")
    levers: dict[Scalar, LeverDecl | None] = _entries(
        "Id → a change to inputs whose effect the reports show."
    )
    charts: dict[Scalar, ChartDecl | None] = _entries("Id → quantities that add up to a whole.")
    measurements: dict[Scalar, ColumnDecl | None] = _entries(
        "Column of a file of measurements → the quantity that it sets or measures."
    )
    evidence: Texts = _key(
        "Files of measurements that the reports hold the model against, relative to this file.",
        "evidence/throughput.csv",
        default=(),
    )
    fits: dict[Scalar, FitDecl | None] = _entries("Id → parameters that were fitted to measurements.")
    suspects: dict[Scalar, SuspectDecl | None] = _entries(
        "Id → why a measurement may differ from the model; `capgraph diagnose` tries it."
    )
    key_figures: Texts = _key("The quantities that the summary shows.", default=())
    decision: DecisionDecl | None = _key("The question, the options and the rules that decide.")
