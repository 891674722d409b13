"""What happens to kept replies at a bound, after their time, and while the store is away: no turn ever fails."""

from __future__ import annotations

import json
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests
from flask import Flask

from app.factory import of
from fake_upstream import FakeUpstream
from tests.support.redis_server import redis_server
from tests.support.servers import free_port, in_thread

QUICK = {"CANDOR_STORE_TIMEOUT_S": "0.2", "CANDOR_STORE_RETRY_S": "0.1"}


def create(url: str, **body: Any) -> requests.Response:
    request = {"model": "fake-echo", "input": "hi", **body}
    return requests.post(f"{url}/v1/responses", json=request, timeout=10)


def complete(url: str, **body: Any) -> requests.Response:
    request = {"model": "fake-echo", "messages": [{"role": "user", "content": "hi"}], "store": True, **body}
    return requests.post(f"{url}/v1/chat/completions", json=request, timeout=10)


def get(url: str, path: str) -> requests.Response:
    return requests.get(f"{url}/v1/{path}", timeout=10)


def fault(reply: requests.Response) -> tuple[int, str | None, str | None]:
    """(status, param, code)"""
    said = reply.json()["error"]
    return reply.status_code, said["param"], said["code"]


def told(reply: requests.Response) -> list[dict[str, Any]]:
    """The responses that a stream's events carry."""
    frames = [json.loads(frame.split("\ndata: ", 1)[1]) for frame in reply.text.split("\n\n") if frame]
    return [frame["response"] for frame in frames if "response" in frame]


def counted(app: Flask, name: str) -> dict[tuple[str, ...], float]:
    return dict(of(app).services.metrics.totals()[name])


@contextmanager
def locked(app: Flask) -> Iterator[None]:
    """Somebody else holds the file of kept replies."""
    path = Path(of(app).settings.state_dir) / "candor-entries.sqlite3"
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.execute("ROLLBACK")
        other.close()


def test_a_reply_beyond_its_bound_is_served_and_says_that_it_is_not_stored(
    make_app: Callable[..., Flask],
) -> None:
    app = make_app(CANDOR_STORED_ENTRY_KB="4")
    large = secrets.token_hex(3000)
    with in_thread(app) as url:
        assert create(url).json()["store"] is True
        reply = create(url, input=large)
        assert (reply.status_code, reply.json()["store"]) == (200, False)
        assert reply.json()["output"][0]["content"][0]["text"] == large
        assert get(url, f"responses/{reply.json()['id']}").status_code == 404
        states = told(create(url, input=large, stream=True))
        assert states[-1]["status"] == "completed"
        assert states[-1]["store"] is False
        assert get(url, f"responses/{states[-1]['id']}").status_code == 404
        messages = [{"role": "user", "content": large}]
        whole = complete(url, messages=messages)
        assert (whole.status_code, whole.headers["x-candor-ignored"]) == (200, "store")
        stream = complete(url, messages=messages, stream=True)
        assert stream.text.endswith(": not stored\n\ndata: [DONE]\n\n")
        assert get(url, "chat/completions").json()["data"] == []
    assert counted(app, "entries_not_stored") == {
        ("response", "too_large"): 2,
        ("completion", "too_large"): 2,
    }


def test_the_oldest_go_first_at_the_bound(make_app: Callable[..., Flask]) -> None:
    app = make_app(CANDOR_STORED_CALLER_COUNT="3")
    with in_thread(app) as url:
        ids = [create(url).json()["id"] for _ in range(5)]
        assert [get(url, f"responses/{each}").status_code for each in ids] == [404, 404, 200, 200, 200]
    assert counted(app, "entries_evicted") == {("caller",): 2}


def test_a_reply_is_gone_after_its_time(serve: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    url = serve(CANDOR_STORED_TTL_S="60")
    response, completion = create(url).json()["id"], complete(url).json()["id"]
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + 58)
    assert get(url, f"responses/{response}").status_code == 200
    assert create(url, previous_response_id=response).status_code == 200
    monkeypatch.setattr(time, "time", lambda: real() + 61)
    assert fault(get(url, f"responses/{response}")) == (404, None, "response_not_found")
    assert fault(create(url, previous_response_id=response)) == (
        400,
        "previous_response_id",
        "previous_response_not_found",
    )
    assert get(url, f"chat/completions/{completion}").status_code == 404
    assert get(url, "chat/completions").json()["data"] == []


def test_a_chain_is_bounded_in_links(serve: Callable[..., str]) -> None:
    url = serve(CANDOR_STORED_CHAIN="3")
    previous = create(url).json()["id"]
    for _ in range(3):
        previous = create(url, previous_response_id=previous).json()["id"]
    reply = create(url, previous_response_id=previous)
    assert fault(reply) == (400, "previous_response_id", None)
    assert "more than 3 responses" in reply.json()["error"]["message"]


def test_a_chain_is_bounded_in_bytes(serve: Callable[..., str]) -> None:
    url = serve(CANDOR_MAX_BODY_MB="1")
    story = "once upon a time " * 18_000
    one = create(url, input=story, model="fake-tools").json()["id"]
    two = create(url, input=story, model="fake-tools", previous_response_id=one)
    assert two.json()["store"] is True
    reply = create(url, previous_response_id=two.json()["id"])
    assert fault(reply) == (400, "previous_response_id", None)
    assert "larger than 1 MiB" in reply.json()["error"]["message"]


def test_each_entry_holds_its_own_turn_only(make_app: Callable[..., Flask]) -> None:
    """A conversation of n turns takes n entries of like size, not of growing size."""
    app = make_app()
    with in_thread(app) as url:
        previous = create(url, input=secrets.token_hex(500)).json()["id"]
        for _ in range(15):
            previous = create(url, input=secrets.token_hex(500), previous_response_id=previous).json()["id"]
    path = Path(of(app).settings.state_dir) / "candor-entries.sqlite3"
    costs = [cost for (cost,) in sqlite3.connect(path).execute("SELECT cost FROM entries")]
    assert len(costs) == 16
    assert max(costs) - min(costs) < 200


def test_a_locked_file_fails_no_turn_and_is_told(make_app: Callable[..., Flask], fake: FakeUpstream) -> None:
    app = make_app(**QUICK)
    with in_thread(app) as url:
        kept = create(url).json()
        with locked(app):
            began = time.monotonic()
            replies = [create(url, store=True) for _ in range(5)]
            assert time.monotonic() - began < 2
            assert [reply.json()["store"] for reply in replies] == [False] * 5
            assert {state["store"] for state in told(create(url, stream=True))} == {False}
            assert complete(url).headers["x-candor-ignored"] == "store"
            assert complete(url, stream=True).headers["x-candor-ignored"] == "store"
            turns = len(fake.captures())
            for reply in (
                get(url, f"responses/{kept['id']}"),
                get(url, f"responses/{kept['id']}/input_items"),
                get(url, "chat/completions"),
                requests.delete(f"{url}/v1/responses/{kept['id']}", timeout=10),
                create(url, previous_response_id=kept["id"]),
                create(url, input=[{"type": "item_reference", "id": kept["output"][0]["id"]}]),
            ):
                assert fault(reply) == (503, None, "store_unavailable")
                assert int(reply.headers["Retry-After"]) >= 1
            permanent = create(url, previous_response_id=kept["id"], model="no-such-model")
            assert fault(permanent) == (404, "model", "model_not_found")
            assert fault(create(url, previous_response_id=kept["id"], background=True))[:2] == (
                400,
                "background",
            )
            assert len(fake.captures()) == turns
        deadline = time.monotonic() + 5
        while create(url).json()["store"] is False:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert get(url, f"responses/{kept['id']}").json() == kept
        assert create(url, previous_response_id=kept["id"]).status_code == 200
    assert counted(app, "entry_outages") == {(): 1}
    assert counted(app, "entries_not_stored")[("response", "store_down")] >= 6


def test_a_redis_server_that_dies_fails_no_turn(make_app: Callable[..., Flask]) -> None:
    port = free_port()
    app = make_app(CANDOR_STORE=f"redis://127.0.0.1:{port}/0", **QUICK)
    with in_thread(app) as url:
        with redis_server(port):
            said = create(url).json()
            assert said["store"] is True
            assert get(url, f"responses/{said['id']}").json() == said
        began = time.monotonic()
        assert [create(url).json()["store"] for _ in range(5)] == [False] * 5
        assert time.monotonic() - began < 4
        assert get(url, f"responses/{said['id']}").status_code == 503


def test_a_stream_whose_store_goes_away_ends_in_the_truth(
    make_app: Callable[..., Flask], fake: FakeUpstream
) -> None:
    app = make_app(**QUICK)
    with in_thread(app) as url:
        assert create(url).json()["store"] is True
        with locked(app):
            states = told(create(url, stream=True))
    assert [state["store"] for state in states] == [True, True, False], (
        "at first it was meant, then it failed"
    )
