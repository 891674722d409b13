"""The SQLite schema: a list of steps forward, counted in the file's ``user_version``.

A step, once released, never changes; new tables come as new steps at the end. A file that is ahead of this list
was made by a newer Candor and is left alone.
"""

from __future__ import annotations

import sqlite3

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        'CREATE TABLE "values" (key TEXT PRIMARY KEY, value BLOB NOT NULL, expires REAL NOT NULL) WITHOUT ROWID',
        'CREATE INDEX values_by_expiry ON "values" (expires)',
        "CREATE TABLE slots (slots TEXT, holder TEXT, expires REAL NOT NULL, PRIMARY KEY (slots, holder)) "
        "WITHOUT ROWID",
    ),
)
"""Step n takes a file from version n to n + 1."""


class NewerFile(Exception):
    """The file was made by a newer version; the text says so."""


def migrate(connection: sqlite3.Connection, migrations: tuple[tuple[str, ...], ...] = MIGRATIONS) -> None:
    """Bring the file up to date in one transaction; several processes may do so at once. Raises NewerFile."""
    if version_of(connection, len(migrations)) == len(migrations):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        for step in migrations[version_of(connection, len(migrations)) :]:
            for statement in step:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {len(migrations)}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def version_of(connection: sqlite3.Connection, newest: int) -> int:
    """The version of the file. Raises NewerFile when it is beyond ``newest``."""
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > newest:
        raise NewerFile(
            f"the file has schema version {version}, this Candor knows {newest}: it is left as it is"
        )
    return version
