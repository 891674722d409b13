"""Rows of what came before: reasoning, tools that ran elsewhere, summaries, changes of the tools."""

from __future__ import annotations

from app.ledger import Disposition, Parameter
from app.surfaces.messages.ledger.paths import BLOCK, CACHE_REASON, CACHE_SAMPLES, of
from app.surfaces.messages.ledger.rows_tools import offered_tool_rows, unoffered_tool_rows
from app.turn.features import Feature

FORWARDED, EMULATED = Disposition.FORWARDED, Disposition.EMULATED
IGNORED, REFUSED = Disposition.IGNORED, Disposition.REFUSED

_THINKING = [
    Parameter(
        f"{BLOCK}.type=thinking",
        FORWARDED,
        "earlier reasoning under Candor's own seal; anybody else's is ignored",
        feature=Feature.REASONING_HISTORY,
        samples=("thinking",),
        wire="messages[].reasoning",
    ),
    Parameter(
        of("thinking", "thinking"),
        FORWARDED,
        "its text",
        feature=Feature.REASONING_HISTORY,
        silent=True,
        wire="messages[].reasoning",
    ),
    Parameter(of("thinking", "signature"), EMULATED, "the seal, which is verified", silent=True),
    Parameter(
        f"{BLOCK}.type=redacted_thinking",
        FORWARDED,
        "earlier reasoning inside a blob under Candor's own seal; anybody else's is ignored",
        feature=Feature.REASONING_HISTORY,
        samples=("redacted_thinking",),
        wire="messages[].reasoning",
    ),
    Parameter(of("redacted_thinking", "data"), EMULATED, "the blob, which is verified", silent=True),
]

_HOSTED_CALLS = {
    "server_tool_use": ("id", "name", "input", "caller"),
    "mcp_tool_use": ("id", "name", "server_name", "input"),
}
_HOSTED_RESULTS = {
    "web_search_tool_result": ("tool_use_id", "content", "caller"),
    "web_fetch_tool_result": ("tool_use_id", "content", "caller"),
    "code_execution_tool_result": ("tool_use_id", "content"),
    "bash_code_execution_tool_result": ("tool_use_id", "content"),
    "text_editor_code_execution_tool_result": ("tool_use_id", "content"),
    "tool_search_tool_result": ("tool_use_id", "content"),
    "advisor_tool_result": ("tool_use_id", "content"),
    "mcp_tool_result": ("tool_use_id", "content", "is_error"),
}


def _told_in(key: str) -> str | None:
    """Where a field is told; what only names a block to the vendor is not: its place says the same."""
    return None if key in ("id", "tool_use_id", "caller") else "messages[].text"


_HISTORY = [
    *(
        Parameter(
            f"{BLOCK}.type={kind}",
            EMULATED,
            "a tool that ran on the vendor's servers: what can be read of it is told as text",
            samples=(kind,),
            wire="messages[].text",
        )
        for kind in (*_HOSTED_CALLS, *_HOSTED_RESULTS)
    ),
    *(
        Parameter(of(kind, key), EMULATED, f"part of {kind}", silent=True, wire=_told_in(key))
        for kind, keys in (_HOSTED_CALLS | _HOSTED_RESULTS).items()
        for key in keys
    ),
    Parameter(
        f"{BLOCK}.type=mcp_tool_listing",
        IGNORED,
        "lists tools that run on the vendor's servers, which cannot be called from here",
        samples=("mcp_tool_listing",),
    ),
    *(
        Parameter(of("mcp_tool_listing", key), IGNORED, "part of the listing", silent=True)
        for key in ("mcp_server_name", "tools")
    ),
    Parameter(
        f"{BLOCK}.type=fallback",
        IGNORED,
        "marks a change of models; it has no content",
        samples=("fallback",),
    ),
    *(
        Parameter(of("fallback", key), IGNORED, "part of the mark", silent=True)
        for key in ("from", "to", "trigger")
    ),
    Parameter(
        f"{BLOCK}.type=container_upload",
        REFUSED,
        "a file in a container of the vendor's",
        samples=("container_upload",),
    ),
    Parameter(of("container_upload", "file_id"), REFUSED, "part of container_upload", silent=True),
    Parameter(
        f"{BLOCK}.type=compaction",
        EMULATED,
        "its summary stands in place of everything before it; one that cannot be read is refused",
        samples=("compaction",),
        wire="messages[].text",
    ),
    Parameter(
        of("compaction", "content"), FORWARDED, "the summary", samples=("a", "b"), wire="messages[].text"
    ),
    Parameter(
        of("compaction", "encrypted_content"),
        IGNORED,
        "only the vendor can read it; the summary is there beside it",
        samples=("a", "b"),
    ),
    Parameter(of("compaction", "signature"), IGNORED, "only the vendor can check it", samples=("a", "b")),
    Parameter(
        of("compaction", "tool_changes"),
        EMULATED,
        "the changes of tools that the summary stands for are made again",
        neutral=([],),
        samples=([{"type": "tool_removal", "tool": {"type": "tool_reference", "name": "f"}}],),
        wire="tools[].name",
    ),
]

_TOOL = "messages[].content[type={}].tool"


def _tool_change_rows(kind: str, reason: str) -> list[Parameter]:
    tool = _TOOL.format(kind)
    return [
        Parameter(f"{BLOCK}.type={kind}", EMULATED, reason, samples=(kind,), wire="tools[].name"),
        Parameter(tool, FORWARDED, "the tool", silent=True, wire="tools[].name"),
        Parameter(
            f"{tool}.type=tool_reference",
            FORWARDED,
            "one of the request's tools",
            samples=("tool_reference",),
            wire="tools[].name",
        ),
        Parameter(f"{tool}.name", FORWARDED, "its name", samples=("f", "g"), wire="tools[].name"),
        *(
            Parameter(
                f"{tool}.type={hosted}", REFUSED, "the vendor's servers would call it", samples=(hosted,)
            )
            for hosted in ("mcp_tool_reference", "mcp_toolset_reference")
        ),
        Parameter(f"{tool}.server_name", REFUSED, "part of the reference", silent=True),
    ]


_TOOL_CHANGES = [
    *_tool_change_rows("tool_addition", "the tool is offered from now on"),
    Parameter(
        f"{_TOOL.format('tool_addition')}.type=tool_definition",
        FORWARDED,
        "a new tool",
        samples=("tool_definition",),
        wire="tools[].name",
    ),
    Parameter(
        f"{_TOOL.format('tool_addition')}.definition", FORWARDED, "the tool", silent=True, wire="tools[].name"
    ),
    *offered_tool_rows(f"{_TOOL.format('tool_addition')}.definition"),
    *unoffered_tool_rows(f"{_TOOL.format('tool_addition')}.definition"),
    *_tool_change_rows("tool_removal", "the tool is no longer offered"),
    *(
        Parameter(
            f"{of('compaction', 'tool_changes')}[].type={kind}",
            EMULATED,
            "see tool_changes",
            silent=True,
            wire="tools[].name",
        )
        for kind in ("tool_addition", "tool_removal")
    ),
    Parameter(
        f"{of('compaction', 'tool_changes')}[].cache_control", IGNORED, CACHE_REASON, samples=CACHE_SAMPLES
    ),
]

HISTORY_SAME = {
    f"{of('compaction', 'tool_changes')}[type={kind}].tool": f"messages[role=user].content[type={kind}].tool"
    for kind in ("tool_addition", "tool_removal")
}
"""Places that hold what another place holds."""

HISTORY_ROWS = [*_THINKING, *_HISTORY, *_TOOL_CHANGES]
