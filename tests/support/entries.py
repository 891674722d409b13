"""Kept entries for the tests of their stores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from app.stores.entries import Bounds, Entries, Entry
from app.stores.entries_redis import RedisEntries
from app.stores.entries_sqlite import SqliteEntries
from app.stores.redis_store import connect

ROOMY = Bounds(1 << 20, 1 << 24, 10_000, 1 << 25, 20_000, ttl_s=100.0)
Opener = Callable[[Bounds], Entries]


class Clock:
    """Seconds that a test moves."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def entries_at(address: str, bounds: Bounds, clock: Callable[[], float]) -> Entries:
    if address.startswith("sqlite:"):
        return SqliteEntries(Path(address.removeprefix("sqlite:")), 5, bounds, clock)
    return RedisEntries(connect(address, 5), bounds, clock)


def id_of(number: int, prefix: str = "resp_") -> str:
    return f"{prefix}{number:032x}{'0' * 16}"


def entry(number: int, caller: str = "ann", **more: object) -> Entry:
    fields: dict[str, object] = {
        "id": id_of(number),
        "kind": "response",
        "caller": caller,
        "model": "m",
        "metadata": {},
        "history": b"h" * 10,
        "history_bytes": 20,
        "shown": b"s" * 5,
        **more,
    }
    return Entry(**fields)  # type: ignore[arg-type]


def ids(found: Iterator[Entry]) -> list[str]:
    return [each.id for each in found]
