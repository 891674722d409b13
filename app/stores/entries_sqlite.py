"""Entries in an SQLite file of their own, so that large replies never hold up the small state of the pool.

Rows are in the order they came (``seq``); ``used`` has the counts and bytes by caller, and in all under ''.
Columns that hold the content come last, so that reading the others does not touch its pages.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import orjson

from app.stores.entries import (
    MOST_EVICTED,
    Bounds,
    Entry,
    Evicted,
    Filter,
    Link,
    NoPlace,
    Usage,
    cost_of,
    stem_of,
)
from app.stores.sqlite import Database

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE entries (seq INTEGER PRIMARY KEY AUTOINCREMENT, stem TEXT NOT NULL UNIQUE, "
        "id TEXT NOT NULL, kind TEXT NOT NULL, caller TEXT NOT NULL, model TEXT NOT NULL, "
        "previous_id TEXT, previous_stem TEXT, created REAL NOT NULL, expires REAL NOT NULL, "
        "cost INTEGER NOT NULL, history_bytes INTEGER NOT NULL, metadata TEXT NOT NULL, "
        "history BLOB NOT NULL, shown BLOB NOT NULL)",
        "CREATE INDEX entries_by_caller ON entries (caller)",
        "CREATE INDEX entries_by_kind ON entries (kind, caller)",
        "CREATE INDEX entries_by_expiry ON entries (expires)",
        "CREATE TABLE used (caller TEXT PRIMARY KEY, count INTEGER NOT NULL, bytes INTEGER NOT NULL) "
        "WITHOUT ROWID",
    ),
)
"""See app.stores.schema: a step, once released, never changes; new ones come at the end."""

EVERYBODY = ""
SWEEP = 100
"""Expired entries that one write removes at most."""
SPARE_PAGES = 256
"""Free pages that the file keeps for the next entries; what is beyond goes back to the disk."""
SHRINK_PAGES = 64
"""Pages that one write gives back at most."""
PAGE = 50
"""Entries that a list reads at once."""

_COLUMNS = "id, kind, caller, model, metadata, history, history_bytes, shown, previous_id, created"
_FIND = "stem = ? AND caller = ? AND expires > ?"
_USE = (
    "INSERT INTO used VALUES (?, ?, ?) "
    "ON CONFLICT (caller) DO UPDATE SET count = count + excluded.count, bytes = bytes + excluded.bytes"
)
_WALK = """
WITH RECURSIVE back (depth, seq, previous_stem) AS (
  SELECT 1, seq, previous_stem FROM entries WHERE stem = :stem AND id = :id AND caller = :caller AND expires > :now
  UNION ALL
  SELECT depth + 1, entries.seq, entries.previous_stem FROM back JOIN entries ON entries.stem = back.previous_stem
  WHERE depth < :depth AND entries.caller = :caller AND entries.expires > :now
)
SELECT id, previous_id, history, history_bytes FROM back JOIN entries USING (seq) ORDER BY depth
"""


def entries_path(shared: Path) -> Path:
    """The file beside the one of the shared state: ``candor.sqlite3`` -> ``candor-entries.sqlite3``."""
    return shared.with_name(f"{shared.stem}-entries{shared.suffix}")


class SqliteEntries:
    """See Entries. ``wall_clock`` gives seconds since the epoch."""

    def __init__(
        self, path: Path, timeout_s: float, bounds: Bounds, wall_clock: Callable[[], float] = time.time
    ) -> None:
        self._database = Database(path, timeout_s, MIGRATIONS, shrinks=True)
        self._bounds = bounds
        self._now = wall_clock

    def put(self, entry: Entry) -> Evicted:
        """See Entries."""
        now = self._now()
        with self._database.writing() as connection:
            _sweep(connection, now)
            evicted = self._make_room(connection, entry.caller, entry.cost)
            _insert(connection, entry, now, now + self._bounds.ttl_s)
            _use(connection, entry.caller, 1, entry.cost)
            _shrink(connection)
        return evicted

    def _make_room(
        self, connection: sqlite3.Connection, caller: str, cost: int, keep_seq: int = -1, count: int = 1
    ) -> Evicted:
        """Remove the oldest, but not ``keep_seq``, until ``count`` more entries of ``cost`` bytes fit."""
        bounds = self._bounds
        mine = _Bound("caller = ?", caller, bounds.caller_count - count, bounds.caller_bytes - cost)
        all_together = _Bound("? = ''", EVERYBODY, bounds.total_count - count, bounds.total_bytes - cost)
        return Evicted(_reduce(connection, mine, keep_seq), _reduce(connection, all_together, keep_seq))

    def get(self, caller: str, entry_id: str) -> Entry | None:
        """See Entries."""
        entry = self.of_item(caller, entry_id)
        return entry if entry is not None and entry.id == entry_id else None

    def of_item(self, caller: str, item_id: str) -> Entry | None:
        """See Entries."""
        stem = stem_of(item_id)
        if stem is None:
            return None
        with self._database.reading() as connection:
            row = connection.execute(
                f"SELECT {_COLUMNS} FROM entries WHERE {_FIND}", (stem, caller, self._now())
            ).fetchone()
        return None if row is None else _entry(row)

    def walk(self, caller: str, entry_id: str, depth: int, most_bytes: int) -> list[Link]:
        """See Entries."""
        wanted = {
            "stem": stem_of(entry_id),
            "id": entry_id,
            "caller": caller,
            "depth": depth,
            "now": self._now(),
        }
        links: list[Link] = []
        left = most_bytes
        with self._database.reading() as connection:
            rows = connection.execute(_WALK, wanted)
            for found_id, previous_id, history, history_bytes in rows:
                links.append(Link(found_id, previous_id, history))
                left -= history_bytes
                if left < 0:
                    break
            rows.close()
        return links

    def select(self, caller: str, wanted: Filter) -> Iterator[Entry]:
        """See Entries."""
        at = self._place(caller, wanted)
        order, sign = ("DESC", "<") if wanted.descending else ("ASC", ">")
        start = "" if at is None else f"AND seq {sign} {at}"
        while True:
            with self._database.reading() as connection:
                rows = connection.execute(
                    f"SELECT seq, model, metadata FROM entries WHERE caller = ? AND kind = ? AND expires > ? "
                    f"{start} ORDER BY seq {order} LIMIT {PAGE}",
                    (caller, wanted.kind, self._now()),
                ).fetchall()
            for seq, model, metadata in rows:
                if wanted.takes(model, orjson.loads(metadata)) and (entry := self._at(seq)) is not None:
                    yield entry
            if len(rows) < PAGE:
                return
            start = f"AND seq {sign} {rows[-1][0]}"

    def _place(self, caller: str, wanted: Filter) -> int | None:
        """The ``seq`` to begin after. Raises NoPlace."""
        if wanted.after is None:
            return None
        with self._database.reading() as connection:
            row = connection.execute(
                f"SELECT seq FROM entries WHERE {_FIND} AND id = ? AND kind = ?",
                (stem_of(wanted.after), caller, self._now(), wanted.after, wanted.kind),
            ).fetchone()
        if row is None:
            raise NoPlace
        return int(row[0])

    def _at(self, seq: int) -> Entry | None:
        with self._database.reading() as connection:
            row = connection.execute(f"SELECT {_COLUMNS} FROM entries WHERE seq = ?", (seq,)).fetchone()
        return None if row is None else _entry(row)

    def relabel(self, caller: str, entry_id: str, metadata: Mapping[str, str]) -> Entry | None:
        """See Entries."""
        with self._database.writing() as connection:
            row = connection.execute(
                f"SELECT seq, cost, length(history) + length(shown) FROM entries WHERE {_FIND} AND id = ?",
                (stem_of(entry_id), caller, self._now(), entry_id),
            ).fetchone()
            if row is None:
                return None
            seq, cost, body_bytes = row
            new_cost = cost_of(metadata, body_bytes)
            self._make_room(connection, caller, new_cost - cost, keep_seq=seq, count=0)
            connection.execute(
                "UPDATE entries SET metadata = ?, cost = ? WHERE seq = ?",
                (orjson.dumps(metadata).decode(), new_cost, seq),
            )
            _use(connection, caller, 0, new_cost - cost)
            changed = connection.execute(f"SELECT {_COLUMNS} FROM entries WHERE seq = ?", (seq,)).fetchone()
        return _entry(changed)

    def delete(self, caller: str, entry_id: str) -> bool:
        """See Entries."""
        with self._database.writing() as connection:
            row = connection.execute(
                f"SELECT seq, caller, cost FROM entries WHERE {_FIND} AND id = ?",
                (stem_of(entry_id), caller, self._now(), entry_id),
            ).fetchone()
            if row is None:
                return False
            _remove(connection, *row)
            _shrink(connection)
        return True

    def usage(self, caller: str | None = None) -> Usage:
        """See Entries."""
        with self._database.reading() as connection:
            return Usage(*_used(connection, EVERYBODY if caller is None else caller))

    def check(self) -> None:
        """See Entries."""
        with self._database.writing() as connection:
            _use(connection, EVERYBODY, 0, 0)

    def close(self) -> None:
        """See Entries."""
        self._database.close()


def _entry(row: tuple[str, str, str, str, str, bytes, int, bytes, str | None, float]) -> Entry:
    entry_id, kind, caller, model, metadata, history, history_bytes, shown, previous_id, created = row
    return Entry(
        entry_id,
        "response" if kind == "response" else "completion",
        caller,
        model,
        orjson.loads(metadata),
        history,
        history_bytes,
        shown,
        previous_id,
        created,
    )


def _insert(connection: sqlite3.Connection, entry: Entry, now: float, expires: float) -> None:
    connection.execute(
        "INSERT INTO entries (stem, id, kind, caller, model, previous_id, previous_stem, created, expires, cost, "
        "history_bytes, metadata, history, shown) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            entry.stem,
            entry.id,
            entry.kind,
            entry.caller,
            entry.model,
            entry.previous_id,
            entry.previous_id and stem_of(entry.previous_id),
            now,
            expires,
            entry.cost,
            entry.history_bytes,
            orjson.dumps(entry.metadata).decode(),
            entry.history,
            entry.shown,
        ),
    )


def _used(connection: sqlite3.Connection, caller: str) -> tuple[int, int]:
    """(count, bytes) of a caller, or of everybody."""
    row = connection.execute("SELECT count, bytes FROM used WHERE caller = ?", (caller,)).fetchone()
    return (0, 0) if row is None else (row[0], row[1])


class _Bound(NamedTuple):
    """At most ``most`` entries and ``most_bytes`` may be in use by ``user``, whose entries ``condition`` selects."""

    condition: str
    user: str
    most: int
    most_bytes: int


def _reduce(connection: sqlite3.Connection, bound: _Bound, keep_seq: int) -> int:
    """Remove the oldest, but not ``keep_seq``, until the bound holds; how many went."""
    oldest = (
        f"SELECT seq, caller, cost FROM entries WHERE {bound.condition} AND seq <> ? ORDER BY seq LIMIT 1"
    )
    for gone in range(MOST_EVICTED):
        count, used = _used(connection, bound.user)
        if count <= bound.most and used <= bound.most_bytes:
            return gone
        row = connection.execute(oldest, (bound.user, keep_seq)).fetchone()
        if row is None:
            return gone
        _remove(connection, *row)
    return MOST_EVICTED


def _use(connection: sqlite3.Connection, caller: str, count: int, cost: int) -> None:
    """Book ``count`` more entries and ``cost`` more bytes; a caller without entries leaves no trace."""
    for name in {caller, EVERYBODY}:
        connection.execute(_USE, (name, count, cost))
    if count < 0:
        connection.execute("DELETE FROM used WHERE caller = ? AND count <= 0 AND caller <> ''", (caller,))


def _remove(connection: sqlite3.Connection, seq: int, caller: str, cost: int) -> None:
    connection.execute("DELETE FROM entries WHERE seq = ?", (seq,))
    _use(connection, caller, -1, -cost)


def _sweep(connection: sqlite3.Connection, now: float) -> None:
    rows = connection.execute(
        f"SELECT seq, caller, cost FROM entries WHERE expires <= ? ORDER BY expires LIMIT {SWEEP}", (now,)
    ).fetchall()
    for row in rows:
        _remove(connection, *row)


def _shrink(connection: sqlite3.Connection) -> None:
    """Give free pages back to the disk, a few at a time: a file that was full does not stay so."""
    free = int(connection.execute("PRAGMA freelist_count").fetchone()[0])
    for _ in range(min(free - SPARE_PAGES, SHRINK_PAGES)):
        connection.execute(
            "PRAGMA incremental_vacuum(1)"
        )  # one at a time: the driver runs just one step of it
