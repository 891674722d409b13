"""The SQLite file of kept replies: its schema, its versions and its size."""

from __future__ import annotations

import os
import random
import sqlite3
import stat
from pathlib import Path

import pytest

from app.stores import StoreDown
from app.stores.entries import Bounds, Entry, Usage
from app.stores.entries_sqlite import MIGRATIONS, SPARE_PAGES, SqliteEntries, entries_path
from app.stores.sqlite import JOURNAL_BYTES, Database

PAGE_BYTES = 4096
MIB = 1 << 20


def bounds(total_mb: int = 4, count: int = 100_000, ttl_s: float = 1000.0) -> Bounds:
    return Bounds(MIB, total_mb * MIB, count, total_mb * MIB, count, ttl_s)


def entry(number: int, size: int = 10) -> Entry:
    stem = f"resp_{number:032x}{'0' * 16}"
    return Entry(stem, "response", "ann", "m", {}, os.urandom(size // 2), size, os.urandom(size - size // 2))


def size_on_disk(path: Path) -> int:
    return sum(each.stat().st_size for each in path.parent.iterdir())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "candor-entries.sqlite3"


def test_the_file_lies_beside_the_one_of_the_shared_state() -> None:
    assert entries_path(Path("/srv/var/candor.sqlite3")) == Path("/srv/var/candor-entries.sqlite3")
    assert entries_path(Path("state.db")) == Path("state-entries.db")


def test_the_file_is_its_owners_and_says_its_version(path: Path) -> None:
    SqliteEntries(path, 1, bounds()).put(entry(1))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert connection.execute("PRAGMA auto_vacuum").fetchone() == (2,)


def test_an_older_file_is_brought_forward_with_all_that_is_in_it(path: Path) -> None:
    SqliteEntries(path, 1, bounds()).put(entry(1))
    later = (*MIGRATIONS, ("ALTER TABLE entries ADD COLUMN colour TEXT",))
    with Database(path, 1, later, shrinks=True).reading() as connection:
        assert connection.execute("SELECT id, colour FROM entries").fetchall() == [(entry(1).id, None)]
    with pytest.raises(StoreDown, match="schema version 2, this Candor knows 1"):
        SqliteEntries(path, 1, bounds()).put(entry(2))
    with Database(path, 1, later, shrinks=True).reading() as connection:
        assert connection.execute("SELECT count(*) FROM entries").fetchone() == (1,)


def test_a_newer_file_is_left_byte_for_byte_as_it_is(path: Path) -> None:
    path.parent.mkdir()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE future (x)")
    connection.execute("PRAGMA user_version = 99")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreDown, match="schema version 99"):
        SqliteEntries(path, 1, bounds()).put(entry(1))
    assert path.read_bytes() == before


@pytest.mark.parametrize("sizes", [(200, 900), (2100, 2300), (100, 60_000), (4100, 4300)])
def test_the_file_stays_within_the_bound_after_churn(path: Path, sizes: tuple[int, int]) -> None:
    entries = SqliteEntries(path, 5, bounds(total_mb=2))
    pick = random.Random(7)
    for number in range(3000):
        entries.put(entry(number, pick.randint(*sizes)))
        if number % 7 == 0 and number > 300:
            entries.delete("ann", entry(number - pick.randint(1, 300)).id)
    assert 1 * MIB < entries.usage().bytes <= 2 * MIB
    assert path.stat().st_size <= 2 * MIB + SPARE_PAGES * PAGE_BYTES
    assert size_on_disk(path) <= 2 * MIB + SPARE_PAGES * PAGE_BYTES + JOURNAL_BYTES + PAGE_BYTES * 64
    entries.close()


def test_a_file_that_was_full_gives_its_pages_back(path: Path) -> None:
    now = [1000.0]
    entries = SqliteEntries(path, 5, bounds(total_mb=8, ttl_s=100), lambda: now[0])
    for number in range(700):
        entries.put(entry(number, 8000))
    assert path.stat().st_size > 5 * MIB
    now[0] += 101
    for number in range(1000, 1040):
        entries.put(entry(number))
    assert entries.usage() == Usage(40, 40 * entry(1).cost)
    with entries._database.writing() as connection:
        assert connection.execute("PRAGMA freelist_count").fetchone()[0] <= SPARE_PAGES
    entries.close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    assert path.stat().st_size <= (SPARE_PAGES + 100) * PAGE_BYTES


def test_the_books_agree_with_what_is_there(path: Path) -> None:
    entries = SqliteEntries(path, 5, bounds(total_mb=1, count=50))
    for number in range(300):
        entries.put(entry(number, 100 + number))
        if number % 5 == 0:
            entries.delete("ann", entry(number - 1).id)
    connection = sqlite3.connect(path)
    count, used = connection.execute("SELECT count(*), sum(cost) FROM entries").fetchone()
    assert entries.usage() == entries.usage("ann") == Usage(count, used)
    assert (
        used
        == connection.execute(
            "SELECT sum(length(history) + length(shown) + length(metadata) + 2048) FROM entries"
        ).fetchone()[0]
    )
    entries.close()
