"""A turn that may move: the same turn on another token, as long as nothing of its answer is out.

Which faults move a turn:

* RATE_LIMITED, QUOTA_EXHAUSTED, UPSTREAM_AUTHENTICATION: they are about the token.
* UPSTREAM_FAILED, UPSTREAM_TRUNCATED, UPSTREAM_TIMEOUT: the next connection may do better.

Not CAPACITY, which is the model's: it would meet every token, and an overloaded model gains nothing from being
asked three times. Never what the caller did wrong.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from app.capacity import Capacity
from app.catalogue.models import Model
from app.metrics import Metrics
from app.turn.events import SPEAKING, Event, ReasoningDelta
from app.turn.faults import FaultKind, TurnFault
from app.turn.turn import Turn
from app.upstreams import EventStream, Lease

MOVING = frozenset(
    {
        FaultKind.RATE_LIMITED,
        FaultKind.QUOTA_EXHAUSTED,
        FaultKind.UPSTREAM_AUTHENTICATION,
        FaultKind.UPSTREAM_FAILED,
        FaultKind.UPSTREAM_TRUNCATED,
        FaultKind.UPSTREAM_TIMEOUT,
    }
)


@dataclass(frozen=True, slots=True)
class Budget:
    """How many further tokens a turn may try, and for how many seconds from its start."""

    moves: int
    deadline_s: float


class Attempts:
    """An EventStream over one or more attempts at a turn, each on a token of its own.

    What an attempt said before it spoke (usage) is held back, so that a failed attempt leaves no trace.
    ``open_on`` starts the turn with a lease. When no other token is free, the fault at hand is the turn's.
    """

    def __init__(
        self,
        capacity: Capacity,
        metrics: Metrics,
        budget: Budget,
        model: Model,
        turn: Turn,
        open_on: Callable[[Lease], EventStream],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._capacity = capacity
        self._metrics = metrics
        self._budget = budget
        self._model = model
        self._turn = turn
        self._open_on = open_on
        self._now = now
        self._deadline = now() + budget.deadline_s
        self._tried: list[str] = []
        self._lease: Lease | None = None
        self._stream: EventStream | None = None
        self._unsaid: list[Event] = []
        self._speaking = False
        self._fault: TurnFault | None = None

    def open(self) -> None:
        """Lease a token and open the upstream on it, on another one while that fails.

        Raises TurnFault and ClientGone, with nothing held.
        """
        self._open(self._capacity.lease(self._model, self._turn.session_key))

    def read(self, wait_s: float | None) -> list[Event]:
        """See EventStream."""
        assert self._stream is not None, "open comes first"
        try:
            events = self._stream.read(wait_s)
        except TurnFault as fault:
            self._fault = fault
            if self._speaking:
                raise
            self._unsaid.clear()
            self._open(self._another(fault))
            return []
        if self._speaking or not events:
            return events
        return self._first(events)

    def close(self) -> None:
        """See EventStream."""
        self._let_go(self._fault)

    def _open(self, lease: Lease) -> None:
        while True:
            self._lease = lease
            self._tried.append(lease.name)
            try:
                self._stream = self._open_on(lease)
                self._fault = None
                return
            except TurnFault as fault:
                lease = self._another(fault)
            except BaseException:
                self._let_go(None)
                raise

    def _another(self, fault: TurnFault) -> Lease:
        """A lease to go on with after ``fault``, which is raised when the turn stays where it is."""
        self._let_go(fault)
        moves = len(self._tried)
        if fault.kind not in MOVING or moves > self._budget.moves or self._now() >= self._deadline:
            raise fault
        try:
            lease = self._capacity.lease(self._model, self._turn.session_key, self._tried)
        except TurnFault:
            raise fault from None
        self._metrics.failovers.labels(fault.kind.value, str(moves)).inc()
        return lease

    def _let_go(self, fault: TurnFault | None) -> None:
        """Free the stream and the token, with what the attempt ended in."""
        stream, self._stream = self._stream, None
        lease, self._lease = self._lease, None
        try:
            if stream is not None:
                stream.close()
        finally:
            if lease is not None:
                self._capacity.release(lease, fault, getattr(stream, "quota_basis_points", None))

    def _first(self, events: list[Event]) -> list[Event]:
        """The events to pass on, while the caller has heard nothing yet."""
        if not self._turn.show_reasoning:
            events = [event for event in events if not isinstance(event, ReasoningDelta)]
        if not any(isinstance(event, SPEAKING) for event in events):
            self._unsaid += events
            return []
        self._speaking = True
        assert self._lease is not None
        self._capacity.spoke(self._lease)
        unsaid, self._unsaid = self._unsaid, []
        return unsaid + events
