"""Events -> ``chat.completion.chunk`` frames, ending in ``data: [DONE]`` or in a fault.

The first chunk has ``delta.role``, exactly one has a ``finish_reason``, and with ``include_usage`` one more
without choices has the usage, which is null on all others. A fault is the last frame; no ``[DONE]`` follows it.
"""

from __future__ import annotations

from typing import Any, assert_never

import orjson

from app.surfaces import freeform, sse
from app.surfaces.chat_completions.decode import Echo
from app.surfaces.chat_completions.encode import SERVICE_TIER, finish_reason, reply_body, usage_body
from app.surfaces.chat_completions.errors import error_body
from app.surfaces.chat_completions.stored import Keeping
from app.surfaces.surface import ReplyFacts
from app.turn.events import (
    Event,
    Finished,
    ReasoningDelta,
    TextDelta,
    ToolCallArguments,
    ToolCallStarted,
    Usage,
)
from app.turn.faults import TurnFault
from app.turn.fold import Fold

DONE = b"data: [DONE]\n\n"
NOT_STORED = b": not stored\n\n"
"""A comment, which clients pass over: this protocol has no field to say that a reply could not be kept."""


class ChunkEncoder:
    """See StreamEncoder. Everything that is the same in all chunks is serialised once, here."""

    content_type = sse.CONTENT_TYPE
    keepalive = sse.COMMENT_KEEPALIVE

    def __init__(self, facts: ReplyFacts, reply_id: str, keeping: Keeping | None = None) -> None:
        self._facts = facts
        self._id = reply_id
        self._keeping = keeping
        self._fold = None if keeping is None else Fold()
        self._echo: Echo = facts.decoded.echo
        common: dict[str, Any] = {
            "id": reply_id,
            "object": "chat.completion.chunk",
            "created": facts.created_s,
            "model": facts.decoded.turn.model,
        }
        if self._echo.names_tier:
            common["service_tier"] = SERVICE_TIER
        self._common = b"data: " + orjson.dumps(common)[:-1]
        self._head = self._common + b',"choices":[{"index":0,"delta":'
        self._end = (b',"usage":null' if self._echo.include_usage else b"") + b"}\n\n"
        self._tail = b',"logprobs":null,"finish_reason":null}]' + self._end
        self._text_head = self._head + b'{"content":'
        self._text_tail = b"}" + self._tail
        self._calls: dict[int, _OpenCall] = {}
        self._usage: Usage | None = None

    def opening(self, usage: Usage | None) -> bytes:
        """The chunk that names the role; usage comes last in this protocol."""
        return self._delta({"role": "assistant", "content": None})

    def feed(self, events: list[Event]) -> bytes:
        """One batch as one write."""
        if self._fold is not None:
            self._fold.feed(events)
        frames: list[bytes] = []
        for event in events:
            if isinstance(event, TextDelta):
                frames.append(self._text_head + orjson.dumps(event.text) + self._text_tail)
            elif isinstance(event, ToolCallArguments):
                frames.append(self._grow(event))
            elif isinstance(event, ReasoningDelta):
                frames.append(self._delta({"reasoning_content": event.text}))
            elif isinstance(event, ToolCallStarted):
                frames.append(self._start(event))
            elif isinstance(event, Usage):
                self._usage = event
            elif isinstance(event, Finished):
                frames.append(self._finish(event))
            else:
                assert_never(event)
        return b"".join(frames)

    def fault(self, fault: TurnFault) -> bytes:
        """The fault as the last frame. The SDK raises APIError for it."""
        return sse.data(error_body(fault))

    def _delta(self, delta: dict[str, Any]) -> bytes:
        return self._head + orjson.dumps(delta) + self._tail

    def _start(self, event: ToolCallStarted) -> bytes:
        """The first fragment of a call has its id, type and name."""
        call = self._calls[event.index] = _OpenCall(
            is_custom=event.name in self._echo.custom_tools,
            is_hidden=self._echo.legacy_functions and bool(self._calls),
        )
        if self._echo.legacy_functions:
            legacy = {"function_call": {"name": event.name, "arguments": ""}}
            return b"" if call.is_hidden else self._delta(legacy)
        if call.is_custom:
            kind, called = "custom", {"name": event.name, "input": ""}
        else:
            kind, called = "function", {"name": event.name, "arguments": ""}
        fragment = {"index": event.index, "id": event.id, "type": kind, kind: called}
        return self._delta({"tool_calls": [fragment]})

    def _grow(self, event: ToolCallArguments) -> bytes:
        call = self._calls[event.index]
        call.is_empty = False
        if call.is_custom:
            call.pieces.append(event.fragment)
            return b""
        return self._arguments(event.index, call, event.fragment)

    def _arguments(self, index: int, call: _OpenCall, fragment: str) -> bytes:
        if call.is_hidden:
            return b""
        if self._echo.legacy_functions:
            return self._delta({"function_call": {"arguments": fragment}})
        return self._delta({"tool_calls": [{"index": index, "function": {"arguments": fragment}}]})

    def _finish(self, event: Finished) -> bytes:
        """What the calls still lack, the finish, the usage when it was asked for, and the terminal marker."""
        frames = [self._complete(index, call) for index, call in self._calls.items()]
        reason = orjson.dumps(finish_reason(event.reason, self._echo))
        frames.append(self._head + b'{},"logprobs":null,"finish_reason":' + reason + b"}]" + self._end)
        if self._echo.include_usage and self._usage is not None:
            usage = orjson.dumps(usage_body(self._usage))
            frames.append(self._common + b',"choices":[],"usage":' + usage + b"}\n\n")
        if not self._is_kept():
            frames.append(NOT_STORED)
        frames.append(DONE)
        return b"".join(frames)

    def _is_kept(self) -> bool:
        """Keep the reply, if that was asked for, before its end is told; false when it was and failed."""
        if self._keeping is None or self._fold is None:
            return True
        return self._keeping.keep(reply_body(self._facts, self._fold.reply, self._id))

    def _complete(self, index: int, call: _OpenCall) -> bytes:
        """Empty arguments are ``{}``; the text of a custom tool is known only when its wrapping is whole."""
        if call.is_custom:
            text = freeform.unwrap("".join(call.pieces) or "{}")
            return self._delta({"tool_calls": [{"index": index, "custom": {"input": text}}]}) if text else b""
        return self._arguments(index, call, "{}") if call.is_empty else b""


class _OpenCall:
    """One call of the running turn. ``is_hidden``: the legacy shape has room for one call, the first."""

    __slots__ = ("is_custom", "is_empty", "is_hidden", "pieces")

    def __init__(self, *, is_custom: bool, is_hidden: bool) -> None:
        self.is_custom = is_custom
        self.is_hidden = is_hidden
        self.is_empty = True
        self.pieces: list[str] = []
