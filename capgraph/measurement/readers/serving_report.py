"""The report that serving benchmarks print → one row a run.

In: a terminal's output of `vllm bench serve`, benchmark_serving.py or SGLang's bench_serving → Out: `Table`.
Read from: vllm/benchmarks/serve.py (0.6 to 0.22) and python/sglang/bench_serving.py (0.3 to 0.5), which grew from it
and prints the same frame. A run begins with the line `Serving Benchmark Result`; the arguments that older ones print
before it (`Namespace(…)`) name the model.

Printed numbers have two decimals; the saved result is the better source. Mean tokens are the totals over the successful
requests. TPOT is (latency − TTFT) / (tokens − 1); SGLang printed only the time between chunks (ITL) at first.
Invariant: a run without successful requests is no measurement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from capgraph.diagnostics import Diagnostic, Source, Span
from capgraph.measurement.readers.log_text import line_span, marked_lines, settings_of
from capgraph.measurement.readers.record import MAX_RECORDS, Record, tabulate
from capgraph.measurement.table import Table

NAME = "printed serving benchmark"

_BEGINNING = "Serving Benchmark Result"
_ARGUMENTS = "Namespace("
_NUMBERS = {
    "Maximum request concurrency": "max_concurrency",
    "Max request concurrency": "max_concurrency",
    "Concurrency": "mean_concurrency",
    "Request rate configured (RPS)": "request_rate",
    "Traffic request rate": "request_rate",
    "Successful requests": "completed",
    "Failed requests": "failed",
    "Benchmark duration (s)": "duration",
    "Request throughput (req/s)": "request_throughput",
    "Output token throughput (tok/s)": "output_throughput",
    "Total Token throughput (tok/s)": "total_throughput",
    "Total token throughput (tok/s)": "total_throughput",
    "Mean TTFT (ms)": "mean_ttft",
    "Median TTFT (ms)": "median_ttft",
    "P99 TTFT (ms)": "p99_ttft",
    "Mean TPOT (ms)": "mean_tpot",
    "Median TPOT (ms)": "median_tpot",
    "P99 TPOT (ms)": "p99_tpot",
    "Mean ITL (ms)": "mean_itl",
    "Mean E2EL (ms)": "mean_e2e",
    "Median E2EL (ms)": "median_e2e",
    "P99 E2EL (ms)": "p99_e2e",
    "Mean E2E Latency (ms)": "mean_e2e",
    "Median E2E Latency (ms)": "median_e2e",
    "P99 E2E Latency (ms)": "p99_e2e",
}
_TOTALS = {"Total input tokens": "input_tokens", "Total generated tokens": "output_tokens"}
_ENGINES = {"sglang": "SGLang", "sglang-oai": "SGLang", "sglang-oai-chat": "SGLang"}
_ENGINES |= {"vllm": "vLLM", "trt": "TensorRT-LLM"}
_BACKEND = "Backend"
_NUMBER = re.compile(r"\d{1,20}(?:\.\d{1,20})?")


def recognizes(text: str, _name: str) -> bool:
    """Say whether a text holds such a report."""
    return f" {_BEGINNING} =" in text


def read(source: Source) -> Table | Diagnostic:
    """Read all reports of a text."""
    records = [record for record in islice(_reports(source), MAX_RECORDS + 1) if record.value("completed")]
    return tabulate(source, NAME, records)


def _reports(source: Source) -> Iterator[Record]:
    number, arguments, texts = 0, "", dict[str, str]()
    for at, line in marked_lines(source, (_BEGINNING, _ARGUMENTS, _BACKEND, *_NUMBERS, *_TOTALS)):
        if (_BEGINNING in line or _ARGUMENTS in line) and texts:
            yield _report(line_span(source, number), texts, arguments)
            number, texts = 0, {}
        if _ARGUMENTS in line:
            arguments = line
        elif _BEGINNING in line:
            number = at
        elif number:
            name, _, value = (part.strip() for part in line.partition(":"))
            texts.setdefault(name, value)
    if texts:
        yield _report(line_span(source, number), texts, arguments)


def _report(span: Span, texts: Mapping[str, str], arguments: str) -> Record:
    """Return the row of a report, from its names and what stands behind them."""
    record = Record(span)
    record.text("model", settings_of(arguments).get("model"), "Namespace: model")
    record.text("engine", _ENGINES.get(texts.get(_BACKEND, "")), _BACKEND)
    for name, column in _NUMBERS.items():
        record.number(column, _number(texts.get(name)), name)
    completed = record.value("completed")
    for name, column in _TOTALS.items():
        total = _number(texts.get(name))
        if completed and total is not None:
            record.number(column, total / completed, f"{name} / Successful requests")
    return record


def _number(text: str | None) -> float | None:
    return float(text) if text and _NUMBER.fullmatch(text) else None
