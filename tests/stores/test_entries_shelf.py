"""The shelf: bounds and outages fail nobody, are counted, and are over by themselves."""

from __future__ import annotations

import dataclasses
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from app.logs import EventLog
from app.metrics import Metrics
from app.settings import load
from app.stores import StoreDown
from app.stores.entries import Bounds, Entry, Evicted, Filter
from app.stores.entries_sqlite import SqliteEntries
from app.stores.shelf import Shelf, open_shelf
from tests.support.redis_server import redis_server
from tests.support.servers import free_port

BOUNDS = Bounds(4000, 1 << 20, 3, 1 << 21, 4, 100.0)


def entry(number: int = 1, caller: str = "ann", shown: bytes = b"s") -> Entry:
    return Entry(f"resp_{number:032x}{'0' * 16}", "response", caller, "m", {}, b"h", 1, shown)


class Harness:
    """A shelf over SQLite, whose log and counters a test reads and whose looks at the backend it allows."""

    def __init__(self, path: Path, bounds: Bounds = BOUNDS) -> None:
        self.metrics = Metrics()
        self.log = EventLog("INFO")
        self.lines: list[dict[str, Any]] = []
        handler = self.log.logger.handlers[0]
        handler.emit = lambda record: self.lines.append(orjson.loads(record.getMessage()))  # type: ignore[method-assign]
        self._may_look = threading.Semaphore(0)
        self.path = path
        self.entries = SqliteEntries(path, 0.2, bounds)
        self.shelf = Shelf(
            self.entries,
            bounds,
            self.log,
            self.metrics,
            retry_s=2,
            chain=10,
            history_bytes=1000,
            wait=lambda _: self._may_look.acquire(),
        )

    def look(self) -> None:
        self._may_look.release()

    def come_back(self) -> None:
        self.look()
        deadline = time.monotonic() + 5
        while self.shelf.down:
            assert time.monotonic() < deadline, "the shelf never came back"
            time.sleep(0.005)

    def counted(self, name: str) -> dict[tuple[str, ...], float]:
        return dict(self.metrics.totals()[name])

    def events(self) -> list[str]:
        return [line["event"] for line in self.lines]


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[Harness]:
    made = Harness(tmp_path / "entries.sqlite3")
    yield made
    made.shelf.close()


def test_what_is_kept_is_counted(harness: Harness) -> None:
    assert harness.shelf.keep(entry())
    assert harness.shelf.get("ann", entry().id) is not None
    assert harness.counted("entries_stored") == {("response",): 1}


def test_an_entry_beyond_its_bound_is_not_kept_and_counted(harness: Harness) -> None:
    most = 4000 - entry(shown=b"").cost
    assert harness.shelf.keep(entry(1, shown=b"s" * most))
    assert not harness.shelf.keep(entry(2, shown=b"s" * (most + 1)))
    assert harness.counted("entries_not_stored") == {("response", "too_large"): 1}
    assert harness.shelf.get("ann", entry(2).id) is None
    assert harness.shelf.get("ann", entry(1).id) is not None
    assert harness.events() == []


def test_an_entry_larger_than_all_that_a_caller_may_have_is_not_kept(tmp_path: Path) -> None:
    for bounds in (
        dataclasses.replace(BOUNDS, caller_bytes=3000),
        dataclasses.replace(BOUNDS, total_bytes=3000),
    ):
        harness = Harness(tmp_path / "e.sqlite3", bounds)
        assert not harness.shelf.keep(entry(shown=b"s" * 1500))
        harness.shelf.close()


def test_evictions_are_counted_by_bound(harness: Harness) -> None:
    for number in range(4):
        harness.shelf.keep(entry(number))
    for number in range(4, 6):
        harness.shelf.keep(entry(number, caller="bob"))
    assert harness.counted("entries_evicted") == {("caller",): 1, ("total",): 1}


def test_a_locked_file_keeps_nothing_and_waits_once(harness: Harness) -> None:
    assert harness.shelf.keep(entry(1))
    other = sqlite3.connect(harness.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    began = time.monotonic()
    assert [harness.shelf.keep(entry(number)) for number in range(2, 52)] == [False] * 50
    assert time.monotonic() - began < 1.0, "one wait of 0.2 s, not fifty"
    assert harness.events() == ["entries_down"]
    assert harness.lines[0]["level"] == "WARNING"
    assert harness.counted("entries_not_stored") == {("response", "store_down"): 50}
    assert harness.counted("entry_outages") == {(): 1}
    for ask in (
        lambda: harness.shelf.get("ann", entry(1).id),
        lambda: harness.shelf.of_item("ann", entry(1).id),
        lambda: harness.shelf.walk("ann", entry(1).id),
        lambda: harness.shelf.select("ann", Filter("response"), 3),
        lambda: harness.shelf.relabel("ann", entry(1).id, {}),
        lambda: harness.shelf.delete("ann", entry(1).id),
    ):
        with pytest.raises(StoreDown):
            ask()
    harness.look()
    time.sleep(0.4)
    assert harness.shelf.down, "still locked"
    other.execute("ROLLBACK")
    other.close()
    harness.come_back()
    assert harness.shelf.keep(entry(2))
    assert harness.events() == ["entries_down", "entries_back"]


def test_a_full_disk_keeps_nothing_and_loses_nothing(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert harness.shelf.keep(entry(1))
    database = harness.entries._database
    opened = database._open

    def small() -> sqlite3.Connection:
        connection = opened()
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
        return connection

    database.close()
    monkeypatch.setattr(database, "_open", small)
    large = dataclasses.replace(BOUNDS, entry_bytes=1 << 20)
    harness.shelf._bounds = large
    assert not harness.shelf.keep(entry(2, shown=b"s" * 100_000))
    assert "full" in harness.lines[0]["problem"]
    database.close()
    monkeypatch.undo()
    harness.come_back()
    assert harness.shelf.get("ann", entry(1).id) is not None
    assert harness.entries.usage("ann").count == 1
    assert harness.shelf.keep(entry(2))


def test_a_folder_that_cannot_be_written_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    harness = Harness(tmp_path / "file" / "entries.sqlite3")
    assert not harness.shelf.keep(entry())
    assert harness.events() == ["entries_down"]


def test_a_redis_server_that_dies_costs_one_bounded_wait_and_comes_back() -> None:
    port = free_port()
    settings = load(
        {
            "CANDOR_STORE": f"redis://127.0.0.1:{port}/0",
            "CANDOR_STORE_TIMEOUT_S": "0.5",
            "CANDOR_STORE_RETRY_S": "0.05",
        }
    )
    metrics = Metrics()
    shelf = open_shelf(settings, EventLog("ERROR"), metrics)
    assert shelf is not None
    with redis_server(port):
        assert shelf.keep(entry(1))
    began = time.monotonic()
    assert [shelf.keep(entry(number)) for number in range(2, 12)] == [False] * 10
    assert time.monotonic() - began < 2
    with redis_server(port):
        deadline = time.monotonic() + 10
        while shelf.down and time.monotonic() < deadline:
            time.sleep(0.02)
        assert shelf.keep(entry(20))
        assert shelf.get("ann", entry(20).id) is not None
    assert metrics.totals()["entry_outages"] == [((), 1.0)]
    shelf.close()


def test_a_server_that_accepts_and_says_nothing_is_down_after_the_timeout() -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        settings = load({"CANDOR_STORE": f"redis://127.0.0.1:{port}/0", "CANDOR_STORE_TIMEOUT_S": "0.2"})
        shelf = open_shelf(settings, EventLog("ERROR"), Metrics())
        assert shelf is not None
        began = time.monotonic()
        assert not shelf.keep(entry(1))
        assert time.monotonic() - began < 2
        shelf.close()


def test_many_threads_find_one_outage(harness: Harness) -> None:
    other = sqlite3.connect(_made(harness), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    kept: list[bool] = []

    def work(number: int) -> None:
        kept.append(harness.shelf.keep(entry(number)))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(10)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert time.monotonic() - began < 2
    assert kept == [False] * 10
    assert harness.events() == ["entries_down"]
    other.execute("ROLLBACK")
    other.close()


def _made(harness: Harness) -> Path:
    harness.entries.check()
    return harness.path


def test_eviction_results_are_plain_numbers() -> None:
    assert Evicted() == (0, 0)


def test_nothing_is_opened_when_nothing_is_to_be_kept() -> None:
    settings = load({"CANDOR_STORE_RESPONSES": "0", "CANDOR_STORE": "redis://127.0.0.1:1/0"})
    assert open_shelf(settings, EventLog("ERROR"), Metrics()) is None


def test_an_unreadable_address_stops_start_up_without_quoting_it() -> None:
    from app.settings import SettingsError

    settings = load({"CANDOR_STORE": "redis://:hunter2@db:notaport/0"})
    with pytest.raises(SettingsError) as caught:
        open_shelf(settings, EventLog("ERROR"), Metrics())
    assert "hunter2" not in str(caught.value)


Opened = Callable[[], Shelf]
