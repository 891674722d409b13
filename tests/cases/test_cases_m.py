"""M, stream lifecycle and errors: C82, C83, C84, C85."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import requests
from flask import Flask

from fake_upstream import FakeUpstream
from fake_upstream import scenarios as s
from tests.matrix.answers import named_events, read
from tests.matrix.asking import CHAT, GENERATE, MESSAGES, RESPONSES, SURFACES, ask
from tests.support.caller import Caller
from tests.support.servers import Gunicorn, gunicorn

NUMBERS = ("C82", "C83", "C84", "C85")
KEEPALIVE = {
    CHAT: ": keepalive\n\n",
    RESPONSES: ": keepalive\n\n",
    MESSAGES: 'event: ping\ndata: {"type":"ping"}\n\n',
    GENERATE: "\n",
}
FAULT = {CHAT: '{"error":', RESPONSES: "response.failed", MESSAGES: "event: error", GENERATE: '{"error":'}
END = ("[DONE]", "response.completed", "message_stop", "finishReason")


@pytest.mark.parametrize("surface", SURFACES)
def test_c82_silence_is_filled_in_a_way_that_the_protocol_allows(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str
) -> None:
    fake.queue([s.sleep(450), s.text("a"), s.usage(3, 1), s.finish()])

    text = ask(standing(CANDOR_KEEPALIVE_S="0.1"), surface, stream=True).text

    assert text.count(KEEPALIVE[surface]) >= 3
    quiet = text.replace(KEEPALIVE[surface], "") if surface != GENERATE else text.lstrip("\n")
    assert read(surface, quiet.encode(), stream=True).text == "a"


@pytest.mark.parametrize("surface", SURFACES)
def test_c82_a_fault_after_the_headers_went_out_early_is_in_the_stream(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str
) -> None:
    fake.queue([s.sleep(300), s.error("unavailable", "busy")])

    reply = ask(standing(CANDOR_KEEPALIVE_S="0.1"), surface, stream=True)

    assert reply.status_code == 200
    assert FAULT[surface] in reply.text
    assert not any(end in reply.text for end in END)


@pytest.fixture(scope="module")
def candor(shared_fake: FakeUpstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gunicorn]:
    with gunicorn(tmp_path_factory.mktemp("gone"), shared_fake.url, CANDOR_WORKERS="1") as running:
        yield running


def closed_by(running: Gunicorn, surface: str) -> float:
    lines = requests.get(f"{running.url}/metrics", timeout=5).text.splitlines()
    name = f'client_closed_total{{surface="{surface}"}} '
    return sum(float(line.removeprefix(name)) for line in lines if line.startswith(name))


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("surface", SURFACES)
def test_c83_a_caller_that_goes_away_ends_the_upstreams_turn(
    candor: Gunicorn, fake: FakeUpstream, surface: str, stream: bool
) -> None:
    fake.queue([s.text("begun"), s.sleep(20_000), s.finish()])
    before = closed_by(candor, surface)

    with Caller(candor.url).ask(surface, stream=stream) as caller:
        if stream:
            caller.until(b"begun")
        else:
            fake.wait_captures(1)
    gone = time.monotonic()
    fake.wait_outcome("client_closed", 5)

    assert time.monotonic() - gone < 2
    deadline = time.monotonic() + 3
    while closed_by(candor, surface) == before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert closed_by(candor, surface) == before + 1


@pytest.mark.parametrize("surface", SURFACES)
def test_c84_a_fault_after_text_ends_the_stream_and_the_connection_is_free(
    candor: Gunicorn, fake: FakeUpstream, surface: str
) -> None:
    fake.queue([s.text("a"), s.error("unavailable", "busy")])

    with Caller(candor.url) as caller:
        text = caller.ask(surface).rest(5).decode()
        assert caller.ask(surface, stream=False).status() == 200

    assert FAULT[surface] in text
    assert not any(end in text for end in END)


@pytest.mark.parametrize(
    ("surface", "status"), [(CHAT, 503), (RESPONSES, 503), (MESSAGES, 529), (GENERATE, 503)]
)
def test_c84_the_same_fault_before_any_text_is_a_real_status(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str, status: int
) -> None:
    fake.queue([s.error("unavailable", "busy")])

    assert ask(standing(), surface, stream=True).status_code == status


def test_c85_responses_streams_the_whole_ladder(standing: Callable[..., Flask], fake: FakeUpstream) -> None:
    fake.queue([s.text("hi"), s.usage(3, 1), s.finish()])

    events: list[dict[str, Any]] = [
        json.loads(data) for _, data in named_events(ask(standing(), RESPONSES, stream=True).text)
    ]

    assert [event["type"].removeprefix("response.") for event in events] == [
        "created",
        "in_progress",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "completed",
    ]
    assert [event["sequence_number"] for event in events] == list(range(9))
    assert events[4]["logprobs"] == events[5]["logprobs"] == []
    assert events[-1]["response"]["output"][0]["content"][0]["text"] == "hi"


@pytest.mark.parametrize("surface", SURFACES)
def test_c85_the_connection_ends_by_us_though_the_upstream_stays_silent_after_its_end(
    candor: Gunicorn, fake: FakeUpstream, surface: str
) -> None:
    fake.queue([s.text("a"), s.usage(3, 1), s.finish(), s.end(), s.sleep(8000)])

    begun = time.monotonic()
    with Caller(candor.url).ask(surface) as caller:
        text = caller.rest(7).decode()

    assert any(end in text for end in END)
    assert time.monotonic() - begun < 5
