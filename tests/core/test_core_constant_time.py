"""Whatever proves who somebody is, is compared by ``hmac.compare_digest``, and against every key there is."""

from __future__ import annotations

import hashlib
import hmac

import pytest

from app.callers import Callers, operator_may
from app.seals import Seals
from app.turn.faults import TurnFault

KEYS = ("first-key", "second-key", "third-key")


def digest(key: str) -> bytes:
    return hashlib.sha256(key.encode()).digest()


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[set[bytes]]:
    """Every pair that was compared in constant time."""
    pairs: list[set[bytes]] = []
    genuine = hmac.compare_digest

    def compare(one: bytes, other: bytes) -> bool:
        pairs.append({one, other})
        return genuine(one, other)

    monkeypatch.setattr(hmac, "compare_digest", compare)
    return pairs


@pytest.mark.parametrize("key", KEYS)
def test_a_key_is_compared_with_every_known_one_also_after_it_was_found(
    key: str, compared: list[set[bytes]]
) -> None:
    Callers(KEYS).authenticate({"x-api-key": key}, "10.0.0.1", None)
    assert compared == [{digest(known), digest(key)} for known in KEYS]


def test_a_wrong_key_is_compared_with_every_known_one(compared: list[set[bytes]]) -> None:
    with pytest.raises(TurnFault):
        Callers(KEYS).authenticate({"x-api-key": "first-kez"}, "10.0.0.1", None)
    assert compared == [{digest(known), digest("first-kez")} for known in KEYS]


@pytest.mark.parametrize("key", ["operator", "another"])
def test_the_operator_key_is_compared_in_constant_time(key: str, compared: list[set[bytes]]) -> None:
    assert operator_may("operator", {"x-api-key": key}, "10.0.0.1") is (key == "operator")
    assert compared == [{digest("operator"), digest(key)}]


def test_a_seal_is_compared_in_constant_time(compared: list[set[bytes]]) -> None:
    seals = Seals(b"key")
    assert seals.verifies("text", seals.sign("text"))
    assert not seals.verifies("text", "cs1.other")
    assert compared == [{seals.sign("text").encode()}, {seals.sign("text").encode(), b"cs1.other"}]
