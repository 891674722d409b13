"""What every backend does, on each of them."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Callable

from app.settings import load
from app.stores import Store, Write
from app.stores.opening import open_store


def put(value: bytes, ttl_s: float = 60) -> Callable[[bytes | None], Write]:
    return lambda _: Write(value, ttl_s)


def one_more(value: bytes | None) -> Write:
    return Write(str(int(value or b"0") + 1).encode(), 60)


def in_threads(count: int, action: Callable[[int], None]) -> None:
    threads = [threading.Thread(target=action, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)


def in_processes(address: str, work: Callable[[Store], object], count: int) -> None:
    """Run ``work`` in forks, as gunicorn's workers are."""

    def child() -> None:
        store = open_store(load({"CANDOR_STORE": address, "CANDOR_STORE_TIMEOUT_S": "10"}))
        work(store)

    processes = [multiprocessing.get_context("fork").Process(target=child) for _ in range(count)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(30)
    assert [process.exitcode for process in processes] == [0] * count


def test_nothing_is_read_of_an_empty_store(store: Store) -> None:
    assert store.read(["a", "b"]) == {}
    assert store.read([]) == {}


def test_an_update_sees_the_value_before_it_and_tells_the_one_after(store: Store) -> None:
    seen: list[bytes | None] = []

    def change(value: bytes | None) -> Write:
        seen.append(value)
        return Write(b"\x00new\xff", 60)

    assert store.update("a", put(b"old")) == b"old"
    assert store.update("a", change) == b"\x00new\xff"
    assert seen == [b"old"]
    assert store.read(["a", "b"]) == {"a": b"\x00new\xff"}


def test_an_update_that_wants_nothing_changes_nothing(store: Store) -> None:
    assert store.update("a", lambda _: None) is None
    assert store.read(["a"]) == {}
    store.update("a", put(b"kept"))
    assert store.update("a", lambda _: None) == b"kept"


def test_an_empty_value_is_a_value(store: Store) -> None:
    store.update("a", put(b""))
    assert store.read(["a"]) == {"a": b""}
    assert store.update("a", lambda value: Write(b"was empty", 60) if value == b"" else None) == b"was empty"


def test_a_value_is_gone_when_its_time_is_over(store: Store) -> None:
    store.update("a", put(b"brief", 0.05))
    store.update("b", put(b"long"))
    time.sleep(0.08)
    assert store.read(["a", "b"]) == {"b": b"long"}
    assert store.update("a", lambda value: Write(b"x", 60) if value is None else None) == b"x"


def test_a_deleted_value_is_gone(store: Store) -> None:
    store.update("a", put(b"x"))
    store.delete("a")
    store.delete("a")
    assert store.read(["a"]) == {}


def test_another_process_reads_what_one_wrote(store: Store, open_again: Callable[[], Store]) -> None:
    store.update("a", put(b"x"))
    assert open_again().read(["a"]) == {"a": b"x"}


def test_no_update_of_many_threads_is_lost(store: Store) -> None:
    in_threads(16, lambda _: [store.update("n", one_more) for _ in range(10)] and None)
    assert store.read(["n"]) == {"n": b"160"}


def test_no_update_of_many_processes_is_lost(store: Store, store_address: str) -> None:
    store.update("n", put(b"0"))
    in_processes(store_address, lambda each: [each.update("n", one_more) for _ in range(50)], 4)
    assert store.read(["n"]) == {"n": b"200"}


def test_a_fork_may_go_on_with_the_store_of_its_parent(store: Store) -> None:
    store.update("n", put(b"0"))

    def child() -> None:
        for _ in range(20):
            store.update("n", one_more)

    processes = [multiprocessing.get_context("fork").Process(target=child) for _ in range(2)]
    for process in processes:
        process.start()
    child()
    for process in processes:
        process.join(30)
    assert [process.exitcode for process in processes] == [0, 0]
    assert store.read(["n"]) == {"n": b"60"}


def test_slots_are_given_out_up_to_the_limit(store: Store) -> None:
    assert [store.take("s", holder, 2, 60) for holder in ("a", "b", "c")] == [True, True, False]
    assert store.taken("s") == 2
    store.give("s", "a")
    assert store.take("s", "c", 2, 60)
    assert store.taken("s") == 2


def test_a_holder_keeps_its_slot_when_it_asks_again(store: Store) -> None:
    assert store.take("s", "a", 1, 60)
    assert store.take("s", "a", 1, 60)
    assert store.taken("s") == 1


def test_slots_of_different_names_are_apart(store: Store) -> None:
    assert store.take("s", "a", 1, 60)
    assert store.take("t", "a", 1, 60)
    store.give("s", "a")
    assert (store.taken("s"), store.taken("t")) == (0, 1)


def test_giving_what_is_not_held_changes_nothing(store: Store) -> None:
    store.give("s", "nobody")
    assert store.taken("s") == 0


def test_a_slot_that_nobody_renews_comes_free(store: Store) -> None:
    assert store.take("s", "a", 1, 0.05)
    time.sleep(0.08)
    assert store.taken("s") == 0
    assert store.take("s", "b", 1, 60)


def test_each_slot_has_its_own_time(store: Store) -> None:
    assert store.take("s", "brief", 2, 0.05)
    assert store.take("s", "long", 2, 60)
    time.sleep(0.08)
    assert store.taken("s") == 1
    assert store.take("s", "next", 2, 0.05)
    assert not store.take("s", "one too many", 2, 60)
    time.sleep(0.08)
    assert store.taken("s") == 1, "a brief slot takes no longer one with it"


def test_a_renewed_slot_stays_taken(store: Store) -> None:
    assert store.take("s", "a", 1, 0.1)
    store.renew("s", ["a"], 60)
    time.sleep(0.15)
    assert not store.take("s", "b", 1, 60)


def test_a_slot_that_was_lost_is_entered_again_when_renewed(store: Store) -> None:
    store.renew("s", ["a", "b"], 60)
    assert store.taken("s") == 2


def test_threads_never_hold_more_slots_than_there_are(store: Store) -> None:
    peak, lock, now = [0], threading.Lock(), [0]

    def work(number: int) -> None:
        for turn in range(10):
            holder = f"{number}-{turn}"
            if store.take("s", holder, 3, 60):
                with lock:
                    now[0] += 1
                    peak[0] = max(peak[0], now[0])
                time.sleep(0.001)
                with lock:
                    now[0] -= 1
                store.give("s", holder)

    in_threads(12, work)
    assert 1 <= peak[0] <= 3
    assert store.taken("s") == 0


def test_processes_never_hold_more_slots_than_there_are(store: Store, store_address: str) -> None:
    def work(each: Store) -> None:
        for turn in range(5):
            each.take("s", f"{os.getpid()}-{turn}", 7, 60)

    in_processes(store_address, work, 3)
    assert store.taken("s") == 7


def test_a_store_that_works_passes_its_check(store: Store) -> None:
    store.check()
    assert store.shared
