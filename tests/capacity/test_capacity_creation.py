"""From settings to a pool: every number in its place, one clock, the token or its file, a store that fails."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import pytest

from app.capacity.condition import Waits
from app.capacity.creation import create_capacity, policy_of
from app.capacity.gates import GateLimits
from app.capacity.pool import PoolPolicy, TokenPool
from app.catalogue.models import Catalogue
from app.logs import EventLog
from app.metrics import Metrics
from app.settings import load
from app.turn.faults import FaultKind, TurnFault
from tests.capacity.conftest import FREE, PAID, Clock, fault

DEAD = fault(FaultKind.UPSTREAM_AUTHENTICATION)
ONE = '[[token]]\nname = "a"\nsecret = "s-a"\n'
NAME_OF_START = "PROMETHEUS_MULTIPROC_DIR"


class Heard(logging.Handler):
    """Hands each line on, as the object that it is."""

    def __init__(self, hear: Callable[[dict[str, Any]], None]) -> None:
        super().__init__()
        self._hear = hear

    def emit(self, record: logging.LogRecord) -> None:
        self._hear(orjson.loads(record.getMessage()))


@dataclass
class Start:
    """One start of Candor after another on the same state folder."""

    folder: Path
    clock: Clock = field(default_factory=Clock)
    metrics: Metrics = field(default_factory=Metrics)
    lines: list[dict[str, Any]] = field(default_factory=list)
    on_line: Callable[[str], None] = print

    def __call__(self, **switches: str) -> TokenPool:
        log = EventLog("INFO")
        log.logger.handlers[:] = [Heard(self._hear)]
        settings = load(
            {
                "CANDOR_STATE_DIR": str(self.folder),
                "CANDOR_STORE_CACHE_S": "0",
                "DEVIN_CONNECT_TOKEN": "s-a",
                **switches,
            }
        )
        return create_capacity(settings, Catalogue([PAID, FREE]), self.metrics, log, self.clock)

    def _hear(self, line: dict[str, Any]) -> None:
        self.lines.append({name: value for name, value in line.items() if name != "time"})
        self.on_line(line["event"])


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Start:
    monkeypatch.delenv(NAME_OF_START, raising=False)
    return Start(tmp_path / "var")


def test_every_setting_has_its_place_in_the_policy() -> None:
    settings = load(
        {
            "CANDOR_COOLDOWN_S": "3",
            "CANDOR_COOLDOWN_MAX_S": "500",
            "CANDOR_QUOTA_COOLDOWN_S": "1800",
            "CANDOR_RETRY_AFTER_FLOOR_S": "2",
            "CANDOR_RETRY_AFTER_CAP_S": "50",
            "CANDOR_DROUGHT_PERCENT": "7.5",
            "CANDOR_DROUGHT_RESTRICT": "0",
            "CANDOR_QUOTA_TTL_S": "800",
            "CANDOR_STORE_CACHE_S": "0.5",
            "CANDOR_LEASE_TTL_S": "12",
        }
    )
    assert policy_of(settings, Catalogue([PAID, FREE])) == PoolPolicy(
        Waits(first_s=3, longest_s=500, quota_s=1800),
        GateLimits(floor_s=2, cap_s=50, drought_percent=7.5, drought_restrict=False, quota_ttl_s=800),
        fresh_s=0.5,
        lease_ttl_s=12,
        free_models=("small",),
    )


def test_the_token_of_the_setting_serves(start: Start) -> None:
    lease = start().lease(PAID, None)
    assert (lease.name, lease.secret) == ("default", "s-a")


def test_pool_and_store_go_by_the_same_clock(start: Start) -> None:
    pool = start()
    pool.release(pool.lease(PAID, None), fault(FaultKind.RATE_LIMITED, 10))
    assert pool.report()["tokens"][0]["until"] == "2027-01-15T08:00:10.000Z"
    start.clock.pass_by(10)
    pool.lease(PAID, None)
    with pytest.raises(TurnFault):
        pool.lease(PAID, None)
    start.clock.pass_by(15)
    assert pool.lease(PAID, None).name == "default", "the trial of a turn that is long silent is over"


def test_workers_of_one_start_agree_that_the_token_is_dead(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(NAME_OF_START, "/run/candor-1")
    pool = start()
    pool.release(pool.lease(PAID, None), DEAD)
    assert not start().ready()
    monkeypatch.setenv(NAME_OF_START, "/run/candor-2")
    assert start().ready(), "the next start tries it again"


def test_without_gunicorn_every_start_tries_a_dead_token_again(start: Start) -> None:
    pool = start()
    pool.release(pool.lease(PAID, None), DEAD)
    assert not pool.ready()
    assert start().ready()


def test_a_change_of_the_tokens_file_is_logged_whether_it_is_good_or_bad(
    start: Start, write_tokens: Callable[[str], Path]
) -> None:
    pool = start(DEVIN_CONNECT_TOKENS_FILE=str(write_tokens(ONE)))
    write_tokens("")
    assert pool.ready()
    write_tokens("x = 1\n" + ONE)
    assert pool.ready()
    write_tokens(ONE + ONE.replace('"a"', '"b"').replace("s-a", "s-b"))
    assert pool.ready()
    assert start.lines == [
        {
            "level": "ERROR",
            "event": "tokens_file_rejected",
            "problem": "has no [[token]] table; `token = []` means none on purpose",
            "consequence": "the tokens stay as they were",
        },
        {
            "level": "ERROR",
            "event": "tokens_file_rejected",
            "problem": "holds something beside [[token]] tables",
            "consequence": "the tokens stay as they were",
        },
        {"level": "INFO", "event": "tokens_file_read", "tokens": 2},
    ]
    assert start.metrics.totals()["tokens_file_rejected"] == [((), 2)]


def test_a_store_that_cannot_be_reached_is_told_of_and_taken_up_when_it_is_there(
    start: Start, tmp_path: Path
) -> None:
    back = threading.Event()
    start.on_line = lambda event: back.set() if event == "store_back" else None
    in_the_way = tmp_path / "no-folder"
    in_the_way.write_text("")
    pool = start(CANDOR_STORE=f"sqlite:{in_the_way}/candor.sqlite3", CANDOR_STORE_RETRY_S="0.01")
    assert pool.lease(PAID, None).name == "default"
    assert pool.report()["store"] == {"shared": False}
    assert [line["event"] for line in start.lines] == ["store_down"]
    assert start.metrics.totals()["store_outages"] == [((), 1)]
    in_the_way.unlink()
    assert back.wait(3)
    assert pool.report()["store"] == {"shared": True}
