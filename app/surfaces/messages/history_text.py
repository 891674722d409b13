"""Blocks of tools that ran on the vendor's servers, told to the model as text.

What can be read is told; what is encrypted or only names a file of the vendor's is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from app.surfaces.reading import json_text

_LABELLED = frozenset({"title", "url", "tool_name", "return_code", "error_code", "error_message"})
_PLAIN = frozenset({"text", "stdout", "stderr", "data", "lines"})
_WITHIN = frozenset({"content", "source", "tool_references"})


def call_text(block: Mapping[str, Any], path: str) -> str:
    """A call: ``[web_search call] {"query":"x"}``."""
    name = ".".join(str(block[key]) for key in ("server_name", "name") if block.get(key))
    return f"[{name} call] {json_text(block.get('input') or {}, f'{path}.input')}"


def result_text(block: Mapping[str, Any]) -> str:
    """A result: a line that names the kind, then what can be read of it, a line each."""
    kind = str(block["type"]).removesuffix("_tool_result")
    failed = ", failed" if block.get("is_error") is True else ""
    return "\n".join([f"[{kind} result{failed}]", *_readable(block.get("content"))])


def _readable(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if value:
            yield value
    elif isinstance(value, list):
        for item in value:
            yield from _readable(item)
    elif isinstance(value, dict) and value.get("type") != "base64":
        for key, member in value.items():
            if key in _LABELLED:
                if member is not None:
                    yield f"{key}: {member}"
            elif key in _PLAIN or key in _WITHIN:
                yield from _readable(member)
