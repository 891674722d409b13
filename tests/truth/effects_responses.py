"""Responses: the effects that its rows claim beyond a wire field, and how the wire spells its samples."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from app.ledger import Parameter
from app.seals import Seals
from fake_upstream.scenarios import finish, reasoning, text
from tests.truth.checks import (
    connected,
    echoed,
    mode_of_subset,
    names_the_session,
    offers,
    says,
    streamed,
    thinking,
    told,
    unchanged,
)
from tests.truth.proof import Check, Seen
from tests.truth.stage import SEAL_KEY, Stage
from tests.truth.wire import at

TEXT, CALLS, CALL_ID = "messages[].text", "messages[].tool_calls[]", "messages[].tool_call_id"


def encrypted(stage: Stage, surface: str, row: Parameter, seen: list[Seen]) -> None:
    """The reasoning item holds the text under Candor's seal."""
    for each in connected(seen):
        case = replace(each.case, scenario=([reasoning("secretly"), text("said"), finish()],))
        items = stage.ask(surface, case, house=each.house).body["output"]
        (blob,) = [item["encrypted_content"] for item in items if item["type"] == "reasoning"]
        assert Seals(SEAL_KEY.encode()).unwrap(blob) == "secretly"


def narrowed(stage: Stage, surface: str, row: Parameter, seen: list[Seen]) -> None:
    """Only the tools that the list names are offered; those that run elsewhere never are."""
    for each in connected(seen, "plain"):
        named = each.case.body["tool_choice"]["tools"]
        assert set(at(each.answer.wire, "tools[].name")) == {
            name for tool in named if (name := _offered_as(tool))
        }


def kept(stage: Stage, surface: str, row: Parameter, seen: list[Seen]) -> None:
    """A response that is to be kept is found again, any other is not."""
    for each in connected(seen):
        found = stage.get(f"/v1/responses/{each.answer.body['id']}", each.house)
        assert found.status == (200 if each.case.sample else 404)
        assert each.answer.body["store"] is each.case.sample


def image_in_kept_input(stage: Stage, surface: str, row: Parameter, seen: list[Seen]) -> None:
    """The kept input shows its image."""
    image = {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="}
    for each in connected(seen):
        body = {**each.case.body, "store": True, "input": [{"role": "user", "content": [image]}]}
        answer = stage.ask(surface, replace(each.case, body=body), house=each.house)
        items = stage.get(f"/v1/responses/{answer.body['id']}/input_items", each.house).body["data"]
        assert items[0]["content"][0]["image_url"] == image["image_url"]


_CLIENT_TOOLS = ("shell", "local_shell", "apply_patch", "tool_search")
_HOSTED = (
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
    "mcp",
    "programmatic_tool_calling",
)


def _offered_as(tool: dict[str, Any]) -> str | None:
    if tool["type"] in ("function", "custom"):
        space = tool.get("namespace")
        return f"{space}__{tool['name']}" if space else str(tool["name"])
    return tool["type"] if tool["type"] in _CLIENT_TOOLS else None


def _labels() -> dict[str, Check]:
    """Fields of items that ask for nothing: what names an item, and that it is done."""
    keys = {
        "message": ("id", "status"),
        "reasoning": ("id", "status"),
        "additional_tools": ("id", "role"),
        "tool_search_output": ("id", "status", "execution"),
        "function_call": ("id", "status", "async"),
        "function_call_output": ("id", "status", "name", "namespace"),
        "custom_tool_call": ("id", "status", "async"),
        "custom_tool_call_output": ("id", "status", "name"),
        "local_shell_call": ("id", "status"),
        "shell_call": ("id", "status", "environment"),
        "apply_patch_call": ("id", "status"),
        "local_shell_call_output": ("status",),
        "shell_call_output": ("id", "status", "max_output_length"),
        "apply_patch_call_output": ("id",),
        "tool_search_call": ("id", "status", "execution"),
        "web_search_call": ("id",),
        "file_search_call": ("id",),
        "code_interpreter_call": ("id",),
        "image_generation_call": ("id",),
        "mcp_call": ("id",),
    }
    return {f"input[type={kind}].{key}": unchanged for kind, names in keys.items() for key in names}


def _calls() -> dict[str, Check]:
    """Tools that the caller runs: their calls and results are ordinary ones."""
    told_by_call = {
        "custom_tool_call": ("name", "namespace", "input", "call_id"),
        "local_shell_call": ("action", "call_id"),
        "shell_call": ("action", "call_id"),
        "apply_patch_call": ("operation", "call_id"),
        "tool_search_call": ("arguments", "call_id"),
    }
    outputs = (
        "custom_tool_call_output",
        "local_shell_call_output",
        "shell_call_output",
        "apply_patch_call_output",
    )
    return {
        **{f"input[type={kind}].{key}": told(CALLS) for kind, keys in told_by_call.items() for key in keys},
        **{f"input[type={kind}].output": told(TEXT) for kind in outputs},
        **{f"input[type={kind}].call_id": told(CALL_ID) for kind in (*outputs, "tool_search_output")},
        "input[type=local_shell_call_output].id": told(CALL_ID),
        "input[].type=custom_tool_call": says(CALLS, "text"),
        "input[].type=local_shell_call": says(CALLS, "local_shell"),
        "input[].type=shell_call": says(CALLS, "shell"),
        "input[].type=apply_patch_call": says(CALLS, "apply_patch"),
        "input[].type=tool_search_call": says(CALLS, "tool_search"),
        "input[].type=custom_tool_call_output": says(TEXT, "1"),
        "input[].type=local_shell_call_output": says(TEXT, "a"),
        "input[].type=shell_call_output": says(TEXT, "timeout"),
        "input[].type=apply_patch_call_output": says(TEXT, "completed", "Done"),
        "input[].type=additional_tools": says("tools[].name", "f"),
        "input[].type=tool_search_output": says("tools[].name", "f"),
    }


def _history() -> dict[str, Check]:
    """Tools that ran elsewhere: what is known of them is told as text."""
    keys = {
        "web_search_call": ("action", "status"),
        "file_search_call": ("queries", "results", "status"),
        "code_interpreter_call": ("code", "container_id", "outputs", "status"),
        "image_generation_call": (
            "action",
            "background",
            "error",
            "output_format",
            "quality",
            "revised_prompt",
            "size",
            "svg_usage",
            "status",
        ),
        "mcp_call": ("approval_request_id", "arguments", "error", "name", "output", "server_label", "status"),
    }
    return {
        **{f"input[type={kind}].{key}": told(TEXT) for kind, names in keys.items() for key in names},
        **{f"input[].type={kind}": says(TEXT, kind) for kind in keys},
        "input[type=image_generation_call].result": told("messages[].images[]"),
    }


def _tools() -> dict[str, Check]:
    """Tools of the service that the caller runs are offered as functions."""
    offered = {
        "tools[].type=custom": says("tools[].name", "c", "d"),
        "tools[type=custom].name": told("tools[].name"),
        "tools[type=custom].description": told("tools[].description"),
        "tools[].type=namespace": says("tools[].name", "ns__f", "ms__f"),
        "tools[type=namespace].name": told("tools[].name"),
        "tools[type=namespace].tools": says("tools[].name", "ns__f"),
        "tools[].type=tool_search": says("tools[].name", "tool_search"),
        "tools[type=tool_search].execution": says("tools[].name", "tool_search"),
        "tools[type=tool_search].description": told("tools[].description"),
        "tools[type=tool_search].parameters": told("tools[].parameters"),
        **{f"tools[].type={kind}": says("tools[].name", kind) for kind in _CLIENT_TOOLS[:3]},
        "tools[type=shell].environment": unchanged,
        "tools[type=shell].environment.type=local": unchanged,
    }
    inner = "tools[type=namespace].tools"
    return {
        **offered,
        f"{inner}[].type=custom": says("tools[].name", "ns__c", "ns__d"),
        f"{inner}[type=custom].name": told("tools[].name"),
        f"{inner}[type=custom].description": told("tools[].description"),
        **{
            f"{place}[type=custom].format{rest}": check
            for place in ("tools", inner)
            for rest, check in (("", says("tools[].parameters", "lark", "regex")), (".type=text", unchanged))
        },
    }


_SUBSET = "tool_choice[type=allowed_tools].tools"
_SUMMARY = thinking(lambda sample: True)

EFFECTS: dict[str, Check] = {
    "prompt_cache_key": names_the_session,
    "stream": streamed,
    "stream_options": unchanged,
    "text": told("system_prompt"),
    "text.format": says("system_prompt", "conforms to this JSON Schema", "Answer with one JSON object"),
    "text.format.type=text": unchanged,
    "text.format.type=json_object": says("system_prompt", "Answer with one JSON object and nothing else."),
    "text.format.type=json_schema": told("system_prompt"),
    "text.format[type=json_schema].name": told("system_prompt"),
    "text.format[type=json_schema].schema": told("system_prompt"),
    "text.format[type=json_schema].description": told("system_prompt"),
    "reasoning": thinking(lambda sample: "summary" in sample),
    "reasoning.summary": _SUMMARY,
    "reasoning.generate_summary": _SUMMARY,
    "include": unchanged,
    "include[]=reasoning.encrypted_content": encrypted,
    "metadata": echoed,
    "include[]=message.input_image.image_url": image_in_kept_input,
    "image": unchanged,
    "store": kept,
    "previous_response_id": says(TEXT, "earlier words"),
    "input[].type=item_reference": says(TEXT, "earlier words"),
    "input[type=item_reference].id": says(TEXT, "earlier words"),
    "prompt_cache_options": unchanged,
    "tool_choice.type=allowed_tools": narrowed,
    "tool_choice[type=allowed_tools].mode": mode_of_subset,
    _SUBSET: offers(["f"], ["g"]),
    **{f"{_SUBSET}[].type={kind}": narrowed for kind in ("function", "custom", *_CLIENT_TOOLS, *_HOSTED)},
    **{f"{_SUBSET}[].{key}": narrowed for key in ("name", "namespace", "server_label")},
    "input[].type=reasoning": unchanged,
    **_labels(),
    **_calls(),
    **_history(),
    **_tools(),
}

SPELT: dict[str, tuple[str, ...]] = {
    "parallel_tool_calls": ("True", "True"),
    "input[type=apply_patch_call_output].status": ("[error]", "completed"),
    "tool_choice.type=shell": ("shell",),
    "tool_choice.type=apply_patch": ("apply_patch",),
    "input[].type=message": ("hello", "good day"),
    "input[type=message].role": ("1", "2", "1", "1"),
    "input[type=reasoning].encrypted_content": ("first thought", "second thought"),
    "input[].type=function_call": ("f", "g"),
    "input[].type=function_call_output": ("1", "2"),
    "tools[].type=function": ("f", "g"),
    "tools[type=namespace].tools[].type=function": ("ns__f", "ns__g"),
}
