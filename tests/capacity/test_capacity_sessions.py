"""Attempts once more: the session's key at every try, what is held back, and ends without a beginning."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from app.turn.events import Event, Finished, ReasoningDelta, TextDelta, Usage
from app.turn.faults import FaultKind, TurnFault
from tests.capacity.conftest import PAID, World, fault, tokens
from tests.capacity.test_capacity_attempts import Script, Stage, answer

FAILED = fault(FaultKind.UPSTREAM_FAILED)
USAGE = Usage(1, 2)


@pytest.mark.parametrize(("key", "order"), [("one", ["c", "b", "a"]), ("five", ["d", "c", "a"])])
def test_a_session_goes_to_its_first_second_and_third_choice(
    world: World, key: str, order: list[str]
) -> None:
    it = Stage(world, [FAILED, Script([FAILED]), answer()], session_key=key)
    assert it.read_all() == [TextDelta("hi"), USAGE, Finished("stop")]
    assert it.opened == order


def test_all_that_was_said_before_the_answer_comes_with_it_in_order(world: World) -> None:
    it = Stage(world, [Script([[Usage(1, 0)], [Usage(1, 1)], [TextDelta("hi")]])])
    it.attempts.open()
    said = [it.attempts.read(None) for _ in range(3)]
    assert said == [[], [], [Usage(1, 0), Usage(1, 1), TextDelta("hi")]]


def test_once_the_answer_has_begun_nothing_is_held_back(world: World) -> None:
    steps: list[list[Event] | Exception] = [[TextDelta("hi")], [USAGE], []]
    it = Stage(world, [Script(steps)], show_reasoning=False)
    it.attempts.open()
    assert [it.attempts.read(None) for _ in range(3)] == [[TextDelta("hi")], [USAGE], []]


def test_reasoning_that_is_not_shown_does_not_come_with_the_answer(world: World) -> None:
    it = Stage(world, [Script([[ReasoningDelta("hm"), TextDelta("hi")]])], show_reasoning=False)
    it.attempts.open()
    assert it.attempts.read(None) == [TextDelta("hi")]


def test_the_time_to_wait_reaches_the_stream(world: World) -> None:
    @dataclass
    class Patient(Script):
        waited: list[float | None] = field(default_factory=list)

        def read(self, wait_s: float | None) -> list[Event]:
            self.waited.append(wait_s)
            return super().read(wait_s)

    script = Patient([[], [TextDelta("hi")]])
    it = Stage(world, [script])
    it.attempts.open()
    it.attempts.read(0.5)
    it.attempts.read(10.0)
    assert script.waited == [0.5, 10.0]


def test_a_turn_that_got_no_token_is_closed_like_any_other(world: World) -> None:
    it = Stage(world, [], source=tokens("a"))
    it.pool.release(it.pool.lease(PAID, None), fault(FaultKind.RATE_LIMITED, 30))
    with pytest.raises(TurnFault) as caught:
        it.attempts.open()
    assert caught.value.kind is FaultKind.CAPACITY
    it.attempts.close()
    assert it.opened == []
    assert it.in_flight() == 0
