"""D, tool history in requests: C24, C25, C27, C29, C31, C32, C35."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from fake_upstream import FakeUpstream
from tests.cases.history import conversation
from tests.matrix import asking
from tests.matrix.asking import CHAT, GENERATE, MESSAGES, RESPONSES, SURFACES, Json, ask
from tests.matrix.test_matrix_tool_choice import named_by

NUMBERS = ("C24", "C25", "C27", "C29", "C31", "C32", "C35")
A = ("a", "f", {"x": "1"})
B = ("b", "g", {"x": "2"})
C = ("c", "f", {"x": "3"})
PIXEL = "iVBORw0KGgo="

each_surface = pytest.mark.parametrize("surface", SURFACES)


def sent(app: Flask, fake: FakeUpstream, surface: str, keys: Json) -> list[Json]:
    """The messages that reach the upstream."""
    reply = ask(app, surface, **asking.tools(surface, "f", "g"), **keys)
    assert reply.status_code == 200, reply.text
    messages: list[Json] = fake.captures()[-1]["message"]["messages"]
    return messages


def result_text(surface: str, text: str) -> str:
    """How a result's text stands on the wire: generateContent's is the JSON of its response."""
    return f'{{"output":"{text}"}}' if surface == GENERATE else text


def results(messages: list[Json]) -> list[tuple[str, str]]:
    return [(each["tool_call_id"], each["text"]) for each in messages if each["source"] == 4]


def call_ids(messages: list[Json]) -> list[str]:
    return [call["id"] for each in messages for call in each.get("tool_calls", ())]


@each_surface
@pytest.mark.parametrize("order", list(itertools.permutations("abc")))
def test_c24_results_in_any_order_reach_the_upstream_as_they_were_sent(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str, order: tuple[str, ...]
) -> None:
    said = conversation(surface, [A, B, C], [(call_id, f"r{call_id}") for call_id in order])

    messages = sent(standing(), fake, surface, said)

    assert results(messages) == [(call_id, result_text(surface, f"r{call_id}")) for call_id in order]


@each_surface
@pytest.mark.parametrize("count", [1, 2, 3, 40])
def test_c25_the_ids_that_came_in_are_the_ids_that_go_out(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str, count: int
) -> None:
    ids = [f"call_{number}" for number in range(count)]
    said = conversation(surface, [(each, "f", {}) for each in ids], [(each, "r") for each in ids])

    messages = sent(standing(), fake, surface, said)

    assert call_ids(messages) == ids
    assert [call_id for call_id, _ in results(messages)] == ids
    assert [len(each.get("tool_calls", ())) for each in messages if each["source"] == 2] == [1] * count


ALONE: dict[str, tuple[Json, str]] = {
    CHAT: ({"messages": [{"role": "tool", "tool_call_id": "zz", "content": "1"}]}, "messages[0]"),
    RESPONSES: (
        {"input": [{"type": "function_call_output", "call_id": "zz", "output": "1"}]},
        "input[0]",
    ),
    MESSAGES: (
        {
            "messages": [
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "zz", "content": "1"}]}
            ]
        },
        "messages.0.content.0",
    ),
    GENERATE: (
        {"contents": [{"parts": [{"functionResponse": {"id": "zz", "name": "f", "response": {"o": 1}}}]}]},
        "contents[0].parts[0]",
    ),
}


@each_surface
def test_c27_a_result_without_its_call_is_refused_where_it_stands(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str
) -> None:
    said, place = ALONE[surface]

    reply = ask(standing(), surface, **said)

    assert reply.status_code == 400
    assert named_by(surface, reply).startswith(place)
    assert fake.captures() == []


@each_surface
def test_c27_a_second_result_for_one_call_is_refused(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str
) -> None:
    reply = ask(standing(), surface, **conversation(surface, [A], [("a", "r1"), ("a", "r2")]))

    assert reply.status_code == 400
    assert fake.captures() == []


def with_next(surface: str, said: Json) -> Json:
    """The conversation, and then the user says something else."""
    match surface:
        case "responses":
            return {"input": [*said["input"], {"role": "user", "content": "next"}]}
        case "generate_content":
            return {"contents": [*said["contents"], {"role": "user", "parts": [{"text": "next"}]}]}
        case "messages":
            *before, last = said["messages"]
            text = {"type": "text", "text": "next"}
            return {"messages": [*before, {"role": "user", "content": [*last["content"], text]}]}
    return {"messages": [*said["messages"], {"role": "user", "content": "next"}]}


@each_surface
def test_c29_a_call_without_its_result_is_refused_and_named(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str
) -> None:
    reply = ask(standing(), surface, **with_next(surface, conversation(surface, [A, B], [("a", "r")])))

    assert reply.status_code == 400
    assert "'b'" in reply.text
    assert fake.captures() == []


@pytest.mark.parametrize("surface", [CHAT, RESPONSES, MESSAGES])
def test_c29_a_call_in_the_last_message_may_wait_for_its_result(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str
) -> None:
    assert call_ids(sent(standing(), fake, surface, conversation(surface, [A], []))) == ["a"]


@each_surface
def test_c29_an_id_that_two_calls_of_one_turn_share_is_refused(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str
) -> None:
    twice = [A, ("a", "g", {})]

    reply = ask(standing(), surface, **conversation(surface, twice, [("a", "1"), ("a", "2")]))

    assert reply.status_code == 400
    assert fake.captures() == []


def with_picture(surface: str) -> Json:
    """A conversation whose one result holds a text and an image."""
    said = conversation(surface, [A], [("a", "pic")])
    match surface:
        case "responses":
            said["input"][-1]["output"] = [
                {"type": "input_text", "text": "pic"},
                {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}"},
            ]
        case "messages":
            source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
            said["messages"][-1]["content"][0]["content"] = [
                {"type": "text", "text": "pic"},
                {"type": "image", "source": source},
            ]
        case "generate_content":
            part = said["contents"][-1]["parts"][0]["functionResponse"]
            part["parts"] = [{"inlineData": {"mimeType": "image/png", "data": PIXEL}}]
    return said


@pytest.mark.parametrize("surface", [RESPONSES, MESSAGES, GENERATE])
def test_c31_an_image_inside_a_result_reaches_the_upstream(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str
) -> None:
    messages = sent(standing(), fake, surface, with_picture(surface))

    (result,) = [each for each in messages if each["source"] == 4]
    assert result["text"] == result_text(surface, "pic")
    assert result["images"] == [{"base64_data": PIXEL, "mime_type": "image/png"}]


def test_c31_chat_refuses_an_image_inside_a_result_or_carries_it(
    standing: Callable[..., Flask], fake: FakeUpstream
) -> None:
    said = conversation(CHAT, [A], [])
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
    said["messages"].append({"role": "tool", "tool_call_id": "a", "content": [image]})

    reply = ask(standing(), CHAT, **said)

    if reply.status_code == 200:
        assert PIXEL in str(fake.captures()[0]["message"])
    else:
        assert named_by(CHAT, reply).startswith("messages[2].content[0]")


@pytest.mark.parametrize(("is_error", "text"), [(True, "[error]\n42"), (False, "42"), (None, "42")])
def test_c32_a_failed_result_differs_from_a_good_one(
    standing: Callable[..., Flask], fake: FakeUpstream, is_error: bool | None, text: str
) -> None:
    said = conversation(MESSAGES, [A], [("a", "42")])
    said["messages"][-1]["content"][0]["is_error"] = is_error

    reply = ask(standing(), MESSAGES, **said)

    assert results(fake.captures()[0]["message"]["messages"]) == [("a", text)]
    emulated = "messages[2].content[0].is_error" if is_error else None
    assert reply.headers.get("x-candor-emulated") == emulated


def test_c32_a_failed_result_without_text_is_marked_too(
    standing: Callable[..., Flask], fake: FakeUpstream
) -> None:
    said = conversation(MESSAGES, [A], [("a", "")])
    said["messages"][-1]["content"][0]["is_error"] = True

    ask(standing(), MESSAGES, **said)

    (result,) = [each for each in fake.captures()[0]["message"]["messages"] if each["source"] == 4]
    assert result["text"].startswith("[error]")


LONG = "toolu_" + "x" * 58
ODD_IDS: list[Any] = [LONG + "_" + "a" * 21, LONG + "_" + "b" * 21, "é/\\\"'\n", "1", " "]


@each_surface
def test_c35_ids_are_opaque_whatever_their_length_and_letters(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str
) -> None:
    assert len(ODD_IDS[0]) == 86
    assert ODD_IDS[0][:64] == ODD_IDS[1][:64]
    said = conversation(
        surface, [(each, "f", {}) for each in ODD_IDS], [(each, "r") for each in reversed(ODD_IDS)]
    )

    messages = sent(standing(), fake, surface, said)

    assert call_ids(messages) == ODD_IDS
    assert [call_id for call_id, _ in results(messages)] == ODD_IDS[::-1]
