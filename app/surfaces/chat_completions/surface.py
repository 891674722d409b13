"""The surface as the pipeline sees it: this folder's rooms under one roof."""

from __future__ import annotations

from typing import Any

from app.surfaces import sse
from app.surfaces.chat_completions import ledger
from app.surfaces.chat_completions.decode import Echo, decode
from app.surfaces.chat_completions.encode import reply_body
from app.surfaces.chat_completions.encode_stream import ChunkEncoder
from app.surfaces.chat_completions.errors import fault_reply
from app.surfaces.surface import Decoded, FaultReply, ReplyFacts, RequestFacts
from app.turn.faults import TurnFault
from app.turn.fold import Reply

ID_PREFIX = "chatcmpl-"


class ChatCompletions:
    """See Surface."""

    name = ledger.NAME

    def __init__(self) -> None:
        self.ledger = ledger.build()

    def decode(self, body: dict[str, Any], facts: RequestFacts) -> Decoded:
        """Body -> turn."""
        return decode(body, facts)

    def shows_usage(self, decoded: Decoded) -> bool:
        """Whole replies have usage; streams only when asked."""
        echo: Echo = decoded.echo
        return echo.include_usage or not decoded.turn.stream

    def encoder(self, facts: ReplyFacts) -> ChunkEncoder:
        """The encoder of one stream."""
        return ChunkEncoder(facts, sse.new_id(ID_PREFIX))

    def reply_body(self, facts: ReplyFacts, reply: Reply) -> bytes:
        """A finished reply as JSON."""
        return reply_body(facts, reply, sse.new_id(ID_PREFIX))

    def fault_reply(self, fault: TurnFault, request_id: str) -> FaultReply:
        """A fault as HTTP; this vendor tells the request id in headers only."""
        return fault_reply(fault)
