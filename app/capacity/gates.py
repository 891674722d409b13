"""The arithmetic of the two gates: pure functions over conditions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from app.capacity.condition import Condition, Phase, State


@dataclass(frozen=True, slots=True)
class GateLimits:
    """Bounds of Retry-After in seconds; the percent that is a drought (0: never), whether it restricts, and for
    how many seconds a quota counts as known."""

    floor_s: float = 1.0
    cap_s: float = 60.0
    drought_percent: float = 5.0
    drought_restrict: bool = True
    quota_ttl_s: float = 900.0


@dataclass(frozen=True, slots=True)
class Drought:
    """How many tokens are not dead, how many of those have a known quota, how many of those are below."""

    active: int
    known: int
    below: int

    @property
    def declared(self) -> bool:
        """Whether most active tokens are known, strictly, and every known one is below."""
        return self.known * 2 > self.active and self.below == self.known


def usable(condition: Condition, now: float) -> bool:
    """Whether a token may serve at ``now``, be it as a trial."""
    return condition.state is State.HEALTHY or condition.phase(now) is Phase.RECOVERING


def retry_after_s(conditions: Iterable[Condition], now: float, limits: GateLimits) -> float:
    """Seconds until the soonest recovery, within the bounds; the cap when none is in sight.

    A usable token that was not to be had is busy: it may be free at any moment, which is the floor.
    """
    waits = [
        max(0.0, condition.until - now) for condition in conditions if condition.phase(now) is not Phase.DEAD
    ]
    return min(max(min(waits, default=limits.cap_s), limits.floor_s), limits.cap_s)


def drought(conditions: Iterable[Condition], now: float, limits: GateLimits) -> Drought:
    """Count what a drought is declared by."""
    active = known = below = 0
    for condition in conditions:
        if condition.state is State.DEAD:
            continue
        active += 1
        quota = condition.known_quota(now, limits.quota_ttl_s)
        if quota is not None:
            known += 1
            below += quota < limits.drought_percent * 100
    return Drought(active, known, below)
