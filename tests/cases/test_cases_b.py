"""B, one call at a time: C12, C13."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from fake_upstream import FakeUpstream
from fake_upstream import scenarios as s
from tests.matrix import asking
from tests.matrix.answers import read
from tests.matrix.asking import CHAT, MESSAGES, RESPONSES, ask

NUMBERS = ("C12", "C13")
ON = {"DEVIN_CONNECT_TOOL_CHOICE": "1"}

both_ways = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


@pytest.mark.parametrize(("switch", "in_force"), [({}, True), (ON, False)], ids=["off", "on"])
@pytest.mark.parametrize(
    "others",
    [
        [{"type": "web_search_preview"}],
        [{"type": "web_search"}, {"type": "image_generation"}],
        [{"type": "custom", "name": "c"}],
        [{"type": "namespace", "name": "n", "description": "", "tools": [{"type": "function", "name": "g"}]}],
        [{"type": "local_shell"}],
    ],
    ids=["hosted", "two hosted", "custom", "namespace", "shell"],
)
def test_c12_the_hint_survives_whatever_else_is_among_the_tools(
    standing: Callable[..., Flask],
    fake: FakeUpstream,
    others: list[dict[str, Any]],
    switch: dict[str, str],
    in_force: bool,
) -> None:
    tools = [*others, *asking.tools(RESPONSES, "f")["tools"]]

    reply = ask(standing(**switch), RESPONSES, instructions="S", tools=tools, parallel_tool_calls=False)

    assert reply.status_code == 200
    assert reply.json["parallel_tool_calls"] is in_force
    ignored = reply.headers.get("x-candor-ignored", "").split(", ")
    assert ("parallel_tool_calls" in ignored) is in_force
    assert (11 in fake.captures()[0]["top_level_fields"]) is not in_force


@both_ways
@pytest.mark.parametrize("switch", [{}, ON], ids=["off", "on"])
@pytest.mark.parametrize(
    ("surface", "hint"),
    [
        (CHAT, {"parallel_tool_calls": False}),
        (RESPONSES, {"parallel_tool_calls": False}),
        (MESSAGES, {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}),
        (MESSAGES, {"tool_choice": {"type": "any", "disable_parallel_tool_use": True}}),
        (MESSAGES, {"tool_choice": {"type": "tool", "name": "f", "disable_parallel_tool_use": True}}),
    ],
)
def test_c13_two_calls_in_spite_of_the_hint_are_never_cut_and_are_counted(
    make_app: Callable[..., Flask],
    fake: FakeUpstream,
    surface: str,
    hint: dict[str, Any],
    switch: dict[str, str],
    stream: bool,
) -> None:
    app = make_app(**switch, CANDOR_LOG_LEVEL="ERROR")
    fake.queue([s.tool_call(0, "a", "f"), s.tool_call(1, "b", "f"), s.finish()])

    reply = ask(app, surface, stream=stream, **asking.tools(surface, "f"), **hint)

    assert [call.id for call in read(surface, reply.data, stream=stream).calls] == ["a", "b"]
    assert (11 in fake.captures()[0]["top_level_fields"]) is bool(switch)
    metrics = app.test_client().get("/metrics").text
    assert f'parallel_tool_calls_hint_violated_total{{sent="{len(switch)}"}} 1.0' in metrics
