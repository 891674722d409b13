"""What no ledger knows: a kind is a 400 that names its path, a plain field is served, named and counted."""

from __future__ import annotations

from typing import Any

import pytest

from tests.truth.case import Case
from tests.truth.refusal import refused_paths
from tests.truth.stage import SURFACES, Stage

HI = [{"role": "user", "content": "hi"}]
F = {"name": "f", "input_schema": {}}


def chat(**fields: Any) -> dict[str, Any]:
    return {"messages": HI, **fields}


def messages(**fields: Any) -> dict[str, Any]:
    return {"max_tokens": 9, "messages": HI, **fields}


def blocks(role: str, *content: Any) -> list[Any]:
    return [{"role": role, "content": list(content)}]


def contents(**part: Any) -> dict[str, Any]:
    return {"contents": [{"role": "user", "parts": [part]}]}


UNKNOWN: list[tuple[str, dict[str, Any], str]] = [
    ("chat_completions", chat(messages=[{"role": "critic", "content": "hi"}]), "messages[0].role"),
    ("chat_completions", chat(messages=blocks("user", {"type": "smell"})), "messages[0].content[0].type"),
    ("chat_completions", chat(tools=[{"type": "lathe"}]), "tools[0].type"),
    ("chat_completions", chat(tool_choice={"type": "lathe"}), "tool_choice.type"),
    ("chat_completions", chat(response_format={"type": "verse"}), "response_format.type"),
    ("chat_completions", chat(prediction={"type": "dream", "content": ""}), "prediction.type"),
    ("responses", {"input": [{"type": "omen"}]}, "input[0].type"),
    ("responses", {"input": [{"role": "critic", "content": "hi"}]}, "input[0].role"),
    ("responses", {"input": blocks("user", {"type": "smell"})}, "input[0].content[0].type"),
    ("responses", {"input": "hi", "tools": [{"type": "lathe"}]}, "tools[0].type"),
    ("responses", {"input": "hi", "tool_choice": {"type": "lathe"}}, "tool_choice.type"),
    ("responses", {"input": "hi", "include": ["omens"]}, "include[0]"),
    ("responses", {"input": "hi", "text": {"format": {"type": "verse"}}}, "text.format.type"),
    ("messages", messages(messages=[{"role": "critic", "content": "hi"}]), "messages[0].role"),
    ("messages", messages(messages=blocks("user", {"type": "smell"})), "messages[0].content[0].type"),
    (
        "messages",
        messages(messages=blocks("user", {"type": "image", "source": {"type": "aether"}})),
        "messages[0].content[0].source.type",
    ),
    ("messages", messages(tools=[{"type": "lathe_20300101", "name": "f"}]), "tools[0].type"),
    ("messages", messages(tools=[F], tool_choice={"type": "lathe"}), "tool_choice.type"),
    ("messages", messages(thinking={"type": "deep"}), "thinking.type"),
    ("messages", messages(output_config={"format": {"type": "verse"}}), "output_config.format.type"),
    ("generate_content", {"contents": [{"role": "critic", "parts": [{"text": "hi"}]}]}, "contents[0].role"),
    ("generate_content", contents(smell="x"), "contents[0].parts[0].smell"),
    ("generate_content", {**contents(text="hi"), "tools": [{"lathe": {}}]}, "tools[0].lathe"),
    (
        "generate_content",
        {**contents(text="hi"), "toolConfig": {"functionCallingConfig": {"mode": "LATHE"}}},
        "toolConfig.functionCallingConfig.mode",
    ),
]

PLAIN: list[tuple[str, dict[str, Any], str, str]] = [
    ("chat_completions", chat(colour="red"), "colour", "colour"),
    (
        "chat_completions",
        chat(messages=[{"role": "user", "content": "hi", "colour": 1}]),
        "messages[0].colour",
        "messages[].colour",
    ),
    ("responses", {"input": "hi", "colour": "red"}, "colour", "colour"),
    ("responses", {"input": "hi", "reasoning": {"colour": 1}}, "reasoning.colour", "reasoning.colour"),
    ("messages", messages(colour="red"), "colour", "colour"),
    (
        "messages",
        messages(messages=blocks("user", {"type": "text", "text": "a", "colour": 1})),
        "messages[0].content[0].colour",
        "messages[].content[].colour",
    ),
    ("generate_content", {**contents(text="hi"), "colour": "red"}, "colour", "colour"),
    (
        "generate_content",
        {**contents(text="hi"), "generationConfig": {"colour": 1}},
        "generationConfig.colour",
        "generationConfig.colour",
    ),
]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize(
    ("surface", "body", "path"), UNKNOWN, ids=lambda each: each if type(each) is str else ""
)
def test_an_unknown_kind_is_a_400_with_its_path(
    surface: str, body: dict[str, Any], path: str, stream: bool, world: Stage
) -> None:
    answer = world.ask(surface, Case(body, path), stream=stream)
    assert answer.status == 400
    assert answer.captures == []
    assert refused_paths(surface, answer)[0] == path


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize(("surface", "body", "path", "row"), PLAIN)
def test_an_unknown_plain_field_is_served_named_and_counted(
    surface: str, body: dict[str, Any], path: str, row: str, stream: bool, world: Stage
) -> None:
    world.forget_warnings()
    before = world.ignored_count(surface, row)
    answer = world.ask(surface, Case(body, path), stream=stream)
    assert answer.status == 200
    assert answer.ignored == [path]
    assert world.ignored_count(surface, row) == before + 1
    assert [line["parameter"] for line in answer.warnings] == [row]
    without = {key: value for key, value in body.items() if key != "colour"}
    assert answer.wire == world.ask(surface, Case(without, path), stream=stream).wire


def test_every_surface_is_asked_for_kinds_and_for_fields() -> None:
    assert {surface for surface, _, _ in UNKNOWN} == set(SURFACES)
    assert {surface for surface, _, _, _ in PLAIN} == set(SURFACES)
