"""Seals: ours are recognised, everyone else's are not, and nothing that a caller sends raises."""

from __future__ import annotations

import base64
import stat
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.seals import Seals, load_key

OURS = Seals(b"key")
OTHERS = Seals(b"another key")
TEXTS = ["", "a thought", "zwei\nZeilen", "思考", "x" * 10_000]


@pytest.mark.parametrize("text", TEXTS)
def test_a_seal_of_ours_verifies_its_own_text(text: str) -> None:
    assert OURS.verifies(text, OURS.sign(text))


@pytest.mark.parametrize(
    "seal", ["", "cs1.", "cs1.AAAA", OTHERS.sign("a thought"), OURS.sign("a thought")[:-1]]
)
def test_a_foreign_or_damaged_seal_does_not_verify(seal: str) -> None:
    assert not OURS.verifies("a thought", seal)


def test_a_seal_belongs_to_one_text() -> None:
    assert not OURS.verifies("another thought", OURS.sign("a thought"))


@pytest.mark.parametrize("text", TEXTS)
def test_a_blob_of_ours_gives_its_text_back(text: str) -> None:
    assert OURS.unwrap(OURS.wrap(text)) == text


def test_a_blob_of_another_key_stays_closed() -> None:
    assert OURS.unwrap(OTHERS.wrap("a thought")) is None


def test_a_blob_whose_text_was_changed_stays_closed() -> None:
    forged = base64.b64encode(f"{OURS.sign('a thought')}\nanother thought".encode()).decode()
    assert OURS.unwrap(f"cb1.{forged}") is None


def test_a_blob_without_a_seal_stays_closed() -> None:
    assert OURS.unwrap("cb1." + base64.b64encode(b"just text").decode()) is None


@given(st.text())
def test_whatever_somebody_sends_is_no_seal_and_no_error(value: str) -> None:
    assert not OURS.verifies("a thought", value)
    assert OURS.unwrap(value) is None
    assert OURS.unwrap(f"cb1.{value}") is None


def test_the_key_file_is_made_once_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "var" / "seal.key"
    key = load_key("", path)
    assert load_key("", path) == key
    assert len(key) == 64
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == ["seal.key"]


def test_processes_that_start_together_agree_on_the_key(tmp_path: Path) -> None:
    path = tmp_path / "seal.key"
    keys: list[bytes] = []
    threads = [threading.Thread(target=lambda: keys.append(load_key("", path))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(keys)) == 1


def test_a_configured_key_needs_no_file(tmp_path: Path) -> None:
    assert load_key("configured", tmp_path / "seal.key") == b"configured"
    assert list(tmp_path.iterdir()) == []
