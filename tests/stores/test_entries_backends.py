"""Kept replies on both backends, each real: scope, bounds, order, time, crashes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from app.stores import entries_redis
from app.stores.entries import (
    ENTRY_OVERHEAD,
    Bounds,
    Entries,
    Evicted,
    Filter,
    Usage,
    pack,
    stem_of,
    unpack,
)
from tests.support.entries import ROOMY, Clock, Opener, entries_at, entry, id_of, ids


def test_an_entry_comes_back_as_it_was_put(entries: Entries, clock: Clock) -> None:
    kept = entry(1, metadata={"k": "ü"}, previous_id=id_of(9), history=pack(b"a" * 1000), history_bytes=1000)
    entries.put(kept)
    found = entries.get("ann", id_of(1))
    assert found is not None
    assert (found.id, found.kind, found.caller, found.model) == (id_of(1), "response", "ann", "m")
    assert (found.metadata, found.previous_id) == ({"k": "ü"}, id_of(9))
    assert (unpack(found.history), found.history_bytes, found.shown) == (b"a" * 1000, 1000, b"sssss")
    assert found.created_s == clock.now


def test_another_opener_of_the_backend_finds_it(opened: Opener) -> None:
    opened(ROOMY).put(entry(1))
    assert opened(ROOMY).get("ann", id_of(1)) is not None


def test_nobody_else_reads_lists_walks_relabels_or_deletes_an_entry(entries: Entries) -> None:
    entries.put(entry(1))
    assert entries.get("bob", id_of(1)) is None
    assert entries.of_item("bob", id_of(1, "msg_")) is None
    assert entries.walk("bob", id_of(1), 10, 1000) == []
    assert ids(entries.select("bob", Filter("response"))) == []
    assert entries.relabel("bob", id_of(1), {"a": "b"}) is None
    assert not entries.delete("bob", id_of(1))
    found = entries.get("ann", id_of(1))
    assert found is not None
    assert found.metadata == {}


def test_an_id_must_be_whole(entries: Entries) -> None:
    entries.put(entry(1))
    other = id_of(1)[:-1] + "1"
    assert entries.get("ann", other) is None
    assert entries.walk("ann", other, 10, 1000) == []
    assert not entries.delete("ann", other)
    assert entries.relabel("ann", other, {}) is None
    for odd in ("", "resp_", "resp_x", "chatcmpl-\x00", "resp_" + "g" * 48):
        assert entries.get("ann", odd) is None
        assert entries.walk("ann", odd, 10, 1000) == []
        assert not entries.delete("ann", odd)


def test_an_item_leads_to_its_entry(entries: Entries) -> None:
    entries.put(entry(1))
    found = entries.of_item("ann", id_of(1, "msg_")[:-4] + "ffff")
    assert found is not None
    assert found.id == id_of(1)


def test_a_deleted_entry_is_gone_and_its_bytes_with_it(entries: Entries) -> None:
    entries.put(entry(1))
    assert entries.delete("ann", id_of(1))
    assert not entries.delete("ann", id_of(1))
    assert entries.get("ann", id_of(1)) is None
    assert entries.usage() == entries.usage("ann") == Usage(0, 0)


def test_bytes_are_content_labels_and_overhead(entries: Entries) -> None:
    entries.put(entry(1, history=b"h" * 100, shown=b"s" * 50, metadata={"k": "é"}))
    one = 100 + 50 + len('{"k":"é"}'.encode()) + ENTRY_OVERHEAD
    assert one == 160 + ENTRY_OVERHEAD
    assert entries.usage("ann") == Usage(1, one)
    entries.put(entry(2, caller="bob"))
    two = 10 + 5 + 2 + ENTRY_OVERHEAD
    assert entries.usage("bob") == Usage(1, two)
    assert entries.usage() == Usage(2, one + two)


def test_relabelling_counts_the_bytes_anew(entries: Entries) -> None:
    entries.put(entry(1, metadata={"a": "b"}))
    before = entries.usage().bytes
    changed = entries.relabel("ann", id_of(1), {"a": "bb", "c": "d"})
    assert changed is not None
    assert changed.metadata == {"a": "bb", "c": "d"}
    assert entries.usage("ann") == entries.usage() == Usage(1, before + len(b'b,"c":"d"'))
    assert entries.delete("ann", id_of(1))
    assert entries.usage() == Usage(0, 0)


def test_the_oldest_of_a_caller_go_first_when_its_count_is_reached(opened: Opener) -> None:
    entries = opened(Bounds(1 << 20, 1 << 24, 3, 1 << 25, 100, 100.0))
    entries.put(entry(100, caller="bob"))
    for number in range(5):
        evicted = entries.put(entry(number))
    assert evicted == Evicted(1, 0)
    assert ids(entries.select("ann", Filter("response"))) == [id_of(2), id_of(3), id_of(4)]
    assert entries.get("bob", id_of(100)) is not None


def test_the_oldest_of_a_caller_go_first_when_its_bytes_are_used_up(opened: Opener) -> None:
    cost = entry(1).cost
    entries = opened(Bounds(1 << 20, 3 * cost, 100, 1 << 25, 100, 100.0))
    for number in range(3):
        assert entries.put(entry(number)) == Evicted(0, 0)
    big = entry(3, shown=b"s" * (5 + cost))
    assert entries.put(big) == Evicted(2, 0)
    assert ids(entries.select("ann", Filter("response"))) == [id_of(2), id_of(3)]
    assert entries.usage("ann") == Usage(2, 3 * cost)


def test_the_oldest_of_all_go_first_when_the_whole_is_full(opened: Opener) -> None:
    entries = opened(Bounds(1 << 20, 1 << 24, 100, 1 << 25, 3, 100.0))
    for number, caller in enumerate(("ann", "bob", "cid")):
        entries.put(entry(number, caller))
    assert entries.put(entry(3, "bob")) == Evicted(0, 1)
    assert entries.get("ann", id_of(0)) is None
    assert entries.put(entry(4, "cid")) == Evicted(0, 1)
    assert entries.get("bob", id_of(1)) is None
    assert entries.usage() == Usage(3, 3 * entry(1).cost)
    assert entries.usage("ann") == Usage(0, 0)


def test_all_bytes_are_bounded_whoever_they_belong_to(opened: Opener) -> None:
    cost = entry(1).cost
    entries = opened(Bounds(1 << 20, 1 << 24, 100, 2 * cost, 100, 100.0))
    for number, caller in enumerate(("ann", "bob", "cid", "dan")):
        entries.put(entry(number, caller))
    assert [entries.usage(caller).count for caller in ("ann", "bob", "cid", "dan")] == [0, 0, 1, 1]
    assert entries.usage() == Usage(2, 2 * cost)


def test_bounds_that_were_lowered_are_reached_within_a_few_writes(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.stores.entries_sqlite.MOST_EVICTED", 10)
    common = entries_redis._COMMON.replace("most_evicted = 5000", "most_evicted = 10")
    monkeypatch.setattr(
        "app.stores.entries_redis._PUT", entries_redis._PUT.replace(entries_redis._COMMON, common)
    )
    entries = opened(ROOMY)
    for number in range(40):
        entries.put(entry(number))
    fewer = opened(Bounds(1 << 20, 1 << 24, 5, 1 << 25, 100, 100.0))
    assert [fewer.put(entry(100 + number)).by_caller for number in range(6)] == [10, 10, 10, 9, 1, 1]
    assert fewer.usage() == Usage(5, 5 * entry(1).cost)


def test_labels_that_need_room_push_out_the_oldest_but_not_their_own_entry(opened: Opener) -> None:
    cost = entry(1).cost
    entries = opened(Bounds(1 << 20, 2 * cost + 10, 100, 1 << 25, 100, 100.0))
    entries.put(entry(1))
    entries.put(entry(2))
    assert entries.relabel("ann", id_of(1), {"key": "v" * 20}) is not None
    assert ids(entries.select("ann", Filter("response"))) == [id_of(1)]


def test_an_entry_expires_when_its_time_is_over(entries: Entries, clock: Clock) -> None:
    entries.put(entry(1))
    clock.now += 99.9
    assert entries.get("ann", id_of(1)) is not None
    clock.now += 0.1
    assert entries.get("ann", id_of(1)) is None
    assert entries.of_item("ann", id_of(1, "msg_")) is None
    assert entries.walk("ann", id_of(1), 10, 1000) == []
    assert ids(entries.select("ann", Filter("response"))) == []
    assert entries.relabel("ann", id_of(1), {}) is None
    assert not entries.delete("ann", id_of(1))


def test_what_expired_makes_room_and_counts_no_more(opened: Opener, clock: Clock) -> None:
    entries = opened(Bounds(1 << 20, 1 << 24, 2, 1 << 25, 100, 100.0))
    entries.put(entry(1))
    clock.now += 50
    entries.put(entry(2))
    clock.now += 60
    assert entries.put(entry(3)) == Evicted(0, 0)
    assert ids(entries.select("ann", Filter("response"))) == [id_of(2), id_of(3)]
    assert entries.usage() == Usage(2, 2 * entry(1).cost)


def test_many_threads_put_at_once_and_the_books_are_right(opened: Opener) -> None:
    entries = opened(Bounds(1 << 20, 1 << 24, 20, 1 << 25, 50, 100.0))

    def work(number: int) -> None:
        for turn in range(20):
            entries.put(entry(number * 100 + turn, caller=f"caller-{number}"))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    counts = [entries.usage(f"caller-{number}").count for number in range(6)]
    assert sum(counts) == 50
    assert entries.usage() == Usage(50, 50 * entry(1).cost)


_WRITER = """
import sys, itertools
from tests.support.entries import ROOMY, entries_at, entry
import time
entries = entries_at(sys.argv[1], ROOMY, time.time)
for number in itertools.count():
    entries.put(entry(number, shown=bytes(100_000)))
    print(number, flush=True)
"""


def test_a_crash_in_the_midst_of_writing_loses_at_most_that_entry(store_address: str) -> None:
    with subprocess.Popen([sys.executable, "-c", _WRITER, store_address], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        while process.stdout.readline().strip() != b"20":
            pass
        os.kill(process.pid, signal.SIGKILL)
        said = process.stdout.read().split()
    last = int(said[-1]) if said else 20
    entries = entries_at(store_address, ROOMY, time.time)
    found = ids(entries.select("ann", Filter("response")))
    assert found[: last + 1] == [id_of(number) for number in range(last + 1)]
    assert len(found) <= last + 2
    assert entries.usage() == entries.usage("ann")
    assert entries.usage().count == len(found)
    assert entries.usage().bytes == len(found) * entry(1, shown=bytes(100_000)).cost
    entries.close()


@pytest.mark.parametrize(
    ("any_id", "stem"),
    [
        (id_of(255), "0" * 30 + "ff"),
        ("chatcmpl-" + "ab" * 24, "ab" * 16),
        ("msg_" + "AB" * 24, None),
        ("resp_abc", None),
        ("", None),
        ("ab" * 16, "ab" * 16),
    ],
)
def test_the_stem_of_an_id(any_id: str, stem: str | None) -> None:
    assert stem_of(any_id) == stem


def test_packing_keeps_every_byte_and_saves_room() -> None:
    text = b'{"type":"response.output_text.delta","delta":"a"}' * 500
    assert unpack(pack(text)) == text
    assert len(pack(text)) < 200
    assert unpack(pack(b"")) == b""
