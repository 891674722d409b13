"""Bodies of the Messages surface: roles, system text, sampling, choices; wrong shapes with their paths."""

import pytest

from app.surfaces.surface import RequestFacts
from app.turn.faults import FaultKind, TurnFault
from app.turn.tool_choice import ToolChoice
from app.turn.turn import Message, OutputFormat, Sampling, TextPart
from tests.surfaces.messages.kit import SURFACE, TOOL, body, conversation, decode, message_of

CALL = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "a", "content": "1"}


def test_a_plain_request():
    turn = decode(body(system="S", temperature=0, top_p=0, top_k=0, stop_sequences=["END"], stream=True)).turn
    assert turn.model == "m"
    assert turn.system == "S"
    assert turn.messages == [Message("user", [TextPart("hi")], "messages[0]")]
    assert turn.sampling == Sampling(50, 0.0, 0.0, 0, ("END",))
    assert turn.stream is True
    assert (turn.tools, turn.tool_choice, turn.parallel_tool_calls, turn.output_format) == (
        [],
        None,
        None,
        None,
    )


def test_system_blocks_are_joined_by_blank_lines():
    blocks = [{"type": "text", "text": "A"}, {"type": "text", "text": ""}, {"text": "B"}]
    assert decode(body(system=blocks)).turn.system == "A\n\nB"


def test_system_messages_before_the_first_user_turn_are_system_text():
    turn = decode(conversation(("system", "B"), ("user", "u"), system="A")).turn
    assert turn.system == "A\n\nB"
    assert turn.messages == [Message("user", [TextPart("u")], "messages[1]")]


def test_later_system_messages_keep_their_place_as_marked_user_messages():
    late = [{"type": "text", "text": "MID"}, {"type": "text", "text": "DLE"}]
    turn = decode(
        conversation(
            ("user", "u"), ("system", late), ("user", "v"), ("assistant", "a"), ("user", "w"), system="S"
        )
    ).turn
    assert turn.system == "S"
    assert turn.messages == [
        Message("user", [TextPart("u")], "messages[0]"),
        Message("user", [TextPart("[system]\nMID\n\nDLE")], "messages[1]"),
        Message("user", [TextPart("v")], "messages[2]"),
        Message("assistant", [TextPart("a")], "messages[3]"),
        Message("user", [TextPart("w")], "messages[4]"),
    ]


def test_consecutive_turns_of_one_role_are_joined():
    turn = decode(
        conversation(
            ("user", "a"), ("user", [{"type": "text", "text": "b"}]), ("assistant", "c"), ("assistant", "d")
        )
    ).turn
    assert turn.messages == [
        Message("user", [TextPart("a"), TextPart("b")], "messages[0]"),
        Message("assistant", [TextPart("c"), TextPart("d")], "messages[2]"),
    ]


def test_results_may_come_in_another_order_than_their_calls():
    calls = [CALL, {**CALL, "id": "b"}]
    results = [{**RESULT, "tool_use_id": "b"}, RESULT]
    turn = decode(conversation(("user", "u"), ("assistant", calls), ("user", results))).turn
    assert [part.call_id for part in turn.messages[2].parts] == ["b", "a"]


def test_long_ids_are_opaque():
    first, second = "toolu_" + "x" * 64 + "1" * 16, "toolu_" + "x" * 64 + "2" * 16
    calls = [{**CALL, "id": first}, {**CALL, "id": second}]
    results = [{**RESULT, "tool_use_id": second}, {**RESULT, "tool_use_id": first}]
    turn = decode(conversation(("user", "u"), ("assistant", calls), ("user", results))).turn
    assert [part.id for part in turn.messages[1].parts] == [first, second]
    assert [part.call_id for part in turn.messages[2].parts] == [second, first]


def test_the_user_id_is_the_session_key():
    assert decode(body(metadata={"user_id": "u"})).turn.session_key == "u"
    assert decode(body(metadata={"user_id": None})).turn.session_key is None
    assert decode(body()).turn.session_key is None


@pytest.mark.parametrize(
    ("thinking", "shown"),
    [
        (None, False),
        ({"type": "disabled"}, False),
        ({"type": "enabled", "budget_tokens": 1024}, True),
        ({"type": "enabled", "budget_tokens": 1024, "display": "summarized"}, True),
        ({"type": "enabled", "budget_tokens": 1024, "display": "omitted"}, False),
        ({"type": "adaptive"}, True),
        ({"type": "adaptive", "display": None}, True),
        ({"type": "adaptive", "display": "omitted"}, False),
        ({"type": "between_tools"}, True),
    ],
)
def test_thinking_is_shown_only_when_asked_for(thinking, shown):
    assert decode(body(thinking=thinking)).turn.show_reasoning is shown


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ({"type": "auto"}, ToolChoice("auto")),
        ({"type": "none"}, ToolChoice("none")),
        ({"type": "any"}, ToolChoice("required")),
        ({"type": "tool", "name": "f"}, ToolChoice("required", ("f",), named=True)),
    ],
)
def test_every_tool_choice(choice, expected):
    assert decode(body(tools=[TOOL], tool_choice=choice)).turn.tool_choice == expected


@pytest.mark.parametrize(("disabled", "parallel"), [(True, False), (False, True), (None, None)])
def test_disable_parallel_tool_use_is_parallel_tool_calls_false(disabled, parallel):
    choice = {"type": "auto", "disable_parallel_tool_use": disabled}
    assert decode(body(tools=[TOOL], tool_choice=choice)).turn.parallel_tool_calls is parallel


@pytest.mark.parametrize("key", ["output_config", "output_format"])
def test_an_output_format_in_either_spelling(key):
    wanted = {"type": "json_schema", "schema": {"type": "object"}}
    fields = {key: wanted} if key == "output_format" else {key: {"format": wanted}}
    assert decode(body(**fields)).turn.output_format == OutputFormat("json_schema", {"type": "object"})


def test_counting_needs_no_max_tokens_and_never_streams():
    request = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": True}
    turn = SURFACE.counting().decode(request, RequestFacts({})).turn
    assert turn.stream is False
    assert turn.sampling.max_output_tokens is None


def test_null_is_absent():
    nothing = dict.fromkeys(
        [
            "system",
            "temperature",
            "top_p",
            "top_k",
            "stop_sequences",
            "stream",
            "tools",
            "tool_choice",
            "thinking",
        ]
    )
    assert decode(body(**nothing)).turn == decode(body()).turn


@pytest.mark.parametrize(
    ("request_body", "text"),
    [
        ({"messages": [], "max_tokens": 1}, "model: the field is required"),
        (body(model=1), "model: must be a string, not an integer"),
        (body(max_tokens=None), "max_tokens: the field is required"),
        (body(max_tokens="5"), "max_tokens: must be an integer, not a string"),
        (body(max_tokens=0), "max_tokens: must be from 1 to 2147483647, not 0"),
        (body(max_tokens=1.5), "max_tokens: must be an integer, not a number"),
        (body(max_tokens=True), "max_tokens: must be an integer, not a boolean"),
        (body(temperature=1.5), "temperature: must be from 0 to 1, not 1.5"),
        (body(temperature="0"), "temperature: must be a number, not a string"),
        (body(top_p=-1), "top_p: must be from 0 to 1, not -1"),
        (body(top_k=-1), "top_k: must be from 0 to 2147483647, not -1"),
        (body(stream="true"), "stream: must be a boolean, not a string"),
        (body(stop_sequences="END"), "stop_sequences: must be an array, not a string"),
        (body(stop_sequences=[1]), "stop_sequences.0: must be a string, not an integer"),
        (body(stop_sequences=["a", ""]), "stop_sequences.1: must not be empty"),
        (body(system=1), "system: must be a string or an array, not an integer"),
        (body(system=["S"]), "system.0: must be an object, not a string"),
        (body(system=[{"type": "text"}]), "system.0.text: the field is required"),
        (
            body(system=[{"type": "image"}]),
            "system.0.type: unknown value 'image'; supported values are: 'text'",
        ),
        (body(messages=None), "messages: the field is required"),
        (body(messages=[]), "messages: at least one message is required"),
        (body(messages="hi"), "messages: must be an array, not a string"),
        (body(messages=["hi"]), "messages.0: must be an object, not a string"),
        (
            body(messages=[{"content": "hi"}]),
            "messages.0.role: the field is required; supported values are: 'user', 'assistant', 'system'",
        ),
        (
            conversation(("user", "hi"), ("tool", "hi")),
            "messages.1.role: unknown value 'tool'; supported values are: 'user', 'assistant', 'system'",
        ),
        (body(messages=[{"role": 1, "content": "hi"}]), "messages.0.role: must be a string"),
        (body(messages=[{"role": "user"}]), "messages.0.content: the field is required"),
        (conversation(("user", 1)), "messages.0.content: must be a string or an array, not an integer"),
        (conversation(("user", ["a"])), "messages.0.content.0: must be an object, not a string"),
        (conversation(("user", "u"), ("system", None)), "messages.1.content: the field is required"),
        (
            conversation(("user", "u"), ("system", [{"type": "image", "source": {"type": "base64"}}])),
            "messages.1.content.0.type: only text may stand in a system message",
        ),
        (body({"type": "text", "text": 1}), "messages.0.content.0.text: must be a string, not an integer"),
        (body({"type": "text"}), "messages.0.content.0.text: the field is required"),
        (body({"type": "image"}), "messages.0.content.0.source: the field is required"),
        (
            body({"type": "image", "source": {"type": "base64", "media_type": "image/png"}}),
            "messages.0.content.0.source.data: the field is required",
        ),
        (
            body({"type": "image", "source": {"type": "base64", "media_type": "text/html", "data": "aa"}}),
            "messages.0.content.0.source.media_type: must be the MIME type of an image",
        ),
        (
            body(CALL),
            "messages.0.content.0.type: blocks of this type may stand in assistant messages only",
        ),
        (
            conversation(("user", "u"), ("assistant", [RESULT])),
            "messages.1.content.0.type: blocks of this type may stand in user messages only",
        ),
        (
            body({"type": "thinking", "thinking": "hm", "signature": ""}),
            "messages.0.content.0.type: blocks of this type may stand in assistant messages only",
        ),
        (
            conversation(("assistant", [{"type": "tool_use", "id": "a", "name": "f"}])),
            "messages.0.content.0.input: the field is required",
        ),
        (
            conversation(("assistant", [{**CALL, "input": "{}"}])),
            "messages.0.content.0.input: must be an object, not a string",
        ),
        (conversation(("assistant", [{**CALL, "id": ""}])), "messages.0.content.0.id: must not be empty"),
        (
            conversation(("user", "u"), ("assistant", [CALL]), ("user", [{**RESULT, "is_error": "true"}])),
            "messages.2.content.0.is_error: must be a boolean, not a string",
        ),
        (
            conversation(("user", "u"), ("assistant", [CALL]), ("user", [{**RESULT, "content": 1}])),
            "messages.2.content.0.content: must be a string or an array, not an integer",
        ),
        (
            conversation(("user", "u"), ("assistant", [CALL]), ("user", "next")),
            "messages.1.content.0: the tool call 'a' has no result",
        ),
        (
            conversation(("user", "u"), ("assistant", [CALL, CALL]), ("user", [RESULT])),
            "messages.1.content.1: the tool call id 'a' is used twice",
        ),
        (body(tools={}), "tools: must be an array, not an object"),
        (body(tools=[1]), "tools.0: must be an object, not an integer"),
        (body(tools=[{"input_schema": {}}]), "tools.0.name: the field is required"),
        (body(tools=[{"name": "f"}]), "tools.0.input_schema: the field is required"),
        (
            body(tools=[{**TOOL, "input_schema": "{}"}]),
            "tools.0.input_schema: must be an object, not a string",
        ),
        (body(tools=[{**TOOL, "description": 1}]), "tools.0.description: must be a string, not an integer"),
        (body(tools=[TOOL, TOOL]), "tools.1.name: Tool names must be unique; 'f' is there twice"),
        (
            body(tools=[{"type": "bash_20250124", "name": "sh"}]),
            "tools.0.name: the name of a tool of this type is 'bash'",
        ),
        (body(tools=[TOOL], tool_choice="auto"), "tool_choice: must be an object, not a string"),
        (
            body(tools=[TOOL], tool_choice={}),
            "tool_choice.type: the field is required; supported values are: 'auto', 'none', 'any', 'tool'",
        ),
        (
            body(tools=[TOOL], tool_choice={"type": "function"}),
            "tool_choice.type: unknown value 'function'; supported values are: 'auto', 'none', 'any', 'tool'",
        ),
        (body(tools=[TOOL], tool_choice={"type": "tool"}), "tool_choice.name: the field is required"),
        (
            body(tools=[TOOL], tool_choice={"type": "tool", "name": "g"}),
            "tool_choice.name: the tool 'g' is not among the request's tools",
        ),
        (
            body(tool_choice={"type": "any"}),
            "tool_choice: a tool call is demanded, but the request has no tools",
        ),
        (
            body(tools=[TOOL], tool_choice={"type": "auto", "disable_parallel_tool_use": "true"}),
            "tool_choice.disable_parallel_tool_use: must be a boolean, not a string",
        ),
        (body(thinking="on"), "thinking: must be an object, not a string"),
        (
            body(thinking={"type": "enabled", "budget_tokens": "9"}),
            "thinking.budget_tokens: must be an integer, not a string",
        ),
        (
            body(thinking={"type": "adaptive", "display": "full"}),
            "thinking.display: unknown value 'full'; supported values are: 'summarized', 'omitted', 'updates'",
        ),
        (body(metadata="u"), "metadata: must be an object, not a string"),
        (body(metadata={"user_id": 1}), "metadata.user_id: must be a string, not an integer"),
        (body(output_config=1), "output_config: must be an object, not an integer"),
        (
            body(output_config={"format": {"type": "json_schema"}}),
            "output_config.format.schema: the field is required",
        ),
        (
            body(output_config={"format": {"type": "xml"}}),
            "output_config.format.type: unknown value 'xml'; supported values are: 'json_schema'",
        ),
        (
            body(
                output_config={"format": {"type": "json_schema", "schema": {}}},
                output_format={"type": "json_schema", "schema": {}},
            ),
            "output_format: says the same as output_config.format; one of them must go",
        ),
        (
            body(
                {"type": "text", "text": "hi"},
                {"type": "tool_removal", "tool": {"type": "tool_reference", "name": "g"}},
                tools=[TOOL],
            ),
            "messages.0.content.1.tool.name: the tool 'g' is not among the request's tools",
        ),
        (
            body({"type": "document", "source": {"type": "content", "content": [{"type": "document"}]}}),
            "messages.0.content.0.source.content.0.type: unknown value 'document'; "
            "supported values are: 'text', 'image'",
        ),
    ],
)
def test_wrong_shapes_are_named_by_their_path(request_body, text):
    with pytest.raises(TurnFault) as caught:
        decode(request_body)
    assert caught.value.kind is FaultKind.INVALID_REQUEST
    assert message_of(caught.value) == text


def test_an_unknown_kind_of_block_or_tool_is_named_by_its_path():
    for request, start in [
        (
            body({"type": "text", "text": "a"}, {"type": "widget"}),
            "messages.0.content.1.type: unknown value 'widget'",
        ),
        (body(tools=[TOOL, {"type": "widget"}]), "tools.1.type: unknown value 'widget'"),
        (
            conversation(
                ("user", "u"), ("assistant", [CALL]), ("user", [{**RESULT, "content": [{"type": "x"}]}])
            ),
            "messages.2.content.0.content.0.type: unknown value 'x'",
        ),
        (body(thinking={"type": "deep"}), "thinking.type: unknown value 'deep'"),
    ]:
        with pytest.raises(TurnFault) as caught:
            decode(request)
        assert message_of(caught.value).startswith(start)


def test_what_is_nested_too_deeply_is_named():
    deep = {}
    for _ in range(500):
        deep = {"a": deep}
    call = {**CALL, "input": deep}
    server_call = {"type": "server_tool_use", "id": "s", "name": "x", "input": deep}
    for request, path in [
        (body(tools=[{"name": "f", "input_schema": deep}]), "tools.0.input_schema"),
        (conversation(("user", "u"), ("assistant", [call])), "messages.1.content.0.input"),
        (conversation(("user", "u"), ("assistant", [server_call])), "messages.1.content.0.input"),
        (body(output_format={"type": "json_schema", "schema": deep}), "output_format.schema"),
    ]:
        with pytest.raises(TurnFault) as caught:
            decode(request)
        assert message_of(caught.value) == f"{path}: is nested too deeply"


def test_a_result_without_its_call_is_named():
    with pytest.raises(TurnFault) as caught:
        decode(conversation(("user", [{"type": "tool_result", "tool_use_id": "zz", "content": "1"}])))
    assert message_of(caught.value).startswith("messages.0.content.0: no tool call with id 'zz'")


def test_a_summary_that_only_the_vendor_can_read_is_refused():
    block = {"type": "compaction", "content": None, "encrypted_content": "zz"}
    with pytest.raises(TurnFault) as caught:
        decode(conversation(("assistant", [block]), ("user", "hi")))
    assert message_of(caught.value) == "messages.0.content.0.content: Extra inputs are not permitted"
