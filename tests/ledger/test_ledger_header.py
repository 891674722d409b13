from __future__ import annotations

import re
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.ledger import render_paths


def test_no_paths_are_no_text() -> None:
    assert render_paths([]) == ""


def test_paths_are_joined_as_sent() -> None:
    assert render_paths(["seed", "messages[3].name", "tools[0].x-y_z:w=1"]) == (
        "seed, messages[3].name, tools[0].x-y_z:w=1"
    )


def test_each_path_is_there_once_at_its_first_place() -> None:
    assert render_paths(["b", "a", "b", "a"]) == "b, a"


@pytest.mark.parametrize(
    ("path", "encoded"),
    [
        ("a b", "a%20b"),
        ("a,b", "a%2Cb"),
        ("a/b", "a%2Fb"),
        ("a~b", "a%7Eb"),
        ("50%", "50%25"),
        ("a\r\nx-evil: 1", "a%0D%0Ax-evil:%201"),
        ("é", "%C3%A9"),
        ("💡", "%F0%9F%92%A1"),
        ('""', "%22%22"),
        ("a+1", "a%2B1"),
        ("\0", "%00"),
    ],
)
def test_odd_bytes_are_percent_encoded(path: str, encoded: str) -> None:
    assert render_paths([path]) == encoded


def test_a_header_of_exactly_1024_bytes_is_whole() -> None:
    paths = ["a" * 510, "b" * 512]
    assert render_paths(paths) == f"{'a' * 510}, {'b' * 512}"
    assert len(render_paths(paths)) == 1024


def test_a_longer_one_is_cut_between_paths_and_tells_how_many_are_missing() -> None:
    assert render_paths(["a" * 510, "b" * 513]) == f"{'a' * 510}, +1"


def test_what_is_cut_still_fits() -> None:
    paths = [f"messages[{index}].name" for index in range(1000)]
    text = render_paths(paths)
    *kept, rest = text.split(", ")
    assert kept == paths[: len(kept)]
    assert rest == f"+{1000 - len(kept)}"
    assert 1024 - 24 < len(text) <= 1024


def test_one_path_that_is_too_long_is_only_counted() -> None:
    assert render_paths(["a" * 1025]) == "+1"
    assert render_paths(["é" * 400, "b"]) == "+2"


def test_a_short_path_behind_a_long_one_is_not_pulled_forward() -> None:
    assert render_paths(["a", "b" * 2000, "c"]) == "a, +2"


PATHS = st.lists(
    st.one_of(st.text(max_size=40), st.from_regex(r"messages\[\d{1,3}\]\.[a-z]{1,30}", fullmatch=True))
)


@given(PATHS.map(lambda paths: paths * 3), st.integers(1, 40))
def test_the_header_is_always_short_ascii_and_complete(paths: list[str], times: int) -> None:
    paths = [path + "x" * (times * 7 % 90) for path in paths]
    text = render_paths(paths)
    assert len(text) <= 1024
    assert re.fullmatch(r"[A-Za-z0-9_.\[\]=:%+, -]*", text)
    unique = list(dict.fromkeys(paths))
    if not paths:
        assert text == ""
        return
    kept = text.split(", ")
    missing = int(kept.pop()[1:]) if kept[-1].startswith("+") else 0
    assert [unquote(path) for path in kept] == unique[: len(kept)]
    assert len(kept) + missing == len(unique)
