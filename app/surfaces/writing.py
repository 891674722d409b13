"""JSON on its way out."""

from __future__ import annotations

import json
from typing import Any

import orjson


def json_bytes(value: Any) -> bytes:
    """``value`` as compact JSON, also where it holds what a caller sent, nested as deep as could be read.

    ``orjson`` writes 254 levels; a reply has the caller's value some levels deeper than the request had it.
    """
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
