"""The table of transitions, every cell of it."""

from __future__ import annotations

import pytest

from app.capacity.condition import (
    HEALTHY,
    MAX_STRIKES,
    Condition,
    Outcome,
    Phase,
    State,
    Waits,
    after_fault,
    after_quota,
    after_trial,
    decoded,
)
from app.turn.faults import FaultKind

NOW = 1000.0
WAITS = Waits(first_s=2.0, longest_s=600.0, quota_s=3600.0)
CONDITIONS = {
    Phase.HEALTHY: HEALTHY,
    Phase.COOLING: Condition(State.COOLING, "rate_limited", since=990.0, until=1010.0, strikes=1),
    Phase.EXHAUSTED: Condition(State.EXHAUSTED, "quota_exhausted", since=990.0, until=1010.0),
    Phase.RECOVERING: Condition(State.COOLING, "rate_limited", since=980.0, until=1000.0, strikes=1),
    Phase.DEAD: Condition(State.DEAD, "upstream_authentication", since=990.0, generation="g1"),
}
BLAMELESS = [
    kind
    for kind in FaultKind
    if kind not in (FaultKind.RATE_LIMITED, FaultKind.QUOTA_EXHAUSTED, FaultKind.UPSTREAM_AUTHENTICATION)
]


def after(
    phase: Phase, kind: FaultKind, retry_after_s: float | None = None, jitter: float = 1.0
) -> Condition:
    return after_fault(CONDITIONS[phase], Outcome(kind, NOW, "g1", retry_after_s, jitter), WAITS)


def test_the_examples_are_in_the_phases_they_stand_for() -> None:
    assert {phase: condition.phase(NOW) for phase, condition in CONDITIONS.items()} == {p: p for p in Phase}


@pytest.mark.parametrize(
    ("phase", "kind", "then"),
    [
        (Phase.HEALTHY, FaultKind.RATE_LIMITED, Phase.COOLING),
        (Phase.COOLING, FaultKind.RATE_LIMITED, Phase.COOLING),
        (Phase.EXHAUSTED, FaultKind.RATE_LIMITED, Phase.EXHAUSTED),
        (Phase.RECOVERING, FaultKind.RATE_LIMITED, Phase.COOLING),
        (Phase.DEAD, FaultKind.RATE_LIMITED, Phase.DEAD),
        (Phase.HEALTHY, FaultKind.QUOTA_EXHAUSTED, Phase.EXHAUSTED),
        (Phase.COOLING, FaultKind.QUOTA_EXHAUSTED, Phase.EXHAUSTED),
        (Phase.EXHAUSTED, FaultKind.QUOTA_EXHAUSTED, Phase.EXHAUSTED),
        (Phase.RECOVERING, FaultKind.QUOTA_EXHAUSTED, Phase.EXHAUSTED),
        (Phase.DEAD, FaultKind.QUOTA_EXHAUSTED, Phase.DEAD),
        (Phase.HEALTHY, FaultKind.UPSTREAM_AUTHENTICATION, Phase.DEAD),
        (Phase.COOLING, FaultKind.UPSTREAM_AUTHENTICATION, Phase.DEAD),
        (Phase.EXHAUSTED, FaultKind.UPSTREAM_AUTHENTICATION, Phase.DEAD),
        (Phase.RECOVERING, FaultKind.UPSTREAM_AUTHENTICATION, Phase.DEAD),
        (Phase.DEAD, FaultKind.UPSTREAM_AUTHENTICATION, Phase.DEAD),
    ],
)
def test_what_a_token_is_to_blame_for_moves_it(phase: Phase, kind: FaultKind, then: Phase) -> None:
    assert after(phase, kind, retry_after_s=30).phase(NOW) is then


@pytest.mark.parametrize("kind", BLAMELESS)
@pytest.mark.parametrize("phase", Phase)
def test_what_no_token_is_to_blame_for_leaves_no_trace(phase: Phase, kind: FaultKind) -> None:
    assert after(phase, kind, retry_after_s=30) == CONDITIONS[phase]


def test_a_rate_limit_lasts_as_long_as_the_upstream_says() -> None:
    cooled = after(Phase.HEALTHY, FaultKind.RATE_LIMITED, retry_after_s=30)
    assert (cooled.state, cooled.since, cooled.until, cooled.why) == (
        State.COOLING,
        1000,
        1030,
        "rate_limited",
    )


def test_a_rate_limit_is_capped() -> None:
    assert after(Phase.HEALTHY, FaultKind.RATE_LIMITED, retry_after_s=86_400).until == 1600


def test_a_rate_limit_without_a_time_backs_off_and_doubles_up_to_the_cap() -> None:
    condition, waits = HEALTHY, []
    at = NOW
    for _ in range(12):
        condition = after_fault(condition, Outcome(FaultKind.RATE_LIMITED, at, "g1", None, 1.0), WAITS)
        waits.append(condition.until - at)
        at = condition.until
    assert waits == [2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600, 600]


@pytest.mark.parametrize(("jitter", "wait"), [(0.0, 1.0), (0.5, 1.5), (1.0, 2.0)])
def test_jitter_takes_away_up_to_half_of_a_backoff(jitter: float, wait: float) -> None:
    assert after(Phase.HEALTHY, FaultKind.RATE_LIMITED, jitter=jitter).until == NOW + wait


def test_strikes_are_bounded() -> None:
    condition = Condition(State.COOLING, until=NOW, strikes=MAX_STRIKES)
    assert after_fault(condition, Outcome(FaultKind.RATE_LIMITED, NOW, "g1"), WAITS).strikes == MAX_STRIKES


def test_turns_that_were_under_way_do_not_add_strikes_or_time_that_nobody_named() -> None:
    assert after(Phase.COOLING, FaultKind.RATE_LIMITED) == CONDITIONS[Phase.COOLING]


@pytest.mark.parametrize(("retry_after_s", "until"), [(5, 1010), (30, 1030)])
def test_a_cooldown_is_never_shortened(retry_after_s: float, until: float) -> None:
    assert after(Phase.COOLING, FaultKind.RATE_LIMITED, retry_after_s).until == until
    assert after(Phase.EXHAUSTED, FaultKind.QUOTA_EXHAUSTED, retry_after_s).until == until


def test_a_quota_is_exhausted_until_its_reset_uncapped() -> None:
    assert after(Phase.HEALTHY, FaultKind.QUOTA_EXHAUSTED, retry_after_s=86_400).until == NOW + 86_400


def test_a_quota_without_a_reset_waits_as_the_setting_says() -> None:
    assert after(Phase.HEALTHY, FaultKind.QUOTA_EXHAUSTED).until == NOW + 3600


def test_a_trial_that_speaks_makes_a_token_healthy_and_forgets_its_strikes() -> None:
    healed = after_trial(CONDITIONS[Phase.RECOVERING], NOW)
    assert (healed.state, healed.strikes, healed.why) == (State.HEALTHY, 0, "")


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase is not Phase.RECOVERING])
def test_a_turn_that_speaks_changes_no_other_phase(phase: Phase) -> None:
    assert after_trial(CONDITIONS[phase], NOW) == CONDITIONS[phase]


def test_the_quota_from_before_a_reset_is_forgotten_that_of_a_cooldown_is_not() -> None:
    exhausted = Condition(State.EXHAUSTED, until=NOW, quota=12, quota_at=900)
    cooling = Condition(State.COOLING, until=NOW, quota=1200, quota_at=900)
    assert after_trial(exhausted, NOW).quota is None
    assert after_trial(cooling, NOW).quota == 1200


def test_a_cooldown_ends_at_its_second() -> None:
    cooling = CONDITIONS[Phase.COOLING]
    assert cooling.phase(1009.999) is Phase.COOLING
    assert cooling.phase(1010.0) is Phase.RECOVERING


def test_a_dead_token_lives_in_another_generation() -> None:
    dead = CONDITIONS[Phase.DEAD]
    assert dead.in_generation("g1") is dead
    assert dead.in_generation("g2") == HEALTHY


@pytest.mark.parametrize(("told", "kept"), [(250, 250), (0, 0), (-5, 0), (20_000, 10_000)])
def test_a_quota_is_kept_within_its_range(told: int, kept: int) -> None:
    condition = after_quota(CONDITIONS[Phase.COOLING], told, NOW)
    assert (condition.quota, condition.quota_at, condition.state) == (kept, NOW, State.COOLING)


def test_a_quota_is_known_for_its_time() -> None:
    condition = after_quota(HEALTHY, 250, NOW)
    assert condition.known_quota(NOW + 899, 900) == 250
    assert condition.known_quota(NOW + 900, 900) is None
    assert HEALTHY.known_quota(NOW, 900) is None


@pytest.mark.parametrize("condition", CONDITIONS.values())
def test_a_condition_survives_the_store(condition: Condition) -> None:
    assert decoded(condition.encoded()) == condition


@pytest.mark.parametrize(
    "value", [None, b"", b"nonsense", b"[]", b'{"state":"merry"}', b'{"state":"healthy","x":1}']
)
def test_what_cannot_be_read_counts_as_nothing_known(value: bytes | None) -> None:
    assert decoded(value) == HEALTHY
