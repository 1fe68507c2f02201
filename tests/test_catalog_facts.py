"""The flagship's catalogs against published figures: sources, dates, ranges, links, KV cache sizes.

Reads the YAML alone, without the compiler, so that a wrong fact and a wrong compiler cannot hide each other.
"""

from __future__ import annotations

import datetime
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

CATALOGS = Path(__file__).parent.parent / "models" / "llm-serving" / "catalogs"
LAST_READ = datetime.date(2026, 11, 30)
GIB = 2.0**30
BYTES = {"B": 1.0, "MiB": 2.0**20, "GiB": GIB, "GB": 1e9}
COMMON_KEYS = {"name", "source", "as_of", "note", "unverified"}
LEAST_ROWS = {
    "gpus": 45, "models": 95, "formats": 10, "engines": 6, "gpu_prices": 200, "api_prices": 140, "servers": 20,
    "traffic": 8, "drafts": 24,
}  # fmt: skip

Row = dict[str, Any]


def _read(name: str) -> dict[str, Any]:
    loaded = yaml.safe_load((CATALOGS / f"{name}.yaml").read_text(encoding="utf-8"))
    assert isinstance(loaded, dict)
    return loaded


CATALOG = {name: _read(name) for name in LEAST_ROWS}
ROWS: dict[str, dict[str, Row]] = {name: catalog["rows"] for name, catalog in CATALOG.items()}
EVERY_ROW = [(name, row_id) for name, rows in ROWS.items() for row_id in rows]


def _number(value: int | float | str, unit: str) -> float:
    """Return a field's value in its unit; only memory is ever written in another one."""
    if not isinstance(value, str):
        return float(value)
    if value.endswith("%"):
        return float(value[:-1]) / 100
    amount, written = value.split()
    size, basis = written.split("/")
    assert unit == f"GiB/{basis}"
    return float(amount) * BYTES[size] / GIB


def _numbers(name: str, row: Row) -> dict[str, float]:
    fields = CATALOG[name]["fields"]
    units = {key: field["unit"] for key, field in fields.items() if "unit" in field}
    return {key: _number(row[key], unit) for key, unit in units.items() if key in row}


@pytest.mark.parametrize("name", LEAST_ROWS)
def test_catalog_has_its_id_label_and_enough_rows(name: str) -> None:
    assert CATALOG[name]["catalog"] == name
    assert CATALOG[name]["label"]
    assert len(ROWS[name]) >= LEAST_ROWS[name]


@pytest.mark.parametrize("name", LEAST_ROWS)
def test_no_row_id_stands_twice(name: str) -> None:
    root = yaml.compose((CATALOGS / f"{name}.yaml").read_text(encoding="utf-8"))
    assert isinstance(root, yaml.MappingNode)
    (rows,) = [value for key, value in root.value if key.value == "rows"]
    ids = Counter(key.value for key, _ in rows.value)
    assert [row_id for row_id, count in ids.items() if count > 1] == []
    for _, row in rows.value:
        keys = Counter(key.value for key, _ in row.value)
        assert [key for key, count in keys.items() if count > 1] == [], row.start_mark


@pytest.mark.parametrize(("name", "row_id"), EVERY_ROW)
def test_row_is_well_formed_with_source_and_date(name: str, row_id: str) -> None:
    row, fields = ROWS[name][row_id], CATALOG[name]["fields"]
    assert re.fullmatch(r"[a-z0-9][a-z0-9._-]*", row_id)
    assert set(row) <= set(fields) | COMMON_KEYS
    assert isinstance(row["source"], str)
    assert row["source"].strip()
    assert type(row["as_of"]) is datetime.date
    assert row["as_of"] <= LAST_READ
    assert not re.search(r"(^|\s)/\w|file://|\w:\\", row["source"]), "a path of a machine"
    assert None not in row.values(), "leave out what is not known"
    unverified = [key.strip() for key in row.get("unverified", "").split(",") if key.strip()]
    assert set(unverified) <= set(row) & set(fields), "only a field that the row has can be unverified"


@pytest.mark.parametrize(("name", "row_id"), EVERY_ROW)
def test_values_fit_their_field(name: str, row_id: str) -> None:
    row, fields = ROWS[name][row_id], CATALOG[name]["fields"]
    for key, value in _numbers(name, row).items():
        low, high = (float(limit) for limit in fields[key]["range"])
        assert low <= value <= high, f"{key}: {value} is outside [{low}, {high}]"
    for key in set(row) & set(fields):
        if fields[key].get("type") == "text":
            assert isinstance(row[key], str)
        if fields[key].get("type") == "yes/no":
            assert isinstance(row[key], bool)


# Every number of a row, as published: NVIDIA, AMD and Google datasheets (links halved to one direction),
# memory as drivers and engines report it; totals of Hugging Face pages, shapes of config.json; price lists.
PUBLISHED: dict[str, dict[str, dict[str, float]]] = yaml.safe_load("""
gpus:
  h100-sxm-80:
    {memory: 79.19, bandwidth: 3.35, flops_16bit: 989, flops_8bit: 1979, link_bandwidth: 450, power: 700,
     gpus_per_node: 8}
  h200-sxm-141:
    {memory: 139.80, bandwidth: 4.8, flops_16bit: 989, flops_8bit: 1979, link_bandwidth: 450, power: 700,
     gpus_per_node: 8}
  a100-sxm-80:
    {memory: 79.34686279296875, bandwidth: 2.039, flops_16bit: 312, flops_8bit: 624, link_bandwidth: 300,
     power: 400, gpus_per_node: 8}
  l4:
    {memory: 22.3515625, bandwidth: 0.3, flops_16bit: 121, flops_8bit: 242, link_bandwidth: 32, power: 72,
     gpus_per_node: 8}
  b300-sxm-288:
    {memory: 268.59375, bandwidth: 7.75, flops_16bit: 2250, flops_8bit: 4500, flops_4bit: 14000,
     link_bandwidth: 900, power: 1100, gpus_per_node: 8}
  mi300x:
    {memory: 192, bandwidth: 5.3, flops_16bit: 1307.4, flops_8bit: 2614.9, link_bandwidth: 448,
     power: 750, gpus_per_node: 8}
  tpu-v6e:
    {memory: 32, bandwidth: 1.638, flops_16bit: 918, flops_8bit: 918, link_bandwidth: 400,
     gpus_per_node: 8}
models:
  llama-3.1-8b:
    {parameters: 8030261248, active_parameters: 8030261248, layers: 32, hidden_size: 4096,
     attention_heads: 32, kv_heads: 8, head_dim: 128, vocabulary: 128256, full_layers: 32,
     window_layers: 0, linear_layers: 0, mlp_width: 14336, experts: 0, experts_per_token: 0,
     context_limit: 131072}
  llama-3.1-70b:
    {parameters: 70553706496, active_parameters: 70553706496, layers: 80, hidden_size: 8192,
     attention_heads: 64, kv_heads: 8, head_dim: 128, vocabulary: 128256, full_layers: 80,
     window_layers: 0, linear_layers: 0, mlp_width: 28672, experts: 0, experts_per_token: 0,
     context_limit: 131072}
  qwen3-32b:
    {parameters: 32762123264, active_parameters: 32762123264, layers: 64, hidden_size: 5120,
     attention_heads: 64, kv_heads: 8, head_dim: 128, vocabulary: 151936, full_layers: 64,
     window_layers: 0, linear_layers: 0, mlp_width: 25600, experts: 0, experts_per_token: 0,
     context_limit: 40960}
  mixtral-8x7b:
    {parameters: 46702792704, active_parameters: 12879925248, layers: 32, hidden_size: 4096,
     attention_heads: 32, kv_heads: 8, head_dim: 128, vocabulary: 32000, full_layers: 32,
     window_layers: 0, linear_layers: 0, expert_width: 14336, experts: 8, experts_per_token: 2,
     context_limit: 32768}
  deepseek-v3:
    {parameters: 671026419200, active_parameters: 37552297472, layers: 61, hidden_size: 7168,
     attention_heads: 128, kv_heads: 128, head_dim: 192, vocabulary: 129280, kv_lora_rank: 512,
     rope_dim: 64, q_lora_rank: 1536, full_layers: 61, window_layers: 0, linear_layers: 0, mlp_width: 18432,
     expert_width: 2048, experts: 256,
     experts_per_token: 8, context_limit: 131072}
  gpt-oss-120b:
    {parameters: 116829156672, active_parameters: 5711982912, layers: 36, hidden_size: 2880,
     attention_heads: 64, kv_heads: 8, head_dim: 64, vocabulary: 201088, full_layers: 18,
     window_layers: 18, window: 128, linear_layers: 0, expert_width: 2880, experts: 128,
     experts_per_token: 4, context_limit: 131072}
  gemma-3-27b:
    {parameters: 27009346304, active_parameters: 27009346304, layers: 62, hidden_size: 5376,
     attention_heads: 32, kv_heads: 16, head_dim: 128, vocabulary: 262208, full_layers: 10,
     window_layers: 52, window: 1024, linear_layers: 0, mlp_width: 21504, vision_parameters: 423060336,
     experts: 0, experts_per_token: 0, context_limit: 131072}
  qwen3.5-27b:
    {parameters: 26895998464, active_parameters: 26895998464, layers: 64, hidden_size: 5120,
     attention_heads: 24, kv_heads: 4, head_dim: 256, vocabulary: 248320, full_layers: 16,
     window_layers: 0, linear_layers: 48, mlp_width: 17408, state_elements: 786432, conv_channels: 10240,
     vision_parameters: 460000000, vision_peak: 0.9, experts: 0, experts_per_token: 0,
     context_limit: 262144}
formats:
  bf16: {bytes_per_parameter: 2, bytes_per_element: 2}
  mxfp4: {bytes_per_parameter: 0.53125, padding: 256, width_padding: 64}
  nvfp4: {bytes_per_parameter: 0.5625, bytes_per_element: 0.5625}
  q8-0: {bytes_per_parameter: 1.0625, bytes_per_element: 1.0625}
engines:
  vllm-0.19:
    {memory_fraction: 0.90, logits_bytes: 14.5, runtime_alone: 0.25, runtime_linked: 2.1,
     buffered_link: 400, graphs: 0,
     block: 16, group_ratio: 1.5, state_blocks: 1}
gpu_prices:
  aws-p5-48xlarge-on-demand-us-east-1: {price: 6.88, gpus_per_instance: 8}
  azure-nd96isr-h100-v5-on-demand-eastus: {price: 12.29, gpus_per_instance: 8}
api_prices:
  openai-gpt-4o:
    {input: 2.5, output: 10, cached_input: 1.25, batch_input: 1.25, batch_output: 5,
     context_limit: 128000}
  openai-gpt-4.1:
    {input: 2, output: 8, cached_input: 0.5, batch_input: 1, batch_output: 4, context_limit: 1047576}
  azure-gpt-5.4-mini:
    {input: 0.75, output: 4.5, cached_input: 0.075, batch_input: 0.375, batch_output: 2.25,
     context_limit: 272000}
""")
PUBLISHED_ROWS = [(name, row_id) for name, rows in PUBLISHED.items() for row_id in rows]


@pytest.mark.parametrize(("name", "row_id"), PUBLISHED_ROWS)
def test_every_number_of_a_row_is_the_published_one(name: str, row_id: str) -> None:
    assert _numbers(name, ROWS[name][row_id]) == PUBLISHED[name][row_id]


# Layers that cache nothing: attention-free blocks of a pruned Llama, MoE blocks that Nemotron 3 counts as layers
# of their own, layers that share the cache of others, and layers of DeepSeek V4 with nothing but a small window.
CACHELESS_LAYERS = {
    "nemotron-super-49b-v1": 31,
    "nemotron-3-nano-30b-a3b": 23,
    "nemotron-3-super-120b-a12b": 40,
    "nemotron-3-ultra-550b-a55b": 48,
    "gemma-4-e2b": 20,
    "deepseek-v4-flash": 2,
}


@pytest.mark.parametrize("row_id", ROWS["models"])
def test_kinds_of_layers_add_up(row_id: str) -> None:
    row = ROWS["models"][row_id]
    kinds = ("full_layers", "window_layers", "linear_layers")
    full, window, linear = (row[kind] for kind in kinds)
    assert full + window + linear + CACHELESS_LAYERS.get(row_id, 0) == row["layers"]
    assert ("window" in row) == (window > 0)
    assert full > 0 or row_id == "mistral-7b-v0.1"
    if (window and full) or linear:
        assert row["attention"] == "hybrid"


@pytest.mark.parametrize("row_id", ROWS["models"])
def test_shapes_agree_with_each_other(row_id: str) -> None:
    row = ROWS["models"][row_id]
    mla = row["attention"] == "mla"
    assert ("kv_lora_rank" in row, "rope_dim" in row) == (mla, mla)
    assert mla or "q_lora_rank" not in row
    assert row["attention_heads"] % row["kv_heads"] == 0
    assert (row["attention"] == "mha") == (row["kv_heads"] == row["attention_heads"] and not mla)
    assert (row["experts"] == 0) == (row["experts_per_token"] == 0)
    assert row["experts_per_token"] <= row["experts"]
    if row["experts"]:
        assert row["active_parameters"] < row["parameters"]
    else:
        assert row["active_parameters"] == row["parameters"]
    assert (row.get("expert_width", 0) > 0) <= (row["experts"] > 0)
    assert ("window_kv_heads" in row) == ("window_head_dim" in row)
    assert not ({"window_kv_heads", "window_head_dim"} & set(row) and not row["window_layers"])
    assert not {"state_elements", "conv_channels"} & set(row) or row["linear_layers"]
    assert "state_elements" in row or not row.get("linear_layers")
    embeddings = row["vocabulary"] * row["hidden_size"] * (1 if row["tied_embeddings"] else 2)
    assert embeddings < row["parameters"]


def _elements_per_token_and_layer(row: Row) -> int:
    if row["attention"] == "mla":
        return int(row["kv_lora_rank"] + row["rope_dim"])
    return int(2 * row["kv_heads"] * row["head_dim"])


# Elements a token in one caching layer, and how many layers cache the whole context, from config.json.
# DeepSeek's own table (Insights into DeepSeek-V3, 2025) has 70.272, 327.680 and 516.096 kB a token in BF16
# for DeepSeek-V3, Qwen2.5 72B and Llama 3.1 405B.
KV_ELEMENTS = {
    "llama-2-7b": (2 * 32 * 128, 32),
    "llama-3.1-8b": (2 * 8 * 128, 32),
    "llama-3.1-70b": (2 * 8 * 128, 80),
    "llama-3.1-405b": (516_096 // 2 // 126, 126),
    "qwen2.5-72b": (327_680 // 2 // 80, 80),
    "deepseek-v3": (512 + 64, 61),
    "deepseek-v2-lite": (512 + 64, 27),
    "kimi-k2": (512 + 64, 61),
    "glm-5": (512 + 64, 78),
    "mistral-small-24b": (2 * 8 * 128, 40),
    "mistral-nemo-12b": (2 * 8 * 128, 40),
    "phi-4": (2 * 10 * 128, 40),
    "mixtral-8x22b": (2 * 8 * 128, 56),
    "gpt-oss-20b": (2 * 8 * 64, 12),
    "gemma-3-12b": (2 * 8 * 256, 8),
    "llama-4-scout": (2 * 8 * 128, 12),
    "qwen3-next-80b-a3b": (2 * 2 * 256, 12),
    "nemotron-3-nano-30b-a3b": (2 * 2 * 128, 6),
    "nemotron-super-49b-v1": (2 * 8 * 128, 49),
    "minimax-m1-80k": (2 * 8 * 128, 10),
    "minimax-m3": (2 * 4 * 128, 60),
    "mimo-v2-flash": (4 * (192 + 128), 9),
    "gemma-4-26b-a4b": (2 * 2 * 512, 5),
    "gemma-4-31b": (2 * 4 * 512, 10),
}


@pytest.mark.parametrize("row_id", KV_ELEMENTS)
def test_kv_elements_follow_the_published_config(row_id: str) -> None:
    row = ROWS["models"][row_id]
    assert (_elements_per_token_and_layer(row), row["full_layers"]) == KV_ELEMENTS[row_id]


# Bytes a token at 8 bits: entries as engines lay them out (DeepSeek V4: 448, 64 at 16 bits, scales), and an index of
# 132; a sequence's windows of 128 entries and states of compressors, at 32 bits. SGLang prints 47,702 for GLM 5.2.
SPARSE_BYTES = {
    "deepseek-v4-flash": (584, 3850, 43 * 128 * 584 + 21 * 8 * (8192 + 2048) + 20 * 128 * 4096),
    "deepseek-v4-pro": (584, 5511, 61 * 128 * 584 + 30 * 8 * (8192 + 2048) + 31 * 128 * 4096),
    "glm-5.2": (576, 47_702, 0),
}


@pytest.mark.parametrize("row_id", SPARSE_BYTES)
def test_sparse_cache_has_the_bytes_that_engines_give_it(row_id: str) -> None:
    row = ROWS["models"][row_id]
    entry, token, sequence = SPARSE_BYTES[row_id]
    per_layer = entry * row.get("entries_per_token", 1) + 132 * row["index_per_token"]
    assert per_layer * row["full_layers"] == pytest.approx(token, abs=3)
    assert row.get("kept_state", 0) * 2**20 == sequence


# Elements a token in a layer with a window, where they differ.
WINDOW_ELEMENTS = {
    "mimo-v2-flash": 8 * (192 + 128),
    "gemma-4-e2b": 2 * 1 * 256,
    "gemma-4-26b-a4b": 2 * 8 * 256,
    "gemma-4-31b": 2 * 16 * 256,
}


def test_window_layers_with_other_heads_follow_the_published_config() -> None:
    found = {
        row_id: 2 * row["window_kv_heads"] * row["window_head_dim"]
        for row_id, row in ROWS["models"].items()
        if "window_kv_heads" in row
    }
    assert found == WINDOW_ELEMENTS


# Bytes of a sequence's state in one gated delta-net layer, as vLLM 0.19 to 0.25 pads its attention blocks to:
# 784 tokens of 4,096 bytes, and 1,072 of 2,048 with three drafted tokens, 1,056 without.
STATE_BLOCKS = {"qwen3.5-27b": 784 * 4096, "qwen3.6-35b-a3b": 1056 * 2048}


@pytest.mark.parametrize("row_id", STATE_BLOCKS)
def test_state_fills_the_block_an_engine_logged(row_id: str) -> None:
    row = ROWS["models"][row_id]
    state = 4 * row["state_elements"] + 2 * 3 * row["conv_channels"]
    a_step = 16 * 2 * _elements_per_token_and_layer(row)
    assert STATE_BLOCKS[row_id] - a_step < state <= STATE_BLOCKS[row_id]


# The four ways to pay for a GPU: by the hour, under a contract, as spare capacity, and once.
@pytest.mark.parametrize(
    ("commitments", "rows"),
    [({"on-demand"}, 100), ({"reserved", "1-year", "3-year"}, 20), ({"spot"}, 35), ({"capacity-block"}, 4)],
)
def test_every_way_to_rent_a_gpu_has_prices(commitments: set[str], rows: int) -> None:
    assert sum(row["commitment"] in commitments for row in ROWS["gpu_prices"].values()) >= rows


def test_some_gpus_have_a_price_to_buy_them() -> None:
    assert sum("single_gpu" in row for row in ROWS["servers"].values()) >= 8


@pytest.mark.parametrize("row_id", ROWS["drafts"])
def test_a_draft_is_accepted_at_most_as_drafted(row_id: str) -> None:
    row = ROWS["drafts"][row_id]
    assert 1 <= row["accepted"] <= 1 + row["drafted"]
    assert row["draft_passes"] <= row["drafted"]
    of_a_model = ("draft_passes", "draft_parameters", "resident_parameters", "draft_layers")
    assert len({row[field] > 0 for field in of_a_model}) == 1, "a lookup reads and loads nothing"


# Own parameters of a head: the paper of EAGLE gives 0.25B and 0.99B, DeepSeek 11.5B.
HEAD_PARAMETERS = {
    "eagle-llama-3.1-8b": 0.25e9,
    "eagle2-llama-3.3-70b": 0.99e9,
    "mtp-deepseek-v3": 11.5e9,
}


@pytest.mark.parametrize("row_id", HEAD_PARAMETERS)
def test_computed_size_of_a_draft_agrees_with_the_published_one(row_id: str) -> None:
    assert ROWS["drafts"][row_id]["resident_parameters"] == pytest.approx(HEAD_PARAMETERS[row_id], rel=0.015)


@pytest.mark.parametrize("row_id", ROWS["engines"])
def test_engine_states_rules_that_formulas_know(row_id: str) -> None:
    row = ROWS["engines"][row_id]
    assert row["fraction_of"] in {"total", "free before loading", "free after loading"}
    assert row["windows"] in {"reserved", "whole", "own"}
    assert row["reports"] in {"groups", "length"}


# KV pool and tokens as vLLM 0.19 logs them on one H100 (llm-d-planner PR 205), 2 bytes an element.
LOGGED_POOLS = {
    "llama-3.1-8b": (58.11, 476_016),
    "qwen3-8b": (57.50, 418_688),
    "deepseek-v2-lite": (43.61, 1_505_552),
}


@pytest.mark.parametrize("row_id", LOGGED_POOLS)
def test_kv_elements_fill_the_pool_an_engine_logged(row_id: str) -> None:
    row = ROWS["models"][row_id]
    pool, tokens = LOGGED_POOLS[row_id]
    predicted = tokens * _elements_per_token_and_layer(row) * row["full_layers"] * 2 / GIB
    assert predicted == pytest.approx(pool, rel=5e-4)


@pytest.mark.parametrize("row_id", ROWS["gpu_prices"])
def test_price_names_an_accelerator_of_the_catalog(row_id: str) -> None:
    assert ROWS["gpu_prices"][row_id]["gpu"] in ROWS["gpus"]


@pytest.mark.parametrize("row_id", ROWS["servers"])
def test_server_holds_an_accelerator_of_the_catalog_and_its_power(row_id: str) -> None:
    row = ROWS["servers"][row_id]
    assert row["gpu_power"] == ROWS["gpus"][row["gpu"]].get("power", row["gpu_power"])
    assert row["power"] * 1000 > row["gpus"] * row["gpu_power"]
    assert row["price"] > row["gpus"] * row.get("single_gpu", 0)


def test_one_offer_has_one_price() -> None:
    offers = Counter(
        (row["provider"], row["instance"], row["gpu"], row["commitment"], row.get("region"))
        for row in ROWS["gpu_prices"].values()
    )
    assert [offer for offer, count in offers.items() if count > 1] == []


@pytest.mark.parametrize("row_id", ROWS["gpus"])
def test_rates_do_not_fall_with_fewer_bits(row_id: str) -> None:
    row = ROWS["gpus"][row_id]
    rates = [row[key] for key in ("flops_16bit", "flops_8bit", "flops_4bit") if key in row]
    assert rates == sorted(rates)


@pytest.mark.parametrize("row_id", ROWS["api_prices"])
def test_discounts_are_discounts(row_id: str) -> None:
    row = ROWS["api_prices"][row_id]
    assert row["input"] <= row["output"]
    assert row.get("cached_input", 0) < row["input"]
    assert row.get("batch_input", 0) < row["input"]
    assert row.get("batch_output", 0) < row["output"]
    assert ("batch_input" in row) == ("batch_output" in row)


def test_most_api_prices_say_what_cached_and_batch_tokens_cost() -> None:
    both = [row for row in ROWS["api_prices"].values() if {"cached_input", "batch_input"} <= set(row)]
    assert len(both) >= 85


@pytest.mark.parametrize("row_id", ROWS["formats"])
def test_format_states_the_rate_it_runs_at(row_id: str) -> None:
    assert ROWS["formats"][row_id]["precision"] in {"16bit", "8bit", "4bit"}


def test_weight_only_formats_have_no_kv_size() -> None:
    without = {row_id for row_id, row in ROWS["formats"].items() if "bytes_per_element" not in row}
    assert without == {"fp8-block128", "int4-g128", "int4-g32-experts", "mxfp4", "nvfp4-linear", "q4-k-m"}
