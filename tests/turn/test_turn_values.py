from __future__ import annotations

import pytest

from app.turn import tool_choice
from app.turn.estimate import estimate_input
from app.turn.events import Finished, ReasoningDelta, TextDelta, ToolCallArguments, ToolCallStarted, Usage
from app.turn.faults import TurnFault
from app.turn.fold import Fold, Reply, ReplyCall, ReplyReasoning, ReplyText
from app.turn.history import check_tool_history
from app.turn.schema import complete_schema
from app.turn.tool_choice import AUTO, NONE, REQUIRED, ToolChoice, ToolPlan, named, plan, subset
from app.turn.turn import Message, TextPart, Tool, ToolCallPart, ToolResultPart, Turn

F, G, H = Tool("f", "", "{}"), Tool("g", "", "{}"), Tool("h", "", "{}")


def call(call_id: str, path: str = "m[0]") -> ToolCallPart:
    return ToolCallPart(call_id, "f", "{}", path)


def result(call_id: str, path: str = "m[1]") -> ToolResultPart:
    return ToolResultPart(call_id, [TextPart("1")], path)


def assistant(*parts: ToolCallPart) -> Message:
    return Message("assistant", list(parts), "m")


def user(*parts: ToolResultPart | TextPart) -> Message:
    return Message("user", list(parts), "m")


def test_fold_keeps_blocks_in_the_order_they_were_opened() -> None:
    fold = Fold()
    fold.feed([ReasoningDelta("h"), ReasoningDelta("m"), TextDelta("a")])
    fold.feed([ToolCallStarted(0, "x", "f"), ToolCallStarted(1, "y", "g"), ToolCallArguments(0, '{"a":')])
    fold.feed(
        [ToolCallArguments(1, "[]"), ToolCallArguments(0, "1}"), TextDelta("b"), Usage(1, 2), Usage(3, 4)]
    )
    fold.feed([Finished("tool_calls")])
    assert fold.reply == Reply(
        [
            ReplyReasoning("hm"),
            ReplyText("a"),
            ReplyCall(0, "x", "f", '{"a":1}'),
            ReplyCall(1, "y", "g", "[]"),
            ReplyText("b"),
        ],
        Usage(3, 4),
        "tool_calls",
    )


def test_fold_gives_a_call_without_arguments_an_empty_object() -> None:
    fold = Fold()
    fold.feed([ToolCallStarted(0, "x", "f"), Finished("tool_calls")])
    assert fold.reply.calls == [ReplyCall(0, "x", "f", "{}")]


@pytest.mark.parametrize(
    ("choice", "carried", "expected"),
    [
        (None, False, ToolPlan([F, G, H])),
        (AUTO, True, ToolPlan([F, G, H])),
        (NONE, False, ToolPlan(())),
        (NONE, True, ToolPlan((), "none")),
        (REQUIRED, False, ToolPlan([F, G, H], force_ignored=True)),
        (REQUIRED, True, ToolPlan([F, G, H], "required")),
        (named("g"), False, ToolPlan([G], narrowed=True, force_ignored=True)),
        (named("g"), True, ToolPlan([F, G, H], "function", "g")),
        (subset("auto", ["h", "f"]), False, ToolPlan([F, H], narrowed=True)),
        (subset("auto", ["h", "f"]), True, ToolPlan([F, H], narrowed=True)),
        (subset("required", ["g"]), False, ToolPlan([G], narrowed=True, force_ignored=True)),
        (subset("required", ["g"]), True, ToolPlan([G], "required", narrowed=True)),
        (subset("required", []), True, ToolPlan((), "none")),
    ],
)
def test_tool_plan_is_the_table(choice: ToolChoice | None, carried: bool, expected: ToolPlan) -> None:
    assert plan(choice, [F, G, H], carries_choice=carried) == expected


@pytest.mark.parametrize("choice", [REQUIRED, named("f"), subset("auto", ["f", "zz"])])
def test_a_choice_that_the_tools_cannot_satisfy_is_a_fault(choice: ToolChoice) -> None:
    tools = [] if choice is not None and choice.names != ("f", "zz") else [F]
    with pytest.raises(TurnFault) as caught:
        tool_choice.check(choice, tools, "tool_choice")
    assert caught.value.param == "tool_choice"


def test_history_pairs_results_in_any_order() -> None:
    check_tool_history(
        [assistant(call("a"), call("b")), user(result("b")), user(result("a")), user(TextPart("n"))]
    )


def test_history_lets_an_id_be_used_again_in_a_later_turn() -> None:
    check_tool_history([assistant(call("a")), user(result("a")), assistant(call("a")), user(result("a"))])


def test_history_lets_a_call_in_the_last_message_wait_for_its_result() -> None:
    check_tool_history([user(TextPart("q")), assistant(call("a"))])


@pytest.mark.parametrize(
    ("messages", "param", "problem"),
    [
        ([user(result("zz", "m[0]"))], "m[0]", "zz"),
        ([assistant(call("a"), call("b", "m[7]")), user(result("a")), user(TextPart("next"))], "m[7]", "'b'"),
        ([assistant(call("a"), call("a", "m[3]")), user(result("a"))], "m[3]", "twice"),
        ([assistant(call("a")), user(result("a")), user(result("a", "m[5]"))], "m[5]", "'a'"),
    ],
)
def test_history_that_does_not_pair_names_the_message(
    messages: list[Message], param: str, problem: str
) -> None:
    with pytest.raises(TurnFault) as caught:
        check_tool_history(messages)
    assert caught.value.param == param
    assert problem in caught.value.problem


@pytest.mark.parametrize("schema", [None, {}, {"type": "object"}])
def test_a_schema_that_says_nothing_is_completed(schema: object) -> None:
    assert complete_schema(schema, "parameters") == '{"type":"object","properties":{}}'


def test_any_other_schema_passes_as_it_is() -> None:
    schema = {"type": "object", "$defs": {"N": {"$ref": "#/$defs/N"}}, "x": 1.0}
    assert (
        complete_schema(schema, "parameters")
        == '{"type":"object","$defs":{"N":{"$ref":"#/$defs/N"}},"x":1.0}'
    )


def test_the_estimate_of_the_input_grows_with_system_text_and_tools() -> None:
    turn = Turn("m", [user(TextPart("12345678"))])
    assert estimate_input(turn) == 6
    turn.system = "s" * 40
    assert estimate_input(turn) == 16
    turn.tools = [Tool("name", "desc", '{"a":"b"}')]
    assert estimate_input(turn) == 21
