"""Frameworks and SDKs: a loop of tools, a stream, and how each fails."""

from __future__ import annotations

import re

import pytest

from fake_upstream import scenarios as s
from tests.clients.faults import FELL, NewWorld, halve, limit
from tests.clients.program import Program, said
from tests.clients.world import World, calls_of

PATHS = {
    "chat": "/v1/chat/completions",
    "responses": "/v1/responses",
    "messages": "/v1/messages",
    "generate": "models/fake-agent:",
}
STREAM_PATHS = {**PATHS, "generate": "models/fake-agent:streamGenerateContent"}
PROGRAMS = (
    ("openai_agents_loop.py", ("chat", "responses")),
    ("pydantic_ai_loop.py", ("chat", "responses", "messages", "generate")),
    ("langchain_loop.py", ("chat", "responses", "messages", "generate")),
    ("sdk_openai.mjs", ("chat", "responses")),
    ("sdk_anthropic.mjs", ("messages",)),
    ("sdk_genai.mjs", ("generate",)),
    ("sdk_vercel_ai.mjs", ("chat", "responses", "messages", "generate")),
)
CASES = [(file, kind) for file, kinds in PROGRAMS for kind in kinds]
every_program = pytest.mark.parametrize(("file", "kind"), CASES)

ONE_TRY = [("pydantic_ai_loop.py", "generate"), ("sdk_genai.mjs", "generate")]
"""Both are on Google's SDKs, whose retries are off unless one asks for them, as langchain does."""

OWN_PACE = [("langchain_loop.py", "generate")]
"""What tries again when it pleases, whatever it was told."""


@every_program
def test_a_loop_of_tools(world: World, file: str, kind: str) -> None:
    answer = world.succeed(Program(file, kind, "tool"), "")
    assert sorted(said(answer)["calls"]) == ["echo one", "echo two"], answer  # some run them side by side
    assert "ran echo one" in answer.text
    assert "ran echo two" in answer.text
    assert world.statuses == [200, 200]
    assert PATHS[kind] in world.recorder.turns[-1].path
    assert calls_of(world.captures[-1]) == ["run_shell", "run_shell"]


@every_program
def test_a_stream(world: World, file: str, kind: str) -> None:
    answer = world.succeed(Program(file, kind, "stream"), "")
    assert said(answer)["calls"], answer
    assert "ran echo" in answer.text
    assert world.statuses == [200, 200]
    types = [turn.reply_headers["content-type"].partition(";")[0] for turn in world.recorder.turns]
    assert types == ["text/event-stream"] * 2
    assert all(turn.path.endswith(STREAM_PATHS[kind]) for turn in world.recorder.turns)


@every_program
def test_an_error(world: World, file: str, kind: str) -> None:
    answer = world.ask(Program(file, kind, "error"), "")
    assert said(answer)["error"], answer
    assert "no-such-model" in answer.error, answer
    assert world.statuses == [404]


@every_program
def test_a_wrong_key(world: World, file: str, kind: str) -> None:
    answer = world.ask(Program(file, kind, "tool"), "", key="not-the-key")
    assert "API key" in answer.error, answer
    assert world.statuses == [401]
    assert not world.captures


@pytest.mark.parametrize(("file", "kind"), [case for case in CASES if case not in ONE_TRY + OWN_PACE])
def test_rate_limited_once(fresh_world: NewWorld, file: str, kind: str) -> None:
    world = fresh_world()
    limit(world, "2")
    answer = world.succeed(Program(file, kind, "tool"), "")
    assert world.statuses == [429, 200, 200]
    assert "ran echo two" in answer.text, answer
    first, second, _ = world.recorder.turns
    assert second.at - first.at >= 2


@pytest.mark.parametrize(("file", "kind"), ONE_TRY)
def test_rate_limited_without_retries(fresh_world: NewWorld, file: str, kind: str) -> None:
    world = fresh_world()
    limit(world, "2")
    answer = world.ask(Program(file, kind, "tool"), "")
    assert world.statuses == [429]
    assert "slow down" in answer.error, answer
    assert re.search(r"retryDelay\W+2s", answer.error), answer


@pytest.mark.parametrize(("file", "kind"), OWN_PACE)
def test_rate_limited_and_back_too_soon(fresh_world: NewWorld, file: str, kind: str) -> None:
    world = fresh_world()
    limit(world, "20")
    answer = world.ask(Program(file, kind, "tool"), "")
    assert world.statuses == [429, 503]
    first, second = world.recorder.turns
    assert 1 <= second.at - first.at < 10
    assert len(world.captures) == 1
    assert "try again later" in answer.error, answer


@pytest.mark.parametrize("kind", ["chat", "responses", "messages"])
def test_rate_limited_for_ever(fresh_world: NewWorld, kind: str) -> None:
    world = fresh_world()
    limit(world, "1", times=0)
    answer = world.ask(Program("pydantic_ai_loop.py", kind, "tool"), "")  # with its own number of retries
    assert world.statuses == [429, 429, 429]
    assert "slow down" in answer.error, answer


@every_program
def test_a_fault_in_every_stream(fresh_world: NewWorld, file: str, kind: str) -> None:
    _ends_with(fresh_world(), Program(file, kind, "stream"), s.error("internal", FELL), FELL)


@every_program
def test_a_cut_in_every_stream(fresh_world: NewWorld, file: str, kind: str) -> None:
    told = "closed the connection in the middle of its answer"
    _ends_with(fresh_world(), Program(file, kind, "stream"), s.cut(), told)


def _ends_with(world: World, program: Program, last: s.JsonStep, told: str) -> None:
    """The program gets half an answer and ``last``, tells our words and asks no more."""
    halve(world, last, times=0)
    answer = world.ask(program, "")
    assert told in answer.error, answer
    assert world.statuses == [200]


@pytest.mark.parametrize("kind", ["chat", "responses", "messages", "generate"])
def test_a_typed_answer(world: World, kind: str) -> None:
    answer = world.succeed(Program("pydantic_ai_loop.py", kind, "typed"), "")
    assert said(answer)["score"] == 1
    assert "ran echo judged" in answer.text
