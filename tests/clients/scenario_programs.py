"""Frameworks and SDKs: a loop of tools, a stream and an error each."""

from __future__ import annotations

import pytest

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


@pytest.mark.parametrize("kind", ["chat", "responses", "messages", "generate"])
def test_a_typed_answer(world: World, kind: str) -> None:
    answer = world.succeed(Program("pydantic_ai_loop.py", kind, "typed"), "")
    assert said(answer)["score"] == 1
    assert "ran echo judged" in answer.text
