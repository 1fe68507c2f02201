"""Start-up logs of vLLM → one row a start: memory, KV pool, concurrency, engine arguments.

In: a log, also of several ranks, starts, or with what docker and kubectl put before a line → Out: `Table`.
Read from: vllm/worker/worker.py and vllm/executor (0.6 to 0.8, engine V0); vllm/v1/worker/gpu_worker.py,
gpu_model_runner.py, v1/core/kv_cache_utils.py and v1/engine/core.py (0.7 to 0.27, engine V1), and logs that users
posted with issues. The wordings that are read:

    Loading model weights took 14.99 GB | Model loading took 14.99 GiB …         weights (both are GiB)
    Memory profiling results: … peak_torch_memory=… non_torch_memory=… kv_cache_size=… gpu_memory_utilization=…
    model weights take … non_torch_memory takes … activation peak memory takes … reserved for KV Cache is …
    Available KV cache memory: … | Current kv cache memory in use is …            KV pool
    # GPU blocks: … | GPU KV cache size: … tokens                                 tokens in the pool
    Maximum concurrency for … tokens per request: …x
    Graph capturing finished in … secs, took … GiB                                CUDA graphs
    Actual usage is … GiB for weight, … for peak activation, … for non-torch memory, … for CUDAGraph memory
    Actual usage is … GiB for consumed memory (weights + non-torch), …            non-torch as the difference

Of several ranks the fullest counts: the most of what is used, the least of the KV pool, as the engine itself does. The
peak that 0.6 logs holds the weights, and they are taken off. Blocks become tokens only where the logged concurrency
shows the size of a block. A start is known by the line of the API server, or else of the engine.
Invariant: nothing is derived across ranks or starts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from capgraph.diagnostics import Diagnostic, Source
from capgraph.measurement.readers.log_text import line_span, marked_lines, settings_of
from capgraph.measurement.readers.record import MAX_RECORDS, Record, tabulate
from capgraph.measurement.table import Table

NAME = "vLLM log"

_GIB = r"([\d.]{1,20}) ?GiB"
# What a line says, and how it is written.
_FACTS: tuple[tuple[str, str, re.Pattern[str]], ...] = (
    (
        "weights_memory",
        "Loading model weights took",
        re.compile(r"Loading model weights took ([\d.]{1,20}) ?Gi?B"),
    ),
    ("weights_memory", "Model loading took", re.compile(r"Model loading took ([\d.]{1,20}) ?Gi?B")),
    ("rounded_weights", "model weights take", re.compile(rf"model weights take {_GIB}")),
    ("kv_memory", "Available KV cache memory", re.compile(rf"Available KV cache memory: {_GIB}")),
    ("kv_memory", "reserved for KV Cache", re.compile(rf"reserved for KV Cache is {_GIB}")),
    ("kv_memory", "kv_cache_size=", re.compile(rf"kv_cache_size={_GIB}")),
    ("kv_in_use", "cache memory in use", re.compile(rf"Current kv cache memory in use is {_GIB}")),
    ("kv_bytes", "cache memory in use", re.compile(r"Current kv cache memory in use is (\d{1,20}) bytes")),
    ("kv_tokens", "KV cache size:", re.compile(r"GPU KV cache size: ([\d,]{1,20}) tokens")),
    ("blocks", "blocks:", re.compile(r"# (?:GPU|cuda|CUDA|rocm|hip) blocks: (\d{1,20})")),
    ("reported_concurrency", "Maximum concurrency for", re.compile(r"tokens per request: ([\d.]{1,20})x")),
    (
        "concurrency_tokens",
        "Maximum concurrency for",
        re.compile(r"Maximum concurrency for ([\d,]{1,20}) tokens"),
    ),
    ("activation_memory", "activation peak memory", re.compile(rf"activation peak memory takes {_GIB}")),
    ("activation_memory", "peak activation", re.compile(rf"{_GIB} for peak activation")),
    ("peak", "peak_torch_memory=", re.compile(rf"peak_torch_memory={_GIB}")),
    ("non_torch_memory", "non_torch_memory", re.compile(rf"non_torch_memory(?: takes |=){_GIB}")),
    ("non_torch_memory", "for non-torch memory", re.compile(rf"{_GIB} for non-torch memory")),
    ("consumed", "for consumed memory", re.compile(rf"{_GIB} for consumed memory")),
    (
        "cuda_graph_memory",
        "Graph capturing finished",
        re.compile(rf"capturing finished in .{{1,40}} took {_GIB}"),
    ),
    ("cuda_graph_memory", "for CUDAGraph memory", re.compile(rf"{_GIB} for CUDAGraph memory")),
    (
        "gpu_memory",
        "Free memory on device",
        re.compile(r"Free memory on device \([\d.]{1,20}/([\d.]{1,20}) GiB\)"),
    ),
    ("gpu_memory", "total_gpu_memory", re.compile(r"total_gpu_memory(?: \(|=)([\d.]{1,20})GiB")),
    ("memory_fraction", "utilization", re.compile(r"utilization(?: \(|=| is \()(\d[\d.]{0,19})")),
)
_API_SERVER = "vLLM API server version"
_ENGINE = "LLM engine (v"
_VERSIONS = (re.compile(r"vLLM API server version v?(\S{1,60})"), re.compile(r"LLM engine \(v([^)]{1,60})\)"))
_ARGUMENTS = ("non-default args:", "args: Namespace(", "vllm serve ")
_MARKS = (
    *dict.fromkeys(mark for _, mark, _ in _FACTS if mark != "memory"),
    "gpu_memory_utilization",
    _API_SERVER,
)
_MARKS = (*_MARKS, _ENGINE, "memory utilization is", *_ARGUMENTS)
_OF_A_START = (
    "Loading model weights took",
    "Model loading took",
    "GPU KV cache size:",
    "Available KV cache memory:",
)
_RANK = re.compile(r"\(([^()]{1,80} (?:pid|rank)=[^()]{1,60})\)")
_TEXT_SETTINGS = (
    ("model", "model_tag"),
    ("model", "model"),
    ("weight_dtype", "quantization"),
    ("weight_dtype", "dtype"),
)
_NUMBER_SETTINGS = (
    ("tensor_parallel", "tensor_parallel_size"),
    ("pipeline_parallel", "pipeline_parallel_size"),
    ("data_parallel", "data_parallel_size"),
    ("max_model_len", "max_seq_len"),
    ("max_model_len", "max_model_len"),
    ("memory_fraction", "gpu_memory_utilization"),
    ("max_running", "max_num_seqs"),
    ("prefill_chunk", "max_num_batched_tokens"),
)
# Of the ranks the least counts for these, and the most for all others.
_LEAST = frozenset({"kv_memory", "kv_tokens", "reported_concurrency", "memory_fraction", "gpu_memory"})
_BYTES_PER_GIB = 1024**3
# Each rank may tell its arguments; the first ones do.
_MOST_LINES = 8
# The logged concurrency has two decimals: a block size that it gives is off by less than this where it is right.
_NEAR = 0.02

_Rank = dict[str, float]


class _Start:
    """What the lines of one start say: facts by rank, and the engine's arguments."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.ranks: dict[str, _Rank] = {}
        self.version = ""
        self.engine_lines: list[str] = []
        self.argument_lines: list[str] = []

    def add(self, line: str) -> None:
        """Take what a line says."""
        for version in _VERSIONS:
            if found := version.search(line):
                self.version = found[1]
        lines = self.engine_lines if _ENGINE in line else self.argument_lines
        if _ENGINE in line or any(mark in line for mark in _ARGUMENTS):
            lines += [line] if len(lines) < _MOST_LINES else []
            return
        named = _RANK.search(line)
        facts = self.ranks.setdefault(named[1] if named else "", {})
        for name, mark, pattern in _FACTS:
            found = pattern.search(line) if mark in line else None
            value = _number(found[1]) if found else None
            if value is not None:
                facts[name] = (min if name in _LEAST else max)(facts.get(name, value), value)

    @property
    def loaded(self) -> bool:
        """Say whether anything was measured yet."""
        return any(self.ranks.values())


def recognizes(text: str, _name: str) -> bool:
    """Say whether a text is such a log."""
    return any(mark in text for mark in _OF_A_START) and not text.lstrip().startswith("{")


def read(source: Source) -> Table | Diagnostic:
    """Read all starts of a log."""
    records, most = [], 0
    for start in islice(_starts(source), MAX_RECORDS + 1):
        ranks = [facts for facts in map(_complete, start.ranks.values()) if facts]
        most = max(most, sum("kv_memory" in facts or "weights_memory" in facts for facts in ranks))
        records.append(_record(source, start, ranks))
    notes = [f"of {most} ranks the fullest: most memory used, smallest KV pool"] if most > 1 else []
    return tabulate(source, NAME, records, notes, "copy the log up to where the server is ready")


def _starts(source: Source) -> Iterator[_Start]:
    mark = _API_SERVER if _API_SERVER in source.text else _ENGINE
    start: _Start | None = None
    for number, line in marked_lines(source, _MARKS):
        again = mark in line and (mark == _API_SERVER or "DP" not in line.partition(mark)[0])
        if start is None or (again and start.loaded):
            if start is not None:
                yield start
            start = _Start(number)
        start.add(line)
    if start is not None:
        yield start


def _complete(facts: Mapping[str, float]) -> _Rank:
    """Return the facts of a rank with those that follow from them, as exact as they are logged."""
    made = {name: value for name, value in facts.items() if name in _FIELDS or name == "blocks"}
    if "rounded_weights" in facts:
        made.setdefault("weights_memory", facts["rounded_weights"])
    if "kv_in_use" in facts:
        made.setdefault("kv_memory", facts["kv_in_use"])
    if "kv_bytes" in facts:
        made.setdefault("kv_memory", facts["kv_bytes"] / _BYTES_PER_GIB)
    for name, whole in (("activation_memory", "peak"), ("non_torch_memory", "consumed")):
        if whole in facts and "weights_memory" in made:
            made.setdefault(name, max(round(facts[whole] - made["weights_memory"], 4), 0.0))
    return made


def _record(source: Source, start: _Start, ranks: list[_Rank]) -> Record:
    record = Record(line_span(source, start.number))
    record.text("engine", "vLLM", "the log")
    record.text("engine_version", start.version, "version")
    for name in dict.fromkeys(name for facts in ranks for name in facts if name != "blocks"):
        values = [facts[name] for facts in ranks if name in facts]
        record.number(name, min(values) if name in _LEAST else max(values), _FIELDS.get(name, name))
    blocks = min((facts["blocks"] for facts in ranks if "blocks" in facts), default=None)
    record.number("kv_tokens", _tokens(blocks, record), "# GPU blocks × block size")
    _add_settings(record, (*start.engine_lines, *start.argument_lines))
    return record


def _tokens(blocks: float | None, record: Record) -> float | None:
    """Return the tokens in a number of blocks, if the logged concurrency shows the size of a block."""
    concurrency, tokens = record.value("reported_concurrency"), record.value("concurrency_tokens")
    if not blocks or concurrency is None or tokens is None:
        return None
    size = concurrency * tokens / blocks
    return blocks * round(size) if round(size) and abs(size / round(size) - 1) < _NEAR else None


def _add_settings(record: Record, lines: tuple[str, ...]) -> None:
    """Add the engine's arguments; what the engine resolved comes before what was asked for."""
    for settings in map(settings_of, lines):
        for column, key in _TEXT_SETTINGS:
            record.text(column, _plain(settings.get(key, "")), key)
        for column, key in _NUMBER_SETTINGS:
            record.number(column, _number(settings.get(key, "")), key)
        cache = settings.get("kv_cache_dtype", "")
        model = _plain(settings.get("dtype", ""))
        record.text("kv_dtype", model if cache == "auto" else cache, "kv_cache_dtype")


def _plain(dtype: str) -> str:
    """Return a name without that of its library."""
    return dtype.removeprefix("torch.")


def _number(text: str) -> float | None:
    """Return the number in a log, which may have thousands separators."""
    try:
        return float(text.replace(",", "").rstrip("."))
    except ValueError:
        return None


# What a person finds in the log for a fact.
_FIELDS = {
    "weights_memory": "Model loading took",
    "kv_memory": "Available KV cache memory",
    "kv_tokens": "GPU KV cache size",
    "reported_concurrency": "Maximum concurrency",
    "concurrency_tokens": "Maximum concurrency for … tokens",
    "activation_memory": "peak activation",
    "non_torch_memory": "non-torch memory",
    "cuda_graph_memory": "CUDA graph memory",
    "gpu_memory": "total memory of the device",
    "memory_fraction": "gpu_memory_utilization",
}
