"""Tokens that die, are replaced, run dry: seen through the door, against an upstream that knows its tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from fake_upstream import FakeUpstream
from fake_upstream import scenarios as s
from tests.support.dialects import CHAT


@pytest.fixture
def strict_fake() -> Iterator[FakeUpstream]:
    with FakeUpstream(tokens=["good", "new"]) as fake:
        yield fake


@pytest.fixture
def tokens_file(tmp_path: Path) -> Callable[..., str]:
    """Write the tokens file from name=secret pairs, as a deployment does: whole, by renaming. Its path."""

    def write(**secrets: str) -> str:
        rows = [f'[[token]]\nname = "{name}"\nsecret = "{secret}"\n' for name, secret in secrets.items()]
        (tmp_path / "next.toml").write_text("".join(rows))
        (tmp_path / "next.toml").rename(tmp_path / "tokens.toml")
        return str(tmp_path / "tokens.toml")

    return write


def ask(url: str, model: str = "fake-echo") -> requests.Response:
    return requests.post(url + CHAT.path(model, False), json=CHAT.body(model, "hi", False), timeout=20)


def states(url: str) -> dict[str, Any]:
    rows = requests.get(f"{url}/pool", timeout=10).json()["tokens"]
    return {row["name"]: row["state"] for row in rows}


def test_a_token_the_upstream_does_not_know_dies_and_its_successor_serves(
    serve: Callable[..., str], strict_fake: FakeUpstream, tokens_file: Callable[..., str]
) -> None:
    url = serve(
        DEVIN_CONNECT_BASE_URL=strict_fake.url,
        DEVIN_CONNECT_TOKENS_FILE=tokens_file(a="revoked", b="good"),
        CANDOR_STORE_CACHE_S="0",
        CANDOR_LOG_LEVEL="ERROR",
    )
    assert [ask(url).status_code for _ in range(4)] == [200] * 4
    assert states(url) == {"a": "dead", "b": "healthy"}
    outcomes = [(capture["token"], capture["outcome"]) for capture in strict_fake.captures()]
    assert outcomes.count(("good", "completed")) == 4
    assert len(outcomes) == 5, "the dead one was asked once"
    tokens_file(a="new", b="good")
    assert states(url) == {"a": "healthy", "b": "healthy"}
    assert [ask(url).status_code for _ in range(4)] == [200] * 4
    assert {capture["token"] for capture in strict_fake.captures()[5:]} == {"new", "good"}


def test_a_single_token_that_is_dead_is_a_502_then_a_shut_gate(
    serve: Callable[..., str], strict_fake: FakeUpstream
) -> None:
    url = serve(
        DEVIN_CONNECT_BASE_URL=strict_fake.url, DEVIN_CONNECT_TOKEN="revoked", CANDOR_LOG_LEVEL="ERROR"
    )
    first, second = ask(url), ask(url)
    assert first.status_code == 502
    assert "revoked" not in first.text
    assert (second.status_code, second.headers["Retry-After"]) == (503, "60")
    assert requests.get(f"{url}/readyz", timeout=10).status_code == 503


@pytest.mark.parametrize(("switch", "status"), [("1", 503), ("0", 200)], ids=["on", "off"])
def test_a_drought_is_seen_only_behind_its_switch(
    serve: Callable[..., str], fake: FakeUpstream, switch: str, status: int
) -> None:
    url = serve(DEVIN_CONNECT_QUOTA=switch)
    fake.queue([s.quota(499), s.text("x"), s.finish()])
    assert ask(url).status_code == 200
    reply = ask(url, "fake-tools")
    assert reply.status_code == status
    assert ask(url).status_code == 200, "the free tier runs"
    if status == 503:
        assert reply.json()["error"]["drought"] == {
            "threshold": 5,
            "allowed_models": ["fake-echo", "local-echo"],
        }


def test_a_quota_that_is_used_up_rests_the_token_until_its_reset(
    serve: Callable[..., str], fake: FakeUpstream, tokens_file: Callable[..., str]
) -> None:
    url = serve(DEVIN_CONNECT_TOKENS_FILE=tokens_file(a="a-secret", b="b-secret"))
    detail = {"type": "google.rpc.QuotaFailure", "value": ""}
    fake.queue([s.error("resource_exhausted", "used up", retry_after_s=7200, details=[detail])])
    assert ask(url).status_code == 200
    rows = requests.get(f"{url}/pool", timeout=10).json()["tokens"]
    (resting,) = [row for row in rows if row["state"] != "healthy"]
    assert (resting["state"], resting["why"]) == ("exhausted", "quota_exhausted")
    assert 7100 < resting["wait_s"] <= 7200


@pytest.mark.parametrize(
    "step",
    [
        s.error("invalid_argument", "no"),
        s.error("permission_denied", "no"),
        s.error("not_found", "no"),
        s.error("unavailable", "busy", retry_after_s=9),
    ],
    ids=lambda step: step["error"]["code"],
)
def test_what_no_token_is_to_blame_for_is_asked_once_and_marks_none(
    serve: Callable[..., str], fake: FakeUpstream, tokens_file: Callable[..., str], step: dict[str, Any]
) -> None:
    url = serve(DEVIN_CONNECT_TOKENS_FILE=tokens_file(a="a-secret", b="b-secret"))
    fake.queue([step])
    assert ask(url).status_code in (400, 403, 404, 503)
    assert len(fake.captures()) == 1
    assert states(url) == {"a": "healthy", "b": "healthy"}
