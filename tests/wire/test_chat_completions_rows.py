"""Every ledger row of chat completions over the real wire: its samples and what became of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import requests

from app.ledger import Disposition, Parameter
from fake_upstream import FakeUpstream
from tests.support.chat import SURFACE
from tests.support.chat_rows import bare, request_for

ROWS = list(SURFACE.ledger.rows.values())
CLIENTS = Path(__file__).parents[1] / "data/clients"
ON_THE_WIRE = [
    row
    for row in ROWS
    if row.wire is not None and row.disposition in (Disposition.FORWARDED, Disposition.EMULATED)
]
IGNORED = [row for row in ROWS if row.disposition is Disposition.IGNORED and not row.silent]
REFUSED = [row for row in ROWS if row.disposition is Disposition.REFUSED and not row.silent]


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


def at(message: Any, path: str) -> Any:
    """Everything that stands at a wire path such as ``messages[].tool_calls[].name``."""
    values = [message]
    for step in path.split("."):
        name = step.removesuffix("[]")
        values = [value[name] for value in values if isinstance(value, dict) and name in value]
        if step.endswith("[]"):
            values = [item for value in values for item in value]
    return values


@pytest.mark.parametrize("row", ON_THE_WIRE, ids=lambda row: row.path)
def test_chat_puts_every_sample_of_a_carried_row_into_its_wire_field(
    row: Parameter, ask: Callable[..., requests.Response], fake: FakeUpstream
) -> None:
    assert row.wire is not None
    seen = []
    for sample in row.samples:
        reply = ask(request_for(row, sample))
        assert reply.status_code == 200, reply.text
        capture = fake.captures()[-1]
        assert capture["unknown_fields"] == []
        seen.append(json.dumps(at(capture["message"], row.wire)))
    assert "[]" not in seen or len(set(seen)) > 1
    assert len(set(seen)) == len(row.samples)


@pytest.mark.parametrize("row", IGNORED, ids=lambda row: row.path)
def test_chat_serves_every_ignored_row_and_names_it(
    row: Parameter, ask: Callable[..., requests.Response], fake: FakeUpstream
) -> None:
    for count, sample in enumerate(row.samples, 1):
        reply = ask(request_for(row, sample))
        assert reply.status_code == 200, reply.text
        assert bare(reply.headers["x-candor-ignored"]) == bare(row.path)
        assert len(fake.captures()) == count


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("row", REFUSED, ids=lambda row: row.path)
def test_chat_refuses_every_refused_row_before_any_turn(
    row: Parameter, streams: bool, ask: Callable[..., requests.Response], fake: FakeUpstream
) -> None:
    for sample in row.samples:
        reply = ask({**request_for(row, sample), "stream": streams})
        told = reply.json()["error"]
        assert (reply.status_code, told["code"]) == (400, "unsupported_parameter")
        assert re.sub(r"\[\d+\]", "", told["param"]) == re.sub(r"=\w+$", "", bare(row.path))
    assert fake.captures() == []


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
