"""Failover: which faults move a turn, how far, and that a turn that speaks stays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from app.capacity.attempts import MOVING, Attempts, Budget
from app.capacity.pool import TokenPool
from app.capacity.tokens import TokenSource
from app.turn.events import Event, Finished, ReasoningDelta, TextDelta, ToolCallStarted, Usage
from app.turn.faults import ClientGone, FaultKind, TurnFault
from app.turn.turn import Turn
from app.upstreams import Lease
from tests.capacity.conftest import PAID, World, fault, token, tokens

Step = list[Event] | Exception
LIMITED = fault(FaultKind.RATE_LIMITED, 30)
FAILED = fault(FaultKind.UPSTREAM_FAILED)
USAGE = Usage(1, 2)


@dataclass
class Script:
    """An upstream stream that does as written; ``quota_basis_points`` is what it tells of the account."""

    steps: list[Step]
    quota_basis_points: int | None = None
    closed: int = 0

    def read(self, wait_s: float | None) -> list[Event]:
        step = self.steps.pop(0)
        if isinstance(step, Exception):
            raise step
        return step

    def close(self) -> None:
        self.closed += 1


@dataclass
class Stage:
    """Attempts over a pool, with one script for each token in the order they are tried."""

    world: World
    scripts: list[Script | Exception]
    moves: int = 2
    deadline_s: float = 60.0
    show_reasoning: bool = True
    source: TokenSource | None = None
    session_key: str | None = None
    opened: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def __post_init__(self) -> None:
        self.pool: TokenPool = self.world.pool(self.source, "a", "b", "c", "d")
        turn = Turn(model="big", messages=[])
        turn.show_reasoning = self.show_reasoning
        turn.session_key = self.session_key
        self.attempts = Attempts(
            self.pool,
            self.world.metrics,
            Budget(self.moves, self.deadline_s),
            PAID,
            turn,
            self._open,
            lambda: self.seconds,
        )

    def _open(self, lease: Lease) -> Script:
        self.opened.append(lease.name)
        script = self.scripts[len(self.opened) - 1]
        if isinstance(script, Exception):
            raise script
        return script

    def read_all(self) -> list[Event]:
        """Open, read up to Finished, close."""
        self.attempts.open()
        events: list[Event] = []
        while not (events and isinstance(events[-1], Finished)):
            events += self.attempts.read(None)
        self.attempts.close()
        return events

    def states(self) -> dict[str, str]:
        return {row["name"]: row["state"] for row in self.pool.report()["tokens"]}

    def in_flight(self) -> int:
        return sum(row["in_flight"] for row in self.pool.report()["tokens"])

    def failovers(self) -> dict[tuple[str, ...], float]:
        return dict(self.world.metrics.totals()["failovers"])


def answer(text: str = "hi") -> Script:
    return Script([[], [TextDelta(text)], [USAGE, Finished("stop")]])


@pytest.fixture
def stage(world: World) -> Callable[..., Stage]:
    return lambda *scripts, **options: Stage(world, list(scripts), **options)


def test_a_turn_that_goes_well_stays_on_its_token(stage: Callable[..., Stage]) -> None:
    it = stage(answer())
    assert it.read_all() == [TextDelta("hi"), USAGE, Finished("stop")]
    assert it.opened == ["a"]
    assert it.failovers() == {}


@pytest.mark.parametrize("kind", sorted(MOVING, key=lambda kind: kind.value))
def test_a_transient_fault_before_the_answer_moves_the_turn(
    stage: Callable[..., Stage], kind: FaultKind
) -> None:
    it = stage(Script([[], fault(kind)]), answer())
    assert it.read_all() == [TextDelta("hi"), USAGE, Finished("stop")]
    assert it.opened == ["a", "b"]
    assert it.failovers() == {(kind.value, "1"): 1}
    assert it.in_flight() == 0


@pytest.mark.parametrize("kind", sorted(MOVING, key=lambda kind: kind.value))
def test_a_turn_that_cannot_be_opened_is_moved_too(stage: Callable[..., Stage], kind: FaultKind) -> None:
    it = stage(fault(kind), answer())
    assert it.read_all() == [TextDelta("hi"), USAGE, Finished("stop")]
    assert it.opened == ["a", "b"]


@pytest.mark.parametrize("kind", sorted(set(FaultKind) - MOVING, key=lambda kind: kind.value))
def test_other_faults_move_nothing(stage: Callable[..., Stage], kind: FaultKind) -> None:
    it = stage(Script([fault(kind)]))
    it.attempts.open()
    with pytest.raises(TurnFault) as caught:
        it.attempts.read(None)
    assert caught.value.kind is kind
    it.attempts.close()
    assert it.opened == ["a"]
    assert it.in_flight() == 0


@pytest.mark.parametrize(
    "first",
    [
        [TextDelta("h")],
        [ReasoningDelta("hm")],
        [ToolCallStarted(0, "call", "f")],
        [USAGE, TextDelta("h")],
    ],
    ids=["text", "reasoning", "call", "usage and text"],
)
def test_a_turn_that_has_spoken_is_never_moved(stage: Callable[..., Stage], first: list[Event]) -> None:
    it = stage(Script([first, LIMITED]))
    it.attempts.open()
    assert it.attempts.read(None) == first
    with pytest.raises(TurnFault) as caught:
        it.attempts.read(None)
    assert caught.value is LIMITED
    it.attempts.close()
    assert it.opened == ["a"]
    assert it.states()["a"] == "cooling", "its token is marked all the same"


def test_reasoning_that_the_caller_never_sees_is_no_answer(stage: Callable[..., Stage]) -> None:
    it = stage(Script([[ReasoningDelta("hm")], FAILED]), answer(), show_reasoning=False)
    assert it.read_all() == [TextDelta("hi"), USAGE, Finished("stop")]


def test_what_a_failed_attempt_said_leaves_no_trace(stage: Callable[..., Stage]) -> None:
    it = stage(Script([[Usage(99, 99)], FAILED]), answer())
    assert it.read_all() == [TextDelta("hi"), USAGE, Finished("stop")]


def test_usage_before_the_answer_comes_with_it(stage: Callable[..., Stage]) -> None:
    it = stage(Script([[USAGE], [TextDelta("hi")], [Finished("stop")]]))
    assert it.read_all() == [USAGE, TextDelta("hi"), Finished("stop")]


def test_a_turn_is_moved_to_at_most_as_many_tokens_as_the_budget_says(stage: Callable[..., Stage]) -> None:
    it = stage(Script([LIMITED]), Script([FAILED]), Script([LIMITED]), answer())
    it.attempts.open()
    assert [it.attempts.read(None), it.attempts.read(None)] == [[], []]
    with pytest.raises(TurnFault) as caught:
        it.attempts.read(None)
    assert caught.value is LIMITED
    assert it.opened == ["a", "b", "c"]
    assert it.failovers() == {("rate_limited", "1"): 1, ("upstream_failed", "2"): 1}
    assert it.states() == {"a": "cooling", "b": "healthy", "c": "cooling", "d": "healthy"}
    it.attempts.close()
    assert it.in_flight() == 0


def test_a_budget_of_none_moves_nothing(stage: Callable[..., Stage]) -> None:
    it = stage(FAILED, moves=0)
    with pytest.raises(TurnFault):
        it.attempts.open()
    assert it.opened == ["a"]


def test_a_single_token_means_no_failover_and_the_upstreams_own_fault(stage: Callable[..., Stage]) -> None:
    it = stage(LIMITED, source=tokens("only"))
    with pytest.raises(TurnFault) as caught:
        it.attempts.open()
    assert caught.value is LIMITED
    assert it.opened == ["only"]
    assert it.failovers() == {}
    assert it.world.metrics.totals()["gate_refusals"] == [], "a turn that met the upstream met no gate"


def test_the_last_fault_is_the_turns_when_no_other_token_is_usable(stage: Callable[..., Stage]) -> None:
    it = stage(FAILED, LIMITED, source=tokens("a", "b"))
    with pytest.raises(TurnFault) as caught:
        it.attempts.open()
    assert caught.value is LIMITED


def test_no_turn_is_moved_after_the_deadline(stage: Callable[..., Stage]) -> None:
    it = stage(Script([FAILED]), answer(), deadline_s=10.0)
    it.attempts.open()
    it.seconds = 10.0
    with pytest.raises(TurnFault):
        it.attempts.read(None)
    assert it.opened == ["a"]


def test_a_session_moves_to_its_next_choice(stage: Callable[..., Stage]) -> None:
    it = stage(Script([LIMITED]), answer(), session_key="key")
    it.read_all()
    assert it.pool.lease(PAID, "key").name == it.opened[1]


def test_failed_attempts_are_closed_before_the_next_begins(stage: Callable[..., Stage]) -> None:
    first, second = Script([LIMITED]), answer()
    it = stage(first, second)
    it.attempts.open()
    it.attempts.read(None)
    assert (first.closed, second.closed) == (1, 0)
    it.attempts.close()
    it.attempts.close()
    assert second.closed == 1


def test_a_caller_that_hangs_up_frees_the_token_and_marks_nothing(stage: Callable[..., Stage]) -> None:
    it = stage(Script([ClientGone()]))
    it.attempts.open()
    with pytest.raises(ClientGone):
        it.attempts.read(None)
    it.attempts.close()
    assert it.in_flight() == 0
    assert set(it.states().values()) == {"healthy"}


def test_a_defect_while_opening_frees_the_token(stage: Callable[..., Stage]) -> None:
    it = stage(RuntimeError("boom"))
    with pytest.raises(RuntimeError, match="boom"):
        it.attempts.open()
    assert it.in_flight() == 0


def test_the_quota_that_a_stream_told_reaches_its_token(stage: Callable[..., Stage]) -> None:
    first, second = Script([FAILED], quota_basis_points=250), answer()
    second.quota_basis_points = 8000
    it = stage(first, second)
    it.read_all()
    quotas = {row["name"]: row["quota_percent"] for row in it.pool.report()["tokens"]}
    assert quotas == {"a": 2.5, "b": 80, "c": None, "d": None}


def test_a_trial_ends_when_the_answer_begins(stage: Callable[..., Stage]) -> None:
    it = stage(LIMITED, Script([[], [TextDelta("hi")]]), source=tokens(token("a")))
    with pytest.raises(TurnFault):
        it.attempts.open()
    it.world.clock.pass_by(30)
    it.attempts.open()
    it.attempts.read(None)
    assert it.states() == {"a": "recovering"}
    it.attempts.read(None)
    assert it.states() == {"a": "healthy"}
