"""A kept response as the event stream that it was, or would have been."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from app.surfaces.responses.open_items import Frames
from app.surfaces.responses.stored import StoredResponse
from app.surfaces.writing import json_bytes

_SEQUENCE = re.compile(rb'"sequence_number":(\d+)')
_ENDED = ("completed", "incomplete", "failed")


def replay(stored: StoredResponse, starting_after: int | None) -> bytes:
    """The events with a sequence number above ``starting_after``, up to the last.

    A stream is told as it was. A response that was not streamed is told in whole items.
    """
    if stored.events:
        events = [event + b"\n\n" for event in stored.events.split(b"\n\n") if event]
        last = Frames(stored.last_sequence)
    else:
        last = Frames()
        events = list(_told(last, stored.response))
    status = stored.response["status"]
    assert status in _ENDED
    events.append(last.state(f"response.{status}", json_bytes(stored.response)))
    if starting_after is None:
        return b"".join(events)
    return b"".join(event for event in events if _number(event) > starting_after)


def _number(event: bytes) -> int:
    """Its sequence number. Text inside JSON has its quotes escaped, so the first match is the event's own."""
    found = _SEQUENCE.search(event)
    assert found is not None
    return int(found[1])


def _told(frames: Frames, response: Mapping[str, Any]) -> Iterator[bytes]:
    """All events before the last of a response that was never streamed."""
    nothing_yet: dict[str, Any] = {
        "status": "in_progress",
        "output": [],
        "usage": None,
        "error": None,
        "incomplete_details": None,
        "completed_at": None,
    }
    begun = json_bytes({**response, **nothing_yet})
    yield frames.state("response.created", begun)
    yield frames.state("response.in_progress", begun)
    for index, item in enumerate(response["output"]):
        yield frames.item("response.output_item.added", index, json_bytes(_begun(item)))
        place = {"item_id": item["id"], "output_index": index}
        match item["type"]:
            case "message":
                yield from _parts(frames, place, item["content"], "content", "output_text")
            case "reasoning":
                yield from _parts(frames, place, item["summary"], "summary", "reasoning_summary_text")
            case "function_call":
                yield from _call(frames, place, "response.function_call_arguments", "arguments", item)
            case "custom_tool_call":
                yield from _call(frames, place, "response.custom_tool_call_input", "input", item)
        yield frames.item("response.output_item.done", index, json_bytes(item))


def _begun(item: Mapping[str, Any]) -> dict[str, Any]:
    """``item`` before it said anything."""
    begun = {**item, **({"status": "in_progress"} if "status" in item else {})}
    for key, empty in (("content", []), ("summary", []), ("arguments", ""), ("input", "")):
        if type(item.get(key)) is type(empty):
            begun[key] = empty
    begun.pop("encrypted_content", None)
    return begun


def _parts(frames: Frames, place: Mapping[str, Any], parts: list[Any], of: str, name: str) -> Iterator[bytes]:
    family = "content_part" if of == "content" else "reasoning_summary_part"
    logprobs: dict[str, Any] = {"logprobs": []} if of == "content" else {}
    for index, part in enumerate(parts):
        at = {**place, f"{of}_index": index}
        yield frames.event(f"response.{family}.added", {**at, "part": {**part, "text": ""}})
        yield frames.event(f"response.{name}.delta", {**at, **logprobs, "delta": part["text"]})
        yield frames.event(f"response.{name}.done", {**at, **logprobs, "text": part["text"]})
        yield frames.event(f"response.{family}.done", {**at, "part": part})


def _call(
    frames: Frames, place: Mapping[str, Any], name: str, key: str, item: Mapping[str, Any]
) -> Iterator[bytes]:
    if item[key]:
        yield frames.event(f"{name}.delta", {**place, "delta": item[key]})
    yield frames.event(f"{name}.done", {**place, key: item[key]})
