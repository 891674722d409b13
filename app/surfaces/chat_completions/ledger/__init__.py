"""What becomes of every parameter of ``POST /v1/chat/completions``.

One room each: ``rows_request`` (what stands at the top of the body), ``rows_messages`` (roles, parts, history),
``rows_tools`` (tools, choices, the legacy functions), ``rules`` (outcomes that depend on more than the row).

The documented parameters are those of the openai SDK's ``CompletionCreateParams`` (3.57.0) and what known
clients send beside them.
"""

from dataclasses import replace

from app.ledger import Ledger
from app.surfaces.chat_completions.ledger.rows_messages import MESSAGE_ROWS
from app.surfaces.chat_completions.ledger.rows_request import REQUEST_ROWS
from app.surfaces.chat_completions.ledger.rows_tools import TOOL_ROWS
from app.surfaces.chat_completions.ledger.rules import not_kept

NAME = "chat_completions"

TAGS: dict[str, tuple[str, str | None]] = {
    "messages[]": ("role", None),
    "messages[].content[]": ("type", None),
    "messages[].tool_calls[]": ("type", None),
    "tools[]": ("type", None),
    "tools[].custom.format": ("type", None),
    "tool_choice": ("type", None),
    "tool_choice.allowed_tools.tools[]": ("type", None),
    "response_format": ("type", None),
    "prediction": ("type", None),
}
"""The objects that come in kinds, and the key that tells the kind; a missing one is a 400 everywhere."""


def build(*, keeps: bool = True) -> Ledger:
    """The ledger of this surface; ``keeps``: replies are kept for callers who ask for it."""
    rows = [*REQUEST_ROWS, *MESSAGE_ROWS, *TOOL_ROWS]
    if not keeps:
        rows = [replace(row, rule=not_kept) if row.path == "store" else row for row in rows]
    return Ledger(NAME, rows, tags=TAGS)
