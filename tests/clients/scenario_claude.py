"""What only Claude Code does: an answer of a given shape, web search, deferred tools, sub-agents, thinking."""

from __future__ import annotations

import json

import pytest

from tests.clients.claude import Claude
from tests.clients.pictures import write_png
from tests.clients.world import World, calls_of, images_of, results_of

VERDICT = {
    "type": "object",
    "properties": {"verdict": {"type": "string"}, "score": {"type": "integer"}},
    "required": ["verdict", "score"],
}

WITHOUT_BETAS = {"CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS": "1"}


def test_an_answer_of_a_given_shape(world: World) -> None:
    answer = world.succeed(Claude(), "Run `echo judged` and give your verdict.", schema=VERDICT)
    verdict = json.loads(answer.text)
    assert verdict["score"] == 1
    assert "judged" in verdict["verdict"]
    assert calls_of(world.captures[-1])[:1] == ["Bash"]
    assert world.statuses == [200, 200]


def test_web_search_fails_as_a_tool_and_not_as_a_session(world: World) -> None:
    world.script(("WebSearch", {"query": "the weather"}))
    world.succeed(Claude(model="claude-opus-5-5"), "Search the web")
    assert world.statuses == [200, 400, 400, 200]
    assert len(world.captures) == 2
    (search,) = world.recorder.turns[1].json["tools"]
    assert search["type"] == "web_search_20250305"
    (result,) = results_of(world.captures[-1])
    assert result == "[error]\nAPI Error: 400 tools.0.type: Extra inputs are not permitted"


def test_an_image_that_a_tool_shows(world: World) -> None:
    picture = write_png(world.work / "red.png")
    world.script(("Read", {"file_path": str(picture)}))
    world.succeed(Claude(), "Look at red.png")
    assert images_of(world.captures[-1]) == ["image/png"]


def test_a_deferred_tool_is_found_and_offered(world: World) -> None:
    world.script(("ToolSearch", {"query": "select:WebFetch", "max_results": 1}))
    world.succeed(Claude(model="claude-opus-5-5"), "Find a tool")
    assert world.statuses == [200, 200]
    assert results_of(world.captures[-1]) == ["[tool reference: WebFetch]"]
    assert "WebFetch" in [tool["name"] for tool in world.captures[-1]["message"]["tools"]]
    assert "messages[].content[].content[].type" in world.emulated


def test_a_sub_agent(world: World) -> None:
    world.script(
        (
            "Agent",
            {"description": "d", "prompt": "Run `echo by-sub-agent`", "subagent_type": "general-purpose"},
        )
    )
    world.succeed(Claude(), "Have someone else do it")
    assert set(world.statuses) == {200}
    assert any("by-sub-agent" in result for capture in world.captures for result in results_of(capture))
    assert "messages[].role" in world.emulated


def test_an_unknown_tool(world: World) -> None:
    world.script(("NoSuchTool", {"x": 1}))
    world.succeed(Claude(), "Call it")
    (result,) = results_of(world.captures[-1])
    assert result.startswith("[error]\n")
    assert "NoSuchTool" in result


def test_a_failing_tool_is_marked_as_an_error(world: World) -> None:
    world.succeed(Claude(), "Run `exit 3` and report.")
    (result,) = results_of(world.captures[-1])
    assert result.startswith("[error]\nExit code 3")
    assert "messages[].content[].is_error" in world.emulated


def test_thinking_that_is_shown_comes_back_signed(world: World) -> None:
    world.script(("Bash", {"command": "echo done"}), reasoning="I had better look.")
    world.succeed(Claude(model="claude-haiku-4-5", environment=WITHOUT_BETAS), "Have a look")
    thinking = world.recorder.turns[-1].json["messages"][-2]["content"][0]
    assert (thinking["type"], thinking["thinking"]) == ("thinking", "I had better look.")
    assert thinking["signature"]
    assert world.statuses == [200, 200]


def test_thinking_that_is_omitted_does_not_come_back(world: World) -> None:
    world.script(("Bash", {"command": "echo done"}), reasoning="I had better look.")
    world.succeed(Claude(), "Have a look")
    assert world.recorder.turns[0].json["thinking"]["display"] == "omitted"
    (call,) = world.recorder.turns[-1].json["messages"][-2]["content"]
    assert (call["type"], call["caller"]) == ("tool_use", {"type": "direct"})


@pytest.mark.parametrize(
    ("model", "ignored"),
    [
        ("claude-haiku-4-5", {"thinking.budget_tokens", "thinking.type"}),
        ("claude-opus-5-5", {"thinking.type", "output_config.effort"}),
    ],
)
def test_without_experimental_betas(world: World, model: str, ignored: set[str]) -> None:
    answer = world.succeed(Claude(model=model, environment=WITHOUT_BETAS), "Run `echo done` and report.")
    assert "done" in answer.text
    assert world.statuses == [200, 200]
    assert world.ignored == {
        "anthropic-beta:interleaved-thinking-2025-05-14",
        "metadata.user_id",
        "messages[].content[].cache_control",
        "system[].cache_control",
        *ignored,
    }


def test_with_all_its_traffic(world: World) -> None:
    client = Claude(environment={"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": ""})
    world.succeed(client, "Say HELLO")
    probe = world.recorder.exchanges[0]
    assert (probe.method, probe.path, probe.status) == ("HEAD", "/api/hello", 200)
    assert world.statuses == [200]


def test_a_bearer_in_place_of_the_key(world: World) -> None:
    client = Claude(environment={"ANTHROPIC_API_KEY": "", "ANTHROPIC_AUTH_TOKEN": world.stage().key})
    world.succeed(client, "Say HELLO")
    assert world.recorder.turns[0].headers["authorization"].startswith("Bearer ")
    assert "x-api-key" not in world.recorder.turns[0].headers


HAIKU = {"ANTHROPIC_DEFAULT_HAIKU_MODEL": "free-agent"}


@pytest.mark.parametrize(("environment", "asked"), [({}, ["claude-haiku-5-5"] * 2), (HAIKU, ["free-agent"])])
def test_a_sub_agent_with_the_small_model(
    world: World, environment: dict[str, str], asked: list[str]
) -> None:
    agent = {"description": "d", "prompt": "Say HI", "subagent_type": "general-purpose", "model": "haiku"}
    world.script(("Agent", agent))
    world.succeed(Claude(environment=environment), "Have someone else do it")
    turns = [(turn.json["model"], turn.status) for turn in world.recorder.turns]
    served = 200 if environment else 404
    assert [turn for turn in turns if turn[0] != "fake-agent"] == [(model, served) for model in asked]


def test_a_model_by_its_family(world: World) -> None:
    answer = world.succeed(Claude(model="haiku", environment=HAIKU), "Say HELLO")
    assert "HELLO" in answer.text
    assert [turn.json["model"] for turn in world.recorder.turns] == ["free-agent"]
