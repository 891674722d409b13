"""The condition of one token and how it changes: a table, pure functions, and no clock of its own.

| phase      | rate limited         | quota exhausted | unauthenticated | its trial speaks | anything else |
|------------|----------------------|-----------------|-----------------|------------------|---------------|
| healthy    | cooling              | exhausted       | dead            | -                | -             |
| cooling    | cooling, if longer   | exhausted       | dead            | -                | -             |
| exhausted  | -                    | if longer       | dead            | -                | -             |
| recovering | cooling, a strike up | exhausted       | dead            | healthy          | -             |
| dead       | -                    | -               | -               | -                | -             |

*Recovering* is what cooling and exhausted become by time alone: one turn at a time tries the token. "Anything
else" holds what no token is to blame for: the model's own capacity, broken connections, timeouts, and whatever
a caller did wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from enum import Enum

import orjson

from app.turn.faults import FaultKind

MAX_STRIKES = 30


class State(Enum):
    """What is kept of a token."""

    HEALTHY = "healthy"
    COOLING = "cooling"
    EXHAUSTED = "exhausted"
    DEAD = "dead"


class Phase(Enum):
    """What a state means at a moment."""

    HEALTHY = "healthy"
    COOLING = "cooling"
    EXHAUSTED = "exhausted"
    RECOVERING = "recovering"
    DEAD = "dead"


@dataclass(frozen=True, slots=True)
class Condition:
    """Times are seconds since the epoch. ``quota`` is in hundredths of a percent, told at ``quota_at``.

    ``strikes`` counts cooldowns in a row for which the upstream named no time. ``generation`` is that of the
    tokens among which this one died.
    """

    state: State = State.HEALTHY
    why: str = ""
    since: float = 0.0
    until: float = 0.0
    strikes: int = 0
    generation: str = ""
    quota: int | None = None
    quota_at: float = 0.0

    def phase(self, now: float) -> Phase:
        """What the state means at ``now``."""
        match self.state:
            case State.HEALTHY:
                return Phase.HEALTHY
            case State.DEAD:
                return Phase.DEAD
            case State.COOLING:
                return Phase.COOLING if now < self.until else Phase.RECOVERING
            case State.EXHAUSTED:
                return Phase.EXHAUSTED if now < self.until else Phase.RECOVERING

    def known_quota(self, now: float, ttl_s: float) -> int | None:
        """The quota, unless it was told more than ``ttl_s`` ago."""
        return self.quota if self.quota is not None and now - self.quota_at < ttl_s else None

    def in_generation(self, generation: str) -> Condition:
        """Itself, but alive when it died under another generation of tokens."""
        if self.state is State.DEAD and self.generation != generation:
            return HEALTHY
        return self

    def encoded(self) -> bytes:
        """As JSON."""
        return orjson.dumps(asdict(self))


HEALTHY = Condition()
"""What is so of a token of which nothing is known."""


def decoded(value: bytes | None) -> Condition:
    """The condition that a store holds; what cannot be read counts as nothing known."""
    if value is None:
        return HEALTHY
    try:
        fields = orjson.loads(value)
        return Condition(**{**fields, "state": State(fields["state"])})
    except (ValueError, TypeError, KeyError):
        return HEALTHY


@dataclass(frozen=True, slots=True)
class Waits:
    """Seconds: the first cooldown of a backoff, the longest, and that of an exhausted quota without a reset."""

    first_s: float = 2.0
    longest_s: float = 600.0
    quota_s: float = 3600.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a turn's fault says of its token. ``jitter`` is drawn once, in [0, 1), so that rules stay pure."""

    kind: FaultKind
    at: float
    generation: str
    retry_after_s: float | None = None
    jitter: float = 0.0


Rule = Callable[[Condition, Outcome, Waits], Condition]


def _cool(condition: Condition, outcome: Outcome, waits: Waits) -> Condition:
    if outcome.retry_after_s is not None:
        return _until(condition, State.COOLING, outcome, min(outcome.retry_after_s, waits.longest_s), 0)
    full = min(waits.longest_s, waits.first_s * 2.0**condition.strikes)
    strikes = min(condition.strikes + 1, MAX_STRIKES)
    return _until(condition, State.COOLING, outcome, full * (0.5 + outcome.jitter / 2), strikes)


def _cool_longer(condition: Condition, outcome: Outcome, waits: Waits) -> Condition:
    """Turns that were under way when the first one was limited change nothing but a later time that is named."""
    if outcome.retry_after_s is None:
        return condition
    until = outcome.at + min(outcome.retry_after_s, waits.longest_s)
    return replace(condition, until=max(condition.until, until))


def _exhaust(condition: Condition, outcome: Outcome, waits: Waits) -> Condition:
    wait = waits.quota_s if outcome.retry_after_s is None else outcome.retry_after_s
    return _until(condition, State.EXHAUSTED, outcome, wait, 0)


def _exhaust_longer(condition: Condition, outcome: Outcome, waits: Waits) -> Condition:
    if outcome.retry_after_s is None:
        return condition
    return replace(condition, until=max(condition.until, outcome.at + outcome.retry_after_s))


def _die(condition: Condition, outcome: Outcome, waits: Waits) -> Condition:
    return Condition(State.DEAD, outcome.kind.value, outcome.at, generation=outcome.generation)


def _until(condition: Condition, state: State, outcome: Outcome, wait_s: float, strikes: int) -> Condition:
    return replace(
        condition,
        state=state,
        why=outcome.kind.value,
        since=outcome.at,
        until=outcome.at + max(0.0, wait_s),
        strikes=strikes,
    )


RULES: Mapping[FaultKind, Mapping[Phase, Rule]] = {
    FaultKind.RATE_LIMITED: {
        Phase.HEALTHY: _cool,
        Phase.COOLING: _cool_longer,
        Phase.RECOVERING: _cool,
    },
    FaultKind.QUOTA_EXHAUSTED: {
        Phase.HEALTHY: _exhaust,
        Phase.COOLING: _exhaust,
        Phase.EXHAUSTED: _exhaust_longer,
        Phase.RECOVERING: _exhaust,
    },
    FaultKind.UPSTREAM_AUTHENTICATION: {
        Phase.HEALTHY: _die,
        Phase.COOLING: _die,
        Phase.EXHAUSTED: _die,
        Phase.RECOVERING: _die,
    },
}
"""What is not in the table leaves a token as it is."""


def after_fault(condition: Condition, outcome: Outcome, waits: Waits) -> Condition:
    """The condition of a token once a turn on it ended in a fault."""
    rule = RULES.get(outcome.kind, {}).get(condition.phase(outcome.at))
    return condition if rule is None else rule(condition, outcome, waits)


def after_trial(condition: Condition, at: float) -> Condition:
    """The condition of a recovering token once the turn that tries it speaks. An old quota is forgotten."""
    if condition.phase(at) is not Phase.RECOVERING:
        return condition
    if condition.state is State.EXHAUSTED:
        return Condition(since=at)
    return Condition(since=at, quota=condition.quota, quota_at=condition.quota_at)


def after_quota(condition: Condition, basis_points: int, at: float) -> Condition:
    """The condition once the upstream told the quota that is left."""
    return replace(condition, quota=min(max(basis_points, 0), 10_000), quota_at=at)
