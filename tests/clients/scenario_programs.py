"""Frameworks and SDKs: a loop of tools, a stream, and how each fails."""

from __future__ import annotations

import pytest

from fake_upstream import scenarios as s
from tests.clients.faults import FELL, NewWorld
from tests.clients.program import Program, said
from tests.clients.world import World, calls_of

PATHS = {
    "chat": "/v1/chat/completions",
    "responses": "/v1/responses",
    "messages": "/v1/messages",
    "generate": "models/fake-agent:",
}
PROGRAMS = (
    ("openai_agents_loop.py", ("chat", "responses")),
    ("pydantic_ai_loop.py", ("chat", "responses", "messages", "generate")),
    ("langchain_loop.py", ("chat", "responses", "messages", "generate")),
    ("sdk_openai.mjs", ("chat", "responses")),
    ("sdk_anthropic.mjs", ("messages",)),
    ("sdk_genai.mjs", ("generate",)),
    ("sdk_vercel_ai.mjs", ("chat", "responses", "messages", "generate")),
)
every_program = pytest.mark.parametrize(
    ("file", "kind"), [(file, kind) for file, kinds in PROGRAMS for kind in kinds]
)


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


@every_program
def test_rate_limited_once(fresh_world: NewWorld, file: str, kind: str) -> None:
    world = fresh_world()
    world.fake.queue([s.http_error(429, "resource_exhausted", "slow down", headers={"retry-after": "2"})])
    answer = world.ask(Program(file, kind, "tool"), "")
    if kind == "generate" and file != "sdk_vercel_ai.mjs":  # on Google's SDK, which does not try again
        assert world.statuses == [429]
        assert "slow down" in answer.error, answer
        assert "'retryDelay': '2s'" in answer.error.replace('"', "'").replace(":'", ": '")
        return
    assert world.statuses == [429, 200, 200]
    assert "ran echo two" in answer.text, answer
    first, second, _ = world.recorder.turns
    assert second.at - first.at >= 2


@every_program
def test_a_fault_in_every_stream(fresh_world: NewWorld, file: str, kind: str) -> None:
    _ends_with(fresh_world(), Program(file, kind, "stream"), s.error("internal", FELL), FELL)


@every_program
def test_a_cut_in_every_stream(fresh_world: NewWorld, file: str, kind: str) -> None:
    told = "closed the connection in the middle of its answer"
    _ends_with(fresh_world(), Program(file, kind, "stream"), s.cut(), told)


def _ends_with(world: World, program: Program, last: s.JsonStep, told: str) -> None:
    """The program gets half an answer and ``last``, tells our words and asks no more."""
    world.fake.queue([s.text("FIRST-HALF "), s.sleep(300), last], times=0)
    answer = world.ask(program, "")
    assert told in answer.error, answer
    assert world.statuses == [200]


@pytest.mark.parametrize("kind", ["chat", "responses", "messages", "generate"])
def test_a_typed_answer(world: World, kind: str) -> None:
    answer = world.succeed(Program("pydantic_ai_loop.py", kind, "typed"), "")
    assert said(answer)["score"] == 1
    assert "ran echo judged" in answer.text
