"""Messages: every role and part kind is mapped, every other shape is a 400 that names its path."""

from __future__ import annotations

from typing import Any

import pytest

from app.turn.turn import ImagePart, Message, TextPart, ToolCallPart, ToolResultPart
from tests.support.chat import USER, assistant, body, call, decode, refused, result

PIXEL = "data:image/png;base64,iVBORw0KGgo="


def turn_of(*messages: dict[str, Any]) -> Any:
    return decode(body(messages=list(messages))).turn


def test_chat_maps_a_user_text_to_one_message() -> None:
    assert turn_of(USER).messages == [Message("user", [TextPart("hi")], "messages[0]")]


@pytest.mark.parametrize("role", ["system", "developer"])
def test_chat_makes_leading_system_text_of_system_and_developer(role: str) -> None:
    turn = turn_of({"role": role, "content": "S"}, USER)
    assert turn.system == "S"
    assert [message.path for message in turn.messages] == ["messages[1]"]


def test_chat_joins_several_system_messages_in_order_with_a_blank_line() -> None:
    turn = turn_of(
        {"role": "system", "content": "A"},
        {"role": "developer", "content": [{"type": "text", "text": "B"}, {"type": "text", "text": "C"}]},
        {"role": "system", "content": ""},
        USER,
    )
    assert turn.system == "A\n\nB\n\nC"


def test_chat_serves_a_request_of_system_text_alone() -> None:
    turn = turn_of({"role": "system", "content": "A"})
    assert (turn.system, turn.messages) == ("A", [])


@pytest.mark.parametrize("role", ["system", "developer"])
def test_chat_keeps_the_place_of_late_system_text_and_notes_it(role: str) -> None:
    decoded = decode(body(messages=[USER, {"role": role, "content": "MID"}, USER]))
    assert decoded.turn.system == ""
    assert decoded.turn.messages[1] == Message("user", [TextPart("[system]\nMID")], "messages[1]")
    assert [(note.row_path, note.path) for note in decoded.notes] == [
        (f"messages[].role={role}", "messages[1].role")
    ]


def test_chat_drops_empty_text_and_makes_no_message_of_it() -> None:
    turn = turn_of(
        USER,
        {"role": "user", "content": ""},
        {"role": "assistant", "content": [{"type": "text", "text": ""}]},
    )
    assert [message.path for message in turn.messages] == ["messages[0]"]


def test_chat_maps_user_parts_in_order() -> None:
    parts = [
        {"type": "text", "text": "a"},
        {"type": "image_url", "image_url": {"url": PIXEL, "detail": "high"}},
        {"type": "text", "text": "b"},
    ]
    assert turn_of({"role": "user", "content": parts}).messages[0].parts == [
        TextPart("a"),
        ImagePart("iVBORw0KGgo=", "image/png"),
        TextPart("b"),
    ]


def test_chat_maps_assistant_text_refusal_parts_and_the_refusal_field_to_text() -> None:
    message = {
        "role": "assistant",
        "content": [{"type": "text", "text": "a"}, {"type": "refusal", "refusal": "b"}],
        "refusal": "c",
    }
    assert turn_of(USER, message).messages[1].parts == [TextPart("a"), TextPart("b"), TextPart("c")]


def test_chat_maps_assistant_calls_after_its_text_with_arguments_byte_for_byte() -> None:
    message = assistant(call("a", "f", '{ "x" : 1.0 }'), call("b", "g", ""), content="t")
    assert turn_of(USER, message).messages[1].parts == [
        TextPart("t"),
        ToolCallPart("a", "f", '{ "x" : 1.0 }', "messages[1].tool_calls[0]"),
        ToolCallPart("b", "g", "{}", "messages[1].tool_calls[1]"),
    ]


@pytest.mark.parametrize("content", [{}, {"content": None}, {"content": ""}])
def test_chat_needs_no_content_beside_calls(content: dict[str, Any]) -> None:
    message = {"role": "assistant", "tool_calls": [call("a")], **content}
    assert [type(part) for part in turn_of(USER, message).messages[1].parts] == [ToolCallPart]


def test_chat_wraps_the_input_of_a_custom_call() -> None:
    made = {"id": "a", "type": "custom", "custom": {"name": "c", "input": 'say "hi"\n'}}
    assert turn_of(USER, assistant(made)).messages[1].parts == [
        ToolCallPart("a", "c", '{"input":"say \\"hi\\"\\n"}', "messages[1].tool_calls[0]", is_custom=True)
    ]


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("ok", [TextPart("ok")]),
        ("", []),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], [TextPart("a"), TextPart("b")]),
        ('{"$ref":"#/$defs/X"}', [TextPart('{"$ref":"#/$defs/X"}')]),
    ],
)
def test_chat_maps_a_tool_message_to_a_result(content: Any, parts: list[Any]) -> None:
    turn = turn_of(USER, assistant(call("a")), result("a", content))
    assert turn.messages[2] == Message("user", [ToolResultPart("a", parts, "messages[2]")], "messages[2]")


def test_chat_keeps_results_in_the_order_sent_each_with_its_own_id() -> None:
    turn = turn_of(USER, assistant(call("a"), call("b", "g")), result("b", "2"), result("a", "1"))
    results = [part for message in turn.messages[2:] for part in message.parts]
    assert [(part.call_id, part.parts) for part in results] == [
        ("b", [TextPart("2")]),
        ("a", [TextPart("1")]),
    ]


def test_chat_takes_long_call_ids_whole_even_when_they_share_their_beginning() -> None:
    first, second = "x" * 64 + "a" * 22, "x" * 64 + "b" * 22
    turn = turn_of(USER, assistant(call(first), call(second)), result(second), result(first))
    assert [part.id for part in turn.messages[1].parts] == [first, second]
    assert [message.parts[0].call_id for message in turn.messages[2:]] == [second, first]


def test_chat_pairs_the_legacy_function_result_with_the_last_call_of_its_name() -> None:
    made = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": '{"x":1}'}}
    turn = turn_of(
        USER,
        made,
        {"role": "function", "name": "f", "content": "1"},
        made,
        {"role": "function", "name": "f", "content": None},
    )
    calls = [message.parts[0] for message in turn.messages if isinstance(message.parts[0], ToolCallPart)]
    results = [message.parts[0] for message in turn.messages if isinstance(message.parts[0], ToolResultPart)]
    assert calls == [
        ToolCallPart("call_messages_1", "f", '{"x":1}', "messages[1].function_call"),
        ToolCallPart("call_messages_3", "f", '{"x":1}', "messages[3].function_call"),
    ]
    assert results == [
        ToolResultPart("call_messages_1", [TextPart("1")], "messages[2]"),
        ToolResultPart("call_messages_3", [], "messages[4]"),
    ]


def test_chat_pairs_a_function_result_with_a_call_that_no_tool_message_answered() -> None:
    turn = turn_of(
        USER, assistant(call("a"), call("b")), result("b"), {"role": "function", "name": "f", "content": "1"}
    )
    assert turn.messages[3].parts[0].call_id == "a"


def test_chat_does_not_replay_reasoning_from_history() -> None:
    message = {"role": "assistant", "content": "a", "reasoning_content": "hm", "reasoning": "hm"}
    assert turn_of(USER, message).messages[1].parts == [TextPart("a")]


WRONG_TYPE, REQUIRED, VALUE = "invalid_type", "missing_required_parameter", "invalid_value"
ARGUMENTLESS = {"id": "a", "type": "function", "function": {"name": "f"}}
REPEATED = [USER, assistant(call("a"), call("a")), result("a")]
REMOTE_TYPE = {
    "role": "tool",
    "tool_call_id": "a",
    "content": [{"type": "image_url", "image_url": {"url": PIXEL}}],
}


@pytest.mark.parametrize(
    ("messages", "param", "code"),
    [
        (None, "messages", REQUIRED),
        ("hi", "messages", WRONG_TYPE),
        ({"0": USER}, "messages", WRONG_TYPE),
        ([], "messages", "empty_array"),
        (["hi"], "messages[0]", WRONG_TYPE),
        ([USER, None], "messages[1]", WRONG_TYPE),
        ([{"content": "hi"}], "messages[0].role", REQUIRED),
        ([{"role": None, "content": "hi"}], "messages[0].role", REQUIRED),
        ([{"role": 1, "content": "hi"}], "messages[0].role", WRONG_TYPE),
        ([{"role": "moderator", "content": "hi"}], "messages[0].role", VALUE),
        ([{"role": "user"}], "messages[0].content", REQUIRED),
        ([{"role": "user", "content": None}], "messages[0].content", REQUIRED),
        ([{"role": "user", "content": 1}], "messages[0].content", WRONG_TYPE),
        ([{"role": "user", "content": {"type": "text"}}], "messages[0].content", WRONG_TYPE),
        ([{"role": "user", "content": ["hi"]}], "messages[0].content[0]", WRONG_TYPE),
        ([{"role": "user", "content": [{"text": "hi"}]}], "messages[0].content[0].type", REQUIRED),
        ([{"role": "user", "content": [{"type": "video"}]}], "messages[0].content[0].type", VALUE),
        ([{"role": "user", "content": [{"type": "text"}]}], "messages[0].content[0].text", REQUIRED),
        (
            [{"role": "user", "content": [{"type": "text", "text": 1}]}],
            "messages[0].content[0].text",
            WRONG_TYPE,
        ),
        (
            [{"role": "user", "content": [{"type": "refusal", "refusal": "n"}]}],
            "messages[0].content[0].type",
            VALUE,
        ),
        ([{"role": "user", "name": 1, "content": "hi"}], "messages[0].name", WRONG_TYPE),
        (
            [{"role": "system", "content": [{"type": "image_url", "image_url": {"url": PIXEL}}]}],
            "messages[0].content[0].type",
            VALUE,
        ),
        ([USER, assistant(call("a")), REMOTE_TYPE], "messages[2].content[0].type", VALUE),
        (
            [{"role": "user", "content": [{"type": "image_url"}]}],
            "messages[0].content[0].image_url",
            REQUIRED,
        ),
        (
            [{"role": "user", "content": [{"type": "image_url", "image_url": PIXEL}]}],
            "messages[0].content[0].image_url",
            WRONG_TYPE,
        ),
        (
            [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}],
            "messages[0].content[0].image_url.url",
            REQUIRED,
        ),
        (
            [
                {
                    "role": "user",
                    "content": [{"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}],
                }
            ],
            "messages[0].content[0].image_url.url",
            None,
        ),
        (
            [
                {
                    "role": "user",
                    "content": [{"type": "image_url", "image_url": {"url": "data:text/plain;base64,AA=="}}],
                }
            ],
            "messages[0].content[0].image_url.url",
            None,
        ),
        (
            [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": PIXEL, "detail": 1}}]}],
            "messages[0].content[0].image_url.detail",
            WRONG_TYPE,
        ),
        ([USER, {"role": "assistant"}], "messages[1].content", REQUIRED),
        ([USER, {"role": "assistant", "content": 5}], "messages[1].content", WRONG_TYPE),
        ([USER, {"role": "assistant", "content": "a", "refusal": 5}], "messages[1].refusal", WRONG_TYPE),
        ([USER, {"role": "assistant", "content": "a", "refusal": False}], "messages[1].refusal", WRONG_TYPE),
        ([USER, {"role": "assistant", "tool_calls": "f"}], "messages[1].tool_calls", WRONG_TYPE),
        ([USER, {"role": "assistant", "tool_calls": ["f"]}], "messages[1].tool_calls[0]", WRONG_TYPE),
        ([USER, assistant({"id": "a", "function": {}})], "messages[1].tool_calls[0].type", REQUIRED),
        ([USER, assistant({"id": "a", "type": "widget"})], "messages[1].tool_calls[0].type", VALUE),
        ([USER, assistant({**call("a"), "id": ""})], "messages[1].tool_calls[0].id", None),
        ([USER, assistant({**call("a"), "id": None})], "messages[1].tool_calls[0].id", REQUIRED),
        ([USER, assistant({"id": "a", "type": "function"})], "messages[1].tool_calls[0].function", REQUIRED),
        ([USER, assistant(ARGUMENTLESS)], "messages[1].tool_calls[0].function.arguments", REQUIRED),
        (
            [USER, assistant(call("a", arguments={}))],
            "messages[1].tool_calls[0].function.arguments",
            WRONG_TYPE,
        ),  # type: ignore[arg-type]
        ([USER, assistant(call("a", name=""))], "messages[1].tool_calls[0].function.name", None),
        (
            [USER, assistant({"id": "a", "type": "custom", "custom": {"name": "c"}})],
            "messages[1].tool_calls[0].custom.input",
            REQUIRED,
        ),
        ([USER, {"role": "assistant", "function_call": "f"}], "messages[1].function_call", WRONG_TYPE),
        (
            [USER, {"role": "assistant", "function_call": {"name": "f"}}],
            "messages[1].function_call.arguments",
            REQUIRED,
        ),
        ([USER, {"role": "tool", "content": "1"}], "messages[1].tool_call_id", REQUIRED),
        ([USER, {"role": "tool", "tool_call_id": 1, "content": "1"}], "messages[1].tool_call_id", WRONG_TYPE),
        (
            [USER, assistant(call("a")), {"role": "tool", "tool_call_id": "a"}],
            "messages[2].content",
            REQUIRED,
        ),
        ([result("zz")], "messages[0]", None),
        ([USER, assistant(call("a")), result("a"), result("a")], "messages[3]", None),
        ([USER, assistant(call("a"), call("b")), result("a"), USER], "messages[1].tool_calls[1]", None),
        (REPEATED, "messages[1].tool_calls[1]", None),
        ([USER, {"role": "function", "content": "1"}], "messages[1].name", REQUIRED),
        ([USER, {"role": "function", "name": "f", "content": "1"}], "messages[1]", None),
        ([USER, {"role": "function", "name": "f", "content": []}], "messages[1].content", WRONG_TYPE),
    ],
)
def test_chat_refuses_a_message_of_another_shape_and_names_its_path(
    messages: Any, param: str, code: str | None
) -> None:
    assert refused(body(messages=messages)) == (param, code)


def test_chat_lists_the_kinds_it_knows_when_it_refuses_one() -> None:
    with pytest.raises(Exception, match="'developer', 'system', 'user', 'assistant', 'tool', 'function'"):
        decode(body(messages=[{"role": "moderator", "content": "hi"}]))
