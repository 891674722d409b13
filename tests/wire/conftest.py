"""Stores that the wire tests run on: an SQLite file and a Redis server, each real."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import redis

from tests.support.redis_server import redis_server


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    with redis_server() as url:
        yield url


@pytest.fixture(params=["sqlite", "redis"])
def store(request: pytest.FixtureRequest) -> dict[str, str]:
    """Switches that choose the store; both are empty."""
    if request.param == "sqlite":
        return {}
    url: str = request.getfixturevalue("redis_url")
    with redis.Redis.from_url(url) as client:
        client.flushall()
    return {"CANDOR_STORE": url}
