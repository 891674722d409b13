"""I, sampling and limits: C64, C66, C67, C68."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from fake_upstream import FakeUpstream
from fake_upstream import scenarios as s
from tests.matrix.answers import read
from tests.matrix.asking import CHAT, GENERATE, MESSAGES, RESPONSES, SURFACES, Json, ask
from tests.matrix.test_matrix_tool_choice import named_by

NUMBERS = ("C64", "C66", "C67", "C68")


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize(
    ("surface", "keys", "finish"),
    [
        (CHAT, {"stop": "END"}, "stop"),
        (CHAT, {"stop": ["END"]}, "stop"),
        (MESSAGES, {"stop_sequences": ["END"]}, "stop_sequence/END"),
        (GENERATE, {"generationConfig": {"stopSequences": ["END"]}}, "STOP"),
        (GENERATE, {"generation_config": {"stop_sequences": ["END"]}}, "STOP"),
    ],
)
@pytest.mark.parametrize("pieces", [("aEN", "Db"), ("a", "E", "N", "D", "b"), ("aENDb",), ("aEND", "END")])
def test_c64_the_answer_ends_before_the_stop_string(
    standing: Callable[..., Flask],
    fake: FakeUpstream,
    surface: str,
    keys: Json,
    finish: str,
    pieces: tuple[str, ...],
    stream: bool,
) -> None:
    fake.queue([*map(s.text, pieces), s.usage(3, 4), s.finish()])

    answer = read(surface, ask(standing(), surface, stream=stream, **keys).data, stream=stream)

    assert (answer.text, answer.finish) == ("a", finish)


@pytest.mark.parametrize(
    ("surface", "keys", "tokens"),
    [
        (CHAT, {"max_tokens": 5}, 5),
        (CHAT, {"max_completion_tokens": 5}, 5),
        (CHAT, {"max_completion_tokens": 5, "max_tokens": 9}, 5),
        (CHAT, {"max_tokens": 9, "max_completion_tokens": None}, 9),
        (CHAT, {}, None),
        (RESPONSES, {"max_output_tokens": 5}, 5),
        (RESPONSES, {}, None),
        (MESSAGES, {"max_tokens": 5}, 5),
        (GENERATE, {"generationConfig": {"maxOutputTokens": 5}}, 5),
        (GENERATE, {"generation_config": {"max_output_tokens": 5}}, 5),
        (GENERATE, {}, None),
    ],
)
def test_c66_every_spelling_of_the_cap_is_one_field_on_the_wire(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str, keys: Json, tokens: int | None
) -> None:
    assert ask(standing(), surface, **keys).status_code == 200
    assert fake.captures()[0]["message"]["completion"].get("max_tokens") == tokens


def test_c66_messages_without_a_cap_is_refused(standing: Callable[..., Flask], fake: FakeUpstream) -> None:
    reply = ask(standing(), MESSAGES, max_tokens=None)

    assert (reply.status_code, named_by(MESSAGES, reply)) == (400, "max_tokens")
    assert fake.captures() == []


@pytest.mark.parametrize(
    ("surface", "keys", "field", "value", "emulated"),
    [
        (CHAT, {"temperature": 0}, "temperature", 0.001, "temperature"),
        (RESPONSES, {"temperature": 0}, "temperature", 0.001, "temperature"),
        (MESSAGES, {"temperature": 0.0}, "temperature", 0.001, "temperature"),
        (
            GENERATE,
            {"generationConfig": {"temperature": 0}},
            "temperature",
            0.001,
            "generationConfig.temperature",
        ),
        (CHAT, {"top_p": 0}, "top_p", 0, None),
        (RESPONSES, {"top_p": 0}, "top_p", 0, None),
        (MESSAGES, {"top_p": 0}, "top_p", 0, None),
        (GENERATE, {"generationConfig": {"topP": 0}}, "top_p", 0, None),
        (MESSAGES, {"top_k": 0}, "top_k", 0, None),
        (GENERATE, {"generationConfig": {"topK": 0}}, "top_k", 0, None),
        (GENERATE, {"generationConfig": {"topK": 0.0}}, "top_k", 0, None),
    ],
)
def test_c67_zero_is_a_value_and_differs_from_absent(
    standing: Callable[..., Flask],
    fake: FakeUpstream,
    surface: str,
    keys: Json,
    field: str,
    value: float,
    emulated: str | None,
) -> None:
    absent, zero = (ask(standing(), surface, **said) for said in ({}, keys))

    without, with_zero = (capture["message"]["completion"] for capture in fake.captures())
    assert field not in without
    assert with_zero[field] == value
    assert "x-candor-emulated" not in absent.headers
    assert zero.headers.get("x-candor-emulated") == emulated


@pytest.mark.parametrize(
    ("surface", "keys", "path"),
    [
        (CHAT, {"seed": 0}, "seed"),
        (GENERATE, {"generationConfig": {"seed": 0}}, "generationConfig.seed"),
        (
            GENERATE,
            {"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}},
            "generationConfig.thinkingConfig.thinkingBudget",
        ),
    ],
)
def test_c67_zero_of_what_cannot_be_carried_is_named(
    standing: Callable[..., Flask], surface: str, keys: Json, path: str
) -> None:
    reply = ask(standing(), surface, **keys)

    headers = [reply.headers.get("x-candor-ignored"), reply.headers.get("x-candor-emulated")]
    assert path in headers


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("value", [2, 0, 128, "1", True, 1.5])
@pytest.mark.parametrize(("surface", "path"), [(CHAT, "n"), (GENERATE, "generationConfig.candidateCount")])
def test_c68_more_than_one_answer_is_refused_before_any_turn(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str, path: str, value: Any, stream: bool
) -> None:
    keys = {"n": value} if surface == CHAT else {"generationConfig": {"candidateCount": value}}

    reply = ask(standing(), surface, stream=stream, **keys)

    assert reply.status_code == 400
    assert reply.content_type == "application/json"
    assert named_by(surface, reply) == path
    assert fake.captures() == []


@pytest.mark.parametrize("value", [1, 1.0, None])
@pytest.mark.parametrize("surface", [CHAT, GENERATE])
def test_c68_one_answer_is_served_in_silence(
    standing: Callable[..., Flask], surface: str, value: Any
) -> None:
    keys = {"n": value} if surface == CHAT else {"generationConfig": {"candidateCount": value}}

    reply = ask(standing(), surface, **keys)

    assert reply.status_code == 200
    assert "x-candor-ignored" not in reply.headers


BOTH: dict[str, Json] = {
    CHAT: {"temperature": 0.3, "top_p": 0.9},
    RESPONSES: {"temperature": 0.3, "top_p": 0.9},
    MESSAGES: {"temperature": 0.3, "top_p": 0.9},
    GENERATE: {"generationConfig": {"temperature": 0.3, "topP": 0.9}},
}


@pytest.mark.parametrize("surface", SURFACES)
def test_c68_temperature_and_top_p_both_reach_the_upstream(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str
) -> None:
    ask(standing(), surface, **BOTH[surface])

    completion = fake.captures()[0]["message"]["completion"]
    assert (completion["temperature"], completion["top_p"]) == (0.3, 0.9)


AUDIO = {"data": "AAAA", "format": "wav"}
MEDIA: list[tuple[str, Json, str]] = [
    (CHAT, {"type": "input_audio", "input_audio": AUDIO}, "messages[0].content[0].type"),
    (CHAT, {"type": "file", "file": {"file_id": "f"}}, "messages[0].content[0].type"),
    (
        CHAT,
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        "messages[0].content[0].image_url.url",
    ),
    (RESPONSES, {"type": "input_file", "file_id": "f"}, "input[0].content[0].type"),
    (
        RESPONSES,
        {"type": "input_image", "image_url": "https://example.org/a.png"},
        "input[0].content[0].image_url",
    ),
    (
        MESSAGES,
        {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
        "messages.0.content.0.source.type",
    ),
    (GENERATE, {"inlineData": {"mimeType": "audio/wav", "data": "AAAA"}}, "contents[0].parts[0].inlineData"),
    (GENERATE, {"fileData": {"fileUri": "gs://b/a.png"}}, "contents[0].parts[0].fileData"),
]


@pytest.mark.parametrize(("surface", "part", "field"), MEDIA)
def test_c68_media_that_cannot_be_carried_are_refused_and_never_dropped(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str, part: Json, field: str
) -> None:
    keys: Json = {
        CHAT: {"messages": [{"role": "user", "content": [part]}]},
        RESPONSES: {"input": [{"role": "user", "content": [part]}]},
        MESSAGES: {"messages": [{"role": "user", "content": [part]}]},
        GENERATE: {"contents": [{"parts": [part]}]},
    }[surface]

    reply = ask(standing(), surface, **keys)

    assert reply.status_code == 400
    assert named_by(surface, reply).startswith(field)
    assert fake.captures() == []
