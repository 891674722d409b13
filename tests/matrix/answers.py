"""What an answer says, whatever surface said it: readers of JSON bodies and of streams.

Every body and every event is validated strictly against the official SDK's own class on the way.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from anthropic.types import Message, RawMessageStreamEvent
from anthropic.types.beta import BetaRawMessageStreamEvent
from google.genai.types import GenerateContentResponse
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent

from tests.matrix.asking import CHAT, GENERATE, MESSAGES, RESPONSES
from tests.support.strict import check, check_event

Json = dict[str, Any]


@dataclass(frozen=True)
class Call:
    """A tool call; ``arguments`` as JSON text, compact where the protocol has an object."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Usage:
    """Input in all, the part of it that was read from a cache, and output."""

    prompt: int
    cached: int
    completion: int


@dataclass
class Answer:
    """``finish`` is the surface's own word; ``blocks`` the kinds in the order they came."""

    text: str = ""
    reasoning: str = ""
    calls: list[Call] = field(default_factory=list)
    finish: str | None = None
    usage: Usage | None = None
    blocks: list[str] = field(default_factory=list)
    error: Json | None = None
    """The in-stream fault that ended it, as it stands on the wire."""

    def _block(self, kind: str) -> None:
        if kind == "call" or self.blocks[-1:] != [kind]:
            self.blocks.append(kind)

    def add_text(self, text: str) -> None:
        if text:
            self.text += text
            self._block("text")

    def add_reasoning(self, text: str) -> None:
        if text:
            self.reasoning += text
            self._block("reasoning")

    def add_call(self, call_id: str, name: str, arguments: str) -> None:
        self.calls.append(Call(call_id, name, arguments))
        self._block("call")


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def read(surface: str, data: bytes, *, stream: bool) -> Answer:
    """The answer that ``data`` holds."""
    readers = {
        CHAT: (_chat, _chat_stream),
        RESPONSES: (_responses, _responses_stream),
        MESSAGES: (_messages, _messages_stream),
        GENERATE: (_generate, _generate_stream),
    }
    return readers[surface][stream](data.decode())


def data_lines(text: str) -> list[str]:
    """The data of a stream that has ``data:`` lines only, each with a blank line after it."""
    assert text.endswith("\n\n")
    frames = text.removesuffix("\n\n").split("\n\n")
    assert all(frame.startswith("data: ") and "\n" not in frame for frame in frames), frames
    return [frame[6:] for frame in frames]


def named_events(text: str) -> list[tuple[str, str]]:
    """(name, data) of a stream of named events."""
    assert text.endswith("\n\n")
    events = []
    for frame in text.removesuffix("\n\n").split("\n\n"):
        name, data = frame.split("\n")
        assert name.startswith("event: ")
        assert data.startswith("data: ")
        events.append((name[7:], data[6:]))
    return events


# Chat completions


def _chat_usage(usage: Json) -> Usage:
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    cached = usage.get("prompt_tokens_details", {}).get("cached_tokens", 0)
    return Usage(usage["prompt_tokens"], cached, usage["completion_tokens"])


def _chat(text: str) -> Answer:
    check(ChatCompletion, text)
    body = json.loads(text)
    (choice,) = body["choices"]
    message = choice["message"]
    answer = Answer(finish=choice["finish_reason"], usage=_chat_usage(body["usage"]))
    answer.add_reasoning(message.get("reasoning_content") or "")
    answer.add_text(message["content"] or "")
    for call in message.get("tool_calls", ()):
        answer.add_call(call["id"], call["function"]["name"], call["function"]["arguments"])
    return answer


def _chat_stream(text: str) -> Answer:
    lines = data_lines(text)
    answer = Answer()
    if "error" in json.loads(lines[-1] if lines[-1] != "[DONE]" else "{}"):
        answer.error = json.loads(lines.pop())
    else:
        assert lines.pop() == "[DONE]"
    arguments: list[str] = []
    heads: list[tuple[str, str]] = []
    chunks = [json.loads(line) for line in lines]
    assert len({(chunk["id"], chunk["created"]) for chunk in chunks}) <= 1
    for position, (line, chunk) in enumerate(zip(lines, chunks, strict=True)):
        check(ChatCompletionChunk, line)
        if not chunk["choices"]:
            assert position == len(chunks) - 1
            answer.usage = _chat_usage(chunk["usage"])
            continue
        assert chunk.get("usage") is None
        (choice,) = chunk["choices"]
        assert ("role" in choice["delta"]) is (position == 0)
        assert answer.finish is None, "a chunk after the finish"
        answer.finish = choice["finish_reason"]
        answer.add_reasoning(choice["delta"].get("reasoning_content") or "")
        answer.add_text(choice["delta"].get("content") or "")
        for piece in choice["delta"].get("tool_calls", ()):
            if piece["index"] == len(heads):
                assert piece["type"] == "function"
                heads.append((piece["id"], piece["function"]["name"]))
                arguments.append("")
            arguments[piece["index"]] += piece["function"]["arguments"]
    for (call_id, name), whole in zip(heads, arguments, strict=True):
        answer.add_call(call_id, name, whole)
    return answer


# Responses


def _response(body: Json) -> Answer:
    reason = (body["incomplete_details"] or {}).get("reason")
    answer = Answer(finish=f"{body['status']}/{reason}" if reason else body["status"])
    if body["usage"] is not None:
        usage = body["usage"]
        assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]
        cached = usage["input_tokens_details"]["cached_tokens"]
        answer.usage = Usage(usage["input_tokens"], cached, usage["output_tokens"])
    for item in body["output"]:
        match item["type"]:
            case "message":
                answer.add_text("".join(part["text"] for part in item["content"]))
            case "reasoning":
                answer.add_reasoning("".join(part["text"] for part in item["summary"]))
            case "function_call":
                answer.add_call(item["call_id"], item["name"], item["arguments"])
            case kind:
                raise AssertionError(kind)
    return answer


def _responses(text: str) -> Answer:
    check(Response, text)
    return _response(json.loads(text))


def _responses_stream(text: str) -> Answer:
    """Items are rebuilt from their deltas and must be the items of the last event."""
    said: dict[int, str] = {}
    items: list[Json] = []
    events = named_events(text)
    for number, (name, data) in enumerate(events):
        check_event(ResponseStreamEvent, data)
        event = json.loads(data)
        assert (event["type"], event["sequence_number"]) == (name, number)
        match name:
            case "response.output_item.added":
                assert event["output_index"] == len(items)
                items.append(event["item"])
            case (
                "response.output_text.delta"
                | "response.reasoning_summary_text.delta"
                | "response.function_call_arguments.delta"
            ):
                index = event["output_index"]
                said[index] = said.get(index, "") + event["delta"]
    built = Answer()
    for index, item in enumerate(items):
        match item["type"]:
            case "message":
                built.add_text(said.get(index, ""))
            case "reasoning":
                built.add_reasoning(said.get(index, ""))
            case "function_call":
                built.add_call(item["call_id"], item["name"], said.get(index, ""))
    last, data = events[-1]
    body = json.loads(data)["response"]
    assert [name for name, _ in events[:2]] == ["response.created", "response.in_progress"]
    if last == "response.failed":
        built.finish, built.error = "failed", body["error"]
        return built
    assert last in ("response.completed", "response.incomplete")
    answer = _response(body)
    assert (answer.text, answer.reasoning, answer.calls, answer.blocks) == (
        built.text,
        built.reasoning,
        built.calls,
        built.blocks,
    )
    return answer


# Messages


def _messages_usage(usage: Json) -> Usage:
    cached = usage["cache_read_input_tokens"]
    prompt = usage["input_tokens"] + cached + usage["cache_creation_input_tokens"]
    return Usage(prompt, cached, usage["output_tokens"])


def _stop(part: Json) -> str:
    reason, stop = part["stop_reason"], part["stop_sequence"]
    assert (stop is not None) is (reason == "stop_sequence")
    return f"{reason}/{stop}" if stop else str(reason)


def _messages(text: str) -> Answer:
    check(Message, text)
    body = json.loads(text)
    answer = Answer(finish=_stop(body), usage=_messages_usage(body["usage"]))
    for block in body["content"]:
        match block["type"]:
            case "text":
                answer.add_text(block["text"])
            case "thinking":
                answer.add_reasoning(block["thinking"])
            case "tool_use":
                answer.add_call(block["id"], block["name"], compact(block["input"]))
            case kind:
                raise AssertionError(kind)
    return answer


def _messages_stream(text: str) -> Answer:
    events = named_events(text)
    answer = Answer()
    if events[-1][0] == "error":
        answer.error = json.loads(events.pop()[1])
    else:
        assert events.pop()[0] == "message_stop"
    assert events[0][0] == "message_start"
    open_block: Json | None = None
    arguments, blocks = "", 0
    for name, data in events:
        event = json.loads(data)
        beta = "context_management" in event  # sent only to those who sent it
        check_event(BetaRawMessageStreamEvent if beta else RawMessageStreamEvent, data)
        assert event["type"] == name
        match name:
            case "content_block_start":
                assert open_block is None
                assert event["index"] == blocks
                open_block, arguments = event["content_block"], ""
                assert open_block.get("input", {}) == {}
            case "content_block_delta":
                assert open_block is not None
                assert event["index"] == blocks
                delta = event["delta"]
                answer.add_text(delta.get("text", ""))
                answer.add_reasoning(delta.get("thinking", ""))
                arguments += delta.get("partial_json", "")
            case "content_block_stop":
                assert open_block is not None
                if open_block["type"] == "tool_use":
                    answer.add_call(open_block["id"], open_block["name"], arguments)
                open_block, blocks = None, blocks + 1
            case "message_delta":
                assert open_block is None
                answer.finish, answer.usage = _stop(event["delta"]), _messages_usage(event["usage"])
    return answer


# generateContent


def _generate_usage(usage: Json) -> Usage:
    thoughts = usage.get("thoughtsTokenCount", 0)
    completion = usage["candidatesTokenCount"] + thoughts
    assert usage["totalTokenCount"] == usage["promptTokenCount"] + completion
    return Usage(usage["promptTokenCount"], usage.get("cachedContentTokenCount", 0), completion)


def _generate_chunk(text: str, answer: Answer) -> str:
    check(GenerateContentResponse, text)
    body = json.loads(text)
    (candidate,) = body["candidates"]
    assert candidate["content"]["role"] == "model"
    assert candidate["index"] == 0
    for part in candidate["content"]["parts"]:
        if "functionCall" in part:
            call = part["functionCall"]
            assert type(call["args"]) is dict
            answer.add_call(call["id"], call["name"], compact(call["args"]))
        elif part.get("thought"):
            answer.add_reasoning(part["text"])
        else:
            answer.add_text(part["text"])
    answer.finish = candidate.get("finishReason")
    answer.usage = _generate_usage(body["usageMetadata"]) if "usageMetadata" in body else None
    return str(body["responseId"])


def _generate(text: str) -> Answer:
    answer = Answer()
    _generate_chunk(text, answer)
    return answer


def _generate_stream(text: str) -> Answer:
    lines = data_lines(text)
    answer, ids = Answer(), set()
    for position, line in enumerate(lines):
        if "error" in json.loads(line):
            assert position == len(lines) - 1
            answer.error = json.loads(line)
        else:
            assert answer.finish is None, "a chunk after the finish"
            ids.add(_generate_chunk(line, answer))
    assert len(ids) <= 1
    return answer
