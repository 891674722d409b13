"""F, reasoning that comes back: C45."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from fake_upstream import FakeUpstream
from fake_upstream import scenarios as s
from tests.matrix import asking
from tests.matrix.answers import read
from tests.matrix.asking import GENERATE, MESSAGES, RESPONSES, Json, ask

NUMBERS = ("C45",)
BACK = {"DEVIN_CONNECT_REASONING": "1"}
INCLUDE = {"store": False, "include": ["reasoning.encrypted_content"]}


def foreign(surface: str) -> tuple[Json, str]:
    """A history with somebody else's blob in it, and what the header says of it."""
    match surface:
        case "responses":
            blob = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "blob"}
            called = {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}
            result = {"type": "function_call_output", "call_id": "a", "output": "1"}
            return {**INCLUDE, "input": [blob, called, result]}, "input[0]"
        case "messages":
            block = {"type": "thinking", "thinking": "hm", "signature": "blob"}
            used = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
            got = {"type": "tool_result", "tool_use_id": "a", "content": "1"}
            return {
                "messages": [
                    {"role": "user", "content": "u"},
                    {"role": "assistant", "content": [block, used]},
                    {"role": "user", "content": [got]},
                ]
            }, "messages[1].content[0]"
    part = {"functionCall": {"id": "a", "name": "f", "args": {}}, "thoughtSignature": "YmxvYg=="}
    answer = {"functionResponse": {"id": "a", "name": "f", "response": {"o": 1}}}
    return {
        "contents": [
            {"role": "user", "parts": [{"text": "u"}]},
            {"role": "model", "parts": [{"text": "hm", "thought": True}, part]},
            {"role": "user", "parts": [answer]},
        ]
    }, "contents[1].parts"


@pytest.mark.parametrize("switch", [{}, BACK], ids=["off", "on"])
@pytest.mark.parametrize("surface", [RESPONSES, MESSAGES, GENERATE])
def test_c45_a_blob_that_is_not_ours_is_passed_over_and_said_so(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str, switch: dict[str, str]
) -> None:
    keys, place = foreign(surface)

    reply = ask(standing(**switch), surface, **asking.tools(surface, "f"), **keys)

    assert reply.status_code == 200
    assert reply.headers["x-candor-ignored"].startswith(place)
    messages = fake.captures()[0]["message"]["messages"]
    assert not any("reasoning" in each for each in messages)
    assert "blob" not in str(messages)
    assert [call["id"] for each in messages for call in each.get("tool_calls", ())] == ["a"]


def thought_of(surface: str, reply: Any) -> Json:
    """The history in which our own reasoning comes back as it was handed out."""
    match surface:
        case "responses":
            return {
                "input": [
                    {"role": "user", "content": "u"},
                    *reply.json["output"],
                    {"role": "user", "content": "v"},
                ]
            }
        case "messages":
            return {
                "messages": [
                    {"role": "user", "content": "u"},
                    {"role": "assistant", "content": reply.json["content"]},
                    {"role": "user", "content": "v"},
                ]
            }
    return {
        "contents": [
            {"role": "user", "parts": [{"text": "u"}]},
            reply.json["candidates"][0]["content"],
            {"role": "user", "parts": [{"text": "v"}]},
        ]
    }


@pytest.mark.parametrize(("switch", "reasoning"), [({}, None), (BACK, "deep thought")], ids=["off", "on"])
@pytest.mark.parametrize("surface", [RESPONSES, MESSAGES, GENERATE])
def test_c45_our_own_reasoning_comes_back_to_the_upstream_by_its_switch(
    standing: Callable[..., Flask],
    fake: FakeUpstream,
    surface: str,
    switch: dict[str, str],
    reasoning: str | None,
) -> None:
    app = standing(**switch)
    shown = asking.reasoning_shown(surface) | (INCLUDE if surface == RESPONSES else {})
    fake.queue([s.reasoning("deep "), s.reasoning("thought"), s.text("a"), s.finish()])
    first = ask(app, surface, **shown)
    assert read(surface, first.data, stream=False).reasoning == "deep thought"

    second = ask(app, surface, **shown, **thought_of(surface, first))

    assert second.status_code == 200
    messages = fake.captures()[-1]["message"]["messages"]
    found = [each["reasoning"] for each in messages if "reasoning" in each]
    assert found == ([] if reasoning is None else [reasoning])
