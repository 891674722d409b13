"""Every field of a condition after a rule, and the edges of the arithmetic of gates."""

from __future__ import annotations

import pytest

from app.capacity.condition import HEALTHY, Condition, Outcome, State, Waits, after_fault, after_trial
from app.capacity.gates import Drought, GateLimits, drought, retry_after_s
from app.turn.faults import FaultKind, TurnFault
from tests.capacity.conftest import PAID, START, World, fault

NOW = 1000.0
WAITS = Waits(first_s=2.0, longest_s=600.0, quota_s=3600.0)
COOLING = Condition(State.COOLING, "rate_limited", 900, 990, strikes=3, quota=1200, quota_at=800)
EXHAUSTED = Condition(State.EXHAUSTED, "quota_exhausted", 900, 990, quota=12, quota_at=800)


@pytest.mark.parametrize(
    ("kind", "retry_after_s", "after"),
    [
        (
            FaultKind.RATE_LIMITED,
            30,
            Condition(State.COOLING, "rate_limited", 1000, 1030, 0, "", 1200, 800),
        ),
        (
            FaultKind.RATE_LIMITED,
            None,
            Condition(State.COOLING, "rate_limited", 1000, 1016, 4, "", 1200, 800),
        ),
        (
            FaultKind.RATE_LIMITED,
            0.25,
            Condition(State.COOLING, "rate_limited", 1000, 1000.25, 0, "", 1200, 800),
        ),
        (
            FaultKind.RATE_LIMITED,
            -5,
            Condition(State.COOLING, "rate_limited", 1000, 1000, 0, "", 1200, 800),
        ),
        (
            FaultKind.QUOTA_EXHAUSTED,
            30,
            Condition(State.EXHAUSTED, "quota_exhausted", 1000, 1030, 0, "", 1200, 800),
        ),
        (
            FaultKind.QUOTA_EXHAUSTED,
            None,
            Condition(State.EXHAUSTED, "quota_exhausted", 1000, 4600, 0, "", 1200, 800),
        ),
        (
            FaultKind.UPSTREAM_AUTHENTICATION,
            None,
            Condition(State.DEAD, "upstream_authentication", 1000, 0, 0, "g1", None, 0),
        ),
    ],
)
def test_a_fault_of_a_recovering_token_sets_every_field(
    kind: FaultKind, retry_after_s: float | None, after: Condition
) -> None:
    assert after_fault(COOLING, Outcome(kind, NOW, "g1", retry_after_s, 1.0), WAITS) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (COOLING, Condition(State.HEALTHY, "", 1000, 0, 0, "", 1200, 800)),
        (EXHAUSTED, Condition(State.HEALTHY, "", 1000, 0, 0, "", None, 0)),
    ],
)
def test_a_trial_that_speaks_sets_every_field(before: Condition, after: Condition) -> None:
    assert after_trial(before, NOW) == after


@pytest.mark.parametrize("kind", [FaultKind.RATE_LIMITED, FaultKind.QUOTA_EXHAUSTED])
def test_a_wait_that_the_upstream_named_is_no_strike(world: World, kind: FaultKind) -> None:
    pool = world.pool(None, "a")
    pool.release(pool.lease(PAID, None), fault(kind, 10))
    world.clock.pass_by(10)
    pool.release(pool.lease(PAID, None), fault(FaultKind.RATE_LIMITED))
    with pytest.raises(TurnFault) as caught:
        pool.gate(PAID)
    assert caught.value.retry_after_s == 2
    assert world.clock.now == START + 10


def test_what_comes_after_a_dead_token_is_counted_too() -> None:
    dead = Condition(State.DEAD, generation="g1")
    low = Condition(quota=100, quota_at=NOW)
    assert drought([dead, low, dead, HEALTHY], NOW, GateLimits()) == Drought(2, 1, 1)


def test_a_busy_token_is_worth_the_floor_however_low() -> None:
    assert retry_after_s([HEALTHY], NOW, GateLimits(floor_s=0.25)) == 0.25
