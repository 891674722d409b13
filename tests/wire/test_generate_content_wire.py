"""generate_content over the real app and the real fake upstream: HTTP in, captured protobuf out."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import requests
from flask import Flask
from flask.testing import FlaskClient
from google.genai import types

from fake_upstream import FakeUpstream
from fake_upstream import scenarios as s
from tests.support.strict import check

CLIENTS = Path(__file__).resolve().parents[1] / "data" / "clients"
PNG = "iVBORw0KGgo="
F = {"name": "f", "parameters": {"type": "OBJECT", "properties": {"x": {"type": "STRING"}}}}
G = {"name": "g", "parameters": {"type": "OBJECT", "properties": {"y": {"type": "STRING"}}}}
FORWARD = {"CANDOR_UNKNOWN_MODELS": "forward"}


def said(text: str = "hi", **more: Any) -> dict[str, Any]:
    return {"contents": [{"role": "user", "parts": [{"text": text}]}], **more}


def url(method: str = "generateContent", model: str = "fake-echo", version: str = "v1beta") -> str:
    return f"/{version}/models/{model}:{method}"


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


def parts(body: dict[str, Any]) -> list[dict[str, Any]]:
    return body["candidates"][0]["content"]["parts"]  # type: ignore[no-any-return]


def chunks(data: bytes) -> list[dict[str, Any]]:
    """The chunks of a stream of server-sent events, each checked strictly."""
    texts = [line[6:] for line in data.decode().split("\n") if line]
    assert all(line.startswith("data: ") for line in data.decode().split("\n") if line)
    for text in texts:
        if not text.startswith('{"error"'):
            check(types.GenerateContentResponse, text)
    return [json.loads(text) for text in texts]


# Paths.


@pytest.mark.parametrize("version", ["v1beta", "v1"])
def test_generate_content_answers_under_both_versions(
    client: FlaskClient, fake: FakeUpstream, version: str
) -> None:
    reply = client.post(url(version=version), json=said("hello"))
    assert reply.status_code == 200
    check(types.GenerateContentResponse, reply.text)
    assert parts(reply.json) == [{"text": "hello"}]
    assert reply.json["modelVersion"] == "fake-echo"
    assert [capture["message"]["model"] for capture in fake.captures()] == ["fake-echo"]


@pytest.mark.parametrize(
    "path",
    [
        "/v1beta/models/models/fake-echo:generateContent",
        "/v1beta/models/models%2Ffake-echo:generateContent",
        "/v1beta/models/fake-echo%3AgenerateContent",
        "/v1/models/models/fake-echo:generateContent",
    ],
)
def test_generate_content_tolerates_spellings_of_the_url(
    client: FlaskClient, fake: FakeUpstream, path: str
) -> None:
    assert client.post(path, json=said()).status_code == 200


@pytest.mark.parametrize("model", ["team/model-1", "ollama:7b", "team%2Fmodel-1", "a/b:c"])
def test_generate_content_takes_ids_with_slashes_and_colons(
    make_app: Callable[..., Flask], fake: FakeUpstream, model: str
) -> None:
    reply = make_app(**FORWARD).test_client().post(url(model=model), json=said())
    assert reply.status_code == 200
    assert fake.captures()[0]["message"]["model"] == model.replace("%2F", "/")


@pytest.mark.parametrize("version", ["v1beta", "v1"])
def test_generate_content_answers_an_unknown_method_in_its_words(
    client: FlaskClient, fake: FakeUpstream, version: str
) -> None:
    reply = client.post(url("embedContent", version=version), json={})
    assert reply.status_code == 404
    assert reply.json["error"] == {
        "code": 404,
        "message": "there is no method 'embedContent' of models here; methods are: generateContent, "
        "streamGenerateContent, countTokens",
        "status": "NOT_FOUND",
    }
    assert reply.headers["x-should-retry"] == "false"
    assert fake.captures() == []


@pytest.mark.parametrize("version", ["v1beta", "v1"])
@pytest.mark.parametrize("method", ["generateContent", "streamGenerateContent", "countTokens"])
@pytest.mark.parametrize("verb", ["GET", "PUT", "DELETE", "PATCH"])
def test_generate_content_answers_a_wrong_verb_in_its_words(
    client: FlaskClient, version: str, method: str, verb: str
) -> None:
    reply = client.open(url(method, version=version), method=verb)
    assert reply.status_code == 405
    assert reply.json["error"]["status"] == "INVALID_ARGUMENT"
    assert reply.headers["Allow"] == "OPTIONS, POST"


def test_generate_content_answers_an_unknown_model_in_its_words(
    client: FlaskClient, fake: FakeUpstream
) -> None:
    reply = client.post(url(model="models/nope"), json=said())
    assert (reply.status_code, reply.json["error"]["status"]) == (404, "NOT_FOUND")
    assert "'nope'" in reply.json["error"]["message"]


@pytest.mark.parametrize(
    ("data", "headers", "status"),
    [
        (b"{", {}, 400),
        (b"[]", {}, 400),
        (b"{}", {"Content-Encoding": "br"}, 415),
        (b"{}", {"Content-Encoding": "gzip"}, 400),
    ],
)
def test_generate_content_refuses_bodies_in_its_words(
    client: FlaskClient, data: bytes, headers: dict[str, str], status: int
) -> None:
    reply = client.post(url(), data=data, headers=headers)
    assert reply.status_code == status
    assert reply.json["error"]["status"] == "INVALID_ARGUMENT"


# Keys.


@pytest.mark.parametrize(
    ("headers", "query", "status"),
    [
        ({"x-goog-api-key": "k1"}, "", 200),
        ({"Authorization": "Bearer k1"}, "", 200),
        ({"x-api-key": "k1"}, "", 200),
        ({}, "?key=k1", 200),
        ({"x-goog-api-key": "k1"}, "?key=k1", 200),
        ({}, "", 401),
        ({"x-goog-api-key": "no"}, "", 401),
        ({"x-goog-api-key": "k1"}, "?key=k2", 401),
    ],
)
@pytest.mark.parametrize("method", ["generateContent", "streamGenerateContent", "countTokens"])
def test_generate_content_takes_keys_where_clients_put_them(
    make_app: Callable[..., Flask],
    fake: FakeUpstream,
    headers: dict[str, str],
    query: str,
    status: int,
    method: str,
) -> None:
    client = make_app(CANDOR_API_KEYS="k1,k2").test_client()
    reply = client.post(url(method) + query, json=said(), headers=headers)
    assert reply.data
    assert reply.status_code == status
    if status == 401:
        assert reply.json["error"]["status"] == "UNAUTHENTICATED"


# Streams.


def test_generate_content_streams_server_sent_events(client: FlaskClient, fake: FakeUpstream) -> None:
    fake.queue([s.text("a"), s.text("b"), s.usage(10, 3), s.finish()])
    reply = client.post(url("streamGenerateContent") + "?alt=sse", json=said())
    assert reply.content_type == "text/event-stream; charset=utf-8"
    told = chunks(reply.data)
    assert [part["text"] for each in told for part in parts(each)] == ["a", "b", ""]
    assert len({each["responseId"] for each in told}) == 1
    assert [each["candidates"][0].get("finishReason") for each in told] == [None, None, "STOP"]
    assert told[-1]["usageMetadata"] == {
        "promptTokenCount": 10,
        "candidatesTokenCount": 3,
        "totalTokenCount": 13,
    }


def test_generate_content_streams_one_array_without_alt(client: FlaskClient, fake: FakeUpstream) -> None:
    fake.queue([s.text("a"), s.usage(10, 3), s.finish()])
    reply = client.post(url("streamGenerateContent"), json=said())
    assert reply.content_type == "application/json"
    told = json.loads(reply.data)
    assert [part["text"] for each in told for part in parts(each)] == ["a", ""]
    assert told[-1]["candidates"][0]["finishReason"] == "STOP"


@pytest.mark.parametrize(("query", "blank"), [("?alt=sse", b"\n"), ("", b"[\n")])
def test_generate_content_keeps_a_silent_stream_alive_with_blank_lines(
    serve: Callable[..., str], fake: FakeUpstream, query: str, blank: bytes
) -> None:
    fake.queue([s.sleep(600), s.text("a"), s.finish()])
    base = serve(CANDOR_KEEPALIVE_S="0.2")
    begun = time.monotonic()
    with requests.post(
        base + url("streamGenerateContent") + query, json=said(), stream=True, timeout=10
    ) as reply:
        pieces = reply.iter_content(None)
        first = next(pieces)
        assert time.monotonic() - begun < 0.5
        data = first + b"".join(pieces)
    assert data.startswith(blank)
    assert b"[DONE]" not in data
    assert b"event:" not in data
    told = chunks(data) if query else json.loads(data)
    assert parts(told[0]) == [{"text": "a"}]


@pytest.mark.parametrize("query", ["?alt=sse", ""])
def test_generate_content_fault_after_text_is_in_the_stream_and_last(
    client: FlaskClient, fake: FakeUpstream, query: str
) -> None:
    fake.queue([s.text("a"), s.error("unavailable", "busy", 30)])
    reply = client.post(url("streamGenerateContent") + query, json=said())
    assert reply.status_code == 200
    told = chunks(reply.data) if query else json.loads(reply.data)
    assert parts(told[0]) == [{"text": "a"}]
    assert len(told) == 2
    error = told[1]["error"]
    assert (error["code"], error["status"]) == (503, "UNAVAILABLE")
    assert error["details"] == [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "30s"}]


@pytest.mark.parametrize(
    "method", ["generateContent", "streamGenerateContent", "streamGenerateContent?alt=sse"]
)
@pytest.mark.parametrize(
    ("step", "status", "rpc_status"),
    [
        (s.error("resource_exhausted", "q", 12), 429, "RESOURCE_EXHAUSTED"),
        (s.error("unavailable", "busy", 12), 503, "UNAVAILABLE"),
        (s.error("permission_denied", "no"), 403, "PERMISSION_DENIED"),
        (s.error("invalid_argument", "no"), 400, "INVALID_ARGUMENT"),
        (s.error("deadline_exceeded", "slow"), 504, "DEADLINE_EXCEEDED"),
        (s.error("internal", "boom"), 502, "INTERNAL"),
        (s.cut(), 502, "INTERNAL"),
        (s.cut_clean(), 502, "INTERNAL"),
    ],
)
def test_generate_content_fault_before_text_is_a_real_status(
    client: FlaskClient, fake: FakeUpstream, method: str, step: Any, status: int, rpc_status: str
) -> None:
    fake.queue([step])
    reply = client.post(url(method), json=said())
    assert reply.status_code == status
    error = reply.json["error"]
    assert (error["code"], error["status"]) == (status, rpc_status)
    assert not error["message"].startswith("{")
    if status in (429, 503):
        assert reply.headers["Retry-After"] == "12"
        assert {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "12s"} in error["details"]


# Turns.


def test_generate_content_hands_out_thoughts_only_when_asked(client: FlaskClient, fake: FakeUpstream) -> None:
    for config, thoughts in (({}, 0), ({"thinkingConfig": {"includeThoughts": True}}, 1)):
        fake.queue([s.reasoning("hm"), s.text("a"), s.finish()])
        told = parts(client.post(url(), json=said(generationConfig=config)).json)
        assert len([part for part in told if part.get("thought")]) == thoughts
        assert told[-1] == {"text": "a"}


def test_generate_content_thoughts_come_back_through_the_switch(
    make_app: Callable[..., Flask], fake: FakeUpstream
) -> None:
    client = make_app(DEVIN_CONNECT_REASONING="1").test_client()
    fake.queue([s.reasoning("hm, "), s.reasoning("well"), s.text("a"), s.finish()])
    asked = said(generationConfig={"thinkingConfig": {"includeThoughts": True}})
    told = chunks(client.post(url("streamGenerateContent") + "?alt=sse", json=asked).data)
    asked["contents"] += [each["candidates"][0]["content"] for each in told]
    asked["contents"].append({"role": "user", "parts": [{"text": "go on"}]})
    fake.clear()
    reply = client.post(url(), json=asked)
    assert "x-candor-ignored" not in reply.headers
    assert [
        (each["source"], each.get("text", ""), each.get("reasoning"))
        for each in fake.captures()[0]["message"]["messages"]
    ] == [
        (1, "hi", None),
        (2, "a", "hm, well"),
        (1, "go on", None),
    ]


def test_generate_content_interleaved_calls_and_their_results(
    client: FlaskClient, fake: FakeUpstream
) -> None:
    calls = [
        s.tool_call(0, "a", "f"),
        s.tool_call(1, "b", "g"),
        s.tool_args(0, '{"x":'),
        s.tool_args(1, '{"y":'),
        s.tool_args(0, '"1"}'),
        s.tool_args(1, '"2"}'),
        s.finish(),
    ]
    body = said(systemInstruction="S", tools=[{"functionDeclarations": [F, G]}])
    expected = [
        {"functionCall": {"id": "a", "name": "f", "args": {"x": "1"}}},
        {"functionCall": {"id": "b", "name": "g", "args": {"y": "2"}}},
    ]
    fake.queue(calls)
    whole = client.post(url(), json=body).json
    assert parts(whole) == expected
    assert whole["candidates"][0]["finishReason"] == "STOP"
    fake.queue(calls)
    told = chunks(client.post(url("streamGenerateContent") + "?alt=sse", json=body).data)
    assert [part for each in told for part in parts(each)] == [*expected, {"text": ""}]

    body["contents"] += [
        whole["candidates"][0]["content"],
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": "b", "name": "g", "response": {"output": "two"}}},
                {"functionResponse": {"id": "a", "name": "f", "response": {"output": "one"}}},
            ],
        },
    ]
    fake.clear()
    fake.queue([s.text("done"), s.finish()])
    assert parts(client.post(url(), json=body).json) == [{"text": "done"}]
    sent = fake.captures()[0]["message"]["messages"]
    assert [(each["source"], each.get("tool_call_id"), each.get("text")) for each in sent[3:]] == [
        (4, "b", '{"output":"two"}'),
        (4, "a", '{"output":"one"}'),
    ]
    assert [each["tool_calls"][0] for each in sent[1:3]] == [
        {"id": "a", "name": "f", "arguments_json": '{"x":"1"}'},
        {"id": "b", "name": "g", "arguments_json": '{"y":"2"}'},
    ]


def test_generate_content_images_reach_the_upstream(client: FlaskClient, fake: FakeUpstream) -> None:
    image = {"inline_data": {"mime_type": "image/png", "data": PNG}}
    body = {
        "contents": [
            {"parts": [image, {"text": "q"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "f"}}]},
            {
                "role": "user",
                "parts": [{"functionResponse": {"name": "f", "response": {"o": 1}, "parts": [image]}}, image],
            },
        ]
    }
    assert client.post(url(), json=body).status_code == 200
    sent = fake.captures()[0]["message"]["messages"]
    held = [{"base64_data": PNG, "mime_type": "image/png"}]
    assert [each.get("images", []) for each in sent] == [held, [], held, held]


def test_generate_content_a_cut_call_says_max_tokens(client: FlaskClient, fake: FakeUpstream) -> None:
    body = said(
        systemInstruction="S",
        tools=[{"functionDeclarations": [F]}],
        generationConfig={"maxOutputTokens": 5},
    )
    steps = [s.tool_call(0, "a", "f"), s.tool_args(0, '{"x":'), s.usage(10, 5), s.finish()]
    fake.queue(steps)
    whole = client.post(url(), json=body)
    assert whole.status_code == 200
    assert whole.json["candidates"][0] == {
        "content": {"parts": [{"text": ""}], "role": "model"},
        "finishReason": "MAX_TOKENS",
        "index": 0,
    }
    fake.queue(steps)
    told = chunks(client.post(url("streamGenerateContent") + "?alt=sse", json=body).data)
    assert [each["candidates"][0].get("finishReason") for each in told] == ["MAX_TOKENS"]


def test_generate_content_a_spoilt_call_fails_the_turn(client: FlaskClient, fake: FakeUpstream) -> None:
    body = said(systemInstruction="S", tools=[{"functionDeclarations": [F]}])
    steps = [s.tool_call(0, "a", "f"), s.tool_args(0, '{"x": "unterm'), s.finish()]
    fake.queue(steps)
    assert client.post(url(), json=body).status_code == 502
    fake.queue([s.text("t"), s.sleep(150), *steps])
    told = chunks(client.post(url("streamGenerateContent") + "?alt=sse", json=body).data)
    assert told[-1]["error"]["code"] == 502


def test_generate_content_content_filter_says_safety(
    make_app: Callable[..., Flask], fake: FakeUpstream
) -> None:
    client = make_app(DEVIN_CONNECT_STOP_REASON_MAP="5=content_filter").test_client()
    fake.queue([s.text("a"), s.finish(5)])
    assert client.post(url(), json=said()).json["candidates"][0]["finishReason"] == "SAFETY"


def test_generate_content_stop_sequences_cut_the_answer(client: FlaskClient, fake: FakeUpstream) -> None:
    body = said(generationConfig={"stopSequences": ["END"]})
    fake.queue([s.text("aEN"), s.text("Db"), s.finish()])
    whole = client.post(url(), json=body)
    assert parts(whole.json) == [{"text": "a"}]
    assert whole.json["candidates"][0]["finishReason"] == "STOP"
    assert "x-candor-emulated" not in whole.headers


def test_generate_content_usage_counts_the_cached_part_as_prompt(
    client: FlaskClient, fake: FakeUpstream
) -> None:
    fake.queue([s.usage(20, 0, 80), s.text("a"), s.usage(20, 7, 80), s.finish()])
    assert client.post(url(), json=said()).json["usageMetadata"] == {
        "promptTokenCount": 100,
        "candidatesTokenCount": 7,
        "totalTokenCount": 107,
        "cachedContentTokenCount": 80,
    }


# Parameters on the wire.


@pytest.mark.parametrize(
    "method", ["generateContent", "streamGenerateContent", "streamGenerateContent?alt=sse"]
)
@pytest.mark.parametrize("count", [2, 0, "1", True, 1.5])
def test_generate_content_refuses_candidate_counts_before_any_turn(
    client: FlaskClient, fake: FakeUpstream, method: str, count: Any
) -> None:
    reply = client.post(url(method), json=said(generationConfig={"candidateCount": count}))
    assert reply.status_code == 400
    assert reply.content_type == "application/json"
    error = reply.json["error"]
    assert error["status"] == "INVALID_ARGUMENT"
    assert error["message"].startswith("generationConfig.candidateCount: ")
    assert error["details"][0]["fieldViolations"][0]["field"] == "generationConfig.candidateCount"
    assert reply.is_streamed is False
    assert fake.captures() == []


@pytest.mark.parametrize("count", [1, 1.0, None])
def test_generate_content_serves_a_candidate_count_of_one(
    client: FlaskClient, fake: FakeUpstream, count: Any
) -> None:
    assert client.post(url(), json=said(generationConfig={"candidateCount": count})).status_code == 200


@pytest.mark.parametrize(
    ("config", "top_k"), [({"topK": 64.0}, 64), ({"top_k": 0}, 0), ({}, None), ({"topK": None}, None)]
)
def test_generate_content_top_k_reaches_the_wire(
    client: FlaskClient, fake: FakeUpstream, config: dict[str, Any], top_k: int | None
) -> None:
    assert client.post(url(), json=said(generationConfig=config)).status_code == 200
    assert fake.captures()[0]["message"]["completion"].get("top_k") == top_k


def test_generate_content_refuses_a_broken_top_k(client: FlaskClient, fake: FakeUpstream) -> None:
    reply = client.post(url(), json=said(generationConfig={"topK": 64.5}))
    assert reply.status_code == 400
    assert reply.json["error"]["details"][0]["fieldViolations"] == [
        {"field": "generationConfig.topK", "description": "must be an integer, not a number"}
    ]
    assert fake.captures() == []


def test_generate_content_sampling_and_system_reach_the_wire(client: FlaskClient, fake: FakeUpstream) -> None:
    config = {"temperature": 0.25, "topP": 0, "topK": 3, "maxOutputTokens": 5}
    client.post(
        url(),
        json=said(systemInstruction={"role": "user", "parts": [{"text": "S"}]}, generationConfig=config),
    )
    message = fake.captures()[0]["message"]
    assert message["system_prompt"] == "S"
    completion = message["completion"]
    assert (
        completion["temperature"],
        completion["top_p"],
        completion["top_k"],
        completion["max_tokens"],
    ) == (
        0.25,
        0.0,
        3,
        5,
    )


@pytest.mark.parametrize(
    ("config", "names", "choice", "ignored", "emulated"),
    [
        ({"mode": "NONE"}, [], None, None, None),
        ({"mode": "AUTO"}, ["f", "g"], None, None, None),
        ({"mode": "ANY"}, ["f", "g"], None, "mode", None),
        ({"mode": "ANY", "allowedFunctionNames": ["g"]}, ["g"], None, "mode", "allowedFunctionNames"),
        ({"mode": "VALIDATED", "allowedFunctionNames": ["g"]}, ["g"], None, None, "allowedFunctionNames"),
    ],
)
def test_generate_content_choice_on_the_wire_without_the_switch(
    client: FlaskClient,
    fake: FakeUpstream,
    config: dict[str, Any],
    names: list[str],
    choice: Any,
    ignored: str | None,
    emulated: str | None,
) -> None:
    fake.queue([s.text("a"), s.finish()])
    reply = client.post(url(), json=chosen(config))
    capture = fake.captures()[0]
    assert [tool["name"] for tool in capture["message"].get("tools", [])] == names
    assert 12 not in capture["top_level_fields"]
    at = "toolConfig.functionCallingConfig."
    assert reply.headers.get("x-candor-ignored") == (at + ignored if ignored else None)
    assert reply.headers.get("x-candor-emulated") == (at + emulated if emulated else None)


@pytest.mark.parametrize(
    ("config", "names", "choice"),
    [
        ({"mode": "NONE"}, [], {"option_name": "none"}),
        ({"mode": "AUTO"}, ["f", "g"], None),
        ({"mode": "ANY"}, ["f", "g"], {"option_name": "required"}),
        ({"mode": "ANY", "allowedFunctionNames": []}, [], {"option_name": "none"}),
        (
            {"mode": "ANY", "allowedFunctionNames": ["g"]},
            ["f", "g"],
            {"option_name": "function", "tool_name": "g"},
        ),
        ({"mode": "ANY", "allowedFunctionNames": ["g", "f"]}, ["f", "g"], {"option_name": "required"}),
        ({"mode": "VALIDATED", "allowedFunctionNames": ["g"]}, ["g"], None),
    ],
)
def test_generate_content_choice_on_the_wire_with_the_switch(
    make_app: Callable[..., Flask], fake: FakeUpstream, config: dict[str, Any], names: list[str], choice: Any
) -> None:
    fake.queue([s.text("a"), s.finish()])
    reply = make_app(DEVIN_CONNECT_TOOL_CHOICE="1").test_client().post(url(), json=chosen(config))
    message = fake.captures()[0]["message"]
    assert [tool["name"] for tool in message.get("tools", [])] == names
    assert message.get("tool_choice") == choice
    assert "x-candor-ignored" not in reply.headers


def chosen(config: dict[str, Any]) -> dict[str, Any]:
    return said(
        systemInstruction="S",
        tools=[{"functionDeclarations": [F, G]}],
        toolConfig={"functionCallingConfig": config},
    )


def test_generate_content_validated_is_strict_on_the_wire(client: FlaskClient, fake: FakeUpstream) -> None:
    fake.queue([s.text("a"), s.finish()])
    client.post(url(), json=chosen({"mode": "VALIDATED"}))
    assert [tool["strict"] for tool in fake.captures()[0]["message"]["tools"]] == [True, True]


def test_generate_content_a_call_in_mode_none_is_never_handed_on(
    client: FlaskClient, fake: FakeUpstream
) -> None:
    fake.queue([s.tool_call(0, "a", "f"), s.tool_args(0, "{}"), s.finish()])
    reply = client.post(url(), json=chosen({"mode": "NONE"}))
    assert reply.status_code == 502
    assert "functionCall" not in reply.text


def test_generate_content_strict_handling_refuses_what_would_be_ignored(
    client: FlaskClient, fake: FakeUpstream
) -> None:
    body = said(labels={"a": "b"}, generationConfig={"seed": 1})
    lenient = client.post(url(), json=body)
    assert lenient.headers["x-candor-ignored"] == "labels, generationConfig.seed"
    fake.clear()
    strict = client.post(url(), json=body, headers={"Prefer": "handling=strict"})
    assert strict.status_code == 400
    assert strict.headers["Preference-Applied"] == "handling=strict"
    assert [each["field"] for each in strict.json["error"]["details"][0]["fieldViolations"]] == [
        "labels",
        "generationConfig.seed",
    ]
    assert fake.captures() == []


def test_generate_content_a_force_refused_when_strict_names_no_switch(
    client: FlaskClient, fake: FakeUpstream
) -> None:
    reply = client.post(url(), json=chosen({"mode": "ANY"}), headers={"Prefer": "handling=strict"})
    assert reply.status_code == 400
    assert "DEVIN" not in reply.text
    assert reply.json["error"]["details"][0]["fieldViolations"][0]["field"] == (
        "toolConfig.functionCallingConfig.mode"
    )


def test_generate_content_refuses_more_tokens_than_the_model_has(
    client: FlaskClient, fake: FakeUpstream
) -> None:
    reply = client.post(url(), json=said(generation_config={"max_output_tokens": 999999}))
    assert reply.status_code == 400
    assert reply.json["error"]["message"].startswith("generation_config.max_output_tokens: ")


# countTokens.


def test_generate_content_counts_more_for_system_and_tools(client: FlaskClient, fake: FakeUpstream) -> None:
    plain = client.post(url("countTokens"), json=said("hello")).json
    rich = client.post(
        url("countTokens"),
        json={
            "generateContentRequest": {
                "model": "models/fake-echo",
                **said("hello", systemInstruction="S" * 1000, tools=[{"functionDeclarations": [F]}]),
            }
        },
    ).json
    assert list(plain) == list(rich) == ["totalTokens"]
    assert rich["totalTokens"] > plain["totalTokens"] + 200
    check(types.CountTokensResponse, json.dumps(plain))
    assert fake.captures() == []


# Real clients.


@pytest.mark.parametrize("name", ["gemini-text", "gemini-tool-turn2", "gemini-toolerror-turn2"])
def test_generate_content_serves_what_gemini_cli_sends(
    make_app: Callable[..., Flask], fake: FakeUpstream, name: str
) -> None:
    recorded = json.loads((CLIENTS / f"{name}.json").read_text())
    fake.queue([s.text("ok"), s.finish()])
    reply = (
        make_app(**FORWARD)
        .test_client()
        .post(f"{recorded['path']}?{recorded['query']}", json=recorded["body"], headers=recorded["headers"])
    )
    assert reply.status_code == 200
    assert parts(chunks(reply.data)[0]) == [{"text": "ok"}]
    message = fake.captures()[0]["message"]
    declared = recorded["body"]["tools"][0]["functionDeclarations"]
    assert message["model"] == recorded["path"].rpartition("/")[2].partition(":")[0]
    assert message["system_prompt"] == "Say hello."
    assert [tool["name"] for tool in message["tools"]] == [each["name"] for each in declared]
    assert [json.loads(tool["parameters"]) for tool in message["tools"]] == [
        each["parametersJsonSchema"] for each in declared
    ]
    completion = message["completion"]
    assert (completion["temperature"], completion["top_p"], completion["top_k"]) == (1.0, 0.95, 64)
    assert message["messages"][0]["text"] == "Say hello.\nSay hello."
    if name != "gemini-text":
        recorded_call = recorded["body"]["contents"][1]["parts"][1]["functionCall"]
        recorded_result = recorded["body"]["contents"][2]["parts"][0]["functionResponse"]
        sent = message["messages"]
        assert [each["source"] for each in sent] == [1, 2, 2, 4]
        assert sent[1]["text"] == "Working on it."
        assert json.loads(sent[2]["tool_calls"][0]["arguments_json"]) == recorded_call["args"]
        assert (sent[3]["tool_call_id"], json.loads(sent[3]["text"])) == (
            "fc-cap-1",
            recorded_result["response"],
        )


def test_generate_content_counts_what_gemini_cli_counts(
    make_app: Callable[..., Flask], fake: FakeUpstream
) -> None:
    recorded = json.loads((CLIENTS / "gemini-counttokens.json").read_text())
    reply = make_app(**FORWARD).test_client().post(recorded["path"], json=recorded["body"])
    assert reply.status_code == 200
    assert reply.json["totalTokens"] > 1000


def test_generate_content_refuses_gemini_clis_search_and_names_it(
    make_app: Callable[..., Flask], fake: FakeUpstream
) -> None:
    recorded = json.loads((CLIENTS / "gemini-googlesearch-subrequest.json").read_text())
    reply = make_app(**FORWARD).test_client().post(recorded["path"], json=recorded["body"])
    assert reply.status_code == 400
    assert reply.json["error"]["details"][0]["fieldViolations"][0]["field"] == "tools[0].googleSearch"
    assert fake.captures() == []
