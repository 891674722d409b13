"""Stop strings end answer text. What a call is given is data, and passes a run as the upstream said it."""

from __future__ import annotations

import pytest

from app.accounts import OutcomeCounter
from app.metrics import Metrics
from app.run import Run
from app.turn.events import Event, Finished, TextDelta, ToolCallArguments, ToolCallStarted, Usage
from app.turn.turn import Message, Sampling, TextPart, Turn
from tests.core.streams import FakeClock, FakeStream


@pytest.mark.parametrize("fragments", [['{"a":"END"}'], ['{"a":"E', 'ND","b":"END', '"}'], ["END"]])
def test_a_stop_string_in_tool_arguments_is_left_there(fragments: list[str]) -> None:
    turn = Turn("m", [Message("user", [TextPart("hi")], "messages[0]")], sampling=Sampling(stop=("END",)))
    script: list[list[Event]] = [
        [TextDelta("a"), ToolCallStarted(0, "a", "f")],
        *([ToolCallArguments(0, fragment)] for fragment in fragments),
        [Usage(3, 2), Finished("tool_calls")],
    ]
    stream = FakeStream(FakeClock(), *script)
    run = Run(stream, turn, OutcomeCounter(Metrics(), turn, frozenset()), lambda: None)
    events: list[Event] = []
    while not run.finished:
        events += run.read(None)
    assert events == [
        TextDelta("a"),
        ToolCallStarted(0, "a", "f"),
        *(ToolCallArguments(0, fragment) for fragment in fragments),
        Usage(3, 2),
        Finished("tool_calls"),
    ]
    assert stream.closed == 0
