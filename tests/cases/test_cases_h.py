"""H, structured output and schemas: C55, C56, C58, C60, C62."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from fake_upstream import FakeUpstream
from fake_upstream import scenarios as s
from tests.cases.history import conversation
from tests.matrix.answers import read
from tests.matrix.asking import CHAT, GENERATE, MESSAGES, RESPONSES, SURFACES, Json, ask

NUMBERS = ("C55", "C56", "C58", "C60", "C62")
SCHEMA = {
    "type": "object",
    "properties": {"ok": {"type": "boolean"}},
    "required": ["ok"],
    "additionalProperties": False,
}
FORMATS: dict[str, tuple[str, Json, str]] = {
    "responses": (
        RESPONSES,
        {"text": {"format": {"type": "json_schema", "name": "o", "strict": True, "schema": SCHEMA}}},
        "text.format",
    ),
    "chat": (
        CHAT,
        {"response_format": {"type": "json_schema", "json_schema": {"name": "o", "schema": SCHEMA}}},
        "response_format",
    ),
    "messages": (
        MESSAGES,
        {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}},
        "output_config.format",
    ),
    "messages, old": (
        MESSAGES,
        {"output_format": {"type": "json_schema", "schema": SCHEMA}},
        "output_format",
    ),
    "generate, JSON schema": (
        GENERATE,
        {"generationConfig": {"responseMimeType": "application/json", "responseJsonSchema": SCHEMA}},
        "generationConfig.response",
    ),
    "generate, schema": (
        GENERATE,
        {
            "generationConfig": {
                "responseMimeType": "application/json",
                "responseSchema": {"type": "OBJECT", "properties": {"ok": {"type": "BOOLEAN"}}},
            }
        },
        "generationConfig.response",
    ),
}

each_format = pytest.mark.parametrize(("surface", "keys", "path"), FORMATS.values(), ids=FORMATS.keys())


@each_format
def test_c55_c56_a_format_is_described_to_the_model_and_its_missing_guarantee_named(
    app: Flask, fake: FakeUpstream, surface: str, keys: Json, path: str
) -> None:
    fake.queue([s.text("NOT_JSON"), s.finish()])

    reply = ask(app, surface, **keys)

    assert read(surface, reply.data, stream=False).text == "NOT_JSON"
    for header in ("x-candor-ignored", "x-candor-emulated"):
        assert any(each.startswith(path) for each in reply.headers[header].split(", ")), header
    assert '"ok"' in fake.captures()[0]["message"]["system_prompt"]
    assert "parameters_ignored_total{" in app.test_client().get("/metrics").text


@each_format
def test_c55_c56_strict_handling_refuses_a_format_that_nothing_guarantees(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str, keys: Json, path: str
) -> None:
    reply = ask(standing(), surface, headers={"Prefer": "handling=strict"}, **keys)

    assert reply.status_code == 400
    assert path in reply.text
    assert fake.captures() == []


@pytest.mark.parametrize(
    ("surface", "keys"),
    [
        (
            GENERATE,
            {
                "generationConfig": {
                    "responseMimeType": "application/json",
                    "responseJsonSchema": SCHEMA,
                    "responseSchema": {"type": "OBJECT"},
                }
            },
        ),
        (
            MESSAGES,
            {
                "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
                "output_format": {"type": "json_schema", "schema": SCHEMA},
            },
        ),
    ],
)
def test_c56_two_formats_at_once_are_refused(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str, keys: Json
) -> None:
    assert ask(standing(), surface, **keys).status_code == 400
    assert fake.captures() == []


def with_schema(surface: str, *schemas: Any) -> Json:
    """Tools ``t0``, ``t1``... with these schemas; ``...`` is an absent one."""
    keys = {CHAT: "parameters", RESPONSES: "parameters", MESSAGES: "input_schema"}
    key = keys.get(surface, "parametersJsonSchema")
    functions = [
        {"name": f"t{number}", **({} if schema is ... else {key: schema})}
        for number, schema in enumerate(schemas)
    ]
    if surface == CHAT:
        return {"tools": [{"type": "function", "function": each} for each in functions]}
    if surface == RESPONSES:
        return {"tools": [{"type": "function", **each} for each in functions]}
    return {"tools": functions if surface == MESSAGES else [{"functionDeclarations": functions}]}


def sent_schemas(fake: FakeUpstream) -> list[Json]:
    return [json.loads(tool["parameters"]) for tool in fake.captures()[-1]["message"]["tools"]]


CYCLE = {
    "type": "object",
    "$defs": {"N": {"type": "object", "properties": {"n": {"$ref": "#/$defs/N"}}}},
    "properties": {"root": {"$ref": "#/$defs/N"}},
}
UNTOUCHED: list[Json] = [
    CYCLE,
    {"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}},
    {"anyOf": [{"type": "object"}, {"type": "null"}]},
    {"type": "object", "additionalProperties": True},
    {"type": "object", "properties": {}, "x-odd": {"é": [1, None, 1.0]}},
    {"properties": {"type": {"type": "string"}}},
]


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("schema", UNTOUCHED)
def test_c58_a_schema_with_references_goes_through_unchanged(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str, schema: Json
) -> None:
    reply = ask(standing(), surface, **with_schema(surface, schema))

    assert reply.status_code == 200
    assert sent_schemas(fake) == [schema]


@pytest.mark.parametrize("surface", SURFACES)
def test_c60_what_is_missing_of_an_empty_schema_is_completed(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str
) -> None:
    schemas = [..., None, {}, {"type": "object"}]
    if surface == MESSAGES:  # the vendor requires the field there
        schemas = schemas[2:]
    fake.queue([s.tool_call(0, "a", "t0"), s.finish()])

    reply = ask(standing(), surface, **with_schema(surface, *schemas))

    assert [call.arguments for call in read(surface, reply.data, stream=False).calls] == ["{}"]
    assert sent_schemas(fake) == [{"type": "object", "properties": {}}] * len(schemas)


REFERENCE = {"doc": {"$ref": "#/$defs/X", "$defs": {"X": {}}}}


def test_c62_generate_content_takes_a_reference_in_a_result_for_data(
    standing: Callable[..., Flask], fake: FakeUpstream
) -> None:
    said = conversation(GENERATE, [("a", "f", {})], [("a", "")])
    said["contents"][-1]["parts"][0]["functionResponse"]["response"] = REFERENCE

    ask(standing(), GENERATE, **said)

    assert json.loads(fake.captures()[0]["message"]["messages"][-1]["text"]) == REFERENCE


@pytest.mark.parametrize("surface", [CHAT, RESPONSES, MESSAGES])
def test_c62_a_reference_in_a_result_is_text_to_the_others(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str
) -> None:
    text = json.dumps(REFERENCE)

    ask(standing(), surface, **conversation(surface, [("a", "f", {})], [("a", text)]))

    assert fake.captures()[0]["message"]["messages"][-1]["text"] == text
