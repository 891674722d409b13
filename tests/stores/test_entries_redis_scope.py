"""The script that relabels an entry looks at the caller itself: what ``get`` saw before may be another's by then."""

from __future__ import annotations

import pytest

from app.stores.entries_redis import RedisEntries
from tests.support.entries import ROOMY, Clock, entries_at, entry, id_of


def test_labels_change_for_their_caller_only_also_when_the_first_look_is_passed(
    redis_url: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = entries_at(redis_url, ROOMY, clock)
    assert isinstance(entries, RedisEntries)
    try:
        entries.put(entry(7))
        mine = entries.get("ann", id_of(7))
        monkeypatch.setattr(entries, "get", lambda caller, entry_id: mine)
        entries.relabel("bob", id_of(7), {"a": "bob's"})
        monkeypatch.undo()
        found = entries.get("ann", id_of(7))
        assert found is not None
        assert found.metadata == {}
        entries.relabel("ann", id_of(7), {"a": "ann's"})
        found = entries.get("ann", id_of(7))
        assert found is not None
        assert found.metadata == {"a": "ann's"}
    finally:
        entries.close()
