"""Several processes on one store, as gunicorn's workers are: they agree, and one that dies holds nothing for long."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from app.capacity.creation import create_capacity
from app.capacity.pool import TokenPool
from app.catalogue.models import Catalogue
from app.logs import EventLog
from app.metrics import Metrics
from app.settings import load
from app.turn.faults import FaultKind, TurnFault
from tests.capacity.conftest import PAID, fault
from tests.support.redis_server import redis_server
from tests.support.servers import ROOT, candor_environment

TOKENS = '[[token]]\nname = "a"\nsecret = "s-a"\nlimit = 2\n[[token]]\nname = "b"\nsecret = "s-b"\n'
WORKER = """
import os, sys
from app.capacity.creation import create_capacity
from app.catalogue.models import Catalogue, Model
from app.logs import EventLog
from app.metrics import Metrics
from app.settings import load
from app.turn.faults import FaultKind, TurnFault

pool = create_capacity(load(os.environ), Catalogue([]), Metrics(), EventLog("ERROR"))
model, held = Model("big", "connect", "big", "paid"), {}
for line in sys.stdin:
    command, name = line.split()
    others = [other for other in ("a", "b") if other != name]
    try:
        if command == "lease":
            held.setdefault(name, []).append(pool.lease(model, None, others))
        elif command == "limited":
            pool.release(pool.lease(model, None, others), TurnFault(FaultKind.RATE_LIMITED, "", retry_after_s=30))
        print("done", flush=True)
    except TurnFault as fault:
        print(fault.kind.value, flush=True)
"""


class Worker:
    """Another process with a pool of its own."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", WORKER],
            cwd=ROOT,
            env=candor_environment(**environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __call__(self, command: str, name: str) -> str:
        """Have it ``lease`` a token, or run a turn on it that is ``limited``; what came of it."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{command} {name}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def kill(self) -> None:
        """SIGKILL, as the kernel does it: no last words."""
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait(5)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()


@pytest.fixture(params=["sqlite", "redis"])
def environment(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dict[str, str]]:
    (tmp_path / "tokens.toml").write_text(TOKENS)
    with ExitStack() as stack:
        address = (
            f"sqlite:{tmp_path}/candor.sqlite3"
            if request.param == "sqlite"
            else stack.enter_context(redis_server())
        )
        yield {
            "CANDOR_STORE": address,
            "CANDOR_STORE_CACHE_S": "0",
            "CANDOR_LEASE_TTL_S": "1",
            "DEVIN_CONNECT_TOKENS_FILE": str(tmp_path / "tokens.toml"),
        }


@pytest.fixture
def start_worker(environment: dict[str, str]) -> Iterator[Callable[[], Worker]]:
    workers: list[Worker] = []

    def start() -> Worker:
        workers.append(Worker(environment))
        return workers[-1]

    yield start
    for worker in workers:
        if worker.process.poll() is None:
            worker.kill()


@pytest.fixture
def pool(environment: dict[str, str]) -> TokenPool:
    return create_capacity(load(environment), Catalogue([]), Metrics(), EventLog("ERROR"))


def states(pool: TokenPool) -> dict[str, str]:
    return {row["name"]: row["state"] for row in pool.report()["tokens"]}


def slots_taken(pool: TokenPool) -> int:
    taken: int = pool.report()["tokens"][0]["slots_taken"]
    return taken


def test_a_limit_that_one_process_met_keeps_the_others_off(
    pool: TokenPool, start_worker: Callable[[], Worker]
) -> None:
    worker = start_worker()
    assert worker("limited", "a") == "done"
    assert states(pool) == {"a": "cooling", "b": "healthy"}
    assert {pool.lease(PAID, None).name for _ in range(5)} == {"b"}
    pool.release(pool.lease(PAID, None), fault(FaultKind.RATE_LIMITED, 30))
    assert worker("lease", "b") == "capacity"


def test_processes_share_a_limit(pool: TokenPool, start_worker: Callable[[], Worker]) -> None:
    first, second = start_worker(), start_worker()
    assert [first("lease", "a"), second("lease", "a"), first("lease", "a")] == ["done", "done", "capacity"]
    with pytest.raises(TurnFault):
        pool.lease(PAID, None, ["b"])


def test_leases_of_a_process_that_lives_last_longer_than_their_time(
    pool: TokenPool, start_worker: Callable[[], Worker]
) -> None:
    worker = start_worker()
    assert worker("lease", "a") == "done"
    time.sleep(1.6)
    assert slots_taken(pool) == 1


def test_leases_of_a_process_that_is_killed_come_free(
    pool: TokenPool, start_worker: Callable[[], Worker]
) -> None:
    worker = start_worker()
    assert [worker("lease", "a"), worker("lease", "a")] == ["done", "done"]
    with pytest.raises(TurnFault):
        pool.lease(PAID, None, ["b"])
    worker.kill()
    deadline = time.monotonic() + 5
    while slots_taken(pool):
        assert time.monotonic() < deadline, "the dead worker still holds its slots"
        time.sleep(0.02)
    assert pool.lease(PAID, None, ["b"]).name == "a"
