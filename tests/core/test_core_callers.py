from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from app.callers import Callers, is_local, operator_may, read_keys
from app.settings import SettingsError, load
from app.turn.faults import FaultKind, TurnFault

KEYED = Callers(["alpha", "beta"])
OPEN = Callers([])
NAME_OF_ALPHA = hashlib.sha256(b"alpha").hexdigest()[:32]


def problem_of(
    callers: Callers, headers: dict[str, str], peer: str | None = "127.0.0.1", key: str | None = None
) -> str:
    with pytest.raises(TurnFault) as caught:
        callers.authenticate(headers, peer, key)
    assert (caught.value.kind, caught.value.code) == (FaultKind.AUTHENTICATION, "invalid_api_key")
    return caught.value.problem


@pytest.mark.parametrize(
    "headers",
    [
        {"authorization": "Bearer alpha"},
        {"authorization": "bearer  alpha "},
        {"x-api-key": "alpha"},
        {"x-goog-api-key": " alpha "},
    ],
)
def test_a_key_is_found_in_every_place(headers: dict[str, str]) -> None:
    assert KEYED.authenticate(headers, "192.0.2.1", None) == NAME_OF_ALPHA


def test_a_key_in_the_query_is_found() -> None:
    assert KEYED.authenticate({}, "192.0.2.1", "alpha") == NAME_OF_ALPHA


def test_the_name_of_a_caller_tells_nothing_of_the_key() -> None:
    assert "alpha" not in KEYED.authenticate({"x-api-key": "alpha"}, None, None)


def test_callers_with_different_keys_have_different_names() -> None:
    assert KEYED.authenticate({"x-api-key": "beta"}, None, None) != NAME_OF_ALPHA


@pytest.mark.parametrize(
    ("headers", "key"),
    [
        ({"authorization": "Bearer alpha", "x-api-key": "alpha"}, None),
        ({"x-api-key": "alpha", "x-goog-api-key": "alpha"}, "alpha"),
    ],
)
def test_the_same_key_in_two_places_is_one_key(headers: dict[str, str], key: str | None) -> None:
    assert KEYED.authenticate(headers, None, key) == NAME_OF_ALPHA


@pytest.mark.parametrize(
    ("headers", "key"),
    [
        ({"authorization": "Bearer alpha", "x-api-key": "beta"}, None),
        ({"authorization": "Bearer alpha", "x-goog-api-key": "wrong"}, None),
        ({"x-api-key": "alpha"}, "beta"),
    ],
)
def test_two_different_keys_are_refused_even_when_both_are_valid(
    headers: dict[str, str], key: str | None
) -> None:
    assert problem_of(KEYED, headers, key=key) == "two different API keys were sent"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": ""},
        {"authorization": "Bearer"},
        {"authorization": "Bearer "},
        {"authorization": "Basic alpha"},
        {"authorization": "alpha"},
        {"x-api-key": " "},
    ],
)
def test_no_key_is_refused_on_loopback_too_when_there_are_keys(headers: dict[str, str]) -> None:
    assert problem_of(KEYED, headers) == "no API key was sent"


@pytest.mark.parametrize("key", ["gamma", "alph", "alphaa", "ALPHA", "alpha,beta", "ключ", "\udcff"])
def test_a_key_that_is_not_among_them_is_refused_and_not_repeated(key: str) -> None:
    problem = problem_of(KEYED, {"x-api-key": key})
    assert problem == "the API key is not valid"


def test_without_keys_a_loopback_peer_is_served_whatever_key_it_sends() -> None:
    assert (
        OPEN.authenticate({"authorization": "Bearer any", "x-api-key": "other"}, "127.0.0.1", None)
        == "loopback"
    )


LOCAL_PEERS = ["127.0.0.1", "127.8.9.10", "::1", "::1%lo", "::ffff:127.0.0.1"]
FOREIGN_PEERS = [
    None,
    "",
    "unix:",
    "10.0.0.1",
    "192.0.2.1",
    "0.0.0.0",
    "::",
    "fe80::1%eth0",
    "::ffff:10.0.0.1",
    "localhost",
]


@pytest.mark.parametrize("peer", LOCAL_PEERS)
def test_a_loopback_peer_is_local(peer: str) -> None:
    assert is_local({}, peer)


@pytest.mark.parametrize("peer", FOREIGN_PEERS)
def test_any_other_peer_is_not_local(peer: str | None) -> None:
    assert not is_local({}, peer)


def test_without_keys_any_other_peer_is_refused_with_what_to_do() -> None:
    problem = problem_of(OPEN, {}, "192.0.2.1")
    assert problem == "no API keys are configured, so only direct loopback peers are served"


@pytest.mark.parametrize("header", ["forwarded", "x-forwarded-for"])
@pytest.mark.parametrize("value", ["127.0.0.1", "for=127.0.0.1", ""])
def test_a_forwarded_request_is_not_local_whatever_it_says(header: str, value: str) -> None:
    assert not is_local({header: value}, "127.0.0.1")


@pytest.mark.parametrize(
    "origin", ["http://localhost", "http://localhost:3000", "https://127.0.0.1:8443", "http://[::1]:5173"]
)
def test_an_origin_on_a_loopback_host_is_not_foreign(origin: str) -> None:
    assert is_local({"origin": origin}, "127.0.0.1")


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "",
        "https://evil.example",
        "http://localhost.evil.example",
        "http://evil-localhost",
        "http://127.0.0.1.evil.example",
        "http://evil.example#localhost",
        "http://localhost@evil.example",
        "http://[::1",
        "http://[evil]",
        "localhost",
        "file://",
    ],
)
def test_any_other_origin_is_foreign(origin: str) -> None:
    assert not is_local({"origin": origin}, "127.0.0.1")


def test_an_origin_that_is_listed_is_not_foreign() -> None:
    listed = Callers([], ("https://app.example",))
    assert listed.authenticate({"origin": "https://app.example"}, "127.0.0.1", None) == "loopback"


@pytest.mark.parametrize(
    "origin", ["https://app.example:444", "http://app.example", "https://app.example.evil", "*"]
)
def test_an_origin_is_listed_only_as_a_whole(origin: str) -> None:
    assert not is_local({"origin": origin}, "127.0.0.1", ("https://app.example",))


def test_a_star_makes_no_origin_local() -> None:
    assert not is_local({"origin": "https://app.example"}, "127.0.0.1", ("*",))


def test_a_listed_origin_does_not_make_a_foreign_peer_local() -> None:
    assert not is_local({"origin": "https://app.example"}, "10.0.0.1", ("https://app.example",))


def test_keys_come_from_the_switch() -> None:
    assert read_keys(load({"CANDOR_API_KEYS": " alpha, ,beta,"})) == ("alpha", "beta")


def test_keys_come_from_the_file_without_its_comments(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text("# ours\nalpha\n\n  beta  # of the build\n")
    assert read_keys(load({"CANDOR_API_KEYS_FILE": str(file)})) == ("alpha", "beta")


def test_keys_of_the_switch_and_of_the_file_add_up(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text("beta\n")
    settings = load({"CANDOR_API_KEYS": "alpha", "CANDOR_API_KEYS_FILE": str(file)})
    assert read_keys(settings) == ("alpha", "beta")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "No such file or directory"),
        (b"# none\n\n", "holds no key"),
        (b"\xff\xfe", "is not UTF-8 text"),
    ],
)
def test_a_keys_file_without_keys_stops_the_start_naming_the_switch(
    tmp_path: Path, content: bytes | None, problem: str
) -> None:
    file = tmp_path / "keys"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(SettingsError) as caught:
        read_keys(load({"CANDOR_API_KEYS_FILE": str(file)}))
    assert str(caught.value) == f"CANDOR_API_KEYS_FILE={str(file)!r}: {problem}"


@pytest.mark.parametrize(
    ("headers", "may"),
    [
        ({"authorization": "Bearer secret"}, True),
        ({"x-api-key": "secret"}, True),
        ({"x-api-key": "wrong"}, False),
        ({"x-api-key": "secret", "authorization": "Bearer other"}, False),
        ({}, False),
    ],
)
def test_operator_pages_go_by_the_operator_key_on_loopback_too(headers: dict[str, str], may: bool) -> None:
    assert operator_may("secret", headers, "127.0.0.1") is may


@pytest.mark.parametrize(
    ("headers", "peer", "may"),
    [
        ({}, "127.0.0.1", True),
        ({}, "192.0.2.1", False),
        ({"forwarded": "for=1"}, "127.0.0.1", False),
        ({"origin": "https://app.example"}, "127.0.0.1", False),
    ],
)
def test_operator_pages_without_a_key_go_by_the_loopback_rule(
    headers: dict[str, str], peer: str, may: bool
) -> None:
    assert operator_may("", headers, peer) is may
