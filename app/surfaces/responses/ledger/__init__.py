"""This surface's ledger: request rows, input rows, tool rows, and how their objects are told apart."""

from __future__ import annotations

from app.ledger import Ledger
from app.seals import Seals
from app.surfaces.responses.errors import SURFACE
from app.surfaces.responses.ledger.examples import with_samples
from app.surfaces.responses.ledger.rows_calls import CALL_ROWS
from app.surfaces.responses.ledger.rows_choice import CHOICE_ROWS
from app.surfaces.responses.ledger.rows_input import input_rows
from app.surfaces.responses.ledger.rows_request import REQUEST_ROWS
from app.surfaces.responses.ledger.rows_state import state_rows
from app.surfaces.responses.ledger.rows_tools import TOOL_ROWS

TAGS: dict[str, tuple[str, str | None]] = {
    "input[]": ("type", "message"),
    "input[].content[]": ("type", None),
    "input[].summary[]": ("type", None),
    "input[].output[]": ("type", None),
    "tools[]": ("type", None),
    "tools[].tools[]": ("type", None),
    "tools[].format": ("type", None),
    "tools[].tools[].format": ("type", None),
    "tools[].environment": ("type", None),
    "text.format": ("type", None),
    "tool_choice": ("type", None),
    "tool_choice.tools[]": ("type", None),
}
"""Row path -> (tag key, kind of an object without the tag or None when the tag is required)."""

SAME = {
    "input[type=additional_tools].tools[]": "tools[]",
    "input[type=tool_search_output].tools[]": "tools[]",
    "input[type=custom_tool_call_output].output[]": "input[type=function_call_output].output[]",
}
"""Places that hold what another place holds."""


def make_ledger(seals: Seals, *, keeps: bool = True) -> Ledger:
    """The ledger; ``seals`` tells reasoning that Candor handed out from anyone else's.

    ``keeps``: responses are kept when nothing is said to the contrary.
    """
    rows = [*REQUEST_ROWS, *state_rows(keeps=keeps), *CHOICE_ROWS, *input_rows(seals), *CALL_ROWS, *TOOL_ROWS]
    return Ledger(SURFACE, map(with_samples, rows), tags=TAGS, same=SAME)
