"""Replies that are kept for their callers: what an entry is, and what every backend of entries does.

``entries_sqlite`` serves the workers of one machine, ``entries_redis`` those of many; ``shelf`` wraps a backend
so that its absence fails no turn. An entry belongs to one caller: to all others it is not there at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

import orjson
import zstandard

Kind = Literal["response", "completion"]

ENTRY_OVERHEAD = 2048
"""Bytes that an entry counts beyond its content: its row, its indexes and the room that pages waste."""

MOST_EVICTED = 5000
"""Entries that one write removes at most for a bound, so that no turn waits long after bounds were lowered."""

STEM_CHARACTERS = 32
"""Hex digits, 128 bits of chance, that the ids of an entry and of all its items begin with after their prefix."""

_LEVEL = 1


def pack(data: bytes) -> bytes:
    """``data`` compressed, as entries hold it."""
    return zstandard.ZstdCompressor(level=_LEVEL).compress(data)


def unpack(packed: bytes) -> bytes:
    """What ``pack`` was given."""
    return zstandard.ZstdDecompressor().decompress(packed)


def stem_of(any_id: str) -> str | None:
    """The stem inside the id of an entry or of an item in one; None when it cannot be one of ours."""
    stem = any_id.rpartition("_")[2].rpartition("-")[2][:STEM_CHARACTERS]
    is_hex = len(stem) == STEM_CHARACTERS and all(digit in "0123456789abcdef" for digit in stem)
    return stem if is_hex else None


@dataclass(frozen=True, slots=True)
class Entry:
    """One kept reply. ``history`` and ``shown`` are packed; what is in them is the surface's own affair.

    ``history`` is what a later turn needs of it, ``history_bytes`` its length unpacked; ``shown`` is the rest of
    what the caller may read. ``created_s`` is set by the backend.
    """

    id: str
    kind: Kind
    caller: str
    model: str
    metadata: Mapping[str, str]
    history: bytes
    history_bytes: int
    shown: bytes
    previous_id: str | None = None
    created_s: float = 0.0

    @property
    def stem(self) -> str:
        """What the entry is found by."""
        stem = stem_of(self.id)
        assert stem is not None
        return stem

    @property
    def cost(self) -> int:
        """Bytes that the entry counts."""
        return cost_of(self.metadata, len(self.history) + len(self.shown))


def cost_of(metadata: Mapping[str, str], body_bytes: int) -> int:
    """Bytes that an entry of that much metadata and compressed content counts."""
    return body_bytes + len(orjson.dumps(metadata)) + ENTRY_OVERHEAD


class Link(NamedTuple):
    """One entry on the way back through a conversation."""

    id: str
    previous_id: str | None
    history: bytes


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much is kept, and how long. Bytes are compressed ones, with the overhead of each entry."""

    entry_bytes: int
    caller_bytes: int
    caller_count: int
    total_bytes: int
    total_count: int
    ttl_s: float

    def can_hold(self, cost: int) -> bool:
        """Whether an entry of ``cost`` fits once all others are gone."""
        return cost <= min(self.entry_bytes, self.caller_bytes, self.total_bytes)


class Evicted(NamedTuple):
    """How many entries had to go: for their caller's bound, and for the bound of all."""

    by_caller: int = 0
    by_total: int = 0


@dataclass(frozen=True, slots=True)
class Usage:
    """What is kept: entries and the bytes they count."""

    count: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Filter:
    """Which entries of one kind a caller wants listed: after which, in which order, of which model and labels."""

    kind: Kind
    after: str | None = None
    descending: bool = False
    model: str | None = None
    metadata: Mapping[str, str] | None = None

    def takes(self, model: str, metadata: Mapping[str, str]) -> bool:
        """Whether model and labels are those that are wanted; further labels do not matter."""
        wanted = self.metadata or {}
        return (self.model is None or model == self.model) and all(
            metadata.get(key) == value for key, value in wanted.items()
        )


class NoPlace(Exception):
    """``Filter.after`` names no entry of the list."""


class Entries(Protocol):
    """Entries within bounds, oldest out first. Every method may raise StoreDown.

    What has expired is not there. Nobody but ``caller`` sees an entry.
    """

    def put(self, entry: Entry) -> Evicted:
        """Keep ``entry``, which the bounds can hold; the oldest of its caller, then of all, make room."""

    def get(self, caller: str, entry_id: str) -> Entry | None:
        """The entry with exactly this id."""

    def of_item(self, caller: str, item_id: str) -> Entry | None:
        """The entry that the item with this id would be in."""

    def walk(self, caller: str, entry_id: str, depth: int, most_bytes: int) -> list[Link]:
        """The entry and those before it, newest first: at most ``depth``, and few beyond ``most_bytes`` unpacked.

        The last link has a ``previous_id`` when the way was not walked to its beginning.
        """

    def select(self, caller: str, wanted: Filter) -> Iterator[Entry]:
        """The caller's entries that ``wanted`` takes, in order. Raises NoPlace."""

    def relabel(self, caller: str, entry_id: str, metadata: Mapping[str, str]) -> Entry | None:
        """Put ``metadata`` in place of the entry's own; the entry as it is then. Bounds are kept as by ``put``."""

    def delete(self, caller: str, entry_id: str) -> bool:
        """Forget an entry; whether there was one."""

    def usage(self, caller: str | None = None) -> Usage:
        """What is kept for ``caller``, or in all. Entries that expired may count until the next ``put``."""

    def check(self) -> None:
        """Raise StoreDown unless the backend takes reads and writes."""

    def close(self) -> None:
        """Close idle connections."""
