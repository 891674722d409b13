"""Turn -> request message, field by field."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict

from app.turn.faults import FaultKind, TurnFault
from app.turn.features import Feature
from app.turn.schema import complete_schema
from app.turn.tool_choice import AUTO, NONE, REQUIRED, ToolChoice, named, subset
from app.turn.turn import (
    ImagePart,
    Message,
    OutputFormat,
    Part,
    ReasoningPart,
    Sampling,
    TextPart,
    Tool,
    ToolCallPart,
    ToolResultPart,
    Turn,
)
from app.upstreams.connect.coordinates import Coordinates
from app.upstreams.connect.encode import Identity, RequestEncoder, describe_format
from app.upstreams.connect.upstream import CONFIRMED
from app.upstreams.connect.wire_pb2 import GetChatMessageRequest
from tests.upstreams.kit import turn

IDENTITY = Identity("candor", "1.0.0")
CHOICE = frozenset({Feature.TOOL_CHOICE, Feature.DISABLE_PARALLEL_TOOL_CALLS})
F = Tool("f", "does f", '{"type":"object","properties":{"x":{"type":"string"}}}')
G = Tool("g", "does g", '{"type":"object","properties":{}}')


def payload(asked: Turn, *more: Feature, coordinates: Coordinates | None = None) -> bytes:
    features = CONFIRMED.union(more)
    return RequestEncoder(features, coordinates or Coordinates(), IDENTITY).encode(asked, "m-1", "tok")


def encoded(asked: Turn, *more: Feature) -> dict[str, Any]:
    message = GetChatMessageRequest.FromString(payload(asked, *more))
    return MessageToDict(message, preserving_proto_field_name=True)


def history(*messages: Message, features: tuple[Feature, ...] = ()) -> list[dict[str, Any]]:
    """The wire messages of a history, without their ids."""
    wire = encoded(Turn("m", list(messages), session_id="s"), *features).get("messages", [])
    for message in wire:
        del message["message_id"]
    return wire


def user(*parts: Part) -> Message:
    return Message("user", list(parts), "messages[0]")


def assistant(*parts: Part) -> Message:
    return Message("assistant", list(parts), "messages[1]")


def call(call_id: str, arguments: str = "{}", name: str = "f", **more: Any) -> ToolCallPart:
    return ToolCallPart(call_id, name, arguments, "p", **more)


def result(call_id: str, *parts: TextPart | ImagePart, **more: Any) -> ToolResultPart:
    return ToolResultPart(call_id, list(parts), "p", **more)


PNG = ImagePart("iVBORw0KGgo=", "image/png")


def test_the_default_request_is_exactly_this():
    wire = encoded(turn(TextPart("hi"), system="S"))
    os = wire["metadata"].pop("os")
    assert os in ("linux", "darwin", "win32")
    assert wire == {
        "metadata": {
            "client_name": "candor",
            "client_version": "1.0.0",
            "session_token": "tok",
            "locale": "en",
            "ide_version": "1.0.0",
            "ide_name": "candor",
        },
        "system_prompt": "S",
        "messages": [{"message_id": "1b6ce3734554f343", "source": 1, "text": "hi"}],
        "request_kind": 5,
        "completion": {"mode": 1, "max_newlines": 128000},
        "model_config": {"id": "m-1", "turn": 1, "kind": 4},
        "session_id": "session-1",
        "request_flag": 1,
        "model": "m-1",
    }


def test_message_ids_depend_on_session_and_place_alone():
    first = encoded(turn(TextPart("a")))["messages"][0]["message_id"]
    assert encoded(turn(TextPart("b"), model="other"))["messages"][0]["message_id"] == first
    assert encoded(turn(TextPart("a"), session_id="s2"))["messages"][0]["message_id"] != first
    ids = [
        m["message_id"] for m in encoded(Turn("m", [user(TextPart("a"))] * 300, session_id="s"))["messages"]
    ]
    assert len(set(ids)) == 300


# --- sampling -----------------------------------------------------------------------------------


def completion(**sampling: Any) -> dict[str, Any]:
    wire = encoded(turn(sampling=Sampling(**sampling)))["completion"]
    del wire["mode"], wire["max_newlines"]
    return wire


def test_absent_sampling_is_absent_on_the_wire():
    assert completion() == {}


def test_sampling_reaches_its_fields():
    sampled = completion(max_output_tokens=7, temperature=0.25, top_p=0.5, top_k=9)
    assert sampled == {"max_tokens": 7, "temperature": 0.25, "top_p": 0.5, "top_k": 9}


def test_zeros_are_on_the_wire_and_differ_from_absent():
    assert completion(max_output_tokens=0) == {"max_tokens": 0}
    assert completion(top_p=0.0) == {"top_p": 0.0}
    assert completion(top_k=0) == {"top_k": 0}


def test_a_temperature_of_exactly_0_becomes_a_thousandth():
    assert completion(temperature=0) == {"temperature": 0.001}
    assert completion(temperature=0.0005) == {"temperature": 0.0005}
    wire = encoded(turn(sampling=Sampling(temperature=0)), Feature.TEMPERATURE_ZERO)
    assert wire["completion"]["temperature"] == 0.0


@pytest.mark.parametrize("sampling", [{"max_output_tokens": 2**32}, {"top_k": -1}])
def test_a_number_that_the_wire_cannot_hold_is_an_invalid_request(sampling):
    with pytest.raises(TurnFault) as caught:
        completion(**sampling)
    assert caught.value.kind is FaultKind.INVALID_REQUEST


def test_what_is_no_feature_is_not_emitted():
    asked = turn(
        PNG,
        tools=[Tool("f", "", "{}", strict=True)],
        tool_choice=REQUIRED,
        parallel_tool_calls=False,
        sampling=Sampling(max_output_tokens=1, temperature=0.5, top_p=0.5, top_k=1),
        system="S",
    )
    message = GetChatMessageRequest.FromString(
        RequestEncoder(frozenset(), Coordinates(), IDENTITY).encode(asked, "m", "t")
    )
    completion = MessageToDict(message.completion, preserving_proto_field_name=True)
    assert completion == {"mode": 1, "max_newlines": 128000}
    assert not message.messages
    assert not message.tools[0].HasField("strict")
    assert not message.HasField("disable_parallel_tool_calls")
    assert not message.HasField("tool_choice")
    assert not message.HasField("prompt_cache_options")


# --- parallel_tool_calls and tool_choice --------------------------------------------------------


def test_with_the_switch_off_the_bytes_are_the_same_whatever_the_hint():
    plain = payload(turn(tools=[F]))
    assert payload(turn(tools=[F], parallel_tool_calls=False)) == plain
    assert payload(turn(tools=[F], parallel_tool_calls=True)) == plain
    assert payload(turn(tools=[F], tool_choice=REQUIRED)) == plain


def test_with_the_switch_on_only_exactly_false_emits_number_11():
    plain = payload(turn(tools=[F]), *CHOICE)
    assert payload(turn(tools=[F], parallel_tool_calls=False), *CHOICE) == plain + b"\x58\x01"
    for value in (True, None, 0):
        assert payload(turn(tools=[F], parallel_tool_calls=value), *CHOICE) == plain


def test_the_hint_without_tools_is_sent_all_the_same():
    assert payload(turn(parallel_tool_calls=False), *CHOICE).endswith(b"\x58\x01")


def test_re_pointed_tags_move_both_fields():
    asked = turn(tools=[F], tool_choice=REQUIRED, parallel_tool_calls=False)
    features = CONFIRMED | CHOICE
    moved = RequestEncoder(features, Coordinates(choice=11, parallel=12), IDENTITY).encode(asked, "m", "t")
    assert moved.endswith(b"\x60\x01" + b"\x5a\x0a\x0a\x08required")


@pytest.mark.parametrize(
    ("choice", "names", "wire_choice"),
    [
        (None, ["f", "g"], None),
        (AUTO, ["f", "g"], None),
        (NONE, [], {"option_name": "none"}),
        (REQUIRED, ["f", "g"], {"option_name": "required"}),
        (named("g"), ["f", "g"], {"option_name": "function", "tool_name": "g"}),
        (subset("auto", ["g"]), ["g"], None),
        (subset("required", ["g"]), ["g"], {"option_name": "required"}),
    ],
)
def test_with_the_switch_on_a_choice_reaches_the_wire(choice, names, wire_choice):
    wire = encoded(turn(tools=[F, G], tool_choice=choice), *CHOICE)
    assert [tool["name"] for tool in wire.get("tools", [])] == names
    assert wire.get("tool_choice") == wire_choice


@pytest.mark.parametrize(
    ("choice", "names"),
    [(NONE, []), (REQUIRED, ["f", "g"]), (named("g"), ["g"]), (subset("required", ["f"]), ["f"])],
)
def test_with_the_switch_off_a_choice_only_narrows_the_tools(choice: ToolChoice, names: list[str]):
    wire = encoded(turn(tools=[F, G], tool_choice=choice))
    assert [tool["name"] for tool in wire.get("tools", [])] == names
    assert "tool_choice" not in wire


def test_prompt_cache_options_are_sent_by_their_feature_alone():
    assert "prompt_cache_options" not in encoded(turn())
    assert encoded(turn(), Feature.PROMPT_CACHE)["prompt_cache_options"] == {"type": 1}


# --- tools and system text ----------------------------------------------------------------------


def test_tools_carry_their_schema_as_text_and_strict_only_when_it_was_said():
    tools = [F, Tool("s", "", "{}", strict=True), Tool("t", "", "{}", strict=False)]
    wire = encoded(turn(tools=tools, system="S"))["tools"]
    assert wire[0] == {
        "name": "f",
        "description": "does f",
        "parameters": '{"type":"object","properties":{"x":{"type":"string"}}}',
    }
    assert wire[1] == {"name": "s", "parameters": "{}", "strict": True}
    assert wire[2] == {"name": "t", "parameters": "{}", "strict": False}


@pytest.mark.parametrize("schema", [None, {}, {"type": "object"}])
def test_a_tool_without_parameters_is_callable_with_an_empty_object(schema):
    wire = encoded(turn(tools=[Tool("f", "", complete_schema(schema, "parameters"))]))
    assert wire["tools"][0]["parameters"] == '{"type":"object","properties":{}}'


def test_tools_without_system_text_get_one_neutral_line():
    assert encoded(turn(tools=[F]))["system_prompt"] == "You are a helpful assistant."
    assert encoded(turn(tools=[F], system="S"))["system_prompt"] == "S"
    assert "system_prompt" not in encoded(turn())
    assert "system_prompt" not in encoded(turn(tools=[F], tool_choice=NONE))
    assert "system_prompt" not in encoded(turn(tools=[F]), Feature.TOOLS_WITHOUT_SYSTEM)


def test_an_output_format_is_one_more_line_of_system_text():
    wanted = OutputFormat("json_schema", schema={"type": "object", "properties": {"ok": {"type": "boolean"}}})
    line = (
        "Answer with one JSON value that conforms to this JSON Schema and nothing else: "
        '{"type":"object","properties":{"ok":{"type":"boolean"}}}'
    )
    assert encoded(turn(output_format=wanted))["system_prompt"] == line
    assert encoded(turn(output_format=wanted, system="S"))["system_prompt"] == f"S\n\n{line}"
    assert "system_prompt" not in encoded(turn(output_format=wanted), Feature.STRUCTURED_OUTPUT)


def test_every_kind_of_output_format_is_described_in_one_line():
    assert describe_format(OutputFormat("json_object")) == "Answer with one JSON object and nothing else."
    assert describe_format(OutputFormat("enum", schema={"enum": ["a", "b"]})) == (
        "Answer with exactly one of the values that this JSON Schema allows and nothing else: "
        '{"enum":["a","b"]}'
    )
    line = describe_format(OutputFormat("json_schema", schema={}, name="o", description="two\nlines"))
    assert line.endswith('{} Its name: "o". What it is: "two\\nlines".')
    assert "\n" not in line


# --- history ------------------------------------------------------------------------------------


def test_text_parts_of_one_message_are_joined_by_a_newline_with_its_images():
    wire = history(user(TextPart("a"), PNG, TextPart("b")))
    image = {"base64_data": "iVBORw0KGgo=", "mime_type": "image/png"}
    assert wire == [{"source": 1, "text": "a\nb", "images": [image]}]


def test_one_assistant_turn_is_one_text_message_and_one_message_per_call():
    wire = history(
        user(TextPart("u")),
        assistant(TextPart("t"), call("a", '{"x": 1}'), call("b", "", name="g")),
        user(result("a", TextPart("1")), result("b", TextPart("2")), TextPart("next")),
    )
    assert wire == [
        {"source": 1, "text": "u"},
        {"source": 2, "text": "t"},
        {"source": 2, "tool_calls": [{"id": "a", "name": "f", "arguments_json": '{"x": 1}'}]},
        {"source": 2, "tool_calls": [{"id": "b", "name": "g"}]},
        {"source": 4, "tool_call_id": "a", "text": "1"},
        {"source": 4, "tool_call_id": "b", "text": "2"},
        {"source": 1, "text": "next"},
    ]


def test_parts_of_one_message_keep_their_order():
    wire = history(
        assistant(call("a"), TextPart("between"), call("b")),
        user(TextPart("x"), result("b"), PNG, TextPart("y"), result("a")),
    )
    assert [(m["source"], m.get("text"), m.get("tool_call_id")) for m in wire] == [
        (2, None, None),
        (2, "between", None),
        (2, None, None),
        (1, "x", None),
        (4, None, "b"),
        (1, "y", None),
        (4, None, "a"),
    ]


def test_results_in_another_order_than_their_calls_keep_id_and_order():
    wire = history(
        assistant(call("a"), call("b")), user(result("b", TextPart("rb"))), user(result("a", TextPart("ra")))
    )
    assert [(m["tool_call_id"], m["text"]) for m in wire[2:]] == [("b", "rb"), ("a", "ra")]


def test_long_ids_that_share_their_beginning_reach_the_upstream_whole():
    first, second = "c" * 64 + "1" * 22, "c" * 64 + "2" * 22
    wire = history(assistant(call(first), call(second)), user(result(second), result(first)))
    assert [m["tool_calls"][0]["id"] for m in wire[:2]] == [first, second]
    assert [m["tool_call_id"] for m in wire[2:]] == [second, first]


def test_arguments_and_results_are_data_and_pass_verbatim():
    text = '{"doc":{"$ref":"#/$defs/X","$defs":{"X":{}}} ,  "n": 1.0}'
    wire = history(assistant(call("a", text)), user(result("a", TextPart(text))))
    assert wire[0]["tool_calls"][0]["arguments_json"] == text
    assert wire[1]["text"] == text


def test_a_failed_result_differs_by_its_first_line():
    assert history(user(result("a", TextPart("42"), is_error=True)))[0]["text"] == "[error]\n42"
    assert history(user(result("a", is_error=True)))[0]["text"] == "[error]\n"
    assert history(user(result("a", TextPart("42"))))[0]["text"] == "42"


def test_an_image_inside_a_result_stays_with_it():
    wire = history(user(result("a", TextPart("pic"), PNG, TextPart("end"))))
    image = {"base64_data": "iVBORw0KGgo=", "mime_type": "image/png"}
    assert wire == [{"source": 4, "tool_call_id": "a", "text": "pic\nend", "images": [image]}]


def test_a_custom_call_is_marked():
    assert history(assistant(call("a", is_custom=True)))[0]["tool_calls"][0]["is_custom"] is True


def test_reasoning_goes_on_the_next_message_of_the_assistant_when_it_is_carried():
    told = (user(TextPart("u")), assistant(ReasoningPart("r1"), ReasoningPart("r2"), call("a")))
    assert history(*told, features=(Feature.REASONING_HISTORY,))[1] == {
        "source": 2,
        "tool_calls": [{"id": "a", "name": "f", "arguments_json": "{}"}],
        "reasoning": "r1\nr2",
    }
    assert "reasoning" not in history(*told)[1]


def test_reasoning_crosses_to_the_assistants_next_message_but_not_past_the_user():
    features = (Feature.REASONING_HISTORY,)
    assert history(assistant(ReasoningPart("r")), assistant(TextPart("t")), features=features) == [
        {"source": 2, "text": "t", "reasoning": "r"}
    ]
    told = (assistant(TextPart("t"), ReasoningPart("r")), user(TextPart("u")), assistant(ReasoningPart("z")))
    assert history(*told, features=features) == [
        {"source": 2, "text": "t"},
        {"source": 2, "reasoning": "r"},
        {"source": 1, "text": "u"},
        {"source": 2, "reasoning": "z"},
    ]
