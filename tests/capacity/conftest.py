"""Pools on a clock that tests move."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from app.capacity.pool import PoolPolicy, TokenPool
from app.capacity.tokens import FixedTokens, Token, TokenSet, TokenSource, identity_of
from app.catalogue.models import Model
from app.logs import EventLog
from app.metrics import Metrics
from app.stores import Store
from app.stores.memory import MemoryStore
from app.turn.faults import FaultKind, TurnFault

PAID = Model("big", "connect", "big", "paid")
FREE = Model("small", "connect", "small", "free")
START = 1_800_000_000.0


@dataclass
class Clock:
    """Seconds since the epoch, moved by hand."""

    now: float = START

    def __call__(self) -> float:
        return self.now

    def pass_by(self, seconds: float) -> None:
        self.now += seconds


@dataclass
class World:
    """What several pools may have in common, as worker processes do."""

    clock: Clock = field(default_factory=Clock)
    store: Store | None = None
    lines: list[dict[str, Any]] = field(default_factory=list)
    metrics: Metrics = field(default_factory=Metrics)
    policy: PoolPolicy = field(default_factory=lambda: PoolPolicy(fresh_s=0.0, free_models=("small",)))

    def pool(self, source: TokenSource | None = None, *names: str, **policy: Any) -> TokenPool:
        """A pool of tokens of those names, or of a source."""
        if self.store is None:
            self.store = MemoryStore(self.clock)
        log = EventLog("INFO")
        log.logger.handlers[0].emit = lambda record: self.lines.append(orjson.loads(record.getMessage()))  # type: ignore[method-assign]
        return TokenPool(
            source or tokens(*(names or ("a", "b"))),
            self.store,
            replace(self.policy, **policy),
            self.metrics,
            log,
            now=self.clock,
            jitter=lambda: 1.0,
        )


def token(name: str, **fields: Any) -> Token:
    secret = f"secret-of-{name}"
    return Token(name, secret, **{"identity": identity_of(secret), **fields})


def tokens(*each: str | Token) -> FixedTokens:
    return FixedTokens(TokenSet(tuple(token(one) if isinstance(one, str) else one for one in each), "g1"))


def fault(kind: FaultKind, retry_after_s: float | None = None) -> TurnFault:
    return TurnFault(kind, "as the upstream says", retry_after_s=retry_after_s)


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def write_tokens(tmp_path: Path) -> Callable[[str], Path]:
    """Write a tokens file; its path."""
    path = tmp_path / "tokens.toml"

    def write(text: str) -> Path:
        path.write_text(text)
        return path

    return write
