"""Slots and trials: the heartbeat on a clock of the test's, and who may try a token when."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from app.capacity.pool import TokenPool
from app.capacity.slots import SlotKeeper
from app.stores.memory import MemoryStore
from app.turn.faults import FaultKind, TurnFault
from tests.capacity.conftest import PAID, Clock, World, fault, token, tokens

FAILED = fault(FaultKind.UPSTREAM_FAILED)
TTL_S = 15.0


class Stopped(Exception):
    """The test has seen enough of a heartbeat."""


class Heart:
    """Threads that do not run by themselves, and pauses that pass at once on the store's clock."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.clock = Clock()
        self.store = MemoryStore(self.clock)
        self.threads: list[dict[str, Any]] = []
        self.pauses: list[float] = []
        self.during: Callable[[], None] = lambda: None
        stand_in = SimpleNamespace(Lock=threading.Lock, Thread=self._thread, Event=self._event)
        monkeypatch.setattr("app.capacity.slots.threading", stand_in)
        self.keeper = SlotKeeper(self.store, TTL_S)

    def _thread(self, **options: Any) -> SimpleNamespace:
        return SimpleNamespace(start=lambda: self.threads.append(options))

    def _event(self) -> SimpleNamespace:
        def wait(seconds: float) -> None:
            self.pauses.append(seconds)
            self.clock.pass_by(seconds)
            self.during()

        return SimpleNamespace(wait=wait)

    def beat(self) -> None:
        """Run the thread that was started last."""
        self.threads[-1]["target"]()


@pytest.fixture
def heart(monkeypatch: pytest.MonkeyPatch) -> Heart:
    return Heart(monkeypatch)


def test_what_is_held_is_renewed_three_times_within_its_time(heart: Heart) -> None:
    assert heart.keeper.take("one", 1)
    assert heart.keeper.take("two", 1)
    seen: list[tuple[int, int]] = []

    def look() -> None:
        seen.append((heart.store.taken("one"), heart.store.taken("two")))
        if len(seen) == 10:
            raise Stopped

    heart.during = look
    with pytest.raises(Stopped):
        heart.beat()
    assert seen == [(1, 1)] * 10
    assert heart.pauses == [5.0] * 10


def test_one_heart_beats_for_all_and_keeps_no_process_alive(heart: Heart) -> None:
    for _ in range(3):
        assert heart.keeper.take("s", 3)
    assert [thread["daemon"] for thread in heart.threads] == [True]


def test_the_heart_stops_when_nothing_is_held_and_starts_again(heart: Heart) -> None:
    for starts in (1, 2, 3):
        holder = heart.keeper.take("s", 1)
        assert holder is not None
        assert len(heart.threads) == starts
        heart.keeper.give("s", holder)
        heart.beat()
    assert heart.pauses == [5.0, 5.0, 5.0]


# Trials


def no_lease(pool: TokenPool) -> None:
    with pytest.raises(TurnFault):
        pool.lease(PAID, None)


def test_a_trial_that_finds_no_slot_is_given_back(world: World) -> None:
    before, after = world.pool(tokens(token("a", limit=2))), world.pool(tokens(token("a", limit=1)))
    limited, running = before.lease(PAID, None), before.lease(PAID, None)
    before.release(limited, fault(FaultKind.RATE_LIMITED, 10))
    world.clock.pass_by(10)
    no_lease(after)
    before.release(running, FAILED)
    assert after.lease(PAID, None).name == "a"


class Counting(MemoryStore):
    """Counts how often a slot was asked for."""

    asked = 0

    def take(self, slots: str, holder: str, limit: int, ttl_s: float) -> bool:
        self.asked += 1
        return super().take(slots, holder, limit, ttl_s)


def test_a_worker_that_met_a_trial_elsewhere_asks_again_when_its_view_is_old(world: World) -> None:
    world.store = store = Counting(world.clock)
    first, second = world.pool(None, "a", fresh_s=0.25), world.pool(None, "a", fresh_s=0.25)
    first.release(first.lease(PAID, None), fault(FaultKind.RATE_LIMITED, 10))
    world.clock.pass_by(10)
    trial = first.lease(PAID, None)
    for _ in range(3):
        no_lease(second)
    assert store.asked == 2, "the trial's own and one in vain"
    world.clock.pass_by(0.125)
    no_lease(second)
    assert store.asked == 2
    first.release(trial, FAILED)
    world.clock.pass_by(0.125)
    assert second.lease(PAID, None).name == "a"
    assert store.asked == 3


def test_a_worker_whose_own_trial_came_to_nothing_tries_again_at_once(world: World) -> None:
    pool = world.pool(None, "a", fresh_s=0.25)
    pool.release(pool.lease(PAID, None), fault(FaultKind.RATE_LIMITED, 10))
    world.clock.pass_by(10)
    trial = pool.lease(PAID, None)
    no_lease(pool)
    pool.release(trial, FAILED)
    assert pool.lease(PAID, None).name == "a"
