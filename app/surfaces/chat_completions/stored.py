"""Completions that are kept, for callers who set ``store``: what is kept of one, and how it is found again.

An entry's ``history`` are the request's messages as JSON, its ``shown`` the ``chat.completion`` object. Labels can
change later, so they are the entry's own.
"""

from __future__ import annotations

from typing import Any

import orjson

from app.stores import StoreDown
from app.stores.entries import Entry, Filter, NoPlace, pack, unpack
from app.stores.shelf import Shelf
from app.surfaces import reading
from app.surfaces.chat_completions.decode import Echo
from app.surfaces.kept import Page, cut, listed, no_place, read_page, store_down
from app.surfaces.surface import Found, Lookup, ReplyFacts
from app.surfaces.writing import json_bytes
from app.turn.faults import FaultKind, TurnFault, invalid

_LABEL = "metadata["


class Keeping:
    """Keeps one completion once it is whole."""

    def __init__(self, shelf: Shelf, facts: ReplyFacts, completion_id: str) -> None:
        self._shelf = shelf
        self._facts = facts
        self._id = completion_id

    def keep(self, completion: bytes) -> bool:
        """Keep it, and tell whether it is."""
        decoded = self._facts.decoded
        echo: Echo = decoded.echo
        try:
            messages = orjson.dumps(echo.kept_messages)
        except orjson.JSONEncodeError:  # nested too deeply to be written
            return False
        entry = Entry(
            id=self._id,
            kind="completion",
            caller=decoded.turn.caller,
            model=decoded.turn.model,
            metadata=echo.metadata or {},
            history=pack(messages),
            history_bytes=len(messages),
            shown=pack(completion),
        )
        return self._shelf.keep(entry)


class Cabinet:
    """The kept completions of all callers, looked up by one at a time; nothing without a ``shelf``."""

    def __init__(self, shelf: Shelf | None) -> None:
        self._shelf = shelf

    def keeping(self, facts: ReplyFacts, completion_id: str) -> Keeping | None:
        """How the reply to this request is kept; None when it is not to be, or cannot be now."""
        echo: Echo = facts.decoded.echo
        if self._shelf is None or echo.kept_messages is None or not self._shelf.takes("completion"):
            return None
        return Keeping(self._shelf, facts, completion_id)

    def retrieve(self, lookup: Lookup, completion_id: str) -> Found:
        """``GET /v1/chat/completions/{id}``."""
        lookup.settle()
        return Found(json_bytes(_shown(self._read(lookup, completion_id))))

    def list(self, lookup: Lookup) -> Found:
        """``GET /v1/chat/completions``, oldest first unless told, perhaps by model and labels."""
        page = read_page(lookup.query, default_order="asc")
        wanted = _filter(lookup, page)
        lookup.settle()
        try:
            found = [] if self._shelf is None else self._shelf.select(lookup.caller, wanted, page.limit + 1)
        except NoPlace:
            raise no_place() from None
        except StoreDown:
            raise store_down() from None
        return listed([_shown(entry) for entry in found[: page.limit]], len(found) > page.limit)

    def update(self, lookup: Lookup, completion_id: str) -> Found:
        """``POST /v1/chat/completions/{id}``: other labels in place of those it has."""
        body = lookup.body("metadata")
        if "metadata" not in body:
            raise invalid("the field is required", "metadata", code="missing_required_parameter")
        labels = reading.metadata(body) or {}
        lookup.settle()
        self._read(lookup, completion_id)
        assert self._shelf is not None
        try:
            changed = self._shelf.relabel(lookup.caller, completion_id, labels)
        except StoreDown:
            raise store_down() from None
        if changed is None:
            raise _not_found(completion_id)
        return Found(json_bytes(_shown(changed)))

    def messages(self, lookup: Lookup, completion_id: str) -> Found:
        """``GET /v1/chat/completions/{id}/messages``: what the request brought, oldest first unless told."""
        page = read_page(lookup.query, default_order="asc")
        lookup.settle()
        sent = orjson.loads(unpack(self._read(lookup, completion_id).history))
        shown = [_message(message, f"{completion_id}-{index}") for index, message in enumerate(sent)]
        messages, has_more = cut(shown, page, lambda message: str(message["id"]))
        return listed(messages, has_more)

    def delete(self, lookup: Lookup, completion_id: str) -> Found:
        """``DELETE /v1/chat/completions/{id}``."""
        lookup.settle()
        self._read(lookup, completion_id)
        assert self._shelf is not None
        try:
            was_there = self._shelf.delete(lookup.caller, completion_id)
        except StoreDown:
            raise store_down() from None
        if not was_there:
            raise _not_found(completion_id)
        deleted = {"id": completion_id, "object": "chat.completion.deleted", "deleted": True}
        return Found(orjson.dumps(deleted))

    def _read(self, lookup: Lookup, completion_id: str) -> Entry:
        try:
            entry = None if self._shelf is None else self._shelf.get(lookup.caller, completion_id)
        except StoreDown:
            raise store_down() from None
        if entry is None or entry.kind != "completion":
            raise _not_found(completion_id)
        return entry


def _filter(lookup: Lookup, page: Page) -> Filter:
    """``model`` and ``metadata[key]=value`` of a query. Raises INVALID_REQUEST."""
    query = lookup.query
    labels: dict[str, str] = {}
    for name in query.left:
        if name.startswith(_LABEL) and name.endswith("]"):
            labels[name[len(_LABEL) : -1]] = query.text(name) or ""
    return Filter("completion", page.after, page.descending, query.text("model"), labels)


def _shown(entry: Entry) -> dict[str, Any]:
    """The completion with the labels that it has now."""
    completion: dict[str, Any] = orjson.loads(unpack(entry.shown))
    completion["metadata"] = entry.metadata
    return completion


def _message(message: dict[str, Any], message_id: str) -> dict[str, Any]:
    """A message as the vendor lists it: text in ``content``, a list of parts in ``content_parts``."""
    content = message.get("content")
    is_text = content is None or type(content) is str
    said = {key: value for key, value in message.items() if value is not None}
    return {
        "refusal": None,
        **said,
        "id": message_id,
        "content": content if is_text else None,
        "content_parts": None if is_text else content,
    }


def _not_found(completion_id: str) -> TurnFault:
    """Nobody learns whether another caller has such a completion."""
    return TurnFault(
        FaultKind.NOT_FOUND,
        f"Chat completion with id '{completion_id[:100]}' not found.",
        code="chat_completion_not_found",
    )
