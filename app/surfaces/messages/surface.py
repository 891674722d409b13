"""The Messages surface as the pipeline sees it."""

from __future__ import annotations

from typing import Any

from app.seals import Seals
from app.surfaces.messages.decode import Decoder
from app.surfaces.messages.encode import Encoder, reply_body
from app.surfaces.messages.errors import fault_reply
from app.surfaces.messages.ledger import LEDGER
from app.surfaces.surface import Decoded, FaultReply, ReplyFacts, RequestFacts, SurfaceTools
from app.turn.faults import TurnFault
from app.turn.fold import Reply


class MessagesSurface:
    """See ``Surface``. ``counting`` is the same surface for requests whose tokens are only counted."""

    name = "messages"
    ledger = LEDGER

    def __init__(self, seals: Seals, *, counts_only: bool = False) -> None:
        self._seals = seals
        self._decoder = Decoder(seals, counts_only=counts_only)

    def counting(self) -> MessagesSurface:
        """The surface of ``count_tokens``, which needs no ``max_tokens``."""
        return MessagesSurface(self._seals, counts_only=True)

    def decode(self, body: dict[str, Any], facts: RequestFacts) -> Decoded:
        """Body -> turn. Raises INVALID_REQUEST and UNSUPPORTED_PARAMETER faults with bracketed paths."""
        return self._decoder.decode(body, facts)

    def shows_usage(self, decoded: Decoded) -> bool:
        """Every message carries token counts."""
        return True

    def encoder(self, facts: ReplyFacts) -> Encoder:
        """The encoder of one streamed message."""
        return Encoder(facts, self._seals)

    def reply_body(self, facts: ReplyFacts, reply: Reply) -> bytes:
        """A finished message. Raises UPSTREAM_FAILED for a call whose arguments are not an object."""
        return reply_body(facts, reply, self._seals)

    def fault_reply(self, fault: TurnFault, request_id: str) -> FaultReply:
        """Status and body of a fault."""
        return fault_reply(fault, request_id)


def create(tools: SurfaceTools) -> MessagesSurface:
    """The surface of one app."""
    return MessagesSurface(tools.seals)
