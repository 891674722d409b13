"""The ledger of the Messages surface: what becomes of every parameter of ``POST /v1/messages``.

Sources: the types of the vendor's Python SDK 2.14.0 (stable and beta) and, for what it no longer lists, 0.125.0;
requests of Claude Code 2.1.332 for the fields that no SDK has.

- ``rows_body``: the body but for messages and tools.
- ``rows_blocks``: roles and content blocks; ``rows_history``: those blocks that only tell what came before.
- ``rows_tools``: tool kinds and tool choice.
- ``rules``: the outcomes that depend on the rest of the request or on the upstream.
"""

from app.ledger import Ledger
from app.surfaces.messages.ledger.rows_blocks import BLOCK_ROWS, BLOCK_SAME, BLOCK_TAGS
from app.surfaces.messages.ledger.rows_body import BODY_ROWS, BODY_TAGS
from app.surfaces.messages.ledger.rows_history import HISTORY_ROWS, HISTORY_SAME
from app.surfaces.messages.ledger.rows_tools import TOOL_ROWS, TOOL_TAGS

__all__ = ["LEDGER"]

LEDGER = Ledger(
    "messages",
    [*BODY_ROWS, *BLOCK_ROWS, *HISTORY_ROWS, *TOOL_ROWS],
    tags={**BODY_TAGS, **BLOCK_TAGS, **TOOL_TAGS},
    same={**BLOCK_SAME, **HISTORY_SAME},
)
