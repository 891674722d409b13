"""One running turn: bytes of its exchange -> envelopes -> events, under deadlines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

from app.turn.events import SPEAKING, Event
from app.turn.faults import FaultKind, TurnFault
from app.upstreams.connect.client import CONTENT_TYPE, Exchange
from app.upstreams.connect.decode import ResponseDecoder
from app.upstreams.connect.envelope import EnvelopeReader
from app.upstreams.connect.errors import ErrorReader

DRAIN_S = 0.2
"""Seconds to wait for the end of a body after its end-of-stream envelope: the connection is worth that."""
MAX_ERROR_BYTES = 64 * 1024
ERROR_BODY_S = 2.0
"""Seconds that the body of an HTTP error may take once its head has come."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds: to the first event that speaks, without a byte after it, and for all of the turn."""

    first_event_s: float
    idle_s: float
    total_s: float


class ConnectStream:
    """The EventStream of the connect upstream.

    ``started`` is when the turn began by ``clock``, in seconds. Faults come after the events that preceded
    them, however the bytes were split.
    """

    def __init__(
        self,
        exchange: Exchange,
        decoder: ResponseDecoder,
        errors: ErrorReader,
        timeouts: Timeouts,
        started: float,
        clock: Callable[[], float],
    ) -> None:
        self._exchange = exchange
        self._decoder = decoder
        self._errors = errors
        self._envelopes = EnvelopeReader()
        self._timeouts = timeouts
        self._clock = clock
        self._total_deadline = started + timeouts.total_s
        self._deadline = min(started + timeouts.first_event_s, self._total_deadline)
        self._spoken = False
        self._head_seen = False
        self._error_body: bytearray | None = None
        self._fault: TurnFault | None = None

    @property
    def quota_basis_points(self) -> int | None:
        """The last quota the upstream told, in hundredths of a percent; None if none was read."""
        return self._decoder.quota_basis_points

    @property
    def credit_cost(self) -> float | None:
        """The last cost the upstream told; None if none was read."""
        return self._decoder.credit_cost

    def read(self, wait_s: float | None) -> list[Event]:
        """See EventStream. Frames that say nothing do not end the wait."""
        if self._fault is not None:
            raise self._fault
        now = self._clock()
        give_up = inf if wait_s is None else now + wait_s
        while True:
            data = self._exchange.receive(min(self._deadline, give_up) - now)
            now = self._clock()
            if data is not None:
                if self._spoken:
                    self._deadline = min(now + self._timeouts.idle_s, self._total_deadline)
                events = self._take(data, now)
                if events:
                    return events
                if self._fault is not None:
                    raise self._fault
            if now >= self._deadline:
                raise self._timed_out(now)
            if now >= give_up or (data is None and give_up <= self._deadline):
                return []

    def close(self) -> None:
        """See EventStream. A turn that has not ended is cancelled by closing its connection."""
        exchange = self._exchange
        if self._envelopes.clean and not exchange.complete:
            exchange.drain(DRAIN_S)
        exchange.close()

    def _take(self, data: bytes, now: float) -> list[Event]:
        """The events that ``data`` completes. A fault is kept in ``_fault``."""
        exchange = self._exchange
        if not self._head_seen:
            if not exchange.status:
                self._fault = exchange.fault
                return []
            self._head_seen = True
            self._check_head(now)
        if self._error_body is not None:
            self._take_error_body(data)
            return []
        if self._fault is not None:
            return []
        events: list[Event] = []
        try:
            for message in self._envelopes.feed(data):
                self._decoder.feed(message, events)
            self._take_end(events)
        except TurnFault as fault:
            self._fault = fault
        if events and not self._spoken and any(isinstance(event, SPEAKING) for event in events):
            self._spoken = True
            self._deadline = min(now + self._timeouts.idle_s, self._total_deadline)
        return events

    def _take_end(self, events: list[Event]) -> None:
        """Append Finished when the stream has ended well. Raises the fault by which it ended otherwise."""
        envelopes, exchange = self._envelopes, self._exchange
        if envelopes.end is None:
            fault = envelopes.fault or exchange.fault
            if fault is not None:
                raise fault
            if exchange.complete:
                raise TurnFault(
                    FaultKind.UPSTREAM_TRUNCATED, "the upstream's answer stopped before the end of its stream"
                )
            return
        fault = self._errors.end_of_stream(envelopes.end, exchange.headers) or envelopes.fault
        if fault is not None:
            raise fault
        events.append(self._decoder.finished())

    def _check_head(self, now: float) -> None:
        """Look at status and headers, once."""
        exchange = self._exchange
        if exchange.status != 200:
            self._error_body = bytearray()
            self._deadline = min(self._deadline, now + ERROR_BODY_S)
            return
        kind = exchange.headers.get("content-type", CONTENT_TYPE).partition(";")[0].strip().lower()
        coding = exchange.headers.get("connect-content-encoding", "identity")
        if kind != CONTENT_TYPE:
            self._fault = _failed("answered with another content type")
        elif coding not in ("identity", "gzip"):
            self._fault = _failed("answered in an unknown compression")

    def _take_error_body(self, data: bytes) -> None:
        """Collect the body of an HTTP error; its fault is known once that ended, in whatever way."""
        assert self._error_body is not None
        self._error_body += data
        exchange = self._exchange
        if exchange.complete or exchange.fault is not None or len(self._error_body) > MAX_ERROR_BYTES:
            self._fault = self._http_fault()

    def _http_fault(self) -> TurnFault:
        exchange = self._exchange
        return self._errors.http(exchange.status, exchange.headers, bytes(self._error_body or b""))

    def _timed_out(self, now: float) -> TurnFault:
        """The fault of the deadline that passed."""
        if self._error_body is not None:
            return self._http_fault()
        if now >= self._total_deadline:
            what = f"did not finish within {self._timeouts.total_s:g} s"
        elif self._spoken:
            what = f"sent nothing for {self._timeouts.idle_s:g} s"
        else:
            what = f"said nothing within {self._timeouts.first_event_s:g} s"
        return TurnFault(FaultKind.UPSTREAM_TIMEOUT, f"the upstream {what}")


def _failed(what: str) -> TurnFault:
    return TurnFault(FaultKind.UPSTREAM_FAILED, f"the upstream {what}")
