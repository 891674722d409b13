"""A servable responses request around one sample of one ledger row."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from app.ledger import Parameter
from app.surfaces.responses.ledger.examples import EXAMPLES
from tests.support.responses import body, call, custom, function, namespace, user

_KIND = re.compile(r"\[type=([^\]]*)\]")
SYSTEM = {"instructions": "S"}
OTHER = function("other")
OUTPUT_OF: dict[str, dict[str, Any]] = {
    "function_call": {"type": "function_call_output", "output": "1"},
    "custom_tool_call": {"type": "custom_tool_call_output", "output": "1"},
    "local_shell_call": {"type": "local_shell_call_output", "output": "1"},
    "shell_call": {"type": "shell_call_output", "output": []},
    "apply_patch_call": {"type": "apply_patch_call_output", "status": "completed"},
    "tool_search_call": {"type": "tool_search_output", "execution": "client", "tools": []},
}
CALL_OF = {output["type"]: kind for kind, output in OUTPUT_OF.items()}
CHOSEN = [
    function("f"),
    function("g"),
    custom("c"),
    custom("d"),
    namespace("ns", function("h"), custom("e")),
    *({"type": kind} for kind in ("shell", "local_shell", "apply_patch")),
    {"type": "tool_search", "execution": "client"},
]


class Request(NamedTuple):
    """A body, and the concrete path of the sample in it."""

    body: dict[str, Any]
    path: str


def request_for(row: Parameter, sample: Any) -> Request:
    """The request for ``sample`` at the row's path. At a kind's own row the sample is a whole object."""
    list_path, is_value, _ = row.path.partition("[]=")
    if is_value:
        return Request(body(**{list_path: [sample]}), f"{list_path}[0]")
    holder, _, name = row.path.rpartition(".")
    if not holder:
        return _top(name, sample)
    if name.startswith("type="):
        return _around(holder, sample, "type")
    return _around(holder, {**_example(holder, name), name: sample}, name)


def _top(name: str, sample: Any) -> Request:
    beside: dict[str, Any] = {}
    if name == "tool_choice":
        beside = {"tools": CHOSEN, **SYSTEM}
    elif name == "tools":
        beside = SYSTEM
    return Request(body(**{**beside, name: sample}), name)


def _example(holder: str, name: str) -> dict[str, Any]:
    """The smallest object of the kind that ``holder`` selects, or of any kind with the field ``name``."""
    kinds = _KIND.findall(holder.rpartition(".")[2])
    of_kind = [
        example
        for example in EXAMPLES.get(_bare(holder), ())
        if "type" in example and (not kinds or example["type"] == kinds[0])
    ]
    with_field = [example for example in of_kind if name in example]
    if kinds and name != "namespace":  # a namespace needs a tool that has one
        return of_kind[0]
    return next(iter(with_field or of_kind), {})


def _bare(path: str) -> str:
    return re.sub(r"\[[^\]]*\]", "", path)


def _around(holder: str, value: dict[str, Any], name: str) -> Request:
    place = _bare(holder)
    match place:
        case "input":
            items, index = _items(value)
            return Request(body(*items), f"input[{index}].{name}")
        case "input.content" | "input.summary":
            key = place.removeprefix("input.")
            item = _holding_part(value, key)
            return Request(body(user(), item), f"input[1].{key}[0].{name}")
        case "input.output":
            output = {"type": "function_call_output", "call_id": "call_1", "output": [value]}
            return Request(body(user(), call(), output), f"input[2].output[0].{name}")
        case "tools":
            return Request(body(tools=[value, OTHER], **SYSTEM), f"tools[0].{name}")
        case "tools.tools":
            return Request(body(tools=[namespace("ns", value)], **SYSTEM), f"tools[0].tools[0].{name}")
        case "tools.format":
            return Request(body(tools=[custom(format=value)], **SYSTEM), f"tools[0].format.{name}")
        case "tools.tools.format":
            tools = [namespace("ns", custom(format=value))]
            return Request(body(tools=tools, **SYSTEM), f"tools[0].tools[0].format.{name}")
        case "tools.environment":
            tools = [{"type": "shell", "environment": value}, OTHER]
            return Request(body(tools=tools, **SYSTEM), f"tools[0].environment.{name}")
        case "tool_choice":
            return Request(body(tools=CHOSEN, tool_choice=value, **SYSTEM), f"tool_choice.{name}")
        case "tool_choice.tools":
            allowed = [value, {"type": "function", "name": "g"}]
            choice = {"type": "allowed_tools", "mode": "auto", "tools": allowed}
            return Request(body(tools=CHOSEN, tool_choice=choice, **SYSTEM), f"tool_choice.tools[0].{name}")
        case "text.format":
            return Request(body(text={"format": value}), f"text.format.{name}")
        case "context_management":
            return Request(body(context_management=[value]), f"context_management[0].{name}")
        case _:
            return Request(body(**{place: value}), f"{place}.{name}")


def _items(item: dict[str, Any]) -> tuple[list[dict[str, Any]], int]:
    """``item`` with its call before it, or its output behind it; and where it stands."""
    kind = item["type"]
    if kind in OUTPUT_OF:
        answer = {"call_id": item["call_id"], **OUTPUT_OF[kind]}
        if kind == "local_shell_call":
            answer["id"] = "out_1"
        return [user(), item, answer], 1
    if kind in CALL_OF and item.get("execution") != "server":
        ids = {"call_id": item.get("call_id") or item["id"], "id": "item_0"}
        return [user(), {**_smallest(CALL_OF[kind]), **ids}, item], 2
    return [user(), item], 1


def _smallest(kind: str) -> dict[str, Any]:
    return next(example for example in EXAMPLES["input"] if example["type"] == kind)


def _holding_part(part: dict[str, Any], key: str) -> dict[str, Any]:
    if part["type"] in ("summary_text", "reasoning_text"):
        return {"type": "reasoning", "id": "rs_1", "summary": [], key: [part]}
    role = "assistant" if part["type"] in ("output_text", "refusal") else "user"
    return {"role": role, "content": [part]}
