"""generate_content: bodies -> turns, and what cannot be one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.seals import Seals
from app.surfaces.generate_content import signatures
from app.surfaces.generate_content.pairing import made_up_id
from app.surfaces.surface import Decoded
from app.turn.faults import TurnFault
from app.turn.tool_choice import AUTO, NONE, REQUIRED, ToolChoice
from app.turn.turn import (
    ImagePart,
    Message,
    OutputFormat,
    ReasoningPart,
    Sampling,
    TextPart,
    Tool,
    ToolCallPart,
    ToolResultPart,
)

CLIENTS = Path(__file__).resolve().parents[2] / "data" / "clients"
PNG = "iVBORw0KGgo="

Decode = Callable[..., Decoded]
FaultOf = Callable[..., tuple[str | None, str]]

TG = {"name": "f", "parameters": {"type": "OBJECT", "properties": {"x": {"type": "STRING"}}}}
TG_SCHEMA = '{"type":"object","properties":{"x":{"type":"string"}}}'
GG = {**TG, "name": "g"}


def said(text: str = "hi", **more: Any) -> dict[str, Any]:
    return {"contents": [{"role": "user", "parts": [{"text": text}]}], **more}


def parts(*items: Any, role: str = "user") -> dict[str, Any]:
    return {"contents": [{"role": role, "parts": list(items)}]}


def history(*contents: tuple[str, list[Any]]) -> dict[str, Any]:
    return {"contents": [{"role": role, "parts": items} for role, items in contents]}


def call(name: str, args: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, **({} if args is None else {"args": args}), **more}}


def response(name: str, value: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": value, **more}}


# Contents, roles, text.


def test_generate_content_reads_roles_and_texts_in_order(decode: Decode) -> None:
    turn = decode(history(("user", [{"text": "a"}, {"text": "b"}]), ("model", [{"text": "c"}]))).turn
    assert turn.messages == [
        Message("user", [TextPart("a"), TextPart("b")], "contents[0]"),
        Message("assistant", [TextPart("c")], "contents[1]"),
    ]
    assert (turn.model, turn.stream, turn.system, turn.tools, turn.tool_choice) == ("m", False, "", [], None)


@pytest.mark.parametrize("content", [{"parts": [{"text": "a"}]}, {"role": None, "parts": [{"text": "a"}]}])
def test_generate_content_takes_an_absent_role_for_user(decode: Decode, content: dict[str, Any]) -> None:
    assert decode({"contents": [content]}).turn.messages == [Message("user", [TextPart("a")], "contents[0]")]


def test_generate_content_reads_the_function_role_as_tool_results(decode: Decode) -> None:
    body = history(("model", [call("f")]), ("function", [response("f", {"r": 1})]))
    result = decode(body).turn.messages[1]
    assert result.role == "user"
    assert isinstance(result.parts[0], ToolResultPart)


@pytest.mark.parametrize("role", ["system", "tool", "assistant", "USER", ""])
def test_generate_content_refuses_other_roles_by_path(fault_of: FaultOf, role: str) -> None:
    param, problem = fault_of({"contents": [{"parts": [{"text": "a"}]}, {"role": role, "parts": []}]})
    assert param == "contents[1].role"
    assert problem == f"unknown value '{role}'; supported values are: 'user', 'model', 'function'"


def test_generate_content_drops_empty_texts_and_contents(decode: Decode) -> None:
    body = history(("user", [{"text": ""}, {"text": "a"}]), ("model", [{"text": ""}]), ("user", []))
    assert decode(body).turn.messages == [Message("user", [TextPart("a")], "contents[0]")]


def test_generate_content_takes_bare_objects_for_lists_of_one(decode: Decode) -> None:
    body = {
        "system_instruction": {"parts": {"text": "S"}},
        "contents": {"parts": {"text": "a"}},
        "tools": {"function_declarations": TG},
    }
    turn = decode(body).turn
    assert turn.messages == [Message("user", [TextPart("a")], "contents")]
    assert turn.system == "S"
    assert turn.tools == [Tool("f", "", TG_SCHEMA)]


@pytest.mark.parametrize(
    ("body", "param", "problem"),
    [
        ({}, "contents", "at least one content is required"),
        ({"contents": []}, "contents", "at least one content is required"),
        ({"contents": None}, "contents", "at least one content is required"),
        ({"contents": "hi"}, "contents", "must be an array, not a string"),
        ({"contents": ["hi"]}, "contents[0]", "must be an object, not a string"),
        ({"contents": [{"role": 5, "parts": []}]}, "contents[0].role", "must be a string"),
        ({"contents": [{"parts": "hi"}]}, "contents[0].parts", "must be an array, not a string"),
        ({"contents": [{"parts": ["hi"]}]}, "contents[0].parts[0]", "must be an object, not a string"),
        (parts({"text": 5}), "contents[0].parts[0].text", "must be a string, not an integer"),
        (
            parts({"text": "a", "thought": "yes"}),
            "contents[0].parts[0].thought",
            "must be a boolean, not a string",
        ),
        (
            parts({"text": "a", "thought_signature": 5}),
            "contents[0].parts[0].thought_signature",
            "must be a string, not an integer",
        ),
        (parts({"inlineData": "x"}), "contents[0].parts[0].inlineData", "must be an object, not a string"),
        (
            parts({"inlineData": {"data": PNG}}),
            "contents[0].parts[0].inlineData.mimeType",
            "the field is required",
        ),
        (
            parts({"inline_data": {"mime_type": "image/png"}}),
            "contents[0].parts[0].inline_data.data",
            "the field is required",
        ),
        (
            parts({"inlineData": {"mimeType": 1, "data": PNG}}),
            "contents[0].parts[0].inlineData.mimeType",
            "must be a string, not an integer",
        ),
        (
            parts({"inlineData": {"mimeType": "text/plain", "data": "\u00e9"}}),
            "contents[0].parts[0].inlineData.data",
            "must be UTF-8 text in base64",
        ),
        (
            parts({"functionCall": {}}, role="model"),
            "contents[0].parts[0].functionCall.name",
            "the field is required",
        ),
        (
            parts(call("f", id=5), role="model"),
            "contents[0].parts[0].functionCall.id",
            "must be a string, not an integer",
        ),
        (
            parts({"functionCall": {"name": "f", "args": "{}"}}, role="model"),
            "contents[0].parts[0].functionCall.args",
            "must be an object, not a string",
        ),
        (
            parts(call("f")),
            "contents[0].parts[0].functionCall",
            "only a content of role 'model' may hold function calls",
        ),
        (
            parts(response("f", {}), role="model"),
            "contents[0].parts[0].functionResponse",
            "only a content of role 'user' or 'function' may hold function responses",
        ),
        (
            history(
                ("model", [call("f")]), ("user", [{"functionResponse": {"name": "f", "response": "42"}}])
            ),
            "contents[1].parts[0].functionResponse.response",
            "must be an object, not a string",
        ),
        (
            history(("model", [call("f")]), ("user", [response("f", {}, parts=[{"text": "a"}])])),
            "contents[1].parts[0].functionResponse.parts[0].text",
            "unknown kind of part; supported kinds are: 'inlineData', 'fileData'",
        ),
        (
            parts({"text": "a", "functionCall": {"name": "f"}}, role="model"),
            "contents[0].parts[0].functionCall",
            "a part holds one thing; this one also holds 'text'",
        ),
        ({**said(), "systemInstruction": 5}, "systemInstruction", "must be an object, not an integer"),
        (
            {**said(), "systemInstruction": {"parts": [{"text": 5}]}},
            "systemInstruction.parts[0].text",
            "must be a string, not an integer",
        ),
        (
            {**said(), "system_instruction": {"parts": [{"inlineData": {}}]}},
            "system_instruction.parts[0]",
            "a system instruction is made of text parts",
        ),
        ({**said(), "model": 5}, "model", "must be a string, not an integer"),
        ({**said(), "model": "models/other"}, "model", "the URL names another model, 'm'"),
        ({**said(), "session_id": 5}, "session_id", "must be a string, not an integer"),
    ],
)
def test_generate_content_names_the_field_that_is_wrong(
    fault_of: FaultOf, body: dict[str, Any], param: str, problem: str
) -> None:
    assert fault_of(body) == (param, problem)


def test_generate_content_refuses_an_unknown_kind_of_part_by_path(fault_of: FaultOf) -> None:
    param, problem = fault_of(parts({"text": "a"}, {"hologram": {}}))
    assert param == "contents[0].parts[1].hologram"
    assert problem.startswith("unknown kind of part; supported kinds are: 'text', 'inlineData'")


def test_generate_content_refuses_a_part_that_holds_nothing(fault_of: FaultOf) -> None:
    assert fault_of(parts({}))[0] == "contents[0].parts[0]"


def test_generate_content_skips_a_part_of_labels_only(decode: Decode) -> None:
    assert decode(parts({"text": "a"}, {"partMetadata": {"x": 1}})).turn.messages[0].parts == [TextPart("a")]


def test_generate_content_takes_the_models_own_name_in_the_body(decode: Decode) -> None:
    assert decode(said(model="models/m")).turn.model == "m"


# Spellings.


def test_generate_content_reads_snake_case_as_its_camel_case_twin(decode: Decode) -> None:
    snake = {
        "contents": [
            {
                "role": "user",
                "parts": [{"inline_data": {"mime_type": "image/png", "data": PNG}}, {"text": "q"}],
            }
        ],
        "system_instruction": {"parts": [{"text": "S"}]},
        "generation_config": {
            "max_output_tokens": 5,
            "stop_sequences": ["Z"],
            "top_p": 0.5,
            "top_k": 3,
            "thinking_config": {"include_thoughts": True},
            "response_mime_type": "application/json",
            "response_schema": {"type": "STRING"},
        },
        "tool_config": {"function_calling_config": {"mode": "ANY", "allowed_function_names": ["f"]}},
        "tools": [{"function_declarations": [{"name": "f", "parameters_json_schema": {"type": "object"}}]}],
    }
    camel = {
        "contents": [
            {
                "role": "user",
                "parts": [{"inlineData": {"mimeType": "image/png", "data": PNG}}, {"text": "q"}],
            }
        ],
        "systemInstruction": {"parts": [{"text": "S"}]},
        "generationConfig": {
            "maxOutputTokens": 5,
            "stopSequences": ["Z"],
            "topP": 0.5,
            "topK": 3,
            "thinkingConfig": {"includeThoughts": True},
            "responseMimeType": "application/json",
            "responseSchema": {"type": "STRING"},
        },
        "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]}},
        "tools": [{"functionDeclarations": [{"name": "f", "parametersJsonSchema": {"type": "object"}}]}],
    }
    assert decode(snake).turn == decode(camel).turn
    assert decode(snake).max_tokens_path == "generation_config.max_output_tokens"
    assert decode(camel).max_tokens_path == "generationConfig.maxOutputTokens"


@pytest.mark.parametrize(
    ("body", "param"),
    [
        (said(generationConfig={}, generation_config={}), "generation_config"),
        (said(generationConfig={"topK": 1, "top_k": 1}), "generationConfig.top_k"),
        (said(systemInstruction="a", system_instruction="a"), "system_instruction"),
        (
            parts({"inlineData": {"mimeType": "image/png", "mime_type": "image/png", "data": PNG}}),
            "contents[0].parts[0].inlineData.mime_type",
        ),
        (
            parts({"text": "a", "thoughtSignature": "x", "thought_signature": "x"}),
            "contents[0].parts[0].thought_signature",
        ),
        (
            said(tools=[{"functionDeclarations": [TG], "function_declarations": [GG]}]),
            "tools[0].function_declarations",
        ),
        (
            said(
                tools=[
                    {
                        "functionDeclarations": [
                            {"name": "f", "parametersJsonSchema": {}, "parameters_json_schema": {}}
                        ]
                    }
                ]
            ),
            "tools[0].functionDeclarations[0].parameters_json_schema",
        ),
        (
            said(
                toolConfig={
                    "function_calling_config": {"allowedFunctionNames": [], "allowed_function_names": []}
                }
            ),
            "toolConfig.function_calling_config.allowed_function_names",
        ),
        (
            said(generationConfig={"thinkingConfig": {"thinkingBudget": 1, "thinking_budget": 1}}),
            "generationConfig.thinkingConfig.thinking_budget",
        ),
        (said(safetySettings=[], safety_settings=[]), "safety_settings"),
    ],
)
def test_generate_content_refuses_both_spellings_of_one_key(
    fault_of: FaultOf, body: dict[str, Any], param: str
) -> None:
    found, problem = fault_of(body)
    assert found == param
    assert problem.startswith("the field is also there as '")


def test_generate_content_takes_a_null_spelling_for_absent(decode: Decode) -> None:
    assert decode(said(generationConfig={"topK": None, "top_k": 4})).turn.sampling.top_k == 4


# System instruction.


@pytest.mark.parametrize(
    ("instruction", "system"),
    [
        ("S", "S"),
        ({"parts": [{"text": "S"}]}, "S"),
        ({"role": "user", "parts": [{"text": "A"}, {"text": ""}, {"text": "B"}]}, "A\n\nB"),
        ({"role": "anything", "parts": [{"text": "S"}]}, "S"),
        ({"text": "S"}, "S"),
        ("", ""),
        ({}, ""),
        (None, ""),
    ],
)
def test_generate_content_reads_every_shape_of_system_instruction(
    decode: Decode, instruction: Any, system: str
) -> None:
    assert decode(said(systemInstruction=instruction)).turn.system == system


# Data.


def test_generate_content_passes_images_as_they_are(decode: Decode) -> None:
    body = parts({"inlineData": {"mimeType": "image/png", "data": PNG, "displayName": "a"}})
    assert decode(body).turn.messages[0].parts == [ImagePart(PNG, "image/png")]


def test_generate_content_rewrites_the_url_safe_alphabet_of_images(decode: Decode) -> None:
    body = parts({"inlineData": {"mimeType": "image/png", "data": "-_-_"}})
    assert decode(body).turn.messages[0].parts == [ImagePart("+/+/", "image/png")]


def test_generate_content_inlines_text_data(decode: Decode) -> None:
    body = parts({"inlineData": {"mimeType": "text/plain", "data": "w6kh"}})
    assert decode(body).turn.messages[0].parts == [TextPart("é!")]


def test_generate_content_renders_hosted_history_as_text(decode: Decode) -> None:
    body = history(
        (
            "model",
            [
                {"executableCode": {"language": "PYTHON", "code": "print(1)"}},
                {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1\n"}},
                {"toolCall": {"id": "t", "toolType": "GOOGLE_SEARCH_WEB", "args": {"q": "a"}}},
                {"tool_response": {"tool_type": "GOOGLE_SEARCH_WEB", "response": {"r": [1]}}},
            ],
        )
    )
    assert decode(body).turn.messages[0].parts == [
        TextPart("[code executed: PYTHON]\nprint(1)"),
        TextPart("[code result: OUTCOME_OK]\n1\n"),
        TextPart('[tool call: GOOGLE_SEARCH_WEB]\n{"q":"a"}'),
        TextPart('[tool result: GOOGLE_SEARCH_WEB]\n{"r":[1]}'),
    ]


# Calls and responses.


def test_generate_content_pairs_calls_and_responses_by_id(decode: Decode) -> None:
    body = history(
        ("model", [{"text": "t"}, call("f", {"x": "1"}, id="a"), call("f", {"x": "2"}, id="b")]),
        ("user", [response("f", {"r": 2}, id="b"), response("f", {"r": 1}, id="a")]),
    )
    assert decode(body).turn.messages == [
        Message(
            "assistant",
            [
                TextPart("t"),
                ToolCallPart("a", "f", '{"x":"1"}', "contents[0].parts[1].functionCall"),
                ToolCallPart("b", "f", '{"x":"2"}', "contents[0].parts[2].functionCall"),
            ],
            "contents[0]",
        ),
        Message(
            "user",
            [
                ToolResultPart("b", [TextPart('{"r":2}')], "contents[1].parts[0].functionResponse"),
                ToolResultPart("a", [TextPart('{"r":1}')], "contents[1].parts[1].functionResponse"),
            ],
            "contents[1]",
        ),
    ]


def test_generate_content_pairs_per_name_in_order_without_ids(decode: Decode) -> None:
    body = history(
        ("model", [call("f", {"x": 1}), call("g", {}), call("f", {"x": 2})]),
        ("user", [response("g", {"r": "g"}), response("f", {"r": "1"}), response("f", {"r": "2"})]),
    )
    messages = decode(body).turn.messages
    ids = [part.id for part in messages[0].parts if isinstance(part, ToolCallPart)]
    assert ids == [made_up_id("0.0", "f"), made_up_id("0.1", "g"), made_up_id("0.2", "f")]
    assert len(set(ids)) == 3
    assert [part.call_id for part in messages[1].parts if isinstance(part, ToolResultPart)] == [
        ids[1],
        ids[0],
        ids[2],
    ]
    assert decode(body).turn.messages == messages


def test_generate_content_pairs_an_id_that_the_client_made_up(decode: Decode) -> None:
    body = history(("model", [call("f")]), ("user", [response("f", {"r": 1}, id="run_1")]))
    messages = decode(body).turn.messages
    assert messages[0].parts[0].id == messages[1].parts[0].call_id == made_up_id("0.0", "f")  # type: ignore[union-attr]


def test_generate_content_pairs_a_response_without_id_with_a_call_that_has_one(decode: Decode) -> None:
    body = history(("model", [call("f", id="a")]), ("user", [response("f", {"r": 1})]))
    assert decode(body).turn.messages[1].parts[0].call_id == "a"  # type: ignore[union-attr]


def test_generate_content_keeps_long_ids_whole(decode: Decode) -> None:
    first, second = "x" * 64 + "a" * 22, "x" * 64 + "b" * 22
    body = history(
        ("model", [call("f", id=first), call("f", id=second)]),
        ("user", [response("f", {}, id=second), response("f", {}, id=first)]),
    )
    messages = decode(body).turn.messages
    assert [part.id for part in messages[0].parts] == [first, second]  # type: ignore[union-attr]
    assert [part.call_id for part in messages[1].parts] == [second, first]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("body", "param"),
    [
        (history(("user", [response("f", {})])), "contents[0].parts[0].functionResponse"),
        (history(("user", [response("f", {}, id="zz")])), "contents[0].parts[0].functionResponse"),
        (
            history(("model", [call("f")]), ("user", [response("f", {}), response("f", {})])),
            "contents[1].parts[1].functionResponse",
        ),
        (
            history(("model", [call("f", id="a"), call("g", id="b")]), ("user", [response("f", {}, id="a")])),
            "contents[0].parts[1].functionCall",
        ),
        (
            history(
                ("model", [call("f", id="a"), call("g", id="a")]),
                ("user", [response("f", {}, id="a"), response("g", {}, id="a")]),
            ),
            "contents[0].parts[1].functionCall",
        ),
    ],
)
def test_generate_content_refuses_history_that_does_not_pair(
    fault_of: FaultOf, body: dict[str, Any], param: str
) -> None:
    assert fault_of(body)[0] == param


def test_generate_content_passes_results_verbatim_whatever_they_hold(decode: Decode) -> None:
    value = {"doc": {"$ref": "#/$defs/X", "$defs": {"X": {}}, "type": "OBJECT"}, "error": "no"}
    body = history(("model", [call("f")]), ("user", [response("f", value)]))
    result = decode(body).turn.messages[1].parts[0]
    assert isinstance(result, ToolResultPart)
    assert result.parts == [
        TextPart('{"doc":{"$ref":"#/$defs/X","$defs":{"X":{}},"type":"OBJECT"},"error":"no"}')
    ]
    assert result.is_error is False


def test_generate_content_takes_images_inside_a_result_and_beside_it(decode: Decode) -> None:
    inner = {"inlineData": {"mimeType": "image/png", "data": PNG}}
    body = history(
        ("model", [call("f", id="a")]),
        ("user", [response("f", {"output": "pic"}, id="a", parts=[inner]), inner]),
    )
    assert decode(body).turn.messages[1].parts == [
        ToolResultPart(
            "a",
            [TextPart('{"output":"pic"}'), ImagePart(PNG, "image/png")],
            "contents[1].parts[0].functionResponse",
        ),
        ImagePart(PNG, "image/png"),
    ]


def test_generate_content_writes_absent_arguments_and_results_as_empty_objects(decode: Decode) -> None:
    body = history(("model", [call("f")]), ("user", [{"functionResponse": {"name": "f"}}]))
    messages = decode(body).turn.messages
    assert messages[0].parts[0].arguments == "{}"  # type: ignore[union-attr]
    assert messages[1].parts[0].parts == [TextPart("{}")]  # type: ignore[union-attr]


def test_generate_content_refuses_arguments_nested_too_deeply_to_be_written(fault_of: FaultOf) -> None:
    deep: dict[str, Any] = {}
    for _ in range(300):
        deep = {"a": deep}
    assert fault_of(parts(call("f", deep), role="model")) == (
        "contents[0].parts[0].functionCall.args",
        "is nested too deeply",
    )


# Thoughts and signatures.


def sealed(seals: Seals, text: str) -> str:
    return signatures.to_field(seals.sign(text))


def test_generate_content_takes_back_a_thought_that_its_seal_vouches_for(
    decode: Decode, seals: Seals
) -> None:
    thought = {"text": "hm", "thought": True, "thoughtSignature": sealed(seals, "hm")}
    decoded = decode(parts(thought, {"text": "a"}, role="model"))
    assert decoded.turn.messages[0].parts == [ReasoningPart("hm"), TextPart("a")]
    assert decoded.notes == []


def test_generate_content_takes_back_a_thought_in_the_pieces_of_its_stream(
    decode: Decode, seals: Seals
) -> None:
    seal = sealed(seals, "hm, well").replace("+", "-").replace("/", "_")
    decoded = decode(
        history(
            ("model", [{"text": "hm, ", "thought": True}]),
            ("model", [{"text": "well", "thought": True}]),
            ("model", [{"text": "", "thought": True, "thoughtSignature": seal}]),
            ("model", [{"text": "a"}]),
        )
    )
    assert [message.parts for message in decoded.turn.messages] == [
        [ReasoningPart("hm, well")],
        [TextPart("a")],
    ]
    assert decoded.notes == []


def test_generate_content_takes_back_the_thought_that_a_call_carries(decode: Decode, seals: Seals) -> None:
    blob = signatures.to_field(seals.wrap("hm"))
    decoded = decode(parts({**call("f"), "thoughtSignature": blob}, role="model"))
    assert decoded.turn.messages[0].parts[0] == ReasoningPart("hm")
    assert decoded.notes == []


def test_generate_content_takes_a_thought_once_that_comes_back_twice(decode: Decode, seals: Seals) -> None:
    thought = {"text": "hm", "thought": True, "thoughtSignature": sealed(seals, "hm")}
    blob = signatures.to_field(seals.wrap("hm"))
    decoded = decode(parts(thought, {**call("f"), "thoughtSignature": blob}, role="model"))
    assert [type(part) for part in decoded.turn.messages[0].parts] == [ReasoningPart, ToolCallPart]


@pytest.mark.parametrize(
    ("part", "path"),
    [
        ({"text": "hm", "thought": True, "thoughtSignature": "U0lHLUNBUA=="}, "thoughtSignature"),
        ({"text": "hm", "thought": True, "thought_signature": "cs1/AAAA"}, "thought_signature"),
        ({"text": "hm", "thought": True}, "thought"),
        ({"text": "hm", "thought": True, "thoughtSignature": "skip_thought_signature_validator"}, "thought"),
        ({"text": "a", "thoughtSignature": "U0lHLUNBUA=="}, "thoughtSignature"),
        ({"text": "", "thoughtSignature": "U0lHLUNBUA=="}, "thoughtSignature"),
        ({**call("f"), "thoughtSignature": "U0lHLUNBUA=="}, "thoughtSignature"),
        ({**call("f"), "thoughtSignature": "cb1/AAAA"}, "thoughtSignature"),
    ],
)
def test_generate_content_notes_what_no_seal_of_ours_vouches_for(
    decode: Decode, part: dict[str, Any], path: str
) -> None:
    decoded = decode(parts(part, role="model"))
    assert [(note.path, note.disposition.value) for note in decoded.notes] == [
        (f"contents[0].parts[0].{path}", "ignored")
    ]
    assert not any(isinstance(each, ReasoningPart) for m in decoded.turn.messages for each in m.parts)


@pytest.mark.parametrize(
    ("part", "path"),
    [({"thought": True}, "thought"), ({"thoughtSignature": "cs1/AAAA"}, "thoughtSignature")],
)
def test_generate_content_takes_no_thoughts_from_a_user(
    decode: Decode, seals: Seals, part: dict[str, Any], path: str
) -> None:
    blob = signatures.to_field(seals.wrap("hm"))
    decoded = decode(parts({"text": "a"}, {"text": "b", **part}, {"text": "c", "thoughtSignature": blob}))
    texts = [each.text for each in decoded.turn.messages[0].parts if isinstance(each, TextPart)]
    assert texts == ["a", "b", "c"]
    assert len(decoded.turn.messages[0].parts) == 3
    assert [note.path for note in decoded.notes] == [
        f"contents[0].parts[1].{path}",
        "contents[0].parts[2].thoughtSignature",
    ]


def test_generate_content_notes_a_thought_that_is_not_text(decode: Decode) -> None:
    decoded = decode(parts({**call("f"), "thought": True}, role="model"))
    assert [note.path for note in decoded.notes] == ["contents[0].parts[0].thought"]
    assert [type(part) for part in decoded.turn.messages[0].parts] == [ToolCallPart]


@pytest.mark.parametrize(
    "placeholder",
    [
        "skip_thought_signature_validator",
        "context_engineering_is_the_way_to_go",
        "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=",
    ],
)
def test_generate_content_takes_the_placeholder_signature_silently(decode: Decode, placeholder: str) -> None:
    decoded = decode(parts({**call("f"), "thoughtSignature": placeholder}, role="model"))
    assert decoded.notes == []
    assert len(decoded.turn.messages[0].parts) == 1


@pytest.mark.parametrize(
    ("config", "shows"),
    [
        (None, False),
        ({}, False),
        ({"thinkingConfig": {}}, False),
        ({"thinkingConfig": {"includeThoughts": False}}, False),
        ({"thinkingConfig": {"includeThoughts": True}}, True),
        ({"thinkingConfig": {"include_thoughts": True, "thinking_budget": 0}}, True),
    ],
)
def test_generate_content_shows_thoughts_only_when_asked(decode: Decode, config: Any, shows: bool) -> None:
    assert decode(said(generationConfig=config)).turn.show_reasoning is shows


# Tools.


def declare(**declaration: Any) -> dict[str, Any]:
    return said(tools=[{"functionDeclarations": [{"name": "f", **declaration}]}])


def schema_of(decode: Decode, **declaration: Any) -> Any:
    return json.loads(decode(declare(**declaration)).turn.tools[0].parameters)


@pytest.mark.parametrize(
    "declaration",
    [
        {},
        {"parameters": None},
        {"parameters": {}},
        {"parameters": {"type": "OBJECT"}},
        {"parametersJsonSchema": {}},
        {"parametersJsonSchema": {"type": "object"}},
        {"parametersJsonSchema": {"type": "OBJECT"}},
    ],
)
def test_generate_content_completes_schemas_that_say_nothing(
    decode: Decode, declaration: dict[str, Any]
) -> None:
    tools = decode(declare(description="d", **declaration)).turn.tools
    assert tools == [Tool("f", "d", '{"type":"object","properties":{}}')]


def test_generate_content_rewrites_the_openapi_subset_as_json_schema(decode: Decode) -> None:
    schema = {
        "type": "OBJECT",
        "properties": {
            "type": {"type": "STRING", "enum": ["STRING", "OBJECT"], "nullable": True},
            "n": {"type": "INTEGER", "format": "int32", "minimum": 1},
            "l": {"type": "ARRAY", "items": {"type": "NUMBER"}, "min_items": "1", "maxItems": "3"},
            "u": {"any_of": [{"type": "STRING"}, {"type": "BOOLEAN"}], "nullable": True},
            "r": {"ref": "#/defs/N"},
            "d": {"type": "TYPE_UNSPECIFIED", "default": {"type": "STRING"}, "nullable": False},
        },
        "required": ["n"],
        "propertyOrdering": ["n", "l"],
        "defs": {"N": {"type": "OBJECT", "additional_properties": {"type": "NULL"}}},
    }
    assert schema_of(decode, parameters=schema) == {
        "type": "object",
        "properties": {
            "type": {"type": ["string", "null"], "enum": ["STRING", "OBJECT", None]},
            "n": {"type": "integer", "format": "int32", "minimum": 1},
            "l": {"type": "array", "items": {"type": "number"}, "minItems": 1, "maxItems": 3},
            "u": {"anyOf": [{"type": "string"}, {"type": "boolean"}, {"type": "null"}]},
            "r": {"$ref": "#/$defs/N"},
            "d": {"default": {"type": "STRING"}},
        },
        "required": ["n"],
        "propertyOrdering": ["n", "l"],
        "$defs": {"N": {"type": "object", "additionalProperties": {"type": "null"}}},
    }


def test_generate_content_passes_json_schemas_as_they_are(decode: Decode) -> None:
    schema = {
        "type": "object",
        "$defs": {"N": {"type": "object", "properties": {"n": {"$ref": "#/$defs/N"}}}},
        "properties": {
            "root": {"$ref": "#/$defs/N"},
            "nullable": {"type": ["string", "null"], "nullable": True},
        },
        "additionalProperties": False,
        "$schema": "http://json-schema.org/draft-07/schema#",
    }
    tool = decode(declare(parametersJsonSchema=schema)).turn.tools[0]
    assert tool.parameters == json.dumps(schema, separators=(",", ":"))


def test_generate_content_lowers_upper_case_types_of_json_schemas(decode: Decode) -> None:
    schema = {
        "type": "OBJECT",
        "properties": {
            "STRING": {"type": "STRING", "enum": ["type", "OBJECT"]},
            "b": {"type": ["INTEGER", "NULL"]},
            "c": {"anyOf": [{"type": "BOOLEAN"}], "default": {"type": "STRING"}},
        },
    }
    assert schema_of(decode, parametersJsonSchema=schema) == {
        "type": "object",
        "properties": {
            "STRING": {"type": "string", "enum": ["type", "OBJECT"]},
            "b": {"type": ["integer", "null"]},
            "c": {"anyOf": [{"type": "boolean"}], "default": {"type": "STRING"}},
        },
    }


@pytest.mark.parametrize(
    ("body", "param", "problem"),
    [
        (
            declare(parameters={"type": "OBJECT"}, parametersJsonSchema={"type": "object"}),
            "tools[0].functionDeclarations[0].parametersJsonSchema",
            "the field cannot be combined with 'parameters'",
        ),
        (
            declare(parameters="x"),
            "tools[0].functionDeclarations[0].parameters",
            "must be an object, not a string",
        ),
        (
            declare(parameters_json_schema=[]),
            "tools[0].functionDeclarations[0].parameters_json_schema",
            "must be an object, not an array",
        ),
        (
            said(tools=[{"functionDeclarations": [{}]}]),
            "tools[0].functionDeclarations[0].name",
            "the field is required",
        ),
        (
            said(tools=[{"functionDeclarations": [{"name": "f", "description": 1}]}]),
            "tools[0].functionDeclarations[0].description",
            "must be a string, not an integer",
        ),
        (
            said(tools=[{"functionDeclarations": [TG]}, {"functionDeclarations": [TG]}]),
            "tools[1].functionDeclarations[0].name",
            "the function 'f' is declared twice",
        ),
        (said(tools="f"), "tools", "must be an array, not a string"),
        (said(tools=["f"]), "tools[0]", "must be an object, not a string"),
        (
            said(tools=[{"functionDeclarations": "f"}]),
            "tools[0].functionDeclarations",
            "must be an array, not a string",
        ),
        (
            said(tools=[{"functionDeclarations": [TG]}, {"widget": {}}]),
            "tools[1].widget",
            "unknown kind of tool",
        ),
        (said(toolConfig=5), "toolConfig", "must be an object, not an integer"),
        (
            said(toolConfig={"functionCallingConfig": []}),
            "toolConfig.functionCallingConfig",
            "must be an object, not an array",
        ),
    ],
)
def test_generate_content_names_the_tool_field_that_is_wrong(
    fault_of: FaultOf, body: dict[str, Any], param: str, problem: str
) -> None:
    assert fault_of(body) == (param, problem)


@pytest.mark.parametrize("key", ["parameters", "parametersJsonSchema"])
def test_generate_content_refuses_schemas_nested_too_deeply(fault_of: FaultOf, key: str) -> None:
    schema: dict[str, Any] = {"type": "STRING"}
    for _ in range(400):
        schema = {"type": "ARRAY", "items": schema}
    assert fault_of(declare(**{key: schema})) == (
        f"tools[0].functionDeclarations[0].{key}",
        "is nested too deeply",
    )


# Tool choice.


def choose(tools: tuple[Any, ...] = (TG, GG), **config: Any) -> dict[str, Any]:
    return said(tools=[{"functionDeclarations": list(tools)}], toolConfig={"functionCallingConfig": config})


@pytest.mark.parametrize(
    ("config", "choice"),
    [
        ({}, None),
        ({"mode": None}, None),
        ({"mode": "MODE_UNSPECIFIED"}, None),
        ({"mode": "AUTO"}, AUTO),
        ({"mode": "AUTO", "allowedFunctionNames": []}, AUTO),
        ({"mode": "NONE"}, NONE),
        ({"mode": "NONE", "allowedFunctionNames": ["f"]}, NONE),
        ({"mode": "ANY"}, REQUIRED),
        ({"mode": "ANY", "allowedFunctionNames": []}, NONE),
        ({"mode": "ANY", "allowedFunctionNames": ["g"]}, ToolChoice("required", ("g",), named=True)),
        ({"mode": "ANY", "allowedFunctionNames": ["g", "f"]}, ToolChoice("required", ("g", "f"))),
        ({"mode": "VALIDATED"}, AUTO),
        ({"mode": "VALIDATED", "allowedFunctionNames": ["g"]}, ToolChoice("auto", ("g",))),
        ({"mode": "VALIDATED", "allowed_function_names": ["g", "f"]}, ToolChoice("auto", ("g", "f"))),
    ],
)
def test_generate_content_reads_every_calling_mode(
    decode: Decode, config: Any, choice: ToolChoice | None
) -> None:
    assert decode(choose(**config)).turn.tool_choice == choice


def test_generate_content_keeps_a_long_list_of_names_in_order(decode: Decode) -> None:
    names = [f"tool_{number}" for number in range(150, 0, -1)]
    body = choose(tuple({"name": name} for name in sorted(names)), mode="ANY", allowedFunctionNames=names)
    assert decode(body).turn.tool_choice == ToolChoice("required", tuple(names))


def test_generate_content_sets_strict_on_every_tool_in_mode_validated(decode: Decode) -> None:
    assert [tool.strict for tool in decode(choose(mode="VALIDATED")).turn.tools] == [True, True]
    assert [tool.strict for tool in decode(choose(mode="AUTO")).turn.tools] == [None, None]


@pytest.mark.parametrize(
    ("body", "param", "problem"),
    [
        (
            choose(mode="SOME"),
            "toolConfig.functionCallingConfig.mode",
            "unknown value 'SOME'; supported values are: 'MODE_UNSPECIFIED', 'AUTO', 'NONE', 'ANY', 'VALIDATED'",
        ),
        (choose(mode=5), "toolConfig.functionCallingConfig.mode", "must be a string"),
        (
            choose(mode="ANY", allowedFunctionNames="f"),
            "toolConfig.functionCallingConfig.allowedFunctionNames",
            "must be an array, not a string",
        ),
        (
            choose(mode="ANY", allowedFunctionNames=["f", 5]),
            "toolConfig.functionCallingConfig.allowedFunctionNames[1]",
            "must be a string, not an integer",
        ),
        (
            choose(mode="ANY", allowedFunctionNames=["f", "nope"]),
            "toolConfig.functionCallingConfig.allowedFunctionNames",
            "the tool 'nope' is not among the request's tools",
        ),
        (
            choose(mode="AUTO", allowedFunctionNames=["f"]),
            "toolConfig.functionCallingConfig.allowedFunctionNames",
            "names may be given in mode 'ANY' or 'VALIDATED' only",
        ),
        (
            choose((), mode="ANY"),
            "toolConfig.functionCallingConfig.mode",
            "a tool call is demanded, but the request has no tools",
        ),
    ],
)
def test_generate_content_refuses_a_choice_that_cannot_be_meant(
    fault_of: FaultOf, body: dict[str, Any], param: str, problem: str
) -> None:
    assert fault_of(body) == (param, problem)


# generationConfig.


def test_generate_content_reads_sampling(decode: Decode) -> None:
    config = {
        "temperature": 0,
        "topP": 1,
        "topK": 64.0,
        "maxOutputTokens": 5,
        "stopSequences": ["A", "B", "C", "D", "E"],
        "candidateCount": 1.0,
    }
    sampling = decode(said(generationConfig=config)).turn.sampling
    assert sampling == Sampling(5, 0.0, 1.0, 64, ("A", "B", "C", "D", "E"))
    assert type(sampling.top_k) is int


def test_generate_content_tells_zero_from_absent(decode: Decode) -> None:
    assert decode(said(generationConfig={"topK": 0, "topP": 0})).turn.sampling == Sampling(top_p=0.0, top_k=0)
    assert decode(said()).turn.sampling == Sampling()
    assert decode(said(generationConfig={"topK": None})).turn.sampling == Sampling()


@pytest.mark.parametrize(
    ("config", "param", "problem"),
    [
        ("x", "generationConfig", "must be an object, not a string"),
        ({"topK": 64.5}, "generationConfig.topK", "must be an integer, not a number"),
        ({"topK": "64"}, "generationConfig.topK", "must be an integer, not a string"),
        ({"topK": True}, "generationConfig.topK", "must be an integer, not a boolean"),
        ({"top_k": -1}, "generationConfig.top_k", "must be from 0 to 2147483647, not -1"),
        ({"topP": 1.5}, "generationConfig.topP", "must be from 0 to 1, not 1.5"),
        ({"temperature": 2.5}, "generationConfig.temperature", "must be from 0 to 2, not 2.5"),
        ({"temperature": "1"}, "generationConfig.temperature", "must be a number, not a string"),
        ({"maxOutputTokens": 0}, "generationConfig.maxOutputTokens", "must be from 1 to 2147483647, not 0"),
        ({"maxOutputTokens": 5.5}, "generationConfig.maxOutputTokens", "must be an integer, not a number"),
        ({"stopSequences": "END"}, "generationConfig.stopSequences", "must be an array, not a string"),
        ({"stopSequences": [1]}, "generationConfig.stopSequences[0]", "must be a string, not an integer"),
        ({"stopSequences": ["a", ""]}, "generationConfig.stopSequences[1]", "must not be empty"),
        (
            {"stopSequences": list("abcdef")},
            "generationConfig.stopSequences",
            "must have at most 5 strings, not 6",
        ),
        ({"thinkingConfig": True}, "generationConfig.thinkingConfig", "must be an object, not a boolean"),
        (
            {"thinkingConfig": {"includeThoughts": "true"}},
            "generationConfig.thinkingConfig.includeThoughts",
            "must be a boolean, not a string",
        ),
        ({"responseMimeType": 5}, "generationConfig.responseMimeType", "must be a string, not an integer"),
        ({"responseSchema": "x"}, "generationConfig.responseSchema", "must be an object, not a string"),
        (
            {"responseSchema": {}, "responseJsonSchema": {}},
            "generationConfig.responseJsonSchema",
            "the field cannot be combined with 'responseSchema'",
        ),
        (
            {"response_json_schema": {}, "_responseJsonSchema": {}},
            "generationConfig._responseJsonSchema",
            "the field cannot be combined with 'responseJsonSchema'",
        ),
        (
            {"responseMimeType": "text/plain", "responseSchema": {}},
            "generationConfig.responseSchema",
            "a schema asks for the media type 'application/json' or 'text/x.enum'",
        ),
        (
            {"responseMimeType": "text/x.enum"},
            "generationConfig.responseMimeType",
            "'text/x.enum' needs a schema that lists the values",
        ),
        (
            {"responseFormat": [{"text": {}}], "responseMimeType": "application/json"},
            "generationConfig.responseFormat",
            "the field cannot be combined with the response's media type or schema",
        ),
        (
            {"responseFormat": [{"text": {}}, {"text": {}}]},
            "generationConfig.responseFormat[1].text",
            "one text format is allowed, not several",
        ),
    ],
)
def test_generate_content_names_the_config_field_that_is_wrong(
    fault_of: FaultOf, config: Any, param: str, problem: str
) -> None:
    assert fault_of(said(generationConfig=config)) == (param, problem)


ENUM = {"type": "STRING", "enum": ["A", "B"]}


@pytest.mark.parametrize(
    ("config", "wanted"),
    [
        ({}, None),
        ({"responseMimeType": "text/plain"}, None),
        ({"responseModalities": ["TEXT"]}, None),
        ({"responseMimeType": "application/json"}, OutputFormat("json_object")),
        (
            {"responseMimeType": "application/json", "responseSchema": {"type": "OBJECT", "nullable": True}},
            OutputFormat("json_schema", schema={"type": ["object", "null"]}, strict=True),
        ),
        (
            {"responseMimeType": "application/json", "responseJsonSchema": {"type": "OBJECT"}},
            OutputFormat("json_schema", schema={"type": "object"}, strict=True),
        ),
        (
            {"_responseJsonSchema": {"type": "object"}},
            OutputFormat("json_schema", schema={"type": "object"}, strict=True),
        ),
        (
            {"responseMimeType": "text/x.enum", "responseSchema": ENUM},
            OutputFormat("enum", schema={"type": "string", "enum": ["A", "B"]}, strict=True),
        ),
        ({"responseFormat": [{"text": {"mimeType": "APPLICATION_JSON"}}]}, OutputFormat("json_object")),
        (
            {"responseFormat": {"text": {"schema": {"type": "object"}}}},
            OutputFormat("json_schema", schema={"type": "object"}, strict=True),
        ),
        ({"responseFormat": [{"text": {"mimeType": "TEXT_PLAIN"}}]}, None),
    ],
)
def test_generate_content_reads_every_output_format(
    decode: Decode, config: Any, wanted: OutputFormat | None
) -> None:
    assert decode(said(generationConfig=config)).turn.output_format == wanted


# Outside the body.


@pytest.mark.parametrize(
    ("query", "framing"), [({}, "array"), ({"alt": "json"}, "array"), ({"alt": "sse", "key": "k"}, "sse")]
)
def test_generate_content_reads_the_framing_from_the_query(
    decode: Decode, query: dict[str, str], framing: str
) -> None:
    decoded = decode(said(), stream=True, **query)
    assert decoded.turn.stream is True
    assert decoded.echo.framing == framing
    assert decoded.notes == []


def test_generate_content_refuses_an_unknown_framing(fault_of: FaultOf) -> None:
    assert fault_of(said(), alt="proto") == (
        "alt",
        "unknown value 'proto'; supported values are: 'json', 'sse'",
    )


def test_generate_content_notes_what_else_a_query_asks_for(decode: Decode) -> None:
    notes = decode(said(), fields="candidates", foo="1").notes
    assert [(note.row_path, note.path) for note in notes] == [
        ("query:fields", "query:fields"),
        ("query:*", "query:foo"),
    ]


# countTokens.


def test_generate_content_counts_a_last_turn_without_its_call(decode_count: Decode) -> None:
    body = json.loads((CLIENTS / "gemini-counttokens.json").read_text())["body"]
    messages = decode_count(body).turn.messages
    assert isinstance(messages[0].parts[0], ToolResultPart)
    assert messages[0].parts[0].call_id == "read_file__fc-cap-1"


def test_generate_content_refuses_two_things_to_count(decode_count: Decode) -> None:
    with pytest.raises(TurnFault) as caught:
        decode_count({**said(), "generate_content_request": said()})
    assert caught.value.param == "generate_content_request"


def test_generate_content_names_the_field_that_is_wrong_in_a_request_to_count(decode_count: Decode) -> None:
    with pytest.raises(TurnFault) as caught:
        decode_count({"generateContentRequest": said(generationConfig={"topK": 1.5})})
    assert caught.value.param == "generateContentRequest.generationConfig.topK"


def test_generate_content_counts_a_whole_request(decode_count: Decode) -> None:
    request = said(model="models/m", systemInstruction="S", tools=[{"functionDeclarations": [TG]}])
    body = {"generateContentRequest": request}
    turn = decode_count(body).turn
    assert (turn.system, len(turn.tools), len(turn.messages)) == ("S", 1, 1)


# Real clients.


@pytest.mark.parametrize("name", sorted(path.stem for path in CLIENTS.glob("gemini-*.json")))
def test_generate_content_decodes_what_real_clients_send(
    decode: Decode, decode_count: Decode, name: str
) -> None:
    recorded = json.loads((CLIENTS / f"{name}.json").read_text())
    run = decode_count if recorded["path"].endswith(":countTokens") else decode
    assert run(recorded["body"]).turn.messages


def test_generate_content_decodes_the_second_turn_of_gemini_cli(decode: Decode) -> None:
    body = json.loads((CLIENTS / "gemini-tool-turn2.json").read_text())["body"]
    decoded = decode(body, stream=True, alt="sse")
    turn = decoded.turn
    assert turn.system == "Say hello."
    assert turn.sampling == Sampling(temperature=1.0, top_p=0.95, top_k=64)
    assert turn.show_reasoning is True
    assert len(turn.tools) == 15
    assert turn.messages == [
        Message("user", [TextPart("Say hello."), TextPart("Say hello.")], "contents[0]"),
        Message(
            "assistant",
            [
                TextPart("Working on it."),
                ToolCallPart(
                    "fc-cap-1",
                    "run_shell_command",
                    '{"command":"cat input.txt > out.txt; cat out.txt","description":"copy"}',
                    "contents[1].parts[1].functionCall",
                ),
            ],
            "contents[1]",
        ),
        Message(
            "user",
            [
                ToolResultPart(
                    "fc-cap-1",
                    [TextPart('{"output":"hello from input file\\n"}')],
                    "contents[2].parts[0].functionResponse",
                )
            ],
            "contents[2]",
        ),
    ]
    assert [note.path for note in decoded.notes] == ["contents[1].parts[1].thoughtSignature"]
