"""What every stream of Candor must be like, to its end: the protocol's terminal marker or one fault, and nothing after.

A stream that ends otherwise sends real clients into endless retries.
"""

from __future__ import annotations

import json
from typing import Any

from tests.fuzz.surfaces import check_fault

DONE = "[DONE]"
COMMENTS = (": keepalive", ": not stored")
STREAM_CODES = ("server_error", "rate_limit_exceeded", "invalid_prompt")
STOP_REASONS = ("end_turn", "max_tokens", "tool_use", "stop_sequence", "refusal")

Page = dict[str, Any]


def check_stream(surface: str, written: bytes, *, array: bool = False, usage: bool = False) -> bool:
    """Look at a whole stream; true when it ended in a fault. ``usage``: chat's usage chunk was asked for."""
    match surface:
        case "chat_completions":
            return _chat(written, usage)
        case "responses":
            return _responses(written)
        case "messages":
            return _messages(written)
        case "generate_content":
            return _generate_content(_elements(written) if array else _unnamed(_frames(written)))
    raise AssertionError(f"{surface} has no streams")


def _chat(written: bytes, usage: bool) -> bool:
    frames = _frames(written)
    assert not frames[-1].startswith(":"), "a comment is last"
    datas = [frame for frame in frames if frame not in COMMENTS]
    is_fault = datas[-1] != f"data: {DONE}"
    pages = _unnamed(datas if is_fault else datas[:-1])
    chunks = pages[:-1] if is_fault else pages
    for chunk in chunks:
        assert chunk.get("object") == "chat.completion.chunk", f"not a chunk: {chunk}"
    finishes = [
        number
        for number, chunk in enumerate(chunks)
        if any(choice["finish_reason"] is not None for choice in chunk["choices"])
    ]
    if is_fault:
        assert not finishes, "a fault after the finish"
        _judge_fault("chat_completions", pages[-1])
        return True
    assert len(finishes) == 1, f"{len(finishes)} chunks have a finish_reason"
    assert all(chunk["choices"] for chunk in chunks[: finishes[0]]), "usage before the finish"
    after = chunks[finishes[0] + 1 :]
    assert len(after) == usage, "no usage chunk, or more than that after the finish"
    for chunk in after:
        assert chunk["choices"] == [], "text after the finish"
        assert chunk["usage"]["total_tokens"] >= 0
    return False


def _responses(written: bytes) -> bool:
    frames = _frames(written)
    assert not frames[-1].startswith(":"), "a comment is last"
    events = _named([frame for frame in frames if frame not in COMMENTS])
    assert [event["sequence_number"] for event in events] == list(range(len(events))), "numbers"
    types = [event["type"] for event in events]
    assert types[:2] == ["response.created", "response.in_progress"], "no beginning"
    ends = [
        kind for kind in types if kind in ("response.completed", "response.incomplete", "response.failed")
    ]
    assert ends == types[-1:], f"{ends} in a stream that ends with {types[-1]}"
    assert "error" not in types, "an error event"
    response = events[-1]["response"]
    assert f"response.{response['status']}" == ends[0], "a status that is not the event's"
    assert response["id"] == events[0]["response"]["id"], "another id"
    done = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    assert response["output"] == done, "output that was not told"
    if response["status"] == "failed":
        error = response["error"] or {}
        assert error.keys() == {"code", "message"}, "no error"
        assert error["code"] in STREAM_CODES, f"code {error['code']}"
        return True
    assert response["error"] is None, "an error, though it did not fail"
    assert response["usage"]["total_tokens"] >= 0
    assert types.count("response.output_item.added") == len(done), "an item was left open"
    return False


def _messages(written: bytes) -> bool:
    events = [event for event in _named(_frames(written)) if event["type"] != "ping"]
    types = [event["type"] for event in events]
    assert types[0] == "message_start", "no beginning"
    is_fault = types[-1] == "error"
    body = events[1:-1] if is_fault else events[1:-2]
    if not is_fault:
        assert types[-2:] == ["message_delta", "message_stop"], f"ends with {types[-2:]}"
    is_open = _blocks(body)
    if is_fault:
        _judge_fault("messages", events[-1])
        return True
    assert not is_open, "the last block was not closed"
    assert events[-2]["delta"]["stop_reason"] in STOP_REASONS, "no stop reason"
    assert events[-2]["usage"]["output_tokens"] >= 0
    return False


def _blocks(events: list[Page]) -> bool:
    """Only blocks, one after the other; whether the last one is open."""
    index, is_open = 0, False
    for event in events:
        assert event.get("index", index) == index, f"block {event['index']} in the place of {index}"
        match event["type"]:
            case "content_block_start":
                assert not is_open, "a block in a block"
                is_open = True
            case "content_block_delta":
                assert is_open, "no block is open"
            case "content_block_stop":
                assert is_open, "no block is open"
                is_open = False
                index += 1
            case other:
                raise AssertionError(f"{other} among the blocks")
    return is_open


def _generate_content(pages: list[Page]) -> bool:
    assert pages, "nothing was said"
    is_fault = "error" in pages[-1]
    chunks = pages[:-1] if is_fault else pages
    for chunk in chunks:
        assert "error" not in chunk, "a fault that is not last"
        assert len(chunk["candidates"]) == 1, "not one candidate"
        assert chunk["candidates"][0]["content"]["parts"], "a chunk without parts"
    finishes = [number for number, chunk in enumerate(chunks) if chunk["candidates"][0].get("finishReason")]
    assert finishes == ([] if is_fault else [len(chunks) - 1]), f"finishReason on {finishes} of {len(chunks)}"
    if is_fault:
        _judge_fault("generate_content", pages[-1])
    return is_fault


def _judge_fault(surface: str, page: Page) -> None:
    """``page`` is a fault in the words of ``surface``."""
    try:
        status = page["error"]["code"] if surface == "generate_content" else 502
        check_fault(surface, page, status)
        assert 400 <= status < 600
    except (AssertionError, KeyError) as error:
        raise AssertionError(f"not a fault of {surface}: {page}") from error


def _frames(written: bytes) -> list[str]:
    """What stands between blank lines. A keepalive of generate_content is one blank line more."""
    text = written.decode()
    assert text.endswith("\n\n"), "the last frame is cut"
    return [frame.removeprefix("\n") for frame in text.removesuffix("\n\n").split("\n\n")]


def _unnamed(frames: list[str]) -> list[Page]:
    """The JSON of frames that are one ``data:`` line each."""
    for frame in frames:
        assert frame.startswith("data: "), f"not a data line: {frame}"
    return [_object(frame.removeprefix("data: ")) for frame in frames]


def _named(frames: list[str]) -> list[Page]:
    """The JSON of frames with an ``event:`` line, which says its type."""
    pages = []
    for frame in frames:
        name, _, data = frame.partition("\ndata: ")
        pages.append(_object(data))
        assert name == f"event: {pages[-1]['type']}", "the event line says something else"
    return pages


def _elements(written: bytes) -> list[Page]:
    pages = _json(written.decode())
    assert isinstance(pages, list), "not an array"
    assert all(isinstance(page, dict) for page in pages), "not an array of objects"
    return pages


def _object(text: str) -> Page:
    page = _json(text)
    assert isinstance(page, dict), text
    return page


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise AssertionError(f"not JSON: {text[:200]}") from None
