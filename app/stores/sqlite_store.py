"""The store of one machine: an SQLite file."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection

from app.stores import Change
from app.stores.sqlite import Database

PURGE_EVERY = 256
"""Updates of this process between two sweeps of what has expired."""

_PUT = (
    'INSERT INTO "values" VALUES (?, ?, ?) '
    "ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires = excluded.expires"
)
_HOLD = (
    "INSERT INTO slots VALUES (?, ?, ?) ON CONFLICT (slots, holder) DO UPDATE SET expires = excluded.expires"
)


class SqliteStore:
    """See Store. ``wall_clock`` gives seconds since the epoch; all processes of a machine have the same."""

    shared = True

    def __init__(self, database: Database, wall_clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._now = wall_clock
        self._updates = 0

    def read(self, keys: Collection[str]) -> dict[str, bytes]:
        """See Store."""
        if not keys:
            return {}
        marks = ",".join("?" * len(keys))
        with self._database.reading() as connection:
            rows = connection.execute(
                f'SELECT key, value FROM "values" WHERE expires > ? AND key IN ({marks})',
                (self._now(), *keys),
            ).fetchall()
        return dict(rows)

    def update(self, key: str, change: Change) -> bytes | None:
        """See Store."""
        now = self._now()
        with self._database.writing() as connection:
            row = connection.execute(
                'SELECT value FROM "values" WHERE key = ? AND expires > ?', (key, now)
            ).fetchone()
            value: bytes | None = row[0] if row else None
            write = change(value)
            if write is None:
                return value
            connection.execute(_PUT, (key, write.value, now + write.ttl_s))
            self._updates += 1
            if self._updates % PURGE_EVERY == 1:
                connection.execute('DELETE FROM "values" WHERE expires <= ?', (now,))
        return write.value

    def delete(self, key: str) -> None:
        """See Store."""
        with self._database.writing() as connection:
            connection.execute('DELETE FROM "values" WHERE key = ?', (key,))

    def take(self, slots: str, holder: str, limit: int, ttl_s: float) -> bool:
        """See Store."""
        now = self._now()
        with self._database.writing() as connection:
            connection.execute("DELETE FROM slots WHERE slots = ? AND expires <= ?", (slots, now))
            others = connection.execute(
                "SELECT count(*) FROM slots WHERE slots = ? AND holder <> ?", (slots, holder)
            ).fetchone()[0]
            if others >= limit:
                return False
            connection.execute(_HOLD, (slots, holder, now + ttl_s))
        return True

    def renew(self, slots: str, holders: Collection[str], ttl_s: float) -> None:
        """See Store."""
        until = self._now() + ttl_s
        with self._database.writing() as connection:
            connection.executemany(_HOLD, [(slots, holder, until) for holder in holders])

    def give(self, slots: str, holder: str) -> None:
        """See Store."""
        with self._database.writing() as connection:
            connection.execute("DELETE FROM slots WHERE slots = ? AND holder = ?", (slots, holder))

    def taken(self, slots: str) -> int:
        """See Store."""
        with self._database.reading() as connection:
            row = connection.execute(
                "SELECT count(*) FROM slots WHERE slots = ? AND expires > ?", (slots, self._now())
            ).fetchone()
        return int(row[0])

    def check(self) -> None:
        """See Store."""
        with self._database.writing() as connection:
            connection.execute(_PUT, ("check", b"", self._now()))

    def close(self) -> None:
        """See Store."""
        self._database.close()
