"""A file of measurements → its text, and what tells one state of it from another.

In: a path → Out: `Source`, or what is wrong with the file; of a source, its digest.
Invariant: sizes are bounded; a byte order mark and the kind of line ends change neither text nor digest.
"""

from __future__ import annotations

import os
from hashlib import sha256
from itertools import islice
from pathlib import Path

from capgraph.diagnostics import Diagnostic, Source, did_you_mean
from capgraph.yamltree import Scalar

MAX_BYTES = 32 * 1024 * 1024
MAX_LINES = 2_000_000
_MOST_NAMES = 1_000


def read_text(path: Path) -> Source | Diagnostic:
    """Read a text, without the byte order mark, each line ended by a newline."""
    shown = os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)
    try:
        if not path.is_file():
            what = "is a folder" if path.is_dir() else "does not exist"
            return Diagnostic("CG850", f"{shown} {what}", None, _near(path) or "name a file of measurements")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        return Diagnostic("CG850", f"{shown} cannot be read: {reason}", None, "check the path and its rights")
    if len(data) > MAX_BYTES or data.count(b"\n") + data.count(b"\r") > MAX_LINES:
        message = f"{shown} is larger than {MAX_BYTES // 1024**2} MiB, or has more than {MAX_LINES:,} lines"
        return Diagnostic("CG851", message, None, "split the file, or leave out the single requests")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        text = data.decode("utf-8", "replace")
        first = len(data[: error.start].decode("utf-8", "replace"))
        place = Scalar.at(Source(path.name, text, shown), first, first + 1).span
        return Diagnostic("CG852", f"{shown} is not UTF-8 text", place, "save the file as UTF-8")
    return Source(path.name, text.replace("\r\n", "\n").replace("\r", "\n"), shown)


def digest(source: Source) -> str:
    """Return the SHA-256 of a text that was read: that of the file, where its lines end as usual."""
    return sha256(source.text.encode("utf-8", "surrogatepass")).hexdigest()


def _near(path: Path) -> str:
    """Propose a file of the same folder."""
    if path.is_dir() or not path.parent.is_dir():
        return ""
    return did_you_mean(path.name, [item.name for item in islice(path.parent.iterdir(), _MOST_NAMES)])
