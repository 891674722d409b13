from __future__ import annotations

import pytest

from app.accounts import OutcomeCounter
from app.drain import Drain
from app.metrics import Metrics
from app.run import Clock, Run, speaks
from app.turn.events import (
    Event,
    Finished,
    ReasoningDelta,
    TextDelta,
    ToolCallArguments,
    ToolCallStarted,
    Usage,
)
from app.turn.faults import ClientGone, FaultKind, TurnFault
from app.turn.turn import Message, Sampling, TextPart, Turn
from tests.core.streams import FakeClock, FakeStream

USER = Message("user", [TextPart("a question of 27 characters")], "messages[0]")
INPUT_TOKENS = 4 + 7
"""What the estimate is for that message: four for the message, a quarter of its characters rounded up."""


class Running:
    """A run over a script, and how often its books were closed."""

    def __init__(
        self, *script: list[Event] | Exception | float, turn: Turn | None = None, drain: Drain | None = None
    ) -> None:
        turn = turn or Turn("m", [USER])
        self.metrics = Metrics()
        self.stream = FakeStream(FakeClock(), *script)
        self.closed = 0
        outcomes = OutcomeCounter(self.metrics, turn, frozenset())
        self.run = Run(self.stream, turn, outcomes, self._on_close, drain)

    def _on_close(self) -> None:
        self.closed += 1

    def all(self) -> list[Event]:
        events: list[Event] = []
        while not self.run.finished:
            events += self.run.read(None)
        return events


def stopping(*stops: str) -> Turn:
    return Turn("m", [USER], sampling=Sampling(stop=stops))


def test_events_pass_as_they_are_batch_by_batch() -> None:
    running = Running([TextDelta("a"), TextDelta("b")], [Usage(3, 2)], [Finished("stop")])
    assert running.run.read(1.5) == [TextDelta("a"), TextDelta("b")]
    assert running.run.read(None) == [Usage(3, 2)]
    assert running.run.read(0) == [Finished("stop")]
    assert running.stream.waits == [1.5, None, 0]


def test_an_empty_batch_passes_as_silence() -> None:
    assert Running([]).run.read(1) == []


def test_finished_is_told_once_it_has_passed() -> None:
    running = Running([TextDelta("a")], [Usage(1, 1), Finished("stop")])
    running.run.read(None)
    assert not running.run.finished
    running.run.read(None)
    assert running.run.finished


def test_the_latest_usage_is_remembered() -> None:
    running = Running([Usage(3, 1)], [Usage(3, 2, cache_read=4), Finished("stop")])
    running.all()
    assert running.run.usage == Usage(3, 2, cache_read=4)


def test_a_turn_without_usage_gets_an_estimate_before_its_finish() -> None:
    running = Running([TextDelta("12345")], [Finished("stop")])
    assert running.all() == [
        TextDelta("12345"),
        Usage(INPUT_TOKENS, 2, estimated=True),
        Finished("stop"),
    ]
    assert running.run.usage == Usage(INPUT_TOKENS, 2, estimated=True)


def test_the_estimate_counts_text_reasoning_and_arguments() -> None:
    batch: list[Event] = [
        ReasoningDelta("1234"),
        TextDelta("5678"),
        ToolCallStarted(0, "a", "f"),
        ToolCallArguments(0, '{"a":12}'),
        Finished("tool_calls"),
    ]
    running = Running(batch)
    running.all()
    assert running.run.usage == Usage(INPUT_TOKENS, 4, estimated=True)


def test_reported_usage_is_not_touched() -> None:
    running = Running([TextDelta("12345"), Usage(9, 9), Finished("stop")])
    assert running.all() == [TextDelta("12345"), Usage(9, 9), Finished("stop")]


def test_hidden_reasoning_is_dropped() -> None:
    turn = Turn("m", [USER], show_reasoning=False)
    running = Running([ReasoningDelta("hm"), TextDelta("a")], [Usage(1, 1), Finished("stop")], turn=turn)
    assert running.all() == [TextDelta("a"), Usage(1, 1), Finished("stop")]


def test_a_batch_of_hidden_reasoning_alone_is_silence() -> None:
    running = Running([ReasoningDelta("hm")], turn=Turn("m", [USER], show_reasoning=False))
    assert running.run.read(1) == []
    assert not running.run.finished


def test_a_stop_string_cuts_the_answer_and_cancels_the_upstream() -> None:
    running = Running([TextDelta("aEN")], [TextDelta("Db"), TextDelta("never")], turn=stopping("END"))
    assert running.all() == [
        TextDelta("a"),
        Usage(INPUT_TOKENS, 1, estimated=True),
        Finished("stop", "END"),
    ]
    assert running.stream.closed == 1


def test_a_cut_turn_keeps_the_reported_input_and_estimates_its_output() -> None:
    running = Running(
        [Usage(50, 99, cache_read=7, cache_write=2)], [TextDelta("aaaaaEND")], turn=stopping("END")
    )
    assert running.all()[-2:] == [
        Usage(50, 2, cache_read=7, cache_write=2, estimated=True),
        Finished("stop", "END"),
    ]


def test_a_stop_string_that_never_comes_changes_nothing() -> None:
    running = Running([TextDelta("aE"), Usage(1, 1), Finished("stop")], turn=stopping("END"))
    assert [event for event in running.all() if isinstance(event, TextDelta)] == [
        TextDelta("a"),
        TextDelta("E"),
    ]
    assert running.run.usage == Usage(1, 1)
    assert running.stream.closed == 0


def test_a_stop_string_in_hidden_reasoning_cuts_nothing() -> None:
    turn = stopping("END")
    turn.show_reasoning = False
    running = Running([ReasoningDelta("END"), TextDelta("a"), Usage(1, 1), Finished("stop")], turn=turn)
    assert running.all()[-1] == Finished("stop")


def test_a_fault_is_remembered_and_passed_on() -> None:
    fault = TurnFault(FaultKind.UPSTREAM_FAILED, "broke")
    running = Running([TextDelta("a")], fault)
    running.run.read(None)
    with pytest.raises(TurnFault) as caught:
        running.run.read(None)
    assert caught.value is fault
    assert running.run.fault is fault


def test_a_caller_that_is_gone_is_no_fault_of_the_upstream() -> None:
    running = Running(ClientGone())
    with pytest.raises(ClientGone):
        running.run.read(None)
    assert running.run.fault is None


def test_a_turn_that_a_drain_ends_is_a_fault_of_the_drain() -> None:
    drain = Drain(30)
    running = Running(ClientGone(), ClientGone(), drain=drain)
    with pytest.raises(ClientGone):
        running.run.read(None)
    drain.end_turns()
    with pytest.raises(TurnFault) as caught:
        running.run.read(None)
    assert (caught.value.kind, caught.value.retry_after_s) == (FaultKind.DRAINING, 5.0)


def test_closing_frees_the_stream_and_closes_the_books_once() -> None:
    running = Running([TextDelta("a")])
    running.run.close()
    running.run.close()
    assert (running.stream.closed, running.closed) == (1, 1)


def test_the_books_are_closed_although_the_stream_fails_to() -> None:
    running = Running()

    def fail() -> None:
        raise OSError("the socket is gone")

    running.stream.close = fail  # type: ignore[method-assign]
    with pytest.raises(OSError, match="the socket is gone"):
        running.run.close()
    assert running.closed == 1


def test_outcomes_are_watched_through_the_run() -> None:
    turn = Turn("m", [USER], parallel_tool_calls=False)
    running = Running(
        [ToolCallStarted(0, "a", "f")],
        [ToolCallStarted(1, "b", "f"), Usage(1, 1), Finished("tool_calls")],
        turn=turn,
    )
    running.all()
    assert running.metrics.totals()["parallel_tool_calls_hint_violated"] == [(("0",), 1.0)]


@pytest.mark.parametrize(
    ("events", "spoken"),
    [
        ([], False),
        ([Usage(1, 1)], False),
        ([ReasoningDelta("a")], True),
        ([TextDelta("a")], True),
        ([ToolCallStarted(0, "a", "f")], True),
        ([ToolCallArguments(0, "{}")], True),
        ([Usage(1, 1), Finished("stop")], True),
    ],
)
def test_what_speaks_and_what_does_not(events: list[Event], spoken: bool) -> None:
    assert speaks(events) is spoken


def test_the_clock_goes_forward() -> None:
    clock = Clock()
    assert clock.now() <= clock.now()
