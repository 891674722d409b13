"""Requests of real clients over the wire: their meaning reaches the upstream, field by field."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from fake_upstream import FakeUpstream
from fake_upstream import scenarios as s
from tests.matrix.answers import read
from tests.matrix.asking import MESSAGES
from tests.matrix.test_matrix_mutations import surface_of

DATA = Path(__file__).parents[1] / "data"
RECORDED = {file.stem: json.loads(file.read_text()) for file in sorted((DATA / "clients").glob("*.json"))}
MEANINGS: dict[str, dict[str, Any]] = tomllib.loads((DATA / "client_meanings.toml").read_text())
REFUSED = {
    "claude-websearch-subrequest": "tools.0.type",
    "gemini-googlesearch-subrequest": "tools[0].googleSearch",
}
"""Sub-requests for a search that the vendor runs: refusing them fails one tool of the client, not its session."""
COUNTED = {"gemini-counttokens"}
OURS = {"authorization", "x-api-key", "x-goog-api-key", "accept-encoding", "host", "content-length"}
SOURCES = {1: "user", 2: "assistant", 4: "result"}
STRICT = {True: "!", False: "-", None: ""}

each_client = pytest.mark.parametrize("name", MEANINGS)


def send(app: Flask, name: str) -> TestResponse:
    """The recorded request, as it was but for its key."""
    recorded = RECORDED[name]
    reply = app.test_client().open(
        recorded["path"],
        method=recorded["method"],
        query_string=recorded["query"],
        headers={key: value for key, value in recorded["headers"].items() if key.lower() not in OURS},
        data=json.dumps(recorded["body"]),
    )
    assert reply.data is not None  # reads the stream
    return reply


def line(message: dict[str, Any]) -> str:
    """One message of the wire in a line."""
    if "tool_calls" in message:
        (call,) = message["tool_calls"]
        kind = "custom call" if call.get("is_custom") else "call"
        return f"{kind} {call['id']} {call['name']} {call['arguments_json']}"
    who = SOURCES[message["source"]]
    if "tool_call_id" in message:
        who += f" {message['tool_call_id']}"
    pictures = [f" [{each['mime_type']}, {len(each['base64_data'])}]" for each in message.get("images", ())]
    return f"{who}: {message.get('text', '')}{''.join(pictures)}"


@pytest.fixture
def app(standing: Callable[..., Flask]) -> Flask:
    """An app that takes the models that clients name."""
    return standing(CANDOR_UNKNOWN_MODELS="forward")


def captured(app: Flask, fake: FakeUpstream, name: str) -> dict[str, Any]:
    fake.queue([s.text("ok"), s.usage(3, 1), s.finish()])
    assert send(app, name).status_code == 200
    (capture,) = fake.captures()
    return capture


def test_every_recorded_request_has_its_meaning_here() -> None:
    assert MEANINGS.keys() | REFUSED.keys() | COUNTED == RECORDED.keys()


@each_client
def test_a_clients_request_is_served_in_its_protocol(app: Flask, fake: FakeUpstream, name: str) -> None:
    fake.queue([s.text("ok"), s.usage(3, 1), s.finish()])
    recorded = RECORDED[name]
    surface = surface_of(recorded["path"])
    stream = recorded["body"].get("stream", "stream" in recorded["path"])

    reply = send(app, name)

    assert reply.status_code == 200
    assert read(surface, reply.data, stream=stream).text == "ok"


@each_client
def test_a_clients_messages_reach_the_upstream(app: Flask, fake: FakeUpstream, name: str) -> None:
    message = captured(app, fake, name)["message"]

    assert [line(each) for each in message["messages"]] == MEANINGS[name]["messages"]


@each_client
def test_a_clients_system_text_reaches_the_upstream(app: Flask, fake: FakeUpstream, name: str) -> None:
    message = captured(app, fake, name)["message"]

    assert message["system_prompt"] == "\n\n".join(MEANINGS[name]["system"])


@each_client
def test_a_clients_tools_reach_the_upstream_with_their_names(
    app: Flask, fake: FakeUpstream, name: str
) -> None:
    tools = captured(app, fake, name)["message"].get("tools", ())

    assert " ".join(tool["name"] + STRICT[tool.get("strict")] for tool in tools) == MEANINGS[name]["tools"]
    assert all(json.loads(tool["parameters"])["type"] == "object" for tool in tools)


@each_client
def test_a_clients_model_and_sampling_reach_the_upstream(app: Flask, fake: FakeUpstream, name: str) -> None:
    message = captured(app, fake, name)["message"]

    fixed = {"mode": 1, "max_newlines": 128000}
    assert message["model"] == MEANINGS[name]["model"]
    assert message["completion"] == {**fixed, **MEANINGS[name]["sampling"]}


@each_client
def test_a_clients_request_puts_nothing_unconfirmed_on_the_wire(
    app: Flask, fake: FakeUpstream, name: str
) -> None:
    capture = captured(app, fake, name)

    assert capture["unknown_fields"] == []
    assert not {11, 12, 13} & set(capture["top_level_fields"])


@each_client
def test_a_client_is_told_what_became_of_its_parameters(app: Flask, fake: FakeUpstream, name: str) -> None:
    fake.queue([s.text("ok"), s.usage(3, 1), s.finish()])

    headers = send(app, name).headers

    assert headers.get("x-candor-ignored", "") == MEANINGS[name]["ignored"]
    assert headers.get("x-candor-emulated", "") == MEANINGS[name]["emulated"]


@pytest.mark.parametrize("name", [name for name in MEANINGS if name.startswith("codex-gpt6")])
@pytest.mark.parametrize("switch", ["0", "1"])
def test_codex_asks_for_one_call_at_a_time_and_gets_it_by_the_switch(
    standing: Callable[..., Flask], fake: FakeUpstream, name: str, switch: str
) -> None:
    app = standing(CANDOR_UNKNOWN_MODELS="forward", DEVIN_CONNECT_TOOL_CHOICE=switch)

    reply = send(app, name)

    assert reply.status_code == 200
    assert (11 in fake.captures()[0]["top_level_fields"]) is (switch == "1")
    told = "parallel_tool_calls" in reply.headers["x-candor-ignored"].split(", ")
    assert told is (switch == "0")


@pytest.mark.parametrize(("name", "field"), REFUSED.items())
def test_a_search_that_the_vendor_runs_is_refused_by_name(
    app: Flask, fake: FakeUpstream, name: str, field: str
) -> None:
    reply = send(app, name)

    assert reply.status_code == 400
    if surface_of(RECORDED[name]["path"]) == MESSAGES:
        assert reply.json["error"]["message"] == f"{field}: Extra inputs are not permitted"
    else:
        assert reply.json["error"]["details"][0]["fieldViolations"][0]["field"] == field
    assert fake.captures() == []


@pytest.mark.parametrize("name", sorted(COUNTED))
def test_a_client_that_counts_costs_no_turn(app: Flask, fake: FakeUpstream, name: str) -> None:
    reply = send(app, name)

    assert reply.status_code == 200
    assert reply.json["totalTokens"] > 1000
    assert fake.captures() == []
