"""Messages end to end: what is ignored, emulated and refused, with headers, strict handling and captures."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from fake_upstream import scenarios as s

TOOL = {"name": "f", "input_schema": {"type": "object", "properties": {"x": {"type": "string"}}}}
OTHER = {"name": "g", "input_schema": {"type": "object", "properties": {"y": {"type": "string"}}}}
CLIENTS = Path(__file__).parents[1] / "data/clients"


def ask(app, headers=None, path="/v1/messages", **fields):
    body = {"model": "fake-echo", "max_tokens": 50, "messages": [{"role": "user", "content": "hi"}], **fields}
    return app.test_client().post(path, json=body, headers=headers or {})


def message_of(reply):
    assert reply.json["type"] == "error"
    assert reply.json["request_id"] == reply.headers["request-id"] == reply.headers["x-request-id"]
    return reply.json["error"]["message"]


HINT = {"system": "S", "tools": [TOOL], "tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}
STRICT = {"Prefer": "handling=strict"}


@pytest.mark.parametrize("stream", [False, True])
def test_the_parallel_hint_is_served_and_headed(app, fake, stream):
    reply = ask(app, **HINT, stream=stream)
    assert reply.status_code == 200
    assert reply.headers["x-candor-ignored"] == "tool_choice.disable_parallel_tool_use"
    _ = reply.data
    [capture] = fake.captures()
    assert 11 not in capture["top_level_fields"]
    assert app.test_client().get("/connect-metrics").json["parallel_tool_calls_hint_ignored"] == 1


def test_the_parallel_hint_is_on_the_wire_when_its_switch_is_on(make_app, fake):
    app = make_app(DEVIN_CONNECT_TOOL_CHOICE="1")
    reply = ask(app, **HINT)
    assert "x-candor-ignored" not in reply.headers
    [capture] = fake.captures()
    assert capture["message"]["disable_parallel_tool_calls"] is True


def test_the_parallel_hint_is_never_cut_to_one_call(app, fake):
    fake.queue([s.tool_call(0, "a", "f"), s.tool_call(1, "b", "f"), s.finish()])
    reply = ask(app, **HINT)
    assert [block["id"] for block in reply.json["content"]] == ["a", "b"]


@pytest.mark.parametrize("stream", [False, True])
def test_strict_handling_refuses_the_hint_by_the_name_that_was_sent(app, fake, stream):
    reply = ask(app, STRICT, **HINT, stream=stream)
    assert reply.status_code == 400
    assert message_of(reply) == "tool_choice.disable_parallel_tool_use: Extra inputs are not permitted"
    assert reply.headers["Preference-Applied"] == "handling=strict"
    assert fake.captures() == []


CHOICES = [
    # choice, #12 when the switch is on, tools when it is off, ignored, emulated
    ({"type": "auto"}, None, ["f", "g"], None, None),
    ({"type": "none"}, {"option_name": "none"}, [], None, None),
    ({"type": "any"}, {"option_name": "required"}, ["f", "g"], "tool_choice.type", None),
    (
        {"type": "tool", "name": "g"},
        {"option_name": "function", "tool_name": "g"},
        ["g"],
        "tool_choice.type",
        "tool_choice.name",
    ),
]


@pytest.mark.parametrize(("choice", "wire", "narrowed", "ignored", "emulated"), CHOICES)
def test_tool_choice_with_its_switch_off_and_on(make_app, fake, choice, wire, narrowed, ignored, emulated):
    fields = {"system": "S", "tools": [TOOL, OTHER], "tool_choice": choice}
    reply = ask(make_app(), **fields)
    assert reply.status_code == 200
    assert reply.headers.get("x-candor-ignored") == ignored
    assert reply.headers.get("x-candor-emulated") == emulated
    capture = fake.captures()[-1]
    assert [tool["name"] for tool in capture["message"].get("tools", [])] == narrowed
    assert 12 not in capture["top_level_fields"]

    reply = ask(make_app(DEVIN_CONNECT_TOOL_CHOICE="1"), **fields)
    assert "x-candor-ignored" not in reply.headers
    assert "x-candor-emulated" not in reply.headers
    message = fake.captures()[-1]["message"]
    assert message.get("tool_choice") == wire
    expected = [] if choice["type"] == "none" else ["f", "g"]
    assert [tool["name"] for tool in message.get("tools", [])] == expected


def test_a_call_that_was_not_allowed_never_reaches_the_caller(app, fake):
    fake.queue([s.tool_call(0, "a", "f"), s.tool_args(0, "{}"), s.finish()])
    reply = ask(app, system="S", tools=[TOOL], tool_choice={"type": "none"})
    assert reply.status_code == 502
    assert reply.json["error"]["type"] == "api_error"


def test_two_requests_that_differ_in_is_error_differ_upstream(app, fake):
    def texts(is_error):
        call = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
        result = {"type": "tool_result", "tool_use_id": "a", "content": "42", "is_error": is_error}
        ask(
            app,
            messages=[
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": [call]},
                {"role": "user", "content": [result]},
            ],
        )
        return fake.captures()[-1]["message"]["messages"][-1]["text"]

    assert texts(True) == "[error]\n42"
    assert texts(False) == "42"


def test_system_text_inside_messages_keeps_its_place(app, fake):
    reply = ask(
        app,
        system="S",
        messages=[
            {"role": "user", "content": "u"},
            {"role": "system", "content": "MID"},
            {"role": "assistant", "content": "a"},
            {"role": "user", "content": "v"},
        ],
    )
    assert reply.headers["x-candor-emulated"] == "messages[1].role"
    message = fake.captures()[-1]["message"]
    assert message["system_prompt"] == "S"
    assert [(m["source"], m["text"]) for m in message["messages"]] == [
        (1, "u"),
        (1, "[system]\nMID"),
        (2, "a"),
        (1, "v"),
    ]


def test_zero_differs_from_absent(app, fake):
    ask(app)
    assert "top_k" not in fake.captures()[-1]["message"]["completion"]
    reply = ask(app, temperature=0, top_p=0, top_k=0)
    completion = fake.captures()[-1]["message"]["completion"]
    assert (completion["temperature"], completion["top_p"], completion["top_k"]) == (0.001, 0, 0)
    assert reply.headers["x-candor-emulated"] == "temperature"


@pytest.mark.parametrize("stream", [False, True])
def test_refusals_cost_no_turn(app, fake, stream):
    for fields, text in [
        ({"inference_geo": "us"}, "inference_geo: Extra inputs are not permitted"),
        (
            {"tools": [{"type": "web_search_20250305", "name": "web_search"}]},
            "tools.0.type: Extra inputs are not permitted",
        ),
        (
            {
                "messages": [
                    {"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "u"}}]}
                ]
            },
            "messages.0.content.0.source.type: Extra inputs are not permitted",
        ),
    ]:
        reply = ask(app, **fields, stream=stream)
        assert (reply.status_code, message_of(reply)) == (400, text)
    assert fake.captures() == []


@pytest.mark.parametrize(
    "headers", [{}, {"anthropic-version": "1999-01-01"}, {"anthropic-version": "2026-10-21"}]
)
def test_any_version_or_none_is_served(app, fake, headers):
    assert ask(app, headers, "/v1/messages?beta=true").status_code == 200


def test_hello_and_wrong_methods(app):
    client = app.test_client()
    assert client.head("/api/hello").status_code == 200
    reply = client.get("/v1/messages")
    assert (reply.status_code, reply.json["error"]["type"]) == (405, "invalid_request_error")
    assert reply.headers["x-should-retry"] == "false"
    assert client.post("/v1/messages/batches").json["error"]["type"] == "not_found_error"
    assert client.post("/v1/messages", data="{").json["error"]["type"] == "invalid_request_error"


def test_silence_is_filled_with_pings(make_app, fake):
    fake.queue([s.sleep(700), s.text("a"), s.finish()])
    reply = ask(make_app(CANDOR_KEEPALIVE_S="0.2"), stream=True)
    names = [line[7:] for line in reply.text.splitlines() if line.startswith("event: ")]
    assert [name for name, _ in itertools.groupby(names)] == [
        "message_start",
        "ping",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]


BETAS = "anthropic-beta:interleaved-thinking-2025-05-14, anthropic-beta:thinking-token-count-2026-05-13"
CLAUDE = [
    # fixture, sources and beginnings of the messages sent, ignored, emulated
    (
        "claude-text",
        [(1, "Say hello.\nSay hello."), (1, "[system]\nYou are a coding agent.")],
        f"{BETAS}, messages[1].content[0].cache_control, messages[1].output_config, "
        "system[1].cache_control, system[2].cache_control, tools[10].defer_loading, "
        "metadata.user_id, thinking.type, context_management, output_config.effort",
        "messages[1].role",
    ),
    (
        "claude-capmodel-text",
        [(1, "Say hello.\nSay hello."), (1, "[system]\nYou are a coding agent.")],
        f"{BETAS}, messages[1].content[0].cache_control, "
        "system[1].cache_control, system[2].cache_control, tools[10].defer_loading, "
        "metadata.user_id, thinking.type, context_management, output_config.effort",
        "messages[1].role",
    ),
    (
        "claude-tool-turn2",
        None,
        f"{BETAS}, messages[1].output_config, messages[2].content[0].type, messages[3].content[0].cache_control, "
        "system[1].cache_control, system[2].cache_control, tools[10].defer_loading, "
        "metadata.user_id, thinking.type, context_management, output_config.effort",
        "messages[1].role",
    ),
    (
        "claude-image-turn2",
        None,
        f"{BETAS}, messages[1].output_config, messages[2].content[0].type, messages[3].content[0].cache_control, "
        "system[1].cache_control, system[2].cache_control, tools[10].defer_loading, "
        "metadata.user_id, thinking.type, context_management, output_config.effort",
        "messages[1].role",
    ),
    (
        "claude-degraded-nosystemrole-text",
        None,
        f"{BETAS}, messages[0].content[8].cache_control, "
        "system[1].cache_control, system[2].cache_control, tools[10].defer_loading, "
        "metadata.user_id, thinking.type, context_management, output_config.effort",
        None,
    ),
]


@pytest.fixture
def any_model(make_app):
    return make_app(CANDOR_UNKNOWN_MODELS="forward")


def replay(app, fixture):
    request = json.loads((CLIENTS / f"{fixture}.json").read_text())
    headers = {
        name: value
        for name, value in request["headers"].items()
        if name.startswith(("anthropic-", "x-")) and name != "x-api-key"
    }
    reply = app.test_client().post(
        f"{request['path']}?{request['query']}", json=request["body"], headers=headers
    )
    return request["body"], reply


@pytest.mark.parametrize(("fixture", "messages", "ignored", "emulated"), CLAUDE)
def test_what_claude_code_sends_is_served(any_model, fake, fixture, messages, ignored, emulated):
    fake.queue([s.text("ok"), s.finish()])
    body, reply = replay(any_model, fixture)
    assert reply.status_code == 200
    assert "event: message_stop" in reply.text
    assert reply.headers["x-candor-ignored"] == ignored
    assert reply.headers.get("x-candor-emulated") == emulated
    [capture] = fake.captures()
    sent = capture["message"]
    assert sent["model"] == body["model"]
    assert sent["completion"]["max_tokens"] == body["max_tokens"]
    assert sent["system_prompt"] == "\n\n".join(block["text"] for block in body["system"])
    assert [tool["name"] for tool in sent["tools"]] == [tool["name"] for tool in body["tools"]]
    assert [json.loads(tool["parameters"]) for tool in sent["tools"]] == [
        tool["input_schema"] for tool in body["tools"]
    ]
    if messages is not None:
        assert [(m["source"], m["text"]) for m in sent["messages"]] == messages
    assert not {11, 12} & set(capture["top_level_fields"])
    assert capture["unknown_fields"] == []


def test_claude_codes_tool_loop_reaches_the_upstream_whole(any_model, fake):
    fake.queue([s.text("ok"), s.finish()])
    body, reply = replay(any_model, "claude-image-turn2")
    assert reply.data.endswith(b'data: {"type":"message_stop"}\n\n')
    sent = fake.captures()[-1]["message"]["messages"]
    assert [m["source"] for m in sent] == [1, 1, 2, 2, 4]
    call = body["messages"][2]["content"][2]
    [sent_call] = sent[3]["tool_calls"]
    assert (sent_call["id"], sent_call["name"]) == (call["id"], "Read")
    assert json.loads(sent_call["arguments_json"]) == call["input"]
    assert sent[4]["tool_call_id"] == call["id"]
    assert sent[4]["images"][0]["mime_type"] == "image/png"


def test_claude_codes_search_sub_request_is_refused_by_name(any_model, fake):
    _, reply = replay(any_model, "claude-websearch-subrequest")
    assert reply.status_code == 400
    assert message_of(reply) == "tools.0.type: Extra inputs are not permitted"
    assert fake.captures() == []


def test_a_strict_claude_code_request_is_refused_in_words_it_can_go_by(make_app, fake):
    app = make_app(CANDOR_UNKNOWN_MODELS="forward", CANDOR_HANDLING="strict")
    _, reply = replay(app, "claude-text")
    assert message_of(reply) == (
        "Unexpected value(s) `interleaved-thinking-2025-05-14`, `thinking-token-count-2026-05-13` "
        "for the `anthropic-beta` header; "
        "messages.1.content.0.cache_control: Extra inputs are not permitted; "
        "messages.1.output_config: Extra inputs are not permitted; "
        "system.1.cache_control: Extra inputs are not permitted; "
        "system.2.cache_control: Extra inputs are not permitted; "
        "tools.10.defer_loading: Extra inputs are not permitted; "
        "metadata.user_id: Extra inputs are not permitted; thinking.type: Extra inputs are not permitted; "
        "context_management: Extra inputs are not permitted; "
        "output_config.effort: Extra inputs are not permitted"
    )
    assert fake.captures() == []


def test_a_cap_above_the_models_is_refused_in_the_vendors_wording(app, fake):
    reply = ask(app, max_tokens=10_000_000)
    assert reply.status_code == 400
    assert message_of(reply).startswith("max_tokens: 10000000 > ")
    assert ", which is the maximum allowed number of output tokens for fake-echo" in message_of(reply)
    assert fake.captures() == []


def test_nothing_is_lost_on_an_upstream_that_carries_nothing(app, fake):
    reply = ask(app, model="local-echo", temperature=0.5)
    assert reply.status_code == 200
    assert reply.json["content"][0]["text"] == "hi"
    assert reply.headers["x-candor-ignored"] == "max_tokens, temperature"
    reply = ask(app, model="local-echo", tools=[TOOL])
    assert message_of(reply) == "tools: Extra inputs are not permitted"
    assert fake.captures() == []
