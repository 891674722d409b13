"""An unknown field at any place of a messages body is named, and no body at all is a defect."""

from __future__ import annotations

import copy
import random

import pytest

from app.ledger.ledger import path_of
from app.turn.faults import TurnFault
from tests.surfaces.messages.kit import TOOL, conversation, findings, message_of

IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aa"}}
TEXT = {"type": "text", "text": "a", "cache_control": {"type": "ephemeral", "ttl": "5m"}, "citations": []}
SEARCH = {
    "type": "search_result",
    "title": "t",
    "source": "s",
    "content": [TEXT],
    "citations": {"enabled": False},
}
DOCUMENT = {
    "type": "document",
    "title": "t",
    "context": "c",
    "source": {"type": "text", "media_type": "text/plain", "data": "d"},
    "citations": {"enabled": False},
}
BLOCKS = {"type": "document", "source": {"type": "content", "content": [TEXT, IMAGE]}}
CALL = {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}, "caller": {"type": "direct"}}
REMOVAL = {"type": "tool_removal", "tool": {"type": "tool_reference", "name": "g"}}
ADDITION = {
    "type": "tool_addition",
    "tool": {"type": "tool_definition", "definition": {"name": "h", "input_schema": {"type": "object"}}},
}
HOSTED = [
    {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"q": 1}},
    {"type": "mcp_tool_use", "id": "s", "name": "x", "server_name": "y", "input": {}},
    {
        "type": "web_search_tool_result",
        "tool_use_id": "s",
        "content": [{"type": "web_search_result", "title": "T", "url": "u"}],
    },
    {
        "type": "mcp_tool_result",
        "tool_use_id": "s",
        "is_error": True,
        "content": [{"type": "text", "text": "no"}],
    },
]
LATER = [
    {"type": "thinking", "thinking": "x", "signature": "y"},
    {"type": "redacted_thinking", "data": "cb1.zz"},
    {"type": "fallback", "from": {}, "to": {}},
    {"type": "mcp_tool_listing", "mcp_server_name": "f", "tools": []},
]
RICH = conversation(
    ("system", [TEXT]),
    ("assistant", [{"type": "compaction", "content": "summary", "tool_changes": [REMOVAL, ADDITION]}]),
    ("user", [TEXT, IMAGE, DOCUMENT, BLOCKS, SEARCH, {**REMOVAL, "tool": {**REMOVAL["tool"], "name": "f"}}]),
    ("assistant", [*HOSTED, *LATER, CALL]),
    (
        "user",
        [
            {
                "type": "tool_result",
                "tool_use_id": "a",
                "is_error": True,
                "content": [
                    TEXT,
                    IMAGE,
                    {"type": "tool_reference", "tool_name": "f"},
                    DOCUMENT,
                    BLOCKS,
                    SEARCH,
                ],
            }
        ],
    ),
    ("system", "late"),
    tools=[
        TOOL,
        {"type": "custom", "name": "g", "input_schema": {"type": "object"}, "strict": True},
        {"type": "bash_20250124", "name": "bash"},
        {"type": "tool_search_tool_bm25", "name": "tool_search_tool_bm25"},
    ],
    tool_choice={"type": "tool", "name": "bash", "disable_parallel_tool_use": True},
    system=[TEXT],
    thinking={"type": "enabled", "budget_tokens": 5, "display": "omitted", "block_binding": {}},
    metadata={"user_id": "u"},
    output_config={"effort": "low", "format": {"type": "json_schema", "schema": {}}},
    context_management={"edits": []},
    cache_control={"type": "ephemeral"},
    diagnostics={},
    stop_sequences=["a"],
    temperature=0.5,
    top_p=1,
    top_k=1,
    stream=True,
)
CARRIED_WHOLE = ("input", "input_schema", "schema")
IGNORED_WHOLE = ("cache_control", "block_binding", "context_management", "diagnostics", "from", "to")
RENDERED = ("web_search_tool_result", "mcp_tool_result")


def places(value, place=()):
    yield place, value
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inner, (*place, key))


def at(body, place):
    for step in place:
        body = body[step]
    return body


def is_looked_into(place):
    """Whether the ledger looks at the members of the object at ``place``."""
    if any(step in CARRIED_WHOLE for step in place) or place[-1:] == ("caller",):
        return False
    if place and place[-1] in IGNORED_WHOLE and not isinstance(place[-1], int):
        return False
    for length in range(1, len(place)):
        holder = at(RICH, place[:length])
        if isinstance(holder, dict) and holder.get("type") in RENDERED:
            return False
    return True


OBJECTS = [place for place, value in places(RICH) if isinstance(value, dict) and is_looked_into(place)]


def test_the_rich_body_is_served():
    assert findings(RICH).ignored


@pytest.mark.parametrize("place", OBJECTS, ids=path_of)
def test_an_unknown_field_is_named_as_ignored(place):
    body = copy.deepcopy(RICH)
    at(body, place)["colour"] = "red"
    assert path_of((*place, "colour")) in [finding.path for finding in findings(body).ignored]


VALUES = [
    *(None, True, False, 0, 1, -1, 1.5, "", "x", 10**30, [], {}, ["x"], [1], [None], [{}]),
    *({"type": "x"}, {"type": None}, {"type": ["x"]}, {"type": {}}, {"": 1}, {"a": {}}),
    *([{"type": "text"}], [{"type": "text", "text": "a"}]),
]


def outcome(body):
    """``served``, or the words of the fault."""
    try:
        findings(body)
    except TurnFault as fault:
        return message_of(fault)
    return "served"


@pytest.mark.parametrize("seed", range(4))
def test_no_body_is_a_defect(seed):
    """Whatever stands in a place of another kind: served, or a fault in the surface's words."""
    random_ = random.Random(seed)
    everywhere = [place for place, _ in places(RICH) if place]
    for _ in range(700):
        body = copy.deepcopy(RICH)
        for _ in range(random_.choice([1, 1, 2])):
            *above, last = random_.choice(everywhere)
            try:
                holder = at(body, above)
                if random_.random() < 0.2:
                    del holder[last]
                else:
                    holder[last] = copy.deepcopy(random_.choice(VALUES))
            except (KeyError, IndexError, TypeError):
                continue
        assert outcome(body)
