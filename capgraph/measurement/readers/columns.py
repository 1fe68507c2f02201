"""What readers call what they find: one name and one unit for each concept, whatever tool it comes from.

In: a name of this table → Out: the heading of its column, its unit in square brackets.
Invariant: the same concept has the same name and unit in every reader; a unit that counts things (token, GPU, request)
is left out, since the quantity that a column is held against says it.

Time per output token (TPOT) is that of decoding: (latency − time to first token) / (output tokens − 1), the mean over
requests. What a tool calls so is not always that; its reader takes the field that is. Time between two chunks of a
stream is another thing (`mean_itl`): with speculative decoding or a stream interval a chunk holds several tokens.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Column:
    """A concept: its unit, empty where it is a text, a count or a share, and what is meant."""

    unit: str
    meaning: str


COLUMNS: dict[str, Column] = {
    # What was run.
    "label": Column("", "the name that was given to the run"),
    "model": Column("", "the model as the tool names it: a repository, a path or a served name"),
    "engine": Column("", "what served: vLLM, SGLang, TensorRT-LLM"),
    "engine_version": Column("", "its version"),
    "gpu": Column("", "the accelerator"),
    "gpu_memory": Column("GiB", "memory of one accelerator as the driver reports it"),
    "tensor_parallel": Column("", "GPUs that share each layer"),
    "pipeline_parallel": Column("", "stages that the layers are split into"),
    "gpus": Column("", "GPUs that hold one copy of the model: tensor parallel times pipeline parallel"),
    "data_parallel": Column("", "copies of the model behind one address"),
    "weight_dtype": Column("", "format of the weights: the quantization, or else the data type"),
    "kv_dtype": Column("", "format of the KV cache; `auto` where only the model could say"),
    "date": Column("", "when it was run, as the tool writes it"),
    "time": Column("s", "when it was scraped: seconds since 1970 (UTC)"),
    "instance": Column("", "the address that was scraped"),
    "pod": Column("", "the pod that was scraped"),
    "rank": Column("", "which of several engines behind one address"),
    # The load.
    "strategy": Column("", "how requests are sent: concurrent, constant, poisson, throughput, …"),
    "max_concurrency": Column("", "requests that are open at most"),
    "mean_concurrency": Column(
        "", "requests that are open on average: the sum of their latencies over the duration"
    ),
    "request_rate": Column("1/s", "requests that are sent a second; empty where all are sent at once"),
    "input_tokens": Column("", "tokens of a prompt, mean over requests"),
    "output_tokens": Column("", "tokens of an answer, mean over requests"),
    "completed": Column("", "requests that succeeded"),
    "failed": Column("", "requests that did not"),
    "duration": Column("s", "from the first request to the last answer"),
    # What was measured of it.
    "mean_ttft": Column("ms", "time to first token, with the wait in the engine's queue"),
    "median_ttft": Column("ms", "its median"),
    "p99_ttft": Column("ms", "its 99th percentile"),
    "mean_tpot": Column("ms", "time per output token after the first, mean over requests"),
    "median_tpot": Column("ms", "its median"),
    "p99_tpot": Column("ms", "its 99th percentile"),
    "mean_itl": Column("ms", "time between two chunks of a stream, mean over chunks"),
    "mean_e2e": Column("ms", "latency of a whole request"),
    "median_e2e": Column("ms", "its median"),
    "p99_e2e": Column("ms", "its 99th percentile"),
    "output_throughput": Column("1/s", "tokens of answers a second, of all GPUs together"),
    "total_throughput": Column("1/s", "tokens of prompts and answers a second"),
    "request_throughput": Column("1/s", "requests that are completed a second"),
    # Memory, each of one GPU: of the fullest where a log has several.
    "weights_memory": Column("GiB", "the loaded weights"),
    "kv_memory": Column("GiB", "the pool of the KV cache"),
    "kv_tokens": Column("", "tokens that the pool holds"),
    "reported_concurrency": Column("", "requests of `concurrency_tokens` each that the engine says it holds"),
    "concurrency_tokens": Column("", "tokens of a request behind `reported_concurrency`"),
    "memory_fraction": Column(
        "",
        "what the engine may fill: of the GPU (vLLM), of the GPU with weights and KV alone (SGLang), "
        "of what is free beside the weights with KV (TensorRT-LLM)",
    ),
    "max_model_len": Column("", "tokens that a request may have"),
    "max_running": Column("", "requests that the engine runs at most"),
    "prefill_chunk": Column("", "tokens that one step takes in at most"),
    "cuda_graph_memory": Column("GiB", "captured CUDA graphs"),
    "activation_memory": Column("GiB", "peak of the activations"),
    "non_torch_memory": Column("GiB", "what is used outside PyTorch's allocator, such as NCCL's buffers"),
    # One scrape.
    "kv_usage": Column("", "share of the KV pool in use, 0 to 1"),
    "running": Column("", "requests in the batch"),
    "waiting": Column("", "requests in the queue"),
    "preemptions": Column("", "preemptions since the engine started"),
}


def heading(name: str) -> str:
    """Return the heading of a column."""
    unit = COLUMNS[name].unit
    return f"{name} [{unit}]" if unit else name
