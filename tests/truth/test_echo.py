"""No reply hands back, as if it were in force, a value that was ignored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from app.ledger import Disposition, Parameter
from tests.truth.cases import case_for
from tests.truth.rows import every_row
from tests.truth.stage import Stage
from tests.truth.suite import cases

LABELS = {
    # what the caller called the request; a label is kept, not obeyed
    ("responses", "prompt_cache_key"),
    ("responses", "safety_identifier"),
    ("responses", "user"),
    ("chat_completions", "user"),
}
ASKED = {
    # defined as what was asked for, not as what was done
    ("responses", "reasoning.effort"),
}
IGNORED = [
    (surface, row)
    for surface, row in every_row()
    if Disposition.IGNORED in (row.disposition, row.without if row.feature else None) and not row.silent
    if (surface, row.path) not in LABELS | ASKED
]


def at_key(value: Any, key: str) -> Iterator[Any]:
    """Everything that stands at ``key``, however deep."""
    if isinstance(value, dict):
        if key in value:
            yield value[key]
        for member in value.values():
            yield from at_key(member, key)
    elif isinstance(value, list):
        for item in value:
            yield from at_key(item, key)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize(("surface", "row"), cases(*IGNORED))
def test_an_ignored_value_is_not_echoed_as_honoured(
    surface: str, row: Parameter, stream: bool, world: Stage
) -> None:
    key = row.path.rpartition(".")[2].partition("=")[0].partition("[")[0]
    if key in ("type", "include") or row.path.startswith("query:"):
        return
    for sample in row.samples:
        answer = world.ask(surface, case_for(surface, row, sample), stream=stream)
        if answer.status != 200 or not answer.ignored:
            continue
        reply = answer.frames or answer.body
        assert sample not in [found for found in at_key(reply, key) if type(found) is type(sample)]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"parallel_tool_calls": False}, {"parallel_tool_calls": True}),
        ({"service_tier": "flex"}, {"service_tier": "default"}),
        ({"truncation": "auto"}, {"truncation": "disabled"}),
    ],
)
def test_the_responses_object_tells_what_is_in_force(
    asked: dict[str, Any], told: dict[str, Any], world: Stage
) -> None:
    (row,) = (row for surface, row in every_row() if surface == "responses" and row.path in asked)
    case = case_for("responses", row, asked[row.path])
    whole = world.ask("responses", case).body
    finished = world.ask("responses", case, stream=True).frames[-1]["response"]
    for reply in (whole, finished):
        assert {key: reply[key] for key in told} == told


def test_the_responses_object_echoes_the_hint_that_is_on_the_wire(world: Stage) -> None:
    (row,) = (
        each for surface, each in every_row() if surface == "responses" and each.path == "parallel_tool_calls"
    )
    answer = world.ask("responses", case_for("responses", row, False), house="switched on")
    assert answer.body["parallel_tool_calls"] is False
    assert answer.wire["disable_parallel_tool_calls"] is True


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_messages_tells_that_no_edit_was_applied(stream: bool, world: Stage) -> None:
    (row,) = (
        each for surface, each in every_row() if surface == "messages" and each.path == "context_management"
    )
    answer = world.ask("messages", case_for("messages", row, row.samples[0]), stream=stream)
    reply = answer.frames if stream else answer.body
    assert [edits for edits in at_key(reply, "applied_edits") if edits] == []
