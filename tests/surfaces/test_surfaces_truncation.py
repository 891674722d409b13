"""An upstream that breaks off in the middle: on no surface does anything look like the end of an answer."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from flask import Flask

from fake_upstream import FakeUpstream
from fake_upstream import scenarios as s
from tests.support.dialects import CHAT, DIALECTS, GENERATE_CONTENT, MESSAGES, RESPONSES, Dialect

ENDS = {
    CHAT.name: (b"[DONE]", b'"finish_reason":"'),
    RESPONSES.name: (b"response.completed", b"response.incomplete", b'"status":"completed"'),
    MESSAGES.name: (b"message_stop", b"message_delta", b'"stop_reason":"'),
    GENERATE_CONTENT.name: (b"finishReason",),
}
"""By what a client of each surface knows that an answer is whole."""
CUTS = {"broken": s.cut(), "without an end": s.cut_clean()}


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_a_stream_that_is_truncated_has_the_fault_last_and_no_end(
    make_app: Callable[..., Flask], fake: FakeUpstream, dialect: Dialect, cut: str
) -> None:
    fake.queue([s.text("half of an"), CUTS[cut]])
    reply = (
        make_app()
        .test_client()
        .post(dialect.path("fake-tools", True), json=dialect.body("fake-tools", "hi", True))
    )
    assert reply.status_code == 200
    assert dialect.streamed(reply.data) == ("half of an", True)
    assert [end for end in ENDS[dialect.name] if end in reply.data] == []
    last = json.loads(reply.data.rstrip().splitlines()[-1].removeprefix(b"data: "))
    assert "error" in last or last["type"] in ("error", "response.failed")


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_a_whole_reply_that_is_truncated_is_a_502(
    make_app: Callable[..., Flask], fake: FakeUpstream, dialect: Dialect, cut: str
) -> None:
    fake.queue([s.text("half of an"), CUTS[cut]])
    reply = (
        make_app()
        .test_client()
        .post(dialect.path("fake-tools", False), json=dialect.body("fake-tools", "hi", False))
    )
    assert reply.status_code == 502
    assert b"half of an" not in reply.data
