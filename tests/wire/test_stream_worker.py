"""Connections that are slow to go away hold up nobody."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack

from fake_upstream import FakeUpstream
from fake_upstream.scenarios import sleep, text
from tests.support.caller import Caller, ask
from tests.support.servers import Gunicorn


def test_callers_that_do_not_close_their_side_hold_up_no_other(
    start_gunicorn: Callable[..., Gunicorn],
) -> None:
    """The server waits up to 2 s for each of them; one after the other, that would be 16 s for everybody."""
    candor = start_gunicorn(CANDOR_WORKERS="1")
    path, body = ask("chat_completions", stream=False)
    with ExitStack() as stack:
        for _ in range(8):
            slow = stack.enter_context(Caller(candor.url)).post(path, body, {"connection": "close"})
            assert slow.status() == 200
            slow.rest()
        asked = time.monotonic()
        with Caller(candor.url).ask("chat_completions", stream=False) as caller:
            assert caller.status() == 200
        assert time.monotonic() - asked < 1.8


def test_streams_go_to_a_worker_that_has_a_thread_for_them(
    start_gunicorn: Callable[..., Gunicorn], fake: FakeUpstream
) -> None:
    candor = start_gunicorn(CANDOR_WORKERS="2", CANDOR_THREADS="4")
    fake.queue([text("begun"), sleep(60_000)], times=8)
    with ExitStack() as stack:
        callers = [stack.enter_context(Caller(candor.url)) for _ in range(8)]
        for caller in callers:
            caller.ask("chat_completions")
        for caller in callers:
            caller.until(b"begun", 15)


def test_a_caller_that_says_nothing_holds_up_neither_the_others_nor_the_end(
    start_gunicorn: Callable[..., Gunicorn],
) -> None:
    candor = start_gunicorn(CANDOR_WORKERS="1", CANDOR_THREADS="4", CANDOR_DRAIN_S="2")
    with ExitStack() as stack:
        for _ in range(3):
            stack.enter_context(Caller(candor.url))
        with Caller(candor.url).ask("chat_completions", stream=False) as caller:
            assert caller.status() == 200
        asked = time.monotonic()
        candor.process.terminate()
        assert candor.process.wait(15) == 0
        assert time.monotonic() - asked < 10
