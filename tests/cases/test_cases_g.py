"""G, tools of other kinds: C50, C52, C54."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from flask import Flask

from fake_upstream import FakeUpstream
from fake_upstream import scenarios as s
from tests.matrix import asking
from tests.matrix.answers import data_lines, named_events
from tests.matrix.asking import CHAT, GENERATE, MESSAGES, RESPONSES, Json, ask
from tests.matrix.test_matrix_tool_choice import named_by

NUMBERS = ("C50", "C52", "C54")
GRAMMAR = {"type": "grammar", "syntax": "lark", "definition": "start: /.+/s"}
PATCH = {"type": "custom", "name": "apply_patch", "format": GRAMMAR}
CALL = [
    s.tool_call(0, "a", "apply_patch"),
    s.tool_args(0, '{"input":"*** Be'),
    s.tool_args(0, 'gin\\n"}'),
    s.finish(),
]


def test_c50_responses_streams_a_custom_call_with_its_raw_input(
    standing: Callable[..., Flask], fake: FakeUpstream
) -> None:
    fake.queue(CALL)

    reply = ask(standing(), RESPONSES, stream=True, input="p", instructions="S", tools=[PATCH])

    assert reply.headers["x-candor-ignored"] == "tools[0].format"
    events = [json.loads(data) for _, data in named_events(reply.text)]
    deltas = [e["delta"] for e in events if e["type"] == "response.custom_tool_call_input.delta"]
    (done,) = [e["input"] for e in events if e["type"] == "response.custom_tool_call_input.done"]
    (item,) = events[-1]["response"]["output"]
    assert "".join(deltas) == done == item["input"] == "*** Begin\n"
    assert (item["type"], item["name"], item["call_id"]) == ("custom_tool_call", "apply_patch", "a")


def test_c50_responses_answers_a_custom_call_whole(
    standing: Callable[..., Flask], fake: FakeUpstream
) -> None:
    fake.queue(CALL)

    (item,) = ask(standing(), RESPONSES, input="p", tools=[PATCH]).json["output"]

    assert (item["type"], item["input"]) == ("custom_tool_call", "*** Begin\n")


def chat_patch() -> Json:
    grammar = {"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: /.+/s"}}
    return {"type": "custom", "custom": {"name": "apply_patch", "format": grammar}}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_c50_chat_answers_a_custom_call_in_its_shape(
    standing: Callable[..., Flask], fake: FakeUpstream, stream: bool
) -> None:
    fake.queue(CALL)

    reply = ask(standing(), CHAT, stream=stream, tools=[chat_patch()])

    assert reply.headers["x-candor-ignored"] == "tools[0].custom.format"
    if stream:
        chunks = [json.loads(line) for line in data_lines(reply.text)[:-1]]
        pieces = [
            piece
            for chunk in chunks
            for choice in chunk["choices"]
            for piece in choice["delta"].get("tool_calls", ())
        ]
        assert "".join(piece["custom"].get("input", "") for piece in pieces) == "*** Begin\n"
    else:
        (call,) = reply.json["choices"][0]["message"]["tool_calls"]
        assert call == {
            "id": "a",
            "type": "custom",
            "custom": {"name": "apply_patch", "input": "*** Begin\n"},
        }


@pytest.mark.parametrize(
    "hosted",
    [
        "web_search",
        "web_search_2025_08_26",
        "web_search_preview",
        "web_search_preview_2025_03_11",
        "image_generation",
    ],
)
def test_c52_a_hosted_tool_that_is_merely_declared_is_withheld_and_told(
    standing: Callable[..., Flask], fake: FakeUpstream, hosted: str
) -> None:
    declared = [*asking.tools(RESPONSES, "f")["tools"], {"type": hosted}]
    items = [
        {"type": "additional_tools", "tools": []},
        {"type": "message", "role": "user", "content": "hi"},
    ]

    reply = ask(standing(), RESPONSES, instructions="S", tools=declared, input=items)

    assert reply.status_code == 200
    assert "tools[1].type" in reply.headers["x-candor-ignored"].split(", ")
    assert [tool["name"] for tool in fake.captures()[0]["message"]["tools"]] == ["f"]


@pytest.mark.parametrize(
    ("keys", "field"),
    [
        ({"tools": [{"type": "web_search"}]}, "tools[0].type"),
        ({"tools": [{"type": "file_search", "vector_store_ids": ["v"]}]}, "tools[0].type"),
        ({"tools": [{"type": "web_search"}], "tool_choice": {"type": "web_search"}}, None),
        (
            {
                "tools": [*asking.tools(RESPONSES, "f")["tools"], {"type": "web_search"}],
                "tool_choice": {"type": "web_search"},
            },
            None,
        ),
    ],
)
def test_c52_a_hosted_tool_that_is_forced_or_alone_is_refused(
    standing: Callable[..., Flask], fake: FakeUpstream, keys: Json, field: str | None
) -> None:
    reply = ask(standing(), RESPONSES, **keys)

    assert reply.status_code == 400
    assert field is None or named_by(RESPONSES, reply) == field
    assert named_by(RESPONSES, reply).startswith("tool")
    assert fake.captures() == []


@pytest.mark.parametrize(
    ("surface", "tools", "field"),
    [
        (MESSAGES, [{"type": "web_search_20250305", "name": "web_search"}], "tools.0.type"),
        (MESSAGES, [{"type": "code_execution_20260521", "name": "code_execution"}], "tools.0.type"),
        (GENERATE, [{"googleSearch": {}}], "tools[0].googleSearch"),
        (GENERATE, [{"code_execution": {}}], "tools[0].code_execution"),
        (CHAT, [{"type": "widget"}], "tools[0].type"),
    ],
)
def test_c52_other_surfaces_refuse_the_tools_that_their_vendor_runs(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str, tools: list[Json], field: str
) -> None:
    reply = ask(standing(), surface, tools=tools)

    assert reply.status_code == 400
    assert named_by(surface, reply) == field
    assert fake.captures() == []


@pytest.mark.parametrize(
    ("surface", "odd", "field"),
    [
        (CHAT, {"type": "widget"}, "tools[1].type"),
        (CHAT, {}, "tools[1].type"),
        (RESPONSES, {"type": "widget"}, "tools[1].type"),
        (RESPONSES, {"name": "g"}, "tools[1].type"),
        (MESSAGES, {"type": "widget_20260101", "name": "w"}, "tools.1.type"),
        (GENERATE, {"widget": {}}, "tools[1].widget"),
    ],
)
def test_c54_a_tool_of_a_kind_that_nobody_knows_is_refused(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str, odd: Json, field: str
) -> None:
    tools = [*asking.tools(surface, "f")["tools"], odd]

    reply = ask(standing(), surface, tools=tools)

    assert reply.status_code == 400
    assert named_by(surface, reply) == field
    assert fake.captures() == []
