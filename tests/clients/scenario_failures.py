"""How each client fails when Candor does: in bounded requests, and with our words where it has a place for them."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from fake_upstream import scenarios as s
from tests.clients.claude import Claude
from tests.clients.client import Client
from tests.clients.codex import Codex
from tests.clients.faults import FELL, HALF, NewWorld, dry, halve, limit, shut
from tests.clients.gemini import Gemini
from tests.clients.install import CODEX_NEXT
from tests.clients.opencode import KINDS, OpenCode
from tests.clients.world import World

ONE_RETRY = {"request_max_retries": 1, "stream_max_retries": 1}

CLIENTS: dict[str, Client] = {
    "codex": Codex(retries=ONE_RETRY),
    "codex-next": Codex(CODEX_NEXT, retries=ONE_RETRY),
    "codex-code": Codex(model="gpt-6.1-sol", retries=ONE_RETRY),
    "claude": Claude(environment={"CLAUDE_CODE_MAX_RETRIES": "2"}),
    "gemini": Gemini(attempts=2),
    "opencode-chat": OpenCode(),
    "opencode-responses": OpenCode("@ai-sdk/openai"),
    "opencode-messages": OpenCode("@ai-sdk/anthropic"),
    "opencode-generate": OpenCode("@ai-sdk/google"),
}
"""Each with the bound on its retries that it has a setting for; opencode has none."""

FREE: tuple[Client, ...] = (
    Codex(model="free-agent"),
    Claude(model="free-agent"),
    Gemini(model="free-agent"),
    *(OpenCode(kind, model="free-agent") for kind in KINDS),
)
"""Clients of a model that a drought leaves."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How a client ends: after how many requests of which status, with which exit code, showing which words."""

    requests: int
    status: int
    exit_code: int
    shows: str


def manners(**by_client: Manner) -> pytest.MarkDecorator:
    """One case per client."""
    cases = {name.replace("_", "-"): manner for name, manner in by_client.items()}
    return pytest.mark.parametrize(("name", "manner"), cases.items(), ids=cases.keys())


def halves(**by_client: bool) -> pytest.MarkDecorator:
    """One case per client: whether it shows the half of an answer that it got before it asked again."""
    cases = {name.replace("_", "-"): kept for name, kept in by_client.items()}
    return pytest.mark.parametrize(("name", "kept"), cases.items(), ids=cases.keys())


def check(
    world: World, name: str, manner: Manner, *, key: str | None = None, retry_after: str | None = None
) -> None:
    """Ask the client to say something, and see that it ends in this manner, told ``retry_after`` each time."""
    answer = world.ask(CLIENTS[name], "Say HELLO", key=key)
    context = f"{world.recorder}\n{answer}"
    assert world.statuses == [manner.status] * manner.requests, context
    assert answer.exit_code == manner.exit_code, context
    assert manner.shows in answer.error + answer.text, context
    assert {turn.reply_headers.get("retry-after") for turn in world.recorder.turns} == {retry_after}


def goes_on(world: World, name: str, kept: bool) -> None:
    """The client asks once more and has the whole answer; whether what it prints has the half, too."""
    answer = world.succeed(CLIENTS[name], "Say HELLO")
    assert "HELLO" in answer.text
    assert world.statuses == [200, 200]
    assert (HALF in answer.ran.stdout) == kept, answer


REFUSED = "the prompt breaks a rule of the upstream"


@manners(
    codex=Manner(1, 400, 1, REFUSED),
    codex_next=Manner(1, 400, 1, REFUSED),
    codex_code=Manner(1, 400, 1, REFUSED),
    claude=Manner(6, 400, 1, REFUSED),
    gemini=Manner(1, 400, 144, REFUSED),
    opencode_chat=Manner(1, 400, 1, REFUSED),
    opencode_responses=Manner(1, 400, 1, REFUSED),
    opencode_messages=Manner(1, 400, 1, REFUSED),
    opencode_generate=Manner(1, 400, 1, REFUSED),
)
def test_an_invalid_request(fresh_world: NewWorld, name: str, manner: Manner) -> None:
    world = fresh_world()
    world.fake.queue([s.error("invalid_argument", REFUSED)], times=0)
    check(world, name, manner)


BAD_KEY = "API key"


@manners(
    codex=Manner(2, 401, 1, BAD_KEY),
    claude=Manner(1, 401, 1, BAD_KEY),
    gemini=Manner(1, 401, 145, BAD_KEY),
    opencode_chat=Manner(1, 401, 1, BAD_KEY),
    opencode_responses=Manner(1, 401, 1, BAD_KEY),
    opencode_messages=Manner(1, 401, 1, BAD_KEY),
    opencode_generate=Manner(1, 401, 1, BAD_KEY),
)
def test_a_wrong_key(world: World, name: str, manner: Manner) -> None:
    check(world, name, manner, key="not-the-key")
    assert not world.captures


LIMITED = "upstream answered with an error: slow down"


@manners(
    codex=Manner(2, 429, 1, "last status: 429 Too Many Requests"),
    codex_next=Manner(2, 429, 1, "last status: 429 Too Many Requests"),
    codex_code=Manner(2, 429, 1, "last status: 429 Too Many Requests"),
    claude=Manner(3, 429, 1, LIMITED),
    gemini=Manner(2, 429, 173, LIMITED),
    opencode_chat=Manner(6, 429, 1, LIMITED),
    opencode_responses=Manner(6, 429, 1, LIMITED),
    opencode_messages=Manner(6, 429, 1, LIMITED),
    opencode_generate=Manner(6, 429, 1, LIMITED),
)
def test_rate_limited_for_ever(fresh_world: NewWorld, name: str, manner: Manner) -> None:
    world = fresh_world()
    limit(world, "1", times=0)
    check(world, name, manner, retry_after="1")


@pytest.mark.parametrize("name", CLIENTS)
def test_rate_limited_once(fresh_world: NewWorld, name: str) -> None:
    world = fresh_world()
    limit(world, "2")
    answer = world.succeed(CLIENTS[name], "Say HELLO")
    assert "HELLO" in answer.text
    assert world.statuses == [429, 200]
    first, second = world.recorder.turns
    assert first.reply_headers["retry-after"] == "2"
    assert second.at - first.at >= 2


SHUT = "upstream capacity is free for this request now"


@manners(
    codex=Manner(4, 503, 1, SHUT),
    claude=Manner(3, 529, 1, SHUT),
    gemini=Manner(2, 503, 247, SHUT),
    opencode_chat=Manner(6, 503, 1, SHUT),
    opencode_responses=Manner(6, 503, 1, SHUT),
    opencode_messages=Manner(6, 529, 1, SHUT),
    opencode_generate=Manner(6, 503, 1, SHUT),
)
def test_no_token_can_serve(fresh_world: NewWorld, name: str, manner: Manner) -> None:
    world = fresh_world(CANDOR_RETRY_AFTER_CAP_S="1")
    shut(world)
    check(world, name, manner, retry_after="1")
    assert len(world.captures) == 1


DROUGHT = "quota is below 5 percent, so only free models run now: free-agent"


@manners(
    codex=Manner(4, 503, 1, DROUGHT),
    claude=Manner(3, 529, 1, DROUGHT),
    gemini=Manner(2, 503, 247, DROUGHT),
    opencode_chat=Manner(6, 503, 1, DROUGHT),
    opencode_responses=Manner(6, 503, 1, DROUGHT),
    opencode_messages=Manner(6, 529, 1, DROUGHT),
    opencode_generate=Manner(6, 503, 1, DROUGHT),
)
def test_a_drought_withholds_the_model(fresh_world: NewWorld, name: str, manner: Manner) -> None:
    world = fresh_world(CANDOR_RETRY_AFTER_CAP_S="1", DEVIN_CONNECT_QUOTA="1")
    dry(world)
    before = len(world.captures)
    check(world, name, manner, retry_after="1")
    assert len(world.captures) == before


@pytest.mark.parametrize("client", FREE, ids=lambda client: client.name)
def test_a_drought_leaves_the_free_model(fresh_world: NewWorld, client: Client) -> None:
    world = fresh_world(DEVIN_CONNECT_QUOTA="1")
    dry(world)
    assert "HELLO" in world.succeed(client, "Say HELLO").text
    assert world.statuses == [200]


def test_a_drought_moves_claude_code_to_its_fallback_model(fresh_world: NewWorld) -> None:
    world = fresh_world(CANDOR_RETRY_AFTER_CAP_S="1", DEVIN_CONNECT_QUOTA="1")
    dry(world)
    answer = world.succeed(Claude(fallback_model="free-agent"), "Say HELLO")
    assert "HELLO" in answer.text
    assert world.statuses == [529, 529, 529, 200]
    assert world.recorder.turns[-1].json["model"] == "free-agent"


@halves(
    codex=False,
    codex_next=False,
    codex_code=False,
    claude=False,
    gemini=True,
    opencode_chat=False,
    opencode_responses=False,
    opencode_messages=False,
    opencode_generate=True,
)
def test_a_stream_that_its_upstream_cuts_once(fresh_world: NewWorld, name: str, kept: bool) -> None:
    world = fresh_world()
    halve(world, s.cut())
    goes_on(world, name, kept)


@halves(
    codex=False,
    codex_next=False,
    codex_code=False,
    claude=False,
    gemini=True,
    opencode_chat=False,
    opencode_responses=False,
    opencode_messages=False,
    opencode_generate=True,
)
def test_a_fault_in_the_stream_once(fresh_world: NewWorld, name: str, kept: bool) -> None:
    world = fresh_world()
    halve(world, s.error("internal", FELL))
    goes_on(world, name, kept)


@halves(
    codex=False,
    codex_next=False,
    codex_code=False,
    claude=False,
    gemini=True,
    opencode_chat=False,
    opencode_responses=False,
    opencode_messages=False,
    opencode_generate=False,
)
def test_a_connection_that_is_cut_once(fresh_world: NewWorld, name: str, kept: bool) -> None:
    world = fresh_world()
    halve(world, s.sleep(3000))
    world.recorder.reset_after = HALF.encode()
    goes_on(world, name, kept)


@manners(
    codex=Manner(2, 200, 1, FELL),
    gemini=Manner(2, 200, 0, "FIRST-HALF FIRST-HALF"),
    opencode_chat=Manner(6, 200, 1, FELL),
    opencode_responses=Manner(6, 200, 1, FELL),
    opencode_messages=Manner(6, 200, 1, FELL),
)
def test_a_fault_in_every_stream(fresh_world: NewWorld, name: str, manner: Manner) -> None:
    world = fresh_world()
    halve(world, s.error("internal", FELL), times=0)
    check(world, name, manner)


def test_a_fault_in_every_stream_has_claude_code_ask_without_a_stream(fresh_world: NewWorld) -> None:
    world = fresh_world()
    halve(world, s.error("internal", FELL), times=0)
    answer = world.ask(CLIENTS["claude"], "Say HELLO")
    assert world.statuses == [200, 502, 502]
    assert [turn.json.get("stream", False) for turn in world.recorder.turns] == [True, False, False]
    assert (answer.exit_code, FELL in answer.error) == (1, True)


def test_a_fault_in_every_stream_is_without_end_for_opencode_on_google(fresh_world: NewWorld) -> None:
    world = fresh_world()
    halve(world, s.error("internal", FELL), times=0)
    answer = world.ask(CLIENTS["opencode-generate"], "Say HELLO", timeout_s=30)
    assert answer.ran.timed_out
    assert set(world.statuses) <= {200, 0}  # the last was cut short when the client was ended
    assert len(world.statuses) > 10
    assert FELL not in answer.ran.stdout


def test_a_wrong_key_with_codexs_own_number_of_retries(world: World) -> None:
    answer = world.ask(Codex(), "Say HELLO", key="not-the-key")
    assert world.statuses == [401] * 6
    assert (answer.exit_code, BAD_KEY in answer.error) == (1, True)
