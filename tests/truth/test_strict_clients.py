"""What refuses the requests of real coding agents where handling is strict, in the words that they get."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.truth.case import Case
from tests.truth.stage import Answer, Stage

CLIENTS = Path(__file__).parents[1] / "data/clients"


def recorded(name: str) -> Case:
    """A request as the client sent it, but for the model; streaming is the test's own."""
    request = json.loads((CLIENTS / f"{name}.json").read_text())
    body: dict[str, Any] = {key: value for key, value in request["body"].items() if key != "stream"}
    if "model" in body:
        body["model"] = "fake-echo"
    headers = {key: value for key, value in request["headers"].items() if key.lower() == "anthropic-beta"}
    return Case(body, "", headers=headers)


def refused(world: Stage, surface: str, name: str) -> Any:
    """The 400's JSON, the same whether streaming or not; no turn was run."""
    answers: list[Answer] = [
        world.ask(surface, recorded(name), stream=stream, strict=True) for stream in (False, True)
    ]
    for answer in answers:
        assert answer.status == 400
        assert answer.captures == []
        assert answer.headers["preference-applied"] == "handling=strict"
    whole, streamed = (answer.body for answer in answers)
    assert whole["error"] == streamed["error"]
    return whole


CODEX = (
    "Unsupported parameter: 'input[4].encrypted_content'. Our own seal is opened and the reasoning replayed where the "
    "upstream takes it back. Also unsupported: 'input[5].phase', 'tools[4].description', 'tools[8].type', "
    "'prompt_cache_key', 'client_metadata'."
)
CODEX_WITH_A_SCHEMA = (
    "Unsupported parameter: 'service_tier'. There is one tier; the reply says default. Also unsupported: "
    "'tools[3].format', 'tools[9].type', 'reasoning.effort', 'prompt_cache_key', 'text.verbosity', "
    "'text.format.strict', 'client_metadata'."
)
CLAUDE_CODE = (
    "Unexpected value(s) `interleaved-thinking-2025-05-14`, `thinking-token-count-2026-05-13` for the "
    "`anthropic-beta` header; messages.1.output_config: Extra inputs are not permitted; messages.2.content.0.type: "
    "Extra inputs are not permitted; messages.3.content.0.cache_control: Extra inputs are not permitted; "
    "system.1.cache_control: Extra inputs are not permitted; system.2.cache_control: Extra inputs are not permitted; "
    "tools.10.defer_loading: Extra inputs are not permitted; metadata.user_id: Extra inputs are not permitted; "
    "thinking.type: Extra inputs are not permitted; "
    "context_management: Extra inputs are not permitted; output_config.effort: Extra inputs are not permitted"
)
GEMINI_CLI = (
    "contents[1].parts[1].thoughtSignature: our own seal is verified; anyone else's is ignored, never an error; the "
    "clients' placeholder asks for nothing; not supported either: generationConfig.thinkingConfig.thinkingLevel"
)


@pytest.mark.parametrize(
    ("name", "message", "param"),
    [
        ("codex-tool-turn2", CODEX, "input[4].encrypted_content"),
        ("codex-outputschema-gpt55-text", CODEX_WITH_A_SCHEMA, "service_tier"),
    ],
)
def test_a_strict_codex_request_is_refused_for_these_parameters(
    name: str, message: str, param: str, world: Stage
) -> None:
    assert refused(world, "responses", name)["error"] == {
        "message": message,
        "type": "invalid_request_error",
        "param": param,
        "code": "unsupported_parameter",
    }


def test_a_strict_claude_code_request_is_refused_for_these_parameters(world: Stage) -> None:
    told = refused(world, "messages", "claude-tool-turn2")
    assert told["type"] == "error"
    assert told["error"] == {"type": "invalid_request_error", "message": CLAUDE_CODE}


def test_a_strict_gemini_cli_request_is_refused_for_these_parameters(world: Stage) -> None:
    error = refused(world, "generate_content", "gemini-tool-turn2")["error"]
    assert (error["code"], error["status"], error["message"]) == (400, "INVALID_ARGUMENT", GEMINI_CLI)
    fields = [violation["field"] for violation in error["details"][0]["fieldViolations"]]
    assert fields == [
        "contents[1].parts[1].thoughtSignature",
        "generationConfig.thinkingConfig.thinkingLevel",
    ]


@pytest.mark.parametrize(
    ("surface", "name", "ignored", "emulated"),
    [
        (
            "responses",
            "codex-tool-turn2",
            [
                "input[4].encrypted_content",
                "input[5].phase",
                "tools[4].description",
                "tools[8].type",
                "prompt_cache_key",
                "client_metadata",
            ],
            ["reasoning.summary"],
        ),
        (
            "messages",
            "claude-tool-turn2",
            [
                "anthropic-beta:interleaved-thinking-2025-05-14",
                "anthropic-beta:thinking-token-count-2026-05-13",
                "messages[1].output_config",
                "messages[2].content[0].type",
                "messages[3].content[0].cache_control",
                "system[1].cache_control",
                "system[2].cache_control",
                "tools[10].defer_loading",
                "metadata.user_id",
                "thinking.type",
                "context_management",
                "output_config.effort",
            ],
            ["messages[1].role"],
        ),
        (
            "generate_content",
            "gemini-tool-turn2",
            ["contents[1].parts[1].thoughtSignature", "generationConfig.thinkingConfig.thinkingLevel"],
            [],
        ),
    ],
)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_the_same_request_is_served_by_default_and_all_is_named(
    surface: str, name: str, ignored: list[str], emulated: list[str], stream: bool, world: Stage
) -> None:
    answer = world.ask(surface, recorded(name), stream=stream)
    assert answer.status == 200
    assert (answer.ignored, answer.emulated) == (ignored, emulated)
    assert len(answer.captures) == 1
