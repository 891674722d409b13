"""Blocks strictly one after the other, whatever order their pieces came in."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.turn.events import Finished, ReasoningDelta, TextDelta, ToolCallArguments, ToolCallStarted, Usage
from app.turn.faults import FaultKind, TurnFault
from app.turn.fold import Fold, ReplyCall, ReplyReasoning, ReplyText
from app.turn.sequencer import Sequencer, ToolCallEnded


def call(index, call_id, name):
    return ToolCallStarted(index, call_id, name)


def args(index, fragment):
    return ToolCallArguments(index, fragment)


def run(*events):
    return Sequencer().feed(events)


def test_text_and_reasoning_pass_at_once():
    assert run(ReasoningDelta("hm"), TextDelta("a"), TextDelta("b")) == [
        ReasoningDelta("hm"),
        TextDelta("a"),
        TextDelta("b"),
    ]


def test_fragments_of_the_open_call_pass_at_once():
    sequencer = Sequencer()
    assert sequencer.feed([call(0, "a", "f")]) == [call(0, "a", "f")]
    assert sequencer.feed([args(0, '{"x":')]) == [args(0, '{"x":')]
    assert sequencer.feed([args(0, "1}")]) == [args(0, "1}"), ToolCallEnded(0, "a", "f", '{"x":1}')]


def test_interleaved_calls_come_one_after_the_other():
    assert run(
        call(0, "a", "f"),
        call(1, "b", "g"),
        args(0, '{"x":'),
        args(1, '{"y":'),
        args(0, '"1"}'),
        args(1, '"2"}'),
        Finished("tool_calls"),
    ) == [
        call(0, "a", "f"),
        args(0, '{"x":'),
        args(0, '"1"}'),
        ToolCallEnded(0, "a", "f", '{"x":"1"}'),
        call(1, "b", "g"),
        args(1, '{"y":'),
        args(1, '"2"}'),
        ToolCallEnded(1, "b", "g", '{"y":"2"}'),
        Finished("tool_calls"),
    ]


def test_text_after_an_open_call_waits_until_the_call_is_over():
    sequencer = Sequencer()
    sequencer.feed([call(0, "a", "f"), args(0, "{")])
    assert sequencer.feed([TextDelta("t"), TextDelta("u"), ReasoningDelta("r"), TextDelta("v")]) == []
    assert sequencer.feed([args(0, "}")]) == [
        args(0, "}"),
        ToolCallEnded(0, "a", "f", "{}"),
        TextDelta("tu"),
        ReasoningDelta("r"),
        TextDelta("v"),
    ]
    assert sequencer.feed([TextDelta("w")]) == [TextDelta("w")]


def test_a_later_call_that_is_already_over_follows_at_once():
    assert run(
        call(0, "a", "f"), call(1, "b", "g"), args(1, '{"y"'), args(1, ":2}"), TextDelta("t"), args(0, "{}")
    ) == [
        call(0, "a", "f"),
        args(0, "{}"),
        ToolCallEnded(0, "a", "f", "{}"),
        call(1, "b", "g"),
        args(1, '{"y":2}'),
        ToolCallEnded(1, "b", "g", '{"y":2}'),
        TextDelta("t"),
    ]


def test_calls_without_arguments_end_with_the_turn_as_empty_objects():
    assert run(call(0, "a", "f"), TextDelta("t"), call(1, "b", "g"), Finished("tool_calls")) == [
        call(0, "a", "f"),
        args(0, "{}"),
        ToolCallEnded(0, "a", "f", "{}"),
        TextDelta("t"),
        call(1, "b", "g"),
        args(1, "{}"),
        ToolCallEnded(1, "b", "g", "{}"),
        Finished("tool_calls"),
    ]


def test_usage_never_waits():
    usage = Usage(1, 2)
    assert run(call(0, "a", "f"), usage) == [call(0, "a", "f"), usage]


def test_blanks_after_the_end_of_a_call_are_dropped():
    assert run(call(0, "a", "f"), args(0, "{}"), args(0, " \n"), Finished("tool_calls"))[-2:] == [
        ToolCallEnded(0, "a", "f", "{}"),
        Finished("tool_calls"),
    ]


UNUSABLE = ['{"x": "unterm', "not json", "[1]", "null", '"s"', "{}{}", '{"a":}', " "]


@pytest.mark.parametrize("text", UNUSABLE)
@pytest.mark.parametrize("size", [1, 100])
def test_arguments_that_are_no_object_fail_the_turn_at_its_end(text, size):
    pieces = [args(0, text[at : at + size]) for at in range(0, len(text), size)]
    sequencer = Sequencer()
    sequencer.feed([call(0, "a", "f"), *pieces])
    with pytest.raises(TurnFault) as caught:
        sequencer.feed([Finished("tool_calls")])
    assert caught.value.kind is FaultKind.UPSTREAM_FAILED
    assert str(caught.value) == "the arguments of the call to 'f' are not a JSON object"


def test_arguments_cut_by_the_token_cap_are_no_fault():
    assert run(call(0, "a", "f"), args(0, '{"x":'), Finished("length")) == [
        call(0, "a", "f"),
        args(0, '{"x":'),
        ToolCallEnded(0, "a", "f", '{"x":', cut=True),
        Finished("length"),
    ]


ARGUMENTS = st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5), max_size=3).map(
    json.dumps
)
CHUNKS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(1, 6), st.text(min_size=1, max_size=4)), max_size=40
)


@given(st.lists(ARGUMENTS, max_size=4), CHUNKS, st.integers(1, 5))
def test_nothing_is_lost_doubled_or_mixed_whatever_the_interleaving(arguments, chunks, batch):
    """Given fragments dealt out in any order, text and reasoning between them, and any batching."""
    events, sent, opened = [], [0] * len(arguments), 0
    for which, size, text in chunks:
        if which < len(arguments):
            while opened <= which:
                events.append(call(opened, f"id{opened}", f"f{opened}"))
                opened += 1
            fragment = arguments[which][sent[which] : sent[which] + size]
            sent[which] += size
            if fragment:
                events.append(args(which, fragment))
        else:
            events.append(TextDelta(text) if which % 2 else ReasoningDelta(text))
    for index in range(len(arguments)):
        if index >= opened:
            events.append(call(index, f"id{index}", f"f{index}"))
        if rest := arguments[index][sent[index] :]:
            events.append(args(index, rest))
    events.append(Finished("tool_calls" if arguments else "stop"))

    sequencer, out = Sequencer(), []
    for at in range(0, len(events), batch):
        out += sequencer.feed(events[at : at + batch])

    open_index, blocks = None, []
    for event in out:
        match event:
            case ToolCallStarted(index, call_id, name):
                assert open_index is None
                open_index, text = index, ""
                blocks.append(ReplyCall(index, call_id, name, ""))
            case ToolCallArguments(index, fragment):
                assert index == open_index
                text += fragment
            case ToolCallEnded(index, call_id, name, whole, cut):
                assert (index, whole, cut) == (open_index, text, False)
                assert blocks[-1] == ReplyCall(index, call_id, name, "")
                blocks[-1] = ReplyCall(index, call_id, name, whole)
                open_index = None
            case TextDelta(piece) | ReasoningDelta(piece):
                assert open_index is None
                kind = ReplyText if isinstance(event, TextDelta) else ReplyReasoning
                if blocks and isinstance(blocks[-1], kind):
                    blocks[-1].text += piece
                else:
                    blocks.append(kind(piece))
    fold = Fold()
    fold.feed(events)
    assert blocks == fold.reply.blocks
    assert out[-1] == events[-1]


def test_arguments_that_are_no_object_pass_as_they_are_where_objects_are_not_asked_for():
    sequencer = Sequencer(objects_only=False)
    events = sequencer.feed([call(0, "a", "f"), args(0, '{"x'), TextDelta("t"), Finished("tool_calls")])
    assert events == [
        call(0, "a", "f"),
        args(0, '{"x'),
        ToolCallEnded(0, "a", "f", '{"x'),
        TextDelta("t"),
        Finished("tool_calls"),
    ]
