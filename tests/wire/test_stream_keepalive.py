"""Silence on a stream: keepalives, the committed state, and bytes that go out as they come."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest

from fake_upstream import FakeUpstream
from fake_upstream.connect_wire import envelope
from fake_upstream.play import plain_message
from fake_upstream.scenarios import cut, dribble, finish, raw, sleep, text, usage
from fake_upstream.steps import Text
from tests.support.caller import SURFACES, Caller
from tests.support.servers import Gunicorn, gunicorn

KEEPALIVE = {
    "chat_completions": b": keepalive\n\n",
    "responses": b": keepalive\n\n",
    "messages": b'event: ping\ndata: {"type":"ping"}\n\n',
    "generate_content": b"\n",
}
OPENING = {
    "chat_completions": b'"role":"assistant"',
    "responses": b"response.in_progress",
    "messages": b"message_start",
    "generate_content": b"",
}
END = {
    "chat_completions": b"data: [DONE]\n\n",
    "responses": b'"type":"response.completed"',
    "messages": b'"type":"message_stop"',
    "generate_content": b'"finishReason":"STOP"',
}
FAULT = {
    "chat_completions": b'"code":"upstream_truncated"',
    "responses": b'"type":"response.failed"',
    "messages": b"event: error",
    "generate_content": b'"code":502',
}


@pytest.fixture(scope="module")
def candor(shared_fake: FakeUpstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gunicorn]:
    """Candor with a keepalive each 50 ms."""
    folder = tmp_path_factory.mktemp("keepalive")
    with gunicorn(folder, shared_fake.url, CANDOR_WORKERS="1", CANDOR_KEEPALIVE_S="0.05") as running:
        yield running


@pytest.fixture(scope="module")
def quiet(shared_fake: FakeUpstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gunicorn]:
    """Candor without keepalives."""
    folder = tmp_path_factory.mktemp("quiet")
    with gunicorn(folder, shared_fake.url, CANDOR_WORKERS="1", CANDOR_KEEPALIVE_S="0") as running:
        yield running


@pytest.mark.parametrize("surface", SURFACES)
def test_an_upstream_that_has_not_even_sent_headers_is_bridged_by_keepalives(
    surface: str, candor: Gunicorn, fake: FakeUpstream
) -> None:
    fake.queue([sleep(1000), text("late"), finish()])
    with Caller(candor.url) as caller:
        asked = time.monotonic()
        caller.ask(surface)
        assert caller.status() == 200
        begun = caller.until(KEEPALIVE[surface])
        waited = time.monotonic() - asked
        body = caller.rest()

    assert 0.04 < waited < 0.9
    assert begun.index(OPENING[surface]) <= begun.index(KEEPALIVE[surface])
    assert b"late" in body
    assert END[surface] in body


@pytest.mark.parametrize("surface", SURFACES)
def test_an_hour_of_silence_keeps_the_stream_alive(
    surface: str, candor: Gunicorn, fake: FakeUpstream
) -> None:
    """An hour has 360 intervals of 10 s. Here they are 50 ms long, and 30 of them tell as much."""
    fake.queue([text("before"), sleep(1600), text("after"), finish()])
    with Caller(candor.url).ask(surface) as caller:
        before = caller.until(b"before")
        body = caller.rest()

    silence = body[len(before) : body.index(b"after")]
    beats = re.findall(rb"(?:^|\n)" + re.escape(KEEPALIVE[surface]), silence)
    assert 15 <= len(beats) <= 33
    assert END[surface] in body


@pytest.mark.parametrize("surface", SURFACES)
def test_a_fault_of_a_committed_stream_is_in_the_stream_and_last(
    surface: str, candor: Gunicorn, fake: FakeUpstream
) -> None:
    fake.queue([sleep(400), cut()])
    with Caller(candor.url).ask(surface) as caller:
        assert caller.status() == 200
        body = caller.rest()

    assert FAULT[surface] in body
    assert END[surface] not in body
    assert KEEPALIVE[surface] not in body[body.index(FAULT[surface]) :].rstrip(b"\n")


def test_keepalives_are_counted(candor: Gunicorn, fake: FakeUpstream) -> None:
    fake.queue([sleep(200), text("x"), finish()])
    with Caller(candor.url) as caller:
        sent = caller.ask("chat_completions").rest().count(KEEPALIVE["chat_completions"])
        assert sent >= 1
        page = caller.get("/metrics").rest().decode()
    counted = re.search(r'keepalives_total\{surface="chat_completions"\} (\d+)', page)
    assert counted is not None
    assert int(counted[1]) >= sent


def test_keepalive_0_sends_none_and_keeps_the_state_open(quiet: Gunicorn, fake: FakeUpstream) -> None:
    fake.queue([sleep(500), text("late"), sleep(500), text("later"), finish()])
    with Caller(quiet.url).ask("chat_completions") as caller:
        body = caller.rest()
    assert b": keepalive" not in body
    assert b"later" in body

    fake.queue([sleep(500), cut()])
    with Caller(quiet.url).ask("chat_completions") as caller:
        assert caller.status() == 502


@pytest.mark.parametrize("surface", SURFACES)
def test_three_frames_in_one_packet_with_the_headers_are_out_before_the_silence_ends(
    surface: str, quiet: Gunicorn, fake: FakeUpstream
) -> None:
    frames = b"".join(envelope(plain_message(Text(f"word{n}")).SerializeToString()) for n in range(3))
    fake.queue([raw(frames), sleep(3000), text("end"), finish()])
    with Caller(quiet.url) as caller:
        asked = time.monotonic()
        body = caller.ask(surface).until(b"word2")
        waited = time.monotonic() - asked

    assert waited < 2
    assert body.index(b"word0") < body.index(b"word1") < body.index(b"word2")


@pytest.mark.parametrize("surface", SURFACES)
def test_an_answer_that_comes_byte_by_byte_reads_the_same(
    surface: str, quiet: Gunicorn, fake: FakeUpstream
) -> None:
    steps = [usage(5, 7), text("Grüße, "), text("“wide” "), text("world 🌍"), finish()]
    shown = []
    for told in (steps, [dribble(1), *steps]):
        fake.queue(told)
        with Caller(quiet.url).ask(surface) as caller:
            shown.append(_without_ids(caller.rest()))
    assert shown[0] == shown[1]


def _without_ids(body: bytes) -> bytes:
    """The stream without what differs from turn to turn."""
    body = re.sub(rb'"(id|item_id|responseId)":"[^"]*"', b'"id":"..."', body)
    return re.sub(rb'"(created|created_at|completed_at)":[\d.]+', b'"created":0', body)
