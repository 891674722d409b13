"""A servable chat request around one sample of one ledger row."""

from __future__ import annotations

import re
from typing import Any

from app.ledger import Parameter
from app.surfaces.chat_completions.ledger import TAGS
from tests.support.chat import USER, assistant, body, call, custom, function, result
from tests.support.rows import place

KINDS = {
    "messages": "user",
    "messages.content": "text",
    "messages.tool_calls": "function",
    "tools": "function",
    "prediction": "content",
}
"""The kind that stands for any kind, where a row speaks of all."""

PIXEL = "data:image/png;base64,iVBORw0KGgo="
CALLED = {"name": "f", "arguments": "{}"}

NEIGHBOURS: dict[str, Any] = {
    "messages": {"messages": [{"content": "a"}]},
    "messages.content": {"messages": [{"content": [{"text": "a"}]}]},
    "messages.content.image_url": {"messages": [{"content": [{"image_url": {"url": PIXEL}}]}]},
    "messages.tool_calls": {"messages": [{"tool_calls": [call("call_1")]}]},
    "messages.tool_calls.function": {"messages": [{"tool_calls": [call("call_1")]}]},
    "messages.tool_calls.custom": {
        "messages": [
            {"tool_calls": [{"id": "call_1", "type": "custom", "custom": {"name": "c", "input": "a"}}]}
        ]
    },
    "messages.function_call": {"messages": [{"function_call": CALLED}]},
    "response_format.json_schema": {"response_format": {"json_schema": {"name": "a"}}},
    "stream_options": {"stream": True},
    "tools": {"tools": [{"function": {"name": "f"}}]},
    "tools.function": {"tools": [{"function": {"name": "f"}}]},
    "tools.custom": {"tools": [{"custom": {"name": "c"}}]},
    "tools.custom.format": {"tools": [{"custom": {"name": "c"}}]},
    "functions": {"functions": [{"name": "f"}]},
    "tool_choice.allowed_tools": {
        "tool_choice": {"allowed_tools": {"mode": "required", "tools": [function("f")]}}
    },
    "tool_choice.allowed_tools.tools": {
        "tool_choice": {"allowed_tools": {"mode": "auto", "tools": [function("f")]}}
    },
}
"""What must stand beside a value, by the path of the object that holds it, without brackets."""


def with_neighbours(request: Any, neighbours: Any) -> Any:
    """``request`` with all that it lacks of ``neighbours``."""
    if type(request) is not type(neighbours):
        return request
    if isinstance(request, list):
        return [with_neighbours(item, neighbours[0]) for item in request]
    if isinstance(request, dict):
        shared = request.keys() & neighbours.keys()
        return {
            **neighbours,
            **request,
            **{key: with_neighbours(request[key], neighbours[key]) for key in shared},
        }
    return request


def bare(path: str) -> str:
    """``path`` without brackets: ``messages[role=tool].tool_call_id`` -> ``messages.tool_call_id``."""
    return re.sub(r"\[[^\]]*\]", "", path)


def sample_body(row: Parameter, sample: Any) -> dict[str, Any]:
    """The smallest body in which ``sample`` stands at the row's path; it may not be servable."""
    placed: dict[str, Any] = place(row.path, sample, TAGS, KINDS)
    return body(**placed)


def request_for(row: Parameter, sample: Any) -> dict[str, Any]:
    """A body that is served (or refused for this row alone) on an upstream that carries everything."""
    request: dict[str, Any] = sample_body(row, sample)
    holder = bare(row.path).rpartition(".")[0]
    request = with_neighbours(request, NEIGHBOURS.get(holder, {}))
    if row.path.startswith("messages[].content") and "refusal" in row.path:
        request["messages"][0]["role"] = "assistant"
    if row.path.startswith("messages") and row.path != "messages":
        request["messages"] = _conversation(request["messages"][0])
    if row.path.startswith("tool_choice"):
        request["tools"] = [function("f"), function("g"), custom("c"), custom("d")]
    if row.path.startswith("function_call"):
        request["functions"] = [{"name": "f"}, {"name": "g"}]
    if row.path == "stream_options":
        request["stream"] = True
    return request


def _conversation(message: dict[str, Any]) -> list[dict[str, Any]]:
    """``message`` in a history in which every call has its result."""
    match message["role"]:
        case "tool":
            return [USER, assistant(call(message["tool_call_id"])), message]
        case "function":
            message = {"content": "a", **message}
            made = {"role": "assistant", "function_call": {**CALLED, "name": message["name"]}}
            return [USER, made, message]
        case "assistant":
            results = [result(made["id"]) for made in message.get("tool_calls") or ()]
            if legacy := message.get("function_call"):
                results.append({"role": "function", "name": legacy["name"], "content": "a"})
            return [USER, message, *results]
        case _:
            return [message]
