"""A store that is down: the process goes on by itself, and comes back by itself."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from app.logs import EventLog
from app.metrics import Metrics
from app.settings import load
from app.stores import StoreDown, Write
from app.stores.memory import MemoryStore
from app.stores.opening import open_store
from app.stores.resilient import ResilientStore
from tests.support.redis_server import redis_server
from tests.support.servers import free_port


class Switchable(MemoryStore):
    """A backend that a test takes down and puts up."""

    up = True
    asked = 0

    def _look(self) -> None:
        self.asked += 1
        if not self.up:
            raise StoreDown("out of order")

    def read(self, keys: Any) -> dict[str, bytes]:
        self._look()
        return super().read(keys)

    def update(self, key: str, change: Any) -> bytes | None:
        self._look()
        return super().update(key, change)

    def take(self, slots: str, holder: str, limit: int, ttl_s: float) -> bool:
        self._look()
        return super().take(slots, holder, limit, ttl_s)

    def renew(self, slots: str, holders: Any, ttl_s: float) -> None:
        self._look()
        super().renew(slots, holders, ttl_s)

    def give(self, slots: str, holder: str) -> None:
        self._look()
        super().give(slots, holder)

    def check(self) -> None:
        self._look()


class Harness:
    """A resilient store over a switchable backend, whose next look the test allows."""

    def __init__(self) -> None:
        self.backend = Switchable()
        self.metrics = Metrics()
        self.log = EventLog("INFO")
        self.lines: list[dict[str, Any]] = []
        handler = self.log.logger.handlers[0]
        handler.emit = lambda record: self.lines.append(orjson.loads(record.getMessage()))  # type: ignore[method-assign]
        self._may_look = threading.Semaphore(0)
        self.store = ResilientStore(
            self.backend, MemoryStore(), self.log, self.metrics, 2.0, lambda _: self._may_look.acquire()
        )

    def look(self) -> None:
        """Let the thread that waits for the backend look once."""
        self._may_look.release()

    def come_back(self) -> None:
        """Put the backend up and wait until it is in use again."""
        self.backend.up = True
        self.look()
        deadline = time.monotonic() + 5
        while self.store.down:
            assert time.monotonic() < deadline, "the store never came back"
            time.sleep(0.001)

    def events(self) -> list[str]:
        return [line["event"] for line in self.lines]

    def outages(self) -> float:
        return self.metrics.totals()["store_outages"][0][1]


@pytest.fixture
def harness() -> Harness:
    return Harness()


def add(text: bytes) -> Callable[[bytes | None], Write]:
    return lambda value: Write((value or b"") + text, 60)


def test_an_outage_starts_from_what_was_last_seen(harness: Harness) -> None:
    harness.backend.update("a", add(b"seen"))
    assert harness.store.read(["a"]) == {"a": b"seen"}
    harness.backend.up = False
    assert harness.store.read(["a"]) == {"a": b"seen"}
    assert not harness.store.shared


def test_an_outage_is_one_warning_and_one_count(harness: Harness) -> None:
    harness.backend.up = False
    for _ in range(5):
        harness.store.read(["a"])
        harness.store.update("a", add(b"x"))
    assert harness.events() == ["store_down"]
    assert harness.lines[0]["level"] == "WARNING"
    assert harness.outages() == 1


def test_a_store_that_is_down_is_not_asked_by_turns(harness: Harness) -> None:
    harness.backend.up = False
    harness.store.read(["a"])
    asked = harness.backend.asked
    for _ in range(10):
        harness.store.read(["a"])
        harness.store.update("a", add(b"x"))
        harness.store.take("s", "h", 1, 60)
        harness.store.give("s", "h")
    assert harness.backend.asked == asked


def test_updates_of_an_outage_reach_the_store_when_it_is_back(harness: Harness) -> None:
    harness.store.update("a", add(b"1"))
    harness.backend.up = False
    assert harness.store.update("a", add(b"2")) == b"12"
    harness.backend.up = True
    harness.backend.update("a", add(b"+other"))
    harness.come_back()
    assert harness.backend.read(["a"]) == {"a": b"1+other2"}
    assert harness.store.read(["a"]) == {"a": b"1+other2"}
    assert harness.events() == ["store_down", "store_back"]


def test_a_look_at_a_store_still_down_changes_nothing(harness: Harness) -> None:
    harness.backend.up = False
    harness.store.read(["a"])
    harness.look()
    harness.look()
    time.sleep(0.02)
    assert harness.store.down
    harness.come_back()
    assert harness.store.shared


def test_limits_hold_within_the_process_during_an_outage(harness: Harness) -> None:
    assert harness.store.take("s", "a", 2, 60)
    harness.backend.up = False
    assert harness.store.take("s", "b", 2, 60)
    assert not harness.store.take("s", "c", 2, 60)
    harness.store.give("s", "a")
    assert harness.store.take("s", "c", 2, 60)


def test_renewing_tells_the_store_of_slots_taken_during_an_outage(harness: Harness) -> None:
    harness.backend.up = False
    harness.store.take("s", "a", 2, 60)
    harness.come_back()
    harness.store.renew("s", ["a"], 60)
    assert harness.backend.taken("s") == 1


@pytest.fixture
def redis_port() -> int:
    return free_port()


def test_a_redis_server_that_dies_and_comes_back_on_its_address(redis_port: int) -> None:
    settings = load({"CANDOR_STORE": f"redis://127.0.0.1:{redis_port}/0", "CANDOR_STORE_TIMEOUT_S": "0.5"})
    log = EventLog("ERROR")
    store = ResilientStore(open_store(settings), MemoryStore(), log, Metrics(), 0.05)
    with redis_server(redis_port):
        assert store.update("a", add(b"1")) == b"1"
        assert store.shared
    assert store.update("a", add(b"2")) == b"12"
    assert not store.shared
    with redis_server(redis_port):
        deadline = time.monotonic() + 10
        while not store.shared and time.monotonic() < deadline:
            time.sleep(0.02)
        assert store.shared
        assert store.read(["a"]) == {"a": b"2"}, (
            "a server that forgot all learns what this process did meanwhile"
        )
    store.close()


def test_a_folder_that_cannot_be_written_degrades(tmp_path: Any) -> None:
    (tmp_path / "file").write_text("in the way")
    settings = load({"CANDOR_STORE": f"sqlite:{tmp_path}/file/candor.sqlite3"})
    store = ResilientStore(open_store(settings), MemoryStore(), EventLog("ERROR"), Metrics(), 3600)
    assert store.update("a", add(b"1")) == b"1"
    assert store.read(["a"]) == {"a": b"1"}
    assert not store.shared
