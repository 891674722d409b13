"""Every kind of fault over HTTP, on every surface, whole and streamed: status, body and headers, literally."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.factory import of
from fake_upstream import FakeUpstream
from fake_upstream import scenarios as s
from tests.matrix import asking
from tests.matrix.asking import CHAT, GENERATE, MESSAGES, RESPONSES, SURFACES, Json, path
from tests.matrix.faults import (
    CAPACITY,
    DRAINING,
    FAILED,
    INTERNAL,
    INVALID,
    NOT_FOUND,
    PERMISSION,
    RATE_LIMITED,
    TIMEOUT,
    TOO_LARGE,
    TRUNCATED,
    UNAUTHENTICATED,
    UNKNOWN_URL,
    WRONG_ENCODING,
    WRONG_METHOD,
    Told,
    body,
)

REFUSED = "the upstream answered with an error: "
TOKEN = "dev-token"
KEYED = {"CANDOR_API_KEYS": "caller-key"}
NEVER_RETRY = {401, 403, 404, 405, 413, 415}


@dataclass(frozen=True)
class Case:
    """A request that fails: what is sent under which switches, and what is told."""

    name: str
    told: Told
    problem: str
    switches: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    data: bytes | None = None
    model: str = "fake-echo"
    method: str = "POST"
    steps: tuple[Json, ...] = ()
    wait_s: int | None = None
    more: dict[str, str] = field(default_factory=dict)


CASES = [
    Case(
        "not JSON",
        INVALID,
        "the request body is not valid JSON: unexpected end of data: line 1 column 2 (char 1)",
        data=b"{",
    ),
    Case("not an object", INVALID, "the request body must be a JSON object", data=b"[]"),
    Case(
        "damaged gzip",
        INVALID,
        "the request body is not valid gzip data",
        data=b"{}",
        headers={"Content-Encoding": "gzip"},
    ),
    Case("no key", UNAUTHENTICATED, "no API key was sent", KEYED),
    Case("an empty key", UNAUTHENTICATED, "no API key was sent", KEYED, {"Authorization": "Bearer "}),
    Case("another scheme", UNAUTHENTICATED, "no API key was sent", KEYED, {"Authorization": "Basic a2V5"}),
    Case("a wrong key", UNAUTHENTICATED, "the API key is not valid", KEYED, {"x-api-key": "other"}),
    Case(
        "two keys",
        UNAUTHENTICATED,
        "two different API keys were sent",
        KEYED,
        {"x-api-key": "caller-key", "Authorization": "Bearer other"},
    ),
    Case(
        "forwarded, without keys",
        UNAUTHENTICATED,
        "no API keys are configured, so only direct loopback peers are served",
        headers={"X-Forwarded-For": "192.0.2.1"},
    ),
    Case(
        "a foreign origin, without keys",
        UNAUTHENTICATED,
        "no API keys are configured, so only direct loopback peers are served",
        headers={"Origin": "https://evil.example"},
    ),
    Case(
        "a wrong method",
        WRONG_METHOD,
        "PUT is not allowed here; allowed: ",
        method="PUT",
    ),
    Case(
        "too large",
        TOO_LARGE,
        "the request body is larger than 1 MiB",
        {"CANDOR_MAX_BODY_MB": "1"},
        data=b" " * (1 << 20) + b"{}",
    ),
    Case(
        "an unknown encoding",
        WRONG_ENCODING,
        "the content encoding 'br' is not supported; supported are gzip, deflate and zstd",
        headers={"Content-Encoding": "br"},
        more={"Accept-Encoding": "gzip, deflate, zstd"},
    ),
    Case("permission", PERMISSION, REFUSED + "no", steps=(s.error("permission_denied", "no"),)),
    Case(
        "a rate limit",
        RATE_LIMITED,
        REFUSED + "slow down",
        steps=(s.error("resource_exhausted", "slow down", 12),),
        wait_s=12,
    ),
    Case(
        "a rate limit before the stream",
        RATE_LIMITED,
        REFUSED + "slow down",
        steps=(s.http_error(429, "resource_exhausted", "slow down", {"retry-after": "9"}),),
        wait_s=9,
    ),
    Case(
        "an upstream without capacity",
        CAPACITY,
        REFUSED + "busy",
        steps=(s.error("unavailable", "busy", 30),),
        wait_s=30,
    ),
    Case("a failure", FAILED, REFUSED + "boom", steps=(s.http_error(500, "internal", "boom"),)),
    Case(
        "a failure that is not Connect's",
        FAILED,
        REFUSED + "HTTP status 418",
        steps=(s.http_error(418, "internal", "HTTP status 418"),),
    ),
    Case("a dead token", FAILED, REFUSED + "who", steps=(s.http_error(401, "unauthenticated", "who"),)),
    Case(
        "a truncated answer",
        TRUNCATED,
        "the upstream's answer stopped before the end of its stream",
        steps=(s.cut_clean(),),
    ),
    Case(
        "silence",
        TIMEOUT,
        "the upstream said nothing within 0.1 s",
        {"CANDOR_FIRST_EVENT_TIMEOUT_S": "0.1"},
        steps=(s.sleep(400), s.finish()),
    ),
    Case(
        "a token, an address and a URL in the upstream's words",
        FAILED,
        REFUSED + "*** at [address] via [address], see [address]",
        steps=(
            s.error(
                "internal", f"{TOKEN} at 10.0.0.7:443 via db-1.internal:5432, see http://h/{TOKEN}\n  at f"
            ),
        ),
    ),
    Case(
        "a page in the upstream's words",
        FAILED,
        REFUSED + "Traceback (most recent call last):",
        steps=(s.error("internal", 'Traceback (most recent call last):\n  File "/srv/app.py", line 3'),),
    ),
]


def send(app: Flask, case: Case, surface: str, *, stream: bool) -> TestResponse:
    options: dict[str, Any] = {"data": case.data}
    if case.data is None:
        options = {"json": asking.body(surface, stream=stream, model=case.model)}
    url = path(surface, stream=stream, model=case.model)
    return app.test_client().open(url, method=case.method, headers=case.headers, **options)


def assert_headers(reply: TestResponse, wait_s: int | None, more: dict[str, str]) -> None:
    """The reply has exactly the headers of a fault."""
    headers = {name: value for name, value in reply.headers if name != "Content-Length"}
    assert headers.pop("x-request-id") == headers.pop("request-id")
    expected = {"Content-Type": "application/json", **more}
    if reply.status_code in NEVER_RETRY:
        expected["x-should-retry"] = "false"
    if wait_s is not None:
        expected["Retry-After"] = str(wait_s)
    assert headers == expected


def assert_discreet(reply: TestResponse, fake: FakeUpstream) -> None:
    """Nothing of the inside is in the body."""
    for secret in (
        TOKEN,
        "127.0.0.1",
        str(fake.port),
        "caller-key",
        "<html",
        'File "',
        ".internal",
        "10.0.0.7",
    ):
        assert secret not in reply.text.lower()


@pytest.fixture
def app_of(make_app: Callable[..., Flask], standing: Callable[..., Flask]) -> Callable[[Case], Flask]:
    """An app with the case's switches; one of its own where the case spends the token."""

    def choose(case: Case) -> Flask:
        spends = case.told is RATE_LIMITED or case.name == "a dead token"
        return (make_app if spends else standing)(**{"CANDOR_LOG_LEVEL": "ERROR", **case.switches})

    return choose


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_fault_is_told_in_the_words_of_its_surface(
    app_of: Callable[[Case], Flask], fake: FakeUpstream, case: Case, surface: str, stream: bool
) -> None:
    if case.steps:
        fake.queue(case.steps)

    reply = send(app_of(case), case, surface, stream=stream)

    problem, more = case.problem, case.more
    if case.told is WRONG_METHOD:
        problem, more = problem + reply.headers["Allow"], {"Allow": reply.headers["Allow"]}
    assert reply.status_code == case.told.status(surface)
    request_id = reply.headers["x-request-id"]
    assert reply.json == body(surface, case.told, problem, wait_s=case.wait_s, request_id=request_id)
    assert_headers(reply, case.wait_s, more)
    assert_discreet(reply, fake)
    assert len(fake.captures()) == (1 if case.steps else 0)


UNKNOWN_MODEL = "the model 'nope' does not exist or is not served here"


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("surface", SURFACES)
def test_an_unknown_model_is_a_404(standing: Callable[..., Flask], surface: str, stream: bool) -> None:
    reply = asking.ask(standing(), surface, stream=stream, model="nope")

    assert reply.status_code == 404
    field_first = f"model: {UNKNOWN_MODEL}"
    problem = {CHAT: UNKNOWN_MODEL, RESPONSES: UNKNOWN_MODEL}.get(surface, field_first)
    expected = body(surface, NOT_FOUND, problem, request_id=reply.headers["x-request-id"])
    if surface in (CHAT, RESPONSES):
        expected["error"] |= {"message": UNKNOWN_MODEL.capitalize() + ".", "param": "model"}
    assert reply.json == expected
    assert_headers(reply, None, {})


@pytest.mark.parametrize(
    ("surface", "url"),
    [
        (CHAT, "/v1/chat/nothing"),
        (CHAT, "/v1/embeddings"),
        (RESPONSES, "/v1/responses/a/b/c"),
        (MESSAGES, "/v1/messages/batches"),
        (GENERATE, "/v1beta/files"),
    ],
)
def test_an_unknown_path_is_a_404(standing: Callable[..., Flask], surface: str, url: str) -> None:
    reply = standing().test_client().post(url, data=b"{")

    request_id = reply.headers["x-request-id"]
    assert reply.status_code == 404
    assert reply.json == body(surface, UNKNOWN_URL, f"there is no POST {url} here", request_id=request_id)
    assert_headers(reply, None, {})


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("surface", SURFACES)
def test_a_defect_is_a_500_that_tells_nothing(
    make_app: Callable[..., Flask],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    surface: str,
    stream: bool,
) -> None:
    app = make_app()

    def broken(*_: object) -> None:
        raise ZeroDivisionError("secret of the inside")

    monkeypatch.setattr(of(app).services.catalogue, "resolve", broken, raising=True)
    reply = asking.ask(app, surface, stream=stream)

    problem = "an internal error occurred; the request id finds it in the log"
    request_id = reply.headers["x-request-id"]
    assert reply.status_code == 500
    assert reply.json == body(surface, INTERNAL, problem, request_id=request_id)
    assert_headers(reply, None, {})
    log = capsys.readouterr().err
    assert request_id in log
    assert "secret of the inside" in log


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("surface", SURFACES)
def test_a_server_that_drains_says_when_to_come_back(
    make_app: Callable[..., Flask], fake: FakeUpstream, surface: str, stream: bool
) -> None:
    app = make_app()
    of(app).services.drain.begin()

    reply = asking.ask(app, surface, stream=stream)

    problem = "this server is shutting down; try again"
    request_id = reply.headers["x-request-id"]
    assert reply.status_code == DRAINING.status(surface)
    assert reply.json == body(surface, DRAINING, problem, wait_s=5, request_id=request_id)
    assert_headers(reply, 5, {})
    assert fake.captures() == []


@pytest.fixture
def nobody() -> Iterator[str]:
    """The URL of a port where nobody listens."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("surface", SURFACES)
def test_an_upstream_that_is_down_is_a_502_and_a_permanent_fault_is_itself_all_the_same(
    make_app: Callable[..., Flask], nobody: str, surface: str, stream: bool
) -> None:
    app = make_app(DEVIN_CONNECT_BASE_URL=nobody, CANDOR_MAX_BODY_MB="1", CANDOR_LOG_LEVEL="ERROR")

    reply = asking.ask(app, surface, stream=stream)

    problem = "the upstream could not be reached"
    request_id = reply.headers["x-request-id"]
    assert reply.status_code == 502
    assert reply.json == body(surface, FAILED, problem, request_id=request_id)
    assert nobody.removeprefix("http://") not in reply.text
    assert asking.ask(app, surface, stream=stream, model="nope").status_code == 404
    for data, status in ((b"{", 400), (b" " * (1 << 20) + b"{}", 413)):
        url = path(surface, stream=stream)
        assert app.test_client().post(url, data=data).status_code == status
