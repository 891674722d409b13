"""The one order in which a turn is served (docs/ARCHITECTURE.md shows it on a page).

1. authenticate  2. read and decode  3. resolve the model  4. ledger: refuse what must be refused
5. gates  6. lease a token  7. open the upstream  8. wait for the first event that speaks  9. send

A turn that fails transiently before it speaks goes back to step 6 for another token (``app.capacity.attempts``).

Permanent faults come from steps 1 to 4, transient ones from 5 on: a caller that is told to come back later must
never loop on a request that can never succeed. Nothing before step 6 touches a token, nothing before step 7
costs an upstream turn.
"""

from __future__ import annotations

import hashlib
import logging
import time
import traceback
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from flask import Response, request

from app.accounts import Accounts, OutcomeCounter
from app.bodies import parse_object, read_body
from app.callers import Callers
from app.capacity import Capacity
from app.capacity.attempts import Attempts, Budget
from app.catalogue.models import Catalogue, Model
from app.client_watch import watch_of
from app.drain import Drain
from app.exchange import Exchange, fault_headers, preferred_handling
from app.ledger import Context, Findings, judge
from app.logs import EventLog
from app.lookup import Desk
from app.metrics import Metrics
from app.run import Run
from app.settings import Settings
from app.streaming import StreamBody
from app.surfaces.surface import Decoded, Found, Lookup, ReplyFacts, RequestFacts, Surface
from app.turn.estimate import estimate_input
from app.turn.faults import ClientGone, as_fault
from app.turn.features import Feature
from app.turn.fold import Fold
from app.turn.tool_choice import plan
from app.turn.turn import Turn
from app.upstreams import EventStream, Lease, Upstream

CLIENT_CLOSED_REQUEST = 499
"""Status of the reply that nobody reads; it shows in logs only."""


_QUERY_KEY_PATHS = ("/v1beta/", "/v1/models/")


@dataclass(slots=True)
class Admitted:
    """A request that passed steps 1 to 4."""

    decoded: Decoded
    findings: Findings
    model: Model
    upstream: Upstream

    @property
    def turn(self) -> Turn:
        """The turn to run."""
        return self.decoded.turn


@dataclass(frozen=True, slots=True)
class Services:
    """What the pipeline is made of."""

    settings: Settings
    callers: Callers
    catalogue: Catalogue
    upstreams: Mapping[str, Upstream]
    capacity: Capacity
    metrics: Metrics
    accounts: Accounts
    log: EventLog
    drain: Drain
    new_session_id: Callable[[], str] = lambda: str(uuid.uuid4())


class Pipeline:
    """Serves turns; one per app, shared by all threads."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._desk = Desk(services.callers, services.accounts, services.settings)
        self._strict_rows: dict[str, frozenset[str]] = {}

    def serve(self, surface: Surface, facts: RequestFacts) -> Response:
        """Run the current Flask request as a turn on ``surface``."""
        exchange = Exchange()
        try:
            admitted = self._admit(surface, facts, exchange)
            self._gate(admitted)
            run = self._start(surface, admitted, exchange)
        except Exception as error:
            return self._failed(surface, exchange, error)
        reply = ReplyFacts(admitted.decoded, admitted.findings, exchange.request_id, int(time.time()))
        if admitted.turn.stream:
            return self._stream(surface, reply, run, exchange)
        return self._whole(surface, reply, run, exchange)

    def estimate(self, surface: Surface, facts: RequestFacts, render: Callable[[int], Any]) -> Response:
        """Decode the current Flask request and answer ``render(estimated input tokens)``; no turn runs."""
        exchange = Exchange()
        try:
            admitted = self._admit(surface, facts, exchange)
            if admitted.decoded.deferred is not None:
                raise admitted.decoded.deferred
        except Exception as error:
            return self._failed(surface, exchange, error)
        self._services.metrics.usage_estimated.labels(surface.name).inc()
        return _json(200, orjson.dumps(render(estimate_input(admitted.turn))), exchange.headers())

    def look_up(self, surface: Surface, act: Callable[[Lookup], Found]) -> Response:
        """Authenticate the current Flask request and answer what ``act`` finds; no turn runs."""
        return self._desk.answer(surface.name, act)

    # Steps 1 to 4: permanent faults.

    def _admit(self, surface: Surface, facts: RequestFacts, exchange: Exchange) -> Admitted:
        services = self._services
        query_key = facts.query.get("key") if request.path.startswith(_QUERY_KEY_PATHS) else None
        exchange.caller = services.callers.authenticate(facts.headers, request.remote_addr, query_key)
        facts.caller = exchange.caller
        exchange.preference = preferred_handling(facts.headers.get("prefer"))
        limit = services.settings.max_body_mb << 20
        raw = read_body(
            request.stream,
            request.content_length,
            facts.headers.get("content-encoding", ""),
            limit,
        )
        body = parse_object(raw)
        observations = surface.ledger.walk(body)
        decoded = surface.decode(body, facts)
        turn = decoded.turn
        model = services.catalogue.resolve(turn.model)
        model.check_output_limit(turn.sampling.max_output_tokens, decoded.max_tokens_path)
        upstream = services.upstreams[model.upstream]
        exchange.preference_obeyed = True
        context = Context(
            turn,
            upstream.features,
            upstream.switch_for,
            plan(turn.tool_choice, turn.tools, carries_choice=Feature.TOOL_CHOICE in upstream.features),
        )
        exchange.findings = judge(
            surface.ledger,
            observations,
            decoded.notes,
            body,
            context,
            strict=(exchange.preference or services.settings.handling) == "strict",
            strict_rows=self.strict_rows(surface),
        )
        services.accounts.served(surface.name, exchange.findings, upstream)
        turn.caller = exchange.caller
        turn.session_id = self._session_id(turn)
        return Admitted(decoded, exchange.findings, model, upstream)

    def strict_rows(self, surface: Surface) -> frozenset[str]:
        """The rows of ``surface`` that CANDOR_STRICT_PARAMETERS names."""
        rows = self._strict_rows.get(surface.name)
        if rows is None:
            names = self._services.settings.strict_parameters
            prefix = f"{surface.name}:"
            rows = frozenset(name.removeprefix(prefix) for name in names) & surface.ledger.rows.keys()
            self._strict_rows[surface.name] = rows
        return rows

    def _session_id(self, turn: Turn) -> str:
        if self._services.settings.session_from == "caller" and turn.session_key:
            digest = hashlib.sha256(f"{turn.caller}\n{turn.session_key}".encode()).hexdigest()
            return str(uuid.UUID(digest[:32]))
        return self._services.new_session_id()

    # Steps 5 to 7: transient faults.

    def _gate(self, admitted: Admitted) -> None:
        self._services.drain.gate()
        if admitted.decoded.deferred is not None:
            raise admitted.decoded.deferred
        if admitted.upstream.needs_lease:
            self._services.capacity.gate(admitted.model)

    def _start(self, surface: Surface, admitted: Admitted, exchange: Exchange) -> Run:
        services, turn, upstream = self._services, admitted.turn, admitted.upstream
        caller = watch_of(request.environ)

        def open_on(lease: Lease | None) -> EventStream:
            services.metrics.upstream_turns.labels(upstream.name).inc()
            return upstream.open(turn, admitted.model.selector, lease, caller)

        services.metrics.turns_running.inc()
        try:
            stream = self._lease_and_open(admitted, open_on) if upstream.needs_lease else open_on(None)
        except BaseException:
            services.metrics.turns_running.dec()
            raise

        def closed() -> None:
            services.metrics.turns_running.dec()
            services.metrics.turn_seconds.labels(surface.name).observe(time.monotonic() - exchange.started)
            services.drain.turn_ended(caller)

        services.drain.turn_started(caller)
        outcomes = OutcomeCounter(services.metrics, turn, upstream.features)
        return Run(stream, turn, outcomes, closed, services.drain)

    def _lease_and_open(self, admitted: Admitted, open_on: Callable[[Lease], EventStream]) -> EventStream:
        """Steps 6 and 7; the stream goes back to them for another token if it fails before it speaks."""
        settings = self._services.settings
        attempts = Attempts(
            self._services.capacity,
            self._services.metrics,
            Budget(settings.retry_budget, settings.retry_deadline_s),
            admitted.model,
            admitted.turn,
            open_on,
        )
        attempts.open()
        return attempts

    # Steps 8 and 9.

    def _stream(self, surface: Surface, reply: ReplyFacts, run: Run, exchange: Exchange) -> Response:
        services = self._services
        try:
            body = StreamBody(
                surface.encoder(reply),
                run,
                keepalive_s=services.settings.keepalive_s,
                on_keepalive=lambda: services.metrics.keepalives.labels(surface.name).inc(),
                on_end=lambda error: self._book_end(surface, reply, run, exchange, error),
            )
            body.start()
        except Exception as error:
            run.close()
            return self._failed(surface, exchange, error)
        services.metrics.first_event_seconds.labels(surface.name).observe(time.monotonic() - exchange.started)
        response = Response(body, 200, content_type=body.content_type)
        _add(response, (("Cache-Control", "no-cache"), ("X-Accel-Buffering", "no"), *exchange.headers()))
        return response

    def _whole(self, surface: Surface, reply: ReplyFacts, run: Run, exchange: Exchange) -> Response:
        fold = Fold()
        try:
            while not run.finished:
                fold.feed(run.read(None))
            body = surface.reply_body(reply, fold.reply)
        except Exception as error:
            run.close()
            return self._failed(surface, exchange, error)
        run.close()
        self._book_end(surface, reply, run, exchange, None)
        return _json(200, body, exchange.headers())

    def _book_end(
        self, surface: Surface, reply: ReplyFacts, run: Run, exchange: Exchange, error: Exception | None
    ) -> None:
        """Count and log how a turn ended whose reply had begun."""
        if error is not None:
            self._book_fault(surface, exchange, error, 200)
            return
        services = self._services
        services.metrics.turns.labels(surface.name, "ok").inc()
        if run.usage is not None and run.usage.estimated and surface.shows_usage(reply.decoded):
            services.metrics.usage_estimated.labels(surface.name).inc()
        self._log_end(logging.INFO, surface, exchange, 200, model=reply.decoded.turn.model)

    # Faults.

    def _failed(self, surface: Surface, exchange: Exchange, error: Exception) -> Response:
        """The reply for a turn that failed before anything was sent."""
        if isinstance(error, ClientGone):
            self._book_fault(surface, exchange, error, CLIENT_CLOSED_REQUEST)
            return Response(b"", CLIENT_CLOSED_REQUEST)
        fault = as_fault(error)
        rendered = surface.fault_reply(fault, exchange.request_id)
        if fault.details.get("rows"):
            self._services.accounts.refused(surface.name, fault)
        self._book_fault(surface, exchange, error, rendered.status)
        return _json(
            rendered.status, rendered.body, (*exchange.headers(), *fault_headers(fault, rendered.status))
        )

    def _book_fault(self, surface: Surface, exchange: Exchange, error: Exception, status: int) -> None:
        services = self._services
        if isinstance(error, ClientGone):
            services.metrics.client_closed.labels(surface.name).inc()
            services.metrics.turns.labels(surface.name, "client_closed").inc()
            self._log_end(logging.INFO, surface, exchange, status, outcome="client_closed")
            return
        fault = as_fault(error)
        services.metrics.turns.labels(surface.name, "fault").inc()
        services.metrics.faults.labels(surface.name, fault.kind.value).inc()
        fields: dict[str, Any] = {"fault": fault.kind.value, "problem": fault.problem}
        if fault.param is not None:
            fields["param"] = fault.param
        if fault is not error:
            fields["traceback"] = traceback.format_exception(error)
            self._log_end(logging.ERROR, surface, exchange, status, **fields)
        else:
            self._log_end(logging.INFO, surface, exchange, status, **fields)

    def _log_end(self, level: int, surface: Surface, exchange: Exchange, status: int, **fields: Any) -> None:
        self._services.log.write(
            level,
            "turn",
            surface=surface.name,
            status=status,
            request_id=exchange.request_id,
            caller=exchange.caller,
            ms=round((time.monotonic() - exchange.started) * 1000, 1),
            **fields,
        )


def _json(status: int, body: bytes, headers: Iterable[tuple[str, str]]) -> Response:
    response = Response(body, status, content_type="application/json")
    _add(response, headers)
    return response


def _add(response: Response, headers: Iterable[tuple[str, str]]) -> None:
    for name, value in headers:
        response.headers[name] = value
