"""What operators see of tokens and gates. Nothing here knows a secret."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Any

from app.capacity.condition import Condition, Phase
from app.capacity.gates import GateLimits, drought, retry_after_s, usable
from app.capacity.tokens import Token


def token_report(token: Token, condition: Condition, now: float, limits: GateLimits) -> dict[str, Any]:
    """One row of /pool; ``in_flight`` and ``served`` are the pool's to add."""
    phase = condition.phase(now)
    waits = phase in (Phase.COOLING, Phase.EXHAUSTED)
    quota = condition.known_quota(now, limits.quota_ttl_s)
    return {
        "name": token.name,
        "tier": token.tier,
        "weight": token.weight,
        "limit": token.limit or None,
        "state": phase.value,
        "why": condition.why or None,
        "since": _time(condition.since) if condition.since else None,
        "until": _time(condition.until) if waits else None,
        "wait_s": round(condition.until - now, 1) if waits else None,
        "quota_percent": None if quota is None else quota / 100,
        "quota_age_s": None if quota is None else round(now - condition.quota_at, 1),
    }


def gates_report(
    conditions: Collection[Condition], now: float, limits: GateLimits, free_models: Sequence[str]
) -> dict[str, Any]:
    """The inputs of both gates and what follows from them."""
    phases = [condition.phase(now) for condition in conditions]
    is_open = any(usable(condition, now) for condition in conditions)
    counts = drought(conditions, now, limits)
    declared = bool(limits.drought_percent) and counts.declared
    return {
        "capacity": {
            "open": is_open,
            "retry_after_s": None if is_open else retry_after_s(conditions, now, limits),
            "tokens": {phase.value: phases.count(phase) for phase in Phase},
        },
        "drought": {
            "declared": declared,
            "restricts": declared and limits.drought_restrict,
            "threshold_percent": limits.drought_percent,
            "active_tokens": counts.active,
            "known_quota": counts.known,
            "below_threshold": counts.below,
            "allowed_models": list(free_models),
        },
    }


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
