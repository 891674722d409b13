"""State that worker processes share: one small interface, and the backends behind it.

``sqlite_store`` serves the workers of one machine, ``redis_store`` those of many; ``memory`` is per process.
``resilient`` wraps a backend so that its absence fails nobody. Parts that keep larger things (stored replies)
build on ``sqlite.Database`` and ``redis_store.connect`` with tables and keys of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple, Protocol


class StoreDown(Exception):
    """The backend cannot be used now. The text says why and holds no secret."""


class Write(NamedTuple):
    """What an update stores, and for how many seconds."""

    value: bytes
    ttl_s: float


Change = Callable[[bytes | None], Write | None]
"""A pure function from the stored value (None: there is none) to the next; None leaves it as it is.

It may be called more than once for one update, and again later on another value.
"""


class Store(Protocol):
    """Values with a time to live, and slots: places of which only so many are given out at a time.

    Every method may raise StoreDown. Times are seconds.
    """

    @property
    def shared(self) -> bool:
        """Whether other processes see the same."""

    def read(self, keys: Collection[str]) -> dict[str, bytes]:
        """The values of those ``keys`` that have one."""

    def update(self, key: str, change: Change) -> bytes | None:
        """Apply ``change`` atomically; the value that is stored afterwards."""

    def delete(self, key: str) -> None:
        """Forget ``key``."""

    def take(self, slots: str, holder: str, limit: int, ttl_s: float) -> bool:
        """Give one of ``limit`` slots to ``holder`` for ``ttl_s``; false when all are taken.

        A holder that already has one keeps it. Slots whose time is over are free.
        """

    def renew(self, slots: str, holders: Collection[str], ttl_s: float) -> None:
        """Let ``holders`` keep theirs for another ``ttl_s``; one that the store lost is entered again."""

    def give(self, slots: str, holder: str) -> None:
        """Free the slot of ``holder``, if it has one."""

    def taken(self, slots: str) -> int:
        """How many slots are held."""

    def check(self) -> None:
        """Raise StoreDown unless the backend takes reads and writes."""

    def close(self) -> None:
        """Close idle connections."""
