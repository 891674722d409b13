"""Requests of Messages in which every row of its ledger has a place, all of them servable (or refused for it)."""

from __future__ import annotations

from typing import Any

from app.ledger import Parameter
from app.seals import Seals
from tests.truth.case import KEEP, Case, first_that_fits
from tests.truth.stage import SEAL_KEY

SCHEMA = {"type": "object", "properties": {"x": {"type": "string"}}}
TOOL = {"name": "f", "description": "does f", "input_schema": SCHEMA}
OTHER = {"name": "g", "input_schema": SCHEMA}
CALL = {"type": "tool_use", "id": "a", "name": "f", "input": {"x": "1"}}
PNG = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
TEXT = {"type": "text", "text": "marked"}
HOSTED_NAMES = {
    "bash": "bash",
    "text_editor_20241022": "str_replace_editor",
    "text_editor_20250124": "str_replace_editor",
    "text_editor": "str_replace_based_edit_tool",
    "memory": "memory",
}


def _body(*content: Any, **fields: Any) -> dict[str, Any]:
    said = [{"role": "user", "content": list(content) or "hi"}]
    return {"model": "fake-echo", "max_tokens": 50, "messages": said, **fields}


def _said(*content: Any, **fields: Any) -> dict[str, Any]:
    """The model said ``content``, between two user messages."""
    middle = {"role": "assistant", "content": list(content)}
    talk = [{"role": "user", "content": "go"}, middle, {"role": "user", "content": "on"}]
    return _body(messages=talk, **fields)


def _with_tools(*tools: Any, **fields: Any) -> dict[str, Any]:
    return _body(tools=list(tools), system="S", **fields)


def _result(*content: Any, **fields: Any) -> dict[str, Any]:
    result = {"type": "tool_result", "tool_use_id": "a", "content": list(content) or "1", **fields}
    talk = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [CALL]},
        {"role": "user", "content": [result]},
    ]
    return _body(messages=talk)


def _named(kind: str, **fields: Any) -> dict[str, Any]:
    """A tool that the vendor names."""
    name = next(
        HOSTED_NAMES[key] for key in sorted(HOSTED_NAMES, key=len, reverse=True) if kind.startswith(key)
    )
    return {"type": kind, "name": name, **fields}


def _document(source: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"type": "document", "source": source, **fields}


_SEARCH_RESULT = {
    "type": "search_result",
    "title": "T",
    "source": "s",
    "content": [TEXT],
    "citations": {"enabled": False},
}
_SOURCES: list[dict[str, Any]] = [
    {"type": "text", "media_type": "text/plain", "data": "marked"},
    {"type": "content", "content": [TEXT]},
    {"type": "content", "content": [{"type": "image", "source": PNG}]},
    {"type": "base64", "media_type": "application/pdf", "data": "AAAA"},
    {"type": "url", "url": "https://a.example/a.pdf"},
    {"type": "file", "file_id": "file_1"},
]
_IMAGES = [
    {"type": "image", "source": source}
    for source in (
        PNG,
        {"type": "url", "url": "https://a.example/a.png"},
        {"type": "file", "file_id": "file_1"},
    )
]
_CLIENT_TOOLS = (
    "bash_20241022",
    "bash_20250124",
    "text_editor_20241022",
    "text_editor_20250124",
    "text_editor_20250429",
    "text_editor_20250728",
    "memory_20250818",
)
_WEB = {"max_uses": 1, "allowed_domains": ["a.example"], "blocked_domains": []}
_SEARCH = {**_WEB, "user_location": {"type": "approximate"}}
_FETCH = {**_WEB, "citations": {}, "max_content_tokens": 9, "url_sources": []}
_SCREEN = {"display_height_px": 1, "display_width_px": 1, "display_number": 1}
_HOSTED_TOOLS: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("web_search_20250305", "web_search_20260209"), _SEARCH),
    "web_search_20260318": {**_SEARCH, "response_inclusion": "all"},
    **dict.fromkeys(("web_fetch_20250910", "web_fetch_20260209"), _FETCH),
    "web_fetch_20260309": {**_FETCH, "use_cache": True},
    "web_fetch_20260318": {**_FETCH, "use_cache": True, "response_inclusion": "all"},
    **{f"code_execution_{date}": {} for date in ("20250522", "20250825", "20260120", "20260521")},
    "advisor_20260301": {"model": "m", "max_uses": 1, "max_tokens": 9, "caching": {}},
    "mcp_toolset": {"mcp_server_name": "s", "configs": {}, "default_config": {}, "tools": []},
    **dict.fromkeys(("computer_20241022", "computer_20250124"), _SCREEN),
    "computer_20251124": {**_SCREEN, "enable_zoom": True},
    "computer_toolset_20260801": {"configs": {}},
    "browser_toolset_20260801": {"configs": {}},
    "tool_search_tool_bm25_20251119": {},
    "tool_search_tool_bm25": {},
    "tool_search_tool_regex_20251119": {},
    "tool_search_tool_regex": {},
}
_CALLS = {
    "server_tool_use": {
        "id": "srv",
        "name": "web_search",
        "input": {"q": "marked"},
        "caller": {"type": "direct"},
    },
    "mcp_tool_use": {"id": "mcp", "name": "look", "server_name": "srv", "input": {"q": "marked"}},
}
_RESULTS = (
    "web_search_tool_result",
    "web_fetch_tool_result",
    "code_execution_tool_result",
    "bash_code_execution_tool_result",
    "text_editor_code_execution_tool_result",
    "tool_search_tool_result",
    "advisor_tool_result",
)
_REFERENCE = {"type": "tool_reference", "name": "f"}
_CHANGED = [
    {"type": "tool_removal", "tool": _REFERENCE, "cache_control": {"type": "ephemeral"}},
    {"type": "tool_addition", "tool": _REFERENCE},
]


def _changes(definition: dict[str, Any]) -> dict[str, Any]:
    tool = {"type": "tool_definition", "definition": definition}
    return _with_tools(TOOL, messages=_body(TEXT, {"type": "tool_addition", "tool": tool})["messages"])


def documents() -> list[dict[str, Any]]:
    """All of them; a row stands in the first that has a place for it."""
    seals = Seals(SEAL_KEY.encode())
    return [
        _body(),
        _body(TEXT, system=[{"type": "text", "text": "marked"}]),
        _said(TEXT),
        _body(messages=[{"role": "system", "content": "marked"}, {"role": "user", "content": "hi"}]),
        _body({**TEXT, "cache_control": {"type": "ephemeral", "ttl": "1h", "scope": "global"}}),
        *_top_documents(),
        *(_body(image) for image in _IMAGES),
        *(_body(_document(source, citations={"enabled": False})) for source in _SOURCES),
        _body(_SEARCH_RESULT),
        _result(),
        *(_result(inner) for inner in (TEXT, *_IMAGES[:1], _SEARCH_RESULT)),
        _result(_document(_SOURCES[0], citations={"enabled": False})),
        _result({"type": "tool_reference", "tool_name": "f"}),
        _result({"type": "browser_state", "tabs": [], "state_changes": []}),
        _said({"type": "thinking", "thinking": "marked", "signature": seals.sign("marked")}),
        _said({"type": "redacted_thinking", "data": seals.wrap("marked")}),
        *(_said({"type": kind, **fields}, TEXT) for kind, fields in _CALLS.items()),
        *(
            _said({"type": kind, "tool_use_id": "srv", "content": [TEXT], "caller": {"type": "direct"}})
            if kind.startswith("web_")
            else _said({"type": kind, "tool_use_id": "srv", "content": [TEXT]})
            for kind in _RESULTS
        ),
        _said({"type": "mcp_tool_result", "tool_use_id": "mcp", "content": [TEXT], "is_error": True}),
        _said({"type": "mcp_tool_listing", "mcp_server_name": "s", "tools": []}, TEXT),
        _said({"type": "fallback", "from": {}, "to": {}, "trigger": {}}, TEXT),
        _body({"type": "container_upload", "file_id": "file_1"}),
        *_change_documents(),
        *_tool_documents(),
    ]


def _top_documents() -> list[dict[str, Any]]:
    schema = {"type": "json_schema", "schema": SCHEMA}
    return [
        _body(metadata={"user_id": "u"}),
        _body(thinking={"type": "enabled", "budget_tokens": 1024}),
        *(_body(thinking={"type": kind}) for kind in ("adaptive", "between_tools", "disabled")),
        _body(output_config={"format": schema}),
        _body(output_format=schema),
        _body(cache_control={"type": "ephemeral", "ttl": "1h"}),
        _body(context_management={"edits": [{"type": "clear_thinking_20251015"}]}),
        _body(
            fallbacks=[{"model": "m", "max_tokens": 9, "output_config": {}, "speed": "fast", "thinking": {}}]
        ),
        _body(fallback_credit_token={"token": "t", "mode": "strict"}),
        _body(diagnostics={"previous_message_id": "msg_1"}),
        _body(billing_policy={"type": "billing_policy", "bill_to": "self"}),
        _body(container={"id": "container_1", "skills": []}),
        _body(
            mcp_servers=[
                {
                    "type": "url",
                    "name": "a",
                    "url": "https://a.example",
                    "authorization_token": "t",
                    "tool_configuration": {},
                }
            ]
        ),
        _body(thread={"type": "continue", "previous_message_id": "msg_1"}),
        _body(compaction={"type": "summarize", "instructions": "short"}),
    ]


def _change_documents() -> list[dict[str, Any]]:
    summary = {
        "type": "compaction",
        "content": "marked",
        "tool_changes": _CHANGED,
    }
    talk = [{"role": "assistant", "content": [summary]}, {"role": "user", "content": "on"}]
    gone = [{"type": "tool_removal", "tool": {"type": "tool_reference", "name": name}} for name in ("f", "g")]
    hosted = [
        {"type": "mcp_tool_reference", "server_name": "s", "name": "n"},
        {"type": "mcp_toolset_reference", "server_name": "s"},
    ]
    return [
        _with_tools(TOOL, OTHER, messages=talk),
        *(
            _with_tools(TOOL, OTHER, messages=_body(TEXT, {"type": "tool_removal", "tool": tool})["messages"])
            for tool in (_REFERENCE, *hosted)
        ),
        *(
            _with_tools(
                TOOL, OTHER, messages=_body(TEXT, *gone, {"type": "tool_addition", "tool": tool})["messages"]
            )
            for tool in (_REFERENCE, *hosted)
        ),
        _changes({"type": "custom", "name": "new", "input_schema": SCHEMA}),
        *(_changes(_named(kind)) for kind in _CLIENT_TOOLS),
        *(_changes({"type": kind, "name": "hosted", **fields}) for kind, fields in _HOSTED_TOOLS.items()),
    ]


def _tool_documents() -> list[dict[str, Any]]:
    choices: list[dict[str, Any]] = [{"type": kind} for kind in ("auto", "none", "any")]
    return [
        _with_tools({"type": "custom", **TOOL}),
        *(_with_tools(_named(kind)) for kind in _CLIENT_TOOLS),
        *(
            _with_tools(TOOL, {"type": kind, "name": kind.partition("_2")[0], **fields})
            for kind, fields in _HOSTED_TOOLS.items()
        ),
        *(_with_tools(TOOL, OTHER, tool_choice=choice) for choice in choices),
        _with_tools(TOOL, OTHER, tool_choice={"type": "tool", "name": "f"}),
    ]


def case(row: Parameter, sample: Any) -> Case:
    """``sample`` at the row's place; a call and its result keep the same id."""
    if row.path.endswith(".citations") and sample is KEEP:
        sample = {"enabled": True}
    made = first_that_fits(_documents_for(row), row, sample)
    if row.path in (
        "messages[].content[type=tool_use].id",
        "messages[].content[type=tool_result].tool_use_id",
    ):
        _, call, result = made.body["messages"]
        call["content"][0]["id"] = result["content"][0]["tool_use_id"] = made.sample
    return made


def _documents_for(row: Parameter) -> list[dict[str, Any]]:
    path = row.path
    if path == "tool_choice.disable_parallel_tool_use":
        return [_with_tools(TOOL, OTHER, tool_choice={"type": "auto"})]
    if path == "tool_choice.name":
        return [_with_tools(TOOL, OTHER, tool_choice={"type": "tool", "name": "f"})]
    if path == "tools":
        return [_with_tools(TOOL)]
    if path.startswith("tools["):
        return _tool_documents()
    if path == "messages[].content[type=document].source.content":
        return [_body(_document({"type": "content", "content": "marked"}))]
    return documents()
