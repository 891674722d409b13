"""The SQLite file: schema, versions, damage, and other users of it."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
from pathlib import Path

import pytest

from app.settings import load
from app.stores import StoreDown, Write
from app.stores.opening import open_store, sqlite_path
from app.stores.schema import MIGRATIONS
from app.stores.sqlite import MAX_IDLE, Database
from app.stores.sqlite_store import PURGE_EVERY, SqliteStore


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "candor.sqlite3"


def store_at(path: Path, timeout_s: float = 1.0) -> SqliteStore:
    return SqliteStore(Database(path, timeout_s))


def put(store: SqliteStore, key: str = "a", value: bytes = b"x") -> None:
    store.update(key, lambda _: Write(value, 60))


def test_the_default_file_is_in_the_state_folder() -> None:
    assert sqlite_path(load({"CANDOR_STATE_DIR": "/srv/candor"})) == Path("/srv/candor/candor.sqlite3")
    assert sqlite_path(load({"CANDOR_STORE": "sqlite:/data/x.db"})) == Path("/data/x.db")


def test_the_file_is_for_its_owner_only_and_in_wal_mode(path: Path) -> None:
    put(store_at(path))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert sqlite3.connect(path).execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_file_says_which_schema_it_has(path: Path) -> None:
    put(store_at(path))
    assert sqlite3.connect(path).execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)


def test_an_old_file_is_brought_up_to_date_with_all_that_is_in_it(path: Path) -> None:
    put(store_at(path), value=b"kept")
    later = (*MIGRATIONS, ("CREATE TABLE later (x)",), ('INSERT INTO later SELECT count(*) FROM "values"',))
    store = SqliteStore(Database(path, 1.0, later))
    assert store.read(["a"]) == {"a": b"kept"}
    assert sqlite3.connect(path).execute("SELECT x FROM later").fetchall() == [(1,)]


def test_a_migration_that_fails_leaves_the_file_as_it_was(path: Path) -> None:
    put(store_at(path), value=b"kept")
    broken = (*MIGRATIONS, ("CREATE TABLE later (x)", "NOT SQL"))
    with pytest.raises(StoreDown, match="syntax error"):
        SqliteStore(Database(path, 1.0, broken)).read(["a"])
    assert store_at(path).read(["a"]) == {"a": b"kept"}


def test_a_newer_file_is_left_byte_for_byte_as_it_is(path: Path) -> None:
    path.parent.mkdir()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE future (x)")
    connection.execute("PRAGMA user_version = 99")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreDown, match="schema version 99"):
        put(store_at(path))
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_left_as_it_is(path: Path) -> None:
    path.parent.mkdir()
    path.write_text("an operator's notes, which are long enough to be no header of a database\n" * 50)
    before = path.read_bytes()
    with pytest.raises(StoreDown, match="not a database"):
        put(store_at(path))
    assert path.read_bytes() == before


def test_many_first_users_make_one_schema(path: Path) -> None:
    problems: list[BaseException] = []

    def first(number: int) -> None:
        try:
            put(store_at(path, 5), f"k{number}")
        except StoreDown as error:
            problems.append(error)

    threads = [threading.Thread(target=first, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert problems == []
    assert len(store_at(path).read([f"k{number}" for number in range(12)])) == 12


def test_a_file_that_somebody_locks_is_down_after_the_timeout(path: Path) -> None:
    store = store_at(path, 0.1)
    put(store)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreDown, match="locked"):
        put(store, value=b"y")
    assert store.read(["a"]) == {"a": b"x"}, "readers do not wait for writers"
    other.execute("ROLLBACK")
    put(store, value=b"y")


def test_a_file_that_was_removed_is_made_again(path: Path) -> None:
    store = store_at(path)
    put(store)
    for name in os.listdir(path.parent):
        (path.parent / name).unlink()
    put(store, "b")
    assert store_at(path).read(["a", "b"]) == {"b": b"x"}


def test_a_change_that_raises_writes_nothing_and_locks_nobody_out(path: Path) -> None:
    store = store_at(path)
    put(store)

    def explode(value: bytes | None) -> Write:
        raise RuntimeError("boom")

    with pytest.raises(RuntimeError, match="boom"):
        store.update("a", explode)
    put(store, value=b"after")
    assert store.read(["a"]) == {"a": b"after"}


def test_what_expired_is_swept_out(path: Path) -> None:
    now = [1000.0]
    store = SqliteStore(Database(path, 1.0), lambda: now[0])
    put(store, "old")
    now[0] += 61
    for _ in range(PURGE_EVERY):
        put(store, "new")
    assert sqlite3.connect(path).execute('SELECT key FROM "values"').fetchall() == [("new",)]


def test_few_connections_stay_open_however_many_threads_come(path: Path) -> None:
    store = store_at(path, 10)
    put(store)
    threads = [threading.Thread(target=store.read, args=(["a"],)) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    held = [name for name in os.listdir("/proc/self/fd") if _target(name) == str(path)]
    assert 1 <= len(held) <= MAX_IDLE
    store.close()
    assert [name for name in os.listdir("/proc/self/fd") if _target(name) == str(path)] == []


def _target(descriptor: str) -> str:
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return ""


def test_a_bad_address_stops_start_up_without_quoting_it() -> None:
    from app.settings import SettingsError

    with pytest.raises(SettingsError, match=r"CANDOR_STORE=\(secret\): must be sqlite:PATH"):
        load({"CANDOR_STORE": "mysql://user:hunter2@db"})
    with pytest.raises(SettingsError, match="cannot be read") as caught:
        open_store(load({"CANDOR_STORE": "redis://:hunter2@db:notaport/0"}))
    assert "hunter2" not in str(caught.value)
