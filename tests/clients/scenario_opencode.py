"""What only opencode does: a title from a request of its own, pictures beside a tool's text, variants."""

from __future__ import annotations

import pytest

from tests.clients.opencode import KINDS, OpenCode
from tests.clients.pictures import write_png
from tests.clients.world import World, images_of, without_index

REPLAYED: dict[str, set[str]] = {
    "@ai-sdk/openai-compatible": {"messages[].reasoning_content"},
    "@ai-sdk/openai": {"prompt_cache_key"},
    "@ai-sdk/anthropic": {"system[].cache_control", "messages[].content[].cache_control"},
    "@ai-sdk/google": set(),
}
"""What the turn after a reasoned one has ignored: only the chat kind replays reasoning that nobody asked to see."""

HIGH_EFFORT: dict[str, set[str]] = {
    "@ai-sdk/openai-compatible": {"reasoning_effort"},
    "@ai-sdk/openai": {"prompt_cache_key", "reasoning.effort", "reasoning.summary"},
    "@ai-sdk/anthropic": {
        "thinking.type",
        "thinking.budget_tokens",
        "system[].cache_control",
        "messages[].content[].cache_control",
    },
    "@ai-sdk/google": {"generationConfig.thinkingConfig.thinkingLevel"},
}
"""What is ignored or emulated when opencode asks for more thinking."""

every_kind = pytest.mark.parametrize("kind", KINDS)


@every_kind
def test_a_title_is_asked_for(world: World, kind: str) -> None:
    world.succeed(OpenCode(kind, titled=False), "Say HELLO")
    assert world.statuses == [200, 200]
    assert sorted(bool(turn.json.get("tools")) for turn in world.recorder.turns) == [False, True]


@every_kind
def test_an_image_that_a_tool_shows(world: World, kind: str) -> None:
    picture = write_png(world.work / "red.png")
    world.script(("read", {"filePath": str(picture)}))
    world.succeed(OpenCode(kind), "Look at red.png")
    assert images_of(world.captures[-1]) == ["image/png"]


@pytest.mark.parametrize(("kind", "ignored"), REPLAYED.items())
def test_reasoning_comes_back_where_its_protocol_carries_it(
    world: World, kind: str, ignored: set[str]
) -> None:
    world.script(("bash", {"command": "echo done", "description": "d"}), reasoning="I had better look.")
    world.succeed(OpenCode(kind), "Have a look")
    assert world.statuses == [200, 200]
    assert {without_index(path) for path in world.recorder.turns[1].ignored} == ignored


@pytest.mark.parametrize(("kind", "told"), HIGH_EFFORT.items())
def test_a_variant_that_thinks_harder(world: World, kind: str, told: set[str]) -> None:
    world.succeed(OpenCode(kind, variant="high"), "Say HELLO")
    assert world.statuses == [200]
    assert world.ignored | world.emulated == told
