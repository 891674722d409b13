"""What surfaces that keep replies have in common: ids, pages of lists, and the words for what is not there."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from app.catalogue.query import Query
from app.stores.entries import STEM_CHARACTERS
from app.surfaces.surface import Found
from app.surfaces.writing import json_bytes
from app.turn.faults import FaultKind, TurnFault, invalid

DEFAULT_LIMIT = 20
MAX_LIMIT = 100
RETRY_AFTER_S = 2.0


class ReplyIds:
    """Makes the ids of one reply and its items, in the vendor's form: ``resp_...``, ``msg_...``.

    All begin with the same 128 bits of chance, by which an item leads to its reply; 64 more tell them apart.
    """

    def __init__(self) -> None:
        self._stem = secrets.token_hex(STEM_CHARACTERS // 2)

    def __call__(self, prefix: str) -> str:
        """A new id."""
        return prefix + self._stem + secrets.token_hex(8)


def store_down() -> TurnFault:
    """The fault of a store that cannot be asked now: a transient one."""
    return TurnFault(
        FaultKind.CAPACITY,
        "the store of replies cannot be reached now; try again",
        code="store_unavailable",
        retry_after_s=RETRY_AFTER_S,
    )


class Page(NamedTuple):
    """Which part of a list is wanted."""

    after: str | None
    limit: int
    descending: bool


def read_page(query: Query, *, default_order: str) -> Page:
    """``after``, ``limit`` and ``order`` of a query. Raises INVALID_REQUEST naming the parameter."""
    order = query.text("order") or default_order
    if order not in ("asc", "desc"):
        raise invalid(f"unknown value '{order[:100]}'; supported values are: 'asc', 'desc'", "order")
    limit = query.number("limit", low=1, high=MAX_LIMIT) or DEFAULT_LIMIT
    return Page(query.text("after") or None, limit, order == "desc")


def read_flag(query: Query, name: str) -> bool:
    """A boolean of a query: ``true`` or ``false``. Raises INVALID_REQUEST."""
    text = query.text(name) or "false"
    if text not in ("true", "false"):
        raise invalid(f"must be true or false, not '{text[:100]}'", name)
    return text == "true"


def cut(items: Sequence[Any], page: Page, id_of: Callable[[Any], str]) -> tuple[list[Any], bool]:
    """(the items of ``page``, whether there are more). Raises INVALID_REQUEST for an ``after`` not in the list."""
    ordered = list(reversed(items)) if page.descending else list(items)
    if page.after is not None:
        place = next((index for index, item in enumerate(ordered) if id_of(item) == page.after), None)
        if place is None:
            raise no_place()
        ordered = ordered[place + 1 :]
    return ordered[: page.limit], len(ordered) > page.limit


def no_place() -> TurnFault:
    """The fault of an ``after`` that the list does not have."""
    return invalid("names nothing in this list", "after")


def listed(items: Sequence[dict[str, Any]], has_more: bool) -> Found:
    """The vendor's list object."""
    shown = {
        "object": "list",
        "data": items,
        "first_id": items[0]["id"] if items else None,
        "last_id": items[-1]["id"] if items else None,
        "has_more": has_more,
    }
    return Found(json_bytes(shown))
