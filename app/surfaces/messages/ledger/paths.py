"""Where content blocks stand."""

from __future__ import annotations

BLOCK = "messages[].content[]"
RESULT = "messages[].content[type=tool_result].content[]"
"""A block inside a tool result."""


def of(kind: str, key: str) -> str:
    """The path of ``key`` in blocks of ``kind``."""
    return f"messages[].content[type={kind}].{key}"
