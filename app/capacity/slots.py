"""Slots that this process holds, kept alive by a heartbeat so that those of a dead process come free."""

from __future__ import annotations

import os
import secrets
import threading
from collections import defaultdict

from app.stores import Store


class SlotKeeper:
    """Takes and frees slots of the store. A thread renews what is held; it ends when nothing is."""

    def __init__(self, store: Store, ttl_s: float) -> None:
        self._store = store
        self._ttl_s = ttl_s
        self._start_over()

    def _start_over(self) -> None:
        """Begin with nothing held; also in a fork, whose parent keeps what it holds."""
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._held: set[tuple[str, str]] = set()
        self._beating = False

    def take(self, slots: str, limit: int) -> str | None:
        """The holder's name for one of ``limit`` slots; None when all are taken."""
        if os.getpid() != self._pid:
            self._start_over()
        holder = secrets.token_hex(8)
        if not self._store.take(slots, holder, limit, self._ttl_s):
            return None
        with self._lock:
            self._held.add((slots, holder))
            if not self._beating:
                self._beating = True
                threading.Thread(target=self._beat, name="slot-heartbeat", daemon=True).start()
        return holder

    def give(self, slots: str, holder: str) -> None:
        """Free a slot; a second time changes nothing."""
        with self._lock:
            if (slots, holder) not in self._held:
                return
            self._held.remove((slots, holder))
        self._store.give(slots, holder)

    @property
    def held(self) -> int:
        """How many slots this process holds."""
        return len(self._held)

    def _beat(self) -> None:
        pause = threading.Event()
        while True:
            pause.wait(self._ttl_s / 3)
            with self._lock:
                if not self._held:
                    self._beating = False
                    return
                held = set(self._held)
            self._renew(held)

    def _renew(self, held: set[tuple[str, str]]) -> None:
        by_slots: dict[str, list[str]] = defaultdict(list)
        for slots, holder in held:
            by_slots[slots].append(holder)
        for slots, holders in by_slots.items():
            self._store.renew(slots, holders, self._ttl_s)
        with self._lock:
            freed_meanwhile = held - self._held
        for slots, holder in freed_meanwhile:
            self._store.give(slots, holder)
