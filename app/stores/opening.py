"""From the setting CANDOR_STORE to a backend."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from app.settings import Settings, SettingsError
from app.stores import Store
from app.stores.redis_store import RedisStore, connect
from app.stores.sqlite import Database
from app.stores.sqlite_store import SqliteStore

SQLITE = "sqlite:"
REDIS = ("redis://", "rediss://", "unix://")


def kind_of_store(settings: Settings) -> str:
    """``sqlite`` or ``redis``."""
    return "redis" if settings.store.startswith(REDIS) else "sqlite"


def sqlite_path(settings: Settings) -> Path:
    """The SQLite file: the one named, else candor.sqlite3 in the state folder."""
    named = settings.store.removeprefix(SQLITE)
    return Path(named) if named else Path(settings.state_dir) / "candor.sqlite3"


def open_store(settings: Settings, wall_clock: Callable[[], float] = time.time) -> Store:
    """The backend that CANDOR_STORE names; it is reached when it is first used. Raises SettingsError."""
    if kind_of_store(settings) == "redis":
        try:
            return RedisStore(connect(settings.store, settings.store_timeout_s))
        except ValueError as error:
            raise SettingsError(f"CANDOR_STORE=(secret): {error}") from None
    return SqliteStore(Database(sqlite_path(settings), settings.store_timeout_s), wall_clock)
