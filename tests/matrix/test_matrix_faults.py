"""The upstream fails: a real status while nothing is out, else the protocol's own fault in the stream, last."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from flask import Flask

from app.upstreams.connect import wire_pb2
from fake_upstream import FakeUpstream
from fake_upstream import scenarios as s
from tests.matrix import asking
from tests.matrix.answers import Call, read
from tests.matrix.asking import CHAT, GENERATE, MESSAGES, RESPONSES, SURFACES, ask
from tests.matrix.faults import (
    CAPACITY,
    FAILED,
    INVALID,
    NOT_FOUND,
    PERMISSION,
    RATE_LIMITED,
    TIMEOUT,
    TRUNCATED,
    Told,
    body,
    in_stream,
)

REFUSED = "the upstream answered with an error: "


@dataclass(frozen=True)
class Failure:
    """How the upstream fails, and what callers are told."""

    name: str
    step: dict[str, Any]
    told: Told
    problem: str
    wait_s: int | None = None


def orphan_fragment() -> dict[str, Any]:
    fragment = wire_pb2.ToolCall(arguments_json="{}")
    return s.raw_frame(wire_pb2.GetChatMessageResponse(tool_calls=[fragment]))


FAILURES = [
    Failure("unavailable", s.error("unavailable", "busy", 30), CAPACITY, REFUSED + "busy", 30),
    Failure("resource_exhausted", s.error("resource_exhausted", "q", 7), RATE_LIMITED, REFUSED + "q", 7),
    Failure(
        "a wait of part of a second", s.error("resource_exhausted", "q", 0.2), RATE_LIMITED, REFUSED + "q", 1
    ),
    Failure("rate limited without a wait", s.error("resource_exhausted", "q"), RATE_LIMITED, REFUSED + "q"),
    Failure("invalid_argument", s.error("invalid_argument", "no"), INVALID, REFUSED + "no"),
    Failure("out of nothing", s.error("invalid_argument"), INVALID, REFUSED + "invalid_argument"),
    Failure("permission_denied", s.error("permission_denied", "no"), PERMISSION, REFUSED + "no"),
    Failure("not_found", s.error("not_found", "gone"), NOT_FOUND, REFUSED + "gone"),
    Failure("unauthenticated", s.error("unauthenticated", "who"), FAILED, REFUSED + "who"),
    Failure("deadline_exceeded", s.error("deadline_exceeded", "slow"), TIMEOUT, REFUSED + "slow"),
    *(
        Failure(code, s.error(code, "oops"), FAILED, REFUSED + "oops")
        for code in (
            "canceled",
            "unknown",
            "already_exists",
            "failed_precondition",
            "aborted",
            "out_of_range",
            "unimplemented",
            "internal",
            "data_loss",
        )
    ),
    Failure(
        "connection cut",
        s.cut(),
        TRUNCATED,
        "the upstream closed the connection in the middle of its answer",
    ),
    Failure(
        "no end of stream",
        s.cut_clean(),
        TRUNCATED,
        "the upstream's answer stopped before the end of its stream",
    ),
    Failure(
        "not protobuf",
        s.raw(b"\x00\x00\x00\x00\x03\xff\xff\xff"),
        FAILED,
        "the upstream sent a message that is not protobuf",
    ),
    Failure(
        "an envelope beyond all bounds",
        s.raw(b"\x00\xff\xff\xff\xff"),
        FAILED,
        "the upstream sent an envelope of 4294967295 bytes; at most 16777216 are taken",
    ),
    Failure(
        "an end that is not JSON",
        s.raw(b"\x02\x00\x00\x00\x03nop"),
        FAILED,
        "the upstream ended its stream with nonsense",
    ),
    Failure(
        "a fragment of no call",
        orphan_fragment(),
        FAILED,
        "the upstream sent a part of a tool call before it had opened any",
    ),
]

each_failure = pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: failure.name)


@pytest.fixture
def app_for(make_app: Callable[..., Flask], standing: Callable[..., Flask]) -> Callable[[Failure], Flask]:
    """An app that has a token left to fail with."""

    def choose(failure: Failure) -> Flask:
        spends_its_token = failure.told is RATE_LIMITED or failure.name == "unauthenticated"
        return make_app(CANDOR_LOG_LEVEL="ERROR") if spends_its_token else standing()

    return choose


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("surface", SURFACES)
@each_failure
def test_a_fault_before_any_text_is_a_real_status(
    app_for: Callable[[Failure], Flask], fake: FakeUpstream, failure: Failure, surface: str, stream: bool
) -> None:
    fake.queue([s.usage(9, 0), failure.step])

    reply = ask(app_for(failure), surface, stream=stream)

    assert reply.status_code == failure.told.status(surface)
    assert reply.content_type == "application/json"
    request_id = reply.headers["x-request-id"]
    assert reply.json == body(
        surface, failure.told, failure.problem, wait_s=failure.wait_s, request_id=request_id
    )
    wait = None if failure.wait_s is None else str(failure.wait_s)
    assert reply.headers.get("Retry-After") == wait


@pytest.mark.parametrize("surface", SURFACES)
@each_failure
def test_a_fault_after_text_is_in_the_stream_and_last(
    app_for: Callable[[Failure], Flask], fake: FakeUpstream, failure: Failure, surface: str
) -> None:
    fake.queue([s.text("begun"), failure.step])

    reply = ask(app_for(failure), surface, stream=True)

    assert reply.status_code == 200
    answer = read(surface, reply.data, stream=True)
    told = in_stream(
        surface,
        failure.told,
        failure.problem,
        wait_s=failure.wait_s,
        request_id=reply.headers["x-request-id"],
    )
    if failure.name == "a wait of part of a second" and surface == RESPONSES:
        told["message"] = told["message"].replace("1s.", "0.2s.")
    assert (answer.text, answer.error) == ("begun", told)
    assert answer.finish in (None, "failed")
    assert answer.usage is None


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize(
    "begun",
    [
        [s.reasoning("hm")],
        [s.tool_call(0, "a", "f"), s.tool_args(0, '{"x":"1"}')],
        [s.tool_call(0, "a", "f"), s.tool_args(0, '{"x":"1"}'), s.tool_call(1, "b", "f")],
    ],
    ids=["reasoning", "a whole call", "an open call"],
)
def test_a_fault_after_anything_that_was_said_is_in_the_stream(
    standing: Callable[..., Flask], fake: FakeUpstream, begun: list[dict[str, Any]], surface: str
) -> None:
    fake.queue([*begun, s.sleep(60), s.error("unavailable", "busy")])
    keys = asking.tools(surface, "f") | asking.reasoning_shown(surface)

    reply = ask(standing(), surface, stream=True, **keys)

    assert reply.status_code == 200
    answer = read(surface, reply.data, stream=True)
    assert answer.error is not None
    assert "upstream answered with an error: busy" in str(answer.error)
    assert answer.finish in (None, "failed")


@pytest.mark.parametrize("surface", SURFACES)
def test_a_fault_after_all_text_of_a_whole_answer_is_a_status_and_no_half_answer(
    app: Flask, fake: FakeUpstream, surface: str
) -> None:
    fake.queue([s.text("begun"), s.error("unavailable", "busy", 30)])

    reply = ask(app, surface)

    assert reply.status_code == CAPACITY.status(surface)
    assert b"begun" not in reply.data


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("surface", SURFACES)
def test_an_answer_without_its_end_is_never_a_clean_stop(
    app: Flask, fake: FakeUpstream, surface: str, stream: bool
) -> None:
    fake.queue([s.text("a"), s.usage(3, 1), s.finish(), s.cut_clean()])

    reply = ask(app, surface, stream=stream)

    if stream:
        assert read(surface, reply.data, stream=True).error is not None
    else:
        assert reply.status_code == 502


FORBIDDEN = {
    CHAT: {"tool_choice": "none"},
    RESPONSES: {"tool_choice": "none"},
    MESSAGES: {"tool_choice": {"type": "none"}},
    GENERATE: {"toolConfig": {"functionCallingConfig": {"mode": "NONE"}}},
}


@pytest.mark.parametrize("begun", [[], [s.text("begun"), s.sleep(60)]], ids=["at once", "after text"])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("surface", SURFACES)
def test_a_call_that_arrives_although_none_was_allowed_is_an_upstream_fault(
    standing: Callable[..., Flask],
    fake: FakeUpstream,
    surface: str,
    stream: bool,
    begun: list[dict[str, Any]],
) -> None:
    fake.queue([*begun, s.tool_call(0, "a", "f"), s.tool_args(0, "{}"), s.finish()])

    reply = ask(standing(), surface, stream=stream, **asking.tools(surface, "f"), **FORBIDDEN[surface])

    assert b'"a"' not in reply.data
    if not (stream and begun):
        assert reply.status_code == 502
        return
    answer = read(surface, reply.data, stream=True)
    assert (answer.text, answer.calls) == ("begun", [])
    assert answer.error is not None


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("surface", SURFACES)
def test_a_call_whose_name_changes_is_an_upstream_fault(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str, stream: bool
) -> None:
    fake.queue([s.one_packet(), s.tool_call(0, "a", "f"), s.tool_args(0, "{}", id="a", name="g"), s.finish()])

    reply = ask(standing(), surface, stream=stream, **asking.tools(surface, "f", "g"))

    assert (reply.status_code == 502) or read(surface, reply.data, stream=True).error is not None


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("surface", SURFACES)
def test_a_call_whose_name_is_repeated_is_one_call(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str, stream: bool
) -> None:
    fake.queue(
        [
            s.tool_call(0, "a", "f"),
            s.tool_args(0, '{"x":', id="a", name="f"),
            s.tool_args(0, '"1"}', id="a", name="f"),
            s.finish(),
        ]
    )

    reply = ask(standing(), surface, stream=stream, **asking.tools(surface, "f"))

    assert read(surface, reply.data, stream=stream).calls == [Call("a", "f", '{"x":"1"}')]
