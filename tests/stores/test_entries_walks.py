"""Going back through a conversation, and lists, on both backends."""

from __future__ import annotations

import pytest

from app.stores.entries import (
    Entries,
    Filter,
    Link,
    NoPlace,
)
from tests.support.entries import entry, id_of, ids


def chain(entries: Entries, length: int, **more: object) -> None:
    """Entries 1 to ``length``, each after the one before."""
    for number in range(1, length + 1):
        previous = id_of(number - 1) if number > 1 else None
        entries.put(entry(number, previous_id=previous, history=b"%d" % number, **more))


def test_a_walk_goes_back_to_the_beginning(entries: Entries) -> None:
    chain(entries, 3)
    assert entries.walk("ann", id_of(3), 10, 1000) == [
        Link(id_of(3), id_of(2), b"3"),
        Link(id_of(2), id_of(1), b"2"),
        Link(id_of(1), None, b"1"),
    ]


def test_a_long_walk_is_whole(entries: Entries) -> None:
    chain(entries, 130)
    walked = entries.walk("ann", id_of(130), 1000, 1 << 20)
    assert [link.id for link in walked] == [id_of(number) for number in range(130, 0, -1)]
    assert [link.history for link in walked[:2]] == [b"130", b"129"]
    assert len(entries.walk("ann", id_of(130), 120, 1 << 20)) == 120


def test_a_walk_ends_where_a_link_is_gone_and_shows_it(entries: Entries) -> None:
    chain(entries, 3)
    entries.delete("ann", id_of(1))
    assert [link.previous_id for link in entries.walk("ann", id_of(3), 10, 1000)] == [id_of(2), id_of(1)]


def test_a_walk_never_crosses_to_another_caller(entries: Entries) -> None:
    entries.put(entry(1, caller="bob"))
    entries.put(entry(2, previous_id=id_of(1)))
    assert [link.id for link in entries.walk("ann", id_of(2), 10, 1000)] == [id_of(2)]


def test_a_walk_is_bounded_in_depth_and_ends_in_a_circle(entries: Entries) -> None:
    entries.put(entry(1, previous_id=id_of(2)))
    entries.put(entry(2, previous_id=id_of(1)))
    walked = entries.walk("ann", id_of(2), 7, 1000)
    assert [link.id for link in walked] == [id_of(2), id_of(1)] * 3 + [id_of(2)]
    assert walked[-1].previous_id == id_of(1)


def test_a_walk_stops_soon_after_its_bytes_are_used_up(entries: Entries) -> None:
    chain(entries, 50, history_bytes=100)
    assert 3 <= len(entries.walk("ann", id_of(50), 100, 250)) <= 4


def test_lists_come_in_both_orders_and_by_kind(entries: Entries) -> None:
    for number in range(130):
        kind = "completion" if number % 2 else "response"
        entries.put(entry(number, kind=kind))
    odd = [id_of(number) for number in range(1, 130, 2)]
    assert ids(entries.select("ann", Filter("completion"))) == odd
    assert ids(entries.select("ann", Filter("completion", descending=True))) == odd[::-1]
    assert ids(entries.select("ann", Filter("completion", after=odd[59]))) == odd[60:]
    assert ids(entries.select("ann", Filter("completion", after=odd[3], descending=True))) == odd[2::-1]


def test_lists_are_filtered_by_labels_and_model(entries: Entries) -> None:
    entries.put(entry(1, metadata={"a": "1", "b": "2"}))
    entries.put(entry(2, metadata={"a": "1"}, model="n"))
    entries.put(entry(3, metadata={"a": "2"}))
    assert ids(entries.select("ann", Filter("response", metadata={"a": "1"}))) == [id_of(1), id_of(2)]
    assert ids(entries.select("ann", Filter("response", metadata={"a": "1", "b": "2"}))) == [id_of(1)]
    assert ids(entries.select("ann", Filter("response", model="n"))) == [id_of(2)]


def test_a_list_after_nothing_it_has_is_no_list(entries: Entries) -> None:
    entries.put(entry(1))
    entries.put(entry(2, caller="bob"))
    for after in ("resp_x", id_of(2), id_of(1)):
        kind = "completion" if after == id_of(1) else "response"
        with pytest.raises(NoPlace):
            list(entries.select("ann", Filter(kind, after=after)))
