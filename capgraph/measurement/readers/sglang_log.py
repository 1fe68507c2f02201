"""Start-up logs of SGLang → one row a start: weights, KV pool, CUDA graphs, server arguments.

In: a log, also of several ranks or starts → Out: `Table`.
Read from: python/sglang/srt/model_executor/model_runner.py, mem_cache/memory_pool.py and managers/scheduler.py of
SGLang 0.4 to 0.5, and logs in its documentation. What it calls GB is 1024³ bytes. The lines that are read:

    server_args=ServerArgs(model_path=…, tp_size=…, mem_fraction_static=…, …)
    Load weight end. … avail mem=… GB, mem usage=… GB.
    KV Cache is allocated. … #tokens: …, K size: … GB, V size: … GB       (or one KV size, for latent attention)
    Capture cuda graph end. … mem usage=… GB. …
    max_total_num_tokens=…, chunked_prefill_size=…, max_prefill_tokens=…, max_running_requests=…, context_len=…

Of several ranks the fullest counts: the most of what is used, the least of the KV pool. Of a model and its draft, which
load one after the other, the first is the model; the graphs of both are added. Before 0.4.3 the weights are the memory
that was available before less that after them.
Invariant: nothing is derived across ranks or starts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from capgraph.diagnostics import Diagnostic, Source
from capgraph.measurement.readers.log_text import line_span, marked_lines, settings_of
from capgraph.measurement.readers.record import MAX_RECORDS, Record, tabulate
from capgraph.measurement.table import Table

NAME = "SGLang log"

_ARGUMENTS = "server_args="
_MARKS = (
    "Load weight begin",
    "Load weight end",
    "KV Cache is allocated",
    "raph end.",
    "max_total_num_tokens=",
)
_RANK = re.compile(r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d((?: [A-Z]{1,4}\d{1,4}){0,6})\]")
_GB = r"([\d.]{1,20}) ?GB"
_USED = re.compile(rf"mem usage={_GB}")
_FREE = re.compile(rf"avail mem={_GB}")
_POOL_DTYPE = re.compile(r"dtype: ([\w.]{1,40})")
_POOL = re.compile(rf"KV size:? {_GB}")
_HALVES = (re.compile(rf"\bK(?: size:)? {_GB}"), re.compile(rf"\bV(?: size:)? {_GB}"))
_TEXT_SETTINGS = (("model", "model_path"), ("weight_dtype", "quantization"))
_NUMBER_SETTINGS = (
    ("tensor_parallel", "tp_size"),
    ("pipeline_parallel", "pp_size"),
    ("data_parallel", "dp_size"),
    ("memory_fraction", "mem_fraction_static"),
)
_LIMITS = (
    ("kv_tokens", "max_total_num_tokens"),
    ("prefill_chunk", "chunked_prefill_size"),
    ("max_running", "max_running_requests"),
    ("max_model_len", "context_len"),
)
_LEAST = frozenset({"kv_memory", *(column for column, _ in _LIMITS)})
_FIELDS = {
    "weights_memory": "Load weight end: mem usage",
    "kv_memory": "KV Cache is allocated",
    "cuda_graph_memory": "Capture cuda graph end: mem usage",
    **dict(_LIMITS),
}


class _Start:
    """What the lines of one start say: facts by rank, and the server's arguments."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.ranks: dict[str, dict[str, float]] = {}
        self.arguments = ""
        self.dtype = self.kv_dtype = ""

    def add(self, line: str) -> None:
        """Take what a line says."""
        if _ARGUMENTS in line:
            self.arguments = self.arguments or line
            return
        named = _RANK.search(line)
        facts = self.ranks.setdefault(named[1] if named else "", {})
        if "Load weight begin" in line:
            _keep(facts, "before", _found(_FREE, line))
        elif "Load weight end" in line:
            self.dtype = self.dtype or _plain(settings_of(line).get("dtype", ""))
            used, left = _found(_USED, line), _found(_FREE, line)
            if used is None and left is not None and "before" in facts:
                used = facts["before"] - left
            _keep(facts, "weights_memory", used)
        elif "KV Cache is allocated" in line:
            named = _POOL_DTYPE.search(line)
            self.kv_dtype = self.kv_dtype or (_plain(named[1]) if named else "")
            halves = [_found(half, line) for half in _HALVES]
            whole = _found(_POOL, line)
            known = [size for size in halves if size is not None]
            _keep(facts, "kv_memory", sum(known) if whole is None and len(known) == 2 else whole)
        elif "raph end." in line:
            facts["cuda_graph_memory"] = facts.get("cuda_graph_memory", 0.0) + (_found(_USED, line) or 0.0)
        else:
            limits = settings_of(line)
            for column, key in _LIMITS:
                _keep(facts, column, _number(limits.get(key, "")))


def recognizes(text: str, _name: str) -> bool:
    """Say whether a text is such a log."""
    return any(
        mark in text for mark in ("max_total_num_tokens=", "KV Cache is allocated.", "Load weight end.")
    )


def read(source: Source) -> Table | Diagnostic:
    """Read all starts of a log."""
    records, most = [], 0
    for start in islice(_starts(source), MAX_RECORDS + 1):
        ranks = [facts for facts in start.ranks.values() if facts]
        most = max(most, len(ranks))
        records.append(_record(source, start, ranks))
    notes = [f"of {most} ranks the fullest: most memory used, smallest KV pool"] if most > 1 else []
    return tabulate(source, NAME, records, notes, "copy the log up to where the server is ready")


def _starts(source: Source) -> Iterator[_Start]:
    start: _Start | None = None
    for number, line in marked_lines(source, (_ARGUMENTS, *_MARKS)):
        if start is None or (_ARGUMENTS in line and start.ranks):
            if start is not None:
                yield start
            start = _Start(number)
        start.add(line)
    if start is not None:
        yield start


def _record(source: Source, start: _Start, ranks: list[dict[str, float]]) -> Record:
    record = Record(line_span(source, start.number))
    record.text("engine", "SGLang", "the log")
    for name, field in _FIELDS.items():
        values = [facts[name] for facts in ranks if name in facts]
        if values:
            record.number(name, min(values) if name in _LEAST else max(values), field)
    arguments = settings_of(start.arguments)
    for column, key in _TEXT_SETTINGS:
        record.text(column, arguments.get(key), key)
    record.text("weight_dtype", start.dtype, "Load weight end: dtype")
    cache = arguments.get("kv_cache_dtype", "")
    if cache in ("", "auto"):
        record.text("kv_dtype", start.kv_dtype or start.dtype, "KV Cache is allocated: dtype")
    record.text("kv_dtype", cache, "kv_cache_dtype")
    for column, key in _NUMBER_SETTINGS:
        record.number(column, _number(arguments.get(key, "")), key)
    return record


def _keep(facts: dict[str, float], name: str, value: float | None) -> None:
    """Keep the first value of a fact: that of the model, not of its draft."""
    if value is not None:
        facts.setdefault(name, value)


def _found(pattern: re.Pattern[str], line: str) -> float | None:
    found = pattern.search(line)
    return _number(found[1]) if found else None


def _plain(dtype: str) -> str:
    """Return a name without that of its library."""
    return dtype.removeprefix("torch.").rstrip(".")


def _number(text: str) -> float | None:
    try:
        return float(text.rstrip(".,"))
    except ValueError:
        return None
