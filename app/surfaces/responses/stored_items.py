"""A request's input as the vendor's ``ResponseItem`` has it: each item whole, with an id.

What has an id keeps it. What came short (a string, a message without a type) is written out; a tool's result gets
the status that only a finished one can have.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Item = dict[str, Any]

_PREFIXES = {
    "message": "msg_",
    "reasoning": "rs_",
    "function_call": "fc_",
    "function_call_output": "fco_",
    "custom_tool_call": "ctc_",
    "custom_tool_call_output": "ctco_",
    "local_shell_call": "lsh_",
    "local_shell_call_output": "lsho_",
    "shell_call": "sh_",
    "shell_call_output": "sho_",
    "apply_patch_call": "apc_",
    "apply_patch_call_output": "apco_",
    "tool_search_call": "tsc_",
    "tool_search_output": "tso_",
    "additional_tools": "at_",
    "web_search_call": "ws_",
    "file_search_call": "fs_",
    "code_interpreter_call": "ci_",
    "image_generation_call": "ig_",
}
_FINISHED = frozenset(_PREFIXES) - {
    "reasoning",
    "additional_tools",
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
}
"""Kinds that have a status, which need not be sent. A hosted call is shown to the model as it was sent."""


def input_items(items: str | list[Item], new_id: Callable[[str], str]) -> list[Item]:
    """The items, in the order in which they came. ``new_id`` makes an id of a prefix."""
    if type(items) is str:
        return [_whole({"role": "user", "content": items}, new_id)] if items else []
    return [_whole(item, new_id) for item in items if type(item) is dict]


def _whole(item: Item, new_id: Callable[[str], str]) -> Item:
    kind = item.get("type") or "message"
    whole = {"id": item.get("id") or new_id(_PREFIXES.get(kind, "item_")), "type": kind}
    whole.update((key, value) for key, value in item.items() if value is not None)
    if kind in _FINISHED and item.get("execution") != "server":
        whole.setdefault("status", "completed")
    if kind == "message":
        whole["content"] = _content(whole.get("content"), whole.get("role") == "assistant")
    return whole


def _content(content: Any, is_answer: bool) -> list[Item]:
    if type(content) is str:
        content = [{"type": "output_text" if is_answer else "input_text", "text": content}] if content else []
    return [_part(part) for part in content or ()]


def _part(part: Item) -> Item:
    match part.get("type"):
        case "output_text":
            return {"annotations": [], "logprobs": [], **part}
        case "input_image":
            return {"detail": "auto", **{key: value for key, value in part.items() if value is not None}}
        case _:
            return part
