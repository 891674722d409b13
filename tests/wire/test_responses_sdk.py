"""Responses end to end: the official SDK with strict validation, the real app, the real fake upstream."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import openai
import pytest
import requests
from openai import OpenAI
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import BaseModel

from fake_upstream import FakeUpstream
from fake_upstream.scenarios import (
    cut,
    cut_clean,
    dribble,
    error,
    finish,
    http_error,
    one_packet,
    reasoning,
    text,
    tool_args,
    tool_call,
    usage,
)
from tests.support import strict
from tests.support.openai_sdk import TWO_CALLS, captured, sdk

PIXEL = "iVBORw0KGgo="
X = {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}
TOOLS: list[Any] = [
    {"type": "function", "name": "f", "description": "F", "parameters": X, "strict": True},
    {"type": "function", "name": "g", "parameters": None, "strict": None},
]
CALLED = [("call_a", "f", '{"x":"1"}'), ("call_b", "g", '{"y":"2"}')]


@pytest.fixture
def url(serve: Callable[..., str]) -> str:
    return serve()


@pytest.fixture
def client(url: str) -> Iterator[OpenAI]:
    with sdk(url) as made:
        yield made


def post(url: str, *, headers: dict[str, str] | None = None, **body: Any) -> requests.Response:
    request = {"model": "fake-echo", "input": "hi", **body}
    return requests.post(f"{url}/v1/responses", json=request, headers=headers, timeout=10)


def events_of(reply: requests.Response) -> list[dict[str, Any]]:
    """The events of a streamed reply, each checked: framing, name, sequence number, object."""
    assert reply.status_code == 200
    assert reply.headers["content-type"] == "text/event-stream; charset=utf-8"
    events = []
    for number, frame in enumerate(reply.text.removesuffix("\n\n").split("\n\n")):
        name, data = frame.split("\n")
        strict.check_event(ResponseStreamEvent, data[6:])
        event = json.loads(data[6:])
        assert name == f"event: {event['type']}"
        assert event["sequence_number"] == number
        events.append(event)
    return events


def sdk_stream(client: OpenAI, **keys: Any) -> list[Any]:
    """The events of a stream through the SDK, each checked strictly."""
    events = list(client.responses.create(**{"model": "fake-echo", "input": "hi", **keys}, stream=True))
    for event in events:
        strict.check_event(ResponseStreamEvent, event.to_json())
    return events


def whole(client: OpenAI, **keys: Any) -> Response:
    reply: Response = client.responses.create(**{"model": "fake-echo", "input": "hi", **keys})
    strict.check(Response, reply.to_json())
    return reply


def completed(client: OpenAI, **keys: Any) -> Response:
    response: Response = sdk_stream(client, **keys)[-1].response
    return response


BOTH = pytest.mark.parametrize("ask", [whole, completed])
Ask = Callable[..., Response]


@BOTH
def test_responses_serves_text_and_sends_the_request_on(ask: Ask, client: OpenAI, fake: FakeUpstream) -> None:
    response = ask(
        client,
        input="Hello",
        instructions="S",
        temperature=0.5,
        top_p=0.9,
        max_output_tokens=50,
        extra_body={"top_k": 40},
    )

    assert (response.output_text, response.status, response.model) == ("Hello", "completed", "fake-echo")
    assert response.usage is not None
    (sent,) = captured(fake)
    assert sent["system_prompt"] == "S"
    assert [(message["source"], message["text"]) for message in sent["messages"]] == [(1, "Hello")]
    assert sent["completion"] == {
        "mode": 1, "max_tokens": 50, "max_newlines": 128000, "temperature": 0.5, "top_k": 40, "top_p": 0.9
    }  # fmt: skip


def test_responses_streams_the_whole_ladder(url: str, fake: FakeUpstream) -> None:
    fake.queue([text("h"), text("i"), usage(fresh=20, completion=2, cache_read=80), finish()])

    reply = post(url, stream=True)

    events = events_of(reply)
    assert [event["type"].removeprefix("response.") for event in events] == [
        "created",
        "in_progress",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "completed",
    ]
    said = events[-1]["response"]["usage"]
    assert (said["input_tokens"], said["input_tokens_details"]["cached_tokens"]) == (100, 80)


@BOTH
def test_responses_runs_a_turn_with_two_interleaved_calls_and_their_results(
    ask: Ask, client: OpenAI, fake: FakeUpstream
) -> None:
    fake.queue([dribble(3), *TWO_CALLS])
    asked: list[Any] = [{"role": "developer", "content": "S"}, {"role": "user", "content": "hi"}]

    first = ask(client, model="fake-tools", input=asked, tools=TOOLS)

    calls = [item for item in first.output if item.type == "function_call"]
    assert [(call.call_id, call.name, call.arguments) for call in calls] == CALLED
    history = [
        *asked,
        *(item.to_dict() for item in first.output),
        {"type": "function_call_output", "call_id": "call_b", "output": "two"},
        {
            "type": "function_call_output",
            "call_id": "call_a",
            "output": [
                {"type": "input_text", "text": "one"},
                {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}", "detail": "auto"},
            ],
        },
    ]
    final = ask(client, model="fake-tools", input=history, tools=TOOLS)
    assert final.output_text
    sent, sent_back = captured(fake, 2)
    assert [(tool["name"], tool.get("description", ""), tool.get("strict")) for tool in sent["tools"]] == [
        ("f", "F", True),
        ("g", "", None),
    ]
    assert [
        (
            message["source"],
            message.get("text", ""),
            message.get("tool_call_id", ""),
            [(call["id"], call["name"], call["arguments_json"]) for call in message.get("tool_calls", [])],
            message.get("images", []),
        )
        for message in sent_back["messages"]
    ] == [
        (1, "hi", "", [], []),
        (2, "", "", [CALLED[0]], []),
        (2, "", "", [CALLED[1]], []),
        (4, "two", "call_b", [], []),
        (4, "one", "call_a", [], [{"base64_data": PIXEL, "mime_type": "image/png"}]),
    ]


def test_responses_helper_of_the_sdk_completes_streams(client: OpenAI, fake: FakeUpstream) -> None:
    fake.queue([reasoning("hm"), text("t"), *TWO_CALLS])
    with client.responses.stream(
        model="fake-tools",
        input="hi",
        instructions="S",
        tools=[{**TOOLS[0]}, {**TOOLS[1], "parameters": X, "strict": True}],
        reasoning={"summary": "auto"},
    ) as stream:
        deltas = [
            event.snapshot for event in stream if event.type == "response.function_call_arguments.delta"
        ]
        final = stream.get_final_response()
    assert deltas == ['{"x":', '{"x":"1"}', '{"y":', '{"y":"2"}']
    assert [item.type for item in final.output] == ["reasoning", "message", "function_call", "function_call"]
    assert final.output_text == "t"


def test_responses_passes_an_image_to_the_upstream(client: OpenAI, fake: FakeUpstream) -> None:
    parts: list[Any] = [
        {"type": "input_text", "text": "what is it?"},
        {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}", "detail": "auto"},
    ]

    whole(client, input=[{"role": "user", "content": parts}])

    (sent,) = captured(fake)
    assert sent["messages"][0]["text"] == "what is it?"
    assert sent["messages"][0]["images"] == [{"base64_data": PIXEL, "mime_type": "image/png"}]


@BOTH
def test_responses_shows_reasoning_that_is_asked_for_and_takes_its_seal_back(
    ask: Ask, serve: Callable[..., str], fake: FakeUpstream
) -> None:
    with sdk(serve(DEVIN_CONNECT_REASONING="1")) as client:
        fake.queue([reasoning("h"), reasoning("m"), text("a"), finish()])
        include = ["reasoning.encrypted_content"]
        first = ask(client, reasoning={"summary": "auto"}, include=include)

        (thought, said) = first.output
        assert thought.type == "reasoning"
        assert [part.text for part in thought.summary] == ["hm"]
        history: Any = [
            {"role": "user", "content": "hi"},
            {**thought.to_dict(), "content": None},
            said.to_dict(),
            {"role": "user", "content": "go on"},
        ]
        ask(client, input=history, include=include)
    _, sent = captured(fake, 2)
    assert [
        (message["source"], message["text"], message.get("reasoning")) for message in sent["messages"]
    ] == [
        (1, "hi", None),
        (2, "a", "hm"),
        (1, "go on", None),
    ]


def test_responses_shows_no_reasoning_unasked(url: str, fake: FakeUpstream) -> None:
    fake.queue([reasoning("hm"), text("a"), finish()], times=2)

    assert "hm" not in post(url, stream=True).text
    assert [item["type"] for item in post(url).json()["output"]] == ["message"]


PATCH = {
    "type": "custom",
    "name": "apply_patch",
    "format": {"type": "grammar", "syntax": "lark", "definition": "start: /.+/s"},
}


@BOTH
def test_responses_custom_tool_comes_back_as_a_custom_call(
    ask: Ask, client: OpenAI, fake: FakeUpstream
) -> None:
    fake.queue(
        [
            tool_call(0, "call_a", "apply_patch"),
            tool_args(0, '{"input":"*** '),
            tool_args(0, 'Begin"}'),
            finish(),
        ]
    )

    response = ask(client, input="p", tools=[PATCH], instructions="S")

    (item,) = response.output
    assert item.type == "custom_tool_call"
    assert (item.call_id, item.name, item.input) == ("call_a", "apply_patch", "*** Begin")
    offered = captured(fake)[0]["tools"][0]
    assert json.loads(offered["parameters"])["required"] == ["input"]


def test_responses_namespaced_tools_are_split_again(client: OpenAI, fake: FakeUpstream) -> None:
    tools: list[Any] = [{"type": "namespace", "name": "ns", "description": "", "tools": [TOOLS[1]]}]

    events = sdk_stream(client, model="fake-tools", tools=tools, instructions="S")

    (item,) = events[-1].response.output
    assert (item.type, item.name, item.namespace) == ("function_call", "g", "ns")
    assert [tool["name"] for tool in captured(fake)[0]["tools"]] == ["ns__g"]


class Answer(BaseModel):
    ok: bool


def test_responses_parse_of_the_sdk_is_served_and_the_missing_guarantee_named(
    url: str, fake: FakeUpstream
) -> None:
    fake.queue([text('{"ok":true}'), finish()])

    with sdk(url) as client:
        raw = client.responses.with_raw_response.parse(model="fake-echo", input="hi", text_format=Answer)

    assert raw.parse().output_parsed == Answer(ok=True)
    assert raw.headers["x-candor-emulated"] == "text.format"
    assert raw.headers["x-candor-ignored"] == "text.format.strict"
    assert '"ok"' in captured(fake)[0]["system_prompt"]


BUSY = [error("unavailable", "busy", retry_after_s=30)]
EXCEPTIONS: list[Any] = [
    ({"model": "nobody"}, [], openai.NotFoundError, 404, "model_not_found", "model"),
    ({"temperature": 3}, [], openai.BadRequestError, 400, None, "temperature"),
    ({"background": True}, [], openai.BadRequestError, 400, "unsupported_parameter", "background"),
    (
        {"previous_response_id": "resp_x"},
        [],
        openai.BadRequestError,
        400,
        "previous_response_not_found",
        "previous_response_id",
    ),
    (
        {"input": [{"type": "item_reference", "id": "rs_1"}]},
        [],
        openai.BadRequestError,
        400,
        "item_not_found",
        "input[0].id",
    ),
    (
        {"input": [{"type": "telepathy"}]},
        [],
        openai.BadRequestError,
        400,
        "invalid_value",
        "input[0].type",
    ),
    (
        {},
        [http_error(429, "resource_exhausted", "slow down")],
        openai.RateLimitError,
        429,
        "rate_limit_exceeded",
        None,
    ),
    ({}, [error("permission_denied", "no")], openai.PermissionDeniedError, 403, None, None),
    ({}, BUSY, openai.InternalServerError, 503, "capacity_exhausted", None),
    ({}, [error("internal", "oops")], openai.InternalServerError, 502, "upstream_error", None),
    ({}, [error("deadline_exceeded", "late")], openai.InternalServerError, 504, "upstream_timeout", None),
    ({}, [cut_clean()], openai.InternalServerError, 502, "upstream_truncated", None),
]


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize(("keys", "steps", "exception", "status", "code", "param"), EXCEPTIONS)
def test_responses_raises_the_sdks_own_exceptions_for_faults_before_the_first_word(
    keys: Any, steps: Any, exception: Any, status: int, code: str, param: str, streams: bool,
    client: OpenAI, fake: FakeUpstream,
) -> None:  # fmt: skip
    if steps:
        fake.queue(steps)

    with pytest.raises(exception) as caught:
        client.responses.create(**{"model": "fake-echo", "input": "hi", "stream": streams, **keys})

    fault = caught.value
    assert (fault.status_code, fault.code, fault.param) == (status, code, param)
    assert fault.request_id == fault.response.headers["x-request-id"]
    assert len(fake.captures()) == (1 if steps else 0)


@pytest.mark.parametrize(
    ("last", "code", "precise"),
    [
        (BUSY[0], "server_error", "capacity_exhausted: "),
        (error("internal", "oops"), "server_error", "upstream_error: "),
        (error("resource_exhausted", "slow down"), "rate_limit_exceeded", ""),
        (cut(), "server_error", "upstream_"),
        (cut_clean(), "server_error", "upstream_truncated: "),
    ],
)
def test_responses_ends_a_stream_that_fails_midway_with_response_failed(
    last: Any, code: str, precise: str, url: str, fake: FakeUpstream
) -> None:
    fake.queue([text("a"), last])

    *_, failed = events_of(post(url, stream=True))

    assert failed["type"] == "response.failed"
    assert failed["response"]["status"] == "failed"
    assert failed["response"]["error"]["code"] == code
    assert failed["response"]["error"]["message"].startswith(precise)


@BOTH
def test_responses_cut_by_the_cap_is_incomplete(ask: Ask, client: OpenAI, fake: FakeUpstream) -> None:
    fake.queue([text("abc"), usage(fresh=3, completion=5), finish()])

    response = ask(client, max_output_tokens=5)

    assert response.status == "incomplete"
    assert response.incomplete_details is not None
    assert response.incomplete_details.reason == "max_output_tokens"
    assert response.output_text == "abc"


def test_responses_writes_frames_of_one_packet_together(url: str, fake: FakeUpstream) -> None:
    fake.queue([one_packet(), *(text(letter) for letter in "abc"), finish()])

    deltas = [e["delta"] for e in events_of(post(url, stream=True)) if e["type"].endswith("text.delta")]

    assert deltas == ["a", "b", "c"]


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "stream"])
def test_responses_serves_parallel_false_with_a_header_and_refuses_it_under_strict(
    streams: bool, url: str, fake: FakeUpstream
) -> None:
    served = post(url, parallel_tool_calls=False, stream=streams)

    assert (served.status_code, served.headers["x-candor-ignored"]) == (200, "parallel_tool_calls")
    said = events_of(served)[-1]["response"] if streams else served.json()
    assert said["parallel_tool_calls"] is True
    assert "disable_parallel_tool_calls" not in captured(fake)[0]
    strictly = {"Prefer": "handling=strict"}
    refused = post(url, parallel_tool_calls=False, stream=streams, headers=strictly)
    told = refused.json()["error"]
    assert (refused.status_code, told["type"], told["code"], told["param"]) == (
        400,
        "invalid_request_error",
        "unsupported_parameter",
        "parallel_tool_calls",
    )
    assert "DEVIN_CONNECT_TOOL_CHOICE=1" in told["message"]
    assert refused.headers["Preference-Applied"] == "handling=strict"
    assert len(fake.captures()) == 1


@pytest.mark.parametrize(("value", "sent"), [(False, True), (True, None), (None, None)])
def test_responses_switch_on_sends_the_parallel_hint_for_false_alone(
    value: bool | None, sent: bool | None, serve: Callable[..., str], fake: FakeUpstream
) -> None:
    url = serve(DEVIN_CONNECT_TOOL_CHOICE="1")
    keys = {} if value is None else {"parallel_tool_calls": value}

    reply = post(url, tools=[{"type": "web_search_preview"}, TOOLS[1]], instructions="S", **keys)

    assert captured(fake)[0].get("disable_parallel_tool_calls") is sent
    assert reply.json()["parallel_tool_calls"] is (value is not False)
    assert reply.headers["x-candor-ignored"] == "tools[0].type"


G = {"type": "function", "name": "g"}
SUBSET = {"type": "allowed_tools", "mode": "required", "tools": [G]}


@pytest.mark.parametrize(
    ("choice", "switch", "tools", "sent_choice", "emulated", "ignored"),
    [
        ("none", "0", [], None, None, None),
        ("required", "0", ["f", "g"], None, None, "tool_choice"),
        (G, "0", ["g"], None, "tool_choice", "tool_choice"),
        (SUBSET, "0", ["g"], None, "tool_choice", "tool_choice"),
        ({**SUBSET, "mode": "auto"}, "0", ["g"], None, "tool_choice", None),
        ("auto", "1", ["f", "g"], None, None, None),
        ("none", "1", [], {"option_name": "none"}, None, None),
        ("required", "1", ["f", "g"], {"option_name": "required"}, None, None),
        (G, "1", ["f", "g"], {"option_name": "function", "tool_name": "g"}, None, None),
        (SUBSET, "1", ["g"], {"option_name": "required"}, "tool_choice", None),
        ({**SUBSET, "mode": "auto"}, "1", ["g"], None, "tool_choice", None),
    ],
)
def test_responses_tool_choice_reaches_the_wire_by_the_table(
    choice: Any, switch: str, tools: list[str], sent_choice: Any, emulated: str | None, ignored: str | None,
    serve: Callable[..., str], fake: FakeUpstream,
) -> None:  # fmt: skip
    url = serve(DEVIN_CONNECT_TOOL_CHOICE=switch)

    reply = post(url, tool_choice=choice, tools=TOOLS, instructions="S")

    (sent,) = captured(fake)
    assert [tool["name"] for tool in sent.get("tools", [])] == tools
    assert sent.get("tool_choice") == sent_choice
    assert reply.headers.get("x-candor-emulated") == emulated
    assert reply.headers.get("x-candor-ignored") == ignored


def test_responses_on_the_local_upstream_never_names_a_connect_switch(url: str, fake: FakeUpstream) -> None:
    served = post(url, model="local-echo", parallel_tool_calls=False, temperature=1)

    assert served.json()["output"][0]["content"][0]["text"] == "hi"
    assert served.headers["x-candor-ignored"] == "parallel_tool_calls, temperature"
    refused = post(url, model="local-echo", parallel_tool_calls=False, headers={"Prefer": "handling=strict"})
    assert refused.status_code == 400
    assert "CONNECT" not in refused.text
    assert fake.captures() == []


def test_responses_counts_input_tokens_without_a_turn(client: OpenAI, fake: FakeUpstream) -> None:
    little = client.responses.input_tokens.count(model="fake-echo", input="hi")
    tools = client.responses.input_tokens.count(model="fake-echo", input="hi", tools=TOOLS)
    much = client.responses.input_tokens.count(
        model="fake-echo", input="hi", tools=TOOLS, instructions="S" * 999
    )

    assert 0 < little.input_tokens < tools.input_tokens < much.input_tokens
    assert little.object == "response.input_tokens"
    assert fake.captures() == []


def test_responses_compact_is_an_explicit_404(url: str) -> None:
    reply = requests.post(f"{url}/v1/responses/compact", json={"model": "m"}, timeout=10)

    assert reply.status_code == 404
    assert reply.json()["error"]["type"] == "invalid_request_error"
    assert reply.headers["x-request-id"] == reply.headers["request-id"]


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "/v1/responses", 405), ("POST", "/v1/responses/x/y", 404)]
)
def test_responses_words_unknown_paths_and_wrong_methods(
    method: str, path: str, status: int, url: str
) -> None:
    reply = requests.request(method, url + path, timeout=10)

    assert reply.status_code == status
    assert reply.json()["error"]["type"] == "invalid_request_error"
    assert reply.headers["x-should-retry"] == "false"
