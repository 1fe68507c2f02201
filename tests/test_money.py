"""Workload, fleet and money of the flagship, worked out a second time.

In: llm-serving with inputs set → Out: what independent arithmetic gives for costs, net present value, payback, the
queue, mixed traffic and bursts; closed forms at their limits; what must rise and fall.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from capgraph.calculate import calculate
from capgraph.compiler import compile_model
from capgraph.model import Value
from capgraph.plan import Plan
from capgraph.resources import models_root

EXACT = pytest.approx
QUARTERS = tuple(range(2, 48, 3))
FLAT: Mapping[str, Value] = {
    "demand_growth": 0.0, "api_price_decline": 0.0, "rent_decline": 0.0, "server_price_decline": 0.0,
}  # fmt: skip
BUSY: Mapping[str, Value] = {"users": 200_000.0, "workday_hours": 24.0, "peak_to_average": 1.5}


@cache
def flagship() -> Plan:
    plan = compile_model(models_root() / "llm-serving" / "model.yaml").plan
    assert plan is not None
    return plan


def lanes(quantity: str, settings: Mapping[str, Sequence[Value]]) -> list[float]:
    """Return a quantity for each of some values of inputs."""
    size = max(len(values) for values in settings.values())
    columns = calculate(flagship(), settings, size)
    assert not columns.failures
    return [float(value) for value in np.broadcast_to(columns.values[quantity], size)]


class Case:
    """The flagship's numbers with some inputs set."""

    def __init__(self, settings: Mapping[str, Value], plan: Plan | None = None) -> None:
        columns = calculate(plan or flagship(), {name: [value] for name, value in settings.items()}, 1)
        assert not columns.failures
        self.values = columns.values

    def __getattr__(self, name: str) -> float:
        return float(self.values[name][0])


@cache
def busy() -> Case:
    return Case(BUSY)


# What a month costs


def test_a_month_of_rent_by_hand() -> None:
    case = busy()
    rent = case.gpus * case.gpu_price_paid * 730
    assert case.self_host_cost == EXACT(rent + 0.2 * 18_000 + 25_000 / 36)


def test_a_month_of_the_api_by_hand() -> None:
    case = Case({**BUSY, "nightly_requests": 100_000.0})
    day = 200_000 * 6
    output = (day * 300 + 100_000 * 300) * 30.4 / 1e6 * case.api_output_price
    prompts = (day * 1500 + 100_000 * 3000) * 30.4 / 1e6 * case.api_input_price
    batch = 100_000 * 30.4 / 1e6 * (300 * case.api_output_price + 3000 * case.api_input_price)
    assert case.api_cost == EXACT(output + prompts - batch / 2 + 0.05 * 18_000)


def test_a_month_of_bought_servers_by_hand() -> None:
    case = busy()
    servers = math.ceil(case.gpus / 8)
    price = servers * 310_000 * 1.1
    kilowatts = servers * (8 * 0.7 * (0.43 + 0.43 * case.utilization) + 0.45)
    expected = (
        price * 0.8 / 48  # depreciation
        + price * 1.2 / 2 * 0.08 / 12  # capital on the mean book value
        + price * 0.05 / 12  # maintenance
        + kilowatts * 1.4 * 730 * 0.12  # electricity
        + servers * 10.2 * 194.95  # room
        + 0.25 * 18_000 + 25_000 / 36
    )  # fmt: skip
    assert case.buy_cost == EXACT(expected)


def test_capital_is_within_a_few_per_cent_of_the_annuity_that_pays_it_back() -> None:
    case = busy()
    rate, months = 0.08 / 12, 48
    growth = (1 + rate) ** months
    annuity = (case.hardware_bought * growth - 0.2 * case.hardware_bought) * rate / (growth - 1)
    assert case.depreciation + case.capital_charge == EXACT(annuity, rel=0.03)


def test_whole_instances_are_billed_where_the_provider_sells_nothing_smaller() -> None:
    whole: dict[str, Value] = {"gpu_price": "aws-p5-48xlarge-on-demand-us-east-1", "bill_whole_servers": True}
    case = Case({**BUSY, **whole})
    assert case.gpus_billed == 8 * math.ceil(case.gpus / 8) > case.gpus
    assert case.gpu_cost == EXACT(case.gpus_billed * 6.88 * 730)


def test_prices_by_token_add_up_to_the_cost() -> None:
    case = Case({**BUSY, "agent_requests": 50_000.0})
    fresh = case.input_per_day - case.cached_here
    month = (
        30.4 / 1e6 * (case.demand_per_day * case.cost_per_mtoken_output + fresh * case.cost_per_mtoken_input)
    )
    assert month == EXACT(case.self_host_cost)


# The horizon


def flows(
    case: Case, horizon: int, growth: float, api: float, rent: float, server: float
) -> tuple[float, ...]:
    """Return the worth today of API, rent and purchase, month by month, and the money back by month."""
    bought = math.ceil(case.gpus / 8)
    servers, spent = bought, bought * case.server_price
    totals = [0.0, 25_000.0, 25_000.0 + spent]
    purchases = 0.0
    for middle in QUARTERS:
        demand, years = (1 + growth) ** middle, middle / 12
        replicas = math.ceil(case.replicas_needed * demand - 1e-9) + case.spares
        needed = math.ceil(replicas * case.gpus_per_replica / 8)
        new = max(needed - servers, 0) * case.server_price * (1 - server) ** years
        servers = max(servers, needed)
        discount = (1 + 0.08 / 12) ** -middle
        if middle > horizon:
            continue
        totals[0] += 3 * discount * (case.api_token_cost * demand * (1 - api) ** years + 900)
        totals[1] += 3 * discount * (replicas * case.replica_cost * (1 - rent) ** years + 3600)
        totals[2] += discount * (3 * (needed * case.server_running_cost + 4500) + new)
        purchases += new
    left = (spent + purchases) * (1 - 0.8 * horizon / 48)
    totals[2] -= left * (1 + 0.08 / 12) ** -horizon
    return tuple(totals)


@pytest.mark.parametrize("horizon", [12, 36, 48])
@pytest.mark.parametrize("growth", [0.0, 2.0, 5.0])
def test_worth_today_by_hand(horizon: int, growth: float) -> None:
    case = Case({**BUSY, "horizon": float(horizon), "demand_growth": growth})
    expected = flows(case, horizon, growth / 100, 0.1, 0.1, 0.15)
    assert (case.api_total, case.rent_total, case.buy_total) == EXACT(expected)
    assert case.npv_of_buying == EXACT(expected[0] - expected[2])
    assert case.npv_of_renting == EXACT(expected[0] - expected[1])


def test_without_growth_and_decline_the_api_is_an_annuity() -> None:
    case = Case({**BUSY, **FLAT})
    rate = 0.08 / 12
    annuity = case.api_cost * (1 - (1 + rate) ** -36) / rate
    quarters = case.api_cost * 3 * (1 + rate) ** -2 * (1 - (1 + rate) ** -36) / (1 - (1 + rate) ** -3)
    assert case.api_total == EXACT(quarters)
    assert case.api_total == EXACT(annuity, rel=1e-4)


def test_without_growth_decline_and_interest_totals_are_months_times_cost() -> None:
    case = Case({**BUSY, **FLAT, "capital_cost": 0.0})
    assert case.api_total == EXACT(36 * case.api_cost)
    assert case.rent_total == EXACT(36 * case.self_host_cost)
    book = case.hardware_bought * 0.8 * 36 / 48
    running = case.servers_bought * case.server_running_cost + 4500
    assert case.buy_total == EXACT(25_000 + book + 36 * running)


def test_steady_saving_pays_back_after_outlay_over_saving() -> None:
    case = Case({**BUSY, **FLAT})
    saving = case.api_cost - case.servers_bought * case.server_running_cost - 4500
    assert case.payback == EXACT((25_000 + case.hardware_bought) / saving)
    assert 12 < case.payback < 48


def test_payback_is_near_the_month_in_which_the_money_is_back() -> None:
    case = Case({**BUSY, "demand_growth": 1.0})
    back, month = -25_000 - case.hardware_bought, 0
    servers = case.servers_bought
    while back < 0:
        month += 1
        demand, years = 1.01**month, month / 12
        replicas = math.ceil(case.replicas_needed * demand) + case.spares
        needed = math.ceil(replicas * case.gpus_per_replica / 8)
        back -= max(needed - servers, 0) * case.server_price * 0.85**years
        servers = max(servers, needed)
        back += case.api_token_cost * demand * 0.9**years + 900 - needed * case.server_running_cost - 4500
    assert case.payback == EXACT(month, abs=1.5)


def test_what_never_pays_back_says_so() -> None:
    case = Case({"users": 5_000.0})
    assert case.payback == 0
    assert case.npv_of_buying < 0


@pytest.mark.parametrize(
    ("quantity", "setting", "values", "sign"),
    [
        ("buy_total", "server_price_factor", [0.7, 1.0, 1.4], 1),
        ("npv_of_buying", "server_price_factor", [0.7, 1.0, 1.4], -1),
        ("payback", "server_price_factor", [0.5, 0.7, 0.9], 1),
        ("buy_cost", "electricity_price", [0.05, 0.1, 0.3], 1),
        ("buy_cost", "server_life", [36.0, 48.0, 72.0], -1),
        ("api_total", "demand_growth", [0.0, 2.0, 4.0], 1),
        ("rent_total", "rent_decline", [-20.0, 0.0, 20.0], -1),
        ("queue_wait", "service_variation", [0.5, 1.0, 2.0], 1),
        ("availability", "repair_time", [1.0, 24.0, 100.0], -1),
        ("base_served", "api_price_factor", [0.5, 1.0, 2.0], 1),
        ("base_level", "gpu_price_factor", [0.5, 1.0, 1.5], -1),
    ],
)
def test_what_must_rise_or_fall(quantity: str, setting: str, values: list[float], sign: int) -> None:
    settings: dict[str, list[Value]] = {name: [value] * len(values) for name, value in BUSY.items()}
    settings[setting] = list(values)
    found = [sign * value for value in lanes(quantity, settings)]
    assert found == sorted(found)
    assert found[0] < found[-1]


# The fleet


def erlang_wait(servers: int, load: float, service: float) -> float:
    """Return the mean wait in M/M/c, by the recursion of Erlang B."""
    offered, blocked = servers * load, 1.0
    for number in range(1, servers + 1):
        blocked = offered * blocked / (number + offered * blocked)
    waits = blocked / (1 - load * (1 - blocked))
    return waits * service / (servers * (1 - load))


@pytest.mark.parametrize(("servers", "load"), [(1, 0.5), (1, 0.9), (4, 0.85), (16, 0.85), (64, 0.9)])
def test_the_queue_against_erlang(servers: int, load: float) -> None:
    settings: dict[str, Value] = {"places": float(servers), "peak_load": load, "request_time": 20.0}
    exact = 1000 * erlang_wait(servers, load, 20.0)
    assert Case(settings).queue_wait == EXACT(exact, rel=1e-9 if servers == 1 else 0.25)


def test_availability_and_repairs() -> None:
    case = Case({"users": 20_000_000.0})
    down = 0.17 * 2 * 24 / 8760
    assert case.availability == EXACT(1 / (1 + down))
    assert case.replicas_down == EXACT(case.replicas_serving * down)
    assert case.spares == max(1, round(case.replicas_down))


# Traffic


def alike(folder: Path) -> Plan:
    """Return the flagship with a kind of traffic that is like the assistant's."""
    row = "input_tokens: 1500, output_tokens: 300, cached_share: 0.5, open_hours: 16, peak_to_average: 2"
    text = (
        "extends: llm-serving\ncatalogs: {traffic: {alike: {"
        + row
        + ", tpot_target: 100, ttft_target: 2000, batch_cap: 128, "
        "source: test, as_of: 2026-11-30}}}\nquantities: {retrieval: {choose: traffic, default: alike, source: test}}\n"
    )
    path = folder / "plan.yaml"
    path.write_text(text, encoding="utf-8")
    plan = compile_model(path).plan
    assert plan is not None
    return plan


def test_two_kinds_alike_are_one_kind(tmp_path: Path) -> None:
    one = Case({"users": 100_000.0})
    two = Case({"users": 50_000.0, "retrieval_requests": 300_000.0}, alike(tmp_path))
    for name in (
        "demand_per_day",
        "demand_peak",
        "context",
        "serving_throughput",
        "gpus",
        "api_cost",
        "ttft",
    ):
        assert getattr(two, name) == EXACT(getattr(one, name)), name


def test_without_further_traffic_its_profiles_have_no_effect() -> None:
    changed = Case(
        {"retrieval": "bailian-thinking", "agents": "mooncake-conversation", "nightly": "retrieval"}
    )
    plain = Case({})
    for name in ("demand_peak", "self_host_cost", "api_cost", "tpot", "tpot_wanted", "queue_wait"):
        assert getattr(changed, name) == getattr(plain, name)


def test_utilization_is_work_over_capacity() -> None:
    case = Case({"retrieval_requests": 60_000.0, "agent_requests": 40_000.0, "nightly_requests": 100_000.0})
    weight = case.prompt_weight
    work = (
        300_000 * (300 + weight * 1500 * 0.5)
        + 60_000 * (250 + weight * 4000 * 0.85)
        + 40_000 * (182 + weight * 8596 * 0.41)
        + 100_000 * (300 + weight * 3000 * 0.9)
    )
    assert case.work_per_day == EXACT(work)
    per_answer = work / case.demand_per_day
    assert case.utilization == EXACT(work / (case.serving_throughput * 86_400 * case.replicas * per_answer))


def test_batch_work_fills_idle_hours_without_a_gpu_more() -> None:
    settings = {"nightly_requests": [0.0, 20_000.0, 40_000.0, 60_000.0]}
    busy_share = lanes("utilization", settings)
    assert busy_share == sorted(busy_share)
    assert busy_share[0] < busy_share[-1]
    peaks = lanes("peak_work", settings)
    work = lanes("assistant_work", settings)
    assert peaks == EXACT([share / (16 * 3600) * 2 for share in work])


def test_when_the_day_is_too_short_the_batch_decides() -> None:
    case = Case({"nightly_requests": 5_000_000.0})
    assert case.peak_work == EXACT(case.work_per_day / 86_400)
    assert case.peak_load <= 0.85 + 1e-9


FURTHER: Mapping[str, Value] = {
    "retrieval_requests": 60_000.0, "agent_requests": 40_000.0, "nightly_requests": 200_000.0, "batch_cap": 80.0,
}  # fmt: skip
ALONE: Mapping[str, Mapping[str, Value]] = {
    "assistant": {"batch_cap": 80.0},
    "retrieval": {
        "users": 60_000.0, "input_tokens": 4000.0, "output_tokens": 250.0, "cached_share": 0.15,
        "workday_hours": 10.0, "peak_to_average": 2.5, "batch_cap": 48.0,
    },
    "agents": {
        "users": 40_000.0, "input_tokens": 8596.0, "output_tokens": 182.0, "cached_share": 0.59,
        "workday_hours": 10.0, "peak_to_average": 2.5, "batch_cap": 32.0,
    },
    "nightly": {
        "users": 200_000.0, "input_tokens": 3000.0, "output_tokens": 300.0, "cached_share": 0.1,
        "workday_hours": 24.0, "peak_to_average": 1.0, "batch_cap": 80.0,
    },
}  # fmt: skip


def alone(kind: str) -> Case:
    """Return the flagship with one kind of traffic, entered as if it were the assistant's."""
    once = {} if kind == "assistant" else {"requests_per_user": 1.0}
    # The engine reserves for what it is told to run together, whatever a pool runs of it.
    reserve = {"logits_peak": Case({**FURTHER}).logits_peak}
    return Case({**ALONE[kind], **once, **reserve})


@pytest.mark.parametrize("kind", ALONE)
def test_a_pool_is_as_fast_as_a_fleet_with_its_traffic_alone(kind: str) -> None:
    pool, fleet = Case({**FURTHER, "pool_in_view": kind}), alone(kind)
    for name in ("tpot", "ttft", "serving_throughput", "demand_peak", "decode_needed", "queue_wait", "context"):
        assert getattr(pool, name) == EXACT(getattr(fleet, name)), name


def test_pools_round_up_each_for_itself() -> None:
    shared, apart = Case(FURTHER), Case({**FURTHER, "separate_pools": True})
    fleets = [alone(kind) for kind in ALONE]
    assert apart.pools_in_use == 4
    assert apart.pool_replicas == sum(math.ceil(round(fleet.decode_needed, 9)) for fleet in fleets)
    assert apart.replicas_needed == EXACT(sum(fleet.decode_needed for fleet in fleets))
    assert apart.replicas == apart.pool_replicas + 4
    assert shared.replicas + shared.fleet_saved_by_sharing == EXACT(apart.replicas)
    busy_hours = sum(fleet.utilization * fleet.replicas for fleet in fleets)
    assert apart.utilization == EXACT(busy_hours / apart.replicas)
    assert shared.utilization > apart.utilization


def test_each_kind_is_held_against_its_own_target() -> None:
    apart = Case({**FURTHER, "separate_pools": True})
    waiting = {"assistant": 2000, "retrieval": 3000, "agents": 3000}
    shares = {kind: alone(kind).first_token_wait / target for kind, target in waiting.items()}
    assert apart.ttft_against_target == EXACT(max(shares.values()))
    shared = Case(FURTHER)
    own = {kind: Case({**FURTHER, "kind_in_view": kind}) for kind in waiting}
    longest = max(own[kind].first_token_wait / target for kind, target in waiting.items())
    assert shared.ttft_against_target == EXACT(longest)
    assert own["agents"].first_token_wait > shared.first_token_wait > own["assistant"].first_token_wait
    # The mean prompt's time is the mean of the prompts' times, also of the part that grows with the square.
    weighed = {"assistant": 300_000, "retrieval": 60_000, "agents": 40_000, "nightly": 200_000}
    times = {kind: Case({**FURTHER, "kind_in_view": kind}).own_prefill_time for kind in weighed}
    mean = sum(times[kind] * requests for kind, requests in weighed.items()) / sum(weighed.values())
    assert shared.prefill_time == EXACT(mean)


def test_the_largest_batch_within_the_targets_is_the_last_that_keeps_both() -> None:
    base = Case({"tpot_target": 60.0})
    sizes = [8.0, 16.0, 24.0, 32.0, 48.0, 64.0, 96.0, 128.0, 160.0, 192.0, 256.0, 384.0]
    runs = [Case({"batch_cap": size}) for size in sizes]
    kept = [run for run in runs if run.tpot <= 60 and run.ttft <= 2000]
    assert 0 < len(kept) < len(runs)
    assert base.batch_within_targets == max(run.batch for run in kept)
    assert base.throughput_within_targets == EXACT(max(run.serving_throughput for run in kept))
    assert Case({"tpot_target": 1.0}).batch_within_targets == 0


# Prompts apart


def test_prompts_apart_take_replicas_of_their_own() -> None:
    together, apart = Case({}), Case({"prefill_shares_gpu": False})
    reading = apart.requests_peak * apart.prefill_time / 1000
    assert apart.prefill_needed == EXACT(reading / (0.85 * 0.9))
    assert apart.serving_throughput == EXACT(0.92 * apart.batch / apart.step_time * 1000)
    assert apart.decode_needed == EXACT(apart.demand_peak / (apart.serving_throughput * 0.85))
    assert apart.replicas == math.ceil(apart.decode_needed) + math.ceil(apart.prefill_needed) + 1
    assert apart.tpot < together.tpot
    reading_all_day = 300_000 * apart.prefill_time / 1000 / 86_400
    busy_replicas = apart.demand_per_day / 86_400 / apart.serving_throughput + reading_all_day
    assert apart.utilization == EXACT(busy_replicas / apart.replicas)
    # 1,500 tokens of 320 KiB over two links of 50 GB/s.
    assert apart.kv_transfer_time == EXACT(1500 * 320 * 1024 / 100e9 * 1000)


def test_who_reads_prompts_alone_waits_as_one_server_does() -> None:
    """With one replica Sakasegawa's formula is that of M/M/1."""
    case = Case({"prefill_shares_gpu": False})
    assert case.prefill_places == 1
    load = case.requests_peak * case.prefill_time / 1000 / 0.9
    assert case.prefill_queue_time == EXACT(load / (1 - load) * case.prefill_time)


# A base with bursts


@pytest.mark.parametrize("peak", [1.0, 1.5, 2.0, 3.0])
def test_what_the_base_answers_is_the_area_under_the_load_curve(peak: float) -> None:
    case = Case({**BUSY, "peak_to_average": peak})
    time = (np.arange(200_000) + 0.5) / 200_000
    load = peak * time ** (peak - 1)  # against the mean
    assert float(load.mean()) == EXACT(1, rel=1e-4)
    served = float(np.minimum(load, case.base_share * peak).mean())
    assert case.base_replicas >= 1
    assert case.base_served == EXACT(served, rel=1e-4)


def test_the_base_is_as_large_as_pays() -> None:
    case = Case({**BUSY, "users": 20_000_000.0, "peak_to_average": 2.0})
    share = float(case.base_level)
    # At that level the load is there in just that share of the open hours in which a replica pays.
    assert 1 - share ** (1 / (2.0 - 1)) == EXACT(case.pays_when_busy)
    assert abs(case.base_share - share) < 1 / case.replicas_needed


def test_no_base_where_no_replica_pays() -> None:
    case = Case({"weight_format": "bf16"})
    assert case.base_replicas == 0
    assert case.mixed_cost == EXACT(case.api_cost)


def test_the_first_month_is_todays_whatever_the_pools() -> None:
    further: dict[str, Value] = {
        "agent_requests": 40_000.0,
        "nightly_requests": 200_000.0,
        "separate_pools": True,
    }
    case = Case({**further, **FLAT})
    assert case.month_replicas == case.replicas
    assert case.month_rent == EXACT(case.gpu_cost + 0.2 * 18_000)
    assert case.month_api == EXACT(case.api_cost)


def test_speed_and_memory_follow_the_mean_request() -> None:
    plain, mixed = Case({}), Case({"agent_requests": 100_000.0})
    assert mixed.mean_input_tokens > plain.mean_input_tokens
    for name in ("prefill_time", "decode_context", "context", "tpot"):
        assert getattr(mixed, name) > getattr(plain, name), name
    assert mixed.serving_throughput < plain.serving_throughput
