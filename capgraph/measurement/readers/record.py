"""What a reader finds, column by column → rows of a table.

In: `Record`, one for each measurement, filled by a reader → Out: `Table`, with only the columns that are not empty.
Invariant: a number is finite and written as `repr` writes it; what a tool did not measure is an empty cell, and so is
the 0 that tools write for a latency of which they have no sample.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from capgraph.diagnostics import Diagnostic, Source, Span
from capgraph.measurement.readers.columns import COLUMNS, heading
from capgraph.measurement.table import Table, TableRow

# A month of scrapes of one engine, each 10 s, is within it; a record takes a kilobyte.
MAX_RECORDS = 250_000
_LONGEST_TEXT = 1_000
_NOT_STATED = frozenset({"", "none", "null", "n/a"})


class Record:
    """One measurement while it is read: its cells, and the fields that they were read from."""

    def __init__(self, span: Span) -> None:
        self.span = span
        self.cells: dict[str, str] = {}
        self.fields: dict[str, str] = {}

    def number(self, column: str, value: float | None, field: str) -> None:
        """Keep a number; the first that is found for a column stays."""
        if value is None or column in self.cells or not math.isfinite(value):
            return
        if value == 0 and COLUMNS[column].unit == "ms":
            return
        self.cells[column] = repr(float(value))
        self.fields[column] = field

    def text(self, column: str, value: str | None, field: str) -> None:
        """Keep a text; the first that is found for a column stays."""
        if value is None or column in self.cells or value.strip().lower() in _NOT_STATED:
            return
        self.cells[column] = value.strip()[:_LONGEST_TEXT]
        self.fields[column] = field

    def value(self, column: str) -> float | None:
        """Return a number that was kept."""
        return float(self.cells[column]) if column in self.cells else None


def tabulate(
    source: Source,
    tool: str,
    records: Sequence[Record],
    notes: Iterable[str] = (),
    way_out: str = "check that the run ended and that a request succeeded",
) -> Table | Diagnostic:
    """Make a table of the records that say more than what was run; say so if there is none."""
    for record in records:
        _count_gpus(record)
    kept = [record for record in records if any(column not in _SETUP for column in record.cells)]
    if not kept:
        message = f"{source.name} looks like an output of {tool}, but holds no measurement"
        return Diagnostic("CG855", message, Span(source, 1, 1, 1, 2), way_out)
    if len(kept) > MAX_RECORDS:
        message = f"{source.name} holds more than {MAX_RECORDS:,} measurements"
        return Diagnostic("CG851", message, kept[MAX_RECORDS].span, "split the file")
    columns = [column for column in COLUMNS if any(column in record.cells for record in kept)]
    rows = tuple(
        TableRow(tuple(record.cells.get(column, "") for column in columns), record.span) for record in kept
    )
    return Table(source, tuple(map(heading, columns)), rows, tool, _used(columns, kept), "; ".join(notes))


def _count_gpus(record: Record) -> None:
    """Tell the GPUs of one copy of the model, where it is said how its layers are shared."""
    shared, stages = record.value("tensor_parallel"), record.value("pipeline_parallel")
    if shared is not None:
        names = [
            record.fields[name] for name in ("tensor_parallel", "pipeline_parallel") if name in record.fields
        ]
        record.number("gpus", shared * (stages or 1.0), " × ".join(names))


def _used(columns: Sequence[str], records: Sequence[Record]) -> Mapping[str, str]:
    """Return for each heading the fields that its cells come from, each once, in order of appearance."""
    return MappingProxyType(
        {
            heading(column): ", ".join(
                dict.fromkeys(record.fields[column] for record in records if column in record.fields)
            )
            for column in columns
        }
    )


# What says only what was run, or when.
_SETUP = frozenset(list(COLUMNS)[: list(COLUMNS).index("completed")])
