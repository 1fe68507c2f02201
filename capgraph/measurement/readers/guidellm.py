"""GuideLLM reports → one row a benchmark, which is one rate or concurrency of a run.

In: `benchmarks.json` → Out: `Table`.
Read from: src/guidellm/benchmark of GuideLLM 0.1 to 0.3 (`args.strategy`, `worker`, `request_totals`) and
src/guidellm/benchmark/schemas since 0.4 (`config.strategy`, `config.backend`, `metrics.request_totals`).

Latencies and tokens are those of successful requests; concurrency and tokens a second those of all, since requests that
were cut off at the end had been served too. Time per output token is `inter_token_latency_ms`, (last − first token) /
(tokens − 1), weighted by tokens: `time_per_output_token_ms` divides by all tokens and, since 0.4, holds the time to the
first, so it is not read. Request latency is in seconds in the file.
Invariant: a benchmark without successful requests is no measurement.
"""

from __future__ import annotations

from capgraph.diagnostics import Diagnostic, Source
from capgraph.measurement.readers.json_text import Fields, is_json, read_json
from capgraph.measurement.readers.record import Record, tabulate
from capgraph.measurement.table import Table

NAME = "GuideLLM"

# Prefix of the columns, the distribution, and the factor to milliseconds.
_LATENCIES = (
    ("ttft", "time_to_first_token_ms", 1.0),
    ("tpot", "inter_token_latency_ms", 1.0),
    ("e2e", "request_latency", 1000.0),
)
_STATISTICS = (("mean", ("mean",)), ("median", ("median",)), ("p99", ("percentiles", "p99")))
_MEANS = (
    ("input_tokens", "prompt_token_count", "successful"),
    ("output_tokens", "output_token_count", "successful"),
    ("request_throughput", "requests_per_second", "successful"),
    ("mean_concurrency", "request_concurrency", "total"),
    ("output_throughput", "output_tokens_per_second", "total"),
    ("total_throughput", "tokens_per_second", "total"),
)


def recognizes(text: str, _name: str) -> bool:
    """Say whether a text is such a report."""
    return is_json(text) and '"benchmarks"' in text and '"request_concurrency"' in text


def read(source: Source) -> Table | Diagnostic:
    """Read all benchmarks of a report."""
    reports = read_json(source)
    if isinstance(reports, Diagnostic):
        return reports
    records = []
    for report in reports:
        found = report.at("benchmarks")
        for values in found if isinstance(found, list) else ():
            if not isinstance(values, dict):
                continue
            benchmark = Fields(source, values, report.first, report.last)
            record = _record(report, benchmark)
            if wrong := report.wrong or benchmark.wrong:
                return wrong
            if record.value("completed"):
                records.append(record)
    return tabulate(source, NAME, records)


def _record(report: Fields, benchmark: Fields) -> Record:
    record = Record(report.span)
    _describe(report, benchmark, record)
    benchmark.take(record, "duration", "duration")
    for totals in (("request_totals",), ("metrics", "request_totals")):
        benchmark.take(record, "completed", *totals, "successful")
        benchmark.take(record, "failed", *totals, "errored")
    for prefix, distribution, factor in _LATENCIES:
        for statistic, path in _STATISTICS:
            column = f"{statistic}_{prefix}"
            benchmark.take(record, column, "metrics", distribution, "successful", *path, factor=factor)
    for column, distribution, status in _MEANS:
        benchmark.take(record, column, "metrics", distribution, status, "mean")
    return record


def _describe(report: Fields, benchmark: Fields, record: Record) -> None:
    """Add what was run: the strategy, its rate or concurrency, and the model."""
    if isinstance(benchmark.at("worker"), dict):
        benchmark.name(record, "model", "worker", "backend_model")
    if isinstance(benchmark.at("config", "backend"), dict):
        benchmark.name(record, "model", "config", "backend", "model")
    if isinstance(report.at("args"), dict):
        report.name(record, "model", "args", "model")
    for owner in ("args", "config"):
        strategy = (owner, "strategy")
        if not isinstance(benchmark.at(*strategy), dict):
            continue
        benchmark.name(record, "strategy", *strategy, "type_")
        if benchmark.at(*strategy, "type_") == "synchronous":
            record.number("max_concurrency", 1, ".".join((*strategy, "type_")))
        benchmark.take(record, "max_concurrency", *strategy, "streams")
        benchmark.take(record, "max_concurrency", *strategy, "max_concurrency")
        benchmark.take(record, "request_rate", *strategy, "rate")
