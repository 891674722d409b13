"""The arithmetic of the gates, and the faults by which callers hear of it."""

from __future__ import annotations

import pytest
from freezegun import freeze_time

from app.capacity.condition import HEALTHY, Condition, State, after_quota
from app.capacity.gates import Drought, GateLimits, drought, retry_after_s
from app.capacity.pool import TokenPool
from app.capacity.tokens import FixedTokens, TokenSet
from app.turn.faults import FaultKind, TurnFault
from tests.capacity.conftest import FREE, PAID, START, World, fault, token, tokens

NOW = 1000.0
DEAD = Condition(State.DEAD, generation="g1")


def cooling(until: float) -> Condition:
    return Condition(State.COOLING, until=until)


@pytest.mark.parametrize(
    ("conditions", "seconds"),
    [
        ([cooling(1030), cooling(1012.5)], 12.5),
        ([cooling(1030), DEAD], 30),
        ([cooling(1000.2)], 1),
        ([cooling(5000)], 60),
        ([DEAD, DEAD], 60),
        ([], 60),
        ([HEALTHY, cooling(1030)], 1),
    ],
    ids=["soonest", "dead does not count", "floor", "cap", "all dead", "no tokens", "one is merely busy"],
)
def test_retry_after_is_the_soonest_recovery_within_bounds(
    conditions: list[Condition], seconds: float
) -> None:
    assert retry_after_s(conditions, NOW, GateLimits(floor_s=1, cap_s=60)) == seconds


def quotas(*each: int | None) -> list[Condition]:
    return [HEALTHY if one is None else after_quota(HEALTHY, one, NOW) for one in each]


@pytest.mark.parametrize(
    ("conditions", "counts", "declared"),
    [
        (quotas(499, 499, 499), Drought(3, 3, 3), True),
        (quotas(499, 499, None), Drought(3, 2, 2), True),
        (quotas(499, None, None), Drought(3, 1, 1), False),
        (quotas(499, 499, None, None), Drought(4, 2, 2), False),
        (quotas(499, 500, 499), Drought(3, 3, 2), False),
        (quotas(0), Drought(1, 1, 1), True),
        (quotas(None), Drought(1, 0, 0), False),
        ([], Drought(0, 0, 0), False),
        ([*quotas(499, None), DEAD], Drought(2, 1, 1), False),
        ([*quotas(499), DEAD, DEAD], Drought(1, 1, 1), True),
    ],
    ids=[
        "all below",
        "a strict majority is known",
        "thin coverage",
        "exactly half is thin",
        "one is at the threshold",
        "a single token",
        "nothing known",
        "no tokens",
        "dead tokens do not thin the coverage, unknown ones do",
        "dead tokens do not count",
    ],
)
def test_a_drought_needs_a_known_majority_all_of_it_below(
    conditions: list[Condition], counts: Drought, declared: bool
) -> None:
    assert drought(conditions, NOW, GateLimits(drought_percent=5)) == counts
    assert counts.declared is declared


def test_a_quota_that_was_told_long_ago_is_not_known() -> None:
    assert drought(quotas(100, 100), NOW + 900, GateLimits(quota_ttl_s=900)) == Drought(2, 0, 0)


def shut(pool: TokenPool, model: object = PAID) -> TurnFault:
    with pytest.raises(TurnFault) as caught:
        pool.gate(model)  # type: ignore[arg-type]
    return caught.value


def limit_all(pool: TokenPool, count: int, retry_after_s: float) -> None:
    for _ in range(count):
        pool.release(pool.lease(PAID, None), fault(FaultKind.RATE_LIMITED, retry_after_s))


def test_an_open_gate_says_nothing(world: World) -> None:
    pool = world.pool()
    pool.gate(PAID)
    pool.gate(FREE)


def test_the_gate_shuts_when_every_token_cools_and_counts_down(world: World) -> None:
    pool = world.pool()
    limit_all(pool, 2, 30)
    assert (shut(pool).kind, shut(pool).retry_after_s) == (FaultKind.CAPACITY, 30)
    world.clock.pass_by(12)
    assert shut(pool).retry_after_s == 18
    world.clock.pass_by(18)
    pool.gate(PAID)


def test_the_gate_counts_down_on_the_wall_clock() -> None:
    with freeze_time("2027-01-01T00:00:00Z") as frozen:
        import time

        world = World()
        world.clock = lambda: time.time()  # type: ignore[assignment]
        pool = world.pool()
        limit_all(pool, 2, 30)
        frozen.tick(10)
        assert shut(pool).retry_after_s == 20


def test_one_usable_token_keeps_the_gate_open(world: World) -> None:
    pool = world.pool()
    limit_all(pool, 1, 30)
    pool.gate(PAID)


def test_the_gate_shuts_for_the_cap_when_all_are_dead(world: World) -> None:
    pool = world.pool()
    for _ in range(2):
        pool.release(pool.lease(PAID, None), fault(FaultKind.UPSTREAM_AUTHENTICATION))
    assert shut(pool).retry_after_s == 60
    assert not pool.ready()


def test_the_gate_shuts_for_the_cap_without_tokens(world: World) -> None:
    pool = world.pool(FixedTokens(TokenSet((), "g1")))
    assert shut(pool).retry_after_s == 60
    assert not pool.ready()


def test_a_free_token_serves_free_models_only(world: World) -> None:
    pool = world.pool(tokens(token("f", tier="free")))
    pool.gate(FREE)
    assert pool.lease(FREE, None).name == "f"
    assert shut(pool, PAID).kind is FaultKind.CAPACITY


def tell_quota(pool: TokenPool, count: int, basis_points: int) -> None:
    for lease in [pool.lease(FREE, None) for _ in range(count)]:
        pool.release(lease, None, basis_points)


def test_a_drought_withholds_models_that_are_not_free(world: World) -> None:
    pool = world.pool()
    tell_quota(pool, 2, 300)
    caught = shut(pool)
    assert caught.kind is FaultKind.DROUGHT
    assert caught.retry_after_s == 60
    assert caught.details == {"drought": {"threshold": 5, "allowed_models": ["small"]}}
    pool.gate(FREE)


def test_a_drought_ends_when_the_quota_is_back(world: World) -> None:
    pool = world.pool()
    tell_quota(pool, 2, 300)
    tell_quota(pool, 1, 9000)
    pool.gate(PAID)


def test_a_drought_ends_when_nothing_is_known_any_more(world: World) -> None:
    pool = world.pool()
    tell_quota(pool, 2, 300)
    world.clock.pass_by(900)
    pool.gate(PAID)


def test_capacity_comes_before_drought(world: World) -> None:
    pool = world.pool()
    tell_quota(pool, 2, 300)
    for _ in range(2):
        pool.release(pool.lease(FREE, None), fault(FaultKind.RATE_LIMITED, 7))
    assert (shut(pool).kind, shut(pool).retry_after_s) == (FaultKind.CAPACITY, 7)


@pytest.mark.parametrize("limits", [GateLimits(drought_restrict=False), GateLimits(drought_percent=0)])
def test_a_drought_that_does_not_restrict_or_cannot_be_lets_all_models_run(
    world: World, limits: GateLimits
) -> None:
    pool = world.pool(None, gates=limits)
    tell_quota(pool, 2, 0)
    pool.gate(PAID)


def test_the_gates_show_what_they_go_by(world: World) -> None:
    pool = world.pool(None, "a", "b", "c")
    tell_quota(pool, 3, 300)
    pool.release(pool.lease(PAID, None), fault(FaultKind.RATE_LIMITED, 30))
    assert pool.gates() == {
        "capacity": {
            "open": True,
            "retry_after_s": None,
            "tokens": {"healthy": 2, "cooling": 1, "exhausted": 0, "recovering": 0, "dead": 0},
        },
        "drought": {
            "declared": True,
            "restricts": True,
            "threshold_percent": 5.0,
            "active_tokens": 3,
            "known_quota": 3,
            "below_threshold": 3,
            "allowed_models": ["small"],
        },
    }


def test_refusals_are_counted_by_gate(world: World) -> None:
    pool = world.pool()
    tell_quota(pool, 2, 300)
    shut(pool)
    limit_all(pool, 2, 30)
    shut(pool)
    assert world.metrics.by_label("gate_refusals_total", "gate") == {"drought": 1, "capacity": 1}
    assert world.clock.now == START
