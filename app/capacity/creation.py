"""From settings to a pool."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable
from pathlib import Path

from app.capacity.condition import Waits
from app.capacity.gates import GateLimits
from app.capacity.pool import PoolPolicy, TokenPool
from app.capacity.tokens import TokensFile, TokenSource, single_token
from app.catalogue.models import Catalogue
from app.logs import EventLog
from app.metrics import Metrics
from app.settings import Settings
from app.stores.memory import MemoryStore
from app.stores.opening import open_store
from app.stores.resilient import ResilientStore


def create_capacity(
    settings: Settings,
    catalogue: Catalogue,
    metrics: Metrics,
    log: EventLog,
    now: Callable[[], float] | None = None,
) -> TokenPool:
    """The pool of an app. Raises SettingsError for a store or tokens that cannot be meant."""
    now = now or _wall_clock
    store = ResilientStore(open_store(settings, now), MemoryStore(now), log, metrics, settings.store_retry_s)
    return TokenPool(
        _source(settings, metrics, log), store, policy_of(settings, catalogue), metrics, log, now=now
    )


def _wall_clock() -> float:
    """Looked up at each call, so that what stands in for the clock later is used."""
    return time.time()


def policy_of(settings: Settings, catalogue: Catalogue) -> PoolPolicy:
    """The pool's numbers."""
    return PoolPolicy(
        Waits(settings.cooldown_s, settings.cooldown_max_s, settings.quota_cooldown_s),
        GateLimits(
            settings.retry_after_floor_s,
            settings.retry_after_cap_s,
            settings.drought_percent,
            settings.drought_restrict,
            settings.quota_ttl_s,
        ),
        settings.store_cache_s,
        settings.lease_ttl_s,
        tuple(model.id for model in catalogue.models if model.tier == "free"),
    )


def _source(settings: Settings, metrics: Metrics, log: EventLog) -> TokenSource:
    if not settings.connect_tokens_file:
        return single_token(settings.connect_token, _start_id())

    def on_bad(problem: str) -> None:
        metrics.tokens_file_rejected.inc()
        log.error("tokens_file_rejected", problem=problem, consequence="the tokens stay as they were")

    def on_change(count: int) -> None:
        log.info("tokens_file_read", tokens=count)

    return TokensFile(Path(settings.connect_tokens_file), on_bad, on_change)


def _start_id() -> str:
    """A name for this start of Candor, the same in all its workers: the master's metrics folder is its own.

    A token from a setting that died is tried again after a restart.
    """
    return os.environ.get("PROMETHEUS_MULTIPROC_DIR") or secrets.token_hex(8)
