"""Prometheus: vLLM's gauges → one row a scrape, or a time stamp, of each engine.

In: a scrape of `/metrics` (text exposition format), or answers of Prometheus's `/api/v1/query` and `query_range` (one,
several one a line, or a list) → Out: `Table`.
Read from: vllm/v1/metrics/loggers.py (`kv_cache_usage_perc`, since 0.10) and vllm/engine/metrics.py
(`gpu_cache_usage_perc`, before); Prometheus's documentation of its text format and HTTP API. Names with `_` for `:`,
as other collectors write them, count too.

Series are put side by side by their time stamp and their labels model_name, instance, pod and engine. `kv_usage` is a
share, 0 to 1, though its name says percent. Preemptions count from the start of the engine. `cache_config_info`, where
it says so, gives the engine's own count of the tokens in the KV pool. A range that was asked for with a function around
the gauge has lost its name, and is left out.
Invariant: a value is put in the row of its own time stamp, never of a near one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping

from capgraph.diagnostics import Diagnostic, Source, Span
from capgraph.measurement.readers.json_text import Fields, is_json, read_json
from capgraph.measurement.readers.log_text import line_span, marked_lines
from capgraph.measurement.readers.record import MAX_RECORDS, Record, tabulate
from capgraph.measurement.table import Table

NAME = "Prometheus (vLLM)"

_GAUGES = {
    "kv_cache_usage_perc": "kv_usage",
    "gpu_cache_usage_perc": "kv_usage",
    "num_requests_running": "running",
    "num_requests_waiting": "waiting",
    "num_preemptions_total": "preemptions",
}
_INFO = "cache_config_info"
_INFO_NUMBERS = {"kv_tokens": "kv_cache_size_tokens", "memory_fraction": "gpu_memory_utilization"}
_NAMES = tuple(f"vllm{separator}{name}" for name in (*_GAUGES, _INFO) for separator in ":_")
_LABELS = {"model": "model_name", "instance": "instance", "pod": "pod", "rank": "engine"}
_SAMPLE = re.compile(r"vllm[:_](\w{1,200})(?:\{(.*)\})?\s+(\S{1,40})(?:\s+(\d{1,20}))?\s*")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_ESCAPED = re.compile(r"\\(.)")

_WAY_OUT = "ask for the gauges themselves, such as `vllm:num_requests_running`"
_Labels = tuple[str, ...]


class _Engines:
    """Rows while they are filled, by the labels of their engine and their time."""

    def __init__(self) -> None:
        self._rows: dict[tuple[_Labels, float], Record] = {}
        self._settings: dict[_Labels, Mapping[str, str]] = {}
        self.nameless = 0

    @property
    def full(self) -> bool:
        """Say whether there are more rows than a table may have."""
        return len(self._rows) > MAX_RECORDS

    def add(self, name: str, labels: Mapping[str, str], time: float, value: float, span: Span) -> None:
        """Add the value of a gauge to its row."""
        engine = tuple(labels.get(label, "") for label in _LABELS.values())
        if name == _INFO:
            self._settings[engine] = labels
            return
        record = self._rows.get((engine, time))
        if record is None:
            record = self._rows[engine, time] = Record(span)
            record.text("engine", "vLLM", "the names of the series")
            record.number("time", time or None, "the time stamp")
            for (column, label), text in zip(_LABELS.items(), engine, strict=True):
                record.text(column, text, f"label {label}")
        record.number(_GAUGES[name], value, f"vllm:{name}")

    def records(self) -> tuple[Record, ...]:
        """Return the rows by engine, then by time."""
        for (engine, _), record in self._rows.items():
            for column, label in _INFO_NUMBERS.items():
                text = self._settings.get(engine, {}).get(label, "")
                record.number(column, _float(text), f"vllm:{_INFO}, label {label}")
        return tuple(self._rows[key] for key in sorted(self._rows))


def recognizes(text: str, _name: str) -> bool:
    """Say whether a text is a scrape of vLLM, or an answer of Prometheus."""
    if is_json(text):
        return '"resultType"' in text
    return any(re.search(rf"^{name}[{{ ]", text, re.MULTILINE) for name in _NAMES if name in text)


def read(source: Source) -> Table | Diagnostic:
    """Read a scrape or answers of Prometheus."""
    engines = _Engines()
    if not is_json(source.text):
        _read_scrape(source, engines)
        return tabulate(source, NAME, engines.records(), (), _WAY_OUT)
    answers = read_json(source)
    if isinstance(answers, Diagnostic):
        return answers
    for answer in answers:
        _read_answer(answer, engines)
    notes = [f"{engines.nameless} series without a name are left out"] if engines.nameless else []
    return tabulate(source, NAME, engines.records(), notes, _WAY_OUT)


def _read_scrape(source: Source, engines: _Engines) -> None:
    for number, line in marked_lines(source, _NAMES):
        found = _SAMPLE.fullmatch(line.strip())
        if found is None or found[1] not in (*_GAUGES, _INFO):
            continue
        value = _float(found[3])
        if value is not None:
            if engines.full:
                return
            labels = {key: _ESCAPED.sub(r"\1", text) for key, text in _LABEL.findall(found[2] or "")}
            engines.add(found[1], labels, float(found[4] or 0) / 1000, value, line_span(source, number))


def _read_answer(answer: Fields, engines: _Engines) -> None:
    found = answer.at("data", "result")
    for series in found if isinstance(found, list) else ():
        metric = series.get("metric") if isinstance(series, dict) else None
        if not isinstance(metric, dict):
            continue
        labels = {key: text for key, text in metric.items() if isinstance(text, str)}
        name = labels.get("__name__", "")
        engines.nameless += not name
        for time, value in _samples(series) if name in _NAMES else ():
            if engines.full:
                return
            engines.add(name[5:], labels, time, value, answer.span)


def _samples(series: Mapping[str, object]) -> Iterator[tuple[float, float]]:
    """Yield the time stamps and values of a series, of a range or an instant."""
    values = series.get("values")
    for pair in values if isinstance(values, list) else (series.get("value"),):
        if not isinstance(pair, list) or len(pair) != 2:
            continue
        time, text = pair
        value = _float(text) if isinstance(text, str) else None
        if isinstance(time, float) and math.isfinite(time) and value is not None:
            yield time, value


def _float(text: str) -> float | None:
    """Return the number that a text is, if it is a finite one."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and "_" not in text else None
