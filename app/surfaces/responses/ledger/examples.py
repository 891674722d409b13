"""One whole object of every kind, from which rows that name no samples of their own take theirs.

The first object of a kind has what is required and asks for nothing beside; the second, where there is one, has
every field. Shapes are those of the ``openai`` package's ``ResponseInputItemParam`` and ``ToolParam``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from app.ledger import Parameter

Example = dict[str, Any]

_SCHEMA = {"type": "object", "properties": {"x": {"type": "string"}}}
_FUNCTION = {"type": "function", "name": "f", "parameters": _SCHEMA, "strict": None}
_CUSTOM = {"type": "custom", "name": "c", "description": "free text"}
_DONE = {"id": "item_1", "status": "completed"}
_CALL_ID = {"call_id": "call_1"}
_PLACE = {"type": "approximate", "country": "CH"}
_PNG = "data:image/png;base64,iVBORw0KGgo="
_GRAMMAR = {"type": "grammar", "syntax": "lark", "definition": "start: /.+/s"}


def _a(kind: str, *more: Example) -> tuple[Example, ...]:
    """Objects of ``kind``: the first as ``more[0]`` says, each later one with what it adds."""
    objects: list[Example] = [{"type": kind, **(more[0] if more else {})}]
    for extra in more[1:]:
        objects.append({**objects[-1], **extra})
    return tuple(objects)


_ITEMS = (
    _a("message", {"role": "user", "content": "hello"}, {**_DONE, "content": "good day"}),
    _a(
        "reasoning",
        {"summary": []},
        {
            **_DONE,
            "summary": [{"type": "summary_text", "text": "s"}],
            "content": [{"type": "reasoning_text", "text": "r"}],
            "encrypted_content": "sealed by somebody else",
        },
    ),
    _a("function_call", {**_CALL_ID, "name": "f", "arguments": "{}"}, {**_DONE, "name": "g", "async": False}),
    _a(
        "function_call_output",
        {**_CALL_ID, "output": "1"},
        {**_DONE, "output": "2", "name": "f", "namespace": "ns"},
    ),
    _a(
        "custom_tool_call",
        {**_CALL_ID, "name": "c", "input": "text"},
        {**_DONE, "namespace": "ns", "async": False},
    ),
    _a("custom_tool_call_output", {**_CALL_ID, "output": "1"}, {**_DONE, "name": "c"}),
    _a("local_shell_call", {**_DONE, **_CALL_ID, "action": {"type": "exec", "command": ["ls"], "env": {}}}),
    _a("local_shell_call_output", {"id": "item_1", "output": "a"}, {**_CALL_ID, "status": "completed"}),
    _a(
        "shell_call",
        {**_CALL_ID, "action": {"commands": ["ls"]}},
        {**_DONE, "environment": {"type": "local"}},
    ),
    _a(
        "shell_call_output",
        {**_CALL_ID, "output": [{"stdout": "a", "stderr": "", "outcome": {"type": "timeout"}}]},
        {**_DONE, "max_output_length": 9},
    ),
    _a("apply_patch_call", {**_DONE, **_CALL_ID, "operation": {"type": "delete_file", "path": "a"}}),
    _a("apply_patch_call_output", {**_CALL_ID, "status": "completed"}, {"id": "item_1", "output": "Done"}),
    _a("tool_search_call", {**_CALL_ID, "arguments": {"q": "a"}, "execution": "client"}, _DONE),
    _a("tool_search_output", {**_CALL_ID, "tools": [_FUNCTION], "execution": "client"}, _DONE),
    _a("additional_tools", {"role": "developer", "tools": [_FUNCTION]}, {"id": "item_1"}),
    _a("web_search_call", {**_DONE, "action": {"type": "search", "query": "q"}}),
    _a("file_search_call", {**_DONE, "queries": ["q"]}, {"results": [{"file_id": "file-a", "text": "t"}]}),
    _a(
        "code_interpreter_call",
        {**_DONE, "code": "1+1", "container_id": "cntr_1", "outputs": [{"type": "logs", "logs": "2"}]},
    ),
    _a(
        "image_generation_call",
        {**_DONE, "result": "iVBORw0KGgo="},
        {
            "action": "generate",
            "background": "opaque",
            "error": {"type": "t", "code": None, "message": "m", "param": None},
            "output_format": "png",
            "quality": "low",
            "revised_prompt": "p",
            "size": "1024x1024",
            "svg_usage": {"model": "m"},
        },
    ),
    _a(
        "mcp_call",
        {"id": "item_1", "name": "n", "server_label": "s", "arguments": "{}"},
        {
            "status": "completed",
            "output": "o",
            "approval_request_id": "mcpr_1",
            "error": {"type": "http_error", "code": 500, "message": "m"},
        },
    ),
    _a("mcp_list_tools", {"id": "item_1", "server_label": "s", "tools": []}, {"error": "e"}),
    _a("mcp_approval_request", {"id": "item_1", "name": "n", "server_label": "s", "arguments": "{}"}),
    _a(
        "mcp_approval_response",
        {"approval_request_id": "mcpr_1", "approve": True},
        {"id": "i", "reason": "r"},
    ),
    _a(
        "computer_call",
        {**_DONE, **_CALL_ID, "action": {"type": "wait"}, "pending_safety_checks": []},
        {"actions": [{"type": "wait"}]},
    ),
    _a(
        "computer_call_output",
        {**_CALL_ID, "output": {"type": "computer_screenshot", "image_url": _PNG}},
        {**_DONE, "acknowledged_safety_checks": []},
    ),
    _a("configuration_update", {"reasoning": {"effort": "low"}}, {"id": "item_1", "text": {}}),
    _a("item_reference", {"id": "item_1"}),
    _a("compaction", {"encrypted_content": "e"}, {"id": "item_1"}),
    _a("compaction_trigger", {}, {"id": "item_1"}),
    _a("program", {"id": "item_1", **_CALL_ID, "code": "1", "fingerprint": "f"}),
    _a("program_output", {**_DONE, **_CALL_ID, "result": "1"}),
)

_PARTS = (
    _a("input_text", {"text": "hello"}, {"text": "good day"}),
    _a("input_image", {"image_url": _PNG}),
    _a(
        "input_file",
        {"file_id": "file-a"},
        {"filename": "a.pdf", "file_data": "AAAA", "file_url": "https://example.com/a.pdf", "detail": "low"},
        {"prompt_cache_breakpoint": {"mode": "explicit", "ttl": "30m"}},
    ),
)

_MESSAGE_PARTS = (
    *_PARTS,
    _a("output_text", {"text": "hello"}, {"text": "good day"}),
    _a("refusal", {"refusal": "I cannot."}, {"refusal": "I will not."}),
    _a("reasoning_text", {"text": "r"}),
)

_OFFERED = (
    _a("function", {key: _FUNCTION[key] for key in ("name", "parameters", "strict")}, {"name": "g"}),
    _a("custom", {"name": "c", "description": "free text"}, {"name": "d"}),
)

_TOOLS = (
    *_OFFERED,
    _a("namespace", {"name": "ns", "description": "", "tools": [_FUNCTION, _CUSTOM]}, {"name": "ms"}),
    _a("tool_search", {"execution": "client", "description": "d", "parameters": _SCHEMA}),
    _a("local_shell"),
    _a("shell", {}, {"environment": {"type": "local"}}),
    _a("apply_patch"),
    *(
        _a(
            kind,
            {},
            {
                "search_context_size": "low",
                "user_location": _PLACE,
                "search_content_types": ["text"],
                **({} if "preview" in kind else {"external_web_access": True, "filters": {}}),
            },
        )
        for kind in (
            "web_search",
            "web_search_2025_08_26",
            "web_search_preview",
            "web_search_preview_2025_03_11",
        )
    ),
    _a(
        "image_generation",
        {},
        {
            "action": "auto",
            "background": "auto",
            "complexity": "low",
            "frame_count": 1,
            "frame_duration_ms": 1,
            "input_fidelity": "low",
            "input_image_mask": {"file_id": "file-a"},
            "model": "gpt-image-2",
            "moderation": "auto",
            "output_compression": 1,
            "output_format": "png",
            "partial_images": 0,
            "quality": "low",
            "size": "auto",
            "svg": {"model": "m"},
        },
    ),
    _a(
        "file_search",
        {"vector_store_ids": ["vs_1"]},
        {
            "filters": {"type": "eq", "key": "k", "value": "v"},
            "max_num_results": 1,
            "ranking_options": {"ranker": "auto"},
        },
    ),
    _a("code_interpreter", {"container": {"type": "auto"}}, {"allowed_callers": ["direct"]}),
    _a(
        "mcp",
        {"server_label": "s", "server_url": "https://example.com"},
        {
            "allowed_callers": ["direct"],
            "allowed_tools": ["t"],
            "authorization": "a",
            "connector_id": "connector_gmail",
            "defer_loading": True,
            "headers": {"h": "v"},
            "require_approval": "never",
            "server_description": "d",
            "tunnel_id": "t",
        },
    ),
    _a("computer"),
    _a("computer_use_preview", {"display_height": 1, "display_width": 1, "environment": "linux"}),
    _a("programmatic_tool_calling"),
)

_FORMATS = (_a("text"), (_GRAMMAR,))
_CHOICES = (
    _a("function", {"name": "f"}, {"name": "g"}),
    _a("custom", {"name": "c"}, {"name": "d"}),
    _a("function", {"name": "h", "namespace": "ns"}),
    _a("custom", {"name": "e", "namespace": "ns"}),
    *(
        _a(kind)
        for kind in (
            "shell",
            "local_shell",
            "apply_patch",
            "tool_search",
            "file_search",
            "web_search",
            "web_search_2025_08_26",
            "web_search_preview",
            "web_search_preview_2025_03_11",
            "computer",
            "computer_use",
            "computer_use_preview",
            "image_generation",
            "code_interpreter",
            "programmatic_tool_calling",
        )
    ),
    _a("mcp", {"server_label": "s"}, {"name": "t"}),
)

EXAMPLES: dict[str, tuple[Example, ...]] = {
    "input": tuple(item for items in _ITEMS for item in items),
    "input.content": tuple(part for parts in _MESSAGE_PARTS for part in parts),
    "input.summary": _a("summary_text", {"text": "s"}),
    "input.output": tuple(part for parts in _PARTS for part in parts),
    "tools": tuple(tool for tools in _TOOLS for tool in tools),
    "tools.tools": tuple(tool for tools in _OFFERED for tool in tools),
    "tools.format": tuple(wanted for formats in _FORMATS for wanted in formats),
    "tools.tools.format": tuple(wanted for formats in _FORMATS for wanted in formats),
    "tools.environment": (
        *_a("local"),
        *_a("container_auto", {}, {"file_ids": [], "memory_limit": "1g", "network_policy": {}, "skills": []}),
        *_a("container_reference", {"container_id": "cntr_1"}),
    ),
    "tool_choice": (
        *(choice for choices in _CHOICES for choice in choices),
        *_a("allowed_tools", {"mode": "auto", "tools": [{"type": "function", "name": "f"}]}),
    ),
    "tool_choice.tools": tuple(choice for choices in _CHOICES for choice in choices),
    "text.format": (
        *_a("text"),
        *_a("json_object"),
        *_a("json_schema", {"name": "o", "schema": _SCHEMA}, {"description": "d"}),
    ),
    "reasoning": ({"summary": "auto"}, {"effort": "low"}),
    "image": ({"context_compression": "enabled"},),
    "prompt_cache_options": ({"ttl": "30m"}, {"mode": "explicit"}),
    "conversation": ({"id": "conv_1"},),
    "prompt": ({"id": "pmpt_1", "variables": {"k": "v"}, "version": "1"},),
    "background_options": ({"completion_window": "2h", "continuation_id": "c"},),
    "context_management": ({"type": "compaction", "compact_threshold": 1000},),
    "moderation": ({"model": "omni-moderation-latest", "policy": {}},),
    "access_programs": ({"cyber": "standard"},),
}
"""Objects by the path of the place that they stand at, without brackets."""

_BRACKETS = re.compile(r"\[[^\]]*\]")
_LAST_KIND = re.compile(r"\[type=([^\]]*)\]$")


def with_samples(row: Parameter) -> Parameter:
    """``row`` itself when it has samples, else with those that the examples give."""
    return row if row.samples else replace(row, samples=tuple(_samples(row.path)))


def _samples(path: str) -> Iterable[Any]:
    _, is_value, value = path.partition("[]=")
    if is_value:
        return [value]
    holder, _, name = path.rpartition(".")
    if name.startswith("type="):
        kind = name.removeprefix("type=")
        return [example for example in _at(holder) if example["type"] == kind]
    if not holder:
        return _at(path)
    selected = _LAST_KIND.search(holder)
    found = [
        example[name]
        for example in _at(holder)
        if name in example and (selected is None or example["type"] == selected[1])
    ]
    return [value for index, value in enumerate(found) if value not in found[:index]]


def _at(place: str) -> tuple[Example, ...]:
    return EXAMPLES.get(_BRACKETS.sub("", place), ())
