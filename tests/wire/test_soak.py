"""Two thousand requests of every kind over sixteen connections leave nothing behind in the worker."""

from __future__ import annotations

import os
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fake_upstream import FakeUpstream
from fake_upstream.scenarios import cut, error, finish, sleep, text, usage
from tests.bench.process import pss_bytes, tree
from tests.support.caller import SURFACES, Caller, ask
from tests.support.servers import Gunicorn

CONNECTIONS = 16
REQUESTS = 2000
WARM_UP = 400
IDLE_CONNECTIONS = CONNECTIONS
"""To the upstream, kept for the next turns: between none and one for each turn that ran at once. Each kind of
request comes ten times as often, so that a socket lost by any of them shows."""
KINDS = ("stream", "whole", "stream", "whole", "slow", "refused", "failing", "cut", "aborted", "abandoned")

SCENARIOS: dict[str, list[dict[str, Any]]] = {
    "soak-plain": [usage(3, 2), text("one "), text("two "), text("three"), finish()],
    "soak-slow": [text("one "), sleep(60), text("two"), finish()],
    "soak-failing": [error("unavailable", "busy")],
    "soak-cut": [text("one "), cut()],
    "soak-aborted": [text("one "), sleep(60_000), finish()],
    "soak-abandoned": [sleep(60_000), text("one"), finish()],
}


class Soak:
    """Callers that share out the requests, each on its connection, and count what they saw."""

    def __init__(self, url: str, fake: FakeUpstream) -> None:
        self._url = url
        self._lock = threading.Lock()
        self.seen: Counter[str] = Counter()
        for model, steps in SCENARIOS.items():
            fake.queue(steps, times=0, match={"model": model})

    def run(self, requests: int) -> None:
        """Make ``requests`` requests and close all connections."""
        left = iter(range(requests))
        failures: list[BaseException] = []

        def work(seed: int) -> None:
            chance = random.Random(seed)
            caller = Caller(self._url)
            try:
                while True:
                    with self._lock:
                        number = next(left, None)
                    if number is None or failures:
                        break
                    kind, surface = KINDS[number % len(KINDS)], chance.choice(SURFACES)
                    if not self._one(caller, kind, surface):
                        caller.close()
                        caller = Caller(self._url)
            except BaseException as failure:
                failures.append(failure)
            finally:
                caller.close()

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(CONNECTIONS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]

    def _one(self, caller: Caller, kind: str, surface: str) -> bool:
        """One request; whether the connection goes on."""
        model = "soak-plain" if kind in ("stream", "whole", "refused") else f"soak-{kind}"
        path, body = ask(surface, stream=kind != "whole")
        if "model" in body:
            body = {**body, "model": model}
        path = path.replace("fake-echo", model)
        if kind == "refused":
            body = {"contents": 1} if surface == "generate_content" else {**body, "model": 1}
        caller.post(path, body)
        if kind == "abandoned":
            time.sleep(0.005)
            caller.reset()
            status = 0
        else:
            status = caller.status(30)
            if kind == "aborted":
                caller.until(b"one", 30)
                caller.reset()
            else:
                caller.rest(30)
        with self._lock:
            self.seen[f"{kind} {status}"] += 1
        return kind not in ("aborted", "abandoned")


def handles(pid: int) -> Counter[str]:
    """Open files of ``pid`` by kind, and its threads."""
    kinds: Counter[str] = Counter(threads=len(os.listdir(f"/proc/{pid}/task")))
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        try:
            kinds[os.readlink(entry).partition(":")[0]] += 1
        except OSError:
            continue
    return kinds


def settled(candor: Gunicorn, true: Callable[[bytes], bool], within: float = 15) -> bytes:
    """The metrics, once they are so."""
    deadline = time.monotonic() + within
    while True:
        with Caller(candor.url).get("/metrics") as operator:
            page = operator.rest()
        if true(page) or time.monotonic() > deadline:
            return page
        time.sleep(0.05)


def test_a_soak_leaves_no_thread_socket_or_file_and_memory_flat(
    start_gunicorn: Callable[..., Gunicorn], fake: FakeUpstream
) -> None:
    candor = start_gunicorn(
        CANDOR_WORKERS="1",
        CANDOR_UNKNOWN_MODELS="forward",
        CANDOR_LOG_LEVEL="ERROR",
        CANDOR_KEEPALIVE_S="0.05",
    )
    worker = tree(candor.process.pid)[-1]
    soak = Soak(candor.url, fake)

    soak.run(WARM_UP)
    settled(candor, lambda page: b"candor_turns_running 0.0" in page)
    before, memory_before = handles(worker), pss_bytes(worker)

    soak.run(REQUESTS - WARM_UP)
    page = settled(candor, lambda page: b"candor_turns_running 0.0" in page)
    after, memory_after = handles(worker), pss_bytes(worker)

    share = REQUESTS // len(KINDS)
    assert soak.seen["stream 200"] == soak.seen["whole 200"] == 2 * share
    assert soak.seen["slow 200"] == soak.seen["cut 200"] == soak.seen["aborted 200"] == share
    assert soak.seen["refused 400"] == soak.seen["abandoned 0"] == share
    assert sum(soak.seen.values()) == REQUESTS
    assert b"candor_turns_running 0.0" in page
    for kind in before | after:
        spare = IDLE_CONNECTIONS if kind == "socket" else 3
        assert after[kind] <= before[kind] + spare, (kind, before, after)
    assert memory_after - memory_before < 6_000_000
    fake.clear()
