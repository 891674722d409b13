"""Input as it is kept: whole, with ids, and the same to a model as what was sent."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from typing import Any

import pytest
from openai.types.responses import ResponseItem

from app.surfaces.responses.ledger.examples import EXAMPLES
from app.surfaces.responses.stored_items import input_items
from app.turn.faults import TurnFault
from app.turn.turn import Message
from tests.support.responses import PNG, body, call, decode, result, user
from tests.support.strict import by_tag, check

MESSAGE = {"type": "message", "role": "user", "status": "completed"}


def kept(items: Any) -> list[dict[str, Any]]:
    counter = itertools.count(1)
    return input_items(items, lambda prefix: f"{prefix}{next(counter)}")


def messages_of(items: list[Any]) -> list[Message] | None:
    """What a turn with these items tells the model; None for items that no request can have alone."""
    try:
        return decode(body(*items)).turn.messages
    except TurnFault:
        return None


def test_a_string_is_a_message_of_the_user() -> None:
    assert kept("hi") == [{"id": "msg_1", **MESSAGE, "content": [{"type": "input_text", "text": "hi"}]}]


def test_short_messages_are_written_out() -> None:
    assert kept([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]) == [
        {"id": "msg_1", **MESSAGE, "content": [{"type": "input_text", "text": "a"}]},
        {
            "id": "msg_2",
            **MESSAGE,
            "role": "assistant",
            "content": [{"type": "output_text", "annotations": [], "logprobs": [], "text": "b"}],
        },
    ]


def test_what_has_an_id_keeps_it_and_null_is_absent() -> None:
    assert kept([call(id="fc_mine", status="incomplete", namespace=None), result()]) == [
        {
            "id": "fc_mine",
            "type": "function_call",
            "status": "incomplete",
            "call_id": "call_1",
            "name": "f",
            "arguments": "{}",
        },
        {
            "id": "fco_1",
            "type": "function_call_output",
            "status": "completed",
            "call_id": "call_1",
            "output": "1",
        },
    ]


def test_an_image_says_its_detail() -> None:
    image = {"type": "input_image", "image_url": PNG, "detail": None}
    assert kept([user(image)])[0]["content"] == [{"type": "input_image", "image_url": PNG, "detail": "auto"}]


@pytest.mark.parametrize("item", EXAMPLES["input"], ids=lambda item: item["type"])
def test_every_kind_means_the_same_to_a_model_once_kept(item: dict[str, Any]) -> None:
    before = [call(), item] if item["type"].endswith("_output") and "call_id" in item else [item]
    sent, again = messages_of([user(), *before]), messages_of([user(), *kept(before)])
    assert sent == again
    assert kept(kept(before)) == kept(before), "it is whole, so nothing is added again"


@pytest.mark.parametrize(
    "items",
    [
        "hi",
        [user()],
        [call(), result()],
        [{"type": "custom_tool_call", "call_id": "a", "name": "c", "input": "t"}],
    ],
    ids=["string", "message", "call", "custom"],
)
def test_kept_items_are_what_the_sdk_lists(items: Any) -> None:
    from openai.types.responses.response_custom_tool_call_item import ResponseCustomToolCallItem
    from openai.types.responses.response_function_tool_call_item import ResponseFunctionToolCallItem
    from openai.types.responses.response_function_tool_call_output_item import (
        ResponseFunctionToolCallOutputItem,
    )
    from openai.types.responses.response_input_message_item import ResponseInputMessageItem

    classes: dict[str, Any] = {
        "message": ResponseInputMessageItem,
        "function_call": ResponseFunctionToolCallItem,
        "function_call_output": ResponseFunctionToolCallOutputItem,
        "custom_tool_call": ResponseCustomToolCallItem,
    }
    assert classes.keys() <= by_tag(ResponseItem).keys()
    for item in kept(items):
        check(classes[item["type"]], json.dumps(item))


def test_messages_differ_where_texts_do() -> None:
    """The comparison above would see a difference."""
    one, other = messages_of([user()]), messages_of([user({"type": "input_text", "text": "other"})])
    assert one is not None
    assert one != other
    assert replace(one[0]) == one[0]
