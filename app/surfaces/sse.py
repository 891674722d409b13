"""Server-sent events: the few bytes around each piece of JSON."""

from __future__ import annotations

import secrets
from typing import Any

import orjson

CONTENT_TYPE = "text/event-stream; charset=utf-8"
COMMENT_KEEPALIVE = b": keepalive\n\n"


def data(value: Any) -> bytes:
    """One event without a name: ``data: {...}`` and a blank line."""
    return b"data: " + orjson.dumps(value) + b"\n\n"


def event(name: str, value: Any) -> bytes:
    """One named event: ``event:`` line, ``data:`` line and a blank line."""
    return b"event: " + name.encode() + b"\ndata: " + orjson.dumps(value) + b"\n\n"


def new_id(prefix: str) -> str:
    """An unguessable id (192 bits) in the vendor's form: ``chatcmpl-...``."""
    return prefix + secrets.token_hex(24)
