"""Standard output and error as this program writes them.

In: a stream of the process → Out: the same in UTF-8, which a reader may close early.
Invariant: `capgraph eval … | head` ends like any other run: what is still to be written goes nowhere.
"""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class _Pipe(io.RawIOBase):
    """Writes to a file descriptor until its reader is gone."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self.descriptor

    def isatty(self) -> bool:
        return os.isatty(self.descriptor)

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return os.write(self.descriptor, data)
        except BrokenPipeError:
            # The typer library would end with 1, which says that the model has errors.
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.descriptor)
            return memoryview(data).nbytes


def open_stream(stream: TextIO | None) -> TextIO:
    """Return the stream in UTF-8, deaf to a reader that leaves; one that was closed before goes nowhere."""
    if stream is None:
        return Path(os.devnull).open("w", encoding="utf-8")
    stream.flush()
    raw = _Pipe(stream.fileno())
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding="utf-8", errors="replace", line_buffering=raw.isatty())
