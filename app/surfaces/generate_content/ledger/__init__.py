"""What becomes of every parameter of generateContent and streamGenerateContent, and of countTokens.

The universe of parameters: the vendor's Python SDK (google-genai 3.6.1) and https://ai.google.dev/api. Paths are
in camelCase; the snake_case spelling of any key is the same row.
"""

from __future__ import annotations

import re
from dataclasses import replace

from app.ledger import Disposition, Ledger, Parameter
from app.surfaces.generate_content.ledger import rows_config, rows_contents, rows_tools
from app.surfaces.generate_content.spelling import spellings

NAME = "generate_content"
REQUEST = "generateContentRequest"

ROWS = [*rows_contents.ROWS, *rows_tools.ROWS, *rows_config.ROWS]

_TAGS: dict[str, tuple[str, str | None]] = {
    "contents[]": ("role", "user"),
    "toolConfig.functionCallingConfig": ("mode", "MODE_UNSPECIFIED"),
}
_NAME_IN_PATH = re.compile(r"[A-Za-z_]+")


def ledger() -> Ledger:
    """The ledger of a turn."""
    return _ledger(ROWS, _TAGS)


def count_ledger() -> Ledger:
    """The ledger of countTokens: the same fields, at the top or inside ``generateContentRequest``."""
    request = Parameter(
        REQUEST, Disposition.FORWARDED, "the whole request whose tokens are estimated, by field"
    )
    inside = [replace(row, path=f"{REQUEST}.{row.path}") for row in ROWS if not row.path.startswith("query:")]
    tags = {f"{REQUEST}.{path}": tag for path, tag in _TAGS.items()}
    return _ledger([*ROWS, request, *inside], {**_TAGS, **tags})


def _ledger(rows: list[Parameter], tags: dict[str, tuple[str, str | None]]) -> Ledger:
    names = {name for row in rows for name in _NAME_IN_PATH.findall(row.path.partition("=")[0])}
    return Ledger(NAME, rows, tags=tags, spellings=spellings(names))
