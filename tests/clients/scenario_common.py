"""What every client must be able to do through Candor."""

from __future__ import annotations

import pytest

from tests.clients.lineup import LINEUP, Entry
from tests.clients.world import World, calls_of, results_of

every_client = pytest.mark.parametrize("entry", LINEUP.values(), ids=LINEUP.keys())


@pytest.mark.quick
@every_client
def test_a_plain_turn(world: World, entry: Entry) -> None:
    answer = world.succeed(entry.client, "Say CANDOR-PLAIN-OK")
    assert "CANDOR-PLAIN-OK" in answer.text, answer
    assert world.statuses == [200] * (1 + entry.before)
    assert world.recorder.turns[-1].path == entry.path
    assert len(world.captures) == 1 + entry.before
    assert {capture["outcome"] for capture in world.captures} == {"completed"}


@pytest.mark.quick
@every_client
def test_a_task(world: World, entry: Entry) -> None:
    answer = world.succeed(entry.client, "Run `echo made-by-client > made.txt && cat made.txt` and report.")
    assert (world.work / "made.txt").read_text() == "made-by-client\n"
    assert "made-by-client" in answer.text, answer
    assert world.statuses == [200] * (2 + entry.before)
    assert [turn.path for turn in world.recorder.turns[entry.before :]] == [entry.path] * 2
    assert calls_of(world.captures[-1]) == [entry.client.shell]
    (result,) = results_of(world.captures[-1])
    assert "made-by-client" in result
    assert all(not capture["unknown_fields"] for capture in world.captures)
    assert world.ignored == entry.ignored
    assert world.emulated == entry.emulated


@every_client
def test_two_tools_in_one_turn(world: World, entry: Entry) -> None:
    prompt = "Run `echo one > one.txt; echo said-one` and `echo two > two.txt; echo said-two` and report."
    answer = world.succeed(entry.client, prompt)
    assert (world.work / "one.txt").read_text() == "one\n"
    assert (world.work / "two.txt").read_text() == "two\n"
    assert "said-one" in answer.text
    assert "said-two" in answer.text
    assert world.statuses == [200] * (2 + entry.before)
    assert calls_of(world.captures[-1]) == [entry.client.shell] * 2
    first, second = results_of(world.captures[-1])
    assert "said-one" in first
    assert "said-two" in second


@every_client
def test_a_failing_tool(world: World, entry: Entry) -> None:
    answer = world.succeed(entry.client, "Run `echo went-wrong >&2; exit 3` and report.")
    assert "went-wrong" in answer.text, answer
    assert world.statuses == [200] * (2 + entry.before)
    (result,) = results_of(world.captures[-1])
    assert "went-wrong" in result


@every_client
def test_a_resumed_session(world: World, entry: Entry) -> None:
    first = world.succeed(entry.client, "Run `echo first-answer` and report.")
    before = len(world.captures)
    second = world.succeed(entry.client, "Run `echo second-answer` and report.", resume=first.session)
    assert "second-answer" in second.text, second
    assert set(world.statuses) == {200}
    assert len(world.captures) - before == 2 + entry.before
    assert calls_of(world.captures[-1]) == [entry.client.shell] * 2
    replayed, fresh = results_of(world.captures[-1])
    assert "first-answer" in replayed
    assert "second-answer" in fresh
