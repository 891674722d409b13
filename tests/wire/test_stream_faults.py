"""Upstreams that are slow, silent, absent or killed: the fault in the state that the stream is in."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from fake_upstream import FakeUpstream
from fake_upstream.scenarios import finish, sleep, text
from tests.support.caller import SURFACES, Caller
from tests.support.servers import ROOT, Gunicorn, free_port, gunicorn

STATUS = {"chat_completions": 504, "responses": 504, "messages": 504, "generate_content": 504}
TIMEOUT = {
    "chat_completions": b'"code":"upstream_timeout"',
    "responses": b'"type":"response.failed"',
    "messages": b'"type":"timeout_error"',
    "generate_content": b'"status":"DEADLINE_EXCEEDED"',
}
FAULT = {
    "chat_completions": b'data: {"error":{',
    "responses": b'"type":"response.failed"',
    "messages": b"event: error",
    "generate_content": b'data: {"error":{',
}
END = (b"[DONE]", b"response.completed", b"message_stop", b"finishReason")


@pytest.fixture(scope="module")
def candor(shared_fake: FakeUpstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gunicorn]:
    """Candor with short timeouts and without keepalives."""
    with gunicorn(
        tmp_path_factory.mktemp("short"),
        shared_fake.url,
        CANDOR_WORKERS="1",
        CANDOR_KEEPALIVE_S="0",
        CANDOR_FIRST_EVENT_TIMEOUT_S="0.6",
        CANDOR_IDLE_TIMEOUT_S="0.8",
        CANDOR_TOTAL_TIMEOUT_S="2",
    ) as running:
        yield running


@pytest.fixture(scope="module")
def beating(shared_fake: FakeUpstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gunicorn]:
    """Candor with a short timeout and keepalives before it."""
    with gunicorn(
        tmp_path_factory.mktemp("beating"),
        shared_fake.url,
        CANDOR_WORKERS="1",
        CANDOR_KEEPALIVE_S="0.1",
        CANDOR_FIRST_EVENT_TIMEOUT_S="0.6",
    ) as running:
        yield running


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("surface", SURFACES)
def test_no_first_event_in_time_is_a_504(
    surface: str, stream: bool, candor: Gunicorn, fake: FakeUpstream
) -> None:
    fake.queue([sleep(9000), text("late"), finish()])
    with Caller(candor.url) as caller:
        asked = time.monotonic()
        assert caller.ask(surface, stream=stream).status() == STATUS[surface]
        waited = time.monotonic() - asked
        caller.rest()
    assert 0.6 <= waited < 5
    assert fake.wait_outcome("client_closed", 5)


@pytest.mark.parametrize("surface", SURFACES)
def test_no_first_event_in_time_is_in_the_stream_once_it_is_committed(
    surface: str, beating: Gunicorn, fake: FakeUpstream
) -> None:
    fake.queue([sleep(9000), text("late"), finish()])
    with Caller(beating.url).ask(surface) as caller:
        assert caller.status() == 200
        body = caller.rest()
    if surface != "responses":  # its fault has the code in its text only
        assert TIMEOUT[surface] in body
    assert FAULT[surface] in body
    assert not any(end in body for end in END)


@pytest.mark.parametrize("surface", SURFACES)
def test_an_upstream_that_falls_silent_is_a_fault_in_the_stream(
    surface: str, candor: Gunicorn, fake: FakeUpstream
) -> None:
    fake.queue([text("begun"), sleep(9000), finish()])
    with Caller(candor.url).ask(surface) as caller:
        begun = time.monotonic()
        body = caller.rest()
        waited = time.monotonic() - begun
    assert b"begun" in body
    assert TIMEOUT[surface] in body
    assert not any(end in body for end in END)
    assert 0.8 <= waited < 5


def test_a_non_stream_turn_that_falls_silent_is_a_504(candor: Gunicorn, fake: FakeUpstream) -> None:
    fake.queue([text("begun"), sleep(9000), finish()])
    with Caller(candor.url).ask("chat_completions", stream=False) as caller:
        assert caller.status() == 504
        assert caller.json()["error"]["code"] == "upstream_timeout"


def test_a_turn_that_never_ends_is_ended(candor: Gunicorn, fake: FakeUpstream) -> None:
    fake.queue([step for _ in range(60) for step in (text("on and "), sleep(150))])
    with Caller(candor.url) as caller:
        begun = time.monotonic()
        body = caller.ask("chat_completions").rest()
        waited = time.monotonic() - begun
    assert TIMEOUT["chat_completions"] in body
    assert 2 <= waited < 6


class Upstream:
    """A fake upstream in a process of its own, to be killed."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        command = [sys.executable, "-m", "fake_upstream", "--port", str(port)]
        self.process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        assert b"listening" in self.process.stdout.readline()

    def queue(self, steps: list[dict[str, Any]], times: int) -> None:
        answer = requests.post(
            f"{self.url}/_fake/scenarios", json={"steps": steps, "times": times}, timeout=10
        )
        assert answer.status_code == 201

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(10)
        assert self.process.stdout is not None
        self.process.stdout.close()


def test_kill_9_of_the_upstream_gives_every_open_stream_its_honest_fault_and_the_next_a_502(
    tmp_path: Path,
) -> None:
    upstream = Upstream(free_port())
    try:
        with gunicorn(tmp_path, upstream.url) as candor:
            upstream.queue([text("begun"), sleep(60_000), finish()], times=12)
            callers = [(surface, Caller(candor.url).ask(surface)) for surface in SURFACES * 3]
            for _, caller in callers:
                caller.until(b"begun", 20)

            upstream.kill()

            for surface, caller in callers:
                body = caller.rest(20)
                assert FAULT[surface] in body
                assert not any(end in body for end in END)
                caller.close()
            for surface in SURFACES:
                for stream in (True, False):
                    with Caller(candor.url).ask(surface, stream=stream) as caller:
                        assert caller.status() == 502
                        assert caller.header("content-type") == "application/json"
    finally:
        upstream.kill()
