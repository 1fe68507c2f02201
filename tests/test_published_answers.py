"""The three published sizing answers: every figure they state comes out, and what they conclude is shown.

In: `capgraph eval published-answers --json` → Out: each figure within its tolerance, in the answer's own unit.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from compiling import texts_of

from capgraph.analysis.diagnosis import diagnose
from capgraph.analysis.findings import find
from capgraph.calculate import calculate
from capgraph.compiler import compile_model
from capgraph.evaluate import evaluate
from capgraph.findings import Diagnosis, Findings
from capgraph.model import Decision, Setting, Value
from capgraph.resources import models_root
from capgraph.units import Unit, conversion_factor, parse_unit, spell

FIGURES: list[dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("published").joinpath("figures.yaml").read_text("utf-8")
)["figures"]
BASES = ("GPU", "replica", "sequence", "request")
"""What an answer leaves out of its units: `GiB` for `GiB/replica`."""


@cache
def evaluated() -> dict[str, Any]:
    """Evaluate the plan through the command line, once."""
    command = [sys.executable, "-m", "capgraph", "eval", "published-answers", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    scenarios: dict[str, Any] = json.loads(done.stdout)["scenarios"]
    return scenarios


def without_basis(unit: Unit, wanted: Unit) -> Unit:
    """Return a unit without the bases that the wanted unit does not name."""
    named = {symbol for symbol, _ in wanted.terms}
    return parse_unit(spell(tuple(term for term in unit.terms if term[0] not in BASES or term[0] in named)))


def test_all_figures_are_carried() -> None:
    assert len(FIGURES) == 74
    assert len({(row["scenario"], row["quantity"]) for row in FIGURES}) == 74
    assert len({row["scenario"] for row in FIGURES}) == 16


@pytest.mark.parametrize("row", FIGURES, ids=lambda row: f"{row['scenario']}:{row['quantity']}")
def test_figure_comes_out(row: dict[str, Any]) -> None:
    found = evaluated()[row["scenario"]]["values"][row["quantity"]]
    wanted = parse_unit(row["unit"])
    unit = without_basis(parse_unit(found["unit"]), wanted)
    assert unit.dimension == wanted.dimension, f"{found['unit']} is no {row['unit']}"
    value = found["value"] * conversion_factor(unit, wanted)
    assert value == pytest.approx(row["value"], rel=float(row["tolerance"]), abs=0)


def headline(scenario: str) -> str:
    """Return the headline of a scenario with plain spaces."""
    return " ".join(evaluated()[scenario]["verdict"]["headline"].split())


def message(scenario: str, check: str) -> tuple[bool, str]:
    """Return whether a check holds, and its message with plain spaces."""
    found = evaluated()[scenario]["checks"][check]
    return found["pass"], " ".join(found["message"].split())


def has(text: str, *parts: str) -> bool:
    return all(part in text for part in parts)


@cache
def compiled() -> tuple[Decision, Findings]:
    plan = compile_model(models_root() / "published-answers" / "model.yaml").plan
    assert plan is not None
    assert plan.model.decision is not None
    results, _ = evaluate(plan)
    assert results is not None
    return plan.model.decision, find(plan, results)


def test_the_fleet_answer_recommends_the_api_and_says_where_that_flips() -> None:
    assert evaluated()["fleet-4xh100"]["verdict"]["option"] == "api"
    assert has(headline("fleet-4xh100"), "2 nodes", "48 Mtoken/day", "6,000 users", "96 Mtoken/day")


def test_the_fleet_answer_names_its_exceptions() -> None:
    exceptions = " ".join(texts_of(*compiled()[0].exceptions))
    assert has(exceptions, "Data residency", "air gap", "fine-tuned model", "batch work")


def test_levers_come_in_order_of_return_and_cards_last() -> None:
    effects = compiled()[1].levers
    names = [effect.lever for effect in effects]
    assert names == ["fp8-kv", "quantized-weights", "paged-kv", "prefix-sharing", "offload", "more-cards"]
    sequences = [effect.values["sequences_by_memory"] for effect in effects]
    fitting = [value for value in sequences if isinstance(value, float)]
    assert fitting[:-1] == sorted(fitting[:-1], reverse=True)
    assert fitting[-2] > evaluated()["fleet-4xh100"]["values"]["sequences_by_memory"]["value"]
    assert effects[-1].values["self_host_cost"] == 28_800


def test_the_assumption_to_instrument_first_moves_the_verdict_most() -> None:
    decision, findings = compiled()
    assert findings.swings[0].quantity == "requests_per_user"
    assert texts_of(decision.alerts[0])[0].startswith("Instrument first: requests per user")
    assert has(message("fleet-4xh100", "instrument_first")[1], "10 in the plan", "with 30")


def test_where_the_fleet_answer_contradicts_itself_a_check_says_what_that_changes() -> None:
    holds, text = message("fleet-4xh100", "headroom_as_claimed")
    assert not holds
    assert has(text, "2.2 times the peak", "6.6 times the average", "10 times", "The verdict stands")
    holds, text = message("fleet-4xh100", "utilization_as_quoted")
    assert not holds
    assert has(text, "5.0%", "2.5%", "bills two", "half of the true one")
    holds, text = message("fleet-4xh100", "fleet_of_break_even")
    assert not holds
    assert has(text, "48 Mtoken/day", "34 Mtoken/day", "96 Mtoken/day", "turns later")
    holds, text = message("fleet-4xh100/kv-reads", "one_node_covers_peak")
    assert not holds
    assert has(text, "1,650", "1,667", "21,600 USD/month")
    assert has(headline("fleet-4xh100/kv-reads"), "no longer covers it", "3 nodes")


def test_claims_are_held_against_the_answer_once() -> None:
    claims = ("headroom_as_claimed", "utilization_as_quoted", "fleet_of_break_even", "instrument_first")
    failing = {
        scenario: [name for name in claims if not message(scenario, name)[0]] for scenario in evaluated()
    }
    assert {scenario for scenario, names in failing.items() if names} == {"fleet-4xh100"}


def test_the_node_answer_says_which_resource_binds() -> None:
    assert has(
        headline("node-8xh100-tp8"), "Memory bandwidth binds", "6.8 ms", "1.1 ms", "2.4 ms", "687", "862"
    )


def test_the_node_answer_is_held_against_measurements() -> None:
    holds, text = message("node-8xh100-tp8", "measured_close")
    assert holds
    assert has(text, "6,000", "3,900", "65%", "5,800", "97%")
    assert has(headline("node-8xh100-tp8/prefill-shared"), "Prompts explain the gap", "3,811")


def diagnosed(
    scenario: str, measured: Mapping[str, float], known: Mapping[str, Value] | None = None
) -> Diagnosis:
    plan = compile_model(models_root() / "published-answers" / "model.yaml").plan
    assert plan is not None
    made, found = diagnose(plan, scenario, known or {}, measured)
    assert made is not None, found
    return made


@pytest.mark.parametrize(
    ("scenario", "mfu"), [("node-8xh100-tp8", 0.530), ("node-8xh100-tp8/haircut", 0.591)]
)
def test_prompts_are_found_to_explain_what_was_measured(scenario: str, mfu: float) -> None:
    """6,000 estimated, 3,900 measured: at 1,500 in and 500 out the time to read the prompts is the gap."""
    first, *others = diagnosed(scenario, {"serving_throughput": 3900.0}).explanations
    assert first.cause == "prefill-interference"
    assert first.settings["prefill_shares_gpu"] is True
    assert first.needed == pytest.approx(mfu, abs=0.001)
    assert first.predicted["serving_throughput"] == pytest.approx(3900, rel=1e-9)
    assert [item.cause for item in others[:2]] == ["small-batch", "no-cuda-graphs"]
    assert others[0].predicted["serving_throughput"] == pytest.approx(3900, rel=1e-9)


def test_after_the_fix_the_estimate_agrees_and_the_prompts_no_longer_explain() -> None:
    """5,800 measured then: the estimate without prompts holds, and from the run before, taking them off gives it."""
    assert diagnosed("node-8xh100-tp8/haircut", {"serving_throughput": 5800.0}).fits
    before = {"prefill_shares_gpu": True, "prefill_mfu": 0.591}
    assert diagnosed("node-8xh100-tp8/haircut", {"serving_throughput": 3900.0}, before).fits
    made = diagnosed("node-8xh100-tp8/haircut", {"serving_throughput": 5800.0}, {"prefill_mfu": 0.591})
    assert made.fits
    plan = compile_model(models_root() / "published-answers" / "model.yaml").plan
    assert plan is not None
    scenario = plan.model.scenarios["node-8xh100-tp8/haircut"]
    origin = scenario.provenance.origin
    settings = {**scenario.settings, **{name: Setting(value, origin) for name, value in before.items()}}
    scenarios = {**plan.model.scenarios, "before": replace(scenario, settings=settings)}
    plan = replace(plan, model=replace(plan.model, scenarios=scenarios))
    found, _ = diagnose(plan, "before", {}, {"serving_throughput": 5800.0})
    assert found is not None
    assert found.error == pytest.approx(1 - 3900 / 5800, abs=0.001)
    fix = next(item for item in found.explanations if item.quantity == "prefill_shares_gpu")
    assert fix.needed is False
    assert fix.predicted["serving_throughput"] == pytest.approx(6000, rel=0.001)
    cached = next(item for item in found.explanations if item.quantity == "cached_share")
    assert cached.needed == pytest.approx(0.936, abs=0.001)


def test_missing_concurrency_has_the_causes_that_the_answer_names() -> None:
    """40% fewer sequences than the 96 that one card was to hold."""
    made = diagnosed("card-1xh100-8b", {"concurrency": 58.0})
    assert [item.cause for item in made.explanations[:3]] == [
        "uncounted-context",
        "fragmentation",
        "memory-fraction",
    ]
    assert made.explanations[0].needed == pytest.approx(2630, abs=60)
    assert made.explanations[1].needed == pytest.approx(0.61, abs=0.01)
    assert {item.predicted["concurrency"] for item in made.explanations[:3]} == {58}


def test_layouts_of_the_node_stand_side_by_side() -> None:
    assert has(headline("node-8xh100-tp8/tp4-x2"), "2 replicas of 4 GPUs", "4,204")
    assert has(headline("node-8xh100-8b/replicated"), "Replicate")
    assert has(headline("node-8xh100-8b/split"), "Do not split")
    rates = [
        evaluated()[f"node-8xh100-8b/{layout}"]["values"]["node_throughput"]["value"]
        for layout in ("replicated", "split")
    ]
    assert rates[0] > rates[1]


def test_one_card_carries_the_sessions_with_a_margin() -> None:
    holds, text = message("card-1xh100-8b", "sessions_carried")
    assert holds
    assert has(text, "80", "96", "20%")
    assert not message("card-1xh100-8b/context-32k", "sessions_carried")[0]


def test_policy_and_alerts_of_the_card_answer_are_there() -> None:
    decision = compiled()[0]
    alerts, policy = " ".join(texts_of(*decision.alerts)), " ".join(texts_of(*decision.policy))
    assert has(alerts, "85% at the 95th percentile", "Preemptions above 1%")
    assert has(alerts, "40% low", "prompts only", "max_model_len", "fragmentation")
    assert has(policy, "Cap the context", "pool of their own", "KV-seconds")


def test_the_break_even_of_a_growing_fleet_is_the_first_crossing() -> None:
    plan = compile_model(models_root() / "published-answers" / "model.yaml").plan
    assert plan is not None
    users = [float(count) for count in range(100, 16_000, 100)]
    columns = calculate(plan, {"users": users}, len(users))
    cheaper = columns.values["self_host_cost"] <= columns.values["api_cost"]
    first = users[int(cheaper.argmax())]
    assert (
        first * 10 * 800 == evaluated()["fleet-4xh100"]["values"]["break_even_demand_growing_fleet"]["value"]
    )
