"""One SQLite file, used by many threads of many processes: connections, transactions, schema."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from app.stores import StoreDown
from app.stores.schema import MIGRATIONS, NewerFile, migrate, version_of

MAX_IDLE = 8
"""Connections that are kept: each costs three file descriptors, and few threads are inside at a time."""

JOURNAL_BYTES = 4 << 20
"""To which the log of a file that shrinks is cut back after it was longer."""


class Database:
    """Lends connections to the file at ``path``, which is made (mode 0600) when it is not there.

    Writers of one process queue on a lock of their own, writers of several on SQLite's, at most ``timeout_s``.
    A connection is never used across a fork, nor after its file was replaced. Errors are StoreDown. A new file
    that ``shrinks`` can give free pages back to the disk (SQLite's incremental vacuum).
    """

    def __init__(
        self,
        path: Path,
        timeout_s: float,
        migrations: tuple[tuple[str, ...], ...] = MIGRATIONS,
        *,
        shrinks: bool = False,
    ) -> None:
        self._path = path
        self._timeout_s = timeout_s
        self._migrations = migrations
        self._shrinks = shrinks
        self._idle: list[sqlite3.Connection] = []
        self._inherited: list[list[sqlite3.Connection]] = []
        self._forget()

    def _forget(self) -> None:
        """Start over in this process. What a parent opened is kept unclosed: closing would drop its locks."""
        self._inherited.append(self._idle)
        self._idle = []
        self._pid = os.getpid()
        self._inode = 0
        self._idle_lock = threading.Lock()
        self._write_lock = threading.Lock()

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection for statements that each stand alone."""
        try:
            connection = self._checkout()
            try:
                yield connection
            except BaseException:
                connection.close()
                raise
            self._checkin(connection)
        except NewerFile as error:
            raise StoreDown(str(error)) from None
        except (sqlite3.Error, OSError) as error:
            raise StoreDown(f"{type(error).__name__}: {error}") from error

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A connection inside a write transaction, which commits at the end and rolls back on an exception."""
        if os.getpid() != self._pid:
            self._forget()
        lock = self._write_lock
        if not lock.acquire(timeout=self._timeout_s):
            raise StoreDown("other threads kept the database busy")
        try:
            with self.reading() as connection:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
        finally:
            lock.release()

    def _checkout(self) -> sqlite3.Connection:
        if os.getpid() != self._pid:
            self._forget()
        try:
            inode = os.stat(self._path).st_ino
        except FileNotFoundError:
            inode = 0
        with self._idle_lock:
            if inode == self._inode and self._idle:
                return self._idle.pop()
            stale = self._idle if inode != self._inode else []
            if stale:
                self._idle = []
        for connection in stale:
            connection.close()
        return self._open()

    def _checkin(self, connection: sqlite3.Connection) -> None:
        with self._idle_lock:
            if len(self._idle) < MAX_IDLE:
                self._idle.append(connection)
                return
        connection.close()

    def _open(self) -> sqlite3.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
        connection = sqlite3.connect(
            self._path, timeout=self._timeout_s, isolation_level=None, check_same_thread=False
        )
        try:
            version_of(connection, len(self._migrations))  # before anything is written
            if self._shrinks:
                connection.execute("PRAGMA auto_vacuum = INCREMENTAL")  # has effect on an empty file only
                connection.execute(f"PRAGMA journal_size_limit = {JOURNAL_BYTES}")
            self._use_wal(connection)
            connection.execute("PRAGMA synchronous = NORMAL")
            migrate(connection, self._migrations)
        except BaseException:
            connection.close()
            raise
        self._inode = os.stat(self._path).st_ino
        return connection

    def _use_wal(self, connection: sqlite3.Connection) -> None:
        """Switch the file to write-ahead logging; SQLite does not wait for others there by itself."""
        deadline = time.monotonic() + self._timeout_s
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL").fetchone()
                return
            except sqlite3.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    def close(self) -> None:
        """Close idle connections."""
        if os.getpid() != self._pid:
            self._forget()
        with self._idle_lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()
