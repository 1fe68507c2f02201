"""The flagship's memory against what engines logged: the files that ship with it, and the rules one by one.

In: `models/llm-serving/evidence/kv_*.csv` → Out: errors within the bounds that its README states.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from capgraph.calculate import Override, calculate
from capgraph.compiler import compile_model
from capgraph.diagnostics import Source
from capgraph.measurement.backtest import backtest, relative_errors
from capgraph.measurement.data import bind
from capgraph.measurement.table import read_csv
from capgraph.plan import Plan
from capgraph.resources import models_root

EVIDENCE = models_root() / "llm-serving" / "evidence"


@cache
def plan() -> Plan:
    """Compile the flagship."""
    compilation = compile_model(models_root() / "llm-serving" / "model.yaml")
    assert compilation.plan is not None, compilation.diagnostics
    return compilation.plan


@cache
def errors(name: str, quantity: str, quality: str = "target") -> NDArray[np.float64]:
    """Return the sizes of the relative errors in a file's rows of a quality."""
    path = Path(EVIDENCE / name)
    table, wrong = read_csv(Source(name, path.read_text("utf-8"), str(path)))
    assert table is not None, wrong
    data, wrong = bind(table, plan().model)
    assert data is not None, wrong
    result, wrong = backtest(plan(), "base", data)
    assert result is not None, wrong
    found = np.abs(relative_errors(result.comparisons[quantity]))
    asked = np.array(data.labels["quality"]) == quality
    sizes: NDArray[np.float64] = found[asked & np.isfinite(found)]
    return sizes


def value(quantity: str, **settings: float | str | bool) -> float:
    """Return a quantity of the flagship's first scenario with some settings."""
    given: dict[str, Override] = {name: (setting,) for name, setting in settings.items()}
    columns = calculate(plan(), given, 1, (quantity,))
    assert not columns.failures, columns.failures
    return float(columns.values[quantity][0])


def test_weights_are_those_that_engines_log() -> None:
    found = errors("kv_memory.csv", "weights_per_gpu")
    assert found.size >= 75
    assert np.median(found) <= 0.005
    assert np.quantile(found, 0.9) <= 0.025


def test_pools_are_those_that_engines_log() -> None:
    found = errors("kv_memory.csv", "kv_pool_per_gpu")
    assert found.size >= 65
    assert np.median(found) <= 0.01
    assert np.quantile(found, 0.9) <= 0.075


def test_tokens_follow_from_the_pool() -> None:
    found = errors("kv_tokens.csv", "kv_token_capacity")
    assert found.size >= 65
    assert np.mean(found <= 0.005) >= 0.95


def test_concurrency_follows_from_the_pool() -> None:
    found = errors("kv_tokens.csv", "reported_concurrency")
    assert found.size >= 60
    assert np.mean(found <= 0.01) >= 0.97


def test_rows_found_after_the_rules_come_out() -> None:
    tokens = errors("kv_tokens.csv", "kv_token_capacity", "held out")
    concurrency = errors("kv_tokens.csv", "reported_concurrency", "held out")
    weights = errors("kv_memory.csv", "weights_per_gpu", "held out")
    pools = errors("kv_memory.csv", "kv_pool_per_gpu", "held out")
    assert (tokens.size, concurrency.size, weights.size, pools.size) == (42, 37, 32, 23)
    assert tokens.max() <= 0.005
    assert concurrency.max() <= 0.01
    assert np.median(weights) <= 0.01
    assert np.quantile(weights, 0.9) <= 0.04
    assert np.median(pools) <= 0.02
    assert np.quantile(pools, 0.9) <= 0.085


# Rules, each against what a log of vLLM says.


@pytest.mark.parametrize(
    ("llm", "engine", "gpus", "tokens"),
    [
        ("llama-3.1-8b", "vllm-0.19", 1, 16),  # one kind of layers
        ("gemma-3-27b", "vllm-0.19", 1, 16),  # alike heads in both kinds
        ("qwen3.5-27b", "vllm-0.19", 4, 784),  # "Setting attention block size to 784 tokens"
        ("qwen3.6-27b", "vllm-0.22", 1, 784),
        ("gemma-4-26b-a4b", "vllm-0.22", 1, 32),  # half the bytes of a window layer
    ],
)
def test_blocks_are_as_large_as_the_largest_kind_needs(llm: str, engine: str, gpus: int, tokens: int) -> None:
    assert value("block_tokens", llm=llm, engine=engine, gpus_per_replica=gpus) == tokens


@pytest.mark.parametrize(
    ("llm", "layers", "groups"),
    [
        ("gemma-3-27b", 10, (1, 6, 0)),  # 52 window layers fill six groups of ten, the last with two
        ("gpt-oss-20b", 12, (1, 1, 0)),
        ("qwen3-next-80b-a3b", 12, (1, 0, 3)),
        ("llama-3.3-70b", 80, (1, 0, 0)),
        ("mistral-7b-v0.1", 32, (0, 1, 0)),
    ],
)
def test_layers_of_a_kind_form_groups(llm: str, layers: int, groups: tuple[int, int, int]) -> None:
    assert value("group_layers", llm=llm) == layers
    kinds = ("whole_groups", "window_groups", "state_groups")
    assert tuple(value(kind, llm=llm) for kind in kinds) == groups


@pytest.mark.parametrize(("gpus", "weights"), [(1, 64.38), (4, 17.22)])
def test_experts_are_padded_on_each_gpu(gpus: int, weights: float) -> None:
    """gpt-oss-120b on H100 and on four A100."""
    given: dict[str, float | str] = {
        "llm": "gpt-oss-120b",
        "weight_format": "mxfp4",
        "gpus_per_replica": gpus,
    }
    assert value("weights_per_gpu", **given) == pytest.approx(weights, rel=0.006)
    whole = value("expert_padding", **given, attention_data_parallel=gpus)
    assert whole == value("expert_padding", **given | {"gpus_per_replica": 1})


@pytest.mark.parametrize(("gpu", "runtime"), [("h100-sxm-80", 2.1), ("a100-sxm-80", 0.25), ("l40s", 0.25)])
def test_collectives_hold_buffers_over_the_links_of_hopper(gpu: str, runtime: float) -> None:
    assert value("runtime_reserve", gpu=gpu, engine="vllm-0.22", gpus_per_replica=2) == runtime


@pytest.mark.parametrize(("batch", "graphs"), [(16, 0.5 / 16), (256, 0.5), (1024, 0.5)])
def test_fewer_graphs_are_captured_for_fewer_sequences(batch: float, graphs: float) -> None:
    assert value("graph_reserve", engine="vllm-0.22", batch_cap=batch) == pytest.approx(graphs)


def test_older_engines_hold_windows_whole() -> None:
    assert value("whole_groups", llm="gemma-2-9b", engine="vllm-0.6") == 1
    assert value("group_layers", llm="gemma-2-9b", engine="vllm-0.6") == 42


def test_a_window_saves_nothing_while_a_step_may_hold_the_whole_prompt() -> None:
    settings: dict[str, float | str] = {"llm": "gemma-3-27b", "input_tokens": 7892, "cached_share": 0}
    assert value("blocks_per_sequence", **settings) == 7 * 512 + 6
    assert value("blocks_per_sequence", **settings, max_batched_tokens=1024) == 512 + 6 * (128 + 1)
    assert value("blocks_per_sequence", **settings | {"llm": "llama-4-scout"}) == 4 * 512


def test_ideal_and_reserved_are_a_switch() -> None:
    reserved = value("kv_per_sequence", llm="gpt-oss-120b")
    ideal = value("kv_per_sequence", llm="gpt-oss-120b", window_reservation="ideal")
    assert ideal == value("kv_per_sequence_ideal", llm="gpt-oss-120b")
    decoding = value("kv_per_sequence", llm="gpt-oss-120b", window_reservation="decoding")
    assert ideal < decoding < reserved
    # 1,050 tokens in 66 blocks, and a window of 128 in eight and one; 36 KiB for each of 16 tokens.
    assert decoding == pytest.approx((66 + 9) * 16 * 36 / 2**20, rel=1e-12)


def test_a_latent_is_copied_to_every_gpu_unless_they_attend_apart_or_share_the_tokens() -> None:
    mla: dict[str, float | str] = {"llm": "deepseek-v3", "gpus_per_replica": 8}
    assert value("kv_copies", **mla) == 8
    assert value("kv_copies", **mla, attention_data_parallel=8.0) == 1
    assert value("kv_copies", **mla, context_parallel=8.0) == 1
    assert value("kv_copies", llm="qwen3-235b-a22b", gpus_per_replica=8.0) == 2


def test_every_gpu_holds_the_projections_to_a_latent() -> None:
    alone, eight = (value("weights", llm="deepseek-v3", gpus_per_replica=gpus) for gpus in (1, 8))
    assert (eight - alone) * 2**30 == pytest.approx(7 * 61 * 7168 * (1536 + 512 + 64))
    apart = value("weights", llm="deepseek-v3", gpus_per_replica=8, attention_data_parallel=8)
    assert apart * 8 > eight > alone


def test_a_share_is_of_all_memory_or_of_what_is_free() -> None:
    total = value("hbm_counted", engine="vllm-0.22")
    before = value("hbm_counted", engine="sglang")
    after = value("hbm_counted", engine="trtllm-1")
    assert total == value("hbm_total")
    assert before == pytest.approx(total - value("reserve", engine="sglang"))
    assert after == pytest.approx(total - value("reserve", engine="trtllm-1") - value("weights"))


def test_the_last_stage_of_a_pipeline_sets_the_pool() -> None:
    # vLLM 0.19, Llama 3.1 8B on 4 stages: 69.80 GiB on the first GPU, 2,257,264 tokens in all.
    stages: dict[str, float | str] = {"llm": "llama-3.1-8b", "gpus_per_replica": 4, "pipeline_parallel": 4}
    stages["batch_cap"] = 1024
    found = value("kv_token_capacity", **stages, engine="vllm-0.19", kv_pool_per_gpu=69.80)
    assert found == pytest.approx(2_257_264, rel=3e-3)
    assert value("weights_per_gpu", **stages, weight_format="bf16") == pytest.approx(4.26, rel=0.01)


@pytest.mark.parametrize(("llm", "trainable"), [("llama-2-7b", 39_976_960), ("llama-3.1-8b", 41_943_040)])
def test_an_adapter_has_the_parameters_that_training_tools_print(llm: str, trainable: int) -> None:
    """Rank 16 on all linear layers, as PEFT and Unsloth print it."""
    given: dict[str, float | str] = {"llm": llm, "gpus_per_replica": 1.0, "adapters": 1.0}
    assert value("adapter_reserve", **given) * 2**30 == pytest.approx(2 * trainable)
    less = value("kv_pool_per_gpu", **{**given, "adapters": 0.0}) - value("kv_pool_per_gpu", **given)
    assert less * 2**30 == pytest.approx(2 * trainable)


def test_a_compressed_cache_takes_what_its_publisher_says() -> None:
    """vLLM's blog on DeepSeek V4: 9.62 GiB for 1M tokens, so KiB a token, all at 16 bits."""
    found = value("kv_per_token", llm="deepseek-v4-pro", gpus_per_replica=8.0, index_bytes=2.0)
    assert found == pytest.approx(9.62, rel=1e-3)


@pytest.mark.parametrize(("context", "share"), [(32_768.0, 0.65), (131_072.0, 0.81)])
def test_the_index_is_most_of_what_sparse_attention_reads(context: float, share: float) -> None:
    """vLLM PR 51209, DeepSeek V4 Flash: 65% at 32K tokens and 81% at 128K."""
    given: dict[str, float | str] = {
        "llm": "deepseek-v4-flash",
        "kv_format": "fp8-ds-mla",
        "gpus_per_replica": 8.0,
    }
    given |= {"input_tokens": context - 1, "output_tokens": 1.0, "cached_share": 0.0}
    read = value("kv_read_per_sequence", **given)
    less = read - value("kv_read_per_sequence", **given, index_bytes=0.0)
    assert less / read == pytest.approx(share, abs=0.06)


def test_sparse_attention_reads_no_more_entries_than_it_picks() -> None:
    given: dict[str, float | str] = {"llm": "deepseek-v3.2", "gpus_per_replica": 8.0, "index_bytes": 0.0}
    short = value("kv_read_per_sequence", **given, input_tokens=8000.0)
    assert value("kv_read_per_sequence", **given, input_tokens=80_000.0) == pytest.approx(short)
