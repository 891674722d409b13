"""Response messages -> events: fragments of calls, finish, usage."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from app.turn.events import (
    Event,
    Finished,
    ReasoningDelta,
    TextDelta,
    ToolCallArguments,
    ToolCallStarted,
    Usage,
)
from app.turn.faults import FaultKind, TurnFault
from app.turn.fold import Fold
from app.turn.tool_choice import NONE, REQUIRED
from app.turn.turn import Sampling
from app.upstreams.connect.decode import Reading, ResponseDecoder, new_call_id
from app.upstreams.connect.wire_pb2 import GetChatMessageResponse
from tests.upstreams.kit import turn


def decoder(cap: int | None = None, reading: Reading | None = None, **asked: Any) -> ResponseDecoder:
    ids = (f"ours-{number}" for number in count())
    asked.setdefault("sampling", Sampling(max_output_tokens=cap))
    return ResponseDecoder(turn(**asked), reading or Reading(), lambda: next(ids))


def message(**fields: Any) -> bytes:
    return GetChatMessageResponse(**fields).SerializeToString()


def call(call_id: str = "", name: str = "", arguments: str = "", **more: str) -> bytes:
    return message(tool_calls=[fragment(call_id, name, arguments, **more)])


def fragment(call_id: str = "", name: str = "", arguments: str = "", **more: str) -> dict[str, str]:
    return {"id": call_id, "name": name, "arguments_json": arguments, **more}


def decode(*messages: bytes, by: ResponseDecoder | None = None) -> list[Event]:
    by = by or decoder()
    events: list[Event] = []
    for payload in messages:
        by.feed(payload, events)
    return [*events, by.finished()]


def problem(*messages: bytes, by: ResponseDecoder | None = None) -> str:
    with pytest.raises(TurnFault) as caught:
        decode(*messages, by=by)
    assert caught.value.kind is FaultKind.UPSTREAM_FAILED
    return caught.value.problem


def reply_calls(*messages: bytes) -> list[tuple[str, str, str]]:
    fold = Fold()
    fold.feed(decode(*messages))
    return [(each.id, each.name, each.arguments) for each in fold.reply.calls]


def test_each_message_makes_its_own_events_in_a_fixed_order():
    whole = message(
        text="t", reasoning="r", tool_calls=[fragment("a", "f", "{}")], usage={"fresh": 1, "completion": 2}
    )
    assert decode(whole, message(text="u")) == [
        ReasoningDelta("r"),
        TextDelta("t"),
        ToolCallStarted(0, "a", "f"),
        ToolCallArguments(0, "{}"),
        Usage(1, 2),
        TextDelta("u"),
        Finished("tool_calls"),
    ]


def test_a_message_that_says_nothing_makes_no_event():
    assert decode(b"", message(finish=2), message(text="")) == [Finished("stop")]


def test_bytes_that_are_not_protobuf_are_an_upstream_fault():
    assert problem(b"\xff\xff") == "the upstream sent a message that is not protobuf"


# --- fragments ----------------------------------------------------------------------------------


def test_interleaved_fragments_find_their_calls_by_id():
    assert reply_calls(
        call("a", "f"),
        call("b", "g"),
        call("a", arguments='{"x":'),
        call("b", arguments='{"y":'),
        call("a", arguments='"1"}'),
        call("b", arguments='"2"}'),
    ) == [("a", "f", '{"x":"1"}'), ("b", "g", '{"y":"2"}')]


def test_several_fragments_in_one_message_are_taken_in_order():
    both = message(tool_calls=[fragment("a", "f", '{"x"'), fragment("b", "g"), fragment("a", "", ":1}")])
    assert decode(both)[:-1] == [
        ToolCallStarted(0, "a", "f"),
        ToolCallArguments(0, '{"x"'),
        ToolCallStarted(1, "b", "g"),
        ToolCallArguments(0, ":1}"),
    ]


def test_a_fragment_without_id_and_name_is_for_the_call_last_addressed():
    assert reply_calls(
        call("a", "f", "["), call("b", "g", "["), call(arguments="2]"), call("a"), call(arguments="1]")
    ) == [("a", "f", "[1]"), ("b", "g", "[2]")]


def test_a_name_without_id_opens_a_call_with_an_id_of_ours_each_time():
    assert reply_calls(call(name="f", arguments="{}"), call(name="f"), call(arguments="[]")) == [
        ("ours-0", "f", "{}"),
        ("ours-1", "f", "[]"),
    ]


def test_ids_of_ours_differ():
    assert new_call_id() != new_call_id()
    assert new_call_id().startswith("call_")


def test_a_repeated_equal_name_is_ignored_and_another_is_a_fault():
    assert reply_calls(call("a", "f", "["), call("a", "f", "]")) == [("a", "f", "[]")]
    assert problem(call("a", "f"), call("a", "g")) == (
        "the upstream gave a tool call another name than it had opened it with"
    )


def test_a_fragment_for_no_open_call_is_a_fault():
    assert problem(call(arguments="{}")) == (
        "the upstream sent a part of a tool call before it had opened any"
    )
    assert problem(call("a", "f"), call("zz", arguments="{}")) == (
        "the upstream sent a part of a tool call that it had not opened"
    )


def test_with_empty_arguments_the_invalid_json_is_the_text():
    assert reply_calls(call("a", "f", invalid_json='{"x": oops')) == [("a", "f", '{"x": oops')]
    assert reply_calls(call("a", "f", "{}", invalid_json="other")) == [("a", "f", "{}")]


def test_a_call_without_arguments_is_a_call_with_an_empty_object():
    assert reply_calls(call("a", "f")) == [("a", "f", "{}")]
    assert reply_calls(call("a", "f"), call("a", arguments="")) == [("a", "f", "{}")]


def test_arguments_that_do_not_parse_pass_as_they_are():
    text = '{"x": "unterm'
    assert reply_calls(call("a", "f", text)) == [("a", "f", text)]
    assert decode(call("a", "f", text))[-1] == Finished("tool_calls")


def test_a_call_where_none_was_allowed_is_a_fault_and_never_an_event():
    by = decoder(tool_choice=NONE)
    events: list[Event] = []
    with pytest.raises(TurnFault, match=r"^the upstream called a tool although the request allowed none$"):
        by.feed(message(text="t", tool_calls=[fragment("a", "f", "{}")]), events)
    assert events == [TextDelta("t")]


# --- finish -------------------------------------------------------------------------------------


def usage(completion: int, fresh: int = 1) -> bytes:
    return message(usage={"fresh": fresh, "completion": completion})


@pytest.mark.parametrize("finish", [0, 1, 2, 3, 4, 5, 99, -1])
def test_numbers_that_the_map_does_not_name_are_a_normal_end(finish):
    assert decode(message(finish=finish))[-1] == Finished("stop")
    assert decode(call("a", "f"), message(finish=finish))[-1] == Finished("tool_calls")


def test_the_map_names_the_number_before_anything_else_is_asked():
    reading = Reading(stop_reasons={3: "length", 5: "content_filter"})
    assert decode(message(finish=3), by=decoder(reading=reading))[-1] == Finished("length")
    assert decode(call("a", "f"), message(finish=5), by=decoder(reading=reading))[-1] == Finished(
        "content_filter"
    )
    assert decode(message(finish=4), by=decoder(reading=reading))[-1] == Finished("stop")


def test_completion_at_the_cap_without_a_call_is_length():
    assert decode(usage(5), by=decoder(cap=5))[-1] == Finished("length")
    assert decode(usage(6), by=decoder(cap=5))[-1] == Finished("length")
    assert decode(usage(4), by=decoder(cap=5))[-1] == Finished("stop")
    assert decode(usage(5), by=decoder())[-1] == Finished("stop")
    assert decode(message(text="t"), by=decoder(cap=5))[-1] == Finished("stop")


def test_a_call_cut_by_the_cap_is_length_and_a_whole_one_is_a_call():
    assert decode(call("a", "f", '{"x":'), usage(5), by=decoder(cap=5))[-1] == Finished("length")
    assert decode(call("a", "f", '{"x":1}'), usage(5), by=decoder(cap=5))[-1] == Finished("tool_calls")
    assert decode(call("a", "f"), usage(5), by=decoder(cap=5))[-1] == Finished("tool_calls")


def test_the_call_last_addressed_decides_whether_the_cap_cut_one():
    told = (call("a", "f", "["), call("b", "g", "{}"))
    assert decode(*told, call("a", arguments="1]"), usage(5), by=decoder(cap=5))[-1] == Finished("tool_calls")
    assert decode(*told, call("a", arguments="1"), usage(5), by=decoder(cap=5))[-1] == Finished("length")


def test_a_forced_choice_without_a_call_is_a_normal_end():
    assert decode(message(text="no tool"), by=decoder(tool_choice=REQUIRED))[-1] == Finished("stop")


# --- usage and the account ----------------------------------------------------------------------


def test_the_last_usage_wins_and_is_never_summed():
    first = message(usage={"fresh": 20, "completion": 0, "cache_read": 80, "cache_write": 9})
    last = message(usage={"fresh": 20, "completion": 7, "cache_read": 80})
    fold = Fold()
    fold.feed(decode(first, message(text="t"), last))
    assert fold.reply.usage == Usage(fresh=20, completion=7, cache_read=80, cache_write=0)
    assert fold.reply.usage.prompt == 100


def test_an_explicit_zero_overrides():
    assert decode(usage(7), message(usage={}))[1] == Usage(0, 0)


def test_quota_and_cost_are_read_only_behind_their_switches():
    told = message(quota_basis_points=250, credit_cost=0.5)
    by = decoder()
    assert decode(told, by=by) == [Finished("stop")]
    assert (by.quota_basis_points, by.credit_cost) == (None, None)
    by = decoder(reading=Reading(quota=True))
    decode(told, message(quota_basis_points=0), message(text="t"), by=by)
    assert (by.quota_basis_points, by.credit_cost) == (0, None)
    by = decoder(reading=Reading(credit_cost=True))
    decode(told, by=by)
    assert (by.quota_basis_points, by.credit_cost) == (None, 0.5)
