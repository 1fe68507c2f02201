"""Results of SGLang's bench_serving → one row a run.

In: the JSON lines that `python -m sglang.bench_serving` appends to its `--output-file` → Out: `Table`.
Read from: python/sglang/bench_serving.py of SGLang 0.3 to 0.5 and python/sglang/benchmark/serving.py after it, with or
without `--output-details`.

Mean tokens are the totals over the completed requests; `output_throughput` counts what the server says it made, not the
retokenized text. `mean_tpot_ms` is (latency − TTFT) / (tokens − 1), mean over requests; `mean_itl_ms` the mean over
chunks. `concurrency` is the sum of the latencies over the duration. The file does not name the model, unless it
holds what the server told of itself (`server_info`, since 0.5).
Invariant: a run without completed requests is no measurement.
"""

from __future__ import annotations

from capgraph.diagnostics import Diagnostic, Source
from capgraph.measurement.readers.json_text import Fields, is_json, read_json
from capgraph.measurement.readers.record import Record, tabulate
from capgraph.measurement.table import Table

NAME = "SGLang bench_serving"

_ENGINES = {
    "sglang": "SGLang",
    "sglang-native": "SGLang",
    "sglang-oai": "SGLang",
    "sglang-oai-chat": "SGLang",
}
_ENGINES |= {"vllm": "vLLM", "vllm-chat": "vLLM", "lmdeploy": "LMDeploy", "trt": "TensorRT-LLM"}
_NUMBERS = {
    "max_concurrency": "max_concurrency",
    "mean_concurrency": "concurrency",
    "request_rate": "request_rate",
    "completed": "completed",
    "duration": "duration",
    "mean_ttft": "mean_ttft_ms",
    "median_ttft": "median_ttft_ms",
    "p99_ttft": "p99_ttft_ms",
    "mean_tpot": "mean_tpot_ms",
    "median_tpot": "median_tpot_ms",
    "p99_tpot": "p99_tpot_ms",
    "mean_itl": "mean_itl_ms",
    "mean_e2e": "mean_e2e_latency_ms",
    "median_e2e": "median_e2e_latency_ms",
    "p99_e2e": "p99_e2e_latency_ms",
    "output_throughput": "output_throughput",
    "total_throughput": "total_throughput",
    "request_throughput": "request_throughput",
}
# The request rate of a run that replays a trace.
_TRACE = "trace"
_SERVER_NUMBERS = {
    "tensor_parallel": "tp_size",
    "pipeline_parallel": "pp_size",
    "data_parallel": "dp_size",
    "memory_fraction": "mem_fraction_static",
}


def recognizes(text: str, _name: str) -> bool:
    """Say whether a text is such a result."""
    return is_json(text) and '"total_input_tokens"' in text and '"total_output_tokens_retokenized"' in text


def read(source: Source) -> Table | Diagnostic:
    """Read all runs of a file."""
    runs = read_json(source)
    if isinstance(runs, Diagnostic):
        return runs
    records = []
    for run in runs:
        record = _record(run)
        if run.wrong:
            return run.wrong
        if record.value("completed"):
            records.append(record)
    return tabulate(source, NAME, records)


def _record(run: Fields) -> Record:
    record = Record(run.span)
    run.name(record, "label", "tag")
    record.text("engine", _ENGINES.get(run.text("backend") or ""), "backend")
    for column, key in _NUMBERS.items():
        if run.at(key) != _TRACE:
            run.take(record, column, key)
    if isinstance(run.at("server_info"), dict):
        run.name(record, "model", "server_info", "model_path")
        run.name(record, "engine_version", "server_info", "version")
        run.name(record, "weight_dtype", "server_info", "quantization")
        run.name(record, "weight_dtype", "server_info", "dtype")
        run.name(record, "kv_dtype", "server_info", "kv_cache_dtype")
        for column, key in _SERVER_NUMBERS.items():
            run.take(record, column, "server_info", key)
    if completed := record.value("completed"):
        for column, key in (("input_tokens", "total_input_tokens"), ("output_tokens", "total_output_tokens")):
            total = run.number(key)
            record.number(column, None if total is None else total / completed, f"{key} / completed")
    incoming, outgoing = run.number("input_throughput"), record.value("output_throughput")
    if incoming is not None and outgoing is not None:
        record.number("total_throughput", incoming + outgoing, "input_throughput + output_throughput")
    return record
