"""generate_content: responses find their calls, in time that does not depend on how many there are."""

from __future__ import annotations

import time

import pytest

from app.seals import Seals
from app.surfaces.generate_content.decode_parts import ContentsDecoder
from app.surfaces.generate_content.pairing import CallPairing, made_up_id
from app.surfaces.generate_content.spelling import Fields

MANY = 20_000


def pairing_of(*ids: str | None) -> CallPairing:
    """A pairing that was told of a call of ``f`` by each id."""
    pairing = CallPairing()
    for number, call_id in enumerate(ids):
        pairing.call(call_id, "f", f"0.{number}")
    return pairing


def test_a_made_up_id_finds_the_oldest_call_without_one() -> None:
    pairing = pairing_of("a", None, "b", None)
    assert pairing.response("x", "f", "p") == made_up_id("0.1", "f")
    assert pairing.response("y", "f", "p") == made_up_id("0.3", "f")
    assert pairing.response("z", "f", "p") == "z"


def test_an_id_that_is_used_again_stands_for_the_oldest_call() -> None:
    pairing = pairing_of("a", "b", "a")
    assert [pairing.response(sent, "f", "p") for sent in ("a", None, None)] == ["a", "b", "a"]


def test_a_response_by_another_name_answers_the_call_of_its_id() -> None:
    pairing = pairing_of("a", None)
    assert pairing.response("a", "g", "p") == "a"
    assert pairing.response(None, "f", "p") == made_up_id("0.1", "f")


@pytest.mark.parametrize("sent", [[f"c{i}" for i in reversed(range(MANY))], [f"x{i}" for i in range(MANY)]])
def test_many_responses_find_their_calls_at_once(sent: list[str]) -> None:
    """A search through the open calls for each response takes many seconds for these."""
    pairing = pairing_of(*(f"c{i}" for i in range(MANY)))
    began = time.process_time()
    assert [pairing.response(sent_id, "f", "p") for sent_id in sent] == sent
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    "part", [{"thoughtSignature": "cs1/AAAA"}, {"text": "hm", "thought": True, "thoughtSignature": "skip"}]
)
def test_thoughts_are_sealed_once_however_many_signatures_are_tried(
    seals: Seals, monkeypatch: pytest.MonkeyPatch, part: dict[str, object]
) -> None:
    if part["thoughtSignature"] == "skip":
        part = {**part, "thoughtSignature": "skip_thought_signature_validator"}
    sealed: list[int] = []
    sign = Seals.sign

    def counted(self: Seals, text: str) -> str:
        sealed.append(len(text))
        return sign(self, text)

    monkeypatch.setattr(Seals, "sign", counted)
    decoder = ContentsDecoder(seals)
    parts = [{"text": "x" * 1000, "thought": True}, *[part] * 50]
    decoder.content(Fields({"role": "model", "parts": parts}, "contents[0]"), 0)
    decoder.finish()
    assert sum(sealed) <= 1000
