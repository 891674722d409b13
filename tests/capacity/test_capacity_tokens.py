"""The tokens file: what it may hold, and what becomes of changes while Candor runs."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from app.capacity.creation import create_capacity
from app.capacity.tokens import TokensFile, read_tokens, single_token
from app.catalogue.models import Catalogue
from app.logs import EventLog
from app.metrics import Metrics
from app.settings import SettingsError, load
from app.turn.faults import FaultKind
from tests.capacity.conftest import PAID, World, fault

Write = Callable[[str], Path]
ONE = '[[token]]\nname = "a"\nsecret = "s-a"\n'
TWO = ONE + '[[token]]\nname = "b"\nsecret = "s-b"\ntier = "free"\nweight = 2.5\nlimit = 8\n'


def test_a_file_names_tokens_tiers_weights_and_limits(write_tokens: Write) -> None:
    first, second = read_tokens(write_tokens(TWO)).tokens
    assert (first.name, first.secret, first.tier, first.weight, first.limit) == ("a", "s-a", "paid", 1.0, 0)
    assert (second.name, second.secret, second.tier, second.weight, second.limit) == (
        "b",
        "s-b",
        "free",
        2.5,
        8,
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "has no [[token]] table; `token = []` means none on purpose"),
        ("token = 3", "has no [[token]] table; `token = []` means none on purpose"),
        ("token = [3]", "[[token]] number 1 is not a table"),
        ("[[token]]\nname = \n", "is not valid TOML (line 2, column 8)"),
        (ONE + "extra = 1", "[[token]] number 1: unknown key 'extra'"),
        (ONE + 'hunter2-SECRET = "x"', "[[token]] number 1: unknown key"),
        ("x = 1\n" + ONE, "holds something beside [[token]] tables"),
        ('[[token]]\nsecret = "s"', "[[token]] number 1: name must be 1 to 64 of A-Z a-z 0-9 . _ -"),
        (
            '[[token]]\nname = "a b"\nsecret = "s"',
            "[[token]] number 1: name must be 1 to 64 of A-Z a-z 0-9 . _ -",
        ),
        ('[[token]]\nname = "a"', "[[token]] number 1: secret must be a text that is not empty"),
        ('[[token]]\nname = "a"\nsecret = ""', "[[token]] number 1: secret must be a text that is not empty"),
        (
            '[[token]]\nname = "a"\nsecret = "hunter2 x"',
            "[[token]] number 1: secret must be printable ASCII without spaces",
        ),
        (
            '[[token]]\nname = "a"\nsecret = "hunter2\\r\\n"',
            "[[token]] number 1: secret must be printable ASCII without spaces",
        ),
        (ONE + 'tier = "gold"', "[[token]] number 1: tier is neither free nor paid"),
        (ONE + "weight = 0", "[[token]] number 1: weight must be a number above 0 and at most 1000"),
        (ONE + "weight = nan", "[[token]] number 1: weight must be a number above 0 and at most 1000"),
        (ONE + "weight = true", "[[token]] number 1: weight must be a number above 0 and at most 1000"),
        (ONE + "limit = -1", "[[token]] number 1: limit must be a whole number, 0 for none"),
        (ONE + "limit = 1.5", "[[token]] number 1: limit must be a whole number, 0 for none"),
        (ONE + ONE.replace("s-a", "s-b"), "two tokens have the same name"),
        (ONE + ONE.replace('"a"', '"b"'), "two tokens have the same secret"),
    ],
)
def test_a_bad_file_says_what_is_wrong_and_no_secret(write_tokens: Write, text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=r".*") as caught:
        read_tokens(write_tokens(text))
    assert str(caught.value) == problem


def test_none_on_purpose_is_a_pool_of_none(write_tokens: Write) -> None:
    assert read_tokens(write_tokens("token = []")).tokens == ()


def test_a_file_that_cannot_be_used_stops_start_up(write_tokens: Write, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"DEVIN_CONNECT_TOKENS_FILE='.*': No such file or directory"):
        TokensFile(tmp_path / "missing.toml", print, print)
    with pytest.raises(SettingsError, match="is not valid TOML"):
        TokensFile(write_tokens("nonsense"), print, print)


def test_a_token_that_no_header_can_carry_stops_start_up() -> None:
    with pytest.raises(
        SettingsError, match=r"DEVIN_CONNECT_TOKEN=\(secret\): must be printable ASCII"
    ) as caught:
        single_token("hunter2\n", "g")
    assert "hunter2" not in str(caught.value)


def test_secrets_are_in_no_representation(write_tokens: Write) -> None:
    assert "s-a" not in repr(read_tokens(write_tokens(TWO)))


@pytest.fixture
def following(write_tokens: Write) -> tuple[TokensFile, list[str], list[int]]:
    problems: list[str] = []
    changes: list[int] = []
    return TokensFile(write_tokens(ONE), problems.append, changes.append), problems, changes


def names(source: TokensFile) -> list[str]:
    return [token.name for token in source.current().tokens]


def test_a_change_is_taken_up_without_a_restart(
    following: tuple[TokensFile, list[str], list[int]], write_tokens: Write
) -> None:
    source, problems, changes = following
    assert names(source) == ["a"]
    write_tokens(TWO)
    assert names(source) == ["a", "b"]
    assert (problems, changes) == ([], [2])


def test_a_file_put_in_place_of_the_old_one_is_taken_up(
    following: tuple[TokensFile, list[str], list[int]], tmp_path: Path
) -> None:
    source, _, _ = following
    (tmp_path / "new.toml").write_text(TWO)
    os.replace(tmp_path / "new.toml", tmp_path / "tokens.toml")
    assert names(source) == ["a", "b"]


@pytest.mark.parametrize("bad", ["", "nonsense", ONE + ONE])
def test_a_bad_change_keeps_the_old_pool_and_says_so_once(
    following: tuple[TokensFile, list[str], list[int]], write_tokens: Write, bad: str
) -> None:
    source, problems, _ = following
    write_tokens(bad)
    assert [names(source), names(source)] == [["a"], ["a"]]
    assert len(problems) == 1
    write_tokens(TWO)
    assert names(source) == ["a", "b"]


def test_a_file_that_goes_away_keeps_the_old_pool(
    following: tuple[TokensFile, list[str], list[int]], tmp_path: Path
) -> None:
    source, problems, _ = following
    (tmp_path / "tokens.toml").unlink()
    assert names(source) == ["a"]
    assert problems == ["No such file or directory"]


def test_a_file_that_is_merely_touched_changes_nothing(
    following: tuple[TokensFile, list[str], list[int]], tmp_path: Path
) -> None:
    source, _, changes = following
    before = source.current()
    os.utime(tmp_path / "tokens.toml", (1, 1))
    assert source.current() is before
    assert changes == []


def test_a_dead_token_is_alive_again_when_the_file_changes(world: World, write_tokens: Write) -> None:
    pool = world.pool(TokensFile(write_tokens(ONE), print, lambda _: None))
    pool.release(pool.lease(PAID, None), fault(FaultKind.UPSTREAM_AUTHENTICATION))
    assert not pool.ready()
    os.utime(write_tokens(ONE))
    assert not pool.ready(), "the same content is no change"
    write_tokens("# the account is open again\n" + ONE)
    assert pool.ready()
    assert pool.lease(PAID, None).name == "a"


def test_a_cooldown_outlasts_a_change_of_the_file(world: World, write_tokens: Write) -> None:
    pool = world.pool(TokensFile(write_tokens(ONE), print, lambda _: None))
    pool.release(pool.lease(PAID, None), fault(FaultKind.RATE_LIMITED, 30))
    write_tokens(TWO)
    assert [row["state"] for row in pool.report()["tokens"]] == ["cooling", "healthy"]


def test_a_turn_on_a_token_that_was_removed_ends_well(world: World, write_tokens: Write) -> None:
    pool = world.pool(TokensFile(write_tokens(TWO), print, lambda _: None))
    lease = pool.lease(PAID, None)
    assert lease.name == "a"
    write_tokens(ONE.replace('"a"', '"c"').replace("s-a", "s-c"))
    pool.release(lease, fault(FaultKind.RATE_LIMITED, 30), 100)
    assert [row["name"] for row in pool.report()["tokens"]] == ["c"]


def test_an_app_counts_and_logs_a_rejected_file(write_tokens: Write, tmp_path: Path) -> None:
    metrics, log, lines = Metrics(), EventLog("ERROR"), []
    log.logger.handlers[0].emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
    settings = load(
        {
            "DEVIN_CONNECT_TOKENS_FILE": str(write_tokens(ONE)),
            "CANDOR_STATE_DIR": str(tmp_path / "var"),
            "CANDOR_STORE_CACHE_S": "0",
        }
    )
    pool = create_capacity(settings, Catalogue([]), metrics, log)
    write_tokens("nonsense")
    assert pool.ready()
    assert metrics.totals()["tokens_file_rejected"][0][1] == 1
    (line,) = lines
    assert "tokens_file_rejected" in line
    assert "is not valid TOML" in line
