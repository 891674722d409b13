"""A kept exchange -> a fixture: the request's structure stays, all prose is replaced.

``python -m tests.clients.sanitise KEPT.json tests/data/clients/NAME.json``, with what ``CANDOR_CLIENTS_KEEP`` kept.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

HEADERS = ("user-agent", "content-type", "accept", "anthropic-version", "anthropic-beta", "x-goog-api-client")
"""Headers that a fixture keeps."""

PROSE = "Some text."
_PROSE_KEYS = {
    "text",
    "description",
    "content",
    "output",
    "instructions",
    "title",
    "$comment",
    "reasoning_content",
}
_KEPT_KEYS = {"id", "type", "role", "name", "data", "thoughtSignature", "signature", "encrypted_content"}
_LONGEST_WORD = 80
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def fixture(kept: dict[str, Any], name: str) -> dict[str, Any]:
    """The request of a kept exchange in the form of ``tests/data/clients``."""
    headers = {key: kept["headers"][key] for key in HEADERS if key in kept["headers"]}
    request = {key: kept[key] for key in ("method", "path", "query")}
    return {"_client": name, **request, "headers": headers, "body": without_prose(kept["body"])}


def without_prose(value: Any, key: str = "") -> Any:
    """``value`` with every text that a person or a program wrote replaced."""
    if isinstance(value, dict):
        return {name: without_prose(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [without_prose(inner, key) for inner in value]
    if not isinstance(value, str) or not value:
        return value
    if key in _PROSE_KEYS or (key not in _KEPT_KEYS and (len(value) > _LONGEST_WORD or "\n" in value)):
        return PROSE
    return _UUID.sub("00000000-0000-7000-8000-000000000000", value)


def main(kept: str, out: str) -> None:
    """Write the fixture of one kept exchange."""
    made = fixture(json.loads(Path(kept).read_text()), Path(out).stem)
    Path(out).write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:3])
