"""What the pipeline asks of a surface: decode a body, encode events, word faults."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from flask import Request, Response

from app.catalogue.query import Query
from app.ledger import Findings, Ledger, Note
from app.seals import Seals
from app.stores.shelf import Shelf
from app.turn.events import Event, Usage
from app.turn.faults import TurnFault
from app.turn.fold import Reply
from app.turn.turn import Turn


@dataclass(slots=True)
class RequestFacts:
    """What a request says outside its body.

    ``headers`` are by lower-case name; ``path_*`` come from URLs that name a model and a method. ``caller`` is
    known once the request is authenticated.
    """

    headers: Mapping[str, str]
    query: Mapping[str, str] = field(default_factory=dict)
    path_model: str | None = None
    path_stream: bool | None = None
    caller: str = ""

    @classmethod
    def of(
        cls, request: Request, path_model: str | None = None, path_stream: bool | None = None
    ) -> RequestFacts:
        """The facts of a Flask request."""
        return cls(_headers_of(request.environ), request.args, path_model, path_stream)


def _headers_of(environ: Mapping[str, Any]) -> dict[str, str]:
    """The headers in a WSGI environment (PEP 3333), by lower-case name."""
    headers = {
        name[5:].replace("_", "-").lower(): value
        for name, value in environ.items()
        if name.startswith("HTTP_") and name not in ("HTTP_CONTENT_TYPE", "HTTP_CONTENT_LENGTH")
    }
    for name in ("CONTENT_TYPE", "CONTENT_LENGTH"):
        if environ.get(name):
            headers[name.replace("_", "-").lower()] = environ[name]
    return headers


@dataclass(slots=True)
class Decoded:
    """A body in canonical form. ``echo`` is whatever the surface's own encoder must remember of the request.

    ``max_tokens_path`` is where the caller wrote the cap on output tokens, for the message of a fault. ``deferred``
    is a transient fault that was met while decoding: it is raised at the gates, after what is permanent.
    """

    turn: Turn
    notes: list[Note] = field(default_factory=list)
    echo: Any = None
    max_tokens_path: str = "max_tokens"
    deferred: TurnFault | None = None


@dataclass(slots=True)
class ReplyFacts:
    """What an encoder may say about the request it answers. ``created_s`` is Unix time in seconds."""

    decoded: Decoded
    findings: Findings
    request_id: str
    created_s: int

    def was_ignored(self, row_path: str) -> bool:
        """Whether the ledger row was ignored, so that no echo claims it was honoured."""
        return any(finding.row.path == row_path for finding in self.findings.ignored)


class StreamEncoder(Protocol):
    """Events -> the bytes of one streamed reply.

    ``opening`` is called once, first; ``feed`` with each batch, the last of which ends with ``Finished`` and
    yields the protocol's terminal marker too; ``fault`` instead of the rest when the turn fails, and is terminal.
    ``feed`` may raise TurnFault when the protocol cannot say what the upstream said.
    """

    content_type: str
    keepalive: bytes

    def opening(self, usage: Usage | None) -> bytes:
        """The protocol's opening events; ``usage`` is what the upstream has reported so far."""

    def feed(self, events: list[Event]) -> bytes:
        """One batch, as one write; may be empty."""

    def fault(self, fault: TurnFault) -> bytes:
        """The in-stream fault, terminal and last."""


@dataclass(frozen=True, slots=True)
class FaultReply:
    """A fault as a real HTTP reply: ``body`` is JSON text. Common headers are added by the pipeline."""

    status: int
    body: bytes


class Surface(Protocol):
    """One API surface. ``name`` is the folder's name and the label in metrics and logs."""

    name: str
    ledger: Ledger

    def decode(self, body: dict[str, Any], facts: RequestFacts) -> Decoded:
        """Body -> turn. Raises TurnFault (INVALID_REQUEST) for shapes that the protocol cannot mean.

        The ledger has walked the body before, so objects of a kind that no row names never come here; kinds
        that are refused do, and are skipped: the turn ends in the ledger's own refusal.
        """

    def shows_usage(self, decoded: Decoded) -> bool:
        """Whether the reply will carry token counts, so that an estimate is counted as one."""

    def encoder(self, facts: ReplyFacts) -> StreamEncoder:
        """The encoder of one streamed reply."""

    def reply_body(self, facts: ReplyFacts, reply: Reply) -> bytes:
        """A finished reply as one JSON body. Raises TurnFault when the protocol cannot say it."""

    def fault_reply(self, fault: TurnFault, request_id: str) -> FaultReply:
        """Status and body of a fault, by this surface's one table."""


@dataclass(frozen=True, slots=True)
class SurfaceTools:
    """What a surface is made with. ``shelf`` is where replies are kept, None when none are."""

    seals: Seals
    shelf: Shelf | None = None


class Lookup(Protocol):
    """A request about what is kept: who asks, and what is asked.

    ``query`` remembers what was read of it. ``settle`` is called when all has been read and before anything is
    changed: what is left is ignored and said so, or refused when the caller is strict.
    """

    caller: str
    query: Query

    def body(self, *keys: str) -> dict[str, Any]:
        """The JSON body, of which ``keys`` are understood."""

    def ignore(self, path: str) -> None:
        """Tell the caller that ``path``, though read, has no effect."""

    def settle(self) -> None:
        """See above. Raises UNSUPPORTED_PARAMETER."""


@dataclass(frozen=True, slots=True)
class Found:
    """The answer to a lookup."""

    body: bytes
    content_type: str = "application/json"


class Serving(Protocol):
    """What a surface's routes need of the pipeline; all answer faults in the surface's own words."""

    def serve(self, surface: Surface, facts: RequestFacts) -> Response:
        """Run the current Flask request as a turn."""

    def estimate(self, surface: Surface, facts: RequestFacts, render: Callable[[int], Any]) -> Response:
        """Decode the current Flask request and answer ``render(estimated input tokens)`` as JSON; no turn runs."""

    def look_up(self, surface: Surface, act: Callable[[Lookup], Found]) -> Response:
        """Authenticate the current Flask request and answer what ``act`` finds."""
