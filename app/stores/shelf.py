"""Where surfaces keep replies: a backend of entries whose bounds and outages never fail a turn."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import TypeVar

from app.logs import EventLog
from app.metrics import Metrics
from app.settings import Settings, SettingsError
from app.stores import StoreDown
from app.stores.entries import Bounds, Entries, Entry, Filter, Kind, Link
from app.stores.entries_redis import RedisEntries
from app.stores.entries_sqlite import SqliteEntries, entries_path
from app.stores.opening import kind_of_store, sqlite_path
from app.stores.redis_store import connect

T = TypeVar("T")


class Shelf:
    """Keeps entries and finds them again.

    While the backend is down nothing is kept and reading raises StoreDown at once; a thread finds out when it is
    back, not a turn. An outage is one warning and one count.
    """

    def __init__(
        self,
        entries: Entries,
        bounds: Bounds,
        log: EventLog,
        metrics: Metrics,
        *,
        retry_s: float,
        chain: int,
        history_bytes: int,
        wait: Callable[[float], object] | None = None,
    ) -> None:
        self._entries = entries
        self._bounds = bounds
        self._log = log
        self._metrics = metrics
        self._retry_s = retry_s
        self._wait = wait or threading.Event().wait
        self._lock = threading.Lock()
        self.chain = chain
        self.history_bytes = history_bytes
        self.down = False

    def takes(self, kind: Kind) -> bool:
        """Whether anything can be kept now; a no is counted as a reply that was not kept."""
        if self.down:
            self._metrics.entries_not_stored.labels(kind, "store_down").inc()
        return not self.down

    def keep(self, entry: Entry) -> bool:
        """Keep ``entry``; false when a bound or the backend does not let it, which is counted."""
        if self.down:
            return self._not_kept(entry, "store_down")
        if not self._bounds.can_hold(entry.cost):
            return self._not_kept(entry, "too_large")
        try:
            evicted = self._entries.put(entry)
        except StoreDown as error:
            self._lost(error)
            return self._not_kept(entry, "store_down")
        self._metrics.entries_stored.labels(entry.kind).inc()
        if evicted.by_caller:
            self._metrics.entries_evicted.labels("caller").inc(evicted.by_caller)
        if evicted.by_total:
            self._metrics.entries_evicted.labels("total").inc(evicted.by_total)
        return True

    def _not_kept(self, entry: Entry, reason: str) -> bool:
        self._metrics.entries_not_stored.labels(entry.kind, reason).inc()
        return False

    def get(self, caller: str, entry_id: str) -> Entry | None:
        """The caller's entry by its id. Raises StoreDown."""
        return self._attempt(lambda: self._entries.get(caller, entry_id))

    def of_item(self, caller: str, item_id: str) -> Entry | None:
        """The caller's entry that an item with this id would be in. Raises StoreDown."""
        return self._attempt(lambda: self._entries.of_item(caller, item_id))

    def walk(self, caller: str, entry_id: str) -> list[Link]:
        """An entry and those before it, newest first, within the bounds of a chain. Raises StoreDown."""
        return self._attempt(lambda: self._entries.walk(caller, entry_id, self.chain, self.history_bytes))

    def select(self, caller: str, wanted: Filter, most: int) -> list[Entry]:
        """The first ``most`` entries of a list. Raises StoreDown and NoPlace."""

        def read() -> list[Entry]:
            found: Iterator[Entry] = self._entries.select(caller, wanted)
            return list(islice(found, most))

        return self._attempt(read)

    def relabel(self, caller: str, entry_id: str, metadata: Mapping[str, str]) -> Entry | None:
        """Put ``metadata`` in place of the entry's own. Raises StoreDown."""
        return self._attempt(lambda: self._entries.relabel(caller, entry_id, metadata))

    def delete(self, caller: str, entry_id: str) -> bool:
        """Forget an entry; whether there was one. Raises StoreDown."""
        return self._attempt(lambda: self._entries.delete(caller, entry_id))

    def close(self) -> None:
        """Close idle connections."""
        self._entries.close()

    def _attempt(self, action: Callable[[], T]) -> T:
        if self.down:
            raise StoreDown("it was down a moment ago")
        try:
            return action()
        except StoreDown as error:
            self._lost(error)
            raise

    def _lost(self, error: StoreDown) -> None:
        with self._lock:
            if self.down:
                return
            self.down = True
        self._metrics.entry_outages.inc()
        self._log.warning(
            "entries_down", problem=str(error), consequence="no reply is kept until the store is back"
        )
        threading.Thread(target=self._await_return, name="entries-return", daemon=True).start()

    def _await_return(self) -> None:
        while True:
            self._wait(self._retry_s)
            try:
                self._entries.check()
            except StoreDown:
                continue
            self.down = False
            self._log.info("entries_back")
            return


def bounds_of(settings: Settings) -> Bounds:
    """The bounds that the switches name."""
    return Bounds(
        entry_bytes=settings.stored_entry_kb << 10,
        caller_bytes=settings.stored_caller_mb << 20,
        caller_count=settings.stored_caller_count,
        total_bytes=settings.stored_total_mb << 20,
        total_count=settings.stored_total_count,
        ttl_s=settings.stored_ttl_s,
    )


def open_shelf(
    settings: Settings, log: EventLog, metrics: Metrics, now: Callable[[], float] | None = None
) -> Shelf | None:
    """The shelf of an app, None when nothing is to be kept; it is reached when it is first used.

    Raises SettingsError.
    """
    if not settings.store_responses:
        return None
    bounds, now = bounds_of(settings), now or _wall_clock
    entries: Entries
    if kind_of_store(settings) == "redis":
        try:
            client = connect(settings.store, settings.store_timeout_s)
        except ValueError as error:
            raise SettingsError(f"CANDOR_STORE=(secret): {error}") from None
        entries = RedisEntries(client, bounds, now)
    else:
        path = entries_path(sqlite_path(settings))
        entries = SqliteEntries(path, settings.store_timeout_s, bounds, now)
    return Shelf(
        entries,
        bounds,
        log,
        metrics,
        retry_s=settings.store_retry_s,
        chain=settings.stored_chain,
        history_bytes=settings.max_body_mb << 20,
    )


def _wall_clock() -> float:
    """Looked up at each call, so that what stands in for the clock later is used."""
    return time.time()
