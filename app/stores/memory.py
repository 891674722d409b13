"""A store inside one process: the ground that is left when a shared one is down."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection

from app.stores import Change


class MemoryStore:
    """See Store. ``wall_clock`` gives seconds since the epoch."""

    shared = False

    def __init__(self, wall_clock: Callable[[], float] = time.time) -> None:
        self._now = wall_clock
        self._lock = threading.Lock()
        self._values: dict[str, tuple[bytes, float]] = {}
        self._slots: dict[str, dict[str, float]] = {}

    def read(self, keys: Collection[str]) -> dict[str, bytes]:
        """See Store."""
        now = self._now()
        with self._lock:
            found = {key: self._values[key] for key in keys if key in self._values}
        return {key: value for key, (value, expires) in found.items() if expires > now}

    def update(self, key: str, change: Change) -> bytes | None:
        """See Store."""
        now = self._now()
        with self._lock:
            value, expires = self._values.get(key, (None, 0.0))
            if expires <= now:
                value = None
            write = change(value)
            if write is None:
                return value
            self._values[key] = (write.value, now + write.ttl_s)
            return write.value

    def mirror(self, key: str, value: bytes | None, ttl_s: float) -> None:
        """Hold ``value`` as it was seen elsewhere."""
        with self._lock:
            if value is None:
                self._values.pop(key, None)
            else:
                self._values[key] = (value, self._now() + ttl_s)

    def delete(self, key: str) -> None:
        """See Store."""
        with self._lock:
            self._values.pop(key, None)

    def take(self, slots: str, holder: str, limit: int, ttl_s: float) -> bool:
        """See Store."""
        with self._lock:
            held = self._held(slots)
            if holder not in held and len(held) >= limit:
                return False
            held[holder] = self._now() + ttl_s
            return True

    def renew(self, slots: str, holders: Collection[str], ttl_s: float) -> None:
        """See Store."""
        with self._lock:
            self._held(slots).update(dict.fromkeys(holders, self._now() + ttl_s))

    def give(self, slots: str, holder: str) -> None:
        """See Store."""
        with self._lock:
            held = self._slots.get(slots, {})
            held.pop(holder, None)
            if not held:
                self._slots.pop(slots, None)

    def taken(self, slots: str) -> int:
        """See Store."""
        with self._lock:
            return len(self._held(slots))

    def _held(self, slots: str) -> dict[str, float]:
        now = self._now()
        held = {holder: until for holder, until in self._slots.get(slots, {}).items() if until > now}
        self._slots[slots] = held
        return held

    def check(self) -> None:
        """See Store; always there."""

    def close(self) -> None:
        """See Store; nothing to close."""
