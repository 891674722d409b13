"""The choice among tokens, turn by turn: who is next, and who is a session's."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import pytest

from app.capacity.choice import FairChoice, in_order_for
from app.capacity.pool import TokenPool
from app.capacity.tokens import Token
from app.turn.faults import FaultKind
from tests.capacity.conftest import PAID, World, fault, token, tokens

A, B, C = token("a"), token("b"), token("c")
HEAVY = token("heavy", weight=4)


def picks(choice: FairChoice, count: int, *each: Token) -> str:
    return "".join(choice.pick(each).name[0] for _ in range(count))


def test_equal_tokens_take_turns_in_the_files_order() -> None:
    assert picks(FairChoice(), 7, A, B, C) == "abcabca"


def test_a_heavy_token_has_more_turns_between_those_of_the_others() -> None:
    assert picks(FairChoice(), 10, HEAVY, B) == "hbhhhhbhhh"


def test_the_first_rounds_are_shared_exactly_by_weight() -> None:
    assert picks(FairChoice(), 8, B, token("heavy", weight=3)) == "bhhhbhhh"


def test_a_turn_of_a_session_counts_as_much_as_any_other() -> None:
    choice = FairChoice()
    choice.took(A, [A, B])
    choice.took(A, [A, B])
    assert picks(choice, 6, A, B) == "bbabab"


def test_a_turn_of_a_session_counts_by_its_tokens_weight() -> None:
    choice = FairChoice()
    for _ in range(4):
        choice.took(HEAVY, [HEAVY, B])
    assert picks(choice, 6, HEAVY, B) == "bhbhhh"


def test_a_token_that_joins_starts_level_with_the_others() -> None:
    choice = FairChoice()
    assert picks(choice, 5, A, B) == "ababa"
    assert picks(choice, 6, C, A, B) == "cbcabc"


def turns(pool: TokenPool, count: int, key: str | None) -> str:
    names = ""
    for _ in range(count):
        lease = pool.lease(PAID, key)
        pool.release(lease, None)
        names += lease.name
    return names


@pytest.mark.parametrize("key", [None, "key"])
def test_turns_that_had_no_choice_are_not_counted_against_their_token(world: World, key: str | None) -> None:
    pool = world.pool(tokens("b", "a"))
    pool.release(pool.lease(PAID, None, ["b"]), fault(FaultKind.RATE_LIMITED, 10))
    assert turns(pool, 5, key) == "bbbbb"
    world.clock.pass_by(10)
    assert turns(pool, 4, None) == "baba"


@pytest.mark.parametrize(
    ("key", "order"),
    [("one", "cbad"), ("two", "cdab"), ("three", "adbc"), ("four", "badc"), ("five", "dcab")],
)
def test_a_session_prefers_tokens_in_an_order_of_its_own(key: str, order: str) -> None:
    """Written down, because workers of two versions have to agree while one takes over from the other."""
    assert "".join(each.name for each in in_order_for(key, [token(name) for name in "abcd"])) == order
    assert "".join(each.name for each in in_order_for(key, [token(name) for name in "dcba"])) == order


def test_a_session_key_that_is_no_text_has_its_order_too() -> None:
    assert [each.name for each in in_order_for("\ud800", [A, B, C])] == ["a", "c", "b"]


def test_sessions_share_three_tokens_by_weight() -> None:
    each = [token("a", weight=1), token("b", weight=2), token("c", weight=5)]
    homes = Counter(in_order_for(f"s{number}", each)[0].name for number in range(4000))
    assert 440 <= homes["a"] <= 560
    assert 920 <= homes["b"] <= 1080
    assert 2400 <= homes["c"] <= 2600


def test_the_least_and_the_greatest_digest_have_a_place(monkeypatch: pytest.MonkeyPatch) -> None:
    digests = {b"a": bytes(8), b"b": b"\xff" * 8, b"c": b"\x80" + bytes(7)}

    def blake2b(data: bytes, digest_size: int) -> SimpleNamespace:
        return SimpleNamespace(digest=lambda: digests[data[:1]])

    monkeypatch.setattr("app.capacity.choice.hashlib", SimpleNamespace(blake2b=blake2b))
    assert [each.name for each in in_order_for("key", [A, B, C])] == ["b", "c", "a"]
