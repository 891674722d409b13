"""A finished reply -> one Response object, with the items that the stream would have had."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, assert_never

import orjson

from app.seals import Seals
from app.surfaces import sse
from app.surfaces.responses.custom_input import CustomInput
from app.surfaces.responses.decode import Echo
from app.surfaces.responses.output_items import (
    Item,
    call_status,
    client_item,
    custom_item,
    function_item,
    id_prefix,
    message_item,
    message_status,
    reasoning_item,
)
from app.surfaces.responses.response_object import ResponseObject, ending
from app.surfaces.responses.stored import Keeping
from app.surfaces.surface import ReplyFacts
from app.turn.events import FinishReason
from app.turn.fold import Reply, ReplyBlock, ReplyCall, ReplyReasoning, ReplyText


def reply_body(
    facts: ReplyFacts,
    reply: Reply,
    seals: Seals,
    keeping: Keeping | None = None,
    *,
    new_id: Callable[[str], str] = sse.new_id,
    now: Callable[[], float] = time.time,
) -> bytes:
    """The body; the response is kept before it says so.

    Raises UPSTREAM_FAILED when a client-run call does not fit its tool.
    """
    echo = facts.decoded.echo
    assert isinstance(echo, Echo)
    response_id = new_id("resp_")
    response = ResponseObject(facts, response_id)
    output: list[bytes] = []
    last = reply.blocks[-1] if reply.blocks else None
    for block in reply.blocks:
        item = _item(block, echo, reply.finish, block is last, seals, new_id)
        if item is not None:
            output.append(orjson.dumps(item))
    status, details = ending(reply.finish)
    state: dict[str, Any] = {
        "usage": reply.usage,
        "incomplete_details": details,
        "completed_at": int(now()) if status == "completed" else None,
    }
    is_kept = keeping is not None and keeping.keep(
        response_id, response.render(status, is_kept=True, **state), output
    )
    return response.render(status, output, is_kept=is_kept, **state)


def _item(
    block: ReplyBlock,
    echo: Echo,
    finish: FinishReason,
    is_last: bool,
    seals: Seals,
    new_id: Callable[[str], str],
) -> Item | None:
    match block:
        case ReplyText(text):
            return message_item(new_id("msg_"), text, message_status(finish, is_last=is_last))
        case ReplyReasoning(text):
            if not (echo.shows_summary or echo.seals_reasoning):
                return None
            blob = seals.wrap(text) if echo.seals_reasoning else None
            return reasoning_item(new_id("rs_"), text if echo.shows_summary else None, blob)
        case ReplyCall():
            return _call(block, echo, finish, is_last, new_id)
    assert_never(block)


def _call(
    call: ReplyCall, echo: Echo, finish: FinishReason, is_last: bool, new_id: Callable[[str], str]
) -> Item:
    offered = echo.book.shape_of(call.name)
    item_id = new_id(id_prefix(offered))
    match offered.shape:
        case "function":
            status = call_status(call.arguments, finish, is_last=is_last)
            return function_item(item_id, call.id, offered, call.arguments, status)
        case "custom":
            inside = CustomInput()
            inside.feed(call.arguments)
            inside.finish()
            return custom_item(item_id, call.id, offered, inside.text)
        case kind:
            return client_item(item_id, call.id, kind, call.arguments, finish)
