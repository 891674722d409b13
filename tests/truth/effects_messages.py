"""Messages: the effects that its rows claim beyond a wire field, and how the wire spells its samples."""

from __future__ import annotations

from dataclasses import replace

from app.ledger import Parameter
from fake_upstream.scenarios import finish, tool_args, tool_call
from tests.truth.checks import (
    connected,
    names_the_session,
    offers,
    stops,
    streamed,
    thinking,
    unchanged,
    withheld,
)
from tests.truth.proof import Check, Seen
from tests.truth.stage import Stage
from tests.truth.wire import at

TOOL_KINDS = {
    "bash_20241022": "restart",
    "bash_20250124": "restart",
    "text_editor_20241022": "undo_edit",
    "text_editor_20250124": "undo_edit",
    "text_editor_20250429": "str_replace",
    "text_editor_20250728": "str_replace",
    "memory_20250818": "rename",
}
"""The vendor's client tools, and a word of each one's schema."""

DEFINITION = "messages[].content[type=tool_addition].tool.definition"
BLOCK = "messages[].content[].type"


def arguments_in_pieces(stage: Stage, surface: str, row: Parameter, seen: list[Seen]) -> None:
    """Each fragment of a call's arguments is an event of its own."""
    steps = [tool_call(0, "call_1", "f"), tool_args(0, '{"x":'), tool_args(0, '"1"}'), finish()]
    for each in connected(seen):
        case = replace(each.case, scenario=(steps,))
        answer = stage.ask(surface, case, house=each.house, stream=True)
        deltas = [frame["delta"] for frame in answer.frames if frame["type"] == "content_block_delta"]
        assert [delta["partial_json"] for delta in deltas if delta.get("partial_json")] == ['{"x":', '"1"}']


def sealed(stage: Stage, surface: str, row: Parameter, seen: list[Seen]) -> None:
    """Under Candor's seal the text goes out; with any other it does not, and is named."""
    key = row.path.rpartition(".")[2]
    for each in connected(seen, "switched on"):
        assert at(each.answer.wire, "messages[].reasoning") == ["marked"]
        talk = [dict(message) for message in each.case.body["messages"]]
        talk[1]["content"] = [{**talk[1]["content"][0], key: "somebody else's"}]
        case = replace(each.case, body={**each.case.body, "messages": talk})
        foreign = stage.ask(surface, case, house=each.house)
        assert at(foreign.wire, "messages[].reasoning") == []
        assert foreign.ignored == ["messages[1].content[0].type"]


def hides_thinking(stage: Stage, surface: str, row: Parameter, seen: list[Seen]) -> None:
    """No thinking text goes out."""
    thinking(lambda sample: False)(stage, surface, row, seen)


def displays(stage: Stage, surface: str, row: Parameter, seen: list[Seen]) -> None:
    """Omitted thinking stays inside; whatever else is asked for shows it."""
    thinking(lambda sample: sample != "omitted")(stage, surface, row, seen)


def _hosted_ids() -> list[str]:
    paths = [f"messages[].content[type={kind}].id" for kind in ("server_tool_use", "mcp_tool_use")]
    kinds = ("web_search", "web_fetch", "code_execution", "bash_code_execution", "text_editor_code_execution")
    paths += [
        f"messages[].content[type={kind}_tool_result].tool_use_id"
        for kind in (*kinds, "tool_search", "advisor", "mcp")
    ]
    callers = ("server_tool_use", "web_search_tool_result", "web_fetch_tool_result")
    return paths + [f"messages[].content[type={kind}].caller" for kind in callers]


EFFECTS: dict[str, Check] = {
    "stop_sequences": stops,
    "stream": streamed,
    "metadata": names_the_session,
    "metadata.user_id": names_the_session,
    "thinking.type=disabled": hides_thinking,
    "thinking.display": displays,
    "messages[].content[type=document].source.media_type": unchanged,
    "messages[].content[type=thinking].signature": sealed,
    "messages[].content[type=redacted_thinking].data": sealed,
    **dict.fromkeys(_hosted_ids(), unchanged),
    "messages[].content[type=compaction].tool_changes": offers(["g"]),
    "messages[].content[type=compaction].tool_changes[].type=tool_removal": offers(["g", "f"]),
    "messages[].content[type=compaction].tool_changes[].type=tool_addition": offers(["g", "f"]),
    f"{BLOCK}=tool_addition": offers(["f"]),
    "messages[].content[type=tool_addition].tool": offers(["f"]),
    "messages[].content[type=tool_addition].tool.type=tool_reference": offers(["f"]),
    "messages[].content[type=tool_addition].tool.name": offers(["f"], ["g"]),
    f"{BLOCK}=tool_removal": offers(["g"]),
    "messages[].content[type=tool_removal].tool": offers(["g"]),
    "messages[].content[type=tool_removal].tool.type=tool_reference": offers(["g"]),
    "messages[].content[type=tool_removal].tool.name": offers(["g"], ["f"]),
    "messages[].content[type=tool_addition].tool.type=tool_definition": offers(["f", "new"]),
    f"{DEFINITION}.type=custom": offers(["f", "new"]),
    f"{DEFINITION}[type=custom].eager_input_streaming": arguments_in_pieces,
    "tools[type=custom].eager_input_streaming": arguments_in_pieces,
    "tool_choice": unchanged,
    "tool_choice.type=auto": unchanged,
    "tool_choice.type=none": withheld,
}

SPELT: dict[str, tuple[str, ...]] = {
    "messages[].role=user": ("1",),
    "messages[].role=assistant": ("2",),
    "messages[].content[type=document].source": ("marked",),
    "messages[].content[].type=tool_use": ("a",),
    "messages[].content[].type=tool_result": ("a",),
    "messages[].content[type=tool_result].content[].type=tool_reference": ("[tool reference: f]",),
    "messages[].content[].type=redacted_thinking": ("marked",),
    "messages[].content[type=tool_result].is_error": ("[error]", "1"),
    "messages[].content[type=mcp_tool_result].is_error": ("failed",),
    f"{DEFINITION}": ("new",),
    **{f"{DEFINITION}.type={kind}": (word,) for kind, word in TOOL_KINDS.items()},
    **{f"tools[].type={kind}": (word,) for kind, word in TOOL_KINDS.items()},
    "tools[].type=custom": ("f",),
    "tool_choice.type=any": ("required",),
    "tool_choice.type=tool": ("function",),
    "tool_choice.disable_parallel_tool_use": ("True", "True"),
    "output_config.format.type=json_schema": ("conforms to this JSON Schema",),
    "output_format.type=json_schema": ("conforms to this JSON Schema",),
}
