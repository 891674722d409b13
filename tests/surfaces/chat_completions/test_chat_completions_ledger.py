"""What becomes of each parameter: every row on an upstream that carries everything and on one that carries nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from app.ledger import Disposition, Parameter
from app.turn.faults import TurnFault
from app.turn.features import Feature
from tests.support.chat import (
    CONNECT,
    EVERYTHING,
    NOTHING,
    SURFACE,
    USER,
    assistant,
    body,
    call,
    custom,
    findings,
    function,
    headers,
    result,
)
from tests.support.chat_rows import bare, request_for, sample_body

UNIVERSE = json.loads((Path(__file__).parents[2] / "data/universe/openai_chat.json").read_text())
EXTENSIONS = json.loads((Path(__file__).parents[2] / "data/universe/client_extensions.json").read_text())
ROWS = list(SURFACE.ledger.rows.values())
PIXEL = "data:image/png;base64,iVBORw0KGgo="
IMAGE = {"type": "image_url", "image_url": {"url": PIXEL}}
SWITCHED = CONNECT | {Feature.TOOL_CHOICE, Feature.DISABLE_PARALLEL_TOOL_CALLS}
SYSTEM = {"role": "system", "content": "S"}
TOOLS = {"messages": [SYSTEM, USER], "tools": [function("f"), function("g"), custom("c")]}
WRAPPED = "tools[2].type"


class Bare:
    """A context of which only the features matter."""

    def __init__(self, features: frozenset[Feature]) -> None:
        self.features = features


def test_chat_has_a_reason_and_samples_on_every_row() -> None:
    assert [row.path for row in ROWS if not row.reason or not row.samples] == []


def test_chat_names_a_wire_field_on_every_forwarded_row() -> None:
    free = {"response_format.type=text", "tools[type=custom].custom.format.type=text"}
    free.add("response_format[type=json_schema].json_schema.strict")
    assert {row.path for row in ROWS if row.disposition is Disposition.FORWARDED and row.wire is None} == free


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.path)
def test_chat_finds_every_sample_of_every_row_at_its_path(row: Parameter) -> None:
    concrete = re.sub(r"\[\]|\[\w+=\w+\]", "[0]", row.path)
    concrete = re.sub(r"(tool_choice|response_format|prediction|format)\[0\]", r"\1", concrete)
    concrete = re.sub(r"=\w+$", "", concrete)
    for sample in row.samples:
        found = SURFACE.ledger.walk(sample_body(row, sample))
        names = {seen.row.path for seen in found}
        assert not any(row.reason.startswith("no documented") for row in (seen.row for seen in found))
        if not row.plain:
            assert row.path in names
            assert concrete in {seen.path for seen in found}


ALWAYS = [row for row in ROWS if row.rule is None and not row.plain]


@pytest.mark.parametrize("row", ALWAYS, ids=lambda row: row.path)
def test_chat_does_with_every_row_what_it_says(row: Parameter) -> None:
    for sample in row.samples:
        (seen,) = [seen for seen in SURFACE.ledger.walk(sample_body(row, sample)) if seen.row is row]
        with_all = seen.row.outcomes(seen.value, Bare(EVERYTHING), seen.path)
        with_none = seen.row.outcomes(seen.value, Bare(NOTHING), seen.path)
        assert [outcome.disposition for outcome in with_all] == [row.disposition]
        expected = row.disposition if row.feature is None else row.without
        assert [outcome.disposition for outcome in with_none] == [expected]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.path)
def test_chat_takes_every_neutral_value_for_nothing(row: Parameter) -> None:
    for value in (None, *row.neutral):
        seen = SURFACE.ledger.walk(sample_body(row, value)) if "=" not in row.path.rsplit("]", 1)[-1] else []
        assert row.path not in {each.row.path for each in seen}


NEUTRAL = {
    "n": 1,
    "logprobs": False,
    "top_logprobs": 0,
    "logit_bias": {},
    "modalities": ["text"],
    "store": False,
    "service_tier": "auto",
    "tool_choice": "auto",
    "parallel_tool_calls": True,
    "frequency_penalty": 0,
    "presence_penalty": 0.0,
    "stream": False,
    "metadata": {},
    "response_format": {"type": "text"},
    "stop": [],
    "tools": [],
    "functions": [],
    "seed": None,
    "user": None,
    "web_search_options": None,
    "audio": None,
}


@pytest.mark.parametrize("features", [NOTHING, CONNECT, EVERYTHING], ids=["nothing", "connect", "everything"])
def test_chat_heads_nothing_for_neutral_values(features: frozenset[Feature]) -> None:
    assert headers(body(**NEUTRAL), features) == {}


@pytest.mark.parametrize("features", [NOTHING, CONNECT, EVERYTHING], ids=["nothing", "connect", "everything"])
def test_chat_heads_nothing_for_what_it_does_exactly(features: frozenset[Feature]) -> None:
    exact = {"stream": True, "stream_options": {"include_usage": True}, "stop": "END", "metadata": {"a": "b"}}
    assert headers(body(**exact), features) == {}


GRAMMAR = {"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: /.+/"}}
SCHEMA = {"name": "o", "schema": {"type": "object"}}


def allowed(mode: str, *names: str) -> dict[str, Any]:
    tools = [function(name) for name in names]
    return {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": tools}}


@pytest.mark.parametrize(
    ("keys", "features", "expected"),
    [
        ({"seed": 0}, CONNECT, {"ignored": "seed"}),
        ({"user": "u", "seed": 7, "verbosity": "low"}, CONNECT, {"ignored": "user, seed, verbosity"}),
        ({"colour": "red", "model": "m"}, CONNECT, {"ignored": "colour"}),
        ({"max_tokens": 5}, CONNECT, {}),
        ({"max_tokens": 5}, NOTHING, {"ignored": "max_tokens"}),
        ({"max_tokens": 5, "max_completion_tokens": 5}, CONNECT, {}),
        ({"max_tokens": 9, "max_completion_tokens": 5}, CONNECT, {"ignored": "max_tokens"}),
        ({"max_completion_tokens": 5}, NOTHING, {"ignored": "max_completion_tokens"}),
        ({"temperature": 0.5}, CONNECT, {}),
        ({"temperature": 0}, CONNECT, {"emulated": "temperature"}),
        ({"temperature": 0}, EVERYTHING, {}),
        ({"temperature": 0}, NOTHING, {"ignored": "temperature"}),
        ({"top_p": 0, "top_k": 0}, CONNECT, {}),
        ({"top_p": 0, "top_k": 0}, NOTHING, {"ignored": "top_p, top_k"}),
        ({"response_format": {"type": "json_object"}}, EVERYTHING, {}),
        (
            {"response_format": {"type": "json_object"}},
            CONNECT,
            {"emulated": "response_format", "ignored": "response_format.type"},
        ),
        (
            {"response_format": {"type": "json_schema", "json_schema": SCHEMA}},
            CONNECT,
            {"emulated": "response_format", "ignored": "response_format.type"},
        ),
        (
            {"response_format": {"type": "json_schema", "json_schema": {**SCHEMA, "strict": True}}},
            CONNECT,
            {"emulated": "response_format", "ignored": "response_format.json_schema.strict"},
        ),
        ({"reasoning_effort": "none"}, CONNECT, {"ignored": "reasoning_effort"}),
        ({"include_reasoning": False}, CONNECT, {}),
        (
            {"prompt_cache_options": {"mode": "explicit", "ttl": "30m"}},
            CONNECT,
            {"ignored": "prompt_cache_options"},
        ),
        ({"prediction": {"type": "content", "content": "a"}}, CONNECT, {"ignored": "prediction"}),
        ({"audio": {"format": "wav", "voice": "alloy"}}, CONNECT, {"ignored": "audio"}),
        ({"service_tier": "priority", "store": True}, CONNECT, {"ignored": "service_tier, store"}),
        (
            {"stream": True, "stream_options": {"include_obfuscation": True}},
            CONNECT,
            {"ignored": "stream_options.include_obfuscation"},
        ),
        ({"tools": [function("f")]}, CONNECT, {"emulated": "tools"}),
        ({"tools": [function("f")]}, EVERYTHING, {}),
        ({"tools": [function("f")], "tool_choice": "none"}, CONNECT, {}),
        ({"tools": [function("f")], "tool_choice": "none"}, NOTHING, {}),
        (
            {"tools": [function("f")], "response_format": {"type": "json_object"}, "seed": 1},
            CONNECT,
            {"emulated": "response_format", "ignored": "response_format.type, seed"},
        ),
        ({**TOOLS}, CONNECT, {"emulated": WRAPPED}),
        ({**TOOLS, "tools": [function("f", strict=True)]}, CONNECT, {}),
        (
            {**TOOLS, "tools": [function("f", strict=True)]},
            CONNECT - {Feature.STRICT_TOOLS},
            {"ignored": "tools[0].function.strict"},
        ),
        ({**TOOLS, "tools": [function("f", strict=False)]}, CONNECT - {Feature.STRICT_TOOLS}, {}),
        (
            {**TOOLS, "tools": [custom("c", format=GRAMMAR)]},
            CONNECT,
            {"emulated": "tools[0].type", "ignored": "tools[0].custom.format"},
        ),
        ({**TOOLS, "tools": [custom("c", format={"type": "text"})]}, CONNECT, {"emulated": "tools[0].type"}),
        ({**TOOLS, "tool_choice": "required"}, CONNECT, {"emulated": WRAPPED, "ignored": "tool_choice"}),
        ({**TOOLS, "tool_choice": "required"}, SWITCHED, {"emulated": WRAPPED}),
        (
            {**TOOLS, "tool_choice": function("g")},
            CONNECT,
            {"emulated": f"{WRAPPED}, tool_choice", "ignored": "tool_choice"},
        ),
        ({**TOOLS, "tool_choice": function("g")}, SWITCHED, {"emulated": WRAPPED}),
        (
            {**TOOLS, "tool_choice": custom("c")},
            CONNECT,
            {"emulated": f"{WRAPPED}, tool_choice", "ignored": "tool_choice"},
        ),
        ({**TOOLS, "tool_choice": allowed("auto", "f")}, CONNECT, {"emulated": f"{WRAPPED}, tool_choice"}),
        ({**TOOLS, "tool_choice": allowed("auto", "f")}, SWITCHED, {"emulated": f"{WRAPPED}, tool_choice"}),
        (
            {**TOOLS, "tool_choice": allowed("required", "f")},
            CONNECT,
            {"emulated": f"{WRAPPED}, tool_choice", "ignored": "tool_choice"},
        ),
        (
            {**TOOLS, "tool_choice": allowed("required", "f")},
            SWITCHED,
            {"emulated": f"{WRAPPED}, tool_choice"},
        ),
        ({**TOOLS, "tool_choice": allowed("auto")}, CONNECT, {"emulated": WRAPPED}),
        ({"parallel_tool_calls": False}, CONNECT, {"ignored": "parallel_tool_calls"}),
        ({"parallel_tool_calls": False}, SWITCHED, {}),
        ({"parallel_tool_calls": False}, NOTHING, {"ignored": "parallel_tool_calls"}),
        ({"messages": [SYSTEM, USER], "functions": [{"name": "f"}]}, CONNECT, {"emulated": "functions"}),
        ({"messages": [SYSTEM, USER], "functions": [{"name": "f"}], "function_call": "none"}, CONNECT, {}),
        (
            {"messages": [SYSTEM, USER], "functions": [{"name": "f"}], "function_call": {"name": "f"}},
            CONNECT,
            {"emulated": "functions, function_call", "ignored": "function_call"},
        ),
    ],
)
def test_chat_heads_what_it_ignores_and_emulates(
    keys: dict[str, Any], features: frozenset[Feature], expected: dict[str, str]
) -> None:
    assert headers(body(**keys), features) == expected


LEGACY_CALL = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
CUSTOM_CALL = {"id": "a", "type": "custom", "custom": {"name": "c", "input": "x"}}


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([USER], {}),
        ([SYSTEM, USER, assistant(call("a")), result("a")], {}),
        ([USER, SYSTEM], {"emulated": "messages[1].role"}),
        ([USER, {"role": "developer", "content": "S"}, USER], {"emulated": "messages[1].role"}),
        ([{**USER, "name": "ann"}], {"ignored": "messages[0].name"}),
        (
            [USER, {"role": "assistant", "content": "a", "reasoning_content": "hm"}],
            {"ignored": "messages[1].reasoning_content"},
        ),
        (
            [
                USER,
                {
                    "role": "assistant",
                    "content": "a",
                    "reasoning_content": "",
                    "refusal": None,
                    "audio": None,
                    "annotations": [],
                    "function_call": None,
                },
            ],
            {},
        ),
        ([{"role": "user", "content": [IMAGE]}], {}),
        (
            [
                {
                    "role": "user",
                    "content": [{"type": "image_url", "image_url": {"url": PIXEL, "detail": "high"}}],
                }
            ],
            {"ignored": "messages[0].content[0].image_url.detail"},
        ),
        (
            [
                {
                    "role": "user",
                    "content": [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}],
                }
            ],
            {"ignored": "messages[0].content[0].cache_control"},
        ),
        (
            [USER, LEGACY_CALL, {"role": "function", "name": "f", "content": "1"}],
            {"emulated": "messages[1].function_call, messages[2].role"},
        ),
        ([USER, assistant(CUSTOM_CALL), result("a")], {"emulated": "messages[1].tool_calls[0].type"}),
        ([{**USER, "mood": "good"}], {"ignored": "messages[0].mood"}),
        (
            [USER, assistant({**call("a"), "index": 0}), result("a")],
            {"ignored": "messages[1].tool_calls[0].index"},
        ),
        (
            [{"role": "user", "content": [{"type": "text", "text": "a", "x": {"y": 1}}]}],
            {"ignored": "messages[0].content[0].x"},
        ),
    ],
)
def test_chat_heads_what_becomes_of_messages(messages: list[Any], expected: dict[str, str]) -> None:
    assert headers(body(messages=messages), CONNECT) == expected


AUDIO = {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}
FILE = {"type": "file", "file": {"file_id": "file-1"}}
REMOTE = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
UNSUPPORTED = "unsupported_parameter"


@pytest.mark.parametrize(
    ("keys", "features", "param", "code"),
    [
        ({"n": 2}, EVERYTHING, "n", UNSUPPORTED),
        ({"n": 0}, EVERYTHING, "n", UNSUPPORTED),
        ({"n": "1"}, EVERYTHING, "n", UNSUPPORTED),
        ({"n": True}, EVERYTHING, "n", UNSUPPORTED),
        ({"logprobs": True, "top_logprobs": 2}, EVERYTHING, "logprobs", UNSUPPORTED),
        ({"top_logprobs": 2}, EVERYTHING, "top_logprobs", UNSUPPORTED),
        ({"logit_bias": {"1": 5}}, EVERYTHING, "logit_bias", UNSUPPORTED),
        (
            {"modalities": ["text", "audio"], "audio": {"format": "wav", "voice": "a"}},
            EVERYTHING,
            "modalities",
            UNSUPPORTED,
        ),
        ({"moderation": {"model": "omni"}}, EVERYTHING, "moderation", UNSUPPORTED),
        ({"web_search_options": {}}, EVERYTHING, "web_search_options", UNSUPPORTED),
        (
            {"messages": [{"role": "user", "content": [AUDIO]}]},
            EVERYTHING,
            "messages[0].content[0].type",
            UNSUPPORTED,
        ),
        (
            {"messages": [{"role": "user", "content": [FILE]}]},
            EVERYTHING,
            "messages[0].content[0].type",
            UNSUPPORTED,
        ),
        (
            {"messages": [{"role": "user", "content": [REMOTE]}]},
            EVERYTHING,
            "messages[0].content[0].image_url.url",
            "unsupported_value",
        ),
        (
            {"messages": [USER, {"role": "assistant", "audio": {"id": "audio_1"}}]},
            EVERYTHING,
            "messages[1].audio",
            UNSUPPORTED,
        ),
        (
            {"messages": [{"role": "user", "content": [IMAGE]}]},
            NOTHING,
            "messages[0].content[0].type",
            UNSUPPORTED,
        ),
        ({"tools": [function("f")]}, NOTHING, "tools", UNSUPPORTED),
        ({"functions": [{"name": "f"}]}, NOTHING, "functions", UNSUPPORTED),
        (
            {"messages": [USER, assistant(call("a")), result("a")]},
            NOTHING,
            "messages[1].tool_calls[0]",
            UNSUPPORTED,
        ),
        ({"messages": [SYSTEM, USER]}, NOTHING, "messages[0].role", UNSUPPORTED),
    ],
)
def test_chat_refuses_what_cannot_be_left_out(
    keys: dict[str, Any], features: frozenset[Feature], param: str, code: str
) -> None:
    with pytest.raises(TurnFault) as caught:
        findings(body(**keys), features)
    error = json.loads(SURFACE.fault_reply(caught.value, "r").body)["error"]
    assert (error["param"], error["code"], error["type"]) == (param, code, "invalid_request_error")


def test_chat_serves_late_system_text_without_a_system_prompt() -> None:
    assert headers(body(messages=[USER, SYSTEM]), NOTHING) == {"emulated": "messages[1].role"}


IGNORED = [row for row in ROWS if row.disposition is Disposition.IGNORED and not row.silent]


@pytest.mark.parametrize("row", IGNORED, ids=lambda row: row.path)
def test_chat_refuses_every_ignored_row_under_strict_handling(row: Parameter) -> None:
    for sample in row.samples:
        with pytest.raises(TurnFault) as caught:
            findings(request_for(row, sample), EVERYTHING, strict=True)
        (param,) = caught.value.details["refused"]
        assert bare(param) == bare(row.path)


def test_chat_lists_everything_it_refuses_under_strict_handling_in_document_order() -> None:
    with pytest.raises(TurnFault) as caught:
        findings(body(seed=1, user="u", verbosity="low"), CONNECT, strict=True)
    error = json.loads(SURFACE.fault_reply(caught.value, "r").body)["error"]
    assert error["param"] == "seed"
    assert error["message"] == (
        "Unsupported parameter: 'seed'. Best effort by the vendor's own definition; no upstream takes it, so no "
        "system_fingerprint is sent. Also unsupported: 'user', 'verbosity'."
    )


def test_chat_names_the_switch_only_where_the_upstream_has_one() -> None:
    texts = []
    for switch in ("DEVIN_CONNECT_TOOL_CHOICE=1", None):
        with pytest.raises(TurnFault) as caught:
            findings(body(parallel_tool_calls=False), NOTHING, strict=True, switch=switch)
        texts.append(json.loads(SURFACE.fault_reply(caught.value, "r").body)["error"]["message"])
    assert "DEVIN_CONNECT_TOOL_CHOICE=1 would honour it" in texts[0]
    assert "CONNECT" not in texts[1]


def plain(path: str) -> str:
    """``path`` without brackets and without the kinds of the objects on the way."""
    return bare(re.sub(r"\.(role|type)=\w+(?=\.)", "", path))


def documented() -> set[str]:
    """The vendor's parameters; one that comes in kinds stands for its kinds, a kind's tag for nothing."""
    paths = set()
    for parameter in UNIVERSE["params"]:
        path, kinds = parameter["path"], parameter.get("variants", [])
        if kinds:
            paths |= {f"{plain(path)}.{kind}" for kind in kinds}
        elif not re.search(r"=\w+\.(role|type)$", path):
            paths.add(plain(path))
    return paths


def test_chat_has_a_row_for_every_documented_parameter() -> None:
    inside_what_is_judged_whole = {
        "prediction.content.type=text",
        "web_search_options.user_location.type=approximate",
    }
    assert len(documented()) > 80
    assert (
        sorted(documented() - {plain(path) for path in SURFACE.ledger.rows} - inside_what_is_judged_whole)
        == []
    )


def test_chat_has_a_row_for_every_kind_the_vendor_documents() -> None:
    kinds = (
        *(f"messages[].role={kind}" for kind in UNIVERSE["roles"]),
        *(f"messages[].content[].type={kind}" for kind in UNIVERSE["content_types"]),
        *(f"tools[].type={kind}" for kind in UNIVERSE["tool_types"]),
        *(f"tool_choice.type={kind}" for kind in UNIVERSE["tool_choice_types"]),
        *(f"response_format.type={kind}" for kind in UNIVERSE["response_formats"]),
    )
    assert [kind for kind in kinds if kind not in SURFACE.ledger.rows] == []


def test_chat_has_a_row_for_every_known_client_extension() -> None:
    rows = {re.sub(r"\[role=\w+\]", "[]", path) for path in SURFACE.ledger.rows}
    assert [path for path in EXTENSIONS["openai_chat"] if path not in rows] == []
