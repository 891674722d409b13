"""The surface as the pipeline sees it: one object for turns, one for counting."""

from __future__ import annotations

from typing import Any

import orjson

from app.seals import Seals
from app.surfaces.generate_content import errors
from app.surfaces.generate_content.decode import Echo, decode, decode_count
from app.surfaces.generate_content.encode import StreamChunks, whole_body
from app.surfaces.generate_content.ledger import NAME, count_ledger, ledger
from app.surfaces.surface import Decoded, FaultReply, ReplyFacts, RequestFacts
from app.turn.faults import TurnFault
from app.turn.fold import Reply


class GenerateContent:
    """See Surface. ``counting`` is its twin for countTokens, which has a ledger of its own."""

    name = NAME

    def __init__(self, seals: Seals) -> None:
        self._seals = seals
        self.ledger = ledger()
        self.counting = CountTokens(seals)

    def decode(self, body: dict[str, Any], facts: RequestFacts) -> Decoded:
        """See ``decode.decode``."""
        return decode(body, facts, self._seals)

    def shows_usage(self, decoded: Decoded) -> bool:
        """Always: every reply ends with ``usageMetadata``."""
        return True

    def encoder(self, facts: ReplyFacts) -> StreamChunks:
        """Server-sent events with ``alt=sse``, else one JSON array."""
        echo = facts.decoded.echo
        assert isinstance(echo, Echo)
        return StreamChunks(facts, self._seals, echo.framing)

    def reply_body(self, facts: ReplyFacts, reply: Reply) -> bytes:
        """One GenerateContentResponse."""
        return whole_body(facts, reply, self._seals)

    def fault_reply(self, fault: TurnFault, request_id: str) -> FaultReply:
        """Status and body; the request id goes in headers only."""
        return FaultReply(errors.status_of(fault), orjson.dumps(errors.error_body(fault)))


class CountTokens(GenerateContent):
    """The same surface when it is only asked to count."""

    def __init__(self, seals: Seals) -> None:
        self._seals = seals
        self.ledger = count_ledger()
        self.counting = self

    def decode(self, body: dict[str, Any], facts: RequestFacts) -> Decoded:
        """See ``decode.decode_count``."""
        return decode_count(body, facts, self._seals)


def count_body(tokens: int) -> dict[str, int]:
    """The reply of countTokens."""
    return {"totalTokens": tokens}
