"""Responses that are kept: what is kept of one, and how a later request finds it.

An entry's ``history`` is what a chained turn needs: ``{"input": [...], "output": [...]}``, the request's own items
and the answer's, no more: earlier turns are found by walking back. ``shown`` is the rest: one line with the length
of the response object and the sequence number of its last event, the object without its output, and the events of
the stream before the last one, if it was a stream.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from app.seals import Seals
from app.stores.entries import Entry, Link, pack, stem_of, unpack
from app.stores.shelf import Shelf
from app.surfaces.kept import ReplyIds
from app.surfaces.responses.decode import Echo
from app.surfaces.responses.decode_input import item_not_found
from app.surfaces.responses.recall import PREVIOUS, previous_response_not_found
from app.surfaces.responses.stored_items import input_items
from app.surfaces.surface import ReplyFacts
from app.turn.faults import invalid

ID_PREFIX = "resp_"

Item = dict[str, Any]


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """An entry, read. ``events`` are those before the last; empty when the response was not streamed."""

    response: dict[str, Any]
    input: list[Item]
    events: bytes
    last_sequence: int


class Library:
    """The kept responses of all callers; each call names the caller whose they are."""

    def __init__(self, shelf: Shelf, seals: Seals) -> None:
        self._shelf = shelf
        self._seals = seals

    def history(self, caller: str, response_id: str) -> list[Item]:
        """The items of ``response_id`` and of all responses before it, in order.

        Raises StoreDown; and INVALID_REQUEST when one of them is not there, or when it is too much.
        """
        links = self._shelf.walk(caller, response_id) if response_id.startswith(ID_PREFIX) else []
        if not links:
            raise previous_response_not_found(response_id)
        turns = self._unpacked(links)
        if links[-1].previous_id is not None:
            if len(links) >= self._shelf.chain:
                raise invalid(f"continues more than {self._shelf.chain} responses", PREVIOUS)
            raise previous_response_not_found(response_id, links[-1].previous_id)
        return [item for turn in reversed(turns) for item in turn]

    def _unpacked(self, links: list[Link]) -> list[list[Item]]:
        """The items of each link. Raises INVALID_REQUEST when they are larger than a request may be."""
        turns: list[list[Item]] = []
        left = self._shelf.history_bytes
        for link in links:
            text = unpack(link.history)
            left -= len(text)
            if left < 0:
                limit = self._shelf.history_bytes >> 20
                raise invalid(f"the history behind it is larger than {limit} MiB", PREVIOUS)
            kept = orjson.loads(text)
            turns.append([*kept["input"], *map(self.as_input, kept["output"])])
        return turns

    def as_input(self, item: Item) -> Item:
        """An output item as history: reasoning that was only shown is sealed, for it is our own."""
        if item["type"] != "reasoning" or "encrypted_content" in item:
            return item
        text = "".join(part["text"] for part in item["summary"])
        return {**item, "encrypted_content": self._seals.wrap(text)} if text else item

    def items_of(self, caller: str) -> Callable[[str, str], Item]:
        """See Finder: each entry is read once, and what is given out is bounded as a history is."""
        entries: dict[str | None, dict[str, Item]] = {}
        left = self._shelf.history_bytes

        def find(item_id: str, path: str) -> Item:
            nonlocal left
            stem = stem_of(item_id)
            if stem not in entries:
                entries[stem] = self._items_beside(caller, item_id)
            item = entries[stem].get(item_id)
            if item is None:
                raise item_not_found(item_id, path)
            left -= len(orjson.dumps(item))
            if left < 0:
                limit = self._shelf.history_bytes >> 20
                raise invalid(f"the items referred to are larger than {limit} MiB together", path)
            return dict(item)

        return find

    def _items_beside(self, caller: str, item_id: str) -> dict[str, Item]:
        """All items of the entry that an item with this id would be in, by their ids. Raises StoreDown."""
        entry = self._shelf.of_item(caller, item_id)
        if entry is None or entry.kind != "response":
            return {}
        kept = orjson.loads(unpack(entry.history))
        items = (*kept["input"], *map(self.as_input, kept["output"]))
        return {item["id"]: item for item in items if item.get("id")}

    def read(self, caller: str, response_id: str) -> StoredResponse | None:
        """A kept response. Raises StoreDown."""
        entry = self._shelf.get(caller, response_id)
        if entry is None or entry.kind != "response":
            return None
        kept = orjson.loads(unpack(entry.history))
        line, _, rest = unpack(entry.shown).partition(b"\n")
        length, sequence = map(int, line.split())
        response = orjson.loads(rest[:length])
        response["output"] = kept["output"]
        return StoredResponse(response, kept["input"], rest[length:], sequence)

    def delete(self, caller: str, response_id: str) -> bool:
        """Forget a response; whether there was one. Raises StoreDown."""
        return response_id.startswith(ID_PREFIX) and self._shelf.delete(caller, response_id)

    def keeping(self, facts: ReplyFacts, ids: ReplyIds) -> Keeping | None:
        """How the response to this request is kept; None when it is not to be, or cannot be now."""
        echo = facts.decoded.echo
        assert isinstance(echo, Echo)
        if echo.body.get("store") is False or not self._shelf.takes("response"):
            return None
        return Keeping(self._shelf, facts, ids)


class Keeping:
    """Keeps one response once it is whole. ``id`` is the response's."""

    def __init__(self, shelf: Shelf, facts: ReplyFacts, ids: ReplyIds) -> None:
        self._shelf = shelf
        self._facts = facts
        self._ids = ids

    def keep(
        self, response_id: str, shell: bytes, output: Sequence[bytes], events: bytes = b"", sequence: int = 0
    ) -> bool:
        """Keep it, and tell whether it is. ``shell`` is the response object without its output."""
        decoded = self._facts.decoded
        body: Mapping[str, Any] = decoded.echo.body
        try:
            items = orjson.dumps(input_items(decoded.echo.items, self._ids))
            history = b'{"input":%b,"output":[%b]}' % (items, b",".join(output))
        except orjson.JSONEncodeError:  # nested too deeply to be written
            return False
        entry = Entry(
            id=response_id,
            kind="response",
            caller=decoded.turn.caller,
            model=decoded.turn.model,
            metadata={},  # it is in the shell
            history=pack(history),
            history_bytes=len(history),
            shown=pack(b"%d %d\n%b%b" % (len(shell), sequence, shell, events)),
            previous_id=body.get(PREVIOUS) or None,
        )
        return self._shelf.keep(entry)
