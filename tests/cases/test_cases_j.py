"""J, usage: C71, C72."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from flask import Flask

from fake_upstream import FakeUpstream
from fake_upstream import scenarios as s
from tests.matrix.answers import data_lines, named_events
from tests.matrix.asking import CHAT, GENERATE, MESSAGES, RESPONSES, Json, ask

NUMBERS = ("C71", "C72")
CACHED = [s.usage(20, 0, 80), s.text("a"), s.usage(20, 7, 80), s.finish()]
COLD = [s.usage(20, 0, 80, 9), s.text("a"), s.usage(20, 7, 0, 0), s.finish()]


def usage_of(surface: str, reply_text: str, *, stream: bool) -> Json:
    """The usage as it stands on the wire, the last one of a stream."""
    if surface == CHAT:
        text = data_lines(reply_text)[-2] if stream else reply_text
        return dict(json.loads(text)["usage"])
    if surface == RESPONSES:
        body = json.loads(named_events(reply_text)[-1][1])["response"] if stream else json.loads(reply_text)
        return dict(body["usage"])
    if surface == MESSAGES:
        text = named_events(reply_text)[-2][1] if stream else reply_text
        return dict(json.loads(text)["usage"])
    text = data_lines(reply_text)[-1] if stream else reply_text
    return dict(json.loads(text)["usageMetadata"])


EXPECTED: dict[str, tuple[Json, Json]] = {
    CHAT: (
        {
            "prompt_tokens": 100,
            "completion_tokens": 7,
            "total_tokens": 107,
            "prompt_tokens_details": {"cached_tokens": 80, "cache_write_tokens": 0},
        },
        {
            "prompt_tokens": 20,
            "completion_tokens": 7,
            "total_tokens": 27,
            "prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        },
    ),
    RESPONSES: (
        {
            "input_tokens": 100,
            "input_tokens_details": {"cached_tokens": 80, "cache_write_tokens": 0},
            "output_tokens": 7,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 107,
        },
        {
            "input_tokens": 20,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": 7,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 27,
        },
    ),
    MESSAGES: (
        {
            "input_tokens": 20,
            "cache_read_input_tokens": 80,
            "cache_creation_input_tokens": 0,
            "output_tokens": 7,
        },
        {
            "input_tokens": 20,
            "cache_read_input_tokens": 0,
            "cache_creation_input_tokens": 0,
            "output_tokens": 7,
        },
    ),
    GENERATE: (
        {
            "promptTokenCount": 100,
            "cachedContentTokenCount": 80,
            "candidatesTokenCount": 7,
            "totalTokenCount": 107,
        },
        {"promptTokenCount": 20, "candidatesTokenCount": 7, "totalTokenCount": 27},
    ),
}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("surface", EXPECTED)
@pytest.mark.parametrize("cold", [False, True], ids=["cached", "an explicit zero"])
def test_c71_the_last_usage_holds_and_none_is_summed(
    standing: Callable[..., Flask], fake: FakeUpstream, cold: bool, surface: str, stream: bool
) -> None:
    fake.queue(COLD if cold else CACHED)

    reply = ask(standing(), surface, stream=stream)

    usage = usage_of(surface, reply.text, stream=stream)
    expected = EXPECTED[surface][cold]
    if surface == MESSAGES:  # further keys there are null
        usage = {key: value for key, value in usage.items() if key in expected}
    assert usage == expected


def test_c72_chat_streams_usage_in_one_last_chunk_when_asked(
    standing: Callable[..., Flask], fake: FakeUpstream
) -> None:
    fake.queue(CACHED)

    reply = ask(standing(), CHAT, stream=True, stream_options={"include_usage": True})

    *chunks, last, done = data_lines(reply.text)
    assert done == "[DONE]"
    assert [json.loads(chunk)["usage"] for chunk in chunks] == [None] * len(chunks)
    assert json.loads(last)["choices"] == []
    assert json.loads(last)["usage"]["total_tokens"] == 107


@pytest.mark.parametrize("options", [None, {}, {"include_usage": False}, {"include_usage": None}])
def test_c72_chat_streams_no_usage_when_not_asked(
    standing: Callable[..., Flask], fake: FakeUpstream, options: Json | None
) -> None:
    fake.queue(CACHED)

    reply = ask(standing(), CHAT, stream=True, stream_options=options)

    assert all("usage" not in json.loads(line) for line in data_lines(reply.text)[:-1])


@pytest.mark.parametrize("stream", [False, None])
def test_c72_chat_refuses_stream_options_without_a_stream(
    standing: Callable[..., Flask], fake: FakeUpstream, stream: bool | None
) -> None:
    keys = {} if stream is None else {"stream": stream}
    body = {"model": "fake-echo", "messages": [{"role": "user", "content": "hi"}], **keys}

    reply = (
        standing()
        .test_client()
        .post("/v1/chat/completions", json={**body, "stream_options": {"include_usage": True}})
    )

    assert (reply.status_code, reply.json["error"]["param"]) == (400, "stream_options")
    assert fake.captures() == []


def test_c72_chat_never_passes_zeros_off_as_a_usage_that_nobody_reported(
    app: Flask, fake: FakeUpstream
) -> None:
    fake.queue([s.text("twelve chars"), s.finish()])

    reply = ask(app, CHAT, stream=True)

    usage = usage_of(CHAT, reply.text, stream=True)
    assert (usage["prompt_tokens"], usage["completion_tokens"]) == (5, 3)
    assert 'usage_estimated_total{surface="chat_completions"} 1.0' in app.test_client().get("/metrics").text
