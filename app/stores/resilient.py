"""A store that never fails: while its backend is down, this process goes on by itself."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Collection

from app.logs import EventLog
from app.metrics import Metrics
from app.stores import Change, Store, StoreDown
from app.stores.memory import MemoryStore

MAX_JOURNAL = 1000
"""Updates of an outage that are kept to be repeated on the backend; beyond that the oldest go."""
MIRROR_S = 86_400.0
"""How long a value that was read may stand in for the backend's own."""


class ResilientStore:
    """See Store; no method raises StoreDown.

    What passes through is mirrored in memory, so that an outage starts from the last known state. Updates made
    meanwhile are repeated on the backend when it is back, which a thread finds out, not a turn. An outage is
    one warning and one count.
    """

    def __init__(
        self,
        backend: Store,
        memory: MemoryStore,
        log: EventLog,
        metrics: Metrics,
        retry_s: float,
        wait: Callable[[float], object] | None = None,
    ) -> None:
        self._backend = backend
        self._memory = memory
        self._log = log
        self._metrics = metrics
        self._retry_s = retry_s
        self._wait = wait or threading.Event().wait
        self._lock = threading.Lock()
        self._journal: deque[tuple[str, Change]] = deque(maxlen=MAX_JOURNAL)
        self.down = False

    @property
    def shared(self) -> bool:
        """See Store: not during an outage."""
        return not self.down

    def read(self, keys: Collection[str]) -> dict[str, bytes]:
        """See Store."""
        if not self.down:
            try:
                values = self._backend.read(keys)
            except StoreDown as error:
                self._lost(error)
            else:
                for key in keys:
                    self._memory.mirror(key, values.get(key), MIRROR_S)
                return values
        return self._memory.read(keys)

    def update(self, key: str, change: Change) -> bytes | None:
        """See Store."""
        if not self.down:
            try:
                value = self._backend.update(key, change)
            except StoreDown as error:
                self._lost(error)
            else:
                self._memory.mirror(key, value, MIRROR_S)
                return value
        with self._lock:
            self._journal.append((key, change))
        return self._memory.update(key, change)

    def delete(self, key: str) -> None:
        """See Store."""
        self._memory.delete(key)
        self._attempt(lambda: self._backend.delete(key))

    def take(self, slots: str, holder: str, limit: int, ttl_s: float) -> bool:
        """See Store. During an outage every process gives out ``limit`` of its own."""
        if not self.down:
            try:
                taken = self._backend.take(slots, holder, limit, ttl_s)
            except StoreDown as error:
                self._lost(error)
            else:
                if taken:
                    self._memory.renew(slots, (holder,), ttl_s)
                return taken
        return self._memory.take(slots, holder, limit, ttl_s)

    def renew(self, slots: str, holders: Collection[str], ttl_s: float) -> None:
        """See Store."""
        self._memory.renew(slots, holders, ttl_s)
        self._attempt(lambda: self._backend.renew(slots, holders, ttl_s))

    def give(self, slots: str, holder: str) -> None:
        """See Store. What the backend could not hear expires there."""
        self._memory.give(slots, holder)
        self._attempt(lambda: self._backend.give(slots, holder))

    def taken(self, slots: str) -> int:
        """See Store."""
        if not self.down:
            try:
                return self._backend.taken(slots)
            except StoreDown as error:
                self._lost(error)
        return self._memory.taken(slots)

    def check(self) -> None:
        """See Store; always holds."""

    def close(self) -> None:
        """See Store."""
        self._backend.close()

    def _attempt(self, action: Callable[[], None]) -> None:
        if not self.down:
            try:
                action()
            except StoreDown as error:
                self._lost(error)

    def _lost(self, error: StoreDown) -> None:
        with self._lock:
            if self.down:
                return
            self.down = True
        self._metrics.store_outages.inc()
        self._metrics.store_down.set(1)
        self._log.warning(
            "store_down", problem=str(error), consequence="state is per process until the store is back"
        )
        threading.Thread(target=self._await_return, name="store-return", daemon=True).start()

    def _await_return(self) -> None:
        while True:
            self._wait(self._retry_s)
            try:
                self._backend.check()
                if self._replay():
                    break
            except StoreDown:
                continue
        self._metrics.store_down.set(0)
        self._log.info("store_back")

    def _replay(self) -> bool:
        """Repeat what was updated meanwhile; true once nothing is left and the backend is in use again."""
        while True:
            with self._lock:
                if not self._journal:
                    self.down = False
                    return True
                key, change = self._journal[0]
            self._backend.update(key, change)
            with self._lock:
                if self._journal and self._journal[0][1] is change:
                    self._journal.popleft()
