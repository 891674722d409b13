"""What operators and callers are told by a pool, word for word: pages, counters, log lines, refusals."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from app.capacity.gates import GateLimits
from app.capacity.pool import TokenPool
from app.catalogue.models import Model
from app.turn.faults import FaultKind, TurnFault
from tests.capacity.conftest import FREE, PAID, World, fault, token, tokens

SHUT = "no upstream capacity is free for this request now; try again later"


def limit(pool: TokenPool, retry_after_s: float | None, *tried: str) -> None:
    pool.release(pool.lease(FREE, None, tried), fault(FaultKind.RATE_LIMITED, retry_after_s))


def refusal(pool: TokenPool, model: Model = PAID) -> TurnFault:
    with pytest.raises(TurnFault) as caught:
        pool.gate(model)
    return caught.value


# Pages


def test_a_row_tells_what_was_served_and_rounds_times_to_tenths(world: World) -> None:
    pool = world.pool(None, "a", "b", "c")
    for _ in range(2):
        pool.release(pool.lease(PAID, None, ["b", "c"]), None, 8050)
    pool.release(pool.lease(PAID, None, ["a", "c"]), fault(FaultKind.RATE_LIMITED, 30))
    world.clock.pass_by(0.26)
    told = [
        {name: row[name] for name in ("name", "served", "in_flight", "wait_s", "quota_age_s")}
        for row in pool.report()["tokens"]
    ]
    assert told == [
        {"name": "a", "served": 2, "in_flight": 0, "wait_s": None, "quota_age_s": 0.3},
        {"name": "b", "served": 0, "in_flight": 0, "wait_s": 29.7, "quota_age_s": None},
        {"name": "c", "served": 0, "in_flight": 0, "wait_s": None, "quota_age_s": None},
    ]
    assert world.metrics.by_label("token_turns_total", "token") == {"a": 2, "b": 0}


def test_a_token_that_died_says_when_and_of_what(world: World) -> None:
    pool = world.pool(None, "a")
    pool.release(pool.lease(PAID, None), fault(FaultKind.UPSTREAM_AUTHENTICATION))
    (row,) = pool.report()["tokens"]
    assert (row["state"], row["why"], row["since"], row["until"]) == (
        "dead",
        "upstream_authentication",
        "2027-01-15T08:00:00.000Z",
        None,
    )


def test_the_page_holds_tokens_gates_and_store(world: World) -> None:
    pool = world.pool(None, "a")
    report = pool.report()
    assert list(report) == ["tokens", "gates", "store"]
    assert report["gates"] == pool.gates()
    assert report["store"] == {"shared": False}


def gates(pool: TokenPool) -> tuple[Any, ...]:
    told = pool.gates()
    return (
        told["capacity"]["open"],
        told["capacity"]["retry_after_s"],
        told["drought"]["declared"],
        told["drought"]["restricts"],
    )


def test_the_gates_tell_when_they_open(world: World) -> None:
    pool = world.pool(None, "a")
    limit(pool, 30)
    world.clock.pass_by(12)
    assert gates(pool) == (False, 18, False, False)


def test_a_drought_that_does_not_restrict_is_told_as_such(world: World) -> None:
    pool = world.pool(None, "a", gates=GateLimits(drought_restrict=False))
    assert gates(pool) == (True, None, False, False)
    pool.release(pool.lease(PAID, None), None, 100)
    assert gates(pool) == (True, None, True, False)


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        (500, 499, 4.99),  # at the threshold is not below it
        (600, 500, 6.0),
        (502, 499, 4.99),
        (499, 500, 5.0),
        (300, 200, 3.0),
    ],
)
def test_a_quota_that_crosses_the_threshold_is_told_at_once_another_is_not(
    world: World, first: int, second: int, kept: float
) -> None:
    pool = world.pool(None, "a")
    for quota in (first, second):
        pool.release(pool.lease(FREE, None), None, quota)
    assert pool.report()["tokens"][0]["quota_percent"] == kept


# Log lines


def test_every_change_of_state_is_a_line_with_its_reason_and_time(world: World) -> None:
    pool = world.pool(None, "a")
    limit(pool, 30.26)
    world.clock.pass_by(31)
    trial = pool.lease(PAID, None)
    pool.spoke(trial)
    pool.release(trial, None)
    limit(pool, 0.3)
    world.clock.pass_by(1)
    pool.release(pool.lease(PAID, None), fault(FaultKind.QUOTA_EXHAUSTED, 60))
    world.clock.pass_by(60)
    pool.release(pool.lease(PAID, None), fault(FaultKind.UPSTREAM_AUTHENTICATION))
    for line in world.lines:
        del line["time"]
    rest = {"event": "token_state", "token": "a"}
    assert world.lines == [
        {**rest, "level": "INFO", "state": "cooling", "why": "rate_limited", "wait_s": 30.3},
        {**rest, "level": "INFO", "state": "healthy", "why": "", "wait_s": None},
        {**rest, "level": "INFO", "state": "cooling", "why": "rate_limited", "wait_s": 0.3},
        {**rest, "level": "INFO", "state": "exhausted", "why": "quota_exhausted", "wait_s": 60.0},
        {**rest, "level": "ERROR", "state": "dead", "why": "upstream_authentication", "wait_s": None},
    ]


# Refusals


@pytest.mark.parametrize(
    ("percent", "quota", "free", "message", "details"),
    [
        (
            5.0,
            300,
            ("small", "tiny"),
            "upstream quota is below 5 percent, so only free models run now: small, tiny",
            b'{"drought":{"threshold":5,"allowed_models":["small","tiny"]}}',
        ),
        (
            2.5,
            200,
            (),
            "upstream quota is below 2.5 percent, so only free models run now: none",
            b'{"drought":{"threshold":2.5,"allowed_models":[]}}',
        ),
    ],
)
def test_a_drought_is_told_with_its_threshold_and_what_runs(
    world: World, percent: float, quota: int, free: tuple[str, ...], message: str, details: bytes
) -> None:
    pool = world.pool(None, "a", gates=GateLimits(drought_percent=percent), free_models=free)
    pool.release(pool.lease(FREE, None), None, quota)
    told = refusal(pool)
    assert (told.problem, orjson.dumps(told.details)) == (message, details)


@pytest.mark.parametrize("ask", ["gate", "lease"])
def test_a_refusal_counts_the_tokens_that_may_serve_the_model(world: World, ask: str) -> None:
    pool = world.pool(tokens(token("f", tier="free"), token("p")))
    limit(pool, 12, "p")
    limit(pool, 30, "f")

    def wait(model: Model) -> float | None:
        with pytest.raises(TurnFault) as caught:
            pool.gate(model) if ask == "gate" else pool.lease(model, None)
        assert (caught.value.kind, caught.value.problem) == (FaultKind.CAPACITY, SHUT)
        return caught.value.retry_after_s

    assert (wait(FREE), wait(PAID)) == (12, 30)
    assert world.metrics.by_label("gate_refusals_total", "gate") == {"capacity": 2}


def test_a_turn_that_was_on_other_tokens_met_no_gate(world: World) -> None:
    pool = world.pool(None, "a")
    with pytest.raises(TurnFault):
        pool.lease(PAID, None, ["a"])
    assert world.metrics.by_label("gate_refusals_total", "gate") == {}
