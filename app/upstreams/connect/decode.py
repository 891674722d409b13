"""GetChatMessageResponse messages -> events, by the rules for fragments, finish and usage.

Every message makes its own events, so what comes out does not depend on how the bytes were split.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal
from uuid import uuid4

import orjson
from google.protobuf.message import DecodeError

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
from app.turn.faults import FaultKind, TurnFault
from app.turn.turn import Turn
from app.upstreams.connect.wire_pb2 import GetChatMessageResponse, ToolCall

StopReason = Literal["stop", "length", "content_filter"]

NORMAL_STOPS = frozenset({2, 4})
"""Finish numbers known to mean nothing special; the rest mean what the operator's map says, if anything."""

_parse = GetChatMessageResponse.FromString


@dataclass(frozen=True, slots=True)
class Reading:
    """How responses are read: settings of the upstream, the same for every turn."""

    stop_reasons: Mapping[int, StopReason] = field(default_factory=dict)
    credit_cost: bool = False
    quota: bool = False


@dataclass(slots=True)
class _Call:
    """A call as far as it has been told."""

    index: int
    name: str
    fragments: list[str] = field(default_factory=list)

    def whole(self) -> bool:
        """Whether the arguments are complete JSON; none at all stand for an empty object."""
        text = "".join(self.fragments)
        if not text:
            return True
        try:
            orjson.loads(text)
        except orjson.JSONDecodeError:
            return False
        return True


def new_call_id() -> str:
    """An id for a call that the upstream gave none."""
    return f"call_{uuid4().hex[:24]}"


class ResponseDecoder:
    """Messages of one turn in, events out.

    ``credit_cost`` and ``quota_basis_points`` (hundredths of a percent of quota left) hold the last values
    that the upstream told, if they are read at all.
    """

    def __init__(self, turn: Turn, reading: Reading, new_id: Callable[[], str] = new_call_id) -> None:
        self._reading = reading
        self._reads_account = reading.credit_cost or reading.quota
        self._new_id = new_id
        self._cap = turn.sampling.max_output_tokens
        self._calls_allowed = turn.tool_choice is None or turn.tool_choice.mode != "none"
        self._calls: list[_Call] = []
        self._call_of_id: dict[str, _Call] = {}
        self._addressed: _Call | None = None
        self._usage: Usage | None = None
        self._finish: int | None = None
        self.credit_cost: float | None = None
        self.quota_basis_points: int | None = None

    def feed(self, payload: bytes, events: list[Event]) -> None:
        """Append the events of one message, in the order reasoning, text, calls, usage.

        Raises an UPSTREAM_FAILED fault for bytes or fragments that make no sense, and for a call where none
        was allowed.
        """
        try:
            message = _parse(payload)
        except DecodeError:
            raise _failed("sent a message that is not protobuf") from None
        if reasoning := message.reasoning:
            events.append(ReasoningDelta(reasoning))
        if text := message.text:
            events.append(TextDelta(text))
        if fragments := message.tool_calls:
            self._take_calls(fragments, events)
        if message.HasField("usage"):
            usage = message.usage
            self._usage = Usage(usage.fresh, usage.completion, usage.cache_read, usage.cache_write)
            events.append(self._usage)
        if finish := message.finish:
            self._finish = finish
        if self._reads_account:
            self._take_account(message)

    def finished(self) -> Finished:
        """How the turn ended, to be asked once the stream ended well."""
        return Finished(self._reason())

    def _reason(self) -> FinishReason:
        named = self._reading.stop_reasons.get(self._finish) if self._finish is not None else None
        if named is not None:
            return named
        if (
            self._cap is not None
            and self._usage is not None
            and self._usage.completion >= self._cap
            and (self._addressed is None or not self._addressed.whole())
        ):
            return "length"
        return "tool_calls" if self._calls else "stop"

    def _take_calls(self, fragments: Iterable[ToolCall], events: list[Event]) -> None:
        if not self._calls_allowed:
            raise _failed("called a tool although the request allowed none")
        for fragment in fragments:
            call = self._address(fragment.id, fragment.name, events)
            if text := fragment.arguments_json or fragment.invalid_json:
                call.fragments.append(text)
                events.append(ToolCallArguments(call.index, text))

    def _address(self, call_id: str, name: str, events: list[Event]) -> _Call:
        """The call that a fragment is for, opened if it is new."""
        if call_id:
            call = self._call_of_id.get(call_id)
            if call is None:
                if not name:
                    raise _failed("sent a part of a tool call that it had not opened")
                call = self._open(call_id, name, events)
            elif name and name != call.name:
                raise _failed("gave a tool call another name than it had opened it with")
        elif name:
            call = self._open(self._new_id(), name, events)
        elif self._addressed is None:
            raise _failed("sent a part of a tool call before it had opened any")
        else:
            call = self._addressed
        self._addressed = call
        return call

    def _open(self, call_id: str, name: str, events: list[Event]) -> _Call:
        call = _Call(len(self._calls), name)
        self._calls.append(call)
        self._call_of_id[call_id] = call
        events.append(ToolCallStarted(call.index, call_id, name))
        return call

    def _take_account(self, message: GetChatMessageResponse) -> None:
        if self._reading.credit_cost and message.HasField("credit_cost"):
            self.credit_cost = message.credit_cost
        if self._reading.quota and message.HasField("quota_basis_points"):
            self.quota_basis_points = message.quota_basis_points


def _failed(what: str) -> TurnFault:
    return TurnFault(FaultKind.UPSTREAM_FAILED, f"the upstream {what}")
