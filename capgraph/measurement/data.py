"""A table of measurements × a model → what each row sets, and what was measured there.

In: a table and the model whose quantities its columns name → Out: `Data` and diagnostics.
Invariant: a row with a cell that cannot be read is left out and told; a column that means nothing here is a label.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from capgraph.diagnostics import Diagnostic, Related, Source, did_you_mean, has_errors
from capgraph.measurement.files import digest
from capgraph.measurement.table import Table, TableRow
from capgraph.model import Choose, Lookup, Model, Quantity, Value
from capgraph.resolve.scope import BASIS, Scope
from capgraph.units import Unit, without_below
from capgraph.yamltree import Scalar

MEASURED = "measured."
MOST_TOLD = 20
_HEAD = re.compile(r"(.*?)\s*(?:[\[(]\s*([^\[\]()]+?)\s*[\])])?", re.DOTALL)
_PLAIN = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})?")
_MISSING = frozenset({"", "-", "–", "nan", "na", "n/a", "null", "none"})


@dataclass(frozen=True, slots=True)
class Data:
    """The rows that can be used: what each sets, what it measured in the quantities' units (nan: nothing), its labels.

    Every sequence has one entry a row; `lines` holds where a row stands in the file.
    """

    source: Source
    digest: str
    tool: str
    lines: tuple[int, ...]
    settings: Mapping[str, tuple[Value | None, ...]]
    measured: Mapping[str, NDArray[np.float64]]
    labels: Mapping[str, tuple[str, ...]]
    read: tuple[str, ...] = ()
    """What was taken from a program's output: quantity, column and the output's own field, in words."""
    note: str = ""

    @property
    def size(self) -> int:
        """Return how many rows there are."""
        return len(self.lines)

    def setting(self, changes: Mapping[str, Value]) -> Data:
        """Return the data with further values that every row sets, over its own."""
        if not changes:
            return self
        settings = {**self.settings, **{name: (value,) * self.size for name, value in changes.items()}}
        return replace(self, settings=settings)

    def only(self, rows: Sequence[int]) -> Data:
        """Return some of the rows."""
        return Data(
            self.source, self.digest, self.tool, tuple(self.lines[row] for row in rows),
            {name: tuple(values[row] for row in rows) for name, values in self.settings.items()},
            {name: values[list(rows)] for name, values in self.measured.items()},
            {name: tuple(texts[row] for row in rows) for name, texts in self.labels.items()}, self.read, self.note,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Meaning:
    """What a column of this table means: the quantity that it sets or measures, and how a cell is read.

    `factor` turns a plain number of the column into the quantity's unit; `by` is a catalog field to look a cell up in.
    """

    column: int
    quantity: Quantity
    measures: bool
    factor: float = 1.0
    by: str | None = None


def bind(
    table: Table, model: Model, changes: Mapping[str, Value] = MappingProxyType({})
) -> tuple[Data | None, tuple[Diagnostic, ...]]:
    """Return the rows of a table as a model reads them, each with the same changes; nothing if none is of use."""
    binder = _Binder(table, model, frozenset(changes))
    data = binder.data()
    return data.setting(changes) if data is not None else None, tuple(binder.found)


@dataclass
class _Binder:
    table: Table
    model: Model
    changed: frozenset[str]
    """What is set for all rows: a column that sets it is only a label."""
    found: list[Diagnostic] = field(default_factory=list)
    scope: Scope = field(init=False)
    """Reads the texts; what it finds wrong is taken over here."""

    def __post_init__(self) -> None:
        units = tuple(symbol for symbol, _ in self.model.units)
        self.scope = Scope(dict(self.model.quantities), dict(self.model.catalogs), units, found=[])

    def data(self) -> Data | None:
        meanings = self._meanings()
        if has_errors(self.found):
            return None
        measured = [item for item in meanings if item.measures]
        if not measured:
            self._report_nothing_measured()
            return None
        values: dict[int, list[Value | None]] = {}
        left_out: set[int] = set()
        for item in meanings:
            values[item.column], wrong = self._column(item)
            left_out |= wrong
        rows = [
            row
            for row in range(len(self.table.rows))
            if row not in left_out and any(values[item.column][row] is not None for item in measured)
        ]
        if not rows:
            way_out = "see the warnings" if self.found else "fill in what was measured"
            place = self.table.rows[0].span
            self.found.append(Diagnostic("CG816", "no row can be compared with the model", place, way_out))
            return None
        meant = {item.column for item in meanings}
        return Data(
            source=self.table.source,
            digest=digest(self.table.source),
            tool=self.table.tool,
            lines=tuple(self.table.rows[row].span.line for row in rows),
            settings={
                item.quantity.id: tuple(values[item.column][row] for row in rows)
                for item in meanings
                if not item.measures
            },
            measured={
                item.quantity.id: np.array([_number(values[item.column][row]) for row in rows])
                for item in measured
            },
            labels={
                name: tuple(self.table.rows[row].cells[column] for row in rows)
                for column, name in enumerate(self.table.header)
                if name and column not in meant
            },
            read=tuple(self._read(item) for item in meanings) if self.table.tool else (),
            note=self.table.note,
        )

    def _read(self, item: _Meaning) -> str:
        head = self.table.header[item.column]
        return f"{item.quantity.id} from {self.table.used.get(head, head)}"

    def _report_nothing_measured(self) -> None:
        numbers = [item.id for item in self.model.quantities.values() if item.unit and not item.is_input]
        help_text = (
            f"name a column `{MEASURED}<quantity>`, say `{MEASURED}{numbers[0] if numbers else 'cost'}`"
        )
        if self.table.tool:
            help_text = "say under `measurements:` of the model which column measures what"
        message = f"no column of {self.table.source.name} is a measurement of this model"
        self.found.append(Diagnostic("CG816", message, self.table.head(0).span, help_text))

    def _meanings(self) -> list[_Meaning]:
        """Return what the columns mean; of a program's columns that mean one quantity, the model's first counts."""
        columns = list(range(len(self.table.header)))
        if self.table.tool:
            declared = list(self.model.columns)
            columns.sort(
                key=lambda column: declared.index(name) if (name := self._name(column)) in declared else -1
            )
        made: dict[tuple[str, bool], _Meaning] = {}
        for column in columns:
            meaning = self._meaning(column)
            if meaning is None or (not meaning.measures and meaning.quantity.id in self.changed):
                continue
            key = (meaning.quantity.id, meaning.measures)
            if key in made and not self.table.tool:
                related = (Related("the other one", self.table.head(made[key].column).span),)
                message = f"two columns {'measure' if meaning.measures else 'set'} `{meaning.quantity.id}`"
                place = self.table.head(column).span
                self.found.append(Diagnostic("CG813", message, place, "remove one of them", related=related))
            made.setdefault(key, meaning)
        return list(made.values())

    def _name(self, column: int) -> str:
        parts = _HEAD.fullmatch(self.table.header[column])
        assert parts is not None
        return parts[1]

    def _meaning(self, column: int) -> _Meaning | None:
        head = self.table.head(column)
        parts = _HEAD.fullmatch(head)
        assert parts is not None
        name = parts[1]
        asked = head.part(*parts.span(2)) if parts[2] else None
        declared = self.model.columns.get(str(head)) or self.model.columns.get(name)
        if declared is not None:
            quantity: Quantity | None = self.model.quantities[declared.quantity]
            measures, by = declared.measures, declared.by
        else:
            quantity, measures, by = self._named(head, name), name.startswith(MEASURED), None
        if quantity is None:
            return None
        if quantity.unit is None:
            if measures:
                message = f"`{quantity.id}` is no number; what is measured can only be compared with a number"
                self.found.append(Diagnostic("CG203", message, head.span, "name a quantity with a unit"))
            return _Meaning(column, quantity, measures, by=by)
        unit = declared.unit if declared is not None and declared.unit is not None else None
        if unit is None and asked is not None:
            unit = self.scope.unit(asked)
            if unit is None:
                self._take_over()
                return None
        factor = _factor(unit, quantity.unit)
        if factor is None:
            message = f"`{head}` is in {unit}, `{quantity.id}` in {quantity.unit}"
            way_out = f"give it in {quantity.unit} or a multiple"
            if declared is not None:
                way_out = f"say its `unit:` under `measurements:` of the model, such as {quantity.unit}"
            self.found.append(Diagnostic("CG502", message, head.span, way_out))
            return None
        return _Meaning(column, quantity, measures, factor, by)

    def _named(self, head: Scalar, name: str) -> Quantity | None:
        """Return the quantity whose id a column is; one that is nearly an id is told, since it may be mistyped."""
        if self.table.tool:
            # Its columns are of the program's vocabulary, where `engine` may be another thing than in the model.
            return None
        wanted = name.removeprefix(MEASURED)
        found = self.model.quantities.get(wanted)
        if found is not None and not isinstance(found.definition, Lookup):
            return found
        near = did_you_mean(wanted, self.scope.settable)
        if name.startswith(MEASURED):
            way_out = near or "`capgraph eval` lists the quantities"
            self.found.append(Diagnostic("CG304", f"unknown quantity `{wanted}`", head.span, way_out))
        elif near:
            message = f"the column `{name}` is no quantity, so it is only a label"
            self.found.append(Diagnostic("CG811", message, head.span, near, severity="warning"))
        return None

    def _take_over(self) -> None:
        self.found.extend(self.scope.found)
        self.scope.found.clear()

    def _column(self, item: _Meaning) -> tuple[list[Value | None], set[int]]:
        """Read a column's cells, each text once; return them, and the rows that a wrong one makes useless."""
        read: dict[str, Value | None] = {}
        wrong: dict[str, tuple[Diagnostic, list[int]]] = {}
        values: list[Value | None] = []
        ids = self._ids(item)
        for number, row in enumerate(self.table.rows):
            text = row.cells[item.column]
            if text not in read:
                read[text] = None if text.lower() in _MISSING else self._cell(item, row, ids)
                if self.scope.found:
                    wrong[text] = (self.scope.found[0], [])
                    self.scope.found.clear()
            if text in wrong:
                wrong[text][1].append(number)
            values.append(read[text])
        for problem, rows in list(wrong.values())[:MOST_TOLD]:
            lost = "row is" if len(rows) == 1 else f"{len(rows)} rows are"
            what = "it is" if item.measures else lost
            message, way_out = f"{problem.message}; {what} left out", problem.help
            if isinstance(item.quantity.definition, Choose):
                way_out += f"; or set it for all rows: `--set {item.quantity.id}=…`"
            self.found.append(replace(problem, message=message, help=way_out, severity="warning"))
        if len(wrong) > MOST_TOLD:
            message = (
                f"{len(wrong) - MOST_TOLD} more texts of `{self.table.header[item.column]}` cannot be read"
            )
            self.found.append(
                Diagnostic("CG815", message, self.table.head(item.column).span, severity="warning")
            )
        return values, {row for _, rows in wrong.values() for row in rows if not item.measures}

    def _ids(self, item: _Meaning) -> Mapping[str, str]:
        """Return the rows that a column's cells may mean by what stands in the field that they are looked up in."""
        definition = item.quantity.definition
        if item.by is None or not isinstance(definition, Choose) or definition.catalog is None:
            return {}
        rows = tuple(self.model.catalogs[definition.catalog].rows.values())
        named = (
            (row.name if item.by == "name" else str(row.values.get(item.by, "")), row.id) for row in rows
        )
        known = {name.strip().lower(): row for text, row in named for name in text.split(",") if name.strip()}
        return {**{row.id.lower(): row.id for row in rows}, **known}

    def _cell(self, item: _Meaning, row: TableRow, ids: Mapping[str, str]) -> Value | None:
        """Read a cell; what is wrong with it is left in the scope."""
        quantity, cell = item.quantity, self.table.cell(row, item.column)
        if (known := ids.get(cell.lower())) is not None:
            return known
        if quantity.unit is None:
            return self.scope.setting(quantity, cell)
        value = (
            float(cell) * item.factor if _PLAIN.fullmatch(cell) else self.scope.number(cell, quantity.unit)
        )
        if value is None:
            return None
        if not item.measures:
            self.scope.within_limits(quantity.id, value, quantity.limits, quantity.unit, cell.span)
        elif not 0 < value < float("inf"):
            message = f"{cell} is no measurement: an error relative to it needs a number above zero"
            self.scope.report("CG815", message, cell.span, "leave the cell empty where nothing was measured")
        return None if self.scope.found else value


def _factor(unit: Unit | None, wanted: Unit) -> float | None:
    """Return what a number in `unit` is multiplied with; nothing where the two do not fit."""
    if unit is None:
        return 1.0
    # As elsewhere, a number may leave out what it is counted by: 14.6 GiB for GiB/GPU.
    target = wanted if unit.dimension == wanted.dimension else without_below(wanted, BASIS)
    return float(unit.size / target.size) if unit.dimension == target.dimension else None


def _number(value: Value | None) -> float:
    return value if isinstance(value, float) else float("nan")
