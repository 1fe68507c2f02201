"""Readers of what benchmarks and engines write → tables of measurements.

In: a file → Out: `Table`, or what is wrong with the file.
Invariant: a file is known by what is in it, not by its name; what no reader knows is a CSV of one's own. A file of any
content is read or refused with a message, within a bounded multiple of its size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from capgraph.diagnostics import Diagnostic, Source
from capgraph.measurement.files import read_text
from capgraph.measurement.readers import (
    genai_perf,
    guidellm,
    prometheus,
    serving_report,
    sglang_bench,
    sglang_log,
    trtllm_bench,
    vllm_bench,
    vllm_log,
)
from capgraph.measurement.readers.json_text import is_json
from capgraph.measurement.table import Table, read_csv
from capgraph.yamltree import Scalar


@dataclass(frozen=True, slots=True)
class Reader:
    """What reads the output of one tool."""

    name: str
    recognizes: Callable[[str, str], bool]
    read: Callable[[Source], Table | Diagnostic]


READERS: tuple[Reader, ...] = (
    Reader(vllm_bench.NAME, vllm_bench.recognizes, vllm_bench.read),
    Reader(sglang_bench.NAME, sglang_bench.recognizes, sglang_bench.read),
    Reader(guidellm.NAME, guidellm.recognizes, guidellm.read),
    Reader(genai_perf.NAME, genai_perf.recognizes, genai_perf.read),
    Reader(trtllm_bench.NAME, trtllm_bench.recognizes, trtllm_bench.read),
    Reader(prometheus.NAME, prometheus.recognizes, prometheus.read),
    Reader(serving_report.NAME, serving_report.recognizes, serving_report.read),
    Reader(vllm_log.NAME, vllm_log.recognizes, vllm_log.read),
    Reader(sglang_log.NAME, sglang_log.recognizes, sglang_log.read),
)


def read_measurements(path: Path) -> tuple[Table | None, tuple[Diagnostic, ...]]:
    """Read a file of up to 32 MiB, with the reader that knows it or as a CSV."""
    source = read_text(path)
    if isinstance(source, Diagnostic):
        return None, (source,)
    reader = next((reader for reader in READERS if reader.recognizes(source.text, path.name)), None)
    if reader is not None:
        found = reader.read(source)
        return (None, (found,)) if isinstance(found, Diagnostic) else (found, ())
    if is_json(source.text):
        message = f"{source.name} is JSON, but of no tool that is known"
        way_out = f"known are: {', '.join(reader.name for reader in READERS)}; or make a CSV of it"
        return None, (Diagnostic("CG854", message, Scalar.at(source, 0, 1).span, way_out),)
    return read_csv(source)
