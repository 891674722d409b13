"""Chat completions over the real wire: the requests of real clients, and zero told from absent."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import requests

from fake_upstream import FakeUpstream

CLIENTS = Path(__file__).parents[1] / "data/clients"


@pytest.fixture
def ask(serve: Callable[..., str]) -> Callable[..., requests.Response]:
    url = serve(DEVIN_CONNECT_TOOL_CHOICE="1")

    def post(request: dict[str, Any], **headers: str) -> requests.Response:
        named = {
            **request,
            "model": request["model"] if request["model"].startswith("fake-") else "fake-echo",
        }
        return requests.post(f"{url}/v1/chat/completions", json=named, headers=headers, timeout=10)

    return post


@pytest.mark.parametrize(
    ("name", "messages", "ignored"),
    [
        ("agents-chat-tool-turn2", [1, 2, 4], None),
        ("opencode-chat-text", [1], None),
        ("opencode-chat-title", [1, 1], None),
        ("opencode-chat-tool-turn2", [1, 2, 2, 4], None),
        ("opencode-chat-image-turn2", [1, 2, 2, 4, 1], None),
        ("opencode-chat-reasoning_content-turn2", [1, 2, 2, 4], "messages[2].reasoning_content"),
    ],
)
def test_chat_serves_the_requests_of_real_clients(
    name: str,
    messages: list[int],
    ignored: str | None,
    ask: Callable[..., requests.Response],
    fake: FakeUpstream,
) -> None:
    recorded = json.loads((CLIENTS / f"{name}.json").read_text())
    reply = ask(recorded["body"])
    assert reply.status_code == 200
    assert reply.headers.get("x-candor-ignored") == ignored
    assert "x-candor-emulated" not in reply.headers
    (capture,) = fake.captures()
    assert capture["unknown_fields"] == []
    sent = capture["message"]
    assert [message["source"] for message in sent["messages"]] == messages
    assert sent["system_prompt"] == "You are a coding agent."
    asked_tools = recorded["body"].get("tools", [])
    assert [tool["name"] for tool in sent.get("tools", [])] == [
        tool["function"]["name"] for tool in asked_tools
    ]
    assert sent["completion"].get("max_tokens") == recorded["body"].get("max_tokens")


def test_chat_tells_zero_from_absent_on_the_wire(
    ask: Callable[..., requests.Response], fake: FakeUpstream
) -> None:
    hi = {"model": "fake-echo", "messages": [{"role": "user", "content": "hi"}]}
    reply = ask({**hi, "temperature": 0, "top_p": 0, "top_k": 0})
    ask(hi)
    zero, absent = (capture["message"]["completion"] for capture in fake.captures())
    assert (zero["temperature"], zero["top_p"], zero["top_k"]) == (0.001, 0, 0)
    assert reply.headers["x-candor-emulated"] == "temperature"
    assert absent.keys() == {"mode", "max_newlines"}
