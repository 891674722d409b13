"""Output items in their final shape, as the ``openai`` package's ``ResponseOutputItem`` requires them.

A reasoning item omits ``encrypted_content`` rather than sending null; calls always have a ``status``.
"""

from __future__ import annotations

from typing import Any, Literal, assert_never

import orjson

from app.surfaces.responses.client_tools import ClientKind, fields_of_call
from app.surfaces.responses.tools import Offered
from app.turn.events import FinishReason
from app.turn.faults import FaultKind, TurnFault

Item = dict[str, Any]
Status = Literal["in_progress", "completed", "incomplete"]

CUT_SHORT: frozenset[FinishReason] = frozenset({"length", "content_filter"})
"""Ways to finish that leave the response incomplete."""


def text_part(text: str) -> dict[str, Any]:
    """A piece of answer text."""
    return {"type": "output_text", "annotations": [], "logprobs": [], "text": text}


def message_item(item_id: str, text: str | None, status: Status) -> Item:
    """An answer; ``text`` None is one that has only begun."""
    content = [] if text is None else [text_part(text)]
    return {"id": item_id, "type": "message", "status": status, "role": "assistant", "content": content}


def reasoning_item(item_id: str, summary: str | None, blob: str | None = None) -> Item:
    """Reasoning as one summary part, sealed, or both."""
    parts = [] if summary is None else [{"type": "summary_text", "text": summary}]
    item: Item = {"id": item_id, "type": "reasoning", "summary": parts}
    if blob is not None:
        item["encrypted_content"] = blob
    return item


def function_item(item_id: str, call_id: str, offered: Offered, arguments: str, status: Status) -> Item:
    """A call of a function; ``namespace`` only where the tool has one."""
    item: Item = {
        "id": item_id,
        "type": "function_call",
        "status": status,
        "call_id": call_id,
        "name": offered.name,
        "arguments": arguments,
    }
    if offered.namespace is not None:
        item["namespace"] = offered.namespace
    return item


def custom_item(item_id: str, call_id: str, offered: Offered, text: str) -> Item:
    """A call of a custom tool; such items have no status."""
    item: Item = {
        "id": item_id,
        "type": "custom_tool_call",
        "call_id": call_id,
        "name": offered.name,
        "input": text,
    }
    if offered.namespace is not None:
        item["namespace"] = offered.namespace
    return item


def client_item(item_id: str, call_id: str, kind: ClientKind, arguments: str, finish: FinishReason) -> Item:
    """A call of a client-run kind in its own item.

    Arguments that do not fit the kind can only be told as they are, in a function_call item, when the turn was
    cut short; else the turn has failed: raises UPSTREAM_FAILED.
    """
    fields = fields_of_call(kind, arguments)
    if fields is not None:
        return {"id": item_id, "type": f"{kind}_call", "status": "completed", "call_id": call_id, **fields}
    if finish not in CUT_SHORT:
        raise TurnFault(
            FaultKind.UPSTREAM_FAILED, f"the arguments of the call to '{kind}' do not fit the tool"
        )
    return function_item(item_id, call_id, Offered("function", kind), arguments, "incomplete")


def id_prefix(offered: Offered) -> str:
    """How the ids of items of this shape begin."""
    match offered.shape:
        case "function":
            return "fc_"
        case "custom":
            return "ctc_"
        case "tool_search":
            return "tsc_"
        case "local_shell":
            return "lsh_"
        case "shell":
            return "sh_"
        case "apply_patch":
            return "apc_"
    assert_never(offered.shape)


def call_status(arguments: str, finish: FinishReason, *, is_last: bool) -> Status:
    """A call is incomplete when the turn was cut short in the midst of its arguments."""
    if finish not in CUT_SHORT:
        return "completed"
    if is_last and arguments == "{}":  # nothing had come of them
        return "incomplete"
    try:
        orjson.loads(arguments)
    except orjson.JSONDecodeError:
        return "incomplete"
    return "completed"


def message_status(finish: FinishReason, *, is_last: bool) -> Status:
    """An answer is incomplete when the turn was cut short in it."""
    return "incomplete" if is_last and finish in CUT_SHORT else "completed"
