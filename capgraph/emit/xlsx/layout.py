"""Where everything stands: a plan and its scenarios in → the rows, columns and names of the whole workbook
out.

Invariant: decided once, before a cell is written, so any sheet may refer to any other; a scenario has the
same column on Inputs, Model and Checks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from capgraph.emit.xlsx.names import allot_names, sheet_titles
from capgraph.emit.xlsx.shapes import row_shapes
from capgraph.emit.xlsx.split import is_part
from capgraph.emit.xlsx.stacks import Stack, stacks
from capgraph.emit.xlsx.swept import Swept, lay_out_sweeps
from capgraph.findings import Findings
from capgraph.model import Catalog, Choose
from capgraph.plan import Plan, Read, Step
from capgraph.results import Results

SUMMARY, INPUTS, MODEL, SWEEPS, CHECKS, UNITS, ABOUT = (
    "Summary", "Inputs", "Model", "Sweeps", "Checks", "Units", "About",
)  # fmt: skip
BACKTEST, MEASUREMENTS = "Backtest", "Measurements"
# Later sheets keep their titles free: a catalog of that name gets another title from the first day.
LATER = ("Sensitivity", "Levers", "Options")

LABEL, NAME, UNIT, ACTIVE, BASE, FIRST = 1, 2, 3, 4, 5, 6
"""Columns of Inputs, Model and Checks; `FIRST` is the first scenario's."""
LABELS_ROW, HEADER_ROW, FIRST_ROW = 4, 5, 6
CATALOG_FIRST_ROW = 7
SPARE_ROWS = 20
DECISIVE_INPUTS = 5
# What a model writes as the source of a value that nobody could measure, such as one month.
_DEFINITION = "definition"

Key = tuple[str, ...]

_ROW_NAMES: Mapping[Key, str] = {
    ("verdict", "option"): "verdict",
    ("verdict", "rule"): "deciding_rule",
    ("overall", "checks"): "checks_status",
    ("overall", "integrity"): "integrity_status",
}


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a sheet: a heading, or the key of what the row holds."""

    row: int
    key: Key

    @property
    def kind(self) -> str:
        """Return what the row holds: `heading`, `step`, `pick` …"""
        return self.key[0]

    @property
    def name(self) -> str:
        """Return the id, or the heading's text."""
        return self.key[1]


@dataclass(frozen=True, slots=True)
class Table:
    """Where a catalog stands: its sheet, its first and last row (spare ones included), its columns by field."""

    title: str
    first: int
    last: int
    columns: Mapping[str, int]


@dataclass(frozen=True)
class Layout:
    """The whole workbook's map."""

    plan: Plan
    scenarios: tuple[str, ...]
    inputs: tuple[Line, ...]
    model: tuple[Line, ...]
    checks: tuple[Line, ...]
    units: tuple[Line, ...]
    tables: Mapping[str, Table]
    sweeps: Mapping[str, Swept]
    stacks: tuple[Stack, ...]
    names: Mapping[Key, str]
    rows: Mapping[str, Mapping[Key, int]]
    """By sheet, the row of each key."""
    shapes: Mapping[str, str]
    """By step, the number format of its row."""

    @cached_property
    def steps(self) -> Mapping[str, Step]:
        """Return the plan's steps by id."""
        return self.plan.by_id

    @property
    def last(self) -> int:
        """Return the last scenario's column."""
        return FIRST + len(self.scenarios) - 1

    @property
    def details(self) -> int:
        """Return the first column after the scenarios."""
        return self.last + 1

    def columns(self) -> Iterator[tuple[int, str]]:
        """Yield each scenario's column and id."""
        return enumerate(self.scenarios, FIRST)

    def home(self, key: Key) -> tuple[str, int]:
        """Return the sheet and row that hold a key's value in every scenario."""
        for title in (MODEL, CHECKS):
            if key in self.rows[title]:
                return title, self.rows[title][key]
        raise KeyError(key)


def lay_out(plan: Plan, results: Results, findings: Findings) -> Layout:
    """Decide where everything stands."""
    scenarios = tuple(results.scenarios)
    measured = measured_quantities(plan)
    piles = stacks(plan.model)
    inputs = _numbered(_input_keys(plan, findings, measured))
    model = _numbered((*_model_keys(plan, measured), *_part_keys(plan)))
    checks = _numbered(_check_keys(plan, piles))
    units = _numbered(_unit_keys(plan, piles))
    rows = {title: {line.key: line.row for line in lines} for title, lines in zip(
        (INPUTS, MODEL, CHECKS, UNITS), (inputs, model, checks, units), strict=True
    )}  # fmt: skip
    tables = _tables(plan.model.catalogs)
    shapes = row_shapes(plan, results)
    sweeps = lay_out_sweeps(plan, FIRST_ROW)
    names = allot_names(_wanted_names(plan, measured, piles))
    return Layout(plan, scenarios, inputs, model, checks, units, tables, sweeps, piles, names, rows, shapes)


def measured_quantities(plan: Plan) -> tuple[str, ...]:
    """Return the calculated quantities that some scenario sets to a measured value."""
    read = {step.id for step in plan.steps if isinstance(step, Read)}
    set_ = dict.fromkeys(name for scenario in plan.model.scenarios.values() for name in scenario.settings)
    return tuple(name for name in plan.by_id if name in set_ and name not in read)


def _numbered(keys: Iterable[Key]) -> tuple[Line, ...]:
    return tuple(Line(row, key) for row, key in enumerate(keys, FIRST_ROW))


def _input_keys(plan: Plan, findings: Findings, measured: Sequence[str]) -> Iterator[Key]:
    given = [name for name, quantity in plan.model.quantities.items() if quantity.is_input]
    decisive = [swing.quantity for swing in findings.swings if swing.quantity in given][:DECISIVE_INPUTS]
    if decisive:
        yield ("heading", "The few that move the decision most")
        yield from (("step", name) for name in decisive)
    for section, members in _by_section(plan, [name for name in given if name not in decisive]):
        yield ("heading", section)
        yield from (("step", name) for name in members)
    if measured:
        yield ("heading", "Measured values that replace a formula; blank: the formula holds")
        yield from (("measured", name) for name in measured)


def _by_section(plan: Plan, names: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the sections with their members; what holds by definition comes last in its section and on its sheet."""
    quantities = plan.model.quantities

    def defined(name: str) -> bool:
        return quantities[name].provenance.source == _DEFINITION

    members: dict[str, list[str]] = {section: [] for section in plan.model.sections}
    for name in names:
        members[quantities[name].section].append(name)
    filled = [(section, sorted(found, key=defined)) for section, found in members.items() if found]
    yield from sorted(filled, key=lambda entry: defined(entry[1][0]))


def _model_keys(plan: Plan, measured: Sequence[str]) -> Iterator[Key]:
    quantities = plan.model.quantities
    for section, members in _by_section(plan, [name for name in plan.by_id if name in quantities]):
        yield ("heading", section)
        for name in members:
            if name in measured:
                yield ("measured", name)
            yield ("step", name)
            definition = quantities[name].definition
            if isinstance(definition, Choose) and definition.catalog is not None:
                yield ("pick", name)


def _part_keys(plan: Plan) -> Iterator[Key]:
    parts = [name for name in plan.by_id if is_part(name)]
    if parts:
        yield ("heading", "Parts of formulas that are too long for one cell")
        yield from (("step", name) for name in parts)


def _check_keys(plan: Plan, piles: Sequence[Stack]) -> Iterator[Key]:
    checks, decision = plan.model.checks, plan.model.decision
    if checks:
        yield ("heading", "Checks")
        yield ("overall", "checks")
        yield from (("status", name) for name in checks)
    if decision is not None and decision.rules:
        yield ("heading", "Decision: the first rule that holds decides")
        yield ("verdict", "option")
        yield ("verdict", "rule")
        yield from (("step", f"rule.{number}") for number in range(1, len(decision.rules) + 1))
    if checks:
        yield ("heading", "Conditions behind the checks")
        yield from (("step", f"check.{name}") for name in checks)
    yield ("heading", "Integrity of this workbook")
    yield ("overall", "integrity")
    choices = (quantity.definition for quantity in plan.model.quantities.values())
    has_choices = any(isinstance(item, Choose) and item.catalog is not None for item in choices)
    has_inputs = any(quantity.is_input for quantity in plan.model.quantities.values())
    yield ("integrity", "scenario")
    if has_inputs:
        yield ("integrity", "base")
    if has_choices:
        yield ("integrity", "choices")
    yield ("integrity", "active")
    yield from (("stack", pile.chart.id) for pile in piles if pile.whole is not None)


def _unit_keys(plan: Plan, piles: Sequence[Stack]) -> Iterator[Key]:
    yield from (("constant", name) for name in constants(plan, piles))
    if any(pile.whole is not None for pile in piles):
        yield ("own", "rounding_tolerance")
    yield ("heading", "Lists that inputs choose from")
    yield from (("option", "yes/no", option) for option in ("yes", "no"))
    for name, quantity in plan.model.quantities.items():
        if isinstance(quantity.definition, Choose) and quantity.definition.catalog is None:
            yield from (("option", name, option) for option in quantity.definition.options)


def constants(plan: Plan, piles: Sequence[Stack]) -> Mapping[str, float]:
    """Return every conversion that some formula of the workbook names."""
    found = {name: constant.value for name, constant in plan.constants.items()}
    for pile in piles:
        found |= pile.constants()
    return dict(sorted(found.items()))


def _tables(catalogs: Mapping[str, Catalog]) -> Mapping[str, Table]:
    fixed = (SUMMARY, INPUTS, MODEL, SWEEPS, CHECKS, BACKTEST, MEASUREMENTS, UNITS, ABOUT, *LATER)
    titles = sheet_titles(catalogs, fixed)
    tables = {}
    for title, catalog in zip(titles, catalogs.values(), strict=True):
        columns = {name: number for number, name in enumerate(catalog.fields, 3)}
        last = CATALOG_FIRST_ROW + len(catalog.rows) + SPARE_ROWS - 1
        tables[catalog.id] = Table(title, CATALOG_FIRST_ROW, last, columns)
    return tables


def _wanted_names(plan: Plan, measured: Sequence[str], piles: Sequence[Stack]) -> Iterator[tuple[Key, str]]:
    model = plan.model
    yield from ((("step", name), name) for name in plan.by_id)
    yield from (
        (("step", f"rule.{number}"), f"rule.{number}")
        for number in range(1, len(model.decision.rules if model.decision else ()) + 1)
        if f"rule.{number}" not in plan.by_id
    )
    yield from ((("constant", name), name) for name in constants(plan, piles))
    yield from ((("measured", name), f"{name}_measured") for name in measured)
    for name, quantity in model.quantities.items():
        if isinstance(quantity.definition, Choose):
            if quantity.definition.catalog is None:
                yield ("list", name), f"{name}.options"
            else:
                yield ("pick", name), f"{name}.row"
    for catalog in model.catalogs.values():
        for field in ("id", "name", *catalog.fields):
            yield ("column", catalog.id, field), f"{catalog.id}.{field}"
    yield ("list", "yes/no"), "yes_no"
    yield from _ROW_NAMES.items()
    for own in ("scenario", "scenarios", "scenario_number", "rounding_tolerance"):
        yield ("own", own), own
