"""The token pool: gates, leases, and what the ends of turns do to tokens."""

from __future__ import annotations

import random
import secrets
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

from prometheus_client import Counter, Gauge

from app.capacity.board import Board, View
from app.capacity.choice import FairChoice, in_order_for
from app.capacity.condition import (
    HEALTHY,
    RULES,
    Condition,
    Outcome,
    State,
    Waits,
    after_fault,
    after_quota,
    after_trial,
)
from app.capacity.gates import GateLimits, drought, retry_after_s, usable
from app.capacity.report import gates_report, token_report
from app.capacity.slots import SlotKeeper
from app.capacity.tokens import Token, TokenSource
from app.catalogue.models import Model
from app.logs import EventLog
from app.metrics import Metrics
from app.stores import Store
from app.turn.faults import FaultKind, TurnFault
from app.upstreams import Lease

QUOTA_WRITE_S = 10.0
"""A quota that stays on its side of the drought threshold is written down at most this often."""


@dataclass(frozen=True, slots=True)
class PoolLease(Lease):
    """A lease with what the pool must know of it. ``trial`` and ``slot`` name the slots held, if any."""

    token: Token
    trial: str | None = None
    slot: str | None = None


@dataclass(frozen=True, slots=True)
class PoolPolicy:
    """The numbers a pool goes by; ``free_models`` are what callers may use in a drought."""

    waits: Waits = field(default_factory=Waits)
    gates: GateLimits = field(default_factory=GateLimits)
    fresh_s: float = 0.2
    lease_ttl_s: float = 15.0
    free_models: tuple[str, ...] = ()


class TokenPool:
    """See Capacity. ``now`` gives seconds since the epoch, ``jitter`` numbers in [0, 1)."""

    def __init__(
        self,
        source: TokenSource,
        store: Store,
        policy: PoolPolicy,
        metrics: Metrics,
        log: EventLog,
        *,
        now: Callable[[], float] = time.time,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._policy = policy
        self._store = store
        self._metrics = metrics
        self._log = log
        self._now = now
        self._jitter = jitter
        self._board = Board(store, source, policy.fresh_s, now)
        self._slots = SlotKeeper(store, policy.lease_ttl_s)
        self._choice = FairChoice()
        self._books: dict[str, tuple[Counter, Gauge]] = {}
        self._trial_taken: dict[str, float] = {}

    # Step 5: the gates.

    def gate(self, model: Model) -> None:
        """See Capacity."""
        view, now = self._board.view(), self._now()
        if not self._usable(view, model.tier, now):
            self._metrics.gate_refusals.labels("capacity").inc()
            raise self._shut(view, model.tier, now)
        if model.tier != "free" and self._withholds(view, now):
            raise self._drought()

    @staticmethod
    def _usable(view: View, tier: str, now: float) -> list[Token]:
        """The tokens that may serve models of ``tier`` now."""
        conditions = view.conditions
        return [
            token
            for token in view.tokens.tokens
            if usable(conditions[token.name], now) and token.may_serve(tier)
        ]

    def _withholds(self, view: View, now: float) -> bool:
        limits = self._policy.gates
        if not view.quota_told or not limits.drought_restrict or not limits.drought_percent:
            return False
        return drought(view.conditions.values(), now, limits).declared

    def _shut(self, view: View, tier: str, now: float) -> TurnFault:
        conditions = [view.conditions[each.name] for each in view.tokens.tokens if each.may_serve(tier)]
        return TurnFault(
            FaultKind.CAPACITY,
            "no upstream capacity is free for this request now; try again later",
            retry_after_s=retry_after_s(conditions, now, self._policy.gates),
        )

    def _drought(self) -> TurnFault:
        self._metrics.gate_refusals.labels("drought").inc()
        limits = self._policy.gates
        allowed = list(self._policy.free_models)
        percent = limits.drought_percent
        threshold = int(percent) if percent.is_integer() else percent
        return TurnFault(
            FaultKind.DROUGHT,
            f"upstream quota is below {limits.drought_percent:g} percent, so only free models run now: "
            f"{', '.join(allowed) or 'none'}",
            retry_after_s=limits.cap_s,
            details={"drought": {"threshold": threshold, "allowed_models": allowed}},
        )

    # Step 6: leases.

    def lease(self, model: Model, session_key: str | None, tried: Collection[str] = ()) -> Lease:
        """See Capacity."""
        view, now = self._board.view(), self._now()
        left = self._usable(view, model.tier, now)
        if tried:
            left = [token for token in left if token.name not in tried]
        if session_key and len(left) > 1:
            for token in in_order_for(session_key, left):
                lease = self._try(token, view.conditions[token.name], now)
                if lease is not None:
                    self._choice.took(token, left)
                    return lease
            left = []
        while left:
            token = left[0] if len(left) == 1 else self._choice.pick(left)
            lease = self._try(token, view.conditions[token.name], now)
            if lease is not None:
                return lease
            left.remove(token)
        if not tried:
            self._metrics.gate_refusals.labels("capacity").inc()
        raise self._shut(view, model.tier, now)

    def _try(self, token: Token, condition: Condition, now: float) -> PoolLease | None:
        """A lease of ``token``; None while another turn tries it or its limit is reached."""
        trial = slot = None
        if condition.state is not State.HEALTHY:  # usable all the same: it recovers
            trial = self._take_trial(token, now)
            if trial is None:
                return None
        if token.limit:
            slot = self._slots.take(_limit_slots(token), token.limit)
            if slot is None:
                if trial is not None:
                    self._store.give(_trial_slots(token), trial)
                return None
        self._books_of(token.name)[1].inc()
        return PoolLease(token.name, token.secret, token, trial, slot)

    def _take_trial(self, token: Token, now: float) -> str | None:
        """A recovering token is tried by one turn of all workers; the others do not ask again at once.

        Nobody renews a trial: when it is long without an answer, or its worker dies, another turn may try.
        """
        if 0 <= now - self._trial_taken.get(token.name, 0.0) < self._policy.fresh_s:
            return None
        trial = secrets.token_hex(8)
        if self._store.take(_trial_slots(token), trial, 1, self._policy.lease_ttl_s):
            return trial
        self._trial_taken[token.name] = now
        return None

    def spoke(self, lease: Lease) -> None:
        """See Capacity."""
        if isinstance(lease, PoolLease) and lease.trial is not None:
            now = self._now()
            self._change(lease.token, lambda condition: after_trial(condition, now))
            self._end_trial(lease)

    def release(self, lease: Lease, fault: TurnFault | None, quota_basis_points: int | None = None) -> None:
        """See Capacity."""
        assert isinstance(lease, PoolLease), "a lease goes back to the pool it came from"
        if quota_basis_points is not None:
            self._note_quota(lease.token, quota_basis_points)
        if fault is not None and fault.kind in RULES:
            self._note_fault(lease.token, fault)
        self._end_trial(lease)
        if lease.slot is not None:
            self._slots.give(_limit_slots(lease.token), lease.slot)
        served, running = self._books_of(lease.name)
        running.dec()
        if fault is None:
            served.inc()

    def _end_trial(self, lease: PoolLease) -> None:
        if lease.trial is not None:
            self._trial_taken.pop(lease.name, None)
            self._store.give(_trial_slots(lease.token), lease.trial)

    def _note_fault(self, token: Token, fault: TurnFault) -> None:
        outcome = Outcome(
            fault.kind,
            self._now(),
            self._board.view().tokens.generation,
            fault.retry_after_s,
            self._jitter(),
        )
        self._change(token, lambda condition: after_fault(condition, outcome, self._policy.waits))

    def _note_quota(self, token: Token, basis_points: int) -> None:
        now, threshold = self._now(), self._policy.gates.drought_percent * 100
        seen = self._board.view().conditions.get(token.name, HEALTHY)
        same_side = seen.quota is not None and (seen.quota < threshold) == (basis_points < threshold)
        if not same_side or not 0 <= now - seen.quota_at < QUOTA_WRITE_S:
            self._change(token, lambda condition: after_quota(condition, basis_points, now))

    def _change(self, token: Token, rule: Callable[[Condition], Condition]) -> None:
        before, after = self._board.change(token, rule)
        if before.state is after.state and before.since == after.since:
            return
        self._metrics.token_changes.labels(token.name, after.state.value).inc()
        write = self._log.error if after.state is State.DEAD else self._log.info
        write(
            "token_state",
            token=token.name,
            state=after.state.value,
            why=after.why,
            wait_s=round(max(0.0, after.until - self._now()), 1) if after.until else None,
        )

    def _books_of(self, name: str) -> tuple[Counter, Gauge]:
        books = self._books.get(name)
        if books is None:
            metrics = self._metrics
            books = (metrics.token_turns.labels(name), metrics.token_turns_running.labels(name))
            self._books[name] = books
        return books

    # For operators.

    def ready(self) -> bool:
        """See Capacity."""
        return any(each.state is not State.DEAD for each in self._board.view().conditions.values())

    def report(self) -> dict[str, Any]:
        """See Capacity."""
        view, now = self._board.current(), self._now()
        served = self._metrics.by_label("token_turns_total", "token")
        running = self._metrics.by_label("candor_token_turns_running", "token")
        tokens = []
        for token in view.tokens.tokens:
            row = token_report(token, view.conditions[token.name], now, self._policy.gates)
            row["in_flight"] = int(running.get(token.name, 0))
            if token.limit:
                row["slots_taken"] = self._store.taken(_limit_slots(token))
            row["served"] = int(served.get(token.name, 0))
            tokens.append(row)
        return {"tokens": tokens, "gates": self._gates(view), "store": {"shared": self._store.shared}}

    def gates(self) -> dict[str, Any]:
        """See Capacity."""
        return self._gates(self._board.current())

    def _gates(self, view: View) -> dict[str, Any]:
        return gates_report(
            view.conditions.values(), self._now(), self._policy.gates, self._policy.free_models
        )


def _limit_slots(token: Token) -> str:
    return f"limit:{token.name}:{token.identity}"


def _trial_slots(token: Token) -> str:
    return f"trial:{token.name}:{token.identity}"
