"""The committed page of every ledger row says what is answered now."""

from __future__ import annotations

from evidence.parameters import observed, recorded


def test_the_committed_rows_are_what_is_answered_now() -> None:
    told, found = recorded().splitlines(), observed().splitlines()
    changed = [f"- {was}\n+ {now}" for was, now in zip(told, found, strict=False) if was != now]
    assert told == found, "run `.venv/bin/python -m evidence parameters`:\n" + "\n".join(changed[:5])
