"""Every documented parameter, kind, value and token has a row: an upgrade of a package says what is new."""

from __future__ import annotations

import typing
from typing import Any

import pytest
from anthropic.types import AnthropicBetaParam
from anthropic.types import message_count_tokens_params as messages_count
from anthropic.types import message_create_params as messages_create
from anthropic.types.beta import message_create_params as beta_create
from google.genai import types as google
from openai.types.chat import completion_create_params as chat_create
from openai.types.responses import input_token_count_params as responses_count
from openai.types.responses import response_create_params as responses_create
from openai.types.responses import response_includable
from pydantic.alias_generators import to_camel

from app.surfaces.generate_content.spelling import spellings
from app.surfaces.messages.betas import ALONE, SPOKEN_FOR
from app.surfaces.messages.ledger.rows_blocks import BLOCK_SAME
from app.surfaces.messages.ledger.rows_history import HISTORY_SAME
from app.surfaces.responses import ledger as responses_ledger
from tests.completeness.coverage import Coverage
from tests.completeness.documented import paths_of_model, paths_of_typed_dict, paths_of_universe, recorded
from tests.truth.rows import rows_of

ROWS = {
    surface: [row.path for row in rows_of(surface)]
    for surface in ("chat_completions", "responses", "messages", "generate_content")
}
OF_THE_PACKAGE = {
    # what the official package does itself, or takes in Python and turns into something else
    "httpOptions",
    "shouldReturnHttpResponse",
    "automaticFunctionCalling",
    "automaticContinuation",
}
RENAMED = {"generationOutputConfig": "outputConfig"}
"""Settings that the official package sends by another name."""
TEXT_ONLY = "systemInstruction.parts[]."
"""A system instruction is made of text parts; any other part is a 400 that names it."""


SAME_PLACES = {"responses": responses_ledger.SAME, "messages": {**BLOCK_SAME, **HISTORY_SAME}}


def missing(surface: str, paths: list[str]) -> list[str]:
    return Coverage(ROWS[surface], SAME_PLACES.get(surface)).missing(paths)


@pytest.mark.parametrize(
    ("surface", "request_type"),
    [
        ("chat_completions", chat_create.CompletionCreateParamsNonStreaming),
        ("chat_completions", chat_create.CompletionCreateParamsStreaming),
        ("responses", responses_create.ResponseCreateParamsNonStreaming),
        ("responses", responses_create.ResponseCreateParamsStreaming),
        ("responses", responses_count.InputTokenCountParams),
        ("messages", messages_create.MessageCreateParamsNonStreaming),
        ("messages", messages_create.MessageCreateParamsStreaming),
        ("messages", beta_create.MessageCreateParamsNonStreaming),
        ("messages", messages_count.MessageCountTokensParams),
    ],
    ids=lambda each: (
        each if isinstance(each, str) else f"{each.__module__.rpartition('.')[2]}.{each.__name__}"
    ),
)
def test_every_parameter_of_the_installed_package_has_a_row(surface: str, request_type: Any) -> None:
    paths = paths_of_typed_dict(request_type)
    assert len(paths) > 20
    assert missing(surface, paths) == []


@pytest.mark.parametrize(
    ("model", "path"),
    [
        (google.Content, "contents[]"),
        (google.Content, "systemInstruction"),
        (google.Tool, "tools[]"),
        (google.ToolConfig, "toolConfig"),
        (google.GenerationConfig, "generationConfig"),
        (google.SafetySetting, "safetySettings[]"),
    ],
    ids=lambda each: each if isinstance(each, str) else each.__name__,
)
def test_every_field_of_the_installed_google_package_has_a_row(model: Any, path: str) -> None:
    paths = [each for each in paths_of_model(model, path) if not each.startswith(TEXT_ONLY)]
    assert paths
    assert missing("generate_content", paths) == []


def test_every_setting_of_the_installed_google_package_has_a_row() -> None:
    known = ROWS["generate_content"]
    named = google.GenerateContentConfig.model_fields.items()
    fields = {field.alias or to_camel(name) for name, field in named} - OF_THE_PACKAGE
    assert len(fields) > 20
    sent = sorted(RENAMED.get(name, name) for name in fields)
    assert [name for name in sent if not {name, f"generationConfig.{name}"} & set(known)] == []


@pytest.mark.parametrize(
    ("surface", "name", "keys"),
    [
        ("chat_completions", "openai_chat", ("params",)),
        ("responses", "openai_responses", ("params", "input_tokens_params")),
        ("messages", "anthropic_messages", ("params", "count_tokens_params", "beta_count_tokens_params")),
        ("generate_content", "gemini_generate", ("params",)),
    ],
)
def test_every_recorded_parameter_has_a_row(surface: str, name: str, keys: tuple[str, ...]) -> None:
    data = recorded(name)
    for key in keys:
        assert missing(surface, paths_of_universe(data[key])) == []


KINDS = [
    ("chat_completions", "openai_chat", "roles", "messages[].role={}"),
    ("chat_completions", "openai_chat", "content_types", "messages[].content[].type={}"),
    ("chat_completions", "openai_chat", "tool_types", "tools[].type={}"),
    ("chat_completions", "openai_chat", "tool_choice_types", "tool_choice.type={}"),
    ("chat_completions", "openai_chat", "response_formats", "response_format.type={}"),
    ("responses", "openai_responses", "tool_types", "tools[].type={}"),
    ("responses", "openai_responses", "input_item_types", "input[].type={}"),
    ("responses", "openai_responses", "tool_choice_types", "tool_choice.type={}"),
    ("responses", "openai_responses", "content_types", "input[type=message].content[].type={}"),
    (
        "responses",
        "openai_responses",
        "function_call_output_content_types",
        "input[type=function_call_output].output[].type={}",
    ),
    ("responses", "openai_responses", "text_formats", "text.format.type={}"),
    ("responses", "openai_responses", "include_values", "include[]={}"),
    ("messages", "anthropic_messages", "roles", "messages[].role={}"),
    ("messages", "anthropic_messages", "content_types", "messages[].content[].type={}"),
    (
        "messages",
        "anthropic_messages",
        "tool_result_content_types",
        "messages[].content[type=tool_result].content[].type={}",
    ),
    ("messages", "anthropic_messages", "tool_types", "tools[].type={}"),
    ("messages", "anthropic_messages", "tool_choice_types", "tool_choice.type={}"),
    ("messages", "anthropic_messages", "thinking_types", "thinking.type={}"),
    ("generate_content", "gemini_generate", "roles", "contents[].role={}"),
    ("generate_content", "gemini_generate", "content_types", "contents[].parts[].{}"),
    ("generate_content", "gemini_generate", "tool_types", "tools[].{}"),
    (
        "generate_content",
        "gemini_generate",
        "function_calling_modes",
        "toolConfig.functionCallingConfig.mode={}",
    ),
]


@pytest.mark.parametrize(("surface", "name", "key", "pattern"), KINDS, ids=lambda each: each)
def test_every_recorded_kind_has_a_row(surface: str, name: str, key: str, pattern: str) -> None:
    kinds = recorded(name)[key]
    assert kinds
    assert [path for kind in kinds if (path := pattern.format(kind)) not in ROWS[surface]] == []


def test_every_value_of_include_of_the_installed_package_has_a_row() -> None:
    values = typing.get_args(response_includable.ResponseIncludable)
    assert values
    assert [path for value in values if (path := f"include[]={value}") not in ROWS["responses"]] == []


def test_every_beta_token_is_known() -> None:
    installed = [
        value
        for each in typing.get_args(AnthropicBetaParam)
        for value in typing.get_args(each)
        if isinstance(value, str)
    ]
    assert installed
    known = SPOKEN_FOR.keys() | ALONE.keys()
    assert [
        token for token in [*installed, *recorded("anthropic_messages")["betas"]] if token not in known
    ] == []
    assert not SPOKEN_FOR.keys() & ALONE.keys()


def test_the_rows_that_speak_for_beta_tokens_exist() -> None:
    named = {row for rows in SPOKEN_FOR.values() for row in rows.split(", ")}
    assert named - {"no parameter", "another path"} - set(ROWS["messages"]) == set()


EXTENSIONS = [
    (surface, path)
    for surface, name in (
        ("chat_completions", "openai_chat"),
        ("responses", "openai_responses"),
        ("messages", "anthropic_messages"),
    )
    for path in recorded("client_extensions")[name]
    if ":" not in path  # headers and queries are no part of the body
]


@pytest.mark.parametrize(("surface", "path"), EXTENSIONS)
def test_every_extension_of_known_clients_has_a_row(surface: str, path: str) -> None:
    assert (
        missing(surface, [path.replace("messages[].reasoning", "messages[role=assistant].reasoning")]) == []
    )


def test_generate_content_knows_every_name_in_both_spellings() -> None:
    both = spellings({"sessionId", "generationConfig"})
    assert both == {"sessionId": ("session_id",), "generationConfig": ("generation_config",)}
    assert {"sessionId", "query:alt", "query:key"} <= set(ROWS["generate_content"])
