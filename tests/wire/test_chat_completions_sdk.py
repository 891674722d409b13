"""Chat completions end to end: the official SDK with strict validation, the real app, the real fake upstream."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import openai
import pytest
import requests
from openai import OpenAI
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from pydantic import BaseModel

from fake_upstream import FakeUpstream
from fake_upstream.scenarios import (
    cut,
    cut_clean,
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
HI: list[Any] = [{"role": "user", "content": "hi"}]
ASK: list[Any] = [{"role": "system", "content": "S"}, *HI]
X = {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}
TOOLS: list[Any] = [
    {"type": "function", "function": {"name": "f", "description": "F", "parameters": X}},
    {"type": "function", "function": {"name": "g"}},
]
EMPTY_SCHEMA = '{"type":"object","properties":{}}'


@pytest.fixture
def url(serve: Callable[..., str]) -> str:
    return serve()


@pytest.fixture
def client(url: str) -> Iterator[OpenAI]:
    with sdk(url) as made:
        yield made


def post(url: str, *, headers: dict[str, str] | None = None, **body: Any) -> requests.Response:
    request = {"model": "fake-echo", "messages": HI, **body}
    return requests.post(f"{url}/v1/chat/completions", json=request, headers=headers, timeout=10)


def test_chat_serves_text_whole(client: OpenAI, fake: FakeUpstream) -> None:
    reply = client.chat.completions.create(
        model="fake-echo",
        messages=[*ASK[:1], {"role": "user", "content": "Hello"}],
        temperature=0.5,
        top_p=0.9,
        max_completion_tokens=50,
        extra_body={"top_k": 40},
    )
    strict.check(ChatCompletion, reply.to_json())
    choice = reply.choices[0]
    assert (choice.message.content, choice.finish_reason, reply.model) == ("Hello", "stop", "fake-echo")
    (sent,) = captured(fake)
    assert sent["system_prompt"] == "S"
    assert [(message["source"], message["text"]) for message in sent["messages"]] == [(1, "Hello")]
    assert sent["completion"] == {
        "mode": 1, "max_tokens": 50, "max_newlines": 128000, "temperature": 0.5, "top_k": 40, "top_p": 0.9
    }  # fmt: skip
    assert sent["model"] == "fake-echo"


def test_chat_streams_text(client: OpenAI, fake: FakeUpstream) -> None:
    fake.queue([text("Hel"), text("lo"), usage(fresh=20, completion=2, cache_read=80), finish()])
    chunks = list(
        client.chat.completions.create(
            model="fake-echo", messages=HI, stream=True, stream_options={"include_usage": True}
        )
    )
    for chunk in chunks:
        strict.check(ChatCompletionChunk, chunk.to_json())
    *said, last = chunks
    assert said[0].choices[0].delta.role == "assistant"
    assert "".join(chunk.choices[0].delta.content or "" for chunk in said) == "Hello"
    assert [chunk.choices[0].finish_reason for chunk in said] == [None, None, None, "stop"]
    assert (last.choices, [chunk.usage for chunk in said]) == ([], [None] * 4)
    assert last.usage is not None
    assert (last.usage.prompt_tokens, last.usage.completion_tokens, last.usage.total_tokens) == (100, 2, 102)
    assert len({chunk.id for chunk in chunks}) == 1
    captured(fake)


def test_chat_helper_of_the_sdk_completes_a_stream(client: OpenAI, fake: FakeUpstream) -> None:
    fake.queue(TWO_CALLS)
    with client.chat.completions.stream(model="fake-tools", messages=ASK, tools=TOOLS) as stream:
        final = stream.get_final_completion()
    calls = final.choices[0].message.tool_calls or []
    assert [(call.id, call.function.arguments) for call in calls] == [
        ("call_a", '{"x":"1"}'),
        ("call_b", '{"y":"2"}'),
    ]


def streamed_calls(client: OpenAI) -> list[dict[str, str]]:
    calls: dict[int, dict[str, str]] = {}
    for chunk in client.chat.completions.create(model="fake-tools", messages=ASK, tools=TOOLS, stream=True):
        strict.check(ChatCompletionChunk, chunk.to_json())
        for fragment in chunk.choices[0].delta.tool_calls or ():
            assert fragment.function is not None
            if fragment.id:
                calls[fragment.index] = {
                    "id": fragment.id,
                    "name": fragment.function.name or "",
                    "arguments": "",
                }
            calls[fragment.index]["arguments"] += fragment.function.arguments or ""
    return list(calls.values())


def whole_calls(client: OpenAI) -> list[dict[str, str]]:
    reply = client.chat.completions.create(model="fake-tools", messages=ASK, tools=TOOLS)
    strict.check(ChatCompletion, reply.to_json())
    assert reply.choices[0].finish_reason == "tool_calls"
    return [
        {"id": call.id, "name": call.function.name, "arguments": call.function.arguments}
        for call in reply.choices[0].message.tool_calls or ()
        if call.type == "function"
    ]


@pytest.mark.parametrize("ask", [streamed_calls, whole_calls])
def test_chat_runs_a_turn_with_two_interleaved_calls_and_their_results(
    ask: Callable[[OpenAI], list[dict[str, str]]], client: OpenAI, fake: FakeUpstream
) -> None:
    fake.queue(TWO_CALLS)
    calls = ask(client)
    assert calls == [
        {"id": "call_a", "name": "f", "arguments": '{"x":"1"}'},
        {"id": "call_b", "name": "g", "arguments": '{"y":"2"}'},
    ]
    made: list[Any] = [
        {
            "id": call["id"],
            "type": "function",
            "function": {"name": call["name"], "arguments": call["arguments"]},
        }
        for call in calls
    ]
    history: list[Any] = [
        *ASK,
        {"role": "assistant", "content": None, "tool_calls": made},
        {"role": "tool", "tool_call_id": "call_b", "content": "two"},
        {"role": "tool", "tool_call_id": "call_a", "content": [{"type": "text", "text": "one"}]},
    ]
    final = client.chat.completions.create(model="fake-tools", messages=history, tools=TOOLS)
    assert final.choices[0].finish_reason == "stop"
    assert final.choices[0].message.content
    first, second = captured(fake, 2)
    assert [(tool["name"], tool.get("description", ""), tool["parameters"]) for tool in first["tools"]] == [
        ("f", "F", json.dumps(X, separators=(",", ":"))),
        ("g", "", EMPTY_SCHEMA),
    ]
    assert [
        (
            message["source"],
            message.get("text", ""),
            message.get("tool_call_id", ""),
            [(call["id"], call["name"], call["arguments_json"]) for call in message.get("tool_calls", [])],
        )
        for message in second["messages"]
    ] == [
        (1, "hi", "", []),
        (2, "", "", [("call_a", "f", '{"x":"1"}')]),
        (2, "", "", [("call_b", "g", '{"y":"2"}')]),
        (4, "two", "call_b", []),
        (4, "one", "call_a", []),
    ]


def test_chat_passes_an_image_to_the_upstream(client: OpenAI, fake: FakeUpstream) -> None:
    parts: list[Any] = [
        {"type": "text", "text": "what is it?"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}},
    ]
    client.chat.completions.create(model="fake-echo", messages=[{"role": "user", "content": parts}])
    (sent,) = captured(fake)
    assert sent["messages"][0]["text"] == "what is it?"
    assert sent["messages"][0]["images"] == [{"base64_data": PIXEL, "mime_type": "image/png"}]


def test_chat_hands_out_reasoning_as_reasoning_content(client: OpenAI, fake: FakeUpstream) -> None:
    steps = [reasoning("h"), reasoning("m"), text("a"), finish()]
    fake.queue(steps, times=2)
    reply = client.chat.completions.create(model="fake-reasoning", messages=HI)
    assert reply.choices[0].message.to_dict()["reasoning_content"] == "hm"
    chunks = client.chat.completions.create(model="fake-reasoning", messages=HI, stream=True)
    deltas = [chunk.choices[0].delta.to_dict() for chunk in chunks]
    assert "".join(delta.get("reasoning_content") or "" for delta in deltas) == "hm"  # type: ignore[misc]
    captured(fake, 2)


def test_chat_hands_out_no_reasoning_to_who_wants_none(url: str, fake: FakeUpstream) -> None:
    fake.queue([reasoning("hm"), text("a"), finish()], times=2)
    whole = post(url, reasoning_effort="none")
    streamed = post(url, reasoning_effort="none", stream=True)
    assert "reasoning_content" not in whole.text + streamed.text
    assert whole.headers["x-candor-ignored"] == "reasoning_effort"


def test_chat_answers_legacy_functions_in_their_shape(client: OpenAI, fake: FakeUpstream) -> None:
    fake.queue(TWO_CALLS, times=2)
    functions: Any = [{"name": "f", "parameters": X}, {"name": "g"}]
    reply = client.chat.completions.create(model="fake-tools", messages=ASK, functions=functions)
    called = reply.choices[0].message.function_call
    assert called is not None
    assert (called.name, called.arguments, reply.choices[0].finish_reason) == (
        "f",
        '{"x":"1"}',
        "function_call",
    )
    name, arguments, reasons = "", "", []
    for chunk in client.chat.completions.create(
        model="fake-tools", messages=ASK, functions=functions, stream=True
    ):
        legacy = chunk.choices[0].delta.function_call
        reasons.append(chunk.choices[0].finish_reason)
        name += (legacy.name or "") if legacy else ""
        arguments += (legacy.arguments or "") if legacy else ""
    assert (name, arguments, reasons[-1]) == ("f", '{"x":"1"}', "function_call")
    assert [tool["name"] for tool in captured(fake, 2)[0]["tools"]] == ["f", "g"]


def test_chat_sends_a_legacy_result_back_to_its_call(client: OpenAI, fake: FakeUpstream) -> None:
    history: Any = [
        *ASK,
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": '{"x":"1"}'}},
        {"role": "function", "name": "f", "content": "one"},
    ]
    client.chat.completions.create(model="fake-tools", messages=history, functions=[{"name": "f"}])
    (sent,) = captured(fake)
    (call,) = sent["messages"][1]["tool_calls"]
    assert (call["name"], call["arguments_json"]) == ("f", '{"x":"1"}')
    assert (sent["messages"][2]["tool_call_id"], sent["messages"][2]["text"]) == (call["id"], "one")


def test_chat_unwraps_the_call_of_a_custom_tool(client: OpenAI, fake: FakeUpstream) -> None:
    fake.queue([tool_call(0, "call_a", "c"), tool_args(0, '{"input":"say '), tool_args(0, 'hi"}'), finish()])
    tools: Any = [{"type": "custom", "custom": {"name": "c", "description": "C"}}]
    reply = client.chat.completions.create(model="fake-tools", messages=ASK, tools=tools)
    strict.check(ChatCompletion, reply.to_json())
    (call,) = reply.choices[0].message.tool_calls or ()
    assert call.type == "custom"
    assert (call.custom.name, call.custom.input) == ("c", "say hi")
    offered = json.loads(captured(fake)[0]["tools"][0]["parameters"])
    assert offered["properties"] == {"input": {"type": "string"}}


class Answer(BaseModel):
    ok: bool


def test_chat_parse_of_the_sdk_is_served_and_the_missing_guarantee_named(
    url: str, fake: FakeUpstream
) -> None:
    fake.queue([text('{"ok":true}'), finish()])
    with sdk(url) as client:
        raw = client.chat.completions.with_raw_response.parse(
            model="fake-echo", messages=HI, response_format=Answer
        )
    assert raw.parse().choices[0].message.parsed == Answer(ok=True)
    assert raw.headers["x-candor-emulated"] == "response_format"
    assert raw.headers["x-candor-ignored"] == "response_format.json_schema.strict"
    assert '"ok"' in captured(fake)[0]["system_prompt"]


EXCEPTIONS = [
    ({"model": "nobody"}, [], openai.NotFoundError, 404, "model_not_found", "model"),
    ({"temperature": 3}, [], openai.BadRequestError, 400, None, "temperature"),
    ({"n": 2}, [], openai.BadRequestError, 400, "unsupported_parameter", "n"),
    (
        {},
        [http_error(429, "resource_exhausted", "slow down")],
        openai.RateLimitError,
        429,
        "rate_limit_exceeded",
        None,
    ),
    ({}, [error("resource_exhausted", "slow down")], openai.RateLimitError, 429, "rate_limit_exceeded", None),
    ({}, [error("permission_denied", "no")], openai.PermissionDeniedError, 403, None, None),
    ({}, [error("unavailable", "busy")], openai.InternalServerError, 503, "capacity_exhausted", None),
    ({}, [error("internal", "oops")], openai.InternalServerError, 502, "upstream_error", None),
    ({}, [error("deadline_exceeded", "late")], openai.InternalServerError, 504, "upstream_timeout", None),
    ({}, [cut_clean()], openai.InternalServerError, 502, "upstream_truncated", None),
]


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize(("keys", "steps", "exception", "status", "code", "param"), EXCEPTIONS)
def test_chat_raises_the_sdks_own_exceptions_for_faults_before_the_first_word(
    keys: Any, steps: Any, exception: Any, status: int, code: str, param: str, streams: bool,
    client: OpenAI, fake: FakeUpstream,
) -> None:  # fmt: skip
    if steps:
        fake.queue(steps)
    with pytest.raises(exception) as caught:
        client.chat.completions.create(**{"model": "fake-echo", "messages": HI, "stream": streams, **keys})
    fault = caught.value
    assert (fault.status_code, fault.code, fault.param) == (status, code, param)
    assert fault.request_id == fault.response.headers["x-request-id"]
    assert len(fake.captures()) == (1 if steps else 0)


@pytest.mark.parametrize(
    ("last", "code"),
    [
        (error("unavailable", "busy"), "capacity_exhausted"),
        (error("internal", "oops"), "upstream_error"),
        (cut(), None),
        (cut_clean(), "upstream_truncated"),
    ],
)
def test_chat_ends_a_stream_that_fails_midway_with_the_fault(
    last: Any, code: str | None, url: str, client: OpenAI, fake: FakeUpstream
) -> None:
    fake.queue([text("a"), last], times=2)
    chunks = client.chat.completions.create(model="fake-echo", messages=HI, stream=True)
    said = [next(chunks).choices[0].delta.content for _ in range(2)]
    assert said == [None, "a"]
    with pytest.raises(openai.APIError) as caught:
        next(chunks)
    assert caught.value.code == code or code is None
    reply = post(url, stream=True)
    *frames, fault = [json.loads(frame[6:]) for frame in reply.text.strip().split("\n\n")]
    assert reply.status_code == 200
    assert fault.keys() == {"error"}
    assert all(frame["choices"][0]["finish_reason"] is None for frame in frames)


def test_chat_cuts_at_a_stop_string_across_frames(url: str, fake: FakeUpstream) -> None:
    fake.queue([text("aEN"), text("Db"), text("c"), finish()], times=2)
    whole = post(url, stop="END").json()["choices"][0]
    assert (whole["message"]["content"], whole["finish_reason"]) == ("a", "stop")
    streamed = post(url, stop=["END", "zz"], stream=True)
    chunks = [json.loads(frame[6:]) for frame in streamed.text.split("\n\n")[:-2]]
    assert "".join(chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks) == "a"
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"
    assert "x-candor-emulated" not in streamed.headers


def test_chat_writes_frames_of_one_packet_together(url: str, fake: FakeUpstream) -> None:
    fake.queue([one_packet(), *(text(letter) for letter in "abc"), finish()])
    assert post(url, stream=True).text.count('"content":"') == 3


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "stream"])
def test_chat_serves_parallel_false_with_a_header_and_refuses_it_under_strict(
    streams: bool, url: str, fake: FakeUpstream
) -> None:
    served = post(url, parallel_tool_calls=False, stream=streams)
    assert (served.status_code, served.headers["x-candor-ignored"]) == (200, "parallel_tool_calls")
    assert "disable_parallel_tool_calls" not in captured(fake)[0]
    strictly = {"Prefer": "handling=strict"}
    refused = post(url, parallel_tool_calls=False, stream=streams, headers=strictly)
    told = refused.json()["error"]
    assert (refused.status_code, told["code"], told["param"]) == (
        400,
        "unsupported_parameter",
        "parallel_tool_calls",
    )
    assert "DEVIN_CONNECT_TOOL_CHOICE=1" in told["message"]
    assert refused.headers["Preference-Applied"] == "handling=strict"
    assert len(fake.captures()) == 1


def test_chat_on_the_local_upstream_never_names_a_connect_switch(url: str, fake: FakeUpstream) -> None:
    served = post(url, model="local-echo", parallel_tool_calls=False, temperature=1)
    assert served.json()["choices"][0]["message"]["content"] == "hi"
    assert served.headers["x-candor-ignored"] == "parallel_tool_calls, temperature"
    strictly = {"Prefer": "handling=strict"}
    refused = post(url, model="local-echo", parallel_tool_calls=False, headers=strictly)
    assert refused.status_code == 400
    assert "CONNECT" not in refused.text
    assert fake.captures() == []


ALLOWED = {"mode": "required", "tools": [TOOLS[1]]}
NAMED = {"type": "function", "function": {"name": "g"}}
SUBSET = {"type": "allowed_tools", "allowed_tools": ALLOWED}


@pytest.mark.parametrize(
    ("choice", "switch", "tools", "sent_choice", "emulated", "ignored"),
    [
        (None, "0", ["f", "g"], None, None, None),
        ("auto", "1", ["f", "g"], None, None, None),
        ("none", "0", [], None, None, None),
        ("none", "1", [], {"option_name": "none"}, None, None),
        ("required", "0", ["f", "g"], None, None, "tool_choice"),
        ("required", "1", ["f", "g"], {"option_name": "required"}, None, None),
        (NAMED, "0", ["g"], None, "tool_choice", "tool_choice"),
        (NAMED, "1", ["f", "g"], {"option_name": "function", "tool_name": "g"}, None, None),
        (SUBSET, "0", ["g"], None, "tool_choice", "tool_choice"),
        (SUBSET, "1", ["g"], {"option_name": "required"}, "tool_choice", None),
    ],
)
def test_chat_carries_a_tool_choice_as_far_as_the_upstream_can(
    choice: Any, switch: str, tools: list[str], sent_choice: Any, emulated: str, ignored: str,
    serve: Callable[..., str], fake: FakeUpstream,
) -> None:  # fmt: skip
    url = serve(DEVIN_CONNECT_TOOL_CHOICE=switch)
    fake.queue([text("a"), finish()])
    keys = {} if choice is None else {"tool_choice": choice}
    served = post(url, messages=ASK, tools=TOOLS, **keys)
    assert served.status_code == 200
    (sent,) = captured(fake)
    assert [tool["name"] for tool in sent.get("tools", [])] == tools
    assert {key: value for key, value in sent.get("tool_choice", {}).items() if value} == (sent_choice or {})
    assert served.headers.get("x-candor-emulated") == emulated
    assert served.headers.get("x-candor-ignored") == ignored


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "stream"])
def test_chat_takes_a_call_in_spite_of_none_for_an_upstream_fault(
    streams: bool, url: str, fake: FakeUpstream
) -> None:
    fake.queue([tool_call(0, "call_a", "f"), tool_args(0, "{}"), finish()])
    reply = post(url, messages=ASK, tools=TOOLS, tool_choice="none", stream=streams)
    assert (reply.status_code, reply.json()["error"]["code"]) == (502, "upstream_error")


def test_chat_takes_a_cap_above_the_models_for_a_fault_that_names_the_field(
    url: str, fake: FakeUpstream
) -> None:
    reply = post(url, max_tokens=10_000_000)
    assert (reply.status_code, reply.json()["error"]["param"]) == (400, "max_tokens")
    assert fake.captures() == []


def test_chat_says_when_the_cap_cut_a_call(url: str, fake: FakeUpstream) -> None:
    steps = [tool_call(0, "call_a", "f"), tool_args(0, '{"x":'), usage(fresh=5, completion=7), finish()]
    fake.queue(steps, times=2)
    whole = post(url, messages=ASK, tools=TOOLS, max_tokens=7)
    assert whole.json()["choices"][0]["finish_reason"] == "length"
    streamed = post(url, messages=ASK, tools=TOOLS, max_tokens=7, stream=True)
    assert '"finish_reason":"length"' in streamed.text
    assert whole.json()["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] == '{"x":'


@pytest.mark.parametrize(("method", "path"), [("PUT", "/v1/chat/completions"), ("POST", "/v1/chat/nothing")])
def test_chat_answers_wrong_methods_and_paths_in_its_own_words(method: str, path: str, url: str) -> None:
    reply = requests.request(method, url + path, timeout=10)
    assert reply.status_code in (404, 405)
    assert reply.json()["error"].keys() == {"message", "type", "param", "code"}
    assert reply.headers["x-should-retry"] == "false"
