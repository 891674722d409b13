"""The vendor's client tools: run by the caller, but described and given a schema by the vendor, so by us.

Names are fixed by kind. The commands are those of the vendor's documentation of each kind; the memory tool's are
the types ``BetaMemoryTool20250818Command`` of its SDK.
"""

from __future__ import annotations

from typing import Any

import orjson

from app.turn.turn import Tool

_STRING = {"type": "string"}
_INTEGER = {"type": "integer"}
_RANGE = {
    "type": "array",
    "items": _INTEGER,
    "minItems": 2,
    "maxItems": 2,
    "description": "First and last line to show, counted from 1; -1 is the end of the file.",
}


def _schema(properties: dict[str, Any], required: list[str]) -> str:
    return orjson.dumps({"type": "object", "properties": properties, "required": required}).decode()


def _commands(names: list[str]) -> dict[str, Any]:
    return {"type": "string", "enum": names}


_BASH = Tool(
    "bash",
    "Runs commands in a persistent bash session and returns their output. "
    "Give restart instead of a command to start the session anew.",
    _schema({"command": _STRING, "restart": {"type": "boolean"}}, []),
)


def _editor(name: str, *, undo: bool) -> Tool:
    commands = ["view", "create", "str_replace", "insert"]
    text = (
        "Views, creates and edits text files. view shows a file or lists a directory; create writes file_text to "
        "path; str_replace replaces the one occurrence of old_str by new_str; insert puts insert_text (or "
        "new_str) after line insert_line, 0 being the top of the file"
    )
    if undo:
        commands.append("undo_edit")
        text += "; undo_edit takes back the last edit of the file"
    properties = {
        "command": _commands(commands),
        "path": _STRING,
        "file_text": _STRING,
        "old_str": _STRING,
        "new_str": _STRING,
        "insert_line": _INTEGER,
        "insert_text": _STRING,
        "view_range": _RANGE,
    }
    return Tool(name, text + ".", _schema(properties, ["command", "path"]))


_MEMORY = Tool(
    "memory",
    "Keeps notes in files under /memories between conversations. view shows a directory or a file; create writes "
    "file_text to path; str_replace replaces the one occurrence of old_str by new_str; insert puts insert_text "
    "after line insert_line; delete removes path; rename moves old_path to new_path.",
    _schema(
        {
            "command": _commands(["view", "create", "str_replace", "insert", "delete", "rename"]),
            "path": _STRING,
            "file_text": _STRING,
            "old_str": _STRING,
            "new_str": _STRING,
            "insert_line": _INTEGER,
            "insert_text": _STRING,
            "old_path": _STRING,
            "new_path": _STRING,
            "view_range": _RANGE,
        },
        ["command"],
    ),
)

_OLD_EDITOR = _editor("str_replace_editor", undo=True)
_NEW_EDITOR = _editor("str_replace_based_edit_tool", undo=False)

VENDOR_TOOLS: dict[str, Tool] = {
    "bash_20241022": _BASH,
    "bash_20250124": _BASH,
    "text_editor_20241022": _OLD_EDITOR,
    "text_editor_20250124": _OLD_EDITOR,
    "text_editor_20250429": _NEW_EDITOR,
    "text_editor_20250728": _NEW_EDITOR,
    "memory_20250818": _MEMORY,
}
"""Kind -> the tool as the model is offered it. Shared by all turns: nothing changes a Tool."""
