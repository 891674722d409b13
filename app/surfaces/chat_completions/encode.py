"""Finished reply -> JSON, and what whole replies and chunks have in common.

Shapes are those of the openai SDK's ``ChatCompletion`` (3.57.0). ``choices[].logprobs``, ``message.content`` and
``message.refusal`` are always there, null or not, as the vendor's ``openapi.json`` demands; ``reasoning_content``
is what clients read reasoning from, though no SDK type lists it.
"""

from __future__ import annotations

from typing import Any, Literal

import orjson

from app.surfaces import freeform
from app.surfaces.chat_completions.decode import Echo
from app.surfaces.surface import ReplyFacts
from app.turn.events import FinishReason, Usage
from app.turn.fold import Reply, ReplyCall

SERVICE_TIER = "default"
"""The only tier there is; told to callers who asked for one."""


def reply_body(facts: ReplyFacts, reply: Reply, reply_id: str) -> bytes:
    """One ``chat.completion`` object as JSON."""
    echo: Echo = facts.decoded.echo
    completion: dict[str, Any] = {
        "id": reply_id,
        "object": "chat.completion",
        "created": facts.created_s,
        "model": facts.decoded.turn.model,
        "choices": [
            {
                "index": 0,
                "message": _message(reply, echo),
                "logprobs": None,
                "finish_reason": finish_reason(reply.finish, echo),
            }
        ],
    }
    if reply.usage is not None:
        completion["usage"] = usage_body(reply.usage)
    if echo.names_tier:
        completion["service_tier"] = SERVICE_TIER
    if echo.metadata is not None:
        completion["metadata"] = echo.metadata
    return orjson.dumps(completion)


def _message(reply: Reply, echo: Echo) -> dict[str, Any]:
    calls, text = reply.calls, reply.text
    message: dict[str, Any] = {
        "role": "assistant",
        "content": None if calls and not text else text,
        "refusal": None,
    }
    if reasoning := reply.reasoning:
        message["reasoning_content"] = reasoning
    if calls and echo.legacy_functions:
        message["function_call"] = {"name": calls[0].name, "arguments": calls[0].arguments}
    elif calls:
        message["tool_calls"] = [_tool_call(call, echo) for call in calls]
    return message


def _tool_call(call: ReplyCall, echo: Echo) -> dict[str, Any]:
    if call.name in echo.custom_tools:
        custom = {"name": call.name, "input": freeform.unwrap(call.arguments)}
        return {"id": call.id, "type": "custom", "custom": custom}
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}


def finish_reason(reason: FinishReason, echo: Echo) -> FinishReason | Literal["function_call"]:
    """The canonical reasons are this protocol's own, but for the legacy one."""
    return "function_call" if reason == "tool_calls" and echo.legacy_functions else reason


def usage_body(usage: Usage) -> dict[str, Any]:
    """Prompt tokens include what the cache took and gave; figures that nobody reported are left out."""
    return {
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.completion,
        "total_tokens": usage.prompt + usage.completion,
        "prompt_tokens_details": {
            "cached_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_write,
        },
    }
