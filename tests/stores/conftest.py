"""Both backends, each real: an SQLite file and a Redis server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.settings import load
from app.stores import Store
from app.stores.entries import Bounds, Entries
from app.stores.opening import open_store
from tests.support.entries import ROOMY, Clock, Opener, entries_at
from tests.support.redis_server import redis_server


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    with redis_server() as url:
        yield url


@pytest.fixture(params=["sqlite", "redis"])
def store_address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A value for CANDOR_STORE: an empty backend."""
    if request.param == "sqlite":
        return f"sqlite:{tmp_path}/candor.sqlite3"
    url: str = request.getfixturevalue("redis_url")
    import redis

    client = redis.Redis.from_url(url)
    client.flushall()
    client.close()
    return url


@pytest.fixture
def open_again(store_address: str) -> Iterator[Callable[[], Store]]:
    """Another store object on the same backend, as another process has one."""
    opened: list[Store] = []

    def another() -> Store:
        opened.append(open_store(load({"CANDOR_STORE": store_address, "CANDOR_STORE_TIMEOUT_S": "5"})))
        return opened[-1]

    yield another
    for store in opened:
        store.close()


@pytest.fixture
def store(open_again: Callable[[], Store]) -> Store:
    return open_again()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def opened(store_address: str, clock: Clock) -> Iterator[Opener]:
    """Open the backend with the given bounds; again is another process's view of it."""
    made: list[Entries] = []

    def open_with(bounds: Bounds) -> Entries:
        made.append(entries_at(store_address, bounds, clock))
        return made[-1]

    yield open_with
    for entries in made:
        entries.close()


@pytest.fixture
def entries(opened: Opener) -> Entries:
    return opened(ROOMY)
