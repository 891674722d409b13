"""Tool schemas as JSON text: completed only where they say nothing, otherwise passed as they are."""

from __future__ import annotations

from typing import Any

import orjson

EMPTY_OBJECT_SCHEMA = '{"type":"object","properties":{}}'


def complete_schema(schema: Any) -> str:
    """``schema`` as JSON text; absent, null, ``{}`` and ``{"type": "object"}`` become an empty object schema."""
    if not schema or schema == {"type": "object"}:
        return EMPTY_OBJECT_SCHEMA
    return orjson.dumps(schema).decode()
