"""The store of many machines: a Redis or Valkey server, whose clock is the one clock."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Collection, Iterator
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from app.stores import Change, StoreDown

PREFIX = "candor:1:"
"""Before every key; the number is the version of what the keys hold."""
MAX_CONNECTIONS = 32
MAX_ATTEMPTS = 100
"""Tries of one update before a store under such a storm counts as down."""

_NOW = "local t = redis.call('TIME') local now = t[1] * 1000 + math.floor(t[2] / 1000) "
_SWAP = """
local current = redis.call('GET', KEYS[1])
if (current or '') ~= ARGV[1] or (not current) ~= (ARGV[2] == '0') then return 0 end
redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4])
return 1
"""
_LAST = """
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[1]) then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
"""
"""A key lasts as long as the last of its slots."""
_TAKE = (
    _NOW
    + """
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if not redis.call('ZSCORE', KEYS[1], ARGV[2]) and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[3]) then
  return 0
end
redis.call('ZADD', KEYS[1], now + ARGV[1], ARGV[2])
"""
    + _LAST
    + "return 1"
)
_RENEW = (
    _NOW
    + """
for i = 2, #ARGV do redis.call('ZADD', KEYS[1], now + ARGV[1], ARGV[i]) end
"""
    + _LAST
)
_TAKEN = _NOW + "return redis.call('ZCOUNT', KEYS[1], '(' .. now, '+inf')"


def connect(url: str, timeout_s: float) -> redis.Redis:
    """A client whose pool threads share and forks do not; it connects when it is first used.

    Raises ValueError for a URL that cannot be meant, without quoting it: it may hold a password.
    """
    try:
        pool = redis.BlockingConnectionPool.from_url(
            url,
            max_connections=MAX_CONNECTIONS,
            timeout=timeout_s,
            socket_timeout=timeout_s,
            socket_connect_timeout=timeout_s,
            retry=Retry(NoBackoff(), 1),
        )
    except (ValueError, TypeError):
        raise ValueError("the redis:// address cannot be read") from None
    return redis.Redis(connection_pool=pool)


@contextlib.contextmanager
def failing_as_store_down() -> Iterator[None]:
    """Turn what the client raises into StoreDown."""
    try:
        yield
    except (redis.RedisError, OSError) as error:
        raise StoreDown(f"{type(error).__name__}: {error}") from error


class RedisStore:
    """See Store. Updates compare and swap in a script; slots are sorted sets by the time of expiry."""

    shared = True

    def __init__(self, client: redis.Redis) -> None:
        self._client = client
        self._swap: Any = client.register_script(_SWAP)
        self._take: Any = client.register_script(_TAKE)
        self._renew: Any = client.register_script(_RENEW)
        self._taken: Any = client.register_script(_TAKEN)

    def read(self, keys: Collection[str]) -> dict[str, bytes]:
        """See Store."""
        if not keys:
            return {}
        with failing_as_store_down():
            values: Any = self._client.mget([_value(key) for key in keys])
        return {key: value for key, value in zip(keys, values, strict=True) if value is not None}

    def update(self, key: str, change: Change) -> bytes | None:
        """See Store."""
        with failing_as_store_down():
            for attempt in range(MAX_ATTEMPTS):
                value: Any = self._client.get(_value(key))
                write = change(value)
                if write is None:
                    return value  # type: ignore[no-any-return]  # bytes: no decoding was asked for
                arguments = [value or b"", "0" if value is None else "1", write.value, _ms(write.ttl_s)]
                if self._swap(keys=[_value(key)], args=arguments):
                    return write.value
                time.sleep(random.random() * 0.001 * min(attempt, 10))
        raise StoreDown(f"{MAX_ATTEMPTS} updates of one key were overtaken")

    def delete(self, key: str) -> None:
        """See Store."""
        with failing_as_store_down():
            self._client.delete(_value(key))

    def take(self, slots: str, holder: str, limit: int, ttl_s: float) -> bool:
        """See Store."""
        with failing_as_store_down():
            return bool(self._take(keys=[_slots(slots)], args=[_ms(ttl_s), holder, limit]))

    def renew(self, slots: str, holders: Collection[str], ttl_s: float) -> None:
        """See Store."""
        with failing_as_store_down():
            self._renew(keys=[_slots(slots)], args=[_ms(ttl_s), *holders])

    def give(self, slots: str, holder: str) -> None:
        """See Store."""
        with failing_as_store_down():
            self._client.zrem(_slots(slots), holder)

    def taken(self, slots: str) -> int:
        """See Store."""
        with failing_as_store_down():
            return int(self._taken(keys=[_slots(slots)]))

    def check(self) -> None:
        """See Store."""
        with failing_as_store_down():
            self._client.set(f"{PREFIX}check", b"", px=1000)

    def close(self) -> None:
        """See Store."""
        self._client.connection_pool.disconnect()


def _value(key: str) -> str:
    return f"{PREFIX}value:{key}"


def _slots(slots: str) -> str:
    return f"{PREFIX}slots:{slots}"


def _ms(seconds: float) -> int:
    return max(1, round(seconds * 1000))
