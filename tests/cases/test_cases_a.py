"""A, tool choice: C01, C03, C04, C06, C07, C10."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from flask import Flask

from fake_upstream import FakeUpstream
from fake_upstream import scenarios as s
from tests.matrix import asking
from tests.matrix.answers import read
from tests.matrix.asking import CHAT, GENERATE, MESSAGES, RESPONSES, SURFACES, ask
from tests.matrix.test_matrix_tool_choice import CHOICES, FORCE, NARROW

NUMBERS = ("C01", "C03", "C04", "C06", "C07", "C10")
ON = {"DEVIN_CONNECT_TOOL_CHOICE": "1"}

both_ways = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
off_and_on = pytest.mark.parametrize("switch", [{}, ON], ids=["off", "on"])
each_surface = pytest.mark.parametrize("surface", SURFACES)


@both_ways
@off_and_on
@each_surface
def test_c01_none_with_tools_is_served_without_a_call(
    standing: Callable[..., Flask], surface: str, switch: dict[str, str], stream: bool
) -> None:
    reply = ask(
        standing(**switch),
        surface,
        stream=stream,
        model="fake-tools",
        **asking.tools(surface, "f"),
        **CHOICES["none"][surface],
    )

    answer = read(surface, reply.data, stream=stream)
    assert (answer.text, answer.calls) == ("hi", [])


@both_ways
@each_surface
def test_c03_one_forced_name_is_the_only_tool_and_says_that_the_force_is_missing(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str, stream: bool
) -> None:
    tools = asking.tools(surface, "f", "g")

    reply = ask(standing(), surface, stream=stream, **tools, **CHOICES["named"][surface])

    assert reply.headers["x-candor-ignored"] == FORCE[surface]
    assert NARROW[surface] in reply.headers["x-candor-emulated"].split(", ")
    assert [tool["name"] for tool in fake.captures()[0]["message"]["tools"]] == ["g"]


@both_ways
@each_surface
def test_c03_one_forced_name_is_forced_by_the_switch_and_its_arguments_come_as_a_call(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str, stream: bool
) -> None:
    tools = asking.tools(surface, "f", "g")

    reply = ask(
        standing(**ON), surface, stream=stream, model="fake-tools", **tools, **CHOICES["named"][surface]
    )

    assert [call.name for call in read(surface, reply.data, stream=stream).calls] == ["g"]
    choice = fake.captures()[0]["message"]["tool_choice"]
    assert choice == {"option_name": "function", "tool_name": "g"}


@off_and_on
@pytest.mark.parametrize("surface", [CHAT, RESPONSES, GENERATE])
@pytest.mark.parametrize("meaning", ["empty subset", "empty subset, required"])
def test_c04_an_empty_list_of_allowed_tools_allows_none(
    standing: Callable[..., Flask],
    fake: FakeUpstream,
    meaning: str,
    surface: str,
    switch: dict[str, str],
) -> None:
    tools = asking.tools(surface, "f", "g")

    reply = ask(standing(**switch), surface, model="fake-tools", **tools, **CHOICES[meaning][surface])

    assert read(surface, reply.data, stream=False).calls == []
    message = fake.captures()[0]["message"]
    assert "tools" not in message
    assert message.get("tool_choice") == ({"option_name": "none"} if switch else None)


@both_ways
@each_surface
def test_c06_a_required_call_that_nothing_guarantees_is_headed_and_counted(
    app: Flask, fake: FakeUpstream, surface: str, stream: bool
) -> None:
    fake.queue([s.text("no tool"), s.finish()])

    reply = ask(app, surface, stream=stream, **asking.tools(surface, "f"), **CHOICES["required"][surface])

    assert read(surface, reply.data, stream=stream).text == "no tool"
    assert reply.headers["x-candor-ignored"] == FORCE[surface]
    metrics = app.test_client().get("/metrics").text
    assert f'surface="{surface}"}} 1.0' in next(
        line for line in metrics.splitlines() if line.startswith("parameters_ignored_total{")
    )
    assert 'forced_tool_choice_without_call_total{sent="0"} 1.0' in metrics


@off_and_on
@each_surface
def test_c07_a_call_in_spite_of_none_is_the_upstreams_fault(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str, switch: dict[str, str]
) -> None:
    fake.queue([s.tool_call(0, "a", "f"), s.tool_args(0, "{}"), s.finish()])

    reply = ask(standing(**switch), surface, **asking.tools(surface, "f"), **CHOICES["none"][surface])

    assert reply.status_code == 502
    assert "tools" not in fake.captures()[0]["message"]


@both_ways
@each_surface
def test_c10_a_turn_that_is_moved_to_another_token_carries_the_same_choice_and_labels(
    make_app: Callable[..., Flask], fake: FakeUpstream, tmp_path: Path, surface: str, stream: bool
) -> None:
    tokens = tmp_path / "tokens.toml"
    tokens.write_text("".join(f'[[token]]\nname = "{name}"\nsecret = "{name}"\n' for name in "ab"))
    app = make_app(**ON, DEVIN_CONNECT_TOKENS_FILE=str(tokens), CANDOR_LOG_LEVEL="ERROR")
    fake.queue([s.http_error(429, "resource_exhausted", "slow down")])
    keys = asking.tools(surface, "f", "g") | CHOICES["named"][surface]
    if surface in (CHAT, RESPONSES, MESSAGES):
        keys |= {"metadata": {"user_id": "u"}}

    reply = ask(app, surface, stream=stream, model="fake-tools", **keys)

    assert [call.name for call in read(surface, reply.data, stream=stream).calls] == ["g"]
    first, second = (capture["message"] for capture in fake.captures())
    assert first.pop("metadata")["session_token"] != second.pop("metadata")["session_token"]
    assert first == second
    assert second["tool_choice"] == {"option_name": "function", "tool_name": "g"}
