"""Real requests of Codex CLI and opencode, served over the real wire: their meaning is in the capture."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import requests

from fake_upstream import FakeUpstream
from fake_upstream.scenarios import finish, text, tool_args, tool_call

CLIENTS = Path(__file__).parents[1] / "data" / "clients"
FIXTURES = sorted(path.stem for path in CLIENTS.glob("*.json") if '"/v1/responses"' in path.read_text())


def sent(name: str) -> dict[str, Any]:
    body: dict[str, Any] = json.loads((CLIENTS / f"{name}.json").read_text())["body"]
    return body


@pytest.fixture
def url(serve: Callable[..., str]) -> str:
    return serve(CANDOR_UNKNOWN_MODELS="forward")


def post(url: str, body: dict[str, Any]) -> requests.Response:
    reply = requests.post(f"{url}/v1/responses", json=body, timeout=10)
    assert reply.status_code == 200, reply.text
    return reply


def texts(item: dict[str, Any], key: str) -> list[str]:
    value = item[key]
    parts = [{"text": value}] if isinstance(value, str) else value
    return [part["text"] for part in parts if "text" in part]


def expected_messages(body: dict[str, Any]) -> list[dict[str, Any]]:
    """What the captured messages of ``body`` must be, read independently of the decoder."""
    expected: list[dict[str, Any]] = []
    for item in body["input"]:
        match item.get("type", "message"):
            case "message" if item["role"] in ("user", "assistant"):
                source = 1 if item["role"] == "user" else 2
                expected.append({"source": source, "text": "\n".join(texts(item, "content"))})
            case "function_call":
                call = {"id": item["call_id"], "name": item["name"], "arguments_json": item["arguments"]}
                expected.append({"source": 2, "tool_calls": [call]})
            case "custom_tool_call":
                name = f"{item['namespace']}__{item['name']}" if "namespace" in item else item["name"]
                arguments = json.dumps({"input": item["input"]}, separators=(",", ":"), ensure_ascii=False)
                call = {"id": item["call_id"], "name": name, "arguments_json": arguments, "is_custom": True}
                expected.append({"source": 2, "tool_calls": [call]})
            case "function_call_output" | "custom_tool_call_output":
                output = "\n".join(texts(item, "output"))
                expected.append({"source": 4, "text": output, "tool_call_id": item["call_id"]})
    return expected


def without(message: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in message.items() if key not in keys}


@pytest.mark.parametrize("name", FIXTURES)
def test_responses_client_request_reaches_the_upstream_whole(name: str, url: str, fake: FakeUpstream) -> None:
    body = sent(name)

    post(url, body)

    (capture,) = fake.captures()
    assert capture["unknown_fields"] == []
    message = capture["message"]
    system = [
        "\n\n".join(texts(item, "content"))
        for item in body["input"]
        if item.get("role") in ("system", "developer") and "content" in item
    ]
    system_prompt = message["system_prompt"]
    assert system_prompt.startswith("\n\n".join(system))
    if "format" not in body.get("text", {}):
        assert system_prompt == "\n\n".join(system)
    assert [without(each, "message_id", "images") for each in message["messages"]] == expected_messages(body)
    assert "disable_parallel_tool_calls" not in message
    assert "tool_choice" not in message
    assert message["completion"].get("max_tokens") == body.get("max_output_tokens")


def test_responses_codex_image_reaches_the_upstream(url: str, fake: FakeUpstream) -> None:
    post(url, sent("codex-image-cli-text"))

    (image,) = fake.captures()[0]["message"]["messages"][-1]["images"]
    assert image["mime_type"] == "image/png"


def test_responses_codex_gets_its_custom_call_back_in_its_namespace(url: str, fake: FakeUpstream) -> None:
    fake.queue(
        [
            text("Working on it."),
            tool_call(0, "call_a", "functions__exec"),
            tool_args(0, '{"input":"run()'),
            tool_args(0, '"}'),
            finish(),
        ]
    )

    reply = post(url, sent("codex-gpt6-text"))

    done = [
        json.loads(frame.split("\ndata: ")[1])["item"]
        for frame in reply.text.split("\n\n")
        if frame.startswith("event: response.output_item.done")
    ]
    assert [item["type"] for item in done] == ["message", "custom_tool_call"]
    assert (done[1]["name"], done[1]["namespace"], done[1]["input"]) == ("exec", "functions", "run()")
    assert "event: response.completed" in reply.text
