"""Leases: fairness, limits, stickiness, trials, and what ends of turns do."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter

import pytest

from app.capacity.choice import in_order_for
from app.capacity.pool import QUOTA_WRITE_S, TokenPool
from app.capacity.slots import SlotKeeper
from app.capacity.tokens import FixedTokens, TokenSet
from app.stores.memory import MemoryStore
from app.turn.faults import FaultKind, TurnFault
from tests.capacity.conftest import FREE, PAID, World, fault, token, tokens


def serve(pool: TokenPool, count: int, key: str | None = None) -> Counter[str]:
    served: Counter[str] = Counter()
    for _ in range(count):
        lease = pool.lease(PAID, key)
        served[lease.name] += 1
        pool.spoke(lease)
        pool.release(lease, None)
    return served


def no_lease(pool: TokenPool) -> TurnFault:
    with pytest.raises(TurnFault) as caught:
        pool.lease(PAID, None)
    assert caught.value.kind is FaultKind.CAPACITY
    return caught.value


def state_of(pool: TokenPool, name: str) -> str:
    return {row["name"]: row["state"] for row in pool.report()["tokens"]}[name]


# Fairness


def test_turns_are_spread_evenly(world: World) -> None:
    assert serve(world.pool(None, "a", "b", "c", "d"), 200) == {"a": 50, "b": 50, "c": 50, "d": 50}


def test_turns_are_spread_by_weight(world: World) -> None:
    pool = world.pool(tokens(token("a", weight=3), token("b", weight=1)))
    assert serve(pool, 200) == {"a": 150, "b": 50}


def test_concurrent_turns_are_spread_evenly_too(world: World) -> None:
    pool = world.pool(None, "a", "b", "c", "d")
    leases = []
    threads = [threading.Thread(target=lambda: leases.append(pool.lease(PAID, None))) for _ in range(200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert Counter(lease.name for lease in leases) == {"a": 50, "b": 50, "c": 50, "d": 50}


def test_a_token_that_was_away_does_not_make_up_what_it_missed(world: World) -> None:
    pool = world.pool()
    lease = pool.lease(PAID, None)
    pool.release(lease, fault(FaultKind.RATE_LIMITED, 10))
    serve(pool, 100)
    world.clock.pass_by(10)
    served = serve(pool, 20)
    assert abs(served["a"] - served["b"]) <= 2


def test_nor_does_it_when_sessions_kept_the_others_busy(world: World) -> None:
    pool = world.pool(None, "a", "b", "c")
    pool.release(pool.lease(PAID, None, ["b", "c"]), fault(FaultKind.RATE_LIMITED, 10))
    for number in range(100):
        serve(pool, 1, f"session-{number}")
    world.clock.pass_by(10)
    served = serve(pool, 30)
    assert 8 <= served["a"] <= 14, served


def test_tried_tokens_are_left_out(world: World) -> None:
    pool = world.pool()
    assert {pool.lease(PAID, None, ["a"]).name for _ in range(5)} == {"b"}
    with pytest.raises(TurnFault):
        pool.lease(PAID, None, ["a", "b"])


# Stickiness


def test_a_session_stays_on_its_token_in_every_worker(world: World) -> None:
    first, second = world.pool(None, "a", "b", "c"), world.pool(None, "c", "a", "b")
    for key in ("one", "two", "three", "four"):
        assert len(serve(first, 5, key)) == 1
        assert serve(first, 1, key) == serve(second, 1, key)


def test_a_session_yields_while_its_token_is_away_and_returns(world: World) -> None:
    pool = world.pool(None, "a", "b", "c")
    (home,) = serve(pool, 1, "key")
    lease = pool.lease(PAID, "key")
    pool.release(lease, fault(FaultKind.RATE_LIMITED, 10))
    (refuge,) = serve(pool, 5, "key")
    assert refuge != home
    world.clock.pass_by(10)
    assert set(serve(pool, 3, "key")) == {home}


def test_other_sessions_stay_where_they_are_when_a_token_goes(world: World) -> None:
    all_four = [token(name) for name in "abcd"]
    keys = [f"session-{number}" for number in range(200)]
    before = {key: in_order_for(key, all_four)[0].name for key in keys}
    after = {key: in_order_for(key, all_four[1:])[0].name for key in keys}
    assert [key for key in keys if before[key] != after[key]] == [key for key in keys if before[key] == "a"]


def test_sessions_are_spread_by_weight() -> None:
    each = [token("a", weight=3), token("b", weight=1)]
    homes = Counter(in_order_for(f"s{number}", each)[0].name for number in range(4000))
    assert 2850 <= homes["a"] <= 3150


# Limits


def test_a_limit_is_kept_and_a_freed_slot_is_used(world: World) -> None:
    pool = world.pool(tokens(token("a", limit=2)))
    first, _ = pool.lease(PAID, None), pool.lease(PAID, None)
    assert no_lease(pool).retry_after_s == 1
    pool.release(first, None)
    assert pool.lease(PAID, None).name == "a"


def test_a_turn_goes_to_the_token_that_has_room(world: World) -> None:
    pool = world.pool(tokens(token("a", limit=1), token("b")))
    names = Counter(pool.lease(PAID, None).name for _ in range(10))
    assert names == {"a": 1, "b": 9}


def test_a_session_yields_when_its_token_is_full(world: World) -> None:
    pool = world.pool(tokens(token("a", limit=1), token("b", limit=1)))
    assert {pool.lease(PAID, "key").name, pool.lease(PAID, "key").name} == {"a", "b"}


def test_limits_are_never_exceeded_under_threads(world: World) -> None:
    world.store = MemoryStore()
    pool = world.pool(tokens(*(token(name, limit=5) for name in "abcd")))
    running: Counter[str] = Counter()
    peaks: Counter[str] = Counter()
    lock = threading.Lock()
    refused = []

    def turn() -> None:
        try:
            lease = pool.lease(PAID, None)
        except TurnFault as caught:
            refused.append(caught.kind)
            return
        with lock:
            running[lease.name] += 1
            peaks[lease.name] = max(peaks[lease.name], running[lease.name])
        time.sleep(random.random() * 0.01)
        with lock:
            running[lease.name] -= 1
        pool.release(lease, None)

    threads = [threading.Thread(target=turn) for _ in range(200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert all(1 <= peaks[name] <= 5 for name in "abcd"), peaks
    assert set(refused) <= {FaultKind.CAPACITY}
    assert [row["slots_taken"] for row in pool.report()["tokens"]] == [0, 0, 0, 0]


def test_limits_hold_over_all_workers(world: World) -> None:
    source = tokens(token("a", limit=3))
    first, second = world.pool(source), world.pool(source)
    for pool in (first, second, first):
        pool.lease(PAID, None)
    no_lease(first)
    no_lease(second)


def test_only_limited_tokens_write_per_turn(world: World) -> None:
    class Counting(MemoryStore):
        writes = 0

        def update(self, key, change):  # type: ignore[no-untyped-def]
            self.writes += 1
            return super().update(key, change)

        def take(self, *arguments):  # type: ignore[no-untyped-def]
            self.writes += 1
            return super().take(*arguments)

        def give(self, *arguments):  # type: ignore[no-untyped-def]
            self.writes += 1
            super().give(*arguments)

    world.store = store = Counting(world.clock)
    serve(world.pool(), 10)
    assert store.writes == 0
    serve(world.pool(tokens(token("a", limit=1))), 10)
    assert store.writes == 20


# Faults and recovery


def test_a_limited_token_is_left_alone_by_every_worker(world: World) -> None:
    first, second = world.pool(), world.pool()
    first.release(first.lease(PAID, None), fault(FaultKind.RATE_LIMITED, 30))
    assert set(serve(second, 10)) == {"b"}


@pytest.mark.parametrize(
    "kind",
    [FaultKind.CAPACITY, FaultKind.UPSTREAM_FAILED, FaultKind.UPSTREAM_TRUNCATED, FaultKind.INVALID_REQUEST],
)
def test_blameless_faults_leave_a_token_in_use(world: World, kind: FaultKind) -> None:
    pool = world.pool(None, "a")
    pool.release(pool.lease(PAID, None), fault(kind, 30))
    assert state_of(pool, "a") == "healthy"
    pool.gate(PAID)


def cool(pool: TokenPool, seconds: float = 10) -> None:
    pool.release(pool.lease(PAID, None), fault(FaultKind.RATE_LIMITED, seconds))


def test_a_recovered_token_is_tried_by_one_turn_first(world: World) -> None:
    first, second = world.pool(None, "a"), world.pool(None, "a")
    cool(first)
    world.clock.pass_by(10)
    assert state_of(first, "a") == "recovering"
    trial = first.lease(PAID, None)
    assert no_lease(first).retry_after_s == 1
    no_lease(second)
    first.spoke(trial)
    assert state_of(second, "a") == "healthy"
    second.lease(PAID, None)


def test_a_trial_that_is_limited_again_backs_off_further(world: World) -> None:
    pool = world.pool(None, "a")
    pool.release(pool.lease(PAID, None), fault(FaultKind.RATE_LIMITED))
    world.clock.pass_by(2)
    pool.release(pool.lease(PAID, None), fault(FaultKind.RATE_LIMITED))
    assert no_lease(pool).retry_after_s == 4


def test_a_trial_that_ends_in_nothing_leaves_the_next_turn_to_try(world: World) -> None:
    pool = world.pool(None, "a")
    cool(pool)
    world.clock.pass_by(10)
    for ending in (fault(FaultKind.UPSTREAM_FAILED), None, fault(FaultKind.INVALID_REQUEST)):
        pool.release(pool.lease(PAID, None), ending)
        assert state_of(pool, "a") == "recovering"


def test_another_turn_may_try_when_the_first_is_long_without_an_answer(world: World) -> None:
    pool = world.pool(None, "a", lease_ttl_s=15.0)
    cool(pool)
    world.clock.pass_by(10)
    slow = pool.lease(PAID, None)
    world.clock.pass_by(14)
    no_lease(pool)
    world.clock.pass_by(1)
    quick = pool.lease(PAID, None)
    no_lease(pool)
    pool.release(slow, None)
    no_lease(pool)
    pool.spoke(quick)
    assert state_of(pool, "a") == "healthy"


def test_a_worker_that_sees_a_trial_elsewhere_does_not_ask_at_every_turn(world: World) -> None:
    first, second = world.pool(None, "a", fresh_s=0.2), world.pool(None, "a", fresh_s=0.2)
    cool(first)
    world.clock.pass_by(10)
    trial = first.lease(PAID, None)
    no_lease(second)
    first.spoke(trial)
    world.clock.pass_by(0.2)
    second.lease(PAID, None)


def test_late_ends_of_other_turns_do_not_lengthen_a_backoff(world: World) -> None:
    pool = world.pool(None, "a")
    leases = [pool.lease(PAID, None) for _ in range(20)]
    for lease in leases:
        pool.release(lease, fault(FaultKind.RATE_LIMITED))
    assert no_lease(pool).retry_after_s == 2


def test_a_dead_token_stays_dead_however_long(world: World) -> None:
    pool = world.pool(None, "a")
    pool.release(pool.lease(PAID, None), fault(FaultKind.UPSTREAM_AUTHENTICATION))
    world.clock.pass_by(7 * 86_400)
    no_lease(pool)
    assert not pool.ready()


def test_a_replaced_secret_is_alive(world: World) -> None:
    pool = world.pool(None, "a")
    pool.release(pool.lease(PAID, None), fault(FaultKind.UPSTREAM_AUTHENTICATION))
    other = token("a", identity="another")
    assert world.pool(FixedTokens(TokenSet((other,), "g2"))).ready()


def test_a_spell_of_the_same_state_in_the_view_is_trusted_for_its_time_only(world: World) -> None:
    first, second = world.pool(None, "a", fresh_s=0.2), world.pool(None, "a", fresh_s=0.2)
    second.gate(PAID)
    cool(first)
    second.gate(PAID)
    world.clock.pass_by(0.2)
    no_lease(second)


def test_a_clock_that_is_set_back_does_not_freeze_the_view(world: World) -> None:
    first, second = world.pool(None, "a", fresh_s=0.2), world.pool(None, "a", fresh_s=0.2)
    second.gate(PAID)
    world.clock.pass_by(-3600)
    cool(first)
    no_lease(second)


# Quota


def test_a_quota_is_written_when_it_crosses_the_threshold_or_is_old(world: World) -> None:
    pool = world.pool(None, "a")

    def told(basis_points: int) -> float | None:
        pool.release(pool.lease(PAID, None), None, basis_points)
        quota: float | None = pool.report()["tokens"][0]["quota_percent"]
        return quota

    assert told(9000) == 90
    assert told(8990) == 90
    world.clock.pass_by(QUOTA_WRITE_S)
    assert told(8980) == 89.8
    assert told(499) == 4.99


# Races, made to happen


def test_a_change_during_a_read_is_not_undone_by_what_the_read_brings(world: World) -> None:
    class Slow(MemoryStore):
        """A store that is asked by one thread while another is half-way through its answer."""

        meanwhile = staticmethod(lambda: None)

        def read(self, keys):  # type: ignore[no-untyped-def]
            found = super().read(keys)
            meanwhile, self.meanwhile = self.meanwhile, lambda: None
            meanwhile()
            return found

    world.store = store = Slow(world.clock)
    pool = world.pool(None, "a", fresh_s=0.2)
    lease = pool.lease(PAID, None)
    world.clock.pass_by(0.2)
    store.meanwhile = lambda: pool.release(lease, fault(FaultKind.RATE_LIMITED, 30))  # type: ignore[method-assign]
    with pytest.raises(TurnFault):
        pool.gate(PAID)


def test_a_slot_freed_during_a_heartbeat_stays_free() -> None:
    class Slow(MemoryStore):
        meanwhile = staticmethod(lambda: None)

        def renew(self, *arguments):  # type: ignore[no-untyped-def]
            self.meanwhile()
            super().renew(*arguments)
            beaten.set()

    beaten = threading.Event()
    store = Slow()
    keeper = SlotKeeper(store, 0.06)
    holder = keeper.take("s", 1)
    assert holder is not None
    store.meanwhile = lambda: keeper.give("s", holder)  # type: ignore[method-assign]
    assert beaten.wait(5)
    time.sleep(0.01)
    assert store.taken("s") == 0
    assert keeper.held == 0


# Telling


def test_the_report_names_everything_but_the_secret(world: World) -> None:
    pool = world.pool(tokens(token("a", limit=2, weight=2), token("b", tier="free")))
    lease = pool.lease(PAID, None)
    pool.release(pool.lease(FREE, None, ["a"]), fault(FaultKind.QUOTA_EXHAUSTED, 60), 300)
    world.clock.pass_by(1)
    report = pool.report()
    assert report["tokens"] == [
        {
            "name": "a",
            "tier": "paid",
            "weight": 2,
            "limit": 2,
            "state": "healthy",
            "why": None,
            "since": None,
            "until": None,
            "wait_s": None,
            "quota_percent": None,
            "quota_age_s": None,
            "in_flight": 1,
            "slots_taken": 1,
            "served": 0,
        },
        {
            "name": "b",
            "tier": "free",
            "weight": 1,
            "limit": None,
            "state": "exhausted",
            "why": "quota_exhausted",
            "since": "2027-01-15T08:00:00.000Z",
            "until": "2027-01-15T08:01:00.000Z",
            "wait_s": 59.0,
            "quota_percent": 3.0,
            "quota_age_s": 1.0,
            "in_flight": 0,
            "served": 0,
        },
    ]
    everything = f"{report} {pool.gates()} {world.lines} {lease!r} {pool.__dict__}"
    assert "secret-of" not in everything


def test_changes_of_state_are_logged_and_counted_once(world: World) -> None:
    pool = world.pool(None, "a", "b")
    leases = [pool.lease(PAID, None) for _ in range(6)]
    for lease in leases[:4]:
        pool.release(lease, fault(FaultKind.RATE_LIMITED, 30))
    for lease in leases[4:]:
        pool.release(lease, fault(FaultKind.UPSTREAM_AUTHENTICATION))
    told = [(line["event"], line["token"], line["state"], line["level"]) for line in world.lines]
    assert told == [
        ("token_state", "a", "cooling", "INFO"),
        ("token_state", "b", "cooling", "INFO"),
        ("token_state", "a", "dead", "ERROR"),
        ("token_state", "b", "dead", "ERROR"),
    ]
    changes = world.metrics.totals()["token_changes"]
    assert sorted(changes) == [
        (("a", "cooling"), 1),
        (("a", "dead"), 1),
        (("b", "cooling"), 1),
        (("b", "dead"), 1),
    ]
