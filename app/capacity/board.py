"""The conditions of all tokens as every worker sees them: kept in the store, read at most every so often."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from app.capacity.condition import HEALTHY, Condition, decoded
from app.capacity.tokens import Token, TokenSet, TokenSource
from app.stores import Store, Write

KEPT_S = 30 * 86_400.0
"""How long the store keeps the condition of a token from which nothing more is heard."""


@dataclass(frozen=True, slots=True)
class View:
    """Tokens and their conditions by name, as they were read together.

    ``quota_told`` is whether any token's quota was ever told: without, there is no drought to look for.
    """

    tokens: TokenSet
    conditions: Mapping[str, Condition]
    quota_told: bool


def view_of(tokens: TokenSet, conditions: Mapping[str, Condition]) -> View:
    """A view, with what follows from its parts."""
    return View(tokens, conditions, any(condition.quota is not None for condition in conditions.values()))


class Board:
    """Reads and changes conditions. ``now`` gives seconds since the epoch; a view is trusted ``fresh_s``.

    One thread at a time reads the store, the others go on with the view they have. What this process changes it
    sees at once.
    """

    def __init__(self, store: Store, source: TokenSource, fresh_s: float, now: Callable[[], float]) -> None:
        self._store = store
        self._source = source
        self._fresh_s = fresh_s
        self._now = now
        self._reading = threading.Lock()
        self._writing = threading.Lock()
        self._writes = 0
        self._view: View | None = None
        self._read_at = 0.0

    def view(self) -> View:
        """The tokens and their conditions, at most ``fresh_s`` old."""
        view = self._view
        if view is not None and 0 <= self._now() - self._read_at < self._fresh_s:
            return view
        if view is None or self._fresh_s == 0:
            with self._reading:
                return self._read()
        if self._reading.acquire(blocking=False):
            try:
                return self._read()
            finally:
                self._reading.release()
        return view

    def current(self) -> View:
        """The tokens and their conditions as the store has them now, whatever another worker just changed."""
        with self._reading:
            return self._read()

    def _read(self) -> View:
        writes, at = self._writes, self._now()
        tokens = self._source.current()
        keys = {_key(token): token.name for token in tokens.tokens}
        values = self._store.read(list(keys))
        conditions = {
            name: decoded(values.get(key)).in_generation(tokens.generation) for key, name in keys.items()
        }
        view = view_of(tokens, conditions)
        with self._writing:
            if writes == self._writes or self._view is None:
                self._view = view
                self._read_at = at
            return self._view

    def change(self, token: Token, rule: Callable[[Condition], Condition]) -> tuple[Condition, Condition]:
        """Apply the pure ``rule`` to a token's condition for all workers: the conditions before and after."""
        generation = self.view().tokens.generation
        before = HEALTHY

        def change(value: bytes | None) -> Write | None:
            nonlocal before
            before = decoded(value).in_generation(generation)
            after = rule(before)
            return None if after == before else Write(after.encoded(), KEPT_S)

        after = decoded(self._store.update(_key(token), change)).in_generation(generation)
        with self._writing:
            self._writes += 1
            if self._view is not None and token.name in self._view.conditions:
                self._view = view_of(self._view.tokens, {**self._view.conditions, token.name: after})
        return before, after


def _key(token: Token) -> str:
    return f"token:{token.name}:{token.identity}"
