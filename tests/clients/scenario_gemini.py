"""What only Gemini CLI does: its router, web search as a request of its own, thoughts, media."""

from __future__ import annotations

import json

from tests.clients.gemini import Gemini
from tests.clients.pictures import write_png
from tests.clients.world import World, calls_of, images_of, results_of


def test_the_router_gets_its_json(world: World) -> None:
    world.succeed(Gemini(model=""), "Say HELLO")
    router = world.recorder.turns[0]
    assert router.path == "/v1beta/models/gemini-3.5-flash-lite:generateContent"
    said = json.loads(router.reply)["candidates"][0]["content"]["parts"][0]["text"]
    assert json.loads(said)["complexity_score"] == 1


def test_web_search_fails_as_a_tool_and_not_as_a_session(world: World) -> None:
    world.script(("google_web_search", {"query": "the weather"}))
    world.succeed(Gemini(), "Search the web")
    assert world.statuses == [200, 400, 200]
    assert world.recorder.turns[1].json["tools"] == [{"googleSearch": {}}]
    (result,) = results_of(world.captures[-1])
    assert result.startswith('{"error":"Error during web search')
    assert "tools[0].googleSearch: search is run by the vendor" in result


def test_an_image_that_a_tool_shows(world: World) -> None:
    picture = write_png(world.work / "red.png")
    world.script(("read_file", {"file_path": str(picture)}))
    world.succeed(Gemini(), "Look at red.png")
    assert [turn.path.rpartition(":")[2] for turn in world.recorder.turns] == [
        "streamGenerateContent",
        "countTokens",
        "streamGenerateContent",
    ]
    assert world.statuses == [200, 200, 200]
    assert images_of(world.captures[-1]) == ["image/png"]


def test_an_image_of_the_user(world: World) -> None:
    write_png(world.work / "red.png")
    world.succeed(Gemini(), "Say SEEN of @red.png")
    assert world.statuses == [200, 200]
    assert images_of(world.captures[-1]) == ["image/png"]


def test_thoughts_come_back_signed(world: World) -> None:
    world.script(("run_shell_command", {"command": "echo done"}), reasoning="I had better look.")
    world.succeed(Gemini(model="gemini-3.8-flash"), "Have a look")
    (call,) = world.recorder.turns[-1].json["contents"][-2]["parts"]
    assert call["thoughtSignature"] not in ("", "skip_thought_signature_validator")
    assert world.recorder.turns[-1].ignored[0] == "contents[1].parts[0].thoughtSignature"
    assert calls_of(world.captures[-1]) == ["run_shell_command"]


def test_an_unknown_tool(world: World) -> None:
    world.script(("no_such_tool", {"x": 1}))
    world.succeed(Gemini(), "Call it")
    (result,) = results_of(world.captures[-1])
    assert "not found" in result


def test_a_resumed_session_repeats_each_result(world: World) -> None:
    first = world.succeed(Gemini(), "Run `echo first` and `echo second`")
    world.succeed(Gemini(), "Say MORE", resume=first.session)
    results = [
        part["functionResponse"]["id"]
        for content in world.recorder.turns[-1].json["contents"]
        for part in content["parts"]
        if "functionResponse" in part
    ]
    assert len(results) == 4
    assert len(set(results)) == 2
    assert len(results_of(world.captures[-1])) == 2
    assert "contents[].parts[].functionResponse" in world.emulated
