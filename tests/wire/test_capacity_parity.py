"""What callers of every surface get in every state of the gates: status, body and headers, literally."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import anthropic
import google.genai.errors
import openai
import pytest
from flask import Flask
from freezegun import freeze_time
from google import genai

from app.catalogue.models import Model
from app.factory import of
from app.turn.faults import FaultKind, TurnFault
from fake_upstream import FakeUpstream
from fake_upstream import scenarios as s
from tests.support.dialects import CHAT, DIALECTS, GENERATE_CONTENT, MESSAGES, RESPONSES, Dialect

FREE = Model("free", "connect", "free", "free")
BUSY = "no upstream capacity is free for this request now; try again later"
DRY = "upstream quota is below 5 percent, so only free models run now: fake-echo, local-echo"
DROUGHT = {"threshold": 5, "allowed_models": ["fake-echo", "local-echo"]}


def shut(app: Flask, state: str) -> None:
    """Bring the app's only token into ``state``, as turns on it would."""
    capacity = of(app).services.capacity
    lease = capacity.lease(FREE, None)
    match state:
        case "cooling":
            capacity.release(lease, TurnFault(FaultKind.RATE_LIMITED, "", retry_after_s=30))
        case "exhausted":
            capacity.release(lease, TurnFault(FaultKind.QUOTA_EXHAUSTED, "", retry_after_s=3000))
        case "dead":
            capacity.release(lease, TurnFault(FaultKind.UPSTREAM_AUTHENTICATION, ""))
        case "drought":
            capacity.release(lease, None, 499)


def openai_error(message: str, code: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, "type": "server_error", "param": None, "code": code, **more}}


def capital(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def gemini_error(message: str, wait_s: int) -> dict[str, Any]:
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{wait_s}s"}
    return {"error": {"code": 503, "message": message, "status": "UNAVAILABLE", "details": [info]}}


def anthropic_error(message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": "overloaded_error", "message": message}}


def told(dialect: Dialect, state: str, wait_s: int) -> tuple[int, dict[str, Any]]:
    """Status and body by which a surface tells of a gate."""
    dry = state == "drought"
    message, code = (DRY, "drought_mode") if dry else (BUSY, "capacity_exhausted")
    more = {"drought": DROUGHT} if dry else {}
    return {
        CHAT.name: (503, openai_error(message, code, **more)),
        RESPONSES.name: (503, openai_error(capital(message), code, **more)),
        MESSAGES.name: (529, anthropic_error(message)),
        GENERATE_CONTENT.name: (503, gemini_error(message, wait_s)),
    }[dialect.name]


WAITS = {"cooling": 30, "exhausted": 60, "dead": 60, "drought": 60, "none": 60}


@pytest.fixture
def shut_app(make_app: Callable[..., Flask], tmp_path: Any) -> Callable[[str], Flask]:
    def make(state: str) -> Flask:
        switches = {"CANDOR_LOG_LEVEL": "ERROR", "CANDOR_STATE_DIR": str(tmp_path / state)}
        if state == "none":
            (tmp_path / "tokens.toml").write_text("token = []")
            switches["DEVIN_CONNECT_TOKENS_FILE"] = str(tmp_path / "tokens.toml")
        app = make_app(**switches)
        if state != "none":
            shut(app, state)
        return app

    return make


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
@pytest.mark.parametrize("state", WAITS)
def test_a_shut_gate_in_every_dialect(
    shut_app: Callable[[str], Flask], fake: FakeUpstream, dialect: Dialect, state: str, stream: bool
) -> None:
    with freeze_time("2026-11-30T12:00:00Z"):
        client = shut_app(state).test_client()
        body = {**dialect.body("fake-tools", "hi", stream), **dialect.ignorable}
        reply = client.post(
            dialect.path("fake-tools", stream), json=body, headers={"Prefer": "handling=lenient"}
        )
    wait_s = WAITS[state]
    status, expected = told(dialect, state, wait_s)
    answer = json.loads(reply.data)
    request_id = answer.pop("request_id", reply.headers["x-request-id"])
    assert (reply.status_code, answer) == (status, expected)
    headers = dict(reply.headers)
    assert headers.pop("x-request-id") == headers.pop("request-id") == request_id
    ignored = {
        CHAT.name: "seed",
        RESPONSES.name: "parallel_tool_calls",
        MESSAGES.name: "tool_choice.disable_parallel_tool_use",
        GENERATE_CONTENT.name: "generationConfig.seed",
    }
    assert headers == {
        "Content-Type": "application/json",
        "Content-Length": str(len(reply.data)),
        "Retry-After": str(wait_s),
        "Preference-Applied": "handling=lenient",
        "x-candor-ignored": ignored[dialect.name],
    }
    assert fake.captures() == []


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_retry_after_counts_down_as_the_clock_moves(
    shut_app: Callable[[str], Flask], fake: FakeUpstream, dialect: Dialect
) -> None:
    def ask() -> tuple[int, str | None]:
        reply = client.post(dialect.path("fake-echo", False), json=dialect.body("fake-echo", "hi", False))
        return reply.status_code, reply.headers.get("Retry-After")

    with freeze_time("2026-11-30T12:00:00Z") as clock:
        client = shut_app("cooling").test_client()
        shut_status = told(dialect, "cooling", 30)[0]
        assert ask() == (shut_status, "30")
        clock.tick(12.5)
        assert ask() == (shut_status, "18")
        clock.tick(17.4)
        assert ask() == (shut_status, "1")
        clock.tick(0.1)
        assert ask() == (200, None)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_free_models_run_in_a_drought(
    shut_app: Callable[[str], Flask], dialect: Dialect, stream: bool
) -> None:
    client = shut_app("drought").test_client()
    for model in ("fake-echo", "local-echo"):
        reply = client.post(dialect.path(model, stream), json=dialect.body(model, "hi", stream))
        assert reply.status_code == 200
        text = dialect.streamed(reply.data)[0] if stream else dialect.text_of(json.loads(reply.data))
        assert text == "hi"


@pytest.mark.parametrize("state", WAITS)
@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_a_model_that_needs_no_token_runs_in_every_state(
    shut_app: Callable[[str], Flask], dialect: Dialect, state: str
) -> None:
    client = shut_app(state).test_client()
    reply = client.post(dialect.path("local-echo", False), json=dialect.body("local-echo", "hi", False))
    assert (reply.status_code, dialect.text_of(json.loads(reply.data))) == (200, "hi")


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_counting_tokens_needs_no_capacity(shut_app: Callable[[str], Flask], dialect: Dialect) -> None:
    paths = {
        RESPONSES.name: "/v1/responses/input_tokens",
        MESSAGES.name: "/v1/messages/count_tokens",
        GENERATE_CONTENT.name: "/v1beta/models/fake-echo:countTokens",
    }
    if dialect.name not in paths:
        return
    body = dialect.body("fake-echo", "hi", False)
    body.pop("stream", None)
    if dialect is MESSAGES:
        body.pop("max_tokens")
    assert shut_app("dead").test_client().post(paths[dialect.name], json=body).status_code == 200


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_the_turn_that_meets_the_limit_hears_of_the_limit_the_next_of_the_gate(
    app: Flask, fake: FakeUpstream, dialect: Dialect, stream: bool
) -> None:
    fake.queue([s.http_error(429, "resource_exhausted", "slow down", {"retry-after": "30"})])
    client = app.test_client()
    ask = lambda: client.post(  # noqa: E731
        dialect.path("fake-echo", stream), json=dialect.body("fake-echo", "hi", stream)
    )
    first, second = ask(), ask()
    assert (first.status_code, first.headers["Retry-After"]) == (429, "30")
    assert (second.status_code, second.headers["Retry-After"]) == (told(dialect, "cooling", 30)[0], "30")
    assert len(fake.captures()) == 1


def test_ready_turns_false_when_every_token_is_dead(shut_app: Callable[[str], Flask]) -> None:
    assert shut_app("cooling").test_client().get("/readyz").status_code == 200
    assert shut_app("dead").test_client().get("/readyz").status_code == 503


def test_operators_see_the_pool_and_nobody_else(make_app: Callable[..., Flask]) -> None:
    app = make_app(DEVIN_CONNECT_TOKEN="hunter2-token", CANDOR_OPERATOR_KEY="op", CANDOR_LOG_LEVEL="ERROR")
    client = app.test_client()
    client.post(CHAT.path("fake-echo", False), json=CHAT.body("fake-echo", "hi", False))
    assert client.get("/pool").status_code == 401
    page = client.get("/pool", headers={"Authorization": "Bearer op"})
    assert b"hunter2" not in page.data
    (row,) = page.json["tokens"]
    assert {key: row[key] for key in ("name", "state", "in_flight", "served")} == {
        "name": "default",
        "state": "healthy",
        "in_flight": 0,
        "served": 1,
    }
    metrics = client.get("/connect-metrics", headers={"Authorization": "Bearer op"}).json
    assert metrics["gates"] == page.json["gates"]
    assert metrics["token_turns"] == {"default": 1}


# The SDKs: the exception they raise, and that they come back by themselves.


@pytest.fixture
def dry_url(serve: Callable[..., str], fake: FakeUpstream) -> str:
    """A server that met a limit a moment ago, from which it recovers within a second."""
    url = serve(CANDOR_STORE_CACHE_S="0")
    with openai.OpenAI(base_url=f"{url}/v1", api_key="x", max_retries=0) as client:
        fake.queue([s.http_error(429, "resource_exhausted", "slow down", {"retry-after": "1"})])
        with pytest.raises(openai.RateLimitError):
            client.chat.completions.create(model="fake-echo", messages=[{"role": "user", "content": "hi"}])
    return url


def test_openai_raises_the_error_it_backs_off_by_and_recovers(dry_url: str) -> None:
    with openai.OpenAI(base_url=f"{dry_url}/v1", api_key="x", max_retries=0) as client:
        with pytest.raises(openai.InternalServerError) as caught:
            client.responses.create(model="fake-echo", input="hi")
        assert (caught.value.status_code, caught.value.response.headers["retry-after"]) == (503, "1")
        started = time.monotonic()
        patient = client.with_options(max_retries=2)
        assert patient.responses.create(model="fake-echo", input="hi").output_text == "hi"
        assert time.monotonic() - started < 5


def test_anthropic_raises_the_error_it_backs_off_by_and_recovers(dry_url: str) -> None:
    ask: Any = {"model": "fake-echo", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
    with anthropic.Anthropic(base_url=dry_url, api_key="x", max_retries=0) as client:
        with pytest.raises(anthropic.APIStatusError) as caught:
            client.messages.create(**ask)
        assert (caught.value.status_code, caught.value.response.headers["retry-after"]) == (529, "1")
        assert isinstance(caught.value, anthropic.InternalServerError)
        reply = client.with_options(max_retries=2).messages.create(**ask)
        assert reply.content[0].text == "hi"


def test_google_raises_the_error_it_backs_off_by(dry_url: str) -> None:
    with genai.Client(api_key="x", http_options={"base_url": dry_url}) as client:
        with pytest.raises(google.genai.errors.ServerError) as caught:
            client.models.generate_content(model="fake-echo", contents="hi")
        assert (caught.value.code, caught.value.status) == (503, "UNAVAILABLE")
