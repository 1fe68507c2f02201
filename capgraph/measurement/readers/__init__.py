"""Files of measurements → tables, whatever program wrote them.

In: a path → Out: its `Table`, or what is wrong with the file.
Invariant: a file is told by what it holds, not by its name; what no reader knows is read as a CSV.
"""

from __future__ import annotations

import os
from pathlib import Path

from capgraph.diagnostics import Diagnostic, Source
from capgraph.measurement.table import Table, read_csv

MAX_BYTES = 32 * 1024 * 1024


def read_measurements(path: Path) -> tuple[Table | None, tuple[Diagnostic, ...]]:
    """Read a file of measurements."""
    return read_csv(Source(path.name, path.read_text("utf-8-sig"), os.fspath(path)))
