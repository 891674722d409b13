"""A caller that goes away: the upstream's turn is cancelled at once, whatever either side was doing."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from fake_upstream import FakeUpstream
from fake_upstream.scenarios import finish, sleep, text
from tests.support.caller import SURFACES, Caller, ask
from tests.support.servers import Gunicorn, gunicorn

AT_ONCE_S = 0.05
TRIES = 4
LONG_MS = 20_000


@pytest.fixture(scope="module")
def candor(shared_fake: FakeUpstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gunicorn]:
    """Candor with default streams."""
    with gunicorn(tmp_path_factory.mktemp("gone"), shared_fake.url, CANDOR_WORKERS="1") as running:
        yield running


def least_delay(fake: FakeUpstream, start: Callable[[], Caller], leave: Callable[[Caller], None]) -> float:
    """Seconds from hanging up to the upstream's notice: the least of a few tries, as the machine may be busy."""
    delays = []
    for _ in range(TRIES):
        fake.clear()
        caller = start()
        left = time.monotonic()
        leave(caller)
        fake.wait_outcome("client_closed", 10)
        delays.append(time.monotonic() - left)
        if delays[-1] < AT_ONCE_S:
            break
    return min(delays)


@pytest.mark.parametrize("leave", [Caller.close, Caller.reset])
@pytest.mark.parametrize("surface", SURFACES)
def test_in_a_silent_gap(
    surface: str, leave: Callable[[Caller], None], candor: Gunicorn, fake: FakeUpstream
) -> None:
    def start() -> Caller:
        fake.queue([text("begun"), sleep(LONG_MS), finish()])
        caller = Caller(candor.url).ask(surface)
        caller.until(b"begun")
        return caller

    assert least_delay(fake, start, leave) < AT_ONCE_S


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("surface", SURFACES)
def test_before_the_upstream_has_sent_headers(
    surface: str, stream: bool, candor: Gunicorn, fake: FakeUpstream
) -> None:
    def start() -> Caller:
        fake.queue([sleep(LONG_MS), finish()])
        caller = Caller(candor.url).ask(surface, stream=stream)
        fake.wait_captures(1, 10)
        return caller

    assert least_delay(fake, start, Caller.close) < AT_ONCE_S


def test_before_the_first_event_that_speaks(candor: Gunicorn, fake: FakeUpstream) -> None:
    def start() -> Caller:
        fake.queue([{"quota_basis_points": 9000}, sleep(LONG_MS), finish()])
        caller = Caller(candor.url).ask("chat_completions")
        fake.wait_captures(1, 10)
        return caller

    assert least_delay(fake, start, Caller.close) < AT_ONCE_S


def test_in_the_middle_of_a_non_stream_answer(candor: Gunicorn, fake: FakeUpstream) -> None:
    def start() -> Caller:
        fake.queue([text("begun"), sleep(LONG_MS), finish()])
        caller = Caller(candor.url).ask("chat_completions", stream=False)
        fake.wait_captures(1, 10)
        return caller

    assert least_delay(fake, start, Caller.close) < AT_ONCE_S


def test_while_events_flow(candor: Gunicorn, fake: FakeUpstream) -> None:
    def start() -> Caller:
        fake.queue([step for number in range(400) for step in (text(f"word{number} "), sleep(10))])
        caller = Caller(candor.url).ask("chat_completions")
        caller.until(b"word5")
        return caller

    assert least_delay(fake, start, Caller.close) < AT_ONCE_S


def test_it_is_counted_and_no_turn_stays(candor: Gunicorn, fake: FakeUpstream) -> None:
    def totals() -> Any:
        with Caller(candor.url).get("/connect-metrics") as operator:
            return operator.json()

    before = totals()["client_closed"].get("messages", 0)
    fake.queue([text("begun"), sleep(LONG_MS), finish()])
    with Caller(candor.url).ask("messages") as caller:
        caller.until(b"begun")
    fake.wait_outcome("client_closed", 10)
    assert wait_for(lambda: totals()["client_closed"]["messages"] == before + 1)
    with Caller(candor.url).get("/metrics") as operator:
        assert b"candor_turns_running 0.0" in operator.rest()


@pytest.mark.parametrize("stream", [True, False])
def test_a_pipelined_byte_is_no_hang_up(stream: bool, candor: Gunicorn, fake: FakeUpstream) -> None:
    fake.queue([text("begun "), sleep(600), text("ended"), finish()])
    path, body = ask("chat_completions", stream=stream)
    with Caller(candor.url).post(path, body, then=b"G") as caller:
        answer = caller.rest()
        assert b"ended" in answer
        assert fake.captures()[-1]["outcome"] == "completed"


def test_a_pipelined_request_is_answered_too(candor: Gunicorn, fake: FakeUpstream) -> None:
    fake.queue([sleep(300), text("first"), finish()])
    path, body = ask("chat_completions", stream=False)
    data = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {len(data)}\r\n\r\n"
    with Caller(candor.url).post(path, body, then=head.encode() + data) as caller:
        assert caller.json()["choices"][0]["message"]["content"] == "first"
        caller.next()
        assert caller.json()["choices"][0]["message"]["content"] == "hi"


def wait_for(true: Callable[[], bool], within: float = 10) -> bool:
    """Whether it becomes true in time."""
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        if true():
            return True
        time.sleep(0.02)
    return False
