"""3,000 turns through two workers while the upstream fails at random: nothing lost, doubled, leaked or stuck."""

from __future__ import annotations

import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import requests

from fake_upstream import FakeUpstream
from fake_upstream import scenarios as s
from tests.support.dialects import DIALECTS, Dialect
from tests.support.servers import Gunicorn

TURNS = 3000
CONNECTIONS = 8
FAULTY = 0.3
TOKENS = "abcd"
SOON = {"retry-after": "1"}
FAULTS: tuple[list[dict[str, Any]], ...] = (
    [s.error("resource_exhausted", "slow down", retry_after_s=1)],
    [s.http_error(429, "resource_exhausted", headers=SOON)],
    [s.error("unavailable", "busy", retry_after_s=1)],
    [s.http_error(503, "unavailable", headers=SOON)],
    [s.error("internal", "boom")],
    [s.error("deadline_exceeded", "late")],
    [s.cut()],
    [s.cut_clean()],
    [s.usage(fresh=5), s.cut()],
    [s.raw(b"\x00\xff\xff\xff\xff")],
    [s.text("par"), s.error("internal", "boom")],
    [s.text("par"), s.cut()],
    [s.text("par"), s.cut_clean()],
)
HONEST = {429, 502, 503, 504, 529}


class Tally:
    """What came of the turns."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.results: Counter[str] = Counter()
        self.statuses: Counter[int] = Counter()
        self.wrong: list[Any] = []
        self.left = list(range(TURNS))

    def next_turn(self) -> int | None:
        with self.lock:
            return self.left.pop() if self.left else None

    def book(self, result: str, reply: requests.Response) -> None:
        with self.lock:
            self.results[result] += 1
            self.statuses[reply.status_code] += 1
            if result == "wrong":
                self.wrong.append((reply.status_code, reply.content[:500]))


def judge(dialect: Dialect, reply: requests.Response, text: str, stream: bool) -> str:
    """``right``, an ``honest`` fault, or ``wrong``."""
    if reply.status_code != 200:
        honest = reply.status_code in HONEST and "error" in reply.json()
        return "honest" if honest else "wrong"
    if not stream:
        return "right" if dialect.text_of(reply.json()) == text else "wrong"
    written, faulty = dialect.streamed(reply.content)
    if faulty:
        return "honest" if written in ("", "par") else "wrong"
    return "right" if written == text else "wrong"


def caller(server: Gunicorn, fake: FakeUpstream, tally: Tally, seed: int) -> None:
    """One connection's turns, in all dialects; it waits when it is told to."""
    dice = random.Random(seed)
    with requests.Session() as session:
        while (number := tally.next_turn()) is not None:
            dialect, stream, text = dice.choice(DIALECTS), dice.random() < 0.5, f"turn {number} of {seed}"
            if dice.random() < FAULTY:
                fake.queue(dice.choice(FAULTS))
            reply = session.post(
                server.url + dialect.path("fake-echo", stream),
                data=json.dumps(dialect.body("fake-echo", text, stream)),
                headers={"Content-Type": "application/json"},
                timeout=60,
            )
            tally.book(judge(dialect, reply, text, stream), reply)
            if reply.status_code in (429, 503, 529):
                time.sleep(float(reply.headers.get("Retry-After", 0)))


@pytest.mark.timeout(600)
def test_random_faults_lose_nothing(
    start_gunicorn: Callable[..., Gunicorn], fake: FakeUpstream, tmp_path: Path
) -> None:
    (tmp_path / "tokens.toml").write_text(
        "".join(f'[[token]]\nname = "{name}"\nsecret = "s-{name}"\nlimit = 8\n' for name in TOKENS)
    )
    server = start_gunicorn(
        CANDOR_WORKERS="2",
        DEVIN_CONNECT_TOKENS_FILE=str(tmp_path / "tokens.toml"),
        CANDOR_LOG_LEVEL="WARNING",
    )
    tally = Tally()
    threads = [
        threading.Thread(target=caller, args=(server, fake, tally, seed)) for seed in range(CONNECTIONS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(580)
    assert tally.wrong == []
    assert tally.results.total() == TURNS, "every turn was answered, and once"
    assert tally.results["right"] >= 0.6 * TURNS, (tally.results, tally.statuses)
    fake.clear()
    _recover(server)
    page = requests.get(f"{server.url}/pool", timeout=10).json()
    rows = page["tokens"]
    assert [row["state"] for row in rows] == ["healthy"] * len(TOKENS)
    assert [(row["in_flight"], row["slots_taken"]) for row in rows] == [(0, 0)] * len(TOKENS)
    assert page["store"] == {"shared": True}
    assert "Traceback" not in server.log_text()
    print(f"\n{dict(tally.results)} {dict(tally.statuses)} {_counters(server)}")


def _recover(server: Gunicorn) -> None:
    """A few turns after the last cooldown, which try every token."""
    deadline = time.monotonic() + 30
    while True:
        rows = requests.get(f"{server.url}/pool", timeout=10).json()["tokens"]
        if all(row["state"] == "healthy" for row in rows):
            return
        assert time.monotonic() < deadline, rows
        dialect = DIALECTS[0]
        requests.post(
            server.url + dialect.path("fake-echo", False),
            json=dialect.body("fake-echo", "hi", False),
            timeout=20,
        )
        time.sleep(0.05)


def _counters(server: Gunicorn) -> dict[str, Any]:
    page = requests.get(f"{server.url}/connect-metrics", timeout=10).json()
    return {name: page[name] for name in ("failovers", "gate_refusals", "token_changes", "token_turns")}
