"""One question, put on each of the four surfaces: paths, bodies, tools and tool choices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flask import Flask
from werkzeug.test import TestResponse

Json = dict[str, Any]

CHAT, RESPONSES, MESSAGES, GENERATE = "chat_completions", "responses", "messages", "generate_content"
SURFACES = (CHAT, RESPONSES, MESSAGES, GENERATE)

_SCHEMA = {"type": "object", "properties": {"x": {"type": "string"}}}


def path(surface: str, *, stream: bool = False, model: str = "fake-echo") -> str:
    """Where a turn of ``surface`` is posted."""
    method = "streamGenerateContent?alt=sse" if stream else "generateContent"
    return {
        CHAT: "/v1/chat/completions",
        RESPONSES: "/v1/responses",
        MESSAGES: "/v1/messages",
        GENERATE: f"/v1beta/models/{model}:{method}",
    }[surface]


def tools(surface: str, *names: str) -> Json:
    """The body keys that declare functions with one string argument."""
    match surface:
        case "chat_completions":
            functions = [{"name": name, "parameters": _SCHEMA} for name in names]
            return {"tools": [{"type": "function", "function": function} for function in functions]}
        case "responses":
            return {"tools": [{"type": "function", "name": name, "parameters": _SCHEMA} for name in names]}
        case "messages":
            return {"tools": [{"name": name, "input_schema": _SCHEMA} for name in names]}
    declarations = [{"name": name, "parametersJsonSchema": _SCHEMA} for name in names]
    return {"tools": [{"functionDeclarations": declarations}]}


def system(surface: str, text: str) -> Json:
    """The body keys that give ``text`` as system prompt, beside a user message ``hi``."""
    return {
        CHAT: {"messages": [{"role": "system", "content": text}, {"role": "user", "content": "hi"}]},
        RESPONSES: {"instructions": text},
        MESSAGES: {"system": text},
        GENERATE: {"systemInstruction": {"parts": [{"text": text}]}},
    }[surface]


def cap(surface: str, tokens: int) -> Json:
    """The body keys that cap the output."""
    return {
        CHAT: {"max_completion_tokens": tokens},
        RESPONSES: {"max_output_tokens": tokens},
        MESSAGES: {"max_tokens": tokens},
        GENERATE: {"generationConfig": {"maxOutputTokens": tokens}},
    }[surface]


def reasoning_shown(surface: str) -> Json:
    """The body keys by which reasoning is handed out."""
    return {
        CHAT: {},
        RESPONSES: {"reasoning": {"summary": "auto"}},
        MESSAGES: {"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 2000},
        GENERATE: {"generationConfig": {"thinkingConfig": {"includeThoughts": True}}},
    }[surface]


def body(
    surface: str, *, says: str = "hi", stream: bool = False, model: str = "fake-echo", **keys: Any
) -> Json:
    """A request that says ``hi`` or what else it ``says``, with ``keys`` beside or instead."""
    said: Json = {
        CHAT: {"model": model, "messages": [{"role": "user", "content": says}]},
        RESPONSES: {"model": model, "input": says},
        MESSAGES: {"model": model, "max_tokens": 1000, "messages": [{"role": "user", "content": says}]},
        GENERATE: {"contents": [{"role": "user", "parts": [{"text": says}]}]},
    }[surface]
    if stream and surface != GENERATE:
        said["stream"] = True
    return {**said, **keys}


def ask(
    app: Flask,
    surface: str,
    *,
    stream: bool = False,
    model: str = "fake-echo",
    headers: dict[str, str] | Sequence[tuple[str, str]] = (),
    **keys: Any,
) -> TestResponse:
    """The reply of ``app`` to a small request; a stream is read to its end."""
    if stream and surface == CHAT:
        keys.setdefault("stream_options", {"include_usage": True})
    reply = app.test_client().post(
        path(surface, stream=stream, model=model),
        json=body(surface, stream=stream, model=model, **keys),
        headers=headers,
    )
    assert reply.data is not None  # reads the stream
    return reply
