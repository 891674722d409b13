"""Whatever an upstream sends: events that make sense, or an honest fault of the upstream; never a defect.

Bytes are taken apart by the envelope reader, messages by the decoder, ends of streams by the error reader; then all of
it together, over a real connection, as callers of every surface see it.
"""

from __future__ import annotations

import contextlib
import gzip
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from flask.testing import FlaskClient
from hypothesis import example, given
from hypothesis import strategies as st
from werkzeug.test import TestResponse

from app.turn.events import Event, Finished, ToolCallArguments, ToolCallStarted
from app.turn.faults import FaultKind, TurnFault
from app.turn.turn import Message, TextPart, Turn
from app.upstreams.connect.decode import Reading, ResponseDecoder
from app.upstreams.connect.envelope import EnvelopeReader, encode_envelope
from app.upstreams.connect.errors import ErrorReader
from app.upstreams.connect.wire_pb2 import GetChatMessageResponse
from fake_upstream import FakeUpstream
from fake_upstream import scenarios as s
from tests.fuzz.endings import check_stream
from tests.fuzz.surfaces import bounded, check_reply
from tests.support.dialects import CHAT, DIALECTS, GENERATE_CONTENT, Dialect

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
CALLS = st.builds(
    lambda **fields: {"tool_calls": [fields]},
    id=st.sampled_from(["", "a", "b"]),
    name=st.sampled_from(["", "f", "g"]),
    arguments_json=st.sampled_from(["", "{", "}", "{}", '{"x":1}', "["]),
    invalid_json=st.sampled_from(["", "{"]),
)
MESSAGES = (
    st.fixed_dictionaries({}, optional={"text": TEXTS, "reasoning": TEXTS, "finish": st.integers(0, 9)})
    | CALLS
    | st.builds(
        lambda **fields: {"usage": fields},
        fresh=st.integers(0, 2**31 - 1),
        completion=st.integers(0, 2**31 - 1),
    )
)


@contextlib.contextmanager
def blaming_the_upstream() -> Iterator[None]:
    """The block may end in a fault of the upstream, and in nothing else."""
    try:
        yield
    except TurnFault as fault:
        kind = fault.kind
    else:
        return
    assert kind is FaultKind.UPSTREAM_FAILED


def turn() -> Turn:
    """A turn with nothing special."""
    return Turn(model="m", system="", messages=[Message("user", [TextPart("hi")], "messages[0]")])


def check_events(events: list[Event]) -> None:
    """Arguments follow the start of their call, and starts count up from 0."""
    started = 0
    for event in events:
        if isinstance(event, ToolCallStarted):
            assert event.index == started
            assert event.id
            assert event.name
            started += 1
        elif isinstance(event, ToolCallArguments):
            assert event.index < started


@bounded(300)
@given(st.lists(MESSAGES, max_size=8), st.binary(max_size=3), st.integers(0, 200))
def test_messages_make_sense_or_are_a_fault(sent: list[dict[str, Any]], noise: bytes, at: int) -> None:
    decoder = ResponseDecoder(turn(), Reading(credit_cost=True, quota=True))
    events: list[Event] = []
    with blaming_the_upstream():
        for number, fields in enumerate(sent):
            payload = GetChatMessageResponse(**fields).SerializeToString()
            if noise and number == len(sent) - 1:
                cut = at % (len(payload) + 1)
                payload = payload[:cut] + noise + payload[cut:]
            decoder.feed(payload, events)
        events.append(decoder.finished())
    check_events(events)


@bounded(300)
@given(st.binary(max_size=60))
def test_any_bytes_as_a_message_make_sense_or_are_a_fault(payload: bytes) -> None:
    events: list[Event] = []
    with blaming_the_upstream():
        ResponseDecoder(turn(), Reading()).feed(payload, events)
    check_events(events)


@bounded(300)
@given(
    st.lists(st.tuples(st.integers(0, 255), st.binary(max_size=20), st.booleans()), max_size=5),
    st.binary(max_size=8),
    st.lists(st.integers(0, 120), max_size=6),
)
def test_envelopes_read_the_same_however_they_are_split(
    frames: list[tuple[int, bytes, bool]], tail: bytes, cuts: list[int]
) -> None:
    data = tail
    for flags, payload, squeeze in reversed(frames):
        body = gzip.compress(payload, mtime=0) if squeeze else payload
        data = bytes([flags]) + len(body).to_bytes(4, "big") + body + data
    whole, pieces = EnvelopeReader(), EnvelopeReader()
    at_once = whole.feed(data)
    one_by_one: list[bytes] = []
    edges = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    for start, stop in itertools.pairwise(edges):
        one_by_one += pieces.feed(data[start:stop])
    assert one_by_one == at_once
    assert pieces.end == whole.end
    assert (pieces.fault is None) == (whole.fault is None)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["error", "code", "message", "details", "metadata", "type", "debug", "value", "retryDelay"]),
        inner,
        max_size=4,
    ),
    max_leaves=15,
)  # fmt: skip


@bounded(300)
@given(JSON, st.dictionaries(st.just("retry-after"), st.text(max_size=12)))
@example({"error": {"code": "resource_exhausted", "details": [{"type": "RetryInfo", "value": "!"}]}}, {})
def test_any_end_of_a_stream_is_a_good_end_or_a_fault(page: Any, headers: dict[str, str]) -> None:
    fault = ErrorReader(("secret",)).end_of_stream(json.dumps(page).encode(), headers)
    if fault is None:
        assert isinstance(page, dict)
        assert page.get("error") is None
    else:
        assert fault.retry_after_s is None or fault.retry_after_s >= 0


@bounded(200)
@given(st.integers(300, 599), st.binary(max_size=40) | JSON.map(lambda page: json.dumps(page).encode()))
def test_any_error_over_http_is_a_fault(status: int, body: bytes) -> None:
    assert isinstance(ErrorReader(("secret",)).http(status, {}, body), TurnFault)


@dataclass(frozen=True)
class Asked:
    """One way to ask for a turn. ``array``: a stream without alt=sse; ``usage``: with chat's usage chunk."""

    dialect: Dialect
    stream: bool
    array: bool = False
    usage: bool = False

    def __str__(self) -> str:
        more = "".join(f"-{name}" for name in ("stream", "array", "usage") if getattr(self, name))
        return self.dialect.name + more

    def post(self, client: FlaskClient) -> TestResponse:
        """Ask."""
        path = self.dialect.path("fake-echo", self.stream)
        body = self.dialect.body("fake-echo", "hi", self.stream)
        if self.usage:
            body["stream_options"] = {"include_usage": True}
        return client.post(path.removesuffix("?alt=sse") if self.array else path, json=body)


ASKED = [
    *(Asked(dialect, stream) for dialect in DIALECTS for stream in (False, True)),
    Asked(CHAT, True, usage=True),
    Asked(GENERATE_CONTENT, True, array=True),
]


@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_any_answer_of_an_upstream_reaches_the_caller_as_an_answer_or_a_fault(
    asked: Asked, fuzz_client: FlaskClient, fuzz_fake: FakeUpstream
) -> None:
    seen: set[tuple[int, bool]] = set()

    @bounded(25)
    @given(st.lists(MESSAGES, max_size=5), st.binary(max_size=10), st.booleans())
    @example([{"text": "a"}, {"text": "b"}], b"", True)
    @example([{"text": "a"}, {"text": "b"}], b"", False)
    def run(sent: list[dict[str, Any]], noise: bytes, ends: bool) -> None:
        fuzz_fake.clear()
        frames = [
            encode_envelope(GetChatMessageResponse(**fields).SerializeToString(), compress=False)
            for fields in sent
        ]
        end = [s.end()] if ends else [s.cut_clean()]
        said = b"".join(frames) + noise
        fuzz_fake.queue([*([s.raw(said)] if said else []), *end])
        reply = asked.post(fuzz_client)
        check_reply(asked.dialect.name, reply)
        is_fault = reply.status_code != 200
        if asked.stream and not is_fault:
            is_fault = check_stream(asked.dialect.name, reply.data, array=asked.array, usage=asked.usage)
        assert is_fault or ends or noise, "a truncated turn came to a good end"
        seen.add((reply.status_code, is_fault))

    run()
    assert {(200, False), (200 if asked.stream else 502, True)} <= seen


def test_finished_is_what_ends_a_turn() -> None:
    assert isinstance(ResponseDecoder(turn(), Reading()).finished(), Finished)
