"""The Response object: what the request said, as far as it is in force, and what came of it.

Every key that Open Responses' ``ResponseResource`` requires is there. An ignored value is never echoed as if it
had been honoured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, assert_never

import orjson

from app.surfaces.responses.decode import Echo
from app.surfaces.responses.tools import REFUSED_KINDS, WITHHELD_KINDS
from app.surfaces.surface import ReplyFacts
from app.surfaces.writing import json_bytes
from app.turn.events import FinishReason, Usage

Status = Literal["in_progress", "completed", "incomplete", "failed"]


def usage_object(usage: Usage | None) -> dict[str, Any] | None:
    """Token counts. Reasoning tokens are not told apart upstream, and the key is required: 0."""
    if usage is None:
        return None
    return {
        "input_tokens": usage.prompt,
        "input_tokens_details": {
            "cached_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_write,
        },
        "output_tokens": usage.completion,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.prompt + usage.completion,
    }


def ending(finish: FinishReason) -> tuple[Status, dict[str, str] | None]:
    """(status, incomplete_details) of a turn that finished."""
    match finish:
        case "stop" | "tool_calls":
            return "completed", None
        case "length":
            return "incomplete", {"reason": "max_output_tokens"}
        case "content_filter":
            return "incomplete", {"reason": "content_filter"}
    assert_never(finish)


class ResponseObject:
    """Renders one response in its states. What does not change is serialised once."""

    def __init__(self, facts: ReplyFacts, response_id: str) -> None:
        self._head = json_bytes({"id": response_id, "object": "response", **_echo(facts)})[:-1]

    def render(
        self,
        status: Status,
        output: Sequence[bytes] = (),
        *,
        usage: Usage | None = None,
        error: Mapping[str, str] | None = None,
        incomplete_details: Mapping[str, str] | None = None,
        completed_at: int | None = None,
        is_kept: bool = False,
    ) -> bytes:
        """The object as JSON; ``output`` are items already serialised."""
        tail = {
            "status": status,
            "store": is_kept,
            "completed_at": completed_at,
            "error": error,
            "incomplete_details": incomplete_details,
            "usage": usage_object(usage),
        }
        return b'%b,%b,"output":[%b]}' % (self._head, orjson.dumps(tail)[1:-1], b",".join(output))


def _echo(facts: ReplyFacts) -> dict[str, Any]:
    """The request, as far as it is in force."""
    turn, echo = facts.decoded.turn, facts.decoded.echo
    assert isinstance(echo, Echo)
    body, ignored = echo.body, facts.was_ignored
    sampling = turn.sampling
    said: dict[str, Any] = {
        "created_at": facts.created_s,
        "model": turn.model,
        "instructions": body.get("instructions"),
        "tools": [shown for tool in body.get("tools") or () if (shown := _tool(tool, facts)) is not None],
        "tool_choice": _tool_choice(body.get("tool_choice"), ignored("tool_choice")),
        "parallel_tool_calls": turn.parallel_tool_calls is not False or ignored("parallel_tool_calls"),
        "temperature": _or(sampling.temperature, 1.0, ignored("temperature")),
        "top_p": _or(sampling.top_p, 1.0, ignored("top_p")),
        "max_output_tokens": _or(sampling.max_output_tokens, None, ignored("max_output_tokens")),
        "text": {"format": _text_format(turn.output_format is not None, body, facts)},
        "reasoning": _reasoning(body.get("reasoning")),
        "truncation": "disabled",
        "max_tool_calls": None,
        "top_logprobs": 0,
        "presence_penalty": 0.0,
        "frequency_penalty": 0.0,
        "background": False,
        "previous_response_id": body.get("previous_response_id") or None,
        "service_tier": "default",
        "metadata": body.get("metadata") or {},
        "safety_identifier": body.get("safety_identifier"),
        "prompt_cache_key": body.get("prompt_cache_key"),
    }
    if body.get("user") is not None:
        said["user"] = body["user"]
    return said


def _or(value: Any, default: Any, ignored: bool) -> Any:
    return default if value is None or ignored else value


def _tool_choice(value: Any, force_ignored: bool) -> Any:
    """As sent, and without its force where that was ignored: the tools it names are what may be called."""
    if value is None:
        return "auto"
    if not force_ignored:
        return value if type(value) is str else _without_extras(value, _CHOICE_KEYS)
    if type(value) is str:
        return "auto"
    if value.get("type") == "allowed_tools":
        return {"type": "allowed_tools", "mode": "auto", "tools": value.get("tools")}
    return {"type": "allowed_tools", "mode": "auto", "tools": [dict(value)]}


def _reasoning(value: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Effort is ignored, so none is in force; the summary is what was asked for."""
    if value is None:
        return None
    return {"effort": None, "summary": value.get("summary") or value.get("generate_summary")}


def _text_format(is_structured: bool, body: Mapping[str, Any], facts: ReplyFacts) -> dict[str, Any]:
    if not is_structured:
        return {"type": "text"}
    wanted = body["text"]["format"]
    if wanted["type"] == "json_object":
        return {"type": "json_object"}
    guaranteed = not facts.was_ignored("text.format") and wanted.get("strict") is True
    return {
        "type": "json_schema",
        "name": wanted["name"],
        "description": wanted.get("description"),
        "schema": wanted["schema"],
        "strict": guaranteed,
    }


_STRICT_ROWS = ("tools[type=function].strict", "tools[type=namespace].tools[type=function].strict")
_CHOICE_KEYS = ("type", "name", "mode", "tools")
_FUNCTION_KEYS = ("type", "name", "description", "parameters", "strict")
_CUSTOM_KEYS = ("type", "name", "description", "format")
_OTHER_KEYS = {
    "tool_search": ("type", "execution", "description", "parameters"),
    "local_shell": ("type",),
    "apply_patch": ("type",),
}


def _tool(tool: Mapping[str, Any], facts: ReplyFacts) -> dict[str, Any] | None:
    """A tool as sent, by its documented keys; None for a hosted one, which is not in force."""
    match tool.get("type"):
        case "function":
            function = {key: tool.get(key) for key in _FUNCTION_KEYS}
            if function["strict"] and any(facts.was_ignored(row) for row in _STRICT_ROWS):
                function["strict"] = False
            return function
        case "custom":
            custom = _without_extras(tool, _CUSTOM_KEYS)
            if custom.get("format", {}).get("type") != "text":  # a grammar is described, not enforced
                custom.pop("format", None)
            return custom
        case "namespace":
            inner = [shown for each in tool.get("tools") or () if (shown := _tool(each, facts)) is not None]
            return {
                "type": "namespace",
                "name": tool["name"],
                "description": "",  # the model is not told of it
                "tools": inner,
            }
        case kind if kind in WITHHELD_KINDS or kind in REFUSED_KINDS:
            return None
        case "shell":
            environment = {"environment": {"type": "local"}} if tool.get("environment") is not None else {}
            return {"type": "shell", **environment}
        case kind:
            return _without_extras(tool, _OTHER_KEYS[str(kind)])


def _without_extras(holder: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    return {key: holder[key] for key in keys if holder.get(key) is not None}
