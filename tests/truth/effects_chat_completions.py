"""Chat completions: the effects that its rows claim beyond a wire field, and how the wire spells its samples."""

from __future__ import annotations

from dataclasses import replace

from app.ledger import Parameter
from tests.truth.checks import (
    connected,
    echoed,
    mode_of_subset,
    names_the_session,
    offers,
    pairs,
    stops,
    streamed,
    thinking,
    unchanged,
)
from tests.truth.proof import Check, Seen
from tests.truth.stage import Stage


def last_chunk_has_usage(stage: Stage, surface: str, row: Parameter, seen: list[Seen]) -> None:
    """A chunk without choices and with usage comes last, when it is asked for."""
    for each in connected(seen):
        case = each.case
        asked = case.body["stream_options"].get("include_usage") is True
        answer = stage.ask(surface, replace(case, body={**case.body, "stream": True}), house=each.house)
        *chunks, last = answer.frames
        assert (last["choices"] == []) is asked
        assert (last.get("usage") is not None) is asked
        assert all(chunk.get("usage") is None for chunk in chunks)


def kept(stage: Stage, surface: str, row: Parameter, seen: list[Seen]) -> None:
    """A completion that is to be kept is found again."""
    for each in connected(seen):
        found = stage.get(f"/v1/chat/completions/{each.answer.body['id']}", each.house)
        assert found.status == (200 if each.case.sample else 404)


_SUBSET = "tool_choice[type=allowed_tools].allowed_tools"

EFFECTS: dict[str, Check] = {
    "prompt_cache_key": names_the_session,
    "stop": stops,
    "stream": streamed,
    "stream_options": last_chunk_has_usage,
    "stream_options.include_usage": last_chunk_has_usage,
    "response_format.type=text": unchanged,
    "metadata": echoed,
    "store": kept,
    "include_reasoning": thinking(lambda sample: sample is not False),
    "messages[role=function].name": pairs,
    "tools[type=custom].custom.format.type=text": unchanged,
    f"{_SUBSET}.mode": mode_of_subset,
    f"{_SUBSET}.tools": offers(["f"], []),
    "function_call": offers(["f"], []),
    "function_call.name": offers(["f"], ["g"]),
}

SPELT: dict[str, tuple[str, ...]] = {
    "response_format": ("Answer with one JSON object and nothing else.", "conforms to this JSON Schema"),
    "response_format.type=json_object": ("Answer with one JSON object and nothing else.",),
    "response_format[type=json_schema].json_schema.schema": ('{"type":"object"}', '{"type":"array"}'),
    "messages[].role=tool": ("a", "b"),
    "messages[].role=function": ("a", "b"),
    "parallel_tool_calls": ("True",),
}
