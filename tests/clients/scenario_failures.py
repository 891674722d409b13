"""How each client fails when Candor does: in bounded requests, and with our words where it has a place for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
import requests

from fake_upstream import scenarios as s
from tests.clients.claude import Claude
from tests.clients.client import KEY, Client
from tests.clients.codex import Codex
from tests.clients.gemini import Gemini
from tests.clients.opencode import OpenCode
from tests.clients.world import World

NewWorld = Callable[..., World]

CLIENTS: dict[str, Client] = {
    "codex": Codex(retries={"request_max_retries": 1, "stream_max_retries": 1}),
    "claude": Claude(environment={"CLAUDE_CODE_MAX_RETRIES": "2"}),
    "gemini": Gemini(attempts=2),
    "opencode-chat": OpenCode(),
    "opencode-responses": OpenCode("@ai-sdk/openai"),
    "opencode-messages": OpenCode("@ai-sdk/anthropic"),
    "opencode-generate": OpenCode("@ai-sdk/google"),
}
"""Each with the bound on its retries that it has a setting for; opencode has none."""

FREE: tuple[Client, ...] = (Codex(model="free-agent"), Claude(model="free-agent"), Gemini(model="free-agent"))
"""Clients of a model that a drought leaves."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How a client ends: after how many requests, with which exit code, and showing which of our words."""

    requests: int
    exit_code: int
    shows: str = ""


def manners(**by_client: Manner) -> pytest.MarkDecorator:
    """One case per client."""
    cases = {name.replace("_", "-"): manner for name, manner in by_client.items()}
    return pytest.mark.parametrize(("name", "manner"), cases.items(), ids=cases.keys())


def check(world: World, name: str, manner: Manner, key: str | None = None) -> None:
    """Ask the client to say something, and see that it ends in this manner."""
    answer = world.ask(CLIENTS[name], "Say HELLO", key=key)
    seen = Manner(len(world.statuses), answer.exit_code, manner.shows)
    assert seen == manner, f"{world.recorder}\n{answer}"
    assert manner.shows in answer.error + answer.text, f"{world.recorder}\n{answer}"


def spend(world: World, *steps: s.JsonStep) -> None:
    """A turn that is not the client's, whose upstream answers with ``steps``."""
    world.fake.queue(steps)
    body = {"model": "fake-agent", "messages": [{"role": "user", "content": "hi"}]}
    requests.post(
        f"http://{world.recorder.target}/v1/chat/completions",
        json=body,
        headers={"authorization": f"Bearer {KEY}"},
        timeout=30,
    )


REFUSED = "the prompt breaks a rule of the upstream"


@manners(
    codex=Manner(1, 1, REFUSED),
    claude=Manner(6, 1, REFUSED),
    gemini=Manner(1, 144, REFUSED),
    opencode_chat=Manner(1, 1, REFUSED),
    opencode_responses=Manner(1, 1, REFUSED),
    opencode_messages=Manner(1, 1, REFUSED),
    opencode_generate=Manner(1, 1, REFUSED),
)
def test_an_invalid_request(fresh_world: NewWorld, name: str, manner: Manner) -> None:
    world = fresh_world()
    world.fake.queue([s.error("invalid_argument", REFUSED)], times=0)
    check(world, name, manner)
    assert set(world.statuses) == {400}


BAD_KEY = "API key"


@manners(
    codex=Manner(2, 1, BAD_KEY),
    claude=Manner(1, 1, BAD_KEY),
    gemini=Manner(1, 145, BAD_KEY),
    opencode_chat=Manner(1, 1, BAD_KEY),
    opencode_responses=Manner(1, 1, BAD_KEY),
    opencode_messages=Manner(1, 1, BAD_KEY),
    opencode_generate=Manner(1, 1, BAD_KEY),
)
def test_a_wrong_key(world: World, name: str, manner: Manner) -> None:
    check(world, name, manner, key="not-the-key")
    assert set(world.statuses) == {401}
    assert not world.captures


LIMITED = "upstream answered with an error: slow down"


@manners(
    codex=Manner(2, 1, "last status: 429 Too Many Requests"),
    claude=Manner(3, 1, LIMITED),
    gemini=Manner(2, 173, LIMITED),
    opencode_chat=Manner(6, 1, LIMITED),
    opencode_responses=Manner(6, 1, LIMITED),
    opencode_messages=Manner(6, 1, LIMITED),
    opencode_generate=Manner(6, 1, LIMITED),
)
def test_rate_limited_for_ever(fresh_world: NewWorld, name: str, manner: Manner) -> None:
    world = fresh_world()
    limited = s.http_error(429, "resource_exhausted", "slow down", headers={"retry-after": "1"})
    world.fake.queue([limited], times=0)
    check(world, name, manner)


@pytest.mark.parametrize("name", CLIENTS)
def test_rate_limited_once(fresh_world: NewWorld, name: str) -> None:
    world = fresh_world()
    world.fake.queue([s.http_error(429, "resource_exhausted", "slow down", headers={"retry-after": "2"})])
    answer = world.succeed(CLIENTS[name], "Say HELLO")
    assert "HELLO" in answer.text
    assert world.statuses == [429, 200]
    first, second = world.recorder.turns
    assert first.reply_headers["retry-after"] == "2"
    assert second.at - first.at >= 2


SHUT = "upstream capacity is free for this request now"


@manners(
    codex=Manner(4, 1, SHUT),
    claude=Manner(3, 1, SHUT),
    gemini=Manner(2, 247, SHUT),
    opencode_chat=Manner(6, 1, SHUT),
    opencode_responses=Manner(6, 1, SHUT),
    opencode_messages=Manner(6, 1, SHUT),
    opencode_generate=Manner(6, 1, SHUT),
)
def test_no_token_can_serve(fresh_world: NewWorld, name: str, manner: Manner) -> None:
    world = fresh_world(CANDOR_RETRY_AFTER_CAP_S="1")
    spend(world, s.http_error(429, "resource_exhausted", "", headers={"retry-after": "600"}))
    check(world, name, manner)
    assert len(world.captures) == 1


DROUGHT = "quota is below 5 percent, so only free models run now: free-agent"


@manners(
    codex=Manner(4, 1, DROUGHT),
    claude=Manner(3, 1, DROUGHT),
    gemini=Manner(2, 247, DROUGHT),
    opencode_chat=Manner(6, 1, DROUGHT),
    opencode_responses=Manner(6, 1, DROUGHT),
    opencode_messages=Manner(6, 1, DROUGHT),
    opencode_generate=Manner(6, 1, DROUGHT),
)
def test_a_drought_withholds_the_model(fresh_world: NewWorld, name: str, manner: Manner) -> None:
    world = fresh_world(CANDOR_RETRY_AFTER_CAP_S="1", DEVIN_CONNECT_QUOTA="1")
    spend(world, s.quota(100), s.text("hi"), s.finish(), s.end())
    check(world, name, manner)
    assert len(world.captures) == 1


@pytest.mark.parametrize("client", FREE, ids=lambda client: client.name)
def test_a_drought_leaves_the_free_model(fresh_world: NewWorld, client: Client) -> None:
    world = fresh_world(DEVIN_CONNECT_QUOTA="1")
    spend(world, s.quota(100), s.text("hi"), s.finish(), s.end())
    assert "HELLO" in world.succeed(client, "Say HELLO").text


def test_a_drought_moves_claude_code_to_its_fallback_model(fresh_world: NewWorld) -> None:
    world = fresh_world(CANDOR_RETRY_AFTER_CAP_S="1", DEVIN_CONNECT_QUOTA="1")
    spend(world, s.quota(100), s.text("hi"), s.finish(), s.end())
    answer = world.succeed(Claude(fallback_model="free-agent"), "Say HELLO")
    assert "HELLO" in answer.text
    assert world.statuses == [529, 529, 529, 200]
    assert world.recorder.turns[-1].json["model"] == "free-agent"


@pytest.mark.parametrize("name", CLIENTS)
def test_a_stream_that_is_cut_once(fresh_world: NewWorld, name: str) -> None:
    world = fresh_world()
    world.fake.queue([s.text("FIRST-HALF "), s.sleep(300), s.cut()])
    answer = world.succeed(CLIENTS[name], "Say HELLO")
    assert "HELLO" in answer.text
    assert len(world.statuses) == 2


FELL = "the model fell over"


@pytest.mark.parametrize("name", CLIENTS)
def test_a_fault_in_the_stream_once(fresh_world: NewWorld, name: str) -> None:
    world = fresh_world()
    world.fake.queue([s.text("FIRST-HALF "), s.sleep(300), s.error("internal", FELL)])
    answer = world.succeed(CLIENTS[name], "Say HELLO")
    assert "HELLO" in answer.text
    assert len(world.statuses) == 2


@manners(
    codex=Manner(2, 1, FELL),
    claude=Manner(3, 1, FELL),
    gemini=Manner(2, 0, "FIRST-HALF FIRST-HALF"),
    opencode_chat=Manner(6, 1, FELL),
    opencode_responses=Manner(6, 1, FELL),
    opencode_messages=Manner(6, 1, FELL),
)
def test_a_fault_in_every_stream(fresh_world: NewWorld, name: str, manner: Manner) -> None:
    world = fresh_world()
    world.fake.queue([s.text("FIRST-HALF "), s.sleep(300), s.error("internal", FELL)], times=0)
    check(world, name, manner)
