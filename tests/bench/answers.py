"""The canned answers and the requests that ask for them, by case.

Every event's text has one ``~`` in it, so that a client can count events without parsing. Events of paced cases
carry the time at which they were sent, in microseconds of the monotonic clock: ``~1234567890123456``.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from app.upstreams.connect import wire_pb2
from fake_upstream.connect_wire import end_of_stream, envelope

STAMP_DIGITS = 16
NO_STAMP = "0" * STAMP_DIGITS
USAGE = (512, 20)
AGENT_ROUNDS = 72
"""With the system text and the task: 218 messages."""
MODEL_PREFIX = "bench-"


@dataclass(frozen=True)
class Case:
    """One shape of answer. ``gap_s``: seconds between events, 0 for all in one write."""

    name: str
    events: int
    stream: bool
    gap_s: float = 0.0
    history: bool = False


CASES = {
    case.name: case
    for case in (
        Case("whole", events=20, stream=False),
        Case("stream", events=20, stream=True),
        Case("burst", events=200, stream=True),
        Case("paced", events=400, stream=True, gap_s=0.005),
        Case("slow", events=100, stream=True, gap_s=0.05),
        Case("history", events=20, stream=False, history=True),
    )
}


@dataclass(frozen=True)
class Answer:
    """Bytes of one answer: ``start`` at once, then ``event(stamp)`` for each paced event, then ``end``."""

    start: bytes
    event: Callable[[bytes], bytes]
    events: int
    gap_s: float
    end: bytes


def chunk(data: bytes) -> bytes:
    """``data`` as one chunk of a chunked body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


LAST_CHUNK = b"0\r\n\r\n"


def _head(content_type: str, length: int | None = None) -> bytes:
    framing = "transfer-encoding: chunked" if length is None else f"content-length: {length}"
    return f"HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\n{framing}\r\n\r\n".encode()


def _text(case: Case, index: int) -> str:
    return f"~{NO_STAMP}" if case.gap_s else f"~word{index % 1000:03d} "


def _streamed(head: bytes, frames: list[bytes], end: bytes, case: Case) -> Answer:
    """``frames`` in one write, or one after another with their stamps filled in."""
    if not case.gap_s:
        return Answer(head + b"".join(map(chunk, frames)) + end, lambda stamp: b"", 0, 0.0, b"")
    before, after = chunk(frames[0]).split(NO_STAMP.encode())
    return Answer(head, lambda stamp: before + stamp + after, case.events, case.gap_s, end)


def connect_answer(case: Case) -> Answer:
    """The answer in the upstream's own protocol, which always streams."""
    frames = [
        envelope(wire_pb2.GetChatMessageResponse(text=_text(case, index)).SerializeToString())
        for index in range(case.events)
    ]
    last = wire_pb2.GetChatMessageResponse(finish=2)
    last.usage.fresh, last.usage.completion = USAGE
    end = chunk(envelope(last.SerializeToString())) + chunk(end_of_stream()) + LAST_CHUNK
    return _streamed(_head("application/connect+proto"), frames, end, case)


def openai_answer(case: Case) -> Answer:
    """The same answer as an OpenAI-shaped server gives it: what the direct figure and other proxies get."""
    usage = {"prompt_tokens": USAGE[0], "completion_tokens": USAGE[1], "total_tokens": sum(USAGE)}
    common = {"id": "chatcmpl-bench", "created": 1790000000, "model": MODEL_PREFIX + case.name}
    if not case.stream:
        text = "".join(_text(case, index) for index in range(case.events))
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        body = _json({**common, "object": "chat.completion", "choices": [choice], "usage": usage})
        whole = _head("application/json", len(body)) + body
        return Answer(whole, lambda stamp: b"", 0, 0.0, b"")

    def frame(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return b"data: " + _json({**common, "object": "chat.completion.chunk", "choices": [choice]}) + b"\n\n"

    frames = [frame({"content": _text(case, index)}) for index in range(case.events)]
    end = chunk(frame({}, "stop")) + chunk(b"data: [DONE]\n\n") + LAST_CHUNK
    head = _head("text/event-stream") + chunk(frame({"role": "assistant", "content": ""}))
    return _streamed(head, frames, end, case)


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def request_body(case: Case) -> bytes:
    """What a caller asks: two messages of 570 bytes in all, or an agent's history."""
    if case.history:
        return agent_body(case, AGENT_ROUNDS)
    messages = [
        {"role": "system", "content": "You are a helpful assistant. " * 8},
        {"role": "user", "content": "Tell me in a few words what a proxy is. " * 5},
    ]
    return _json({"model": MODEL_PREFIX + case.name, "stream": case.stream, "messages": messages})


def agent_body(case: Case, rounds: int) -> bytes:
    """What an agent asks after ``rounds`` of work."""
    body = {"model": MODEL_PREFIX + case.name, "stream": case.stream}
    return _json({**body, "messages": agent_messages(rounds), "tools": agent_tools()})


def agent_messages(rounds: int) -> list[dict[str, Any]]:
    """A coding agent's history: ``rounds`` of call, result and remark around a system text and a task."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You are a coding agent. Work in small steps. " * 40},
        {"role": "user", "content": "Make the failing test pass. " * 4},
    ]
    for number in range(rounds):
        arguments = json.dumps({"path": f"src/module_{number}.py", "limit": 200})
        function = {"name": f"tool_{number % 20}", "arguments": arguments}
        call = {"id": f"call_{number:04d}", "type": "function", "function": function}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {
                "role": "tool",
                "tool_call_id": f"call_{number:04d}",
                "content": "def f(x):\n    return x\n" * 12,
            },
            {"role": "assistant", "content": f"Step {number} is done; the next file is module {number + 1}."},
        ]
    return messages


def agent_tools(count: int = 20) -> list[dict[str, Any]]:
    """Tools with the kind of schema that coding agents send."""
    properties = {
        "path": {"type": "string", "description": "Path of the file, relative to the working directory."},
        "limit": {"type": "integer", "minimum": 1, "description": "Most lines to return."},
        "mode": {"type": "string", "enum": ["read", "write", "append"]},
        "patterns": {"type": "array", "items": {"type": "string"}},
    }
    schema = {"type": "object", "properties": properties, "required": ["path"], "additionalProperties": False}
    return [
        {
            "type": "function",
            "function": {
                "name": f"tool_{number}",
                "description": "Does one thing to one file, and says what it did. " * 4,
                "parameters": schema,
            },
        }
        for number in range(count)
    ]
