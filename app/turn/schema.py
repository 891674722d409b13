"""Tool schemas as JSON text: completed only where they say nothing, otherwise passed as they are."""

from __future__ import annotations

from typing import Any

import orjson

from app.turn.faults import invalid

EMPTY_OBJECT_SCHEMA = '{"type":"object","properties":{}}'


def complete_schema(schema: Any, path: str) -> str:
    """``schema`` as JSON text; absent, null, ``{}``, ``{"type": "object"}`` become an empty object schema.

    A schema that is nested too deeply to be written is an INVALID_REQUEST fault about ``path``.
    """
    if not schema or schema == {"type": "object"}:
        return EMPTY_OBJECT_SCHEMA
    try:
        return orjson.dumps(schema).decode()
    except orjson.JSONEncodeError:
        raise invalid("is nested too deeply", path) from None
