"""Tokens as they are read, to the last field, and what is said of a file that cannot be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from app.capacity.tokens import Token, TokenSet, TokensFile, read_tokens, single_token
from app.settings import SettingsError
from app.turn.faults import FaultKind
from tests.capacity.conftest import PAID, World, fault

Write = Callable[[str], Path]
ONE = '[[token]]\nname = "a"\nsecret = "s-a"\nweight = 1000\n'


def test_a_file_is_read_to_the_last_field(write_tokens: Write) -> None:
    token = Token("a", "s-a", "paid", 1000.0, 0, "45539b1e328e")
    assert read_tokens(write_tokens(ONE)) == TokenSet((token,), "98efaa901abbdfc6")


def test_the_token_of_the_setting_is_a_pool_of_one() -> None:
    token = Token("default", "s-a", "paid", 1.0, 0, "45539b1e328e")
    assert single_token("s-a", "this start").current() == TokenSet((token,), "this start")


def test_a_new_secret_under_an_old_name_does_not_inherit_its_cooldown(
    world: World, write_tokens: Write
) -> None:
    pool = world.pool(TokensFile(write_tokens(ONE), print, lambda _: None))
    pool.release(pool.lease(PAID, None), fault(FaultKind.RATE_LIMITED, 30))
    write_tokens(ONE.replace("s-a", "s-b"))
    assert pool.lease(PAID, None).secret == "s-b"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"\xff\xfe", "is not UTF-8 text"),
        (b"token = " + b"[" * 20_000, "is not valid TOML (somewhere)"),
        (b"token = " + b"9" * 5000, "is not valid TOML (somewhere)"),
        (b"token = [", "is not valid TOML (end of document)"),
    ],
    ids=["bytes", "deep", "long number", "cut short"],
)
def test_content_that_is_no_toml_is_a_problem_like_others(
    tmp_path: Path, content: bytes, problem: str
) -> None:
    path = tmp_path / "tokens.toml"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r".*") as caught:
        read_tokens(path)
    assert str(caught.value) == problem
    with pytest.raises(SettingsError) as stopped:
        TokensFile(path, print, print)
    assert str(stopped.value) == f"DEVIN_CONNECT_TOKENS_FILE='{path}': {problem}"


def test_a_failure_of_reading_that_has_no_words_gets_some(
    monkeypatch: pytest.MonkeyPatch, write_tokens: Write
) -> None:
    path = write_tokens(ONE)

    def fails(self: Path) -> bytes:
        raise OSError

    monkeypatch.setattr(Path, "read_bytes", fails)
    with pytest.raises(ValueError, match=r"^cannot be read$"):
        read_tokens(path)


def test_a_limit_is_at_most_a_million(write_tokens: Write) -> None:
    assert read_tokens(write_tokens(ONE + "limit = 1000000\n")).tokens[0].limit == 1_000_000
    with pytest.raises(ValueError, match=r"^\[\[token\]\] number 1: limit must be at most 1000000$"):
        read_tokens(write_tokens(ONE + "limit = 1000001\n"))
