"""Real requests of Codex CLI (three kinds of model) and opencode: what each means, and what it is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app.turn.turn import ImagePart, TextPart, ToolCallPart, ToolResultPart
from tests.support.responses import decode, headers, refusal

CLIENTS = Path(__file__).parents[2] / "data" / "clients"


def sent(name: str) -> dict[str, Any]:
    body: dict[str, Any] = json.loads((CLIENTS / f"{name}.json").read_text())["body"]
    return body


CODEX_TOOLS = [
    "exec_command",
    "write_stdin",
    "request_user_input",
    "view_image",
    "multi_agent_v1__close_agent",
    "multi_agent_v1__resume_agent",
    "multi_agent_v1__send_input",
    "multi_agent_v1__spawn_agent",
    "multi_agent_v1__wait_agent",
    "get_goal",
    "create_goal",
    "update_goal",
]
GPT55_TOOLS = [
    "exec_command",
    "write_stdin",
    "request_user_input",
    "apply_patch",
    "view_image",
    "get_goal",
    "create_goal",
    "update_goal",
    "tool_search",
]
GPT6_TOOLS = [
    "functions__exec",
    "functions__wait",
    "functions__request_user_input",
    "functions__request_user_input_async",
    "clock__sleep",
    "collaboration__followup_task",
    "collaboration__interrupt_agent",
    "collaboration__list_agents",
    "collaboration__send_message",
    "collaboration__spawn_agent",
    "collaboration__wait_agent",
]
OPENCODE_TOOLS = [
    "bash",
    "edit",
    "glob",
    "grep",
    "read",
    "skill",
    "task",
    "todowrite",
    "webfetch",
    "write",
]
GPT6_BROUGHT = (
    "input[0].tools[0].tools[0].format, input[0].tools[1].description, input[0].tools[2].description, "
)
SUMMARY = {"x-candor-emulated": "reasoning.summary"}
GPT6_EMULATED = {"x-candor-emulated": "input[0].tools[0].tools[0].type"}
PATCH_EMULATED = {"x-candor-emulated": "tools[3].type"}


@pytest.mark.parametrize(
    ("name", "tools", "ignored", "emulated"),
    [
        (
            "codex-text",
            CODEX_TOOLS,
            "tools[4].description, tools[8].type, prompt_cache_key, client_metadata",
            SUMMARY,
        ),
        (
            "codex-tool-turn2",
            CODEX_TOOLS,
            "input[4].encrypted_content, input[5].phase, tools[4].description, tools[8].type, prompt_cache_key, "
            "client_metadata",
            SUMMARY,
        ),
        (
            "codex-image-cli-text",
            CODEX_TOOLS,
            "input[3].content[1].detail, tools[4].description, tools[8].type, prompt_cache_key, client_metadata",
            SUMMARY,
        ),
        (
            "codex-gpt55-text",
            GPT55_TOOLS,
            "tools[3].format, tools[9].type, reasoning.effort, prompt_cache_key, text.verbosity, client_metadata",
            PATCH_EMULATED,
        ),
        (
            "codex-gpt55-apply_patch-turn2",
            GPT55_TOOLS,
            "input[4].encrypted_content, tools[3].format, tools[9].type, reasoning.effort, prompt_cache_key, "
            "text.verbosity, client_metadata",
            PATCH_EMULATED,
        ),
        (
            "codex-outputschema-gpt55-text",
            GPT55_TOOLS,
            "service_tier, tools[3].format, tools[9].type, reasoning.effort, prompt_cache_key, text.verbosity, "
            "text.format.strict, client_metadata",
            {"x-candor-emulated": "tools[3].type, text.format"},
        ),
        (
            "codex-gpt6-text",
            GPT6_TOOLS,
            GPT6_BROUGHT + "parallel_tool_calls, reasoning.effort, reasoning.context, prompt_cache_key, "
            "text.verbosity, client_metadata",
            GPT6_EMULATED,
        ),
        (
            "codex-gpt6-tool-turn2",
            GPT6_TOOLS,
            GPT6_BROUGHT
            + "input[7].encrypted_content, parallel_tool_calls, reasoning.effort, reasoning.context, "
            "prompt_cache_key, text.verbosity, client_metadata",
            GPT6_EMULATED,
        ),
        ("opencode-responses-text", OPENCODE_TOOLS, "prompt_cache_key", {}),
        ("opencode-responses-tool-turn2", OPENCODE_TOOLS, "prompt_cache_key", {}),
        (
            "opencode-responses-reasoning-turn2",
            OPENCODE_TOOLS,
            "input[2].encrypted_content, prompt_cache_key, reasoning.effort",
            SUMMARY,
        ),
    ],
)
def test_responses_client_request_is_understood_and_told(
    name: str, tools: list[str], ignored: str, emulated: dict[str, str]
) -> None:
    request = sent(name)

    turn = decode(request).turn

    assert turn.model == request["model"]
    assert [tool.name for tool in turn.tools] == tools
    assert turn.stream is True
    assert turn.system.startswith(("Follow the developer notes.", "You are a coding agent."))
    assert turn.session_key == request["prompt_cache_key"]
    assert headers(request) == {"x-candor-ignored": ignored, **emulated}


def test_responses_no_client_request_is_left_untested() -> None:
    surface = {path.stem for path in CLIENTS.glob("*.json") if '"/v1/responses"' in path.read_text()}

    assert len(surface) == 11


def test_responses_codex_image_keeps_its_frame_of_text() -> None:
    last = decode(sent("codex-image-cli-text")).turn.messages[-1]

    assert [type(part) for part in last.parts] == [TextPart, ImagePart, TextPart, TextPart]


def test_responses_codex_custom_call_in_a_namespace_comes_back_wrapped() -> None:
    asked, told = decode(sent("codex-gpt6-tool-turn2")).turn.messages[-2:]

    (call,) = asked.parts
    assert isinstance(call, ToolCallPart)
    assert (call.name, call.is_custom) == ("functions__exec", True)
    assert call.arguments.startswith('{"input":"const r = await tools.exec_command(')
    (result,) = told.parts
    assert isinstance(result, ToolResultPart)
    assert result.call_id == call.id
    assert [part.text for part in result.parts if isinstance(part, TextPart)] == [
        "hello from input file\n"
    ] * 2


def test_responses_codex_output_schema_is_the_output_format() -> None:
    wanted = decode(sent("codex-outputschema-gpt55-text")).turn.output_format

    assert wanted is not None
    assert (wanted.kind, wanted.name, wanted.strict) == ("json_schema", "codex_output_schema", True)


def test_responses_codex_gpt6_prefers_one_call_at_a_time() -> None:
    assert decode(sent("codex-gpt6-text")).turn.parallel_tool_calls is False


def test_responses_opencode_history_pairs_without_item_ids() -> None:
    turn = decode(sent("opencode-responses-reasoning-turn2")).turn

    assert [message.role for message in turn.messages] == ["user", "assistant", "user"]
    assert turn.sampling.max_output_tokens == 8192


def test_responses_strict_codex_request_is_refused_in_its_own_words() -> None:
    error = refusal(sent("codex-gpt6-text"), strict=True)

    assert (error["param"], error["code"]) == ("input[0].tools[0].tools[0].format", "unsupported_parameter")
    assert error["message"] == (
        "Unsupported parameter: 'input[0].tools[0].tools[0].format'. A grammar is described to the model and not "
        "enforced; plain text asks for nothing. Also unsupported: 'input[0].tools[1].description', "
        "'input[0].tools[2].description', 'parallel_tool_calls', 'reasoning.effort', 'reasoning.context', "
        "'prompt_cache_key', 'text.verbosity', 'client_metadata'."
    )
