"""Events -> a stream of Messages events; a finished reply -> one message.

Facts of the wire: every event has an ``event:`` line, without which SDKs see nothing; every block has one start
and one stop with all its deltas between, and only the stop commits it; ``message_start`` and ``message_delta``
carry ``usage``; a shown thinking block ends with its ``signature_delta``.
"""

from __future__ import annotations

from typing import Any, assert_never

import orjson

from app.seals import Seals
from app.surfaces import sse
from app.surfaces.messages.errors import stream_error
from app.surfaces.surface import ReplyFacts
from app.turn.estimate import estimate_input
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

_STOP_REASONS: dict[FinishReason, str] = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "refusal",
}

_PING = sse.event("ping", {"type": "ping"})
_MESSAGE_STOP = sse.event("message_stop", {"type": "message_stop"})


def usage_object(usage: Usage | None) -> dict[str, Any]:
    """All nine keys of ``usage``; the vendor counts what came from caches apart from ``input_tokens``."""
    usage = usage or Usage(0, 0)
    return {
        "cache_creation": None,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "inference_geo": None,
        "input_tokens": usage.fresh,
        "output_tokens": usage.completion,
        "output_tokens_details": None,
        "server_tool_use": None,
        "service_tier": "standard",
    }


def _delta_usage(usage: Usage | None) -> dict[str, Any]:
    """``usage`` of a ``message_delta``: its six keys."""
    whole = usage_object(usage)
    return {
        key: whole[key] for key in whole if key not in ("cache_creation", "inference_geo", "service_tier")
    }


def _stop_of(reason: FinishReason, stop_sequence: str | None) -> dict[str, Any]:
    cut = stop_sequence is not None
    return {
        "stop_reason": "stop_sequence" if cut else _STOP_REASONS[reason],
        "stop_sequence": stop_sequence,
        "stop_details": None,
        "container": None,
    }


def _message(
    facts: ReplyFacts, content: list[Any], stop: dict[str, Any], usage: Usage | None
) -> dict[str, Any]:
    message = {
        "id": sse.new_id("msg_"),
        "type": "message",
        "role": "assistant",
        "model": facts.decoded.echo.model,
        "content": content,
        **stop,
        "usage": usage_object(usage),
    }
    if facts.decoded.echo.manages_context:
        message["context_management"] = {"applied_edits": []}
    return message


_NO_STOP = {"stop_reason": None, "stop_sequence": None, "stop_details": None, "container": None}


def reply_body(facts: ReplyFacts, reply: Reply, seals: Seals) -> bytes:
    """One message as JSON. A call that the token cap cut short has no input and is left out: ``max_tokens`` says so.

    Raises UPSTREAM_FAILED for arguments that are not an object though nothing was cut.
    """
    content: list[dict[str, Any]] = []
    for block in reply.blocks:
        match block:
            case ReplyText(text):
                content.append({"type": "text", "text": text, "citations": None})
            case ReplyReasoning(text):
                content.append({"type": "thinking", "thinking": text, "signature": seals.sign(text)})
            case ReplyCall():
                if is_object(block.arguments):
                    content.append(_tool_use(block.id, block.name, orjson.Fragment(block.arguments)))
                elif reply.finish != "length":
                    raise unusable_arguments(block.name)
            case _:
                assert_never(block)
    stop = _stop_of(reply.finish, reply.stop_sequence)
    return orjson.dumps(_message(facts, content, stop, reply.usage))


def _tool_use(call_id: str, name: str, arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments, "caller": {"type": "direct"}}


class _Open:
    """The block that is open: its kind, and its deltas' frame up to the text."""

    __slots__ = ("frame", "kind", "pieces")

    def __init__(
        self, kind: type[TextDelta] | type[ReasoningDelta] | type[ToolCallStarted], index: int
    ) -> None:
        self.kind = kind
        self.pieces: list[str] = []
        if kind is TextDelta:
            delta = b'"text_delta","text":'
        elif kind is ReasoningDelta:
            delta = b'"thinking_delta","thinking":'
        else:
            delta = b'"input_json_delta","partial_json":'
        self.frame = (
            b'event: content_block_delta\ndata: {"type":"content_block_delta","index":%d,"delta":{"type":'
            % index
        ) + delta


class Encoder:
    """See ``StreamEncoder``."""

    content_type = sse.CONTENT_TYPE
    keepalive = _PING

    def __init__(self, facts: ReplyFacts, seals: Seals) -> None:
        self._facts = facts
        self._seals = seals
        self._sequencer = Sequencer()
        self._open: _Open | None = None
        self._index = 0
        self._usage: Usage | None = None

    def opening(self, usage: Usage | None) -> bytes:
        """``message_start``, with the usage known so far: until the upstream reports some, an estimate of the input."""
        self._usage = usage
        known = usage or Usage(estimate_input(self._facts.decoded.turn), 0, estimated=True)
        message = _message(self._facts, [], _NO_STOP, known)
        message.pop("context_management", None)
        return sse.event("message_start", {"type": "message_start", "message": message})

    def feed(self, events: list[Event]) -> bytes:
        """One batch. Raises UPSTREAM_FAILED at the end of a turn with a call whose arguments are no object."""
        out: list[bytes] = []
        for event in self._sequencer.feed(events):
            match event:
                case TextDelta(text) | ReasoningDelta(text):
                    self._prose(type(event), text, out)
                case ToolCallStarted(_, call_id, name):
                    self._start(ToolCallStarted, _tool_use(call_id, name, {}), out)
                case ToolCallArguments(_, fragment):
                    self._delta(fragment, out)
                case ToolCallEnded():
                    self._stop(out)
                case Usage():
                    self._usage = event
                case Finished():
                    self._stop(out)
                    out.append(self._ending(event))
                case _:
                    assert_never(event)
        return b"".join(out)

    def fault(self, fault: TurnFault) -> bytes:
        """``event: error``, last; the block that is open stays open, for it is not complete."""
        return sse.event("error", stream_error(fault, self._facts.request_id))

    def _prose(self, kind: type[TextDelta] | type[ReasoningDelta], text: str, out: list[bytes]) -> None:
        if self._open is None or self._open.kind is not kind:
            if kind is TextDelta:
                block: dict[str, Any] = {"type": "text", "text": "", "citations": None}
            else:
                block = {"type": "thinking", "thinking": "", "signature": ""}
            self._start(kind, block, out)
        if kind is ReasoningDelta:
            assert self._open is not None
            self._open.pieces.append(text)
        self._delta(text, out)

    def _delta(self, text: str, out: list[bytes]) -> None:
        assert self._open is not None
        out.append(self._open.frame + orjson.dumps(text) + b"}}\n\n")

    def _start(
        self,
        kind: type[TextDelta] | type[ReasoningDelta] | type[ToolCallStarted],
        block: dict[str, Any],
        out: list[bytes],
    ) -> None:
        self._stop(out)
        self._open = _Open(kind, self._index)
        start = {"type": "content_block_start", "index": self._index, "content_block": block}
        out.append(sse.event("content_block_start", start))

    def _stop(self, out: list[bytes]) -> None:
        """Close the open block, if any; a thinking block is sealed first."""
        block = self._open
        if block is None:
            return
        if block.kind is ReasoningDelta:
            delta = {"type": "signature_delta", "signature": self._seals.sign("".join(block.pieces))}
            sealed = {"type": "content_block_delta", "index": self._index, "delta": delta}
            out.append(sse.event("content_block_delta", sealed))
        stop = {"type": "content_block_stop", "index": self._index}
        out.append(sse.event("content_block_stop", stop))
        self._open = None
        self._index += 1

    def _ending(self, finished: Finished) -> bytes:
        event: dict[str, Any] = {
            "type": "message_delta",
            "delta": _stop_of(finished.reason, finished.stop_sequence),
            "usage": _delta_usage(self._usage),
        }
        if self._facts.decoded.echo.manages_context:
            event["context_management"] = {"applied_edits": []}
        return sse.event("message_delta", event) + _MESSAGE_STOP
