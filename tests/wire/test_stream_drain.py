"""SIGTERM and SIGHUP: running turns finish, new ones hear why not, and nothing is cut without a word."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from fake_upstream import FakeUpstream
from fake_upstream.scenarios import finish, sleep, text
from tests.support.caller import SURFACES, Caller
from tests.support.servers import Gunicorn

START = Callable[..., Gunicorn]

REFUSED = {
    "chat_completions": (503, lambda body: body["error"]["type"] == "server_error"),
    "responses": (503, lambda body: body["error"]["type"] == "server_error"),
    "messages": (529, lambda body: body["error"]["type"] == "overloaded_error"),
    "generate_content": (503, lambda body: body["error"]["status"] == "UNAVAILABLE"),
}
FAULT = {
    "chat_completions": b'data: {"error":{',
    "responses": b'"type":"response.failed"',
    "messages": b"event: error",
    "generate_content": b'data: {"error":{',
}
END = {
    "chat_completions": b"data: [DONE]\n\n",
    "responses": b'"type":"response.completed"',
    "messages": b'"type":"message_stop"',
    "generate_content": b'"finishReason":"STOP"',
}


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    """Closes what a test opens."""
    with ExitStack() as opened:
        yield opened


def until_it_drains(candor: Gunicorn, surface: str = "chat_completions") -> Caller:
    """A caller that has been refused; the signal may take a moment to get around."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        caller = Caller(candor.url).ask(surface, stream=False)
        if caller.status() != 200:
            return caller
        caller.close()
    raise TimeoutError("turns are still served")


def test_sigterm_finishes_running_streams_and_refuses_new_turns_in_the_surfaces_words(
    start_gunicorn: START, fake: FakeUpstream, stack: ExitStack
) -> None:
    candor = start_gunicorn(CANDOR_DRAIN_S="30")
    fake.queue([text("begun"), sleep(4000), text("ended"), finish()], times=len(SURFACES))
    running = {surface: stack.enter_context(Caller(candor.url)).ask(surface) for surface in SURFACES}
    for caller in running.values():
        caller.until(b"begun")
    idle = stack.enter_context(Caller(candor.url))
    assert idle.ask("chat_completions", stream=False).status() == 200
    idle.rest()

    candor.process.send_signal(signal.SIGTERM)
    until_it_drains(candor).close()

    for surface in SURFACES:
        for stream in (True, False):
            with Caller(candor.url).ask(surface, stream=stream) as caller:
                status, says = REFUSED[surface]
                assert caller.status() == status
                assert says(caller.json())
                assert int(caller.header("retry-after") or 0) >= 1
                assert caller.header("connection") == "close"
    for surface, caller in running.items():
        body = caller.rest(20)
        assert b"ended" in body
        assert END[surface] in body
        caller.close()
    assert candor.process.wait(15) == 0


def test_a_kept_alive_connection_is_refused_too(
    start_gunicorn: START, fake: FakeUpstream, stack: ExitStack
) -> None:
    candor = start_gunicorn(CANDOR_WORKERS="1")
    fake.queue([text("begun"), sleep(3000), finish()])
    running = stack.enter_context(Caller(candor.url)).ask("messages")
    running.until(b"begun")
    kept = stack.enter_context(Caller(candor.url))
    assert kept.ask("chat_completions", stream=False).status() == 200
    kept.rest()

    candor.process.send_signal(signal.SIGTERM)
    until_it_drains(candor).close()

    assert kept.ask("chat_completions", stream=False).status() == 503
    assert kept.json()["error"]["message"] == "this server is shutting down; try again"
    assert END["messages"] in running.rest(15)


def test_turns_that_outlast_the_drain_end_with_a_fault_rather_than_a_cut(
    start_gunicorn: START, fake: FakeUpstream, stack: ExitStack
) -> None:
    candor = start_gunicorn(CANDOR_DRAIN_S="1")
    fake.queue([text("begun"), sleep(60_000), finish()], times=len(SURFACES))
    running = {surface: stack.enter_context(Caller(candor.url)).ask(surface) for surface in SURFACES}
    for caller in running.values():
        caller.until(b"begun")
    fake.queue([sleep(60_000), finish()])
    whole = stack.enter_context(Caller(candor.url)).ask("chat_completions", stream=False)
    fake.wait_captures(len(SURFACES) + 1, 10)

    asked = time.monotonic()
    candor.process.send_signal(signal.SIGTERM)
    for surface, caller in running.items():
        body = caller.rest(10)
        assert FAULT[surface] in body
        assert b"shutting down" in body
        assert END[surface] not in body
        caller.close()
    assert whole.status() == 503
    assert whole.header("retry-after") == "1"
    whole.close()
    assert candor.process.wait(10) == 0
    assert 0.9 < time.monotonic() - asked < 8
    assert {capture["outcome"] for capture in fake.captures()} == {"client_closed"}


def test_a_reload_refuses_nobody(start_gunicorn: START, fake: FakeUpstream, stack: ExitStack) -> None:
    candor = start_gunicorn(CANDOR_DRAIN_S="20")
    fake.queue([text("begun"), sleep(3000), text("ended"), finish()])
    running = stack.enter_context(Caller(candor.url)).ask("chat_completions")
    running.until(b"begun")

    candor.process.send_signal(signal.SIGHUP)
    for _ in range(20):  # by the old workers, by the new ones, or by these once they have started
        with Caller(candor.url).ask("chat_completions", stream=False) as caller:
            assert caller.status(30) == 200

    assert END["chat_completions"] in running.rest()
