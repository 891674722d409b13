"""Numbers and joints, exactly: estimates, folds, and blocks that end in the midst of something."""

from __future__ import annotations

import pytest

from app.turn.estimate import TOKENS_PER_IMAGE, TOKENS_PER_MESSAGE, estimate_input, tokens_of_characters
from app.turn.events import Finished, TextDelta, ToolCallArguments, ToolCallStarted
from app.turn.faults import TurnFault
from app.turn.fold import Fold
from app.turn.json_value import JsonValueScanner, is_object
from app.turn.sequencer import Sequencer, ToolCallEnded
from app.turn.turn import (
    ImagePart,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    Tool,
    ToolCallPart,
    ToolResultPart,
    Turn,
)


@pytest.mark.parametrize(("characters", "tokens"), [(0, 0), (1, 1), (4, 1), (5, 2), (8, 2)])
def test_four_characters_are_a_token_rounded_up(characters: int, tokens: int) -> None:
    assert tokens_of_characters(characters) == tokens


@pytest.mark.parametrize(
    ("part", "tokens"),
    [
        (TextPart("abcde"), 2),
        (ReasoningPart("abcde"), 2),
        (ImagePart("aGk=", "image/png"), TOKENS_PER_IMAGE),
        (ToolCallPart("id", "name", '{"a":1}', ""), 3),
        (
            ToolResultPart("id", [TextPart("abcde"), TextPart("a"), ImagePart("aGk=", "image/png")], ""),
            3 + 1000,
        ),
    ],
)
def test_every_kind_of_part_counts_what_is_in_it(part: Part, tokens: int) -> None:
    turn = Turn(model="m", system="", messages=[Message("user", [part], "")])
    assert estimate_input(turn) == TOKENS_PER_MESSAGE + tokens


def test_system_text_tools_and_messages_add_up() -> None:
    messages = [Message("user", [TextPart("abcd"), TextPart("a")], "") for _ in range(2)]
    turn = Turn(
        model="m", system="12345", messages=messages, tools=[Tool("f", "does", "{}"), Tool("gg", "", "")]
    )
    assert estimate_input(turn) == 2 + 3 + 2 * (TOKENS_PER_MESSAGE + 2)


def test_a_fold_of_nothing_is_an_empty_reply() -> None:
    reply = Fold().reply
    assert (reply.blocks, reply.usage, reply.finish, reply.stop_sequence) == ([], None, "stop", None)


def test_an_escaped_quote_at_the_edge_of_a_fragment_ends_nothing() -> None:
    scanner = JsonValueScanner()
    assert scanner.feed('{"a":"\\') is False
    assert scanner.feed('""}') is True


def test_only_the_blanks_of_json_may_come_before_an_object() -> None:
    assert is_object(" \t\r\n{}")
    assert not is_object("\x0b{}")


def test_blanks_that_json_does_not_know_spoil_a_call_that_was_over() -> None:
    sequencer = Sequencer()
    sequencer.feed([ToolCallStarted(0, "a", "f"), ToolCallArguments(0, "{}"), ToolCallArguments(0, "\x0b")])
    with pytest.raises(TurnFault):
        sequencer.feed([Finished("stop")])


def test_text_that_waited_in_pieces_comes_out_as_one() -> None:
    sequencer = Sequencer()
    sequencer.feed([ToolCallStarted(0, "a", "f"), TextDelta("one "), TextDelta("two")])
    out = sequencer.feed([Finished("length")])
    assert TextDelta("one two") in out


def test_a_call_that_was_cut_ends_with_all_its_pieces() -> None:
    sequencer = Sequencer()
    sequencer.feed([ToolCallStarted(0, "a", "f"), ToolCallArguments(0, '{"x'), ToolCallArguments(0, '":1')])
    out = sequencer.feed([Finished("length")])
    assert out[0] == ToolCallEnded(0, "a", "f", '{"x":1', cut=True)
