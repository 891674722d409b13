"""What only Codex does: freeform tools, namespaces, an output schema, pictures, sealed reasoning."""

from __future__ import annotations

import json

import pytest

from tests.clients.codex import Codex
from tests.clients.pictures import write_png
from tests.clients.world import World, calls_of, images_of, results_of

VERDICT = {
    "type": "object",
    "properties": {"verdict": {"type": "string"}, "score": {"type": "integer"}},
    "required": ["verdict", "score"],
    "additionalProperties": False,
}


@pytest.mark.parametrize("model", ["fake-agent", "gpt-6.1-sol"])
def test_an_image_of_the_user(world: World, model: str) -> None:
    picture = write_png(world.work / "red.png")
    answer = world.succeed(Codex(model=model), "Say SEEN", image=picture)
    assert answer.text == "Say SEEN"
    assert images_of(world.captures[-1]) == ["image/png"]


def test_an_image_that_a_tool_shows(world: World) -> None:
    picture = write_png(world.work / "red.png")
    world.script(("view_image", {"path": str(picture)}))
    world.succeed(Codex(), "Look at red.png")
    assert images_of(world.captures[-1]) == ["image/png"]
    assert calls_of(world.captures[-1]) == ["view_image"]


@pytest.mark.parametrize("model", ["fake-agent", "gpt-5.5", "gpt-6.1-sol"])
def test_an_output_schema(world: World, model: str) -> None:
    prompt = "Run `echo judged` and give your verdict."
    answer = world.succeed(Codex(model=model), prompt, schema=VERDICT)
    verdict = json.loads(answer.text)
    assert verdict["score"] == 1
    assert "judged" in verdict["verdict"]
    assert world.statuses == [200, 200]
    assert "text.format" in world.emulated


def test_a_patch_by_a_freeform_tool(world: World) -> None:
    patch = "*** Begin Patch\n*** Add File: added.txt\n+patched in\n*** End Patch\n"
    world.script(("apply_patch", {"input": patch}))
    world.succeed(Codex(model="gpt-5.5"), "Add the file")
    assert (world.work / "added.txt").read_text() == "patched in\n"
    (call,) = [item for item in world.recorder.turns[-1].json["input"] if item["type"] == "custom_tool_call"]
    assert (call["name"], call["input"]) == ("apply_patch", patch)
    assert calls_of(world.captures[-1]) == ["apply_patch"]


def test_a_tool_in_a_namespace(world: World) -> None:
    world.script(("collaboration__list_agents", {}))
    world.succeed(Codex(model="gpt-6.1-sol"), "List the agents")
    (call,) = [item for item in world.recorder.turns[-1].json["input"] if item["type"] == "function_call"]
    assert (call["namespace"], call["name"]) == ("collaboration", "list_agents")
    assert calls_of(world.captures[-1]) == ["collaboration__list_agents"]
    (result,) = results_of(world.captures[-1])
    assert "unsupported" not in result
    assert "aborted" not in result


def test_code_that_is_two_shell_calls(world: World) -> None:
    code = (
        'const all = await Promise.all(["echo one > one.txt", "echo two > two.txt"]'
        ".map(cmd => tools.exec_command({cmd})));\ntext(all.length);\n"
    )
    world.script(("functions__exec", {"input": code}))
    world.succeed(Codex(model="gpt-6.1-sol"), "Do both")
    assert (world.work / "one.txt").read_text() == "one\n"
    assert (world.work / "two.txt").read_text() == "two\n"


def test_a_tool_that_is_not_there(world: World) -> None:
    world.script(("no_such_tool", {"x": 1}))
    world.succeed(Codex(), "Call it")
    (result,) = results_of(world.captures[-1])
    assert "unsupported call: no_such_tool" in result


def test_reasoning_comes_back_sealed(world: World) -> None:
    world.script(("exec_command", {"cmd": "echo done"}), reasoning="I had better look.")
    world.succeed(Codex(), "Have a look")
    (reasoning,) = [item for item in world.recorder.turns[-1].json["input"] if item["type"] == "reasoning"]
    assert reasoning["encrypted_content"]
    assert reasoning["content"] is None
    assert world.statuses == [200, 200]


def test_text_before_a_call_is_kept(world: World) -> None:
    world.script(("exec_command", {"cmd": "echo done"}), text="Let me see.")
    answer = world.succeed(Codex(), "Have a look")
    assert "Let me see." in answer.ran.stdout
    assert [message.get("text") for message in world.captures[-1]["message"]["messages"]].count(
        "Let me see."
    ) == 1
