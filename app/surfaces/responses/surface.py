"""The responses surface as the pipeline sees it."""

from __future__ import annotations

from typing import Any

from app.surfaces.kept import ReplyIds
from app.surfaces.responses.decode import decode
from app.surfaces.responses.encode import ResponsesEncoder
from app.surfaces.responses.encode_reply import reply_body
from app.surfaces.responses.errors import SURFACE, fault_reply
from app.surfaces.responses.ledger import make_ledger
from app.surfaces.responses.recall import Recall
from app.surfaces.responses.stored import Keeping, Library
from app.surfaces.surface import (
    Decoded,
    FaultReply,
    ReplyFacts,
    RequestFacts,
    StreamEncoder,
    SurfaceTools,
)
from app.turn.faults import TurnFault
from app.turn.fold import Reply


class Responses:
    """See Surface."""

    name = SURFACE

    def __init__(self, tools: SurfaceTools) -> None:
        self._seals = tools.seals
        self.library = None if tools.shelf is None else Library(tools.shelf, tools.seals)
        self.ledger = make_ledger(tools.seals, keeps=self.library is not None)

    def decode(self, body: dict[str, Any], facts: RequestFacts) -> Decoded:
        """Body -> turn. Raises INVALID_REQUEST."""
        return decode(body, self._seals, Recall(self.library, facts.caller))

    def shows_usage(self, decoded: Decoded) -> bool:
        """Every finished response has token counts."""
        return True

    def encoder(self, facts: ReplyFacts) -> StreamEncoder:
        """The encoder of one streamed response."""
        ids = ReplyIds()
        return ResponsesEncoder(facts, self._seals, self._keeping(facts, ids), new_id=ids)

    def reply_body(self, facts: ReplyFacts, reply: Reply) -> bytes:
        """A finished response. Raises UPSTREAM_FAILED when a client-run call does not fit its tool."""
        ids = ReplyIds()
        return reply_body(facts, reply, self._seals, self._keeping(facts, ids), new_id=ids)

    def _keeping(self, facts: ReplyFacts, ids: ReplyIds) -> Keeping | None:
        return None if self.library is None else self.library.keeping(facts, ids)

    def fault_reply(self, fault: TurnFault, request_id: str) -> FaultReply:
        """``fault`` as a real HTTP reply; the request id is in the headers only."""
        return fault_reply(fault)
