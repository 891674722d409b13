"""Numbers at their edges, on the wire and in what is said of them."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from app.settings import SettingsError
from app.turn.events import Finished, Usage
from app.turn.turn import Sampling
from app.upstreams.connect import ConnectUpstream
from app.upstreams.connect.coordinates import Coordinates
from app.upstreams.connect.errors import ErrorReader
from app.upstreams.connect.upstream import _secrets_of
from tests.upstreams.kit import END, HEAD, RawServer, chunk, frame, run, settings, turn


@pytest.mark.parametrize(("number", "field"), [(3, "messages"), (21, "model")])
def test_a_taken_field_number_is_told_with_its_field(number: int, field: str) -> None:
    with pytest.raises(SettingsError) as caught:
        ConnectUpstream(settings(connect_tool_choice_tags={"choice": number}))
    assert str(caught.value).endswith(f"choice={number} is taken: the upstream reads it as {field}")


def test_a_length_of_127_is_one_byte_and_of_128_two() -> None:
    assert Coordinates().tool_choice("", "a" * 125)[:2] == b"\x62\x7f"
    assert Coordinates().tool_choice("", "a" * 126)[:3] == b"\x62\x80\x01"


def test_the_largest_token_limit_goes_out() -> None:
    with RawServer(HEAD + chunk(frame(text="a", finish=2) + END) + b"0\r\n\r\n") as server:
        events = run(
            ConnectUpstream(settings(server.url)), turn(sampling=Sampling(max_output_tokens=2**32 - 1))
        )
        assert isinstance(events[-1], Finished)
        assert b"\x10\xff\xff\xff\xff\x0f" in server.requests[0]


@pytest.mark.parametrize(
    ("template", "secrets"),
    [
        ("Bearer {token}", []),
        ("{token}", []),
        ("abcd", ["abcd"]),
        ("Key abc-{token}-wxyz", ["abc-", "-wxyz"]),
        ("Key a=bcde, {token}", ["bcde"]),
    ],
)
def test_what_a_template_says_beside_the_token(template: str, secrets: list[str]) -> None:
    assert _secrets_of(template) == secrets


@pytest.fixture
def far_from_greenwich(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("far_from_greenwich")
def test_a_date_without_a_zone_is_greenwich_wherever_the_machine_stands() -> None:
    reader = ErrorReader((), wall_clock=lambda: 1_764_504_000.0)
    assert reader.http(429, {"retry-after": "Sun, 30 Nov 2025 12:00:30"}, b"").retry_after_s == 30


def test_every_count_of_the_usage_is_read() -> None:
    told = frame(usage={"fresh": 1, "completion": 2, "cache_read": 3, "cache_write": 4})
    with RawServer(HEAD + chunk(told + frame(text="a", finish=2) + END) + b"0\r\n\r\n") as server:
        events = run(ConnectUpstream(settings(server.url)))
    assert Usage(1, 2, 3, 4) in events
