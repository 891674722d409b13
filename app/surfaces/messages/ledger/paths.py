"""Where content blocks stand, and what may stand on each of them."""

from __future__ import annotations

BLOCK = "messages[].content[]"
RESULT = "messages[].content[type=tool_result].content[]"
"""A block inside a tool result."""


def of(kind: str, key: str) -> str:
    """The path of ``key`` in blocks of ``kind``."""
    return f"messages[].content[type={kind}].{key}"


CACHE_REASON = "a cache breakpoint; where an upstream caches is its own affair"
CACHE_SAMPLES = ({"type": "ephemeral"}, {"type": "ephemeral", "ttl": "1h"})
