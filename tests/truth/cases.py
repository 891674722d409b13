"""A whole request for every sample of every row of every surface."""

from __future__ import annotations

from typing import Any

from app.ledger import Parameter
from tests.support import chat_rows, responses_rows
from tests.truth import documents_generate_content, documents_messages
from tests.truth.case import KEEP, Case, locate

_EARLIER = {"model": "fake-echo", "input": "earlier words", "store": True}
"""A request whose response is kept."""
_KEPT = {
    "previous_response_id": ("id",),
    "input[].type=item_reference": ("output item",),
    "input[type=item_reference].id": ("output item",),
}
"""What of the kept response the sample of a row is."""


def samples_of(row: Parameter) -> tuple[object, ...]:
    """The row's samples; a detail that names none stands for itself in its document, as a seal does."""
    if row.path in _KEPT:
        return _KEPT[row.path]
    if row.path.endswith(".thoughtSignature"):
        return (*row.samples, KEEP)
    return row.samples or (KEEP,)


def _after_a_kept_one(row: Parameter, sample: object) -> Case:
    if row.path == "previous_response_id":
        body: dict[str, Any] = {"model": "fake-echo", "input": "hi", row.path: "as it will be named"}
        return Case(body, row.path, sample, first=_EARLIER)
    reference = {"type": "item_reference", "id": "as it will be named"}
    body = {"model": "fake-echo", "input": [{"role": "user", "content": "hi"}, reference]}
    return Case(body, f"input[1].{row.path.rpartition('.')[2].partition('=')[0]}", sample, first=_EARLIER)


_ADDED_TOOLS = ("input[type=additional_tools].tools", "input[type=tool_search_output].tools")
_ALLOWED_NAME = "tool_choice[type=allowed_tools].tools[].name"


def _allowed(name: str) -> dict[str, str]:
    """The tool of that name among those that responses requests with a choice declare."""
    match name:
        case "f" | "g":
            return {"type": "function", "name": name}
        case "h":
            return {"type": "function", "name": name, "namespace": "ns"}
        case "c" | "d":
            return {"type": "custom", "name": name}
        case "e":
            return {"type": "custom", "name": name, "namespace": "ns"}
    return {"type": "mcp", "server_label": "s", "name": name}


def case_for(surface: str, row: Parameter, sample: object) -> Case:
    """The request in which ``sample`` stands at the row's path."""
    match surface:
        case "chat_completions":
            body = chat_rows.request_for(row, sample)
            if row.path == "tools":
                body = {**body, "messages": [{"role": "system", "content": "S"}, *body["messages"]]}
            return Case(body, locate(body, row, sample), sample)
        case "responses" if row.path in _KEPT and sample in _KEPT[row.path]:
            return _after_a_kept_one(row, sample)
        case "responses":
            made = responses_rows.request_for(row, sample)
            body = made.body
            if row.path in _ADDED_TOOLS:
                body = {**body, "instructions": "S"}
            elif row.path == _ALLOWED_NAME:
                body["tool_choice"]["tools"][0] = _allowed(str(sample))
            return Case(body, made.path, sample)
        case "messages":
            return documents_messages.case(row, sample)
        case "generate_content":
            return documents_generate_content.case(row, sample)
    raise ValueError(surface)
