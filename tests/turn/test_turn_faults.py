"""Faults carry what they were given, and the checks of a turn word theirs exactly."""

from __future__ import annotations

import pytest

from app.turn.faults import FaultKind, TurnFault, as_fault, invalid, unsupported
from app.turn.history import check_tool_history
from app.turn.schema import complete_schema
from app.turn.sequencer import unusable_arguments
from app.turn.tool_choice import AUTO, NONE, REQUIRED, ToolChoice, check, named, subset
from app.turn.turn import Message, Part, TextPart, Tool, ToolCallPart, ToolResultPart

LONG = "n" * 150
TOOLS = [Tool("f", "", "{}"), Tool("g", "", "{}")]


def test_a_fault_keeps_all_that_it_is_given() -> None:
    given = {"a": 1}
    fault = TurnFault(
        FaultKind.CAPACITY,
        "busy",
        param="p",
        code="c",
        retry_after_s=3,
        details=given,
        wording={"messages": "w"},
        headers={"h": "v"},
    )
    assert str(fault) == fault.problem == "busy"
    assert (fault.kind, fault.param, fault.code, fault.retry_after_s) == (FaultKind.CAPACITY, "p", "c", 3)
    assert (fault.details, fault.wording, fault.headers) == (given, {"messages": "w"}, {"h": "v"})


def test_what_a_fault_is_not_given_is_empty() -> None:
    fault = TurnFault(FaultKind.CAPACITY, "busy")
    assert (fault.param, fault.code, fault.retry_after_s) == (None, None, None)
    assert (fault.details, fault.wording, fault.headers) == ({}, {}, {})


def test_the_short_words_for_faults() -> None:
    fault = invalid("bad", "p", code="c")
    assert (fault.kind, fault.problem, fault.param, fault.code) == (
        FaultKind.INVALID_REQUEST,
        "bad",
        "p",
        "c",
    )
    assert (invalid("bad").param, invalid("bad").code) == (None, None)
    fault = unsupported("not here", "p")
    assert (fault.kind, fault.problem, fault.param) == (FaultKind.UNSUPPORTED_PARAMETER, "not here", "p")


def test_a_fault_stays_itself_and_anything_else_is_internal_and_tells_nothing() -> None:
    fault = invalid("bad")
    assert as_fault(fault) is fault
    internal = as_fault(RuntimeError("secret"))
    assert internal.kind is FaultKind.INTERNAL
    assert internal.problem == "an internal error occurred; the request id finds it in the log"


def test_a_named_choice_and_a_subset() -> None:
    assert named("f") == ToolChoice("required", ("f",), named=True)
    assert subset("auto", ["f", "g"]) == ToolChoice("auto", ("f", "g"), named=False)
    assert subset("required", ["f"]) == ToolChoice("required", ("f",), named=False)
    assert subset("required", []) is NONE


@pytest.mark.parametrize("choice", [None, AUTO, NONE, REQUIRED, named("f"), subset("auto", ["g", "f"])])
def test_a_choice_that_the_tools_satisfy(choice: ToolChoice | None) -> None:
    check(choice, TOOLS, "p")


@pytest.mark.parametrize("choice", [None, AUTO, NONE])
def test_a_choice_that_demands_nothing_needs_no_tools(choice: ToolChoice | None) -> None:
    check(choice, [], "p")


@pytest.mark.parametrize(
    ("choice", "tools", "problem"),
    [
        (REQUIRED, [], "a tool call is demanded, but the request has no tools"),
        (subset("auto", ["f", "h"]), TOOLS, "the tool 'h' is not among the request's tools"),
        (named(LONG), TOOLS, f"the tool '{LONG[:100]}' is not among the request's tools"),
    ],
)
def test_a_choice_that_the_tools_do_not_satisfy(choice: ToolChoice, tools: list[Tool], problem: str) -> None:
    with pytest.raises(TurnFault) as caught:
        check(choice, tools, "the.path")
    assert (caught.value.problem, caught.value.param) == (problem, "the.path")


def test_arguments_that_no_surface_can_use_name_their_call() -> None:
    fault = unusable_arguments(LONG)
    assert fault.kind is FaultKind.UPSTREAM_FAILED
    assert fault.problem == f"the arguments of the call to '{LONG[:100]}' are not a JSON object"


def call(call_id: str, path: str = "") -> Part:
    return ToolCallPart(call_id, "f", "{}", path)


def history(*messages: tuple[str, list[Part]]) -> list[Message]:
    return [Message(role, parts, f"messages[{index}]") for index, (role, parts) in enumerate(messages)]  # type: ignore[arg-type]


def test_no_messages_are_a_sound_history() -> None:
    check_tool_history([])


@pytest.mark.parametrize(
    ("messages", "problem", "path"),
    [
        (
            history(("user", [TextPart("hi")]), ("assistant", [call("a"), call("a", "here")])),
            "the tool call id 'a' is used twice",
            "here",
        ),
        (
            history(("assistant", [call("a")]), ("assistant", [call("a", "here")]), ("user", [])),
            "the tool call id 'a' is used twice",
            "here",
        ),
        (
            history(("user", [ToolResultPart("a", [], "here")])),
            "no tool call with id 'a' comes before this result (each result needs its own call)",
            "here",
        ),
        (
            history(("assistant", [call("a", "here")]), ("user", [TextPart("hi")])),
            "the tool call 'a' has no result",
            "here",
        ),
    ],
)
def test_a_history_that_does_not_pair_is_told_exactly(
    messages: list[Message], problem: str, path: str
) -> None:
    with pytest.raises(TurnFault) as caught:
        check_tool_history(messages)
    assert (caught.value.problem, caught.value.param) == (problem, path)


def test_an_id_may_come_again_in_a_later_turn_also_in_the_last_message() -> None:
    check_tool_history(
        history(
            ("assistant", [call("a")]),
            ("user", [ToolResultPart("a", [], "")]),
            ("assistant", [call("a")]),
        )
    )


def test_a_schema_that_is_too_deep_is_told_where_it_is() -> None:
    deep: dict[str, object] = {}
    for _ in range(300):
        deep = {"properties": deep}
    with pytest.raises(TurnFault) as caught:
        complete_schema(deep, "tools[0].parameters")
    assert (caught.value.problem, caught.value.param) == ("is nested too deeply", "tools[0].parameters")
