"""Outputs of tools: a file is a test.

`measurements/` holds small outputs as the tools write them; `approved/measurements/` what is read of each, with its
place and the fields that it was read from. `UPDATE_APPROVED=1 pytest tests/test_readers.py` rewrites those.
"""

from __future__ import annotations

import copy
import json
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from approving import APPROVED, approve
from hypothesis import given, settings
from hypothesis import strategies as st

from capgraph.diagnostics import Diagnostic, Source
from capgraph.measurement.files import MAX_BYTES, MAX_LINES
from capgraph.measurement.readers import READERS, read_measurements
from capgraph.measurement.readers.columns import COLUMNS, heading
from capgraph.measurement.readers.json_text import MAX_CONTAINERS
from capgraph.measurement.table import Table

FOLDER = Path(__file__).parent / "measurements"
FILES = sorted(FOLDER.iterdir())
TOOLS = [file for file in FILES if file.name != "own.csv"]
TEXTS = {file.name: file.read_text("utf-8-sig") for file in TOOLS}
_TEXT_COLUMNS = frozenset(
    {"label", "model", "engine", "engine_version", "gpu", "weight_dtype", "kv_dtype"}
    | {"date", "instance", "pod", "rank", "strategy"}
)


def read(path: Path) -> Table:
    """Read a file that is right."""
    table, found = read_measurements(path)
    assert found == ()
    assert table is not None
    return table


def columns(table: Table) -> dict[str, list[str]]:
    """Return the cells by the names of their columns, without units."""
    return {
        head.partition(" [")[0]: [row.cells[column] for row in table.rows]
        for column, head in enumerate(table.header)
    }


def written(folder: Path, text: str, name: str = "file.txt") -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def sent(folder: Path, value: object) -> Path:
    """Write a value as JSON."""
    return written(folder, json.dumps(value), "run.json")


def bench(**changes: object) -> dict[str, object]:
    """Return a result of `vllm bench serve`; None takes a field out."""
    run: dict[str, object] = {
        "backend": "openai", "model_id": "m", "num_prompts": 12, "request_rate": "inf", "max_concurrency": 4,
        "duration": 5.0, "completed": 10, "total_input_tokens": 1000, "total_output_tokens": 200,
        "mean_ttft_ms": 50.0, "mean_tpot_ms": 9.5,
    }  # fmt: skip
    return {key: value for key, value in (run | changes).items() if value is not None}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_is_read_as_approved(path: Path) -> None:
    table = read(path)
    told = {
        "tool": table.tool,
        "note": table.note,
        "used": dict(table.used),
        "rows": [
            {"at": row.span.place}
            | {head: cell for head, cell in zip(table.header, row.cells, strict=True) if cell}
            for row in table.rows
        ],
    }
    approve(
        f"{path.name}.json", json.dumps(told, ensure_ascii=False, indent=1) + "\n", APPROVED / "measurements"
    )


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_is_known_by_one_reader(path: Path) -> None:
    text = path.read_text("utf-8-sig").replace("\r\n", "\n")
    knowing = [reader.name for reader in READERS if reader.recognizes(text, path.name)]
    assert len(knowing) == (path in TOOLS)


def test_every_reader_has_a_file() -> None:
    known = {reader.name for reader in READERS for text in TEXTS.values() if reader.recognizes(text, "")}
    assert known == {reader.name for reader in READERS}


@pytest.mark.parametrize("path", TOOLS, ids=lambda path: path.name)
def test_columns_are_those_of_the_table_and_numbers_are_finite(path: Path) -> None:
    table = read(path)
    assert set(table.header) <= set(map(heading, COLUMNS))
    assert table.header == tuple(sorted(table.header, key=list(map(heading, COLUMNS)).index))
    assert set(table.used) == set(table.header)
    assert all(table.used.values())
    for name, cells in columns(table).items():
        for cell in cells:
            assert name in _TEXT_COLUMNS or not cell or repr(float(cell)) == cell
            assert name in _TEXT_COLUMNS or not cell or math.isfinite(float(cell))


def test_every_column_has_a_meaning() -> None:
    assert all(column.meaning and not column.meaning.endswith(".") for column in COLUMNS.values())
    assert {column.unit for column in COLUMNS.values()} == {"", "ms", "s", "1/s", "GiB"}


@pytest.mark.parametrize(
    ("one", "other"),
    [("genai-perf", ("json", "csv")), ("aiperf", ("json", "csv")), ("trtllm-bench", ("json", "txt"))],
)
def test_two_outputs_of_one_run_agree(one: str, other: tuple[str, str]) -> None:
    whole, part = (columns(read(FOLDER / f"{one}.{suffix}")) for suffix in other)
    assert len(part) > 12
    for name, cells in part.items():
        if name in _TEXT_COLUMNS:
            assert cells == whole[name]
        else:
            assert float(cells[0]) == pytest.approx(float(whole[name][0]), rel=6e-3)


# What the numbers mean.


def test_concurrency_follows_from_latency_by_littles_law(tmp_path: Path) -> None:
    cells = columns(read(sent(tmp_path, bench(mean_e2el_ms=1800.0))))
    assert cells["mean_concurrency"] == ["3.6"]
    assert cells["mean_e2e"] == ["1800.0"]
    assert cells["failed"] == ["2.0"]
    assert (cells["input_tokens"], cells["output_tokens"]) == (["100.0"], ["20.0"])
    assert "request_rate" not in cells


@pytest.mark.parametrize(
    "detail",
    [
        {"latencies": [0.2, 0.4, 9.0]},
        {"ttfts": [0.1, 0.1, 9.0], "itls": [[0.05, 0.05], [0.3], []]},
    ],
)
def test_latency_comes_from_the_requests_that_succeeded(tmp_path: Path, detail: dict[str, object]) -> None:
    run = bench(num_prompts=3, completed=2, output_lens=[3, 2, 0], **detail)
    cells = columns(read(sent(tmp_path, run)))
    assert float(cells["mean_e2e"][0]) == pytest.approx(300)
    assert float(cells["mean_concurrency"][0]) == pytest.approx(0.12)


@pytest.mark.parametrize(
    "detail",
    [{"latencies": [0.2, math.nan], "output_lens": [3, 2]}, {"latencies": [0.2], "output_lens": [3, 2]}],
)
def test_latencies_that_do_not_fit_are_left_alone(tmp_path: Path, detail: dict[str, object]) -> None:
    assert "mean_e2e" not in columns(read(sent(tmp_path, bench(**detail))))


@pytest.mark.parametrize("value", [0.0, math.nan, math.inf, None])
def test_what_was_not_measured_is_empty(tmp_path: Path, value: float | None) -> None:
    text = json.dumps(bench() | {"mean_tpot_ms": value})
    cells = columns(read(written(tmp_path, text)))
    assert "mean_tpot" not in cells
    assert cells["mean_ttft"] == ["50.0"]


def test_a_replayed_trace_has_no_request_rate(tmp_path: Path) -> None:
    run = bench(backend="sglang", request_rate="trace", total_output_tokens_retokenized=199, model_id=None)
    cells = columns(read(sent(tmp_path, run)))
    assert cells["engine"] == ["SGLang"]
    assert "request_rate" not in cells


def test_metadata_names_the_engine(tmp_path: Path) -> None:
    run = bench(
        backend="vllm", tensor_parallel_size="4", gpu_type="H200", dtype="bfloat16", kv_cache_dtype="fp8"
    )
    cells = columns(read(sent(tmp_path, run)))
    told = {name: cells[name][0] for name in ("engine", "tensor_parallel", "gpu", "weight_dtype", "kv_dtype")}
    assert told == {
        "engine": "vLLM",
        "tensor_parallel": "4.0",
        "gpu": "H200",
        "weight_dtype": "bfloat16",
        "kv_dtype": "fp8",
    }


@pytest.mark.parametrize("joint", ["\n", "\r\n", "", " "])
def test_runs_one_after_another_are_rows_at_their_places(tmp_path: Path, joint: str) -> None:
    runs = [json.dumps(bench(max_concurrency=size)) for size in (1, 2, 4)]
    path = tmp_path / "runs.jsonl"
    path.write_bytes(joint.join(runs).encode())
    table = read(path)
    assert columns(table)["max_concurrency"] == ["1.0", "2.0", "4.0"]
    if "\n" in joint:
        assert [row.span.line for row in table.rows] == [1, 2, 3]
    else:
        assert [row.span.column for row in table.rows][1] == len(runs[0] + joint) + 1


def test_a_list_of_runs_is_read_and_a_failed_one_left_out(tmp_path: Path) -> None:
    table = read(sent(tmp_path, [bench(), bench(completed=0), bench(max_concurrency=8)]))
    assert columns(table)["max_concurrency"] == ["4.0", "8.0"]


@pytest.mark.parametrize("name", ["vllm-log-0.8.txt", "vllm-bench.json", "aiperf.csv"])
def test_a_byte_order_mark_and_line_ends_change_nothing(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"\xef\xbb\xbf" + TEXTS[name].replace("\n", "\r\n").encode())
    again, table = read(path), read(FOLDER / name)
    assert (again.header, [row.cells for row in again.rows]) == (
        table.header,
        [row.cells for row in table.rows],
    )


def log(folder: Path, *lines: str) -> dict[str, list[str]]:
    return columns(read(written(folder, "\n".join(lines) + "\n", "log.txt")))


def test_the_fullest_rank_counts(tmp_path: Path) -> None:
    cells = log(
        tmp_path,
        "(Worker_TP0 pid=1) INFO 01-01 00:00:00 [x.py:1] Model loading took 30.10 GiB and 9 seconds",
        "\x1b[1;36m(Worker_TP1 pid=2)\x1b[0;0m INFO 01-01 00:00:00 [x.py:1] Model loading took 30.90 GiB and 9 seconds",
        "(Worker_TP0 pid=1) INFO 01-01 00:00:00 [x.py:1] Available KV cache memory: 38.50 GiB",
        "(Worker_TP1 pid=2) INFO 01-01 00:00:00 [x.py:1] Available KV cache memory: 37.25 GiB",
        "(Worker_TP0 pid=1) Actual usage is 31.0 GiB for consumed memory (…), 1.5 GiB for peak activation",
        "(Worker_TP1 pid=2) Actual usage is 31.5 GiB for consumed memory (…), 1.4 GiB for peak activation",
    )
    told = {
        name: float(cells[name][0])
        for name in ("weights_memory", "kv_memory", "activation_memory", "non_torch_memory")
    }
    # The difference of rank 0, since what is consumed and what is loaded are of one rank.
    assert told == {
        "weights_memory": 30.9,
        "kv_memory": 37.25,
        "activation_memory": 1.5,
        "non_torch_memory": 0.9,
    }


@pytest.mark.parametrize(("concurrency", "tokens"), [("59.63", 488_480.0), ("58.20", None)])
def test_blocks_are_tokens_only_if_the_log_shows_the_size_of_one(
    tmp_path: Path, concurrency: str, tokens: float | None
) -> None:
    cells = log(
        tmp_path,
        "INFO Model loading took 14.99 GiB",
        "INFO # GPU blocks: 30530, # CPU blocks: 2048",
        f"INFO Maximum concurrency for 8192 tokens per request: {concurrency}x",
    )
    assert cells.get("kv_tokens") == (None if tokens is None else [repr(tokens)])


def test_bytes_of_the_pool_are_read_where_nothing_else_is(tmp_path: Path) -> None:
    cells = log(
        tmp_path,
        "INFO Model loading took 14.99 GiB",
        "INFO Current kv cache memory in use is 47878721024 bytes.",
    )
    assert float(cells["kv_memory"][0]) == pytest.approx(44.590533, abs=1e-6)


def test_each_start_of_a_server_is_a_row(tmp_path: Path) -> None:
    start = (
        "INFO vLLM API server version 0.10.2",
        "INFO non-default args: {{'model': 'a/b', 'tensor_parallel_size': 2, 'gpu_memory_utilization': {0}}}",
        "INFO Model loading took 14.99 GiB",
        "INFO Available KV cache memory: {1} GiB",
    )
    cells = log(
        tmp_path, *(line.format(0.9, 50.5) for line in start), *(line.format(0.8, 42.5) for line in start)
    )
    assert cells["kv_memory"] == ["50.5", "42.5"]
    assert cells["memory_fraction"] == ["0.9", "0.8"]
    assert cells["model"] == ["a/b", "a/b"]


def test_engines_side_by_side_are_one_start(tmp_path: Path) -> None:
    cells = log(
        tmp_path,
        "(EngineCore_DP0 pid=1) INFO Initializing a V1 LLM engine (v0.11.0) with config: model='a', dtype=auto",
        "(EngineCore_DP0 pid=1) INFO Model loading took 14.99 GiB",
        "(EngineCore_DP1 pid=2) INFO Initializing a V1 LLM engine (v0.11.0) with config: model='a', dtype=auto",
        "(EngineCore_DP1 pid=2) INFO Model loading took 14.99 GiB",
    )
    assert cells["weights_memory"] == ["14.99"]


def test_weights_of_an_old_sglang_are_what_loading_took(tmp_path: Path) -> None:
    cells = log(
        tmp_path,
        "[2024-11-01 10:00:00 TP0] Load weight begin. avail mem=78.50 GB",
        "[2024-11-01 10:00:09 TP0] Load weight end. type=LlamaForCausalLM, dtype=torch.bfloat16, avail mem=63.25 GB",
        "[2024-11-01 10:00:12 TP0] max_total_num_tokens=449318, max_prefill_tokens=16384, context_len=8192",
    )
    assert cells["weights_memory"] == ["15.25"]
    assert cells["kv_tokens"] == ["449318.0"]


def test_a_time_is_converted_by_its_unit_and_left_out_without_one(tmp_path: Path) -> None:
    run = {
        "request_throughput": {"unit": "requests/sec", "avg": 2.0},
        "request_latency": {"unit": "ns", "avg": 3e9},
        "time_to_first_token": {"unit": "s", "avg": 0.25, "p50": 0.2},
        "inter_token_latency": {"unit": "fortnights", "avg": 1.0},
    }
    cells = columns(read(sent(tmp_path, run)))
    assert (cells["mean_e2e"], cells["mean_ttft"], cells["median_ttft"]) == (["3000.0"], ["250.0"], ["200.0"])
    assert "mean_tpot" not in cells


@pytest.mark.parametrize(
    ("config", "concurrency"),
    [
        ({"perf_analyzer": {"stimulus": {"concurrency": 10}}}, "10.0"),
        ({"phases": [{"name": "profiling", "concurrency": 16}]}, "16.0"),
        ({"phases": [{"concurrency": 4}, {"concurrency": 16}]}, None),
        ({"concurrency": "many"}, None),
    ],
)
def test_concurrency_is_read_where_it_stands_alone(
    tmp_path: Path, config: dict[str, object], concurrency: str | None
) -> None:
    run = {
        "request_throughput": {"unit": "r", "avg": 2},
        "request_latency": {"unit": "ms", "avg": 9},
        "input_config": config,
    }
    cells = columns(read(sent(tmp_path, run)))
    assert cells.get("max_concurrency") == (None if concurrency is None else [concurrency])


def answer(name: str, *samples: tuple[float, str], **labels: str) -> dict[str, object]:
    series = {"metric": {"__name__": name, **labels}, "values": [list(sample) for sample in samples]}
    return {"status": "success", "data": {"resultType": "matrix", "result": [series]}}


def test_series_are_put_side_by_side_by_time_and_labels(tmp_path: Path) -> None:
    answers = [
        answer("vllm:num_requests_running", (30.0, "7"), (15.0, "5"), model_name="m", pod="a"),
        answer("vllm:kv_cache_usage_perc", (15.0, "0.5"), (30.5, "0.9"), model_name="m", pod="a"),
        answer("vllm:kv_cache_usage_perc", (15.0, "0.25"), model_name="m", pod="b"),
    ]
    cells = columns(read(sent(tmp_path, answers)))
    assert list(zip(cells["pod"], cells["time"], cells["running"], cells["kv_usage"], strict=True)) == [
        ("a", "15.0", "5.0", "0.5"),
        ("a", "30.0", "7.0", ""),
        ("a", "30.5", "", "0.9"),
        ("b", "15.0", "", "0.25"),
    ]


# What is wrong.


def refused(path: Path) -> Diagnostic:
    table, found = read_measurements(path)
    assert table is None
    assert len(found) == 1
    assert found[0].help
    return found[0]


def test_a_folder_and_a_name_that_no_file_can_have_are_refused(tmp_path: Path) -> None:
    assert refused(tmp_path).code == "CG850"
    assert refused(tmp_path / "none.json").code == "CG850"
    assert refused(Path("a\0b")).code == "CG850"


_OPENED = b'{"model_id": "m", "total_input_tokens": '


@pytest.mark.parametrize(
    "data",
    [b" " * (MAX_BYTES + 1), b"\n" * (MAX_LINES + 1), _OPENED + b"[" * (MAX_CONTAINERS + 1)],
    ids=["bytes", "lines", "lists"],
)
def test_what_is_too_large_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "large.json"
    path.write_bytes(data)
    assert refused(path).code == "CG851"


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_what_is_nested_too_deep_is_refused(tmp_path: Path, opening: str) -> None:
    text = _OPENED.decode() + opening * 100_000
    found = refused(written(tmp_path, text))
    assert found.code == "CG853"


def test_the_place_of_a_wrong_byte_is_told(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    path.write_bytes("größe\nab\xff".encode("latin-1"))
    found = refused(path)
    assert found.code == "CG852"
    assert found.span is not None
    assert (found.span.line, found.span.column) == (1, 3)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("mean_tpot_ms", [9.5], "must be a number, and is a list"),
        ("completed", True, "must be a number, and is true or false"),
        ("duration", {"s": 5}, "must be a number, and is an object"),
        ("mean_ttft_ms", "1_000", "must be a number, and is a text"),
        ("model_id", ["a", "b"], "must be a text, and is a list"),
    ],
)
def test_a_field_of_another_kind_is_told_at_its_place(
    tmp_path: Path, field: str, value: object, words: str
) -> None:
    text = json.dumps(bench() | {field: value}, indent=1)
    found = refused(written(tmp_path, text))
    assert found.code == "CG856"
    assert words in found.message
    assert found.span is not None
    assert f'"{field}"' in text.splitlines()[found.span.line - 1]


@pytest.mark.parametrize(
    "name", [name for name, text in TEXTS.items() if text.startswith("{") and "\n" not in text.strip()]
)
def test_a_cut_off_document_gives_no_table(tmp_path: Path, name: str) -> None:
    text = TEXTS[name].rstrip()
    for last in range(0, len(text), max(len(text) // 40, 1)):
        table, found = read_measurements(written(tmp_path, text[:last], name))
        assert table is None
        assert found


# Whatever is in a file.

_ODD: tuple[object, ...] = (
    None, True, -1, 0, 1e308, 10**400, math.nan, math.inf, "", "x", "1e999", [], {}, [[]], {"": None}, [None], "\ud800",
)  # fmt: skip


def judged(text: str) -> None:
    """Every reader reads a text or refuses it, whether it would have known it or not."""
    source = Source("file", text)
    for reader in READERS:
        reader.recognizes(text, "file")
        found = reader.read(source)
        if isinstance(found, Diagnostic):
            assert found.code in {"CG851", "CG853", "CG855", "CG856"}
        else:
            assert found.rows
            assert all(len(row.cells) == len(found.header) for row in found.rows)


@given(st.text(max_size=300))
@settings(max_examples=60, deadline=None)
def test_no_text_makes_a_reader_fail(text: str) -> None:
    judged(text)


@given(st.sampled_from(sorted(TEXTS)), st.data())
@settings(max_examples=120, deadline=None)
def test_no_damaged_output_makes_a_reader_fail(name: str, data: st.DataObject) -> None:
    text = TEXTS[name]
    for _ in range(data.draw(st.integers(1, 4))):
        first = data.draw(st.integers(0, len(text)))
        last = data.draw(st.integers(first, min(first + 80, len(text))))
        put = data.draw(
            st.sampled_from(
                ["", "9" * 30, "-", ".", ":", "\n", '"', "}", "[", "…", "nan", " GiB", "\x1b[0m", "1e999"]
            )
        )
        text = text[:first] + put + text[last:]
    judged(text[: data.draw(st.integers(0, len(text)))] if data.draw(st.booleans()) else text)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every container of a document with one of its keys."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield value, key
        yield from _places(inner)


@given(st.sampled_from(sorted(name for name, text in TEXTS.items() if text.startswith("{"))), st.data())
@settings(max_examples=150, deadline=None)
def test_no_value_of_another_kind_makes_a_reader_fail(name: str, data: st.DataObject) -> None:
    documents = (
        [json.loads(line) for line in TEXTS[name].splitlines()]
        if "jsonl" in name
        else [json.loads(TEXTS[name])]
    )
    for _ in range(data.draw(st.integers(1, 3))):
        owner, key = data.draw(st.sampled_from(list(_places(documents))[:400]))
        owner[key] = copy.deepcopy(data.draw(st.sampled_from(_ODD)))
    judged("\n".join(json.dumps(document) for document in documents))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(TEXTS))
def test_large_outputs_are_read_in_linear_time(tmp_path: Path, name: str) -> None:
    text = TEXTS[name]
    text = text if text.endswith("\n") else f"{text}\n"

    def taken(size: int) -> float:
        path = written(tmp_path, text * (size // len(text.encode())), name)
        start = time.process_time()
        read_measurements(path)
        return time.process_time() - start

    small, large = taken(1 << 19), taken(1 << 22)
    assert large < 16 * max(small, 0.1)
