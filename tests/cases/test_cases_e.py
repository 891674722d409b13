"""E, roles: C37, C39, C40."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask

from fake_upstream import FakeUpstream
from tests.matrix.answers import read
from tests.matrix.asking import CHAT, GENERATE, MESSAGES, RESPONSES, SURFACES, Json, ask

NUMBERS = ("C37", "C39", "C40")


def said(message: Json) -> list[tuple[int, str]]:
    return [(each["source"], each["text"]) for each in message["messages"]]


MIDWAY: dict[str, tuple[Json, str]] = {
    CHAT: (
        {
            "messages": [
                {"role": "system", "content": "S"},
                {"role": "user", "content": "u"},
                {"role": "system", "content": "MID"},
                {"role": "assistant", "content": "a"},
                {"role": "user", "content": "v"},
            ]
        },
        "messages[2].role",
    ),
    RESPONSES: (
        {
            "instructions": "S",
            "input": [
                {"role": "user", "content": "u"},
                {"role": "developer", "content": "MID"},
                {"role": "assistant", "content": "a"},
                {"role": "user", "content": "v"},
            ],
        },
        "input[1].role",
    ),
    MESSAGES: (
        {
            "system": "S",
            "messages": [
                {"role": "user", "content": "u"},
                {"role": "system", "content": "MID"},
                {"role": "assistant", "content": "a"},
                {"role": "user", "content": "v"},
            ],
        },
        "messages[1].role",
    ),
}


@pytest.mark.parametrize("surface", MIDWAY)
def test_c37_system_text_in_the_middle_keeps_its_place_and_is_told(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str
) -> None:
    keys, path = MIDWAY[surface]

    reply = ask(standing(), surface, **keys)

    assert reply.headers["x-candor-emulated"] == path
    message = fake.captures()[0]["message"]
    assert message["system_prompt"] == "S"
    assert said(message) == [(1, "u"), (1, "[system]\nMID"), (2, "a"), (1, "v")]


@pytest.mark.parametrize("role", ["system", "developer"])
def test_c39_chat_takes_developer_for_system(
    standing: Callable[..., Flask], fake: FakeUpstream, role: str
) -> None:
    ask(standing(), CHAT, messages=[{"role": role, "content": "D"}, {"role": "user", "content": "u"}])

    message = fake.captures()[0]["message"]
    assert (message["system_prompt"], said(message)) == ("D", [(1, "u")])


@pytest.mark.parametrize("role", ["system", "developer"])
def test_c39_responses_takes_developer_for_system(
    standing: Callable[..., Flask], fake: FakeUpstream, role: str
) -> None:
    ask(standing(), RESPONSES, input=[{"role": role, "content": "D"}, {"role": "user", "content": "u"}])

    message = fake.captures()[0]["message"]
    assert (message["system_prompt"], said(message)) == ("D", [(1, "u")])


@pytest.mark.parametrize(
    ("surface", "keys", "path"),
    [
        (CHAT, {"messages": [{"role": "narrator", "content": "x"}]}, "messages[0].role"),
        (RESPONSES, {"input": [{"role": "narrator", "content": "x"}]}, "input[0].role"),
        (MESSAGES, {"messages": [{"role": "narrator", "content": "x"}]}, "messages.0.role"),
        (GENERATE, {"contents": [{"role": "narrator", "parts": [{"text": "x"}]}]}, "contents[0].role"),
    ],
)
def test_c39_a_role_that_nobody_knows_is_refused_and_never_downgraded(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str, keys: Json, path: str
) -> None:
    reply = ask(standing(), surface, **keys)

    assert reply.status_code == 400
    assert path in reply.text
    assert fake.captures() == []


TWO = {
    CHAT: {
        "messages": [
            {"role": "system", "content": "A"},
            {"role": "system", "content": "B"},
            {"role": "user", "content": "hi"},
        ]
    },
    RESPONSES: {
        "instructions": "A",
        "input": [{"role": "system", "content": "B"}, {"role": "user", "content": "hi"}],
    },
    MESSAGES: {"system": [{"type": "text", "text": "A"}, {"type": "text", "text": "B"}]},
    GENERATE: {"systemInstruction": {"parts": [{"text": "A"}, {"text": "B"}]}},
}


@pytest.mark.parametrize("surface", SURFACES)
def test_c40_two_system_texts_both_arrive_in_order(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str
) -> None:
    ask(standing(), surface, **TWO[surface])

    message = fake.captures()[0]["message"]
    assert message["system_prompt"].split() == ["A", "B"]
    assert said(message) == [(1, "hi")]


ONLY = {
    CHAT: {"messages": [{"role": "system", "content": "A"}]},
    RESPONSES: {"input": [{"role": "developer", "content": "A"}]},
    MESSAGES: {"system": "A", "messages": []},
    GENERATE: {"systemInstruction": {"parts": [{"text": "A"}]}, "contents": []},
}


@pytest.mark.parametrize("surface", SURFACES)
def test_c40_a_request_of_system_text_only_works_or_is_refused(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str
) -> None:
    reply = ask(standing(), surface, **ONLY[surface])

    if reply.status_code == 200:
        assert read(surface, reply.data, stream=False).error is None
        assert fake.captures()[0]["message"]["system_prompt"] == "A"
    else:
        assert reply.status_code == 400
