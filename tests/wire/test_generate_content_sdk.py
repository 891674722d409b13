"""generate_content with the official SDK, google-genai, against the served app."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from google import genai
from google.genai import errors, types

from fake_upstream import FakeUpstream
from fake_upstream import scenarios as s

PNG = b"\x89PNG\r\n\x1a\n\xfb\xff"


@pytest.fixture(params=["v1", "v1beta"])
def sdk(request: pytest.FixtureRequest, serve: Callable[..., str], fake: FakeUpstream) -> genai.Client:
    return genai.Client(
        api_key="k",
        http_options=types.HttpOptions(base_url=serve(), api_version=request.param),
    )


def declared(*names: str) -> list[Any]:
    return [
        types.Tool(
            function_declarations=[
                types.FunctionDeclaration(
                    name=name,
                    description="d",
                    parameters=types.Schema(
                        type=types.Type.OBJECT, properties={"x": types.Schema(type=types.Type.STRING)}
                    ),
                )
                for name in names
            ]
        )
    ]


def ask(sdk: genai.Client, stream: bool, **request: Any) -> list[types.GenerateContentResponse]:
    """Every chunk of a reply; a whole reply is one."""
    if stream:
        return list(sdk.models.generate_content_stream(**request))
    return [sdk.models.generate_content(**request)]


NO_AUTO = types.AutomaticFunctionCallingConfig(disable=True)


def test_generate_content_sdk_gets_text(sdk: genai.Client, fake: FakeUpstream) -> None:
    fake.queue([s.text("hello"), s.usage(10, 3, 5), s.finish()])
    reply = sdk.models.generate_content(model="fake-echo", contents="hi")
    assert reply.text == "hello"
    assert reply.candidates is not None
    assert reply.candidates[0].finish_reason is types.FinishReason.STOP
    assert reply.usage_metadata is not None
    assert reply.usage_metadata.total_token_count == 18
    assert reply.usage_metadata.cached_content_token_count == 5
    assert reply.model_version == "fake-echo"
    assert reply.response_id


def test_generate_content_sdk_streams_text(sdk: genai.Client, fake: FakeUpstream) -> None:
    fake.queue([s.text("a"), s.text("b"), s.finish()])
    told = list(sdk.models.generate_content_stream(model="fake-echo", contents="hi"))
    assert "".join(chunk.text or "" for chunk in told) == "ab"
    assert told[-1].candidates is not None
    assert told[-1].candidates[0].finish_reason is types.FinishReason.STOP


def test_generate_content_sdk_survives_keepalives(serve: Callable[..., str], fake: FakeUpstream) -> None:
    client = genai.Client(
        api_key="k", http_options=types.HttpOptions(base_url=serve(CANDOR_KEEPALIVE_S="0.1"))
    )
    fake.queue([s.sleep(350), s.text("a"), s.sleep(250), s.text("b"), s.finish()])
    told = list(client.models.generate_content_stream(model="fake-echo", contents="hi"))
    assert "".join(chunk.text or "" for chunk in told) == "ab"


@pytest.mark.parametrize("stream", [False, True])
def test_generate_content_sdk_runs_parallel_calls_and_sends_results(
    sdk: genai.Client, fake: FakeUpstream, stream: bool
) -> None:
    fake.queue(
        [
            s.tool_call(0, "a", "f"),
            s.tool_call(1, "b", "g"),
            s.tool_args(0, '{"x":'),
            s.tool_args(1, '{"x":'),
            s.tool_args(0, '"1"}'),
            s.tool_args(1, '"2"}'),
            s.finish(),
        ]
    )
    config = types.GenerateContentConfig(
        system_instruction="S", tools=declared("f", "g"), automatic_function_calling=NO_AUTO
    )
    contents: list[Any] = [types.Content(role="user", parts=[types.Part(text="hi")])]
    told = ask(sdk, stream, model="fake-echo", contents=contents, config=config)
    calls = [call for each in told for call in each.function_calls or []]
    assert [(call.id, call.name, call.args) for call in calls] == [
        ("a", "f", {"x": "1"}),
        ("b", "g", {"x": "2"}),
    ]
    contents += [each.candidates[0].content for each in told if each.candidates]
    contents.append(
        types.Content(
            role="user",
            parts=[
                types.Part(
                    function_response=types.FunctionResponse(
                        id=call.id, name=call.name, response={"output": call.name}
                    )
                )
                for call in calls
            ],
        )
    )
    fake.clear()
    fake.queue([s.text("done"), s.finish()])
    assert ask(sdk, False, model="fake-echo", contents=contents, config=config)[0].text == "done"
    sent = fake.captures()[0]["message"]["messages"]
    assert [(each["tool_call_id"], each["text"]) for each in sent if each["source"] == 4] == [
        ("a", '{"output":"f"}'),
        ("b", '{"output":"g"}'),
    ]


def test_generate_content_sdk_calls_functions_by_itself(sdk: genai.Client, fake: FakeUpstream) -> None:
    def weather(city: str) -> str:
        """The weather."""
        return f"sun in {city}"

    fake.queue([s.tool_call(0, "a", "weather"), s.tool_args(0, '{"city":"Rome"}'), s.finish()])
    fake.queue([s.text("nice"), s.finish()])
    reply = sdk.models.generate_content(
        model="fake-echo",
        contents="hi",
        config=types.GenerateContentConfig(system_instruction="S", tools=[weather]),
    )
    assert reply.text == "nice"
    sent = fake.captures()[-1]["message"]["messages"]
    assert sent[-1]["text"] == '{"result":"sun in Rome"}'


def test_generate_content_sdk_chat_keeps_its_history(sdk: genai.Client, fake: FakeUpstream) -> None:
    chat = sdk.chats.create(
        model="fake-echo",
        config=types.GenerateContentConfig(thinking_config=types.ThinkingConfig(include_thoughts=True)),
    )
    fake.queue([s.reasoning("hm"), s.text("one"), s.finish()])
    assert "".join(chunk.text or "" for chunk in chat.send_message_stream("first")) == "one"
    fake.queue([s.text("two"), s.finish()])
    assert chat.send_message("second").text == "two"
    sent = fake.captures()[-1]["message"]["messages"]
    assert [(each["source"], each["text"]) for each in sent] == [(1, "first"), (2, "one"), (1, "second")]
    assert len(chat.get_history(curated=True)) == len(chat.get_history())


def test_generate_content_sdk_gets_thoughts_and_gives_them_back(
    serve: Callable[..., str], fake: FakeUpstream
) -> None:
    client = genai.Client(
        api_key="k", http_options=types.HttpOptions(base_url=serve(DEVIN_CONNECT_REASONING="1"))
    )
    chat = client.chats.create(
        model="fake-echo",
        config=types.GenerateContentConfig(thinking_config=types.ThinkingConfig(include_thoughts=True)),
    )
    fake.queue([s.reasoning("hm, "), s.reasoning("well"), s.text("one"), s.finish()])
    told = list(chat.send_message_stream("first"))
    thoughts = [
        part.text
        for chunk in told
        for candidate in chunk.candidates or []
        for part in (candidate.content.parts if candidate.content else None) or []
        if part.thought
    ]
    assert "".join(text or "" for text in thoughts) == "hm, well"
    fake.queue([s.text("two"), s.finish()])
    chat.send_message("second")
    sent = fake.captures()[-1]["message"]["messages"]
    assert [(each["source"], each.get("reasoning")) for each in sent] == [
        (1, None),
        (2, "hm, well"),
        (1, None),
    ]


def test_generate_content_sdk_sends_images(sdk: genai.Client, fake: FakeUpstream) -> None:
    sdk.models.generate_content(
        model="fake-echo", contents=[types.Part.from_bytes(data=PNG, mime_type="image/png"), "what?"]
    )
    assert fake.captures()[0]["message"]["messages"][0]["images"] == [
        {"base64_data": "iVBORw0KGgr7/w==", "mime_type": "image/png"}
    ]


def test_generate_content_sdk_sends_every_config_in_its_mixed_spellings(
    sdk: genai.Client, fake: FakeUpstream
) -> None:
    config = types.GenerateContentConfig(
        system_instruction=["A", "B"],
        temperature=0.5,
        top_p=0.5,
        top_k=64,
        max_output_tokens=9,
        stop_sequences=["END"],
        candidate_count=1,
        response_mime_type="application/json",
        response_schema=types.Schema(type=types.Type.OBJECT),
        thinking_config=types.ThinkingConfig(include_thoughts=True, thinking_budget=5),
        tools=[
            types.Tool(
                function_declarations=[
                    types.FunctionDeclaration(
                        name="f", parameters_json_schema={"type": "object", "properties": {"x": {}}}
                    )
                ]
            )
        ],
        tool_config=types.ToolConfig(
            function_calling_config=types.FunctionCallingConfig(mode=types.FunctionCallingConfigMode.AUTO)
        ),
        automatic_function_calling=NO_AUTO,
    )
    fake.queue([s.text("{}"), s.finish()])
    reply = sdk.models.generate_content(model="fake-echo", contents="hi", config=config)
    assert reply.text == "{}"
    message = fake.captures()[0]["message"]
    assert message["system_prompt"].startswith("A\n\nB\n\n")
    completion = message["completion"]
    assert [completion[name] for name in ("temperature", "top_p", "top_k", "max_tokens")] == [0.5, 0.5, 64, 9]
    assert message["tools"][0]["parameters"] == '{"type":"object","properties":{"x":{}}}'


def test_generate_content_sdk_counts_tokens(sdk: genai.Client, fake: FakeUpstream) -> None:
    assert (sdk.models.count_tokens(model="fake-echo", contents="hello there").total_tokens or 0) > 0
    assert fake.captures() == []


@pytest.mark.parametrize(
    ("step", "kind", "code", "status"),
    [
        (s.error("resource_exhausted", "q", 12), errors.ClientError, 429, "RESOURCE_EXHAUSTED"),
        (s.error("unavailable", "busy"), errors.ServerError, 503, "UNAVAILABLE"),
        (s.cut_clean(), errors.ServerError, 502, "INTERNAL"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_generate_content_sdk_raises_its_own_errors(
    sdk: genai.Client,
    fake: FakeUpstream,
    step: Any,
    kind: type[errors.APIError],
    code: int,
    status: str,
    stream: bool,
) -> None:
    fake.queue([step])
    with pytest.raises(kind) as caught:
        ask(sdk, stream, model="fake-echo", contents="hi")
    assert (caught.value.code, caught.value.status) == (code, status)


def test_generate_content_sdk_raises_what_happens_in_a_stream(sdk: genai.Client, fake: FakeUpstream) -> None:
    fake.queue([s.text("a"), s.error("unavailable", "busy")])
    stream = sdk.models.generate_content_stream(model="fake-echo", contents="hi")
    assert next(stream).text == "a"
    with pytest.raises(errors.ServerError) as caught:
        list(stream)
    assert (caught.value.code, caught.value.status) == (503, "UNAVAILABLE")


@pytest.mark.parametrize("stream", [False, True])
def test_generate_content_sdk_raises_a_refused_candidate_count(
    sdk: genai.Client, fake: FakeUpstream, stream: bool
) -> None:
    config = types.GenerateContentConfig(candidate_count=2)
    with pytest.raises(errors.ClientError) as caught:
        ask(sdk, stream, model="fake-echo", contents="hi", config=config)
    assert (caught.value.code, caught.value.status) == (400, "INVALID_ARGUMENT")
    assert "generationConfig.candidateCount" in (caught.value.message or "")
    assert fake.captures() == []


def test_generate_content_sdk_raises_not_found(sdk: genai.Client, fake: FakeUpstream) -> None:
    with pytest.raises(errors.ClientError) as caught:
        sdk.models.generate_content(model="nope", contents="hi")
    assert (caught.value.code, caught.value.status) == (404, "NOT_FOUND")
