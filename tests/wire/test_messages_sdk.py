"""Messages end to end: the official SDK with strict validation, the real app, bytes that a real server parsed."""

from __future__ import annotations

import json

import anthropic
import pydantic
import pytest

from fake_upstream import scenarios as s

TOOLS = [
    {
        "name": name,
        "description": f"does {name}",
        "input_schema": {"type": "object", "properties": {"x": {"type": "string"}}},
    }
    for name in ("f", "g")
]
INTERLEAVED = [
    s.text("Both."),
    s.tool_call(0, "call_a", "f"),
    s.tool_call(1, "call_b", "g"),
    s.tool_args(0, '{"x":', id="call_a"),
    s.tool_args(1, '{"x":', id="call_b"),
    s.tool_args(0, '"1"}', id="call_a"),
    s.tool_args(1, '"2"}', id="call_b"),
    s.usage(fresh=20, completion=7, cache_read=80, cache_write=5),
    s.finish(),
]
ASK = {"model": "fake-tools", "max_tokens": 100, "messages": [{"role": "user", "content": "hi"}]}


@pytest.fixture
def client(serve):
    with anthropic.Anthropic(
        base_url=serve(), api_key="any", max_retries=0, _strict_response_validation=True
    ) as client:
        yield client


def said(message):
    """The content of a message without what only the vendor fills in."""
    return [block.model_dump(exclude={"citations", "caller", "toolset_name"}) for block in message.content]


def test_text(client, fake):
    message = client.messages.create(**{**ASK, "model": "fake-echo"}, system="S")
    assert said(message) == [{"type": "text", "text": "hi"}]
    assert (message.stop_reason, message.model, message.role) == ("end_turn", "fake-echo", "assistant")
    [capture] = fake.captures()
    assert capture["message"]["system_prompt"] == "S"
    assert [(m["source"], m["text"]) for m in capture["message"]["messages"]] == [(1, "hi")]
    assert capture["message"]["completion"]["max_tokens"] == 100
    assert capture["unknown_fields"] == []


def test_streamed_text(client, fake):
    fake.queue([s.text("a"), s.text("b"), s.usage(fresh=3, completion=2), s.finish()])
    with client.messages.stream(**ASK) as stream:
        assert list(stream.text_stream) == ["a", "b"]
        final = stream.get_final_message()
    assert final.stop_reason == "end_turn"
    assert (final.usage.input_tokens, final.usage.output_tokens) == (3, 2)


def test_raw_stream_has_every_event_in_order(client, fake):
    fake.queue([s.text("a"), s.usage(fresh=3, completion=2), s.finish()])
    types = [event.type for event in client.messages.create(**ASK, stream=True)]
    assert types == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]


@pytest.mark.parametrize("streamed", [False, True])
def test_two_parallel_calls_with_interleaved_fragments_and_their_results(client, fake, streamed):
    fake.queue(INTERLEAVED)
    if streamed:
        with client.messages.stream(**ASK, tools=TOOLS) as stream:
            message = stream.get_final_message()
    else:
        message = client.messages.create(**ASK, tools=TOOLS)
    assert message.stop_reason == "tool_use"
    assert said(message) == [
        {"type": "text", "text": "Both."},
        {"type": "tool_use", "id": "call_a", "name": "f", "input": {"x": "1"}},
        {"type": "tool_use", "id": "call_b", "name": "g", "input": {"x": "2"}},
    ]
    usage = message.usage
    assert (usage.input_tokens, usage.cache_read_input_tokens, usage.cache_creation_input_tokens) == (
        20,
        80,
        5,
    )
    assert usage.output_tokens == 7

    fake.queue([s.text("done"), s.finish()])
    results = [
        {"type": "tool_result", "tool_use_id": "call_b", "content": "two"},
        {"type": "tool_result", "tool_use_id": "call_a", "content": "one", "is_error": True},
    ]
    replayed = [block.model_dump(exclude_none=True) for block in message.content]
    history = [
        *ASK["messages"],
        {"role": "assistant", "content": replayed},
        {"role": "user", "content": results},
    ]
    final = client.messages.create(**{**ASK, "messages": history}, tools=TOOLS)
    assert said(final) == [{"type": "text", "text": "done"}]
    sent = fake.captures()[-1]["message"]["messages"]
    assert [m["source"] for m in sent] == [1, 2, 2, 2, 4, 4]
    assert [(m["tool_call_id"], m["text"]) for m in sent[4:]] == [
        ("call_b", "two"),
        ("call_a", "[error]\none"),
    ]
    assert sent[2]["tool_calls"] == [{"id": "call_a", "name": "f", "arguments_json": '{"x":"1"}'}]


def test_images_in_messages_and_in_results_reach_the_upstream(client, fake):
    fake.queue([s.text("ok"), s.finish()])
    image = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
    }
    call = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
    client.messages.create(
        **{
            **ASK,
            "messages": [
                {"role": "user", "content": [image, {"type": "text", "text": "look"}]},
                {"role": "assistant", "content": [call]},
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "a",
                            "content": [{"type": "text", "text": "pic"}, image],
                        }
                    ],
                },
            ],
        },
        tools=TOOLS,
    )
    sent = fake.captures()[-1]["message"]["messages"]
    expected = [{"base64_data": "iVBORw0KGgo=", "mime_type": "image/png"}]
    assert (sent[0]["text"], sent[0]["images"]) == ("look", expected)
    assert (sent[2]["text"], sent[2]["images"]) == ("pic", expected)


THOUGHT = [s.reasoning("h"), s.reasoning("m"), s.text("so"), s.finish()]


@pytest.mark.parametrize("streamed", [False, True])
def test_thinking_is_shown_sealed_when_asked_for(client, fake, streamed):
    fake.queue(THOUGHT)
    asked = {**ASK, "thinking": {"type": "adaptive"}}
    if streamed:
        with client.messages.stream(**asked) as stream:
            message = stream.get_final_message()
    else:
        message = client.messages.create(**asked)
    thinking, text = message.content
    assert (thinking.type, thinking.thinking) == ("thinking", "hm")
    assert thinking.signature.startswith("cs1.")
    assert text.text == "so"


@pytest.mark.parametrize("thinking", [{"type": "disabled"}, {"type": "adaptive", "display": "omitted"}])
def test_thinking_is_not_shown_otherwise(client, fake, thinking):
    for asked in ({**ASK, "thinking": thinking}, ASK):
        fake.queue(THOUGHT)
        assert said(client.messages.create(**asked)) == [{"type": "text", "text": "so"}]


def test_our_own_thinking_goes_back_upstream_when_its_switch_is_on(serve, fake):
    client = anthropic.Anthropic(
        base_url=serve(DEVIN_CONNECT_REASONING="1"), api_key="any", _strict_response_validation=True
    )
    fake.queue(THOUGHT)
    first = client.messages.create(**ASK, thinking={"type": "adaptive"})
    replayed = [block.model_dump(exclude_none=True) for block in first.content]
    fake.queue([s.text("ok"), s.finish()])
    history = [
        *ASK["messages"],
        {"role": "assistant", "content": replayed},
        {"role": "user", "content": "go"},
    ]
    reply = client.messages.with_raw_response.create(**{**ASK, "messages": history})
    assert "x-candor-ignored" not in reply.headers
    sent = fake.captures()[-1]["message"]["messages"]
    assert [(m["source"], m.get("text", ""), m.get("reasoning", "")) for m in sent] == [
        (1, "hi", ""),
        (2, "so", "hm"),
        (1, "go", ""),
    ]
    client.close()


def test_a_stop_sequence_is_cut_and_reported(client, fake):
    fake.queue([s.text("aEN"), s.text("Db"), s.finish()])
    message = client.messages.create(**ASK, stop_sequences=["END"])
    assert said(message) == [{"type": "text", "text": "a"}]
    assert (message.stop_reason, message.stop_sequence) == ("stop_sequence", "END")


@pytest.mark.parametrize("streamed", [False, True])
def test_a_turn_cut_by_the_token_cap_says_so(client, fake, streamed):
    fake.queue(
        [s.tool_call(0, "a", "f"), s.tool_args(0, '{"x":'), s.usage(fresh=1, completion=100), s.finish()]
    )
    if streamed:
        with client.messages.stream(**ASK, tools=TOOLS) as stream:
            message = stream.get_final_message()
    else:
        message = client.messages.create(**ASK, tools=TOOLS)
    assert message.stop_reason == "max_tokens"


def test_structured_output_is_described_and_said_to_be_no_guarantee(client, fake):
    fake.queue([s.text('{"ok":true}'), s.finish()])
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
    reply = client.messages.with_raw_response.create(
        **ASK, output_config={"format": {"type": "json_schema", "schema": schema}}
    )
    assert reply.headers["x-candor-emulated"] == "output_config.format"
    assert reply.headers["x-candor-ignored"] == "output_config.format.type"
    assert '"ok":{"type":"boolean"}' in fake.captures()[-1]["message"]["system_prompt"]


@pytest.mark.parametrize(
    ("step", "error", "status", "type_"),
    [
        (
            s.http_error(429, "resource_exhausted", "slow down"),
            anthropic.RateLimitError,
            429,
            "rate_limit_error",
        ),
        (s.error("resource_exhausted", "slow down"), anthropic.RateLimitError, 429, "rate_limit_error"),
        (s.error("unavailable", "busy"), anthropic.OverloadedError, 529, "overloaded_error"),
        (s.error("deadline_exceeded", "late"), anthropic.InternalServerError, 504, "timeout_error"),
        (s.error("internal", "broken"), anthropic.InternalServerError, 502, "api_error"),
        (s.error("permission_denied", "no"), anthropic.PermissionDeniedError, 403, "permission_error"),
        (s.error("not_found", "no"), anthropic.NotFoundError, 404, "not_found_error"),
        (s.error("invalid_argument", "no"), anthropic.BadRequestError, 400, "invalid_request_error"),
        (s.cut(), anthropic.InternalServerError, 502, "api_error"),
        (s.cut_clean(), anthropic.InternalServerError, 502, "api_error"),
    ],
)
@pytest.mark.parametrize("streamed", [False, True])
def test_faults_before_the_first_word_are_real_statuses(client, fake, step, error, status, type_, streamed):
    fake.queue([step])
    with pytest.raises(error) as caught:
        client.messages.create(**ASK, stream=streamed)
    assert caught.value.status_code == status
    assert caught.value.body["error"]["type"] == type_
    assert caught.value.request_id == caught.value.body["request_id"]


def test_a_fault_in_the_stream_is_an_error_event(client, fake):
    fake.queue([s.text("a"), s.error("unavailable", "busy")])
    with pytest.raises(anthropic.APIStatusError) as caught, client.messages.stream(**ASK) as stream:
        list(stream)
    assert caught.value.body["error"]["type"] == "overloaded_error"


@pytest.mark.parametrize("streamed", [False, True])
def test_arguments_that_do_not_parse_fail_the_turn(client, fake, streamed):
    fake.queue([s.tool_call(0, "a", "f"), s.tool_args(0, '{"x": "unterm'), s.finish()])
    with pytest.raises(anthropic.APIStatusError) as caught:
        list(client.messages.create(**ASK, tools=TOOLS, stream=streamed))
    assert caught.value.body["error"] == {
        "type": "api_error",
        "message": "the arguments of the call to 'f' are not a JSON object",
    }


def test_counting_tokens_grows_with_system_and_tools(client, fake):
    def count(**fields):
        asked = {"model": "fake-echo", "messages": [{"role": "user", "content": "hi"}], **fields}
        return client.messages.count_tokens(**asked).input_tokens

    plain = count()
    assert plain > 0
    assert count(system="S" * 1000) >= plain + 250
    assert count(tools=TOOLS) > plain
    assert fake.captures() == []


def test_an_unknown_model_is_not_found(client, fake):
    with pytest.raises(anthropic.NotFoundError) as caught:
        client.messages.create(**{**ASK, "model": "nobody"})
    assert caught.value.body["error"]["type"] == "not_found_error"
    assert fake.captures() == []


@pytest.mark.parametrize("streamed", [False, True])
def test_the_beta_client_with_context_management(client, fake, streamed):
    fake.queue([s.text("a"), s.usage(fresh=3, completion=2), s.finish()])
    asked = {
        **ASK,
        "betas": ["context-management-2025-06-27"],
        "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
    }
    if streamed:
        with client.beta.messages.stream(**asked) as stream:
            message = stream.get_final_message()
    else:
        message = client.beta.messages.create(**asked)
    assert message.content[0].text == "a"
    assert message.context_management.applied_edits == []


def test_the_parsing_helper(client, fake):
    class Answer(pydantic.BaseModel):
        ok: bool

    fake.queue([s.text('{"ok":true}'), s.finish()])
    message = client.messages.parse(**ASK, output_format=Answer)
    assert message.parsed_output == Answer(ok=True)


def test_the_vendors_client_tools_reach_the_upstream_with_their_schema(client, fake):
    fake.queue([s.tool_call(0, "a", "bash"), s.tool_args(0, '{"command":"ls"}'), s.finish()])
    message = client.messages.create(**ASK, tools=[{"type": "bash_20250124", "name": "bash"}])
    assert said(message) == [{"type": "tool_use", "id": "a", "name": "bash", "input": {"command": "ls"}}]
    [tool] = fake.captures()[-1]["message"]["tools"]
    assert tool["name"] == "bash"
    assert json.loads(tool["parameters"])["properties"]["command"] == {"type": "string"}
