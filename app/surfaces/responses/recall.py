"""What a request refers to: the responses before it, and single items of them, put in their place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from app.stores import StoreDown
from app.surfaces.kept import store_down
from app.surfaces.reading import required_string
from app.surfaces.responses.decode_input import item_not_found
from app.surfaces.responses.errors import SURFACE
from app.turn.faults import FaultKind, TurnFault

Item = dict[str, Any]

PREVIOUS = "previous_response_id"
_REFERENCE_KEYS = frozenset({"id", "type"})


class Finder(Protocol):
    """Where kept responses are found. What they give raises StoreDown and INVALID_REQUEST."""

    def history(self, caller: str, response_id: str) -> list[Item]:
        """The items of a response and of all before it, in order."""

    def items_of(self, caller: str) -> Callable[[str, str], Item]:
        """(item id, path of the reference) -> the item, for one request, which may refer to so much and no more."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """``history`` are the items of earlier responses, ``items`` the input with its references resolved.

    ``fault`` is set when the store could not be asked: then what it would have given is missing.
    """

    history: list[Item] = field(default_factory=list)
    items: Any = None
    fault: TurnFault | None = None


@dataclass(frozen=True, slots=True)
class Recall:
    """What one caller may refer to; nothing without a ``finder``."""

    finder: Finder | None = None
    caller: str = ""

    def all(self, previous_id: str | None, items: Any) -> Recalled:
        """Everything that a request refers to. Raises INVALID_REQUEST for what is not there."""
        try:
            history = [] if previous_id is None else self._history(previous_id)
            return Recalled(history, self._resolved(items))
        except StoreDown:
            return Recalled([], _without_references(items), store_down())

    def _history(self, previous_id: str) -> list[Item]:
        if self.finder is None:
            raise previous_response_not_found(previous_id)
        return self.finder.history(self.caller, previous_id)

    def _resolved(self, items: Any) -> Any:
        if type(items) is not list or not any(map(_is_reference, items)):
            return items
        find = item_not_found_at if self.finder is None else self.finder.items_of(self.caller)
        return [
            find(required_string(item, "id", f"input[{index}]"), f"input[{index}].id")
            if _is_reference(item)
            else item
            for index, item in enumerate(items)
        ]


NOTHING_KEPT = Recall()


def item_not_found_at(item_id: str, path: str) -> Item:
    """What a reference finds where nothing is kept: raises INVALID_REQUEST."""
    raise item_not_found(item_id, path)


def _is_reference(item: Any) -> bool:
    """Whether it names an item; the vendor's SDK lets the type be left out."""
    if type(item) is not dict:
        return False
    kind = item.get("type")
    return kind == "item_reference" or (
        kind is None and item.get("id") is not None and item.keys() <= _REFERENCE_KEYS
    )


def _without_references(items: Any) -> Any:
    return [item for item in items if not _is_reference(item)] if type(items) is list else items


def previous_response_not_found(response_id: str, gone: str | None = None) -> TurnFault:
    """The fault of a ``previous_response_id`` that is not stored for this caller; never served without history.

    ``gone`` is the earlier response that is missing, where the named one itself is there.
    """
    shown = response_id[:100]
    rest = (
        "."
        if gone is None or gone == response_id
        else f": '{gone}', which it continues, is no longer stored."
    )
    return TurnFault(
        FaultKind.INVALID_REQUEST,
        f"no response with id '{shown}' is stored",
        param=PREVIOUS,
        code="previous_response_not_found",
        wording={SURFACE: f"Previous response with id '{shown}' not found{rest}"},
    )
