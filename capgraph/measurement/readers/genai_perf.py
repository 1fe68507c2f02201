"""Exports of genai-perf and AIPerf → one row a run.

In: `profile_export_genai_perf.json` or `profile_export_aiperf.json`, or the CSV beside them → Out: `Table`.
Read from: genai_perf/export_data of perf_analyzer's GenAI-Perf (0.0.5 to 0.0.16); aiperf/exporters of AIPerf 0.1 to
0.14 and its documented JSON schema (1.0 to 1.4). Each metric is an object of its unit and statistics, under the same
name in both tools; a CSV names it in words, with the unit in brackets.

`inter_token_latency` is (latency − TTFT) / (tokens − 1), mean over requests, so it is the time per output token here
(AIPerf with `--per-chunk-usage` subtracts the tokens of the first chunk instead of one); `inter_chunk_latency` is the
time between chunks. The concurrency and rate that were asked for stand in `input_config`, at places that differ by
version: they are read where just one value is found. A CSV does not say them, nor the model.
Invariant: a unit that is not known leaves its metric out, never unconverted.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from typing import TypeVar

from capgraph.diagnostics import Diagnostic, Source, Span
from capgraph.measurement.readers.json_text import Fields, is_json, read_json
from capgraph.measurement.readers.record import Record, tabulate
from capgraph.measurement.table import Table

NAME = "GenAI-Perf or AIPerf"
_AIPERF = "AIPerf"
_OF_AIPERF = ("aiperf_version", "schema_version", "was_cancelled")

_TO_MILLISECONDS = {"ns": 1e-6, "us": 1e-3, "µs": 1e-3, "ms": 1.0, "milliseconds": 1.0}
_TO_MILLISECONDS |= {"s": 1e3, "sec": 1e3, "seconds": 1e3}
_LATENCIES = (("ttft", "time_to_first_token"), ("tpot", "inter_token_latency"), ("e2e", "request_latency"))
_STATISTICS = (("mean", "avg"), ("median", "p50"), ("p99", "p99"))
_MEANS = (
    ("input_tokens", "input_sequence_length"),
    ("output_tokens", "output_sequence_length"),
    ("completed", "request_count"),
    ("failed", "error_request_count"),
    ("mean_concurrency", "effective_concurrency"),
    ("output_throughput", "output_token_throughput"),
    ("total_throughput", "total_token_throughput"),
    ("request_throughput", "request_throughput"),
)
_CSV_START = re.compile(r"\s*Metric,(?:avg|Value)\b")
_CSV_NAME = re.compile(r"([^()]+?)\s*(?:\(([^()]*)\))?\s*")
_LONGEST_CSV = 1024 * 1024
_DEEPEST = 12
_LONGEST_NAME = 200
_Kind = TypeVar("_Kind", str, float)


def recognizes(text: str, _name: str) -> bool:
    """Say whether a text is such an export."""
    if _CSV_START.match(text):
        return True
    if not is_json(text) or '"benchmarks"' in text:
        return False
    return '"request_latency"' in text and '"request_throughput"' in text


def read(source: Source) -> Table | Diagnostic:
    """Read an export; a list or several lines of them are several runs."""
    runs = read_json(source) if is_json(source.text) else _read_csv(source)
    if isinstance(runs, Diagnostic):
        return runs
    records, notes = [], []
    tool = "GenAI-Perf" if is_json(source.text) else NAME
    for run in runs:
        record = _record(run)
        if run.wrong:
            return run.wrong
        if any(map(run.has, _OF_AIPERF)):
            tool = _AIPERF
        if run.at("was_cancelled") is True:
            notes.append("a run was cancelled before its end")
        records.append(record)
    return tabulate(source, tool, records, dict.fromkeys(notes))


def _record(run: Fields) -> Record:
    record = Record(run.span)
    for prefix, metric in _LATENCIES:
        for statistic, key in _STATISTICS:
            _take_time(run, record, f"{statistic}_{prefix}", metric, key, 1.0)
    _take_time(run, record, "mean_itl", "inter_chunk_latency", "avg", 1.0)
    _take_time(run, record, "duration", "benchmark_duration", "avg", 1e-3)
    for column, metric in _MEANS:
        run.take(record, column, metric, "avg")
    config = run.at("input_config")
    record.text("model", _only(config, ("model_names", "model"), str), "input_config")
    record.number("max_concurrency", _only(config, ("concurrency",), float), "input_config.….concurrency")
    record.number("request_rate", _only(config, ("request_rate",), float), "input_config.….request_rate")
    return record


def _take_time(run: Fields, record: Record, column: str, metric: str, key: str, scale: float) -> None:
    """Read a time, by the unit that stands beside it."""
    if not isinstance(run.at(metric), dict):
        return
    factor = _TO_MILLISECONDS.get((run.text(metric, "unit") or "").lower())
    if factor is not None:
        run.take(record, column, metric, key, factor=factor * scale)


def _only(config: object, keys: tuple[str, ...], kind: type[_Kind]) -> _Kind | None:
    """Return the one value that stands under one of the keys, however deep; nothing if there are several."""
    found = set(_values(config, keys, kind, 0))
    return found.pop() if len(found) == 1 else None


def _values(config: object, keys: tuple[str, ...], kind: type[_Kind], depth: int) -> Iterator[_Kind]:
    if isinstance(config, list) and depth < _DEEPEST:
        for item in config:
            yield from _values(item, keys, kind, depth + 1)
    if not isinstance(config, dict) or depth == _DEEPEST:
        return
    for key, value in config.items():
        if key not in keys:
            yield from _values(value, keys, kind, depth + 1)
            continue
        for item in value if isinstance(value, list) else (value,):
            if isinstance(item, kind):
                yield item


def _read_csv(source: Source) -> tuple[Fields, ...] | Diagnostic:
    """Read the two tables of a CSV as the object that the JSON beside it holds."""
    if len(source.text) > _LONGEST_CSV:
        message = f"{source.name} is larger than an export of {NAME} can be"
        return Diagnostic("CG851", message, Span(source, 1, 1, 1, 2), "check that it is the right file")
    metrics: dict[str, object] = {}
    header: list[str] = []
    try:
        for cells in csv.reader(source.text.split("\n")):
            if cells and cells[0] == "Metric":
                header = ["avg" if name == "Value" else name for name in cells]
            elif len(cells) > 1 and len(cells) == len(header):
                name, metric = _metric(header, cells)
                metrics.setdefault(name, metric)
            else:
                header = []
    except csv.Error as error:
        message = f"{source.name} is no table: {error}"
        return Diagnostic("CG853", message, Span(source, 1, 1, 1, 2), "copy the whole file")
    return (Fields(source, metrics, 0, len(source.text)),)


def _metric(header: list[str], cells: list[str]) -> tuple[str, Mapping[str, object]]:
    """Return the name of a row as JSON has it, with its unit and statistics."""
    found = _CSV_NAME.fullmatch(cells[0][:_LONGEST_NAME])
    name, unit = (found[1], found[2]) if found else (cells[0], None)
    numbers = zip(header[1:], (cell.replace(",", "") for cell in cells[1:]), strict=True)
    statistics: dict[str, object] = {key: cell for key, cell in numbers if cell}
    return name.strip().lower().replace(" ", "_"), statistics | {"unit": unit or ""}
