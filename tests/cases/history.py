"""A conversation with tool calls and their results, told in each surface's way."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tests.matrix.asking import Json

Said = tuple[str, str, Json]
"""A call: id, name, arguments."""
Result = tuple[str, str]
"""A result: id, text."""


def conversation(surface: str, calls: Sequence[Said], results: Sequence[Result]) -> Json:
    """The body keys for: the user asks, the model calls, the results come back in the order given."""
    names = {call_id: name for call_id, name, _ in calls}
    match surface:
        case "chat_completions":
            return {
                "messages": [
                    {"role": "user", "content": "u"},
                    {
                        "role": "assistant",
                        "content": None,
                        "tool_calls": [_chat_call(*each) for each in calls],
                    },
                    *({"role": "tool", "tool_call_id": key, "content": text} for key, text in results),
                ]
            }
        case "responses":
            return {
                "input": [
                    {"role": "user", "content": "u"},
                    *(
                        {
                            "type": "function_call",
                            "call_id": key,
                            "name": name,
                            "arguments": compact(arguments),
                        }
                        for key, name, arguments in calls
                    ),
                    *(
                        {"type": "function_call_output", "call_id": key, "output": text}
                        for key, text in results
                    ),
                ]
            }
        case "messages":
            used = [
                {"type": "tool_use", "id": key, "name": name, "input": arguments}
                for key, name, arguments in calls
            ]
            got = [{"type": "tool_result", "tool_use_id": key, "content": text} for key, text in results]
            return {
                "messages": [
                    {"role": "user", "content": "u"},
                    {"role": "assistant", "content": used},
                    *([{"role": "user", "content": got}] if got else []),
                ]
            }
    called = [
        {"functionCall": {"id": key, "name": name, "args": arguments}} for key, name, arguments in calls
    ]
    answered = [
        {"functionResponse": {"id": key, "name": names.get(key, "f"), "response": {"output": text}}}
        for key, text in results
    ]
    return {
        "contents": [
            {"role": "user", "parts": [{"text": "u"}]},
            {"role": "model", "parts": called},
            *([{"role": "user", "parts": answered}] if answered else []),
        ]
    }


def _chat_call(call_id: str, name: str, arguments: Json) -> Json:
    function = {"name": name, "arguments": compact(arguments)}
    return {"id": call_id, "type": "function", "function": function}


def compact(value: Json) -> str:
    return json.dumps(value, separators=(",", ":"))
