"""The top of the body: sampling, format, stream, labels."""

from __future__ import annotations

from typing import Any

import pytest

from app.turn.turn import OutputFormat, Sampling
from tests.support.chat import body, decode, refused

SCHEMA = {"type": "object", "properties": {"ok": {"type": "boolean"}}}
WRONG_TYPE, REQUIRED = "invalid_type", "missing_required_parameter"


@pytest.mark.parametrize(
    ("keys", "sampling"),
    [
        ({}, Sampling()),
        ({"temperature": None, "top_p": None, "stop": None, "max_tokens": None}, Sampling()),
        ({"temperature": 0}, Sampling(temperature=0.0)),
        ({"temperature": 0.3, "top_p": 0.9}, Sampling(temperature=0.3, top_p=0.9)),
        ({"top_p": 0}, Sampling(top_p=0.0)),
        ({"top_k": 0}, Sampling(top_k=0)),
        ({"max_tokens": 5}, Sampling(max_output_tokens=5)),
        ({"max_completion_tokens": 5}, Sampling(max_output_tokens=5)),
        ({"max_tokens": 9, "max_completion_tokens": 5}, Sampling(max_output_tokens=5)),
        ({"max_tokens": 64.0}, Sampling(max_output_tokens=64)),
        ({"stop": "END"}, Sampling(stop=("END",))),
        ({"stop": ["a", "b", "c", "d"]}, Sampling(stop=("a", "b", "c", "d"))),
        ({"stop": []}, Sampling()),
    ],
)
def test_chat_reads_sampling_and_tells_zero_from_absent(keys: dict[str, Any], sampling: Sampling) -> None:
    assert decode(body(**keys)).turn.sampling == sampling


@pytest.mark.parametrize(
    ("keys", "path"),
    [
        ({"max_tokens": 5}, "max_tokens"),
        ({"max_completion_tokens": 5}, "max_completion_tokens"),
        ({"max_tokens": 5, "max_completion_tokens": 6}, "max_completion_tokens"),
    ],
)
def test_chat_remembers_where_the_cap_was_written(keys: dict[str, Any], path: str) -> None:
    assert decode(body(**keys)).max_tokens_path == path


@pytest.mark.parametrize(
    ("wanted", "meaning"),
    [
        (None, None),
        ({"type": "text"}, None),
        ({"type": "json_object"}, OutputFormat("json_object")),
        (
            {
                "type": "json_schema",
                "json_schema": {"name": "o", "schema": SCHEMA, "strict": True, "description": "D"},
            },
            OutputFormat("json_schema", SCHEMA, "o", "D", True),
        ),
        ({"type": "json_schema", "json_schema": {"name": "o"}}, OutputFormat("json_schema", {}, "o")),
    ],
)
def test_chat_reads_every_output_format(wanted: Any, meaning: OutputFormat | None) -> None:
    assert decode(body(response_format=wanted)).turn.output_format == meaning


@pytest.mark.parametrize(
    ("keys", "stream", "include_usage"),
    [
        ({}, False, False),
        ({"stream": False}, False, False),
        ({"stream": None, "stream_options": None}, False, False),
        ({"stream": True}, True, False),
        ({"stream": True, "stream_options": {}}, True, False),
        ({"stream": True, "stream_options": {"include_usage": False}}, True, False),
        ({"stream": True, "stream_options": {"include_usage": True}}, True, True),
    ],
)
def test_chat_reads_the_stream_and_its_options(
    keys: dict[str, Any], stream: bool, include_usage: bool
) -> None:
    decoded = decode(body(**keys))
    assert (decoded.turn.stream, decoded.echo.include_usage) == (stream, include_usage)


@pytest.mark.parametrize(
    ("keys", "shows"),
    [
        ({}, True),
        ({"reasoning_effort": "high"}, True),
        ({"include_reasoning": True}, True),
        ({"reasoning_effort": "none"}, False),
        ({"include_reasoning": False}, False),
    ],
)
def test_chat_hands_out_reasoning_unless_the_caller_wants_none(keys: dict[str, Any], shows: bool) -> None:
    assert decode(body(**keys)).turn.show_reasoning is shows


def test_chat_takes_the_cache_key_for_the_session_key() -> None:
    assert decode(body(prompt_cache_key="k")).turn.session_key == "k"


def test_chat_does_not_take_the_user_for_the_session_key() -> None:
    assert decode(body(user="u", safety_identifier="s")).turn.session_key is None


def test_chat_remembers_what_it_must_echo() -> None:
    echo = decode(body(metadata={"k" * 64: "v" * 512}, service_tier="auto")).echo
    assert (echo.metadata, echo.names_tier) == ({"k" * 64: "v" * 512}, True)


def test_chat_takes_sixteen_pairs_of_metadata() -> None:
    pairs = {str(index): "v" for index in range(16)}
    assert decode(body(metadata=pairs)).echo.metadata == pairs


@pytest.mark.parametrize(
    ("keys", "param", "code"),
    [
        ({"model": None}, "model", REQUIRED),
        ({"model": ""}, "model", None),
        ({"model": 1}, "model", WRONG_TYPE),
        ({"temperature": "1"}, "temperature", WRONG_TYPE),
        ({"temperature": True}, "temperature", WRONG_TYPE),
        ({"temperature": -0.1}, "temperature", None),
        ({"temperature": 2.1}, "temperature", None),
        ({"top_p": 1.1}, "top_p", None),
        ({"top_p": []}, "top_p", WRONG_TYPE),
        ({"top_k": 1.5}, "top_k", WRONG_TYPE),
        ({"top_k": -1}, "top_k", None),
        ({"max_tokens": 0}, "max_tokens", None),
        ({"max_tokens": "5"}, "max_tokens", WRONG_TYPE),
        ({"max_tokens": 5.5}, "max_tokens", WRONG_TYPE),
        ({"max_completion_tokens": -1}, "max_completion_tokens", None),
        ({"max_completion_tokens": 2**31}, "max_completion_tokens", None),
        ({"stop": 1}, "stop", WRONG_TYPE),
        ({"stop": {"a": 1}}, "stop", WRONG_TYPE),
        ({"stop": ["a", 1]}, "stop[1]", WRONG_TYPE),
        ({"stop": ["a", "b", "c", "d", "e"]}, "stop", None),
        ({"stop": ""}, "stop", None),
        ({"stop": ["a", ""]}, "stop[1]", None),
        ({"stream": "true"}, "stream", WRONG_TYPE),
        ({"stream": 1}, "stream", WRONG_TYPE),
        ({"stream_options": {"include_usage": True}}, "stream_options", None),
        ({"stream": False, "stream_options": {}}, "stream_options", None),
        ({"stream": True, "stream_options": True}, "stream_options", WRONG_TYPE),
        (
            {"stream": True, "stream_options": {"include_usage": 1}},
            "stream_options.include_usage",
            WRONG_TYPE,
        ),
        (
            {"stream": True, "stream_options": {"include_obfuscation": "no"}},
            "stream_options.include_obfuscation",
            WRONG_TYPE,
        ),
        ({"response_format": "json_object"}, "response_format", WRONG_TYPE),
        ({"response_format": {}}, "response_format.type", REQUIRED),
        ({"response_format": {"type": "xml"}}, "response_format.type", "invalid_value"),
        ({"response_format": {"type": "json_schema"}}, "response_format.json_schema", REQUIRED),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"schema": SCHEMA}}},
            "response_format.json_schema.name",
            REQUIRED,
        ),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"name": "o", "schema": "{}"}}},
            "response_format.json_schema.schema",
            WRONG_TYPE,
        ),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"name": "o", "strict": "yes"}}},
            "response_format.json_schema.strict",
            WRONG_TYPE,
        ),
        ({"metadata": ["a"]}, "metadata", WRONG_TYPE),
        ({"metadata": {str(index): "v" for index in range(17)}}, "metadata", None),
        ({"metadata": {"k" * 65: "v"}}, "metadata", None),
        ({"metadata": {"k": "v" * 513}}, "metadata.k", None),
        ({"metadata": {"k": 1}}, "metadata.k", WRONG_TYPE),
        ({"metadata": {"k": None}}, "metadata.k", WRONG_TYPE),
        ({"seed": "7"}, "seed", WRONG_TYPE),
        ({"frequency_penalty": 3}, "frequency_penalty", None),
        ({"presence_penalty": "0"}, "presence_penalty", WRONG_TYPE),
        ({"reasoning_effort": 1}, "reasoning_effort", WRONG_TYPE),
        ({"verbosity": 1}, "verbosity", WRONG_TYPE),
        ({"service_tier": 1}, "service_tier", WRONG_TYPE),
        ({"user": 1}, "user", WRONG_TYPE),
        ({"safety_identifier": {}}, "safety_identifier", WRONG_TYPE),
        ({"prompt_cache_key": 1}, "prompt_cache_key", WRONG_TYPE),
        ({"prompt_cache_options": "explicit"}, "prompt_cache_options", WRONG_TYPE),
        ({"prompt_cache_retention": 24}, "prompt_cache_retention", WRONG_TYPE),
        ({"store": "true"}, "store", WRONG_TYPE),
        ({"prediction": "a"}, "prediction", WRONG_TYPE),
        ({"prediction": {"type": "guess"}}, "prediction.type", "invalid_value"),
        ({"audio": "wav"}, "audio", WRONG_TYPE),
        ({"include_reasoning": "no"}, "include_reasoning", WRONG_TYPE),
        ({"enable_thinking": "yes"}, "enable_thinking", WRONG_TYPE),
    ],
)
def test_chat_refuses_a_wrong_type_or_value_and_names_its_path(
    keys: dict[str, Any], param: str, code: str | None
) -> None:
    assert refused(body(**keys)) == (param, code)
