"""Events -> chunks of a stream; a finished reply -> one GenerateContentResponse.

Protocol facts: https://ai.google.dev/api/generate-content#v1beta.GenerateContentResponse, and what real clients
need: every chunk holds at least one part (the Python SDK drops a turn from its chat history otherwise), the last
one ``finishReason``; no SSE comments, no ``event:`` lines and no ``[DONE]``, on which clients fail.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import assert_never

import orjson

from app.seals import Seals
from app.surfaces.generate_content import signatures
from app.surfaces.generate_content.decode import Framing
from app.surfaces.generate_content.errors import error_body
from app.surfaces.surface import ReplyFacts
from app.turn.events import (
    Event,
    Finished,
    FinishReason,
    ReasoningDelta,
    TextDelta,
    ToolCallArguments,
    ToolCallStarted,
    Usage,
)
from app.turn.faults import TurnFault
from app.turn.fold import Reply, ReplyCall, ReplyReasoning, ReplyText
from app.turn.json_value import is_object
from app.turn.sequencer import Sequencer, ToolCallEnded, unusable_arguments

FINISH_REASONS: dict[FinishReason, str] = {
    "stop": "STOP",
    "length": "MAX_TOKENS",
    "tool_calls": "STOP",
    "content_filter": "SAFETY",
}
_EMPTY_PART = b'{"text":""}'
_ONE_LINE = str.maketrans("\r\n", "  ")


def text_part(text: str) -> bytes:
    """A part of answer text."""
    return b'{"text":' + orjson.dumps(text) + b"}"


def thought_part(text: str) -> bytes:
    """A part of a thought that goes on."""
    return b'{"text":' + orjson.dumps(text) + b',"thought":true}'


def sealed_thought_part(text: str, seal: str) -> bytes:
    """A part that ends a thought."""
    return b"".join(
        (
            b'{"text":',
            orjson.dumps(text),
            b',"thought":true,"thoughtSignature":',
            orjson.dumps(signatures.to_field(seal)),
            b"}",
        )
    )


def call_part(call_id: str, name: str, arguments: str, seal: str | None) -> bytes:
    """A whole call. Line breaks in ``arguments`` can only stand between tokens; a ``data:`` line has none."""
    head = b'{"functionCall":{"id":' + orjson.dumps(call_id) + b',"name":' + orjson.dumps(name) + b',"args":'
    part = head + arguments.translate(_ONE_LINE).encode() + b"}"
    if seal is not None:
        part += b',"thoughtSignature":' + orjson.dumps(signatures.to_field(seal))
    return part + b"}"


def usage_metadata(usage: Usage) -> dict[str, int]:
    """Token counts; the cached ones only when there are some."""
    counts = {
        "promptTokenCount": usage.prompt,
        "candidatesTokenCount": usage.completion,
        "totalTokenCount": usage.prompt + usage.completion,
    }
    if usage.cache_read:
        counts["cachedContentTokenCount"] = usage.cache_read
    return counts


class Envelope:
    """What surrounds the parts of every chunk of one reply; made once."""

    def __init__(self, model: str) -> None:
        self._names = b'"modelVersion":%s,"responseId":%s}' % (
            orjson.dumps(model),
            orjson.dumps(secrets.token_urlsafe(18)),
        )
        self.head = b'{"candidates":[{"content":{"parts":['
        self._end_of_content = b'],"role":"model"}'
        self.tail = self._end_of_content + b',"index":0}],' + self._names

    def last(self, parts: bytes, reason: FinishReason, usage: Usage | None) -> bytes:
        """The chunk that finishes a reply, or the whole of one."""
        finish = b',"finishReason":%s,"index":0}],' % orjson.dumps(FINISH_REASONS[reason])
        counts = b"" if usage is None else b'"usageMetadata":%s,' % orjson.dumps(usage_metadata(usage))
        return self.head + (parts or _EMPTY_PART) + self._end_of_content + finish + counts + self._names


@dataclass(slots=True)
class _Thoughts:
    """Reasoning on its way out: the text since the last seal, and the blob that the next call carries.

    Clients that hand thoughts back get them sealed at their end; others keep only what a call part carries.
    """

    seals: Seals
    pieces: list[str] = field(default_factory=list)
    blob: str | None = None

    def close(self) -> str | None:
        """The seal of the thought that ends here, if one was open."""
        if not self.pieces:
            return None
        text = "".join(self.pieces)
        self.pieces.clear()
        self.blob = self.seals.wrap(text)
        return self.seals.sign(text)

    def for_call(self) -> str | None:
        """The blob for a call: the first after a thought carries it."""
        blob, self.blob = self.blob, None
        return blob


class StreamChunks:
    """See StreamEncoder. Calls go out whole when their arguments are, and what comes later waits for that."""

    def __init__(self, facts: ReplyFacts, seals: Seals, framing: Framing) -> None:
        self._envelope = Envelope(facts.decoded.turn.model)
        self._sequencer = Sequencer()
        self._thoughts = _Thoughts(seals)
        self._usage: Usage | None = None
        self._sse = framing == "sse"
        self._between = b""
        self.content_type = "text/event-stream; charset=utf-8" if self._sse else "application/json"
        self.keepalive = b"\n"

    def opening(self, usage: Usage | None) -> bytes:
        """Nothing, or the array's bracket."""
        return b"" if self._sse else b"["

    def feed(self, events: list[Event]) -> bytes:
        """One batch, as one write. Raises an UPSTREAM_FAILED fault for a call without an object of arguments."""
        chunks = list(self._chunks(events))
        is_last = bool(events) and isinstance(events[-1], Finished)
        return self._frame(chunks, is_last=is_last)

    def fault(self, fault: TurnFault) -> bytes:
        """The in-stream fault."""
        return self._frame([orjson.dumps(error_body(fault))], is_last=True)

    def _frame(self, chunks: list[bytes], *, is_last: bool) -> bytes:
        if self._sse:
            return b"".join(b"data: %s\n\n" % chunk for chunk in chunks)
        if not chunks:
            return b""
        written = self._between + b",\n".join(chunks)
        self._between = b",\n"
        return written + b"]" if is_last else written

    def _chunks(self, events: list[Event]) -> Iterator[bytes]:
        head, tail = self._envelope.head, self._envelope.tail
        thoughts = self._thoughts
        for event in self._sequencer.feed(events):
            if isinstance(event, Usage):
                self._usage = event
                continue
            if isinstance(event, ReasoningDelta):
                thoughts.pieces.append(event.text)
                yield head + thought_part(event.text) + tail
                continue
            if thoughts.pieces:
                seal = thoughts.close()
                assert seal is not None
                yield head + sealed_thought_part("", seal) + tail
            match event:
                case TextDelta(text):
                    yield head + text_part(text) + tail
                case ToolCallStarted() | ToolCallArguments():
                    pass
                case ToolCallEnded():
                    if not event.cut:
                        part = call_part(event.id, event.name, event.arguments, thoughts.for_call())
                        yield head + part + tail
                case Finished():
                    yield self._envelope.last(b"", event.reason, self._usage)
                case _:
                    assert_never(event)


def whole_body(facts: ReplyFacts, reply: Reply, seals: Seals) -> bytes:
    """A finished reply. Raises an UPSTREAM_FAILED fault for a call without an object of arguments, unless the
    token cap cut it: then the call is left out and the finish says so."""
    thoughts = _Thoughts(seals)
    parts: list[bytes] = []
    for block in reply.blocks:
        match block:
            case ReplyText(text):
                parts.append(text_part(text))
            case ReplyReasoning(text):
                thoughts.pieces.append(text)
                seal = thoughts.close()
                parts.append(thought_part(text) if seal is None else sealed_thought_part(text, seal))
            case ReplyCall():
                if is_object(block.arguments):
                    parts.append(call_part(block.id, block.name, block.arguments, thoughts.for_call()))
                elif reply.finish != "length":
                    raise unusable_arguments(block.name)
            case _:
                assert_never(block)
    return Envelope(facts.decoded.turn.model).last(b",".join(parts), reply.finish, reply.usage)
