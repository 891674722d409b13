"""Short words for tests of chat completions: decode a body, judge it, encode events."""

from __future__ import annotations

from typing import Any

import orjson

from app.ledger import Findings
from app.seals import Seals
from app.surfaces import chat_completions
from app.surfaces.chat_completions.encode import reply_body
from app.surfaces.chat_completions.encode_stream import ChunkEncoder
from app.surfaces.surface import ReplyFacts, SurfaceTools
from app.turn.events import Event
from app.turn.features import Feature
from app.turn.fold import Fold
from app.upstreams.connect.upstream import CONFIRMED
from tests.support.judging import Judging

SURFACE = chat_completions.create(SurfaceTools(Seals(b"key")))
EVERYTHING = frozenset(Feature)
NOTHING: frozenset[Feature] = frozenset()
CONNECT = CONFIRMED
"""What the connect upstream carries without any switch."""
USER = {"role": "user", "content": "hi"}
REPLY_ID = "chatcmpl-1"
CREATED_S = 1_700_000_000


def body(**keys: Any) -> dict[str, Any]:
    """A request that says hi, with ``keys`` beside or instead."""
    return {"model": "m", "messages": [USER], **keys}


def function(name: str, **more: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, **more}}


def custom(name: str, **more: Any) -> dict[str, Any]:
    return {"type": "custom", "custom": {"name": name, **more}}


def call(call_id: str, name: str = "f", arguments: str = "{}") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def result(call_id: str, content: Any = "ok") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def assistant(*calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls), **more}


_JUDGING = Judging(SURFACE, NOTHING)
decode = _JUDGING.decode
refused = _JUDGING.refused
findings = _JUDGING.findings


def headers(request: dict[str, Any], features: frozenset[Feature] = NOTHING) -> dict[str, str]:
    """The x-candor-* headers without their prefix: ``{"ignored": "seed"}``."""
    return {name.removeprefix("x-candor-"): value for name, value in findings(request, features).headers()}


def reply_facts(request: dict[str, Any]) -> ReplyFacts:
    return ReplyFacts(decode(request), Findings(), "req_1", CREATED_S)


def stream(events: list[Event], **keys: Any) -> bytes:
    """The whole stream of one turn whose events came in one batch."""
    encoder = ChunkEncoder(reply_facts(body(stream=True, **keys)), REPLY_ID)
    return encoder.opening(None) + encoder.feed(events)


def whole(events: list[Event], **keys: Any) -> dict[str, Any]:
    """The whole reply for the same events."""
    fold = Fold()
    fold.feed(events)
    reply: dict[str, Any] = orjson.loads(reply_body(reply_facts(body(**keys)), fold.reply, REPLY_ID))
    return reply


def frames(written: bytes) -> list[Any]:
    """The JSON of every frame; ``[DONE]`` stands for itself."""
    assert written.endswith(b"\n\n")
    texts = written.decode().removesuffix("\n\n").split("\n\n")
    assert all(text.startswith("data: ") and "\n" not in text for text in texts)
    return [text[6:] if text == "data: [DONE]" else orjson.loads(text[6:]) for text in texts]


def deltas(written: bytes) -> list[Any]:
    """What each frame but the last says: its delta, or finish reason where there is one."""
    said: list[Any] = []
    *chunks, done = frames(written)
    assert done == "[DONE]"
    for chunk in chunks:
        choice = chunk["choices"][0]
        said.append(choice["delta"] if choice["finish_reason"] is None else choice["finish_reason"])
    return said
