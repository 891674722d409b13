"""What real clients sent that nobody would have guessed, from fixtures: each is served, and means what it should."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from fake_upstream import FakeUpstream
from tests.clients.world import calls_of, results_of, without_index

FIXTURES = Path(__file__).parents[1] / "data" / "clients"
Serve = Callable[[str], tuple[dict[str, Any], set[str], set[str]]]


@pytest.fixture
def send(make_app: Callable[..., Flask], fake: FakeUpstream) -> Serve:
    """Send a fixture; the value is what reached the upstream, and what the caller was told."""
    client = make_app(CANDOR_UNKNOWN_MODELS="forward").test_client()

    def send(name: str) -> tuple[dict[str, Any], set[str], set[str]]:
        kept = json.loads((FIXTURES / f"{name}.json").read_text())
        reply = client.post(f"{kept['path']}?{kept['query']}", json=kept["body"], headers=kept["headers"])
        assert reply.status_code == 200, reply.data
        assert reply.data
        told = [reply.headers.get(f"x-candor-{what}", "") for what in ("ignored", "emulated")]
        ignored, emulated = ({without_index(path) for path in text.split(", ") if path} for text in told)
        return fake.captures()[-1], ignored, emulated

    return send


def texts(capture: dict[str, Any]) -> list[str]:
    return [message.get("text", "") for message in capture["message"]["messages"]]


def test_gemini_cli_resumes_a_session_with_each_result_twice(send: Serve) -> None:
    capture, _, emulated = send("gemini-resumed-repeated-results")
    assert calls_of(capture) == ["run_shell_command"] * 2
    assert len(results_of(capture)) == 2
    assert emulated == {"contents[].parts[].functionResponse"}


def test_gemini_results_that_differ_are_still_a_fault(
    make_app: Callable[..., Flask], fake: FakeUpstream
) -> None:
    kept = json.loads((FIXTURES / "gemini-resumed-repeated-results.json").read_text())
    kept["body"]["contents"][2]["parts"][3]["functionResponse"]["response"]["output"] = "another"
    client = make_app(CANDOR_UNKNOWN_MODELS="forward").test_client()
    reply = client.post(kept["path"], json=kept["body"])
    assert reply.status_code == 400
    assert b"contents[2].parts[3].functionResponse" in reply.data
    assert not fake.captures()


def test_claude_code_speaks_as_system_after_a_tool_result(send: Serve) -> None:
    capture, _, emulated = send("claude-subagent-system-midway")
    assert texts(capture)[-1].startswith("[system]\n")
    assert len(results_of(capture)) == 1
    assert "messages[].role" in emulated


def test_claude_code_replays_a_text_with_citations_that_are_null(send: Serve) -> None:
    capture, ignored, emulated = send("claude-subagent-notification")
    assert calls_of(capture) == ["Agent"]
    assert not [path for path in ignored | emulated if "citations" in path or "caller" in path]


def test_claude_code_loads_a_deferred_tool_by_a_reference_in_a_result(send: Serve) -> None:
    capture, ignored, emulated = send("claude-toolsearch-turn2")
    assert results_of(capture) == ["[tool reference: WebFetch]"]
    assert "WebFetch" in [tool["name"] for tool in capture["message"]["tools"]]
    assert "messages[].content[].content[].type" in emulated
    assert "tools[].defer_loading" in ignored


def test_opencode_marks_calls_and_results_for_the_cache(send: Serve) -> None:
    capture, ignored, _ = send("opencode-messages-tool-turn2")
    assert calls_of(capture) == ["bash"]
    assert ignored == {"system[].cache_control", "messages[].content[].cache_control"}


def test_opencode_leaves_ids_of_functions_out(send: Serve) -> None:
    capture, ignored, emulated = send("opencode-generate-tool-turn2")
    messages = capture["message"]["messages"]
    (call,) = [call for message in messages for call in message.get("tool_calls", [])]
    (result,) = [message for message in messages if message.get("source") == 4]
    assert call["id"] == result["tool_call_id"]
    assert not ignored | emulated


def test_claude_code_asks_for_a_hello_without_a_key(make_app: Callable[..., Flask]) -> None:
    client = make_app(CANDOR_API_KEYS="some-key").test_client()
    reply = client.head("/api/hello", headers={"user-agent": "Bun/1.4.6"})
    assert (reply.status_code, reply.data) == (200, b"")
