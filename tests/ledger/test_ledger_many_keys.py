"""Findings are put into document order in time that does not depend on how many keys a body has."""

from __future__ import annotations

import time
from typing import Any

from app.ledger import Context, Disposition, Finding, Ledger, Note, Parameter, judge
from app.turn.tool_choice import ToolPlan
from app.turn.turn import Turn

LEDGER = Ledger(
    "test",
    [
        Parameter("messages", Disposition.FORWARDED, "history"),
        Parameter("messages[].role", Disposition.FORWARDED, "role"),
    ],
)


def ignored(body: dict[str, Any], *paths: str) -> list[Finding]:
    """What is ignored of ``body``, notes at ``paths`` among it."""
    context = Context(Turn("m", []), frozenset(), lambda feature: None, ToolPlan(()))
    notes = [Note("messages[].role", path, Disposition.IGNORED) for path in paths]
    return judge(
        LEDGER, LEDGER.walk(body), notes, body, context, strict=False, strict_rows=frozenset()
    ).ignored


def test_a_finding_among_many_keys_is_put_in_its_place_at_once() -> None:
    """A search through all keys for each of them takes a minute and more for these."""
    body = {"messages": [{"role": "system"}], **{f"unknown_{number}": 1 for number in range(10_000)}}
    began = time.process_time()
    found = ignored(body, "messages[0].role")
    assert time.process_time() - began < 5
    assert [finding.path for finding in found[:2]] == ["messages[0].role", "unknown_0"]
    assert found[-1].path == "unknown_9999"


def test_of_two_keys_that_a_path_begins_with_the_longer_is_meant() -> None:
    body = {"a": {"c": 1}, "user": "u", "a.b": [1], "messages": [{"role": "system"}]}
    found = ignored(body, "a.b[0]", "messages[0].role", "a.c")
    assert [finding.path for finding in found] == ["a", "a.c", "user", "a.b", "a.b[0]", "messages[0].role"]
