"""Results of `vllm bench serve` → one row a run.

In: what `--save-result` or `--append-result` writes → Out: `Table`.
Read from: vllm/benchmarks/serve.py of vLLM 0.9 to 0.22, and benchmarks/benchmark_serving.py before it (0.6 to 0.8): an
object of a run; runs appended one a line; with and without `--save-detailed`.

Mean tokens are the totals over the completed requests. `mean_tpot_ms` is (latency − TTFT) / (tokens − 1), mean over
requests; `mean_itl_ms` the mean over chunks. Both, and TTFT, are 0 where nothing was streamed. Where the mean latency
was not asked for (`--percentile-metrics`), it comes from the latencies of the single requests, if they were saved. The
mean concurrency is the sum of the latencies over the duration (Little's law). `--metadata KEY=VALUE` is read where its
key is one of the columns, or an engine argument: tensor_parallel_size, gpu, dtype, quantization, kv_cache_dtype ….
Invariant: a run without completed requests is no measurement.
"""

from __future__ import annotations

from capgraph.diagnostics import Diagnostic, Source
from capgraph.measurement.readers.json_text import Fields, is_json, read_json
from capgraph.measurement.readers.record import Record, tabulate
from capgraph.measurement.table import Table

NAME = "vllm bench serve"

# The client's name of a backend, where it says which engine it was.
_ENGINES = {
    "vllm": "vLLM",
    "sglang": "SGLang",
    "tensorrt-llm": "TensorRT-LLM",
    "tgi": "TGI",
    "lmdeploy": "LMDeploy",
}
_NUMBERS = {
    "max_concurrency": "max_concurrency",
    "request_rate": "request_rate",
    "completed": "completed",
    "failed": "failed",
    "duration": "duration",
    "mean_ttft": "mean_ttft_ms",
    "median_ttft": "median_ttft_ms",
    "p99_ttft": "p99_ttft_ms",
    "mean_tpot": "mean_tpot_ms",
    "median_tpot": "median_tpot_ms",
    "p99_tpot": "p99_tpot_ms",
    "mean_itl": "mean_itl_ms",
    "mean_e2e": "mean_e2el_ms",
    "median_e2e": "median_e2el_ms",
    "p99_e2e": "p99_e2el_ms",
    "output_throughput": "output_throughput",
    "total_throughput": "total_token_throughput",
    "request_throughput": "request_throughput",
}
_TEXT_METADATA = (
    ("engine", "engine"),
    ("engine_version", "engine_version"),
    ("engine_version", "vllm_version"),
    ("gpu", "gpu"),
    ("gpu", "gpu_type"),
    ("weight_dtype", "weight_dtype"),
    ("weight_dtype", "quantization"),
    ("weight_dtype", "dtype"),
    ("kv_dtype", "kv_dtype"),
    ("kv_dtype", "kv_cache_dtype"),
)
_NUMBER_METADATA = (
    ("tensor_parallel", "tensor_parallel"),
    ("tensor_parallel", "tensor_parallel_size"),
    ("tensor_parallel", "tp"),
    ("pipeline_parallel", "pipeline_parallel"),
    ("pipeline_parallel", "pipeline_parallel_size"),
    ("data_parallel", "data_parallel_size"),
    ("memory_fraction", "gpu_memory_utilization"),
    ("max_model_len", "max_model_len"),
)


def recognizes(text: str, _name: str) -> bool:
    """Say whether a text is such a result."""
    return is_json(text) and '"total_input_tokens"' in text and '"model_id"' in text


def read(source: Source) -> Table | Diagnostic:
    """Read all runs of a file."""
    runs = read_json(source)
    if isinstance(runs, Diagnostic):
        return runs
    records = []
    for run in runs:
        if not run.has("total_input_tokens"):
            continue
        record = _record(run)
        if run.wrong:
            return run.wrong
        if record.value("completed"):
            records.append(record)
    return tabulate(source, NAME, records)


def _record(run: Fields) -> Record:
    record = Record(run.span)
    run.name(record, "label", "label")
    run.name(record, "model", "model_id")
    run.name(record, "date", "date")
    for column, key in _TEXT_METADATA:
        run.name(record, column, key)
    record.text("engine", _ENGINES.get(run.text("backend") or ""), "backend")
    for column, key in (*_NUMBERS.items(), *_NUMBER_METADATA):
        run.take(record, column, key)
    completed = record.value("completed")
    asked = run.number("num_prompts")
    if completed is not None and asked is not None:
        record.number("failed", max(asked - completed, 0), "num_prompts − completed")
    if completed:
        for column, key in (("input_tokens", "total_input_tokens"), ("output_tokens", "total_output_tokens")):
            total = run.number(key)
            record.number(column, None if total is None else total / completed, f"{key} / completed")
        _add_latency(run, record, completed)
    return record


def _add_latency(run: Fields, record: Record, completed: float) -> None:
    """Add the mean latency, from the single requests if need be, and the mean concurrency."""
    if "mean_e2e" not in record.cells:
        total, field = _summed_latency(run)
        record.number("mean_e2e", total / completed * 1000, field)
    mean, duration = record.value("mean_e2e"), record.value("duration")
    if mean is not None and duration:
        field = f"completed × {record.fields['mean_e2e']} / duration"
        record.number("mean_concurrency", completed * mean / 1000 / duration, field)


def _summed_latency(run: Fields) -> tuple[float, str]:
    """Return the sum of the latencies of the requests that succeeded, 0 where they were not saved [s]."""
    sizes, latencies, firsts = run.numbers("output_lens"), run.numbers("latencies"), run.numbers("ttfts")
    if latencies and len(sizes) == len(latencies):
        return sum(value for value, size in zip(latencies, sizes, strict=True) if size > 0), "latencies"
    gaps = run.at("itls")
    if not firsts or not isinstance(gaps, list) or not len(gaps) == len(firsts) == len(sizes):
        return 0.0, ""
    total = 0.0
    for first, steps, size in zip(firsts, gaps, sizes, strict=True):
        if size > 0:
            numbers = [step for step in steps if isinstance(step, float)] if isinstance(steps, list) else []
            total += first + sum(numbers)
    return total, "(ttfts + itls)"
