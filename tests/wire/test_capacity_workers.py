"""Capacity under gunicorn: workers agree, a killed one holds nothing, many turns at once are spread within limits."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import requests

from fake_upstream import FakeUpstream
from fake_upstream import scenarios as s
from tests.support.dialects import CHAT, DIALECTS
from tests.support.redis_server import redis_server
from tests.support.servers import Gunicorn, free_port

LONG = {"retry-after": "300"}


@pytest.fixture
def start(start_gunicorn: Callable[..., Gunicorn], tmp_path: Path) -> Callable[..., Gunicorn]:
    """Candor with two workers and tokens of those names and that limit."""

    def start(*names: str, limit: int = 0, **switches: str) -> Gunicorn:
        rows = [f'[[token]]\nname = "{name}"\nsecret = "secret-{name}"\nlimit = {limit}\n' for name in names]
        (tmp_path / "tokens.toml").write_text("".join(rows))
        return start_gunicorn(
            CANDOR_WORKERS="2",
            DEVIN_CONNECT_TOKENS_FILE=str(tmp_path / "tokens.toml"),
            CANDOR_STORE_CACHE_S="0",
            CANDOR_LEASE_TTL_S="1",
            **switches,
        )

    return start


@pytest.fixture(params=["sqlite", "redis"])
def store(request: pytest.FixtureRequest) -> Iterator[dict[str, str]]:
    """The switches for each kind of store."""
    if request.param == "sqlite":
        yield {}
    else:
        with redis_server() as url:
            yield {"CANDOR_STORE": url}


def ask(server: Gunicorn, text: str = "hi", **options: Any) -> requests.Response:
    """One turn on a connection of its own, so that any worker may take it."""
    return requests.post(
        server.url + CHAT.path("fake-echo", False),
        json=CHAT.body("fake-echo", text, False),
        timeout=60,
        **options,
    )


def pool(server: Gunicorn) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in requests.get(f"{server.url}/pool", timeout=10).json()["tokens"]}


def workers(server: Gunicorn) -> list[int]:
    """The pids of the master's children."""
    children = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text()
    return [int(pid) for pid in children.split()]


@contextlib.contextmanager
def only(server: Gunicorn, worker: int) -> Iterator[None]:
    """Stop all other workers meanwhile, so that this one takes every connection."""
    others = [pid for pid in workers(server) if pid != worker]
    for pid in others:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in others:
            os.kill(pid, signal.SIGCONT)


def worker_of(server: Gunicorn, connection: socket.socket) -> int:
    """The worker that holds the other end of ``connection``."""
    ours, theirs = connection.getsockname()[1], connection.getpeername()[1]
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        local, remote = (int(fields[place].rpartition(":")[2], 16) for place in (1, 2))
        if (local, remote) == (theirs, ours):
            for pid in workers(server):
                for descriptor in Path(f"/proc/{pid}/fd").iterdir():
                    if descriptor.is_symlink() and os.readlink(descriptor) == f"socket:[{fields[9]}]":
                        return pid
    raise AssertionError("no worker holds that connection")


def open_stream(server: Gunicorn) -> socket.socket:
    """Start a streamed turn; returns once its head is here."""
    host, port = server.url.removeprefix("http://").split(":")
    connection = socket.create_connection((host, int(port)), timeout=20)
    body = json.dumps(CHAT.body("fake-echo", "hi", True)).encode()
    head = f"POST {CHAT.path('', True)} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len(body)}\r\n\r\n"
    connection.sendall(head.encode() + body)
    assert connection.recv(4096).startswith(b"HTTP/1.1 200 ")
    return connection


def test_a_limit_that_one_worker_met_keeps_the_other_off_that_token(
    start: Callable[..., Gunicorn], fake: FakeUpstream, store: dict[str, str]
) -> None:
    server = start("a", "b", **store)
    fake.queue([s.http_error(429, "resource_exhausted", headers=LONG)], 0, {"token": "secret-a"})
    first, second = workers(server)
    with only(server, first):
        assert [ask(server).status_code for _ in range(2)] == [200, 200]
    with only(server, second):
        row = pool(server)["a"]
        assert (row["state"], row["why"]) == ("cooling", "rate_limited")
        assert 290 < row["wait_s"] <= 300
        before = len(fake.captures())
        assert [ask(server).status_code for _ in range(20)] == [200] * 20
    assert {capture["token"] for capture in fake.captures()[before:]} == {"secret-b"}


def test_all_workers_shut_the_gate_together(start: Callable[..., Gunicorn], fake: FakeUpstream) -> None:
    server = start("a", "b")
    fake.queue([s.http_error(429, "resource_exhausted", headers={"retry-after": "20"})], 0)
    first, second = workers(server)
    with only(server, first):
        assert ask(server).status_code == 429
        assert len(fake.captures()) == 2, "both tokens were tried"
        assert ask(server).status_code == 503
    with only(server, second):
        replies = [ask(server) for _ in range(5)]
    assert {reply.status_code for reply in replies} == {503}
    assert {int(reply.headers["Retry-After"]) for reply in replies} <= {18, 19, 20}
    assert len(fake.captures()) == 2, "a shut gate costs no upstream turn"


def test_a_worker_killed_in_a_stream_frees_its_lease(
    start: Callable[..., Gunicorn], fake: FakeUpstream, store: dict[str, str]
) -> None:
    server = start("a", limit=1, **store)
    fake.queue([s.text("begun"), s.sleep(60_000), s.finish()])
    connection = open_stream(server)
    assert pool(server)["a"]["slots_taken"] == 1
    assert ask(server).status_code == 503
    os.kill(worker_of(server, connection), signal.SIGKILL)
    deadline = time.monotonic() + 15
    while ask(server).status_code != 200:
        assert time.monotonic() < deadline, "the slot of the dead worker never came free"
        time.sleep(0.1)
    connection.close()
    row = pool(server)["a"]
    assert (row["slots_taken"], row["in_flight"]) == (0, 0)


@pytest.mark.parametrize("how", ["hangs up", "stays"])
def test_a_lease_ends_with_its_caller(start: Callable[..., Gunicorn], fake: FakeUpstream, how: str) -> None:
    server = start("a", limit=1)
    fake.queue([s.text("begun"), s.sleep(3_000), s.finish()])
    connection = open_stream(server)
    if how == "hangs up":
        connection.close()
        time.sleep(1.0)
        assert ask(server).status_code == 200
    else:
        time.sleep(2.0)
        assert ask(server).status_code == 503, "longer than a lease's time, but its worker lives"
        connection.close()


def test_a_store_that_dies_fails_no_turn_and_is_used_again_when_it_is_back(
    start: Callable[..., Gunicorn], fake: FakeUpstream
) -> None:
    port = free_port()
    switches = {"CANDOR_STORE": f"redis://127.0.0.1:{port}/0", "CANDOR_STORE_RETRY_S": "0.1"}

    def shared(server: Gunicorn) -> bool:
        is_shared: bool = requests.get(f"{server.url}/pool", timeout=10).json()["store"]["shared"]
        return is_shared

    with redis_server(port):
        server = start("a", "b", limit=2, **switches)
        assert [ask(server).status_code for _ in range(4)] == [200] * 4
        assert shared(server)
    first, second = workers(server)
    for worker in (first, second):
        with only(server, worker):
            assert [ask(server).status_code for _ in range(4)] == [200] * 4
            assert not shared(server)
    assert server.log_text().count('"store_down"') == 2, "one warning a worker"
    with redis_server(port):
        for worker in (first, second):
            deadline = time.monotonic() + 10
            with only(server, worker):
                while not shared(server):
                    assert time.monotonic() < deadline, "the store was not found again"
                    time.sleep(0.05)
                assert ask(server).status_code == 200


def test_many_turns_at_once_are_spread_fairly_within_limits(
    start: Callable[..., Gunicorn], fake: FakeUpstream
) -> None:
    limit = 30
    server = start("a", "b", "c", "d", limit=limit)
    fake.queue([s.sleep(300), s.text("done"), s.finish()], 0)
    peaks: Counter[str] = Counter()
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.01):
            running = Counter(each["token"] for each in fake.captures() if each["outcome"] == "running")
            for token, count in running.items():
                peaks[token] = max(peaks[token], count)

    def turn(_: int) -> int:
        """A caller that comes back when it is told to; how often it was sent away."""
        for sent_away in range(100):
            reply = ask(server)
            if reply.status_code == 200:
                assert CHAT.text_of(reply.json()) == "done"
                return sent_away
            assert reply.status_code == 503
            time.sleep(float(reply.headers["Retry-After"]) / 2)
        raise AssertionError("never served")

    watcher = threading.Thread(target=watch)
    watcher.start()
    with ThreadPoolExecutor(200) as callers:
        list(callers.map(turn, range(200)))
    over.set()
    watcher.join(10)
    served = {name: row["served"] for name, row in pool(server).items()}
    assert sum(served.values()) == 200
    assert all(40 <= count <= 60 for count in served.values()), served
    assert all(1 <= peaks[f"secret-{name}"] <= limit for name in "abcd"), peaks
    assert {row["slots_taken"] for row in pool(server).values()} == {0}


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_a_turn_moves_before_it_speaks_and_the_bytes_are_the_same(
    serve: Callable[..., str], fake: FakeUpstream, tmp_path: Path, dialect: Any
) -> None:
    (tmp_path / "tokens.toml").write_text(
        "".join(f'[[token]]\nname = "{name}"\nsecret = "secret-{name}"\n' for name in "abc")
    )
    url = serve(DEVIN_CONNECT_TOKENS_FILE=str(tmp_path / "tokens.toml"))
    for stream in (False, True):
        fake.clear()
        fake.queue([s.usage(fresh=99), s.error("internal", "boom")])
        fake.queue([s.cut()])
        reply = requests.post(
            url + dialect.path("fake-echo", stream), json=dialect.body("fake-echo", "hi", stream), timeout=20
        )
        assert reply.status_code == 200
        text = dialect.streamed(reply.content)[0] if stream else dialect.text_of(reply.json())
        assert text == "hi"
        captures = fake.captures()
        assert len({capture["token"] for capture in captures}) == len(captures) == 3
        messages = [capture["message"] for capture in captures]
        for message in messages:
            message["metadata"].pop("session_token")
        assert messages[0] == messages[1] == messages[2]


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_a_committed_stream_still_moves_a_speaking_one_never(
    serve: Callable[..., str], fake: FakeUpstream, tmp_path: Path, dialect: Any
) -> None:
    (tmp_path / "tokens.toml").write_text(
        "".join(f'[[token]]\nname = "{name}"\nsecret = "secret-{name}"\n' for name in "ab")
    )
    url = serve(DEVIN_CONNECT_TOKENS_FILE=str(tmp_path / "tokens.toml"), CANDOR_KEEPALIVE_S="0.1")
    path, body = dialect.path("fake-echo", True), dialect.body("fake-echo", "hi", True)
    fake.queue([s.sleep(400), s.error("internal", "boom")])
    committed = requests.post(url + path, json=body, timeout=20)
    assert (committed.status_code, dialect.streamed(committed.content)) == (200, ("hi", False))
    assert len(fake.captures()) == 2
    fake.clear()
    fake.queue([s.text("par"), s.error("internal", "boom")])
    speaking = requests.post(url + path, json=body, timeout=20)
    assert (speaking.status_code, dialect.streamed(speaking.content)) == (200, ("par", True))
    assert len(fake.captures()) == 1
