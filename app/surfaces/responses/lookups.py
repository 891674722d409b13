"""Requests about a kept response: retrieve it, list its input, delete it, cancel it."""

from __future__ import annotations

import orjson

from app.catalogue.query import Query
from app.stores import StoreDown
from app.surfaces import sse
from app.surfaces.kept import cut, listed, read_flag, read_page, store_down
from app.surfaces.responses.replay import replay
from app.surfaces.responses.stored import Library, StoredResponse
from app.surfaces.surface import Found, Lookup
from app.surfaces.writing import json_bytes
from app.turn.faults import FaultKind, TurnFault, invalid

_ENCRYPTED = "reasoning.encrypted_content"
_ALWAYS_SHOWN = "message.input_image.image_url"


def retrieve(library: Library | None, lookup: Lookup, response_id: str) -> Found:
    """``GET /v1/responses/{id}``: the response as it ended, or with ``stream`` the events that told it."""
    query = lookup.query
    is_stream = read_flag(query, "stream")
    after = query.number("starting_after", low=0) if is_stream else None
    sealed = _ENCRYPTED in _included(lookup)
    query.free("include_obfuscation", "false")
    lookup.settle()
    stored = _read(library, lookup, response_id)
    if is_stream:
        return Found(replay(stored, after), sse.CONTENT_TYPE)
    if sealed:
        assert library is not None
        stored.response["output"] = [library.as_input(item) for item in stored.response["output"]]
    return Found(json_bytes(stored.response))


def list_input(library: Library | None, lookup: Lookup, response_id: str) -> Found:
    """``GET /v1/responses/{id}/input_items``: what this one request brought, newest first unless told."""
    page = read_page(lookup.query, default_order="desc")
    _included(lookup)
    lookup.settle()
    stored = _read(library, lookup, response_id)
    items, has_more = cut(stored.input, page, lambda item: str(item["id"]))
    return listed(items, has_more)


def delete(library: Library | None, lookup: Lookup, response_id: str) -> Found:
    """``DELETE /v1/responses/{id}``; what continues it can be continued no more."""
    lookup.settle()
    try:
        was_there = library is not None and library.delete(lookup.caller, response_id)
    except StoreDown:
        raise store_down() from None
    if not was_there:
        raise _not_found(response_id)
    return Found(orjson.dumps({"id": response_id, "object": "response", "deleted": True}))


def cancel(library: Library | None, lookup: Lookup, response_id: str) -> Found:
    """``POST /v1/responses/{id}/cancel``: only background responses can be, and there are none."""
    lookup.settle()
    _read(library, lookup, response_id)
    raise invalid("only background responses can be cancelled, and this one was not created as such")


def _read(library: Library | None, lookup: Lookup, response_id: str) -> StoredResponse:
    try:
        stored = None if library is None else library.read(lookup.caller, response_id)
    except StoreDown:
        raise store_down() from None
    if stored is None:
        raise _not_found(response_id)
    return stored


def _included(lookup: Lookup) -> list[str]:
    """The values of ``include``; those that have no effect here are told."""
    query: Query = lookup.query
    values = query.texts("include", "include[]")
    if any(value not in (_ENCRYPTED, _ALWAYS_SHOWN) for value in values):
        lookup.ignore("include")
    return values


def _not_found(response_id: str) -> TurnFault:
    """Nobody learns whether another caller has such a response."""
    return TurnFault(
        FaultKind.NOT_FOUND, f"Response with id '{response_id[:100]}' not found", code="response_not_found"
    )
