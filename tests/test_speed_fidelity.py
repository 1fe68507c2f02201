"""The flagship's speed against published runs: the file that ships with it, and the fits that rest on it.

In: `models/llm-serving/evidence/throughput.csv` → Out: errors within the bounds of its README; fits made again.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from typer.testing import CliRunner

from capgraph.calculate import Override, calculate
from capgraph.cli.main import app
from capgraph.compiler import compile_model
from capgraph.diagnostics import Source
from capgraph.measurement.backtest import backtest, relative_errors
from capgraph.measurement.data import Data, bind
from capgraph.measurement.table import read_csv
from capgraph.plan import Plan
from capgraph.resources import models_root

MODEL = models_root() / "llm-serving"


@cache
def plan() -> Plan:
    """Compile the flagship."""
    compilation = compile_model(MODEL / "model.yaml")
    assert compilation.plan is not None, compilation.diagnostics
    return compilation.plan


@cache
def runs(name: str = "throughput.csv") -> tuple[Data, dict[str, NDArray[np.float64]]]:
    """Return the runs of a file and, by quantity, the size of each one's relative error; nan where none."""
    path = Path(MODEL / "evidence" / name)
    table, wrong = read_csv(Source(name, path.read_text("utf-8"), str(path)))
    assert table is not None, wrong
    data, wrong = bind(table, plan().model)
    assert data is not None, wrong
    assert not wrong
    result, wrong = backtest(plan(), "base", data)
    assert result is not None, wrong
    return data, {key: np.abs(relative_errors(item)) for key, item in result.comparisons.items()}


def errors(quantity: str, kind: str, experts: bool | None = None) -> NDArray[np.float64]:
    """Return the errors of a kind of runs, of models with or without experts."""
    data, found = runs()
    models = plan().model.catalogs["models"].rows
    sparse = np.array([models[str(item)].values["experts"] != 0 for item in data.settings["llm"]])
    asked = (np.array(data.labels["kind"]) == kind) & np.isfinite(found[quantity])
    sizes: NDArray[np.float64] = found[quantity][asked if experts is None else asked & (sparse == experts)]
    return sizes


def value(quantity: str, **settings: float | str | bool) -> float:
    """Return a quantity of the flagship's first scenario with some settings."""
    given: dict[str, Override] = {name: (setting,) for name, setting in settings.items()}
    columns = calculate(plan(), given, 1, (quantity,))
    assert not columns.failures, columns.failures
    return float(columns.values[quantity][0])


def test_time_per_token_of_dense_models_is_that_of_published_runs() -> None:
    found = errors("tpot", "concurrency", experts=False)
    assert found.size >= 580
    assert found.mean() <= 0.065


def test_time_per_token_with_experts_is_that_of_published_runs() -> None:
    found = errors("tpot", "concurrency", experts=True)
    assert found.size >= 150
    assert found.mean() <= 0.095


def test_wait_for_the_first_token_is_that_of_published_runs() -> None:
    found = errors("ttft", "concurrency")
    assert found.size >= 700
    assert np.median(found) <= 0.17


@pytest.mark.parametrize(("kind", "count", "most"), [("full-load", 240, 0.13), ("fixed-batch", 75, 0.08)])
def test_throughput_is_that_of_published_runs(kind: str, count: int, most: float) -> None:
    found = errors("serving_throughput", kind)
    assert found.size >= count
    assert np.median(found) <= most


def test_each_run_has_a_source() -> None:
    for name in ("throughput.csv", "throughput-set-aside.csv"):
        assert all(runs(name)[0].labels["source"])


def test_each_run_that_is_set_aside_says_why() -> None:
    data, _ = runs("throughput-set-aside.csv")
    for kind, remark in zip(data.labels["kind"], data.labels["remark"], strict=True):
        assert remark or kind in {"saturated", "first-token"}


@pytest.mark.slow
def test_the_fits_that_ship_are_those_of_the_data() -> None:
    done = CliRunner().invoke(app, ["calibrate", "llm-serving", "--refit"])
    assert done.exit_code == 0, done.output


def test_a_measured_time_per_token_moves_what_follows_from_it() -> None:
    own = value("tpot")
    slower = value("serving_throughput", tpot=2 * own)
    assert slower == pytest.approx(value("serving_throughput") / 2, rel=0.1)
    assert value("gpus", tpot=2 * own) > value("gpus")


def test_the_shares_of_the_time_per_token_add_up() -> None:
    for settings in (
        {},
        {"batch": 512.0},
        {"gpus_per_replica": 8.0},
        {"gpus_per_replica": 1.0, "gpu": "b200-sxm-180"},
    ):
        names = ("overhead_share", "memory_share", "arithmetic_share", "communication_share")
        assert sum(value(name, **settings) for name in names) == pytest.approx(1)


def test_a_prompt_waits_for_others_and_they_come_between_its_tokens() -> None:
    # Little's law holds: a batch of requests finishes in the time of one.
    batch, length, time = value("batch"), value("output_tokens"), value("request_time")
    assert value("serving_throughput") == pytest.approx(batch * length / time)
    alone = value("ttft", batch=1.0)
    assert alone == pytest.approx(
        value("request_overhead") + value("prefill_time") + value("step_time", batch=1.0)
    )
    assert value("prompts_between", batch=1.0) == 0


def test_pipeline_stages_share_out_the_batch() -> None:
    # Two stages of one GPU each: a step reads all weights one after the other, for half of the sequences.
    one = value("weights_read") / value("replica_bandwidth", gpus_per_replica=1.0)
    two = value("weights_read") / value("replica_bandwidth", pipeline_parallel=2.0)
    assert two == pytest.approx(one)
    assert value("allreduce_time", pipeline_parallel=2.0) == 0
    assert value("step_tokens", batch=64.0, pipeline_parallel=2.0) == 32


# Tokens drafted and gained in a step, and ms a token: vLLM issue 20780, EAGLE on MT-Bench, one H100; 7.07 without.
EAGLE_TIMES = [
    (2, 2.10, 4.37), (3, 2.29, 4.29), (4, 2.39, 4.48), (5, 2.43, 4.71), (6, 2.45, 4.94), (7, 2.47, 5.20),
]  # fmt: skip


@pytest.mark.parametrize(("drafted", "gained", "published"), EAGLE_TIMES)
def test_drafts_gain_what_was_published(drafted: float, gained: float, published: float) -> None:
    run: dict[str, float | str] = {"llm": "llama-3.1-8b", "weight_format": "bf16", "profile": "vllm-bf16"}
    run |= {"gpus_per_replica": 1.0, "batch_cap": 1.0, "input_tokens": 200.0, "output_tokens": 400.0}
    drafts: dict[str, float | str] = {"draft": "eagle-llama-3.1-8b", "tokens_per_step": gained}
    drafts |= {"draft_tokens": drafted, "draft_passes": drafted}
    assert value("step_time", **run) == pytest.approx(7.07, rel=0.05)
    assert value("step_time", **run, **drafts) / gained == pytest.approx(published, rel=0.08)
