"""Requests of real clients: what they mean, and what they are told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app.turn.turn import ImagePart, TextPart, ToolCallPart, ToolResultPart
from tests.support.chat import CONNECT, decode, headers

CLIENTS = Path(__file__).parents[2] / "data/clients"
PIXEL_START = "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQ"
BASH = ToolCallPart(
    "call_17960635918342",
    "bash",
    '{"command":"cat input.txt > out.txt && cat out.txt","description":"copy"}',
    "messages[2].tool_calls[0]",
)


def request_of(name: str) -> Any:
    return json.loads((CLIENTS / f"{name}.json").read_text())["body"]


ALL = sorted(path.stem for path in CLIENTS.glob("*.json") if "/chat/completions" in path.read_text())


@pytest.mark.parametrize("name", ALL)
def test_chat_decodes_the_request_of_every_client(name: str) -> None:
    turn = decode(request_of(name)).turn
    assert (turn.model, turn.system) == ("cap-model", "You are a coding agent.")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("agents-chat-tool-turn2", {}),
        ("opencode-chat-text", {}),
        ("opencode-chat-title", {}),
        ("opencode-chat-tool-turn2", {}),
        ("opencode-chat-image-turn2", {}),
        ("opencode-chat-reasoning_content-turn2", {"ignored": "messages[2].reasoning_content"}),
    ],
)
def test_chat_tells_clients_what_became_of_their_parameters(name: str, expected: dict[str, str]) -> None:
    assert headers(request_of(name), CONNECT) == expected


def test_chat_reads_an_agents_tool_turn() -> None:
    turn = decode(request_of("agents-chat-tool-turn2")).turn
    assert [part for message in turn.messages for part in message.parts] == [
        TextPart("Say hello."),
        ToolCallPart("call_17960635934772", "get_note", '{"name": "n1"}', "messages[2].tool_calls[0]"),
        ToolResultPart("call_17960635934772", [TextPart("hello from input file\n")], "messages[3]"),
    ]
    assert [(tool.name, tool.strict) for tool in turn.tools] == [("get_note", True)]
    assert not turn.stream


def test_chat_reads_an_opencode_turn_with_reasoning_in_its_history() -> None:
    decoded = decode(request_of("opencode-chat-reasoning_content-turn2"))
    turn = decoded.turn
    assert [message.parts for message in turn.messages[1:]] == [
        [TextPart("Working on it."), BASH],
        [ToolResultPart("call_17960635918342", [TextPart("hello from input file\n")], "messages[3]")],
    ]
    assert (turn.sampling.max_output_tokens, turn.stream, decoded.echo.include_usage) == (8192, True, True)
    assert (len(turn.tools), turn.tool_choice.mode if turn.tool_choice else None) == (10, "auto")


def test_chat_reads_an_image_that_opencode_sends_after_a_result() -> None:
    text, image = decode(request_of("opencode-chat-image-turn2")).turn.messages[3].parts
    assert text == TextPart("Say hello.")
    assert isinstance(image, ImagePart)
    assert (image.mime_type, image.base64_data[:32]) == ("image/png", PIXEL_START)
