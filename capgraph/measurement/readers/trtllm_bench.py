"""Reports of `trtllm-bench throughput` → one row a report.

In: what it prints, also within a log, or its `--report_json` → Out: `Table`.
Read from: tensorrt_llm/bench/dataclasses/reporting.py of TensorRT-LLM 1.x and the printed reports of 0.12 and 0.16,
which say less: tokens a second without those of prompts, the total latency in seconds, no latency of requests. The
report of `trtllm-bench latency` is another one and is not read.

The time per output token is (end − first token) / (tokens − 1), mean over requests; it and the time to first token are
there for `--streaming` only. The KV memory percentage is a share of what is free beside the weights.
Invariant: text and JSON of one run give the same row, but for what only the JSON holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from capgraph.diagnostics import Diagnostic, Source, Span
from capgraph.measurement.readers.json_text import is_json, read_json
from capgraph.measurement.readers.log_text import line_span, marked_lines
from capgraph.measurement.readers.record import MAX_RECORDS, Record, tabulate
from capgraph.measurement.table import Table

NAME = "trtllm-bench"

# Column, path in the JSON, factor to the column's unit, and the names in print.
_NUMBERS: tuple[tuple[str, tuple[str, ...], float, tuple[str, ...]], ...] = (
    ("tensor_parallel", ("world_info", "tp_size"), 1.0, ("TP Size",)),
    ("pipeline_parallel", ("world_info", "pp_size"), 1.0, ("PP Size",)),
    ("max_running", ("world_info", "max_batch_size"), 1.0, ("Max Runtime Batch Size",)),
    ("prefill_chunk", ("world_info", "max_num_tokens"), 1.0, ("Max Runtime Tokens",)),
    ("memory_fraction", ("world_info", "kv_cache_percentage"), 1.0, ("KV Memory Percentage",)),
    ("max_model_len", ("engine", "max_sequence_length"), 1.0, ("Max Sequence Length",)),
    ("completed", ("request_info", "num_requests"), 1.0, ("Number of requests",)),
    (
        "mean_concurrency",
        ("request_info", "avg_num_concurrent_requests"),
        1.0,
        ("Number of concurrent requests",),
    ),
    ("input_tokens", ("request_info", "avg_input_length"), 1.0, ("Average Input Length (tokens)",)),
    ("output_tokens", ("request_info", "avg_output_length"), 1.0, ("Average Output Length (tokens)",)),
    ("duration", ("performance", "total_latency_ms"), 1e-3, ("Total Latency (ms)",)),
    (
        "request_throughput",
        ("performance", "request_throughput_req_s"),
        1.0,
        ("Request Throughput (req/sec)",),
    ),
    (
        "output_throughput",
        ("performance", "system_output_throughput_tok_s"),
        1.0,
        ("Total Output Throughput (tokens/sec)", "Token Throughput (tokens/sec)"),
    ),
    (
        "total_throughput",
        ("performance", "system_total_throughput_tok_s"),
        1.0,
        ("Total Token Throughput (tokens/sec)",),
    ),
    ("mean_e2e", ("performance", "avg_request_latency_ms"), 1.0, ("Average request latency (ms)",)),
    ("median_e2e", ("performance", "request_latency_percentiles_ms", "p50"), 1.0, ("[Latency] P50",)),
    ("p99_e2e", ("performance", "request_latency_percentiles_ms", "p99"), 1.0, ("[Latency] P99",)),
    ("mean_ttft", ("streaming_metrics", "avg_ttft_ms"), 1.0, ("Average time-to-first-token [TTFT] (ms)",)),
    ("median_ttft", ("streaming_metrics", "ttft_percentiles", "p50"), 1.0, ("[TTFT] P50",)),
    ("p99_ttft", ("streaming_metrics", "ttft_percentiles", "p99"), 1.0, ("[TTFT] P99",)),
    ("mean_tpot", ("streaming_metrics", "avg_tpot_ms"), 1.0, ("Average time-per-output-token [TPOT] (ms)",)),
    ("median_tpot", ("streaming_metrics", "tpot_percentiles", "p50"), 1.0, ("[TPOT] P50",)),
    ("p99_tpot", ("streaming_metrics", "tpot_percentiles", "p99"), 1.0, ("[TPOT] P99",)),
)
_TEXTS: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("model", ("engine", "model"), ("Model",)),
    ("engine_version", ("engine", "version"), ("TensorRT LLM Version", "TensorRT-LLM Version")),
    ("weight_dtype", ("engine", "quantization"), ("Quantization",)),
    ("weight_dtype", ("engine", "dtype"), ("Dtype",)),
    ("kv_dtype", ("engine", "kv_cache_dtype"), ("KV Cache Dtype",)),
    ("gpu", ("machine", "name"), ()),
)
_BEGINNINGS = ("= ENGINE DETAILS", "= PYTORCH BACKEND", "= _AUTODEPLOY BACKEND")
_NAMES = {name: (column, factor) for column, _, factor, names in _NUMBERS for name in names}
_NAMES["Total Latency (seconds)"] = ("duration", 1.0)
_TEXT_NAMES = {name: column for column, _, names in _TEXTS for name in names}
_NUMBER = re.compile(r"([+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(%?)")


def recognizes(text: str, _name: str) -> bool:
    """Say whether a text is such a report."""
    if is_json(text):
        return '"world_info"' in text and '"request_info"' in text
    return "Request Throughput (req/sec):" in text and "Average Output Length (tokens):" in text


def read(source: Source) -> Table | Diagnostic:
    """Read all reports of a file."""
    if not is_json(source.text):
        return tabulate(source, NAME, tuple(islice(_printed(source), MAX_RECORDS + 1)))
    reports = read_json(source)
    if isinstance(reports, Diagnostic):
        return reports
    records = []
    for report in reports:
        record = Record(report.span)
        if report.has("world_info"):
            record.text("engine", "TensorRT-LLM", "world_info")
        for column, path, factor, _ in _NUMBERS:
            report.take(record, column, *path, factor=factor)
        for column, path, _ in _TEXTS:
            report.name(record, column, *path)
        report.take(record, "gpu_memory", "machine", "memory.total")
        if report.wrong:
            return report.wrong
        records.append(record)
    return tabulate(source, NAME, records)


def _printed(source: Source) -> Iterator[Record]:
    """Yield the printed reports; one begins with the details of its engine."""
    number, texts = 0, dict[str, str]()
    for at, line in marked_lines(source, (*_BEGINNINGS, *_NAMES, *_TEXT_NAMES)):
        if not number or any(mark in line for mark in _BEGINNINGS):
            if texts:
                yield _report(line_span(source, number), texts)
            number, texts = at, {}
        name, _, value = (part.strip() for part in line.partition(":"))
        if name in _NAMES or name in _TEXT_NAMES:
            texts.setdefault(name, value)
    if texts:
        yield _report(line_span(source, number), texts)


def _report(span: Span, texts: Mapping[str, str]) -> Record:
    """Return the row of a printed report, from its names and what stands behind them."""
    record = Record(span)
    record.text("engine", "TensorRT-LLM", "the report")
    for name, column in _TEXT_NAMES.items():
        record.text(column, texts.get(name), name)
    for name, (column, factor) in _NAMES.items():
        if found := _NUMBER.fullmatch(texts.get(name, "")):
            record.number(column, float(found[1]) * factor / (100 if found[2] else 1), name)
    return record
