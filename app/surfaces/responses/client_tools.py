"""Tools that the caller's own program runs and whose schema the vendor fixes: local_shell, shell, apply_patch.

To an upstream each is a function with the schema below. Its calls go out as the item kind that the caller's
program knows (``shell_call`` and so on), and such items come back in history as calls of that function. The
item shapes are those of the ``openai`` package's ``ResponseOutputItem``. ``tool_search`` with client execution
is of the same family; its schema is the caller's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, assert_never

import orjson

from app.surfaces.reading import json_text

ClientKind = Literal["local_shell", "shell", "apply_patch", "tool_search"]

DESCRIPTIONS: dict[str, str] = {
    "local_shell": "Runs one command on the user's machine and returns its output.",
    "shell": "Runs shell commands on the user's machine and returns the output of each.",
    "apply_patch": (
        "Creates, updates or deletes one file. For create_file every line of the diff starts with '+'; "
        "for update_file the diff is in V4A format: '@@' anchors, ' ' context, '-' removed and '+' added lines."
    ),
    "tool_search": "Searches for tools that can be loaded.",
}

_STRING = {"type": "string"}
_COUNT = {"type": "integer"}
_STRINGS = {"type": "array", "items": _STRING}


def _schema(required: list[str], **properties: Any) -> str:
    schema = {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
    return orjson.dumps(schema).decode()


SCHEMAS: dict[str, str] = {
    "local_shell": _schema(
        ["command"],
        command=_STRINGS,
        working_directory=_STRING,
        timeout_ms=_COUNT,
        env={"type": "object", "additionalProperties": _STRING},
        user=_STRING,
    ),
    "shell": _schema(["commands"], commands=_STRINGS, timeout_ms=_COUNT, max_output_length=_COUNT),
    "apply_patch": _schema(
        ["type", "path"],
        type={"type": "string", "enum": ["create_file", "update_file", "delete_file"]},
        path=_STRING,
        diff=_STRING,
    ),
}


def fields_of_call(kind: ClientKind, arguments: str) -> dict[str, Any] | None:
    """What a call of ``kind`` says in its own item; None when ``arguments`` do not fit the kind."""
    try:
        value = orjson.loads(arguments)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(value, dict):
        return None
    match kind:
        case "tool_search":
            return {"arguments": value, "execution": "client"}
        case "local_shell":
            return _local_shell(value)
        case "shell":
            return _shell(value)
        case "apply_patch":
            return _apply_patch(value)
    assert_never(kind)


def _are_strings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _local_shell(value: Mapping[str, Any]) -> dict[str, Any] | None:
    command, env = value.get("command"), value.get("env") or {}
    if not _are_strings(command) or not isinstance(env, dict) or not _are_strings(list(env.values())):
        return None
    action = {
        "type": "exec",
        "command": command,
        "env": env,
        "timeout_ms": _integer(value.get("timeout_ms")),
        "user": _text(value.get("user")),
        "working_directory": _text(value.get("working_directory")),
    }
    return {"action": action}


def _shell(value: Mapping[str, Any]) -> dict[str, Any] | None:
    commands = value.get("commands")
    if not _are_strings(commands):
        return None
    action = {
        "commands": commands,
        "timeout_ms": _integer(value.get("timeout_ms")),
        "max_output_length": _integer(value.get("max_output_length")),
    }
    return {"action": action, "environment": {"type": "local"}}


def _apply_patch(value: Mapping[str, Any]) -> dict[str, Any] | None:
    kind, path, diff = value.get("type"), value.get("path"), value.get("diff")
    if not isinstance(path, str):
        return None
    if kind == "delete_file":
        return {"operation": {"type": kind, "path": path}}
    if kind in ("create_file", "update_file") and isinstance(diff, str):
        return {"operation": {"type": kind, "path": path, "diff": diff}}
    return None


def _integer(value: Any) -> int | None:
    return value if type(value) is int else None


def _text(value: Any) -> str | None:
    return value if type(value) is str else None


def arguments_of_item(fields: Mapping[str, Any], path: str, *, without: str = "") -> str:
    """An item's ``action`` or ``operation``, at ``path``, as the arguments of the call that it came from."""
    said = {name: value for name, value in fields.items() if value is not None and name != without}
    return json_text(said, path)
