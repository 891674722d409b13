"""The judge of streams is not blind: whole streams pass, and each bad ending is called what it is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.fuzz.endings import check_stream

Page = dict[str, Any]


def data(*pages: Page | str) -> bytes:
    """Frames of a ``data:`` line each."""
    return b"".join(
        f"data: {page if isinstance(page, str) else json.dumps(page)}\n\n".encode() for page in pages
    )


def events(*pages: Page) -> bytes:
    """Frames with an ``event:`` line too."""
    return b"".join(f"event: {page['type']}\ndata: {json.dumps(page)}\n\n".encode() for page in pages)


# chat


def chunk(finish: str | None = None) -> Page:
    return {
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": finish}],
    }


TEXT, STOP = chunk(), chunk("stop")
USAGE: Page = {"object": "chat.completion.chunk", "choices": [], "usage": {"total_tokens": 1}}
DONE = "[DONE]"
CHAT_FAULT: Page = {
    "error": {"message": "m", "type": "server_error", "param": None, "code": "upstream_error"}
}

# responses


def ladder(*ended: Page, output: tuple[str, ...] = ("i",)) -> bytes:
    """Created, in progress, the items, and what is given, numbered."""
    begun: Page = {"id": "r", "status": "in_progress"}
    pages: list[Page] = [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
    ]
    for item in output:
        pages.append({"type": "response.output_item.added", "item": {"id": item}})
        pages.append({"type": "response.output_item.done", "item": {"id": item}})
    return events(*({**page, "sequence_number": at} for at, page in enumerate([*pages, *ended])))


def ended(status: str, called: str = "", **fields: Any) -> Page:
    response = {
        "id": "r",
        "status": status,
        "output": [{"id": "i"}],
        "error": None,
        "usage": {"total_tokens": 1},
        **fields,
    }
    return {"type": f"response.{called or status}", "response": response}


COMPLETED = ended("completed")
FAILED = ended("failed", error={"code": "server_error", "message": "m"})
ERROR_EVENT: Page = {"type": "error", "code": "server_error", "message": "m", "param": None}

# messages

START: Page = {"type": "message_start", "message": {}}
BLOCK: list[Page] = [
    {"type": "content_block_start", "index": 0},
    {"type": "content_block_delta", "index": 0},
    {"type": "content_block_stop", "index": 0},
]
DELTA: Page = {
    "type": "message_delta",
    "delta": {"stop_reason": "end_turn"},
    "usage": {"output_tokens": 1},
}
NO_REASON: Page = {**DELTA, "delta": {"stop_reason": None}}
MESSAGE_STOP: Page = {"type": "message_stop"}
PING: Page = {"type": "ping"}
MESSAGE_FAULT: Page = {
    "type": "error",
    "error": {"type": "api_error", "message": "m"},
    "request_id": "req_1",
}

# generate_content


def candidate(finish: str | None = None, parts: int = 1) -> Page:
    said: Page = {"content": {"parts": [{"text": "a"}] * parts, "role": "model"}, "index": 0}
    return {"candidates": [said if finish is None else {**said, "finishReason": finish}]}


PART, LAST = candidate(), candidate("STOP")
GOOGLE_FAULT: Page = {"error": {"code": 502, "message": "m", "status": "INTERNAL"}}


def array(*pages: Page) -> bytes:
    return json.dumps(pages).encode()


GOOD = [
    ("chat_completions", {}, data(TEXT, STOP, DONE), False),
    ("chat_completions", {}, b": keepalive\n\n" + data(STOP) + b": not stored\n\n" + data(DONE), False),
    ("chat_completions", {"usage": True}, data(TEXT, STOP, USAGE, DONE), False),
    ("chat_completions", {}, data(TEXT, CHAT_FAULT), True),
    ("chat_completions", {"usage": True}, data(CHAT_FAULT), True),
    ("responses", {}, ladder(COMPLETED), False),
    ("responses", {}, ladder(ended("incomplete")), False),
    ("responses", {}, ladder(FAILED), True),
    ("messages", {}, events(START, PING, *BLOCK, DELTA, MESSAGE_STOP), False),
    ("messages", {}, events(START, *BLOCK[:2], MESSAGE_FAULT), True),
    ("generate_content", {}, data(PART) + b"\n" + data(LAST), False),
    ("generate_content", {}, data(PART, GOOGLE_FAULT), True),
    ("generate_content", {"array": True}, array(PART, LAST), False),
    ("generate_content", {"array": True}, array(GOOGLE_FAULT), True),
]

BAD = {
    "chat: nothing at all": ("chat_completions", {}, b"", "cut"),
    "chat: no finish, no marker": ("chat_completions", {}, data(TEXT), "not a fault of"),
    "chat: finish, no marker": ("chat_completions", {}, data(TEXT, STOP), "not a fault of|fault after"),
    "chat: marker, no finish": ("chat_completions", {}, data(TEXT, DONE), "0 chunks have a finish"),
    "chat: two finishes": ("chat_completions", {}, data(STOP, STOP, DONE), "2 chunks have a finish"),
    "chat: text after the finish": ("chat_completions", {}, data(STOP, TEXT, DONE), "after the finish"),
    "chat: two markers": ("chat_completions", {}, data(STOP, DONE, DONE), "not JSON"),
    "chat: a chunk after the marker": ("chat_completions", {}, data(STOP, DONE, TEXT), "not JSON"),
    "chat: a comment after the marker": ("chat_completions", {}, data(STOP, DONE) + b": x\n\n", "comment"),
    "chat: marker after a fault": ("chat_completions", {}, data(TEXT, CHAT_FAULT, DONE), "not a chunk"),
    "chat: text after a fault": ("chat_completions", {}, data(CHAT_FAULT, TEXT), "not a chunk"),
    "chat: fault after the finish": ("chat_completions", {}, data(STOP, CHAT_FAULT), "fault after"),
    "chat: two faults": ("chat_completions", {}, data(CHAT_FAULT, CHAT_FAULT), "not a chunk"),
    "chat: fault of another surface": ("chat_completions", {}, data(TEXT, GOOGLE_FAULT), "not a fault of"),
    "chat: usage not asked for": ("chat_completions", {}, data(STOP, USAGE, DONE), "usage chunk"),
    "chat: usage missing": ("chat_completions", {"usage": True}, data(STOP, DONE), "usage chunk"),
    "chat: usage before the finish": (
        "chat_completions",
        {"usage": True},
        data(USAGE, STOP, DONE),
        "usage before",
    ),
    "chat: last frame cut": ("chat_completions", {}, data(STOP, DONE)[:-1], "cut"),
    "responses: no end": ("responses", {}, ladder(), "stream that ends with"),
    "responses: an error event only": ("responses", {}, ladder(ERROR_EVENT), "stream that ends with error"),
    "responses: an error event before the end": (
        "responses",
        {},
        ladder(ERROR_EVENT, FAILED),
        "an error event",
    ),
    "responses: an error event after the end": ("responses", {}, ladder(FAILED, ERROR_EVENT), "ends with"),
    "responses: two ends": ("responses", {}, ladder(COMPLETED, FAILED), "stream that ends with"),
    "responses: marker of chat": ("responses", {}, ladder(COMPLETED) + data(DONE), "not JSON"),
    "responses: status of another end": (
        "responses",
        {},
        ladder(ended("failed", "completed")),
        "not the event's",
    ),
    "responses: failed without error": ("responses", {}, ladder(ended("failed", error={})), "no error"),
    "responses: a code that no SDK knows": (
        "responses",
        {},
        ladder(ended("failed", error={"code": "upstream_error", "message": "m"})),
        "code upstream_error",
    ),
    "responses: completed with an error": (
        "responses",
        {},
        ladder(ended("completed", error={"code": "server_error", "message": "m"})),
        "did not fail",
    ),
    "responses: output that was not told": ("responses", {}, ladder(COMPLETED, output=()), "not told"),
    "responses: a number left out": (
        "responses",
        {},
        ladder(COMPLETED).replace(b'"sequence_number": 4', b'"sequence_number": 5'),
        "numbers",
    ),
    "responses: no event line": (
        "responses",
        {},
        ladder() + data({**COMPLETED, "sequence_number": 4}),
        "JSON",
    ),
    "messages: no end": ("messages", {}, events(START, *BLOCK), "ends with"),
    "messages: no message_stop": ("messages", {}, events(START, *BLOCK, DELTA), "ends with"),
    "messages: no message_delta": ("messages", {}, events(START, *BLOCK, MESSAGE_STOP), "ends with"),
    "messages: no stop reason": (
        "messages",
        {},
        events(START, *BLOCK, NO_REASON, MESSAGE_STOP),
        "stop reason",
    ),
    "messages: a block left open": (
        "messages",
        {},
        events(START, *BLOCK[:2], DELTA, MESSAGE_STOP),
        "not closed",
    ),
    "messages: stop after a fault": (
        "messages",
        {},
        events(START, MESSAGE_FAULT, MESSAGE_STOP),
        "ends with",
    ),
    "messages: end after a fault": (
        "messages",
        {},
        events(START, *BLOCK, MESSAGE_FAULT, DELTA, MESSAGE_STOP),
        "error among",
    ),
    "messages: fault after the end": (
        "messages",
        {},
        events(START, *BLOCK, DELTA, MESSAGE_STOP, MESSAGE_FAULT),
        "message_delta among",
    ),
    "messages: fault without an id": (
        "messages",
        {},
        events(START, {key: MESSAGE_FAULT[key] for key in ("type", "error")}),
        "not a fault of",
    ),
    "messages: fault of another surface": ("messages", {}, events(START) + data(CHAT_FAULT), "JSON"),
    "messages: marker of chat": (
        "messages",
        {},
        events(START, *BLOCK, DELTA, MESSAGE_STOP) + data(DONE),
        "JSON",
    ),
    "generate_content: no finish": ("generate_content", {}, data(PART), "finishReason"),
    "generate_content: text after the finish": ("generate_content", {}, data(LAST, PART), "finishReason"),
    "generate_content: two finishes": ("generate_content", {}, data(LAST, LAST), "finishReason"),
    "generate_content: fault after the finish": (
        "generate_content",
        {},
        data(LAST, GOOGLE_FAULT),
        "finishReason",
    ),
    "generate_content: text after a fault": ("generate_content", {}, data(GOOGLE_FAULT, LAST), "not last"),
    "generate_content: fault of another surface": (
        "generate_content",
        {},
        data(PART, {"error": {"code": 502, "message": "m", "type": "server_error"}}),
        "not a fault of",
    ),
    "generate_content: marker of chat": ("generate_content", {}, data(LAST, DONE), "not JSON"),
    "generate_content: an event line": ("generate_content", {}, b"event: x\n" + data(LAST), "event: x"),
    "generate_content: a comment": ("generate_content", {}, b": keepalive\n\n" + data(LAST), "keepalive"),
    "generate_content: a chunk without parts": ("generate_content", {}, data(candidate("STOP", 0)), "parts"),
    "array: not closed": ("generate_content", {"array": True}, array(PART, LAST)[:-1], "not JSON"),
    "array: empty": ("generate_content", {"array": True}, b"[]", "nothing"),
    "array: no finish": ("generate_content", {"array": True}, array(PART), "finishReason"),
    "array: text after a fault": ("generate_content", {"array": True}, array(GOOGLE_FAULT, LAST), "not last"),
    "array: events": ("generate_content", {"array": True}, data(LAST), "not JSON"),
    "array: an array after it": (
        "generate_content",
        {"array": True},
        array(LAST) + array(GOOGLE_FAULT),
        "not JSON",
    ),
}


@pytest.mark.parametrize(("surface", "asked", "written", "is_fault"), GOOD)
def test_whole_streams_pass(surface: str, asked: dict[str, bool], written: bytes, is_fault: bool) -> None:
    assert check_stream(surface, written, **asked) is is_fault


@pytest.mark.parametrize(("surface", "asked", "written", "why"), BAD.values(), ids=BAD)
def test_bad_endings_are_seen(surface: str, asked: dict[str, bool], written: bytes, why: str) -> None:
    with pytest.raises(AssertionError, match=why):
        check_stream(surface, written, **asked)
