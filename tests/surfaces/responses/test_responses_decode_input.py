"""Items of every kind -> messages; unknown kinds and wrong types are 400s with their literal path."""

from __future__ import annotations

from typing import Any

import pytest

from app.turn.turn import (
    ImagePart,
    Message,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from tests.support.responses import (
    LOCAL_SHELL_CALL,
    PNG,
    SEALS,
    body,
    call,
    decode,
    function,
    headers,
    namespace,
    reasoning,
    refused,
    result,
    user,
)


def messages(*items: Any) -> list[Message]:
    return decode(body(*items)).turn.messages


def test_responses_message_needs_no_type_and_its_labels_mean_nothing() -> None:
    item = {"type": "message", "id": "msg_1", "status": "completed", "role": "user", "content": "hi"}

    assert messages(item) == messages(user())


def test_responses_parts_keep_their_order() -> None:
    item = user(
        {"type": "input_text", "text": "a"},
        {"type": "input_image", "image_url": PNG},
        {"type": "input_text", "text": ""},
        {"type": "input_text", "text": "b"},
    )

    (message,) = messages(item)

    assert message.parts == [TextPart("a"), ImagePart("iVBORw0KGgo=", "image/png"), TextPart("b")]


def test_responses_assistant_says_text_and_refusals() -> None:
    item = {
        "role": "assistant",
        "content": [
            {"type": "output_text", "text": "a", "annotations": [], "logprobs": []},
            {"type": "refusal", "refusal": "no"},
        ],
    }

    (_, message) = messages(user(), item)

    assert message == Message("assistant", [TextPart("a"), TextPart("no")], "input[1]")


def test_responses_every_system_message_before_the_user_is_system_text_in_order() -> None:
    parts = [{"type": "input_text", "text": "B"}, {"type": "input_text", "text": "C"}]
    turn = decode(
        body({"role": "system", "content": "A"}, {"role": "developer", "content": parts}, user())
    ).turn

    assert turn.system == "A\n\nB\n\nC"
    assert [message.path for message in turn.messages] == ["input[2]"]


def test_responses_late_system_message_keeps_its_place_and_is_named() -> None:
    request = body(user(), {"role": "developer", "content": "MID"}, user())

    turn = decode(request).turn

    assert turn.messages[1] == Message("user", [TextPart("[system]\nMID")], "input[1]")
    assert headers(request) == {"x-candor-emulated": "input[1].role"}


def test_responses_system_text_alone_is_a_request() -> None:
    turn = decode(body({"role": "developer", "content": "A"})).turn

    assert (turn.system, turn.messages) == ("A", [])


# Calls and results


def test_responses_call_and_result_pair_by_their_id() -> None:
    (_, asked, told) = messages(user(), call(arguments='{"x": 1}', id="fc_1"), result(id="fco_1"))

    assert asked.parts == [ToolCallPart("call_1", "f", '{"x": 1}', "input[1]")]
    assert told == Message("user", [ToolResultPart("call_1", [TextPart("1")], "input[2]")], "input[2]")


def test_responses_assistant_items_that_follow_each_other_are_one_message() -> None:
    said = {"role": "assistant", "content": "t"}
    turn = decode(body(user(), said, call("a"), call("b", "g"), result("b"), result("a"))).turn

    assert [message.role for message in turn.messages] == ["user", "assistant", "user", "user"]
    assert [type(part).__name__ for part in turn.messages[1].parts] == [
        "TextPart",
        "ToolCallPart",
        "ToolCallPart",
    ]


def test_responses_two_assistant_messages_stay_two() -> None:
    said = {"role": "assistant", "content": "t"}

    assert [message.path for message in messages(user(), said, said)] == ["input[0]", "input[1]", "input[2]"]


def test_responses_namespace_is_joined_to_the_name_of_a_call() -> None:
    (_, asked, _) = messages(user(), call(namespace="ns"), result())

    assert asked.parts == [ToolCallPart("call_1", "ns__f", "{}", "input[1]")]


def test_responses_call_ids_are_opaque_and_whole() -> None:
    long = "call_" + "x" * 80
    (_, asked, *_rest) = messages(
        user(), call(long + "1"), call(long + "2"), result(long + "2"), result(long + "1")
    )

    assert [part.id for part in asked.parts if isinstance(part, ToolCallPart)] == [long + "1", long + "2"]


def test_responses_result_holds_images_and_text() -> None:
    output = [
        {"type": "input_text", "text": "pic"},
        {"type": "input_image", "image_url": PNG, "detail": "high"},
    ]

    told = messages(user(), call(), result(output=output))[2]

    assert told.parts == [
        ToolResultPart("call_1", [TextPart("pic"), ImagePart("iVBORw0KGgo=", "image/png")], "input[2]")
    ]


def test_responses_empty_arguments_are_an_empty_object() -> None:
    asked = messages(user(), call(arguments=""), result(output=""))[1]

    assert asked.parts == [ToolCallPart("call_1", "f", "{}", "input[1]")]


def test_responses_custom_call_is_wrapped() -> None:
    asked, told = messages(
        user(),
        {
            "type": "custom_tool_call",
            "call_id": "call_1",
            "name": "exec",
            "namespace": "functions",
            "input": 'a"b',
        },
        {
            "type": "custom_tool_call_output",
            "call_id": "call_1",
            "output": [{"type": "input_text", "text": "ok"}, {"type": "input_text", "text": "done"}],
        },
    )[1:]

    assert asked.parts == [
        ToolCallPart("call_1", "functions__exec", '{"input":"a\\"b"}', "input[1]", is_custom=True)
    ]
    assert told.parts == [ToolResultPart("call_1", [TextPart("ok"), TextPart("done")], "input[2]")]


@pytest.mark.parametrize(
    "output_id", [{"id": "lsh_1"}, {"id": "call_1"}, {"id": "lo_1", "call_id": "call_1"}]
)
def test_responses_local_shell_call_pairs_by_either_id(output_id: dict[str, str]) -> None:
    output = {"type": "local_shell_call_output", "output": "a\nb", **output_id}

    asked, told = messages(user(), LOCAL_SHELL_CALL, output)[1:]

    assert asked.parts == [
        ToolCallPart("call_1", "local_shell", '{"command":["ls","-l"],"env":{}}', "input[1]")
    ]
    assert told.parts == [ToolResultPart("call_1", [TextPart("a\nb")], "input[2]")]


def test_responses_function_output_may_answer_a_local_shell_call() -> None:
    told = messages(user(), LOCAL_SHELL_CALL, result())[2]

    assert told.parts == [ToolResultPart("call_1", [TextPart("1")], "input[2]")]


def test_responses_shell_call_carries_its_commands_and_its_outputs_whole() -> None:
    outputs = [{"stdout": "a", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]
    asked, told = messages(
        user(),
        {"type": "shell_call", "call_id": "call_1", "action": {"commands": ["ls"], "timeout_ms": None}},
        {"type": "shell_call_output", "call_id": "call_1", "output": outputs},
    )[1:]

    assert asked.parts == [ToolCallPart("call_1", "shell", '{"commands":["ls"]}', "input[1]")]
    text = '[{"stdout":"a","stderr":"","outcome":{"type":"exit","exit_code":0}}]'
    assert told.parts == [ToolResultPart("call_1", [TextPart(text)], "input[2]")]


@pytest.mark.parametrize(
    ("fields", "text", "is_error"),
    [
        ({"status": "completed"}, "completed", False),
        ({"status": "completed", "output": "Done"}, "Done", False),
        ({"status": "failed", "output": "no such file"}, "no such file", True),
        ({"status": "failed"}, "failed", True),
    ],
)
def test_responses_apply_patch_call_tells_whether_it_failed(
    fields: dict[str, str], text: str, is_error: bool
) -> None:
    operation = {"type": "delete_file", "path": "a"}
    asked, told = messages(
        user(),
        {"type": "apply_patch_call", "call_id": "call_1", "operation": operation, "status": "completed"},
        {"type": "apply_patch_call_output", "call_id": "call_1", **fields},
    )[1:]

    assert asked.parts == [
        ToolCallPart("call_1", "apply_patch", '{"type":"delete_file","path":"a"}', "input[1]")
    ]
    assert told.parts == [ToolResultPart("call_1", [TextPart(text)], "input[2]", is_error)]


def test_responses_client_tool_search_is_a_call_and_its_output_adds_the_tools() -> None:
    turn = decode(
        body(
            user(),
            {
                "type": "tool_search_call",
                "call_id": "call_1",
                "execution": "client",
                "arguments": {"query": "q"},
            },
            {
                "type": "tool_search_output",
                "call_id": "call_1",
                "execution": "client",
                "tools": [namespace("ns", function("f")), function("g")],
            },
        )
    ).turn

    assert turn.messages[1].parts == [ToolCallPart("call_1", "tool_search", '{"query":"q"}', "input[1]")]
    assert turn.messages[2].parts == [
        ToolResultPart("call_1", [TextPart("Tools found: ns__f, g")], "input[2]")
    ]
    assert [tool.name for tool in turn.tools] == ["ns__f", "g"]


def test_responses_server_tool_search_is_history_and_its_output_adds_the_tools() -> None:
    turn = decode(
        body(
            user(),
            {
                "type": "tool_search_call",
                "execution": "server",
                "call_id": None,
                "arguments": {"paths": ["a"]},
            },
            {"type": "tool_search_output", "execution": "server", "call_id": None, "tools": [function("g")]},
        )
    ).turn

    assert turn.messages[1].parts == [
        TextPart('[tool_search_call] {"execution":"server","arguments":{"paths":["a"]}}')
    ]
    assert len(turn.messages) == 2
    assert [tool.name for tool in turn.tools] == ["g"]


def test_responses_additional_tools_join_the_tools() -> None:
    item = {"type": "additional_tools", "role": "developer", "tools": [function("g")]}

    assert [tool.name for tool in decode(body(item, user(), tools=[function("f")])).turn.tools] == ["f", "g"]


# Reasoning


def test_responses_reasoning_of_our_own_is_opened() -> None:
    blob = SEALS.wrap("hm")

    (_, said) = messages(
        user(), reasoning(encrypted_content=blob, content=None), {"role": "assistant", "content": "t"}
    )

    assert said == Message("assistant", [ReasoningPart("hm"), TextPart("t")], "input[1]")


def test_responses_reasoning_of_anyone_else_is_left_out() -> None:
    request = body(user(), reasoning(encrypted_content="blob"), call(), result())

    assert [message.path for message in decode(request).turn.messages] == ["input[0]", "input[2]", "input[3]"]
    assert headers(request) == {"x-candor-ignored": "input[1].encrypted_content"}


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"summary": [{"type": "summary_text", "text": "s"}]}, "input[1].summary"),
        ({"content": [{"type": "reasoning_text", "text": "s"}]}, "input[1].content"),
    ],
)
def test_responses_reasoning_without_a_seal_is_left_out_and_named(fields: dict[str, Any], path: str) -> None:
    assert headers(body(user(), reasoning(**fields))) == {"x-candor-ignored": path}


# Hosted tools in history


@pytest.mark.parametrize(
    ("item", "text"),
    [
        (
            {
                "type": "web_search_call",
                "id": "ws_1",
                "status": "completed",
                "action": {"type": "search", "query": "q"},
            },
            '[web_search_call] {"status":"completed","action":{"type":"search","query":"q"}}',
        ),
        (
            {
                "type": "file_search_call",
                "id": "fs_1",
                "status": "completed",
                "queries": ["q"],
                "results": None,
            },
            '[file_search_call] {"status":"completed","queries":["q"]}',
        ),
        (
            {
                "type": "code_interpreter_call",
                "id": "ci_1",
                "status": "completed",
                "code": "1+1",
                "outputs": [],
            },
            '[code_interpreter_call] {"status":"completed","code":"1+1","outputs":[]}',
        ),
        (
            {
                "type": "mcp_call",
                "id": "mcp_1",
                "name": "n",
                "server_label": "s",
                "arguments": "{}",
                "output": "o",
            },
            '[mcp_call] {"name":"n","server_label":"s","arguments":"{}","output":"o"}',
        ),
    ],
)
def test_responses_finished_call_of_a_hosted_tool_is_a_line_of_text(item: dict[str, Any], text: str) -> None:
    request = body(user(), item)

    assert decode(request).turn.messages[1] == Message("assistant", [TextPart(text)], "input[1]")
    assert headers(request) == {"x-candor-emulated": "input[1].type"}


def test_responses_generated_image_is_shown_to_the_model() -> None:
    item = {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "AAAA"}

    said = messages(user(), {**item, "output_format": "webp"})

    assert said[1].parts == [
        TextPart('[image_generation_call] {"status":"completed","output_format":"webp"}')
    ]
    assert said[2] == Message("user", [ImagePart("AAAA", "image/webp")], "input[1]")


# What is wrong


def at(*items: Any) -> tuple[str | None, str | None]:
    return refused(body(*items))


MISSING = "missing_required_parameter"


@pytest.mark.parametrize(
    ("items", "param", "code"),
    [
        ([5], "input[0]", "invalid_type"),
        ([{"type": "telepathy"}], "input[0].type", "invalid_value"),
        ([{"type": 5}], "input[0].type", "invalid_type"),
        ([{"content": "hi"}], "input[0].role", MISSING),
        ([{"role": "critic", "content": "hi"}], "input[0].role", "invalid_value"),
        ([{"role": 5, "content": "hi"}], "input[0].role", "invalid_type"),
        ([{"role": "user"}], "input[0].content", MISSING),
        ([{"role": "user", "content": 5}], "input[0].content", "invalid_type"),
        ([user("hi")], "input[0].content[0]", "invalid_type"),
        ([user({"type": "hologram"})], "input[0].content[0].type", "invalid_value"),
        ([user({"text": "hi"})], "input[0].content[0].type", MISSING),
        ([user({"type": "input_text"})], "input[0].content[0].text", MISSING),
        ([user({"type": "input_text", "text": 5})], "input[0].content[0].text", "invalid_type"),
        ([user({"type": "input_image"})], "input[0].content[0].image_url", MISSING),
        (
            [user({"type": "input_image", "image_url": {"url": PNG}})],
            "input[0].content[0].image_url",
            "invalid_type",
        ),
        (
            [user({"type": "input_image", "image_url": "data:text/plain;base64,AAAA"})],
            "input[0].content[0].image_url",
            None,
        ),
        (
            [{"role": "system", "content": [{"type": "input_image", "image_url": PNG}]}],
            "input[0].content",
            None,
        ),
        ([user(), {"type": "function_call", "name": "f", "arguments": "{}"}], "input[1].call_id", MISSING),
        ([user(), {"type": "function_call", "call_id": "a", "arguments": "{}"}], "input[1].name", MISSING),
        ([user(), {"type": "function_call", "call_id": "a", "name": "f"}], "input[1].arguments", MISSING),
        ([user(), call(arguments={})], "input[1].arguments", "invalid_type"),
        ([user(), call(namespace=5)], "input[1].namespace", "invalid_type"),
        ([user(), call(), {"type": "function_call_output", "call_id": "call_1"}], "input[2].output", MISSING),
        ([user(), call(), {"type": "function_call_output", "output": "1"}], "input[2].call_id", MISSING),
        ([user(), call(), result(output=5)], "input[2].output", "invalid_type"),
        ([user(), call(), result(output=[{"type": "hologram"}])], "input[2].output[0].type", "invalid_value"),
        ([user(), {"type": "custom_tool_call", "call_id": "a", "name": "c"}], "input[1].input", MISSING),
        ([user(), {"type": "local_shell_call", "call_id": "a", "id": "b"}], "input[1].action", MISSING),
        ([user(), {"type": "shell_call", "call_id": "a", "action": 5}], "input[1].action", "invalid_type"),
        ([user(), {"type": "apply_patch_call", "call_id": "a"}], "input[1].operation", MISSING),
        ([user(), reasoning(summary="s")], "input[1].summary", "invalid_type"),
        ([user(), reasoning(summary=[{"type": "summary"}])], "input[1].summary[0].type", "invalid_value"),
        ([user(), reasoning(encrypted_content=5)], "input[1].encrypted_content", "invalid_type"),
        (
            [{"type": "additional_tools", "role": "user", "tools": []}, user()],
            "input[0].role",
            "invalid_value",
        ),
        (
            [{"type": "additional_tools", "tools": [{"type": "widget"}]}, user()],
            "input[0].tools[0].type",
            "invalid_value",
        ),
        ([{"type": "item_reference", "id": "rs_1"}], "input[0].id", "item_not_found"),
        ([{"id": "rs_1"}], "input[0].id", "item_not_found"),
        # the pairing of calls and results
        ([user(), result("zz")], "input[1]", None),
        ([user(), call("a"), call("b"), result("a"), user()], "input[2]", None),
        ([user(), call("a"), call("a"), result("a")], "input[2]", None),
    ],
)
def test_responses_names_the_path_of_what_is_wrong(items: list[Any], param: str, code: str | None) -> None:
    assert at(*items) == (param, code)


def test_responses_calls_in_the_last_message_may_be_open() -> None:
    assert len(messages(user(), call("a"), call("b"))) == 2
