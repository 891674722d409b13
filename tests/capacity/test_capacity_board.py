"""What a worker believes of the tokens: its own changes, other workers' and those that race with a read."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from pathlib import Path

import pytest

from app.capacity.tokens import TokensFile
from app.stores import Change, Write
from app.stores.memory import MemoryStore
from app.turn.faults import FaultKind, TurnFault
from tests.capacity.conftest import PAID, START, World, fault, tokens

LIMITED = fault(FaultKind.RATE_LIMITED, 30)
DEAD = fault(FaultKind.UPSTREAM_AUTHENTICATION)


class Slow(MemoryStore):
    """Something happens between what a read finds and its return, once."""

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__(clock)
        self.meanwhile: Callable[[], object] | None = None

    def read(self, keys: Collection[str]) -> dict[str, bytes]:
        found = super().read(keys)
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            meanwhile()
        return found


def test_the_second_change_that_races_with_a_read_is_not_undone_either(world: World) -> None:
    world.store = store = Slow(world.clock)
    pool = world.pool(tokens("a", "b"), fresh_s=0.2)
    first, second = pool.lease(PAID, None), pool.lease(PAID, None)
    pool.release(first, LIMITED)
    world.clock.pass_by(0.2)
    store.meanwhile = lambda: pool.release(second, LIMITED)
    with pytest.raises(TurnFault):
        pool.gate(PAID)


@pytest.mark.parametrize("fresh_s", [0.0, 0.2], ids=["no view is trusted", "the first view"])
def test_a_turn_waits_for_the_read_of_another_when_it_has_nothing_to_go_by(
    world: World, fresh_s: float
) -> None:
    world.store = store = Slow(world.clock)
    pool, elsewhere = world.pool(tokens("a"), fresh_s=fresh_s), world.pool(tokens("a"))
    lease = elsewhere.lease(PAID, None)
    if fresh_s == 0:
        pool.gate(PAID)
    told: list[str] = []
    done = threading.Event()

    def other_turn() -> None:
        try:
            pool.gate(PAID)
            told.append("open")
        except TurnFault as caught:
            told.append(caught.kind.value)
        finally:
            done.set()

    def meanwhile() -> None:
        elsewhere.release(lease, LIMITED)
        thread.start()
        done.wait(0.05)  # which it must not be before this read is over

    thread = threading.Thread(target=other_turn, daemon=True)
    store.meanwhile = meanwhile
    pool.gate(PAID)
    thread.join(5)
    assert told == ["capacity"], "it read for itself, after the other"


def test_a_clock_that_begins_at_the_epoch_is_a_clock(world: World) -> None:
    world.clock.now = 0.1
    pool = world.pool(None, "a", fresh_s=0.2)
    pool.gate(PAID)
    assert pool.ready()


def test_a_dead_token_is_not_called_back_by_a_turn_that_ends_late(world: World) -> None:
    pool = world.pool(None, "a")
    first, second = pool.lease(PAID, None), pool.lease(PAID, None)
    pool.release(first, DEAD)
    pool.release(second, LIMITED)
    assert not pool.ready()
    world.clock.pass_by(30)
    assert not pool.ready()


def test_a_token_that_was_removed_does_not_make_candor_ready(
    world: World, write_tokens: Callable[[str], Path]
) -> None:
    both = '[[token]]\nname = "gone"\nsecret = "s-g"\n[[token]]\nname = "a"\nsecret = "s-a"\n'
    pool = world.pool(TokensFile(write_tokens(both), print, lambda _: None), fresh_s=0.2)
    late = pool.lease(PAID, None)
    assert late.name == "gone"
    write_tokens('[[token]]\nname = "a"\nsecret = "s-a"\n')
    world.clock.pass_by(0.2)
    pool.release(pool.lease(PAID, None), DEAD)
    pool.release(late, LIMITED)
    assert not pool.ready()


def test_what_changes_nothing_is_not_written(world: World) -> None:
    class Recording(MemoryStore):
        written = 0

        def update(self, key: str, change: Change) -> bytes | None:
            def counted(value: bytes | None) -> Write | None:
                write = change(value)
                self.written += write is not None
                return write

            return super().update(key, counted)

    world.store = store = Recording(world.clock)
    pool = world.pool(None, "a")
    for lease in [pool.lease(PAID, None) for _ in range(4)]:
        pool.release(lease, fault(FaultKind.RATE_LIMITED))
    assert store.written == 1
    assert world.clock.now == START
