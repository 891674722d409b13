"""The surface as the pipeline sees it: this folder's rooms under one roof."""

from __future__ import annotations

from typing import Any

from app.ledger import Disposition, Finding, Outcome
from app.stores.shelf import Shelf
from app.surfaces import sse
from app.surfaces.chat_completions import ledger
from app.surfaces.chat_completions.decode import Echo, decode
from app.surfaces.chat_completions.encode import reply_body
from app.surfaces.chat_completions.encode_stream import ChunkEncoder
from app.surfaces.chat_completions.errors import fault_reply
from app.surfaces.chat_completions.stored import Cabinet
from app.surfaces.surface import Decoded, FaultReply, ReplyFacts, RequestFacts
from app.turn.faults import TurnFault
from app.turn.fold import Reply

ID_PREFIX = "chatcmpl-"
STORE = "store"


class ChatCompletions:
    """See Surface."""

    name = ledger.NAME

    def __init__(self, shelf: Shelf | None = None) -> None:
        self.cabinet = Cabinet(shelf)
        self.ledger = ledger.build(keeps=shelf is not None)

    def decode(self, body: dict[str, Any], facts: RequestFacts) -> Decoded:
        """Body -> turn."""
        return decode(body, facts)

    def shows_usage(self, decoded: Decoded) -> bool:
        """Whole replies have usage; streams only when asked."""
        echo: Echo = decoded.echo
        return echo.include_usage or not decoded.turn.stream

    def encoder(self, facts: ReplyFacts) -> ChunkEncoder:
        """The encoder of one stream."""
        reply_id = sse.new_id(ID_PREFIX)
        keeping = self.cabinet.keeping(facts, reply_id)
        if keeping is None:
            self._say_not_kept(facts)
        return ChunkEncoder(facts, reply_id, keeping)

    def reply_body(self, facts: ReplyFacts, reply: Reply) -> bytes:
        """A finished reply as JSON."""
        reply_id = sse.new_id(ID_PREFIX)
        body = reply_body(facts, reply, reply_id)
        keeping = self.cabinet.keeping(facts, reply_id)
        if keeping is None or not keeping.keep(body):
            self._say_not_kept(facts)
        return body

    def _say_not_kept(self, facts: ReplyFacts) -> None:
        """A reply that was to be kept and is not: ``store`` was ignored after all, and the header says so."""
        echo: Echo = facts.decoded.echo
        if echo.kept_messages is not None and not facts.was_ignored(STORE):
            facts.findings.ignored.append(
                Finding(self.ledger.rows[STORE], STORE, Outcome(Disposition.IGNORED))
            )

    def fault_reply(self, fault: TurnFault, request_id: str) -> FaultReply:
        """A fault as HTTP; this vendor tells the request id in headers only."""
        return fault_reply(fault)
