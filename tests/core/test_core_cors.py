from __future__ import annotations

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

LISTED = "https://app.example"
SWITCH = f"{LISTED},http://localhost:3000"
CORS_HEADERS = (
    "Access-Control-Allow-Origin",
    "Access-Control-Allow-Methods",
    "Access-Control-Allow-Headers",
    "Access-Control-Expose-Headers",
    "Access-Control-Max-Age",
    "Access-Control-Allow-Credentials",
)
EXPOSED = ", ".join(
    [
        "x-request-id",
        "request-id",
        "retry-after",
        "x-should-retry",
        "x-candor-ignored",
        "x-candor-emulated",
        "preference-applied",
    ]
)
PATHS = [
    "/v1/chat/completions",
    "/v1/responses",
    "/v1/messages",
    "/v1beta/models/m:generateContent",
    "/v1/models",
]
TURN = {"model": "local-echo", "messages": [{"role": "user", "content": "hi"}]}


@pytest.fixture
def cors_client(client_of: Callable[..., FlaskClient]) -> Callable[..., FlaskClient]:
    """A client of an app with these CANDOR_CORS_ORIGINS."""
    return lambda origins="", **switches: client_of(CANDOR_CORS_ORIGINS=origins, **switches)


def preflight(client: FlaskClient, path: str, origin: str = LISTED, asked: str | None = None) -> TestResponse:
    headers = {"Origin": origin, "Access-Control-Request-Method": "POST"}
    if asked is not None:
        headers["Access-Control-Request-Headers"] = asked
    return client.options(path, headers=headers)


def cors_headers(reply: TestResponse) -> list[str]:
    return [name for name in CORS_HEADERS if name in reply.headers]


# Off


@pytest.mark.parametrize("path", PATHS)
def test_without_the_switch_no_page_is_told_anything(
    cors_client: Callable[..., FlaskClient], path: str
) -> None:
    client = cors_client()
    for reply in (preflight(client, path), client.get(path, headers={"Origin": LISTED})):
        assert cors_headers(reply) == []
        assert "Vary" not in reply.headers


def test_without_the_switch_a_foreign_origin_is_refused_on_loopback(
    cors_client: Callable[..., FlaskClient],
) -> None:
    assert cors_client().get("/v1/models", headers={"Origin": LISTED}).status_code == 401


# Preflights


@pytest.mark.parametrize("path", [*PATHS, "/v1/models/m", "/v1/messages/count_tokens", "/v1/nowhere"])
@pytest.mark.parametrize(("switch", "allowed"), [(SWITCH, LISTED), ("*", "*")])
def test_a_preflight_of_an_allowed_origin_is_answered_on_every_path(
    cors_client: Callable[..., FlaskClient], path: str, switch: str, allowed: str
) -> None:
    reply = preflight(cors_client(switch), path)
    assert (reply.status_code, reply.data) == (204, b"")
    assert reply.headers["Access-Control-Allow-Origin"] == allowed
    assert reply.headers["Access-Control-Allow-Methods"] == "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT"
    assert reply.headers["Access-Control-Max-Age"] == "3600"
    assert "Content-Type" not in reply.headers


def test_a_preflight_needs_no_key(cors_client: Callable[..., FlaskClient]) -> None:
    assert preflight(cors_client(SWITCH, CANDOR_API_KEYS="right"), "/v1/messages").status_code == 204


@pytest.mark.parametrize(
    "header",
    [
        "authorization",
        "x-api-key",
        "x-goog-api-key",
        "x-goog-api-client",
        "anthropic-version",
        "anthropic-beta",
        "anthropic-dangerous-direct-browser-access",
        "content-type",
        "content-encoding",
        "prefer",
        "x-stainless-lang",
        "x-stainless-timeout",
    ],
)
def test_a_preflight_allows_what_real_clients_send(
    cors_client: Callable[..., FlaskClient], header: str
) -> None:
    assert header in preflight(cors_client(SWITCH), "/v1/messages").headers[
        "Access-Control-Allow-Headers"
    ].split(", ")


def test_a_preflight_allows_what_it_asks_for(cors_client: Callable[..., FlaskClient]) -> None:
    reply = preflight(cors_client(SWITCH), "/v1/messages", asked="X-Stainless-New,x-app , Authorization")
    allowed = reply.headers["Access-Control-Allow-Headers"].split(", ")
    assert allowed[-2:] == ["x-stainless-new", "x-app"]
    assert allowed.count("authorization") == 1


@pytest.mark.parametrize("asked", ["bad header", "x:y", "", ",", "x" * 101, "é", '"x"'])
def test_a_preflight_does_not_repeat_what_is_no_header_name(
    cors_client: Callable[..., FlaskClient], asked: str
) -> None:
    client = cors_client(SWITCH)
    plain = preflight(client, "/v1/messages").headers["Access-Control-Allow-Headers"]
    assert preflight(client, "/v1/messages", asked=asked).headers["Access-Control-Allow-Headers"] == plain


def test_a_preflight_repeats_only_so_many_names(cors_client: Callable[..., FlaskClient]) -> None:
    asked = ",".join(f"x-{number}" for number in range(1000))
    allowed = preflight(cors_client(SWITCH), "/v1/messages", asked=asked).headers[
        "Access-Control-Allow-Headers"
    ]
    assert "x-99" in allowed
    assert "x-100" not in allowed


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "http://app.example", f"{LISTED}:444", "null", ""]
)
def test_a_preflight_of_another_origin_is_told_nothing(
    cors_client: Callable[..., FlaskClient], origin: str
) -> None:
    reply = preflight(cors_client(SWITCH), "/v1/messages", origin)
    assert (reply.status_code, cors_headers(reply)) == (204, [])
    assert reply.headers["Vary"] == "Origin"


# Replies


def test_a_reply_tells_its_origin_and_exposes_what_clients_read(
    cors_client: Callable[..., FlaskClient],
) -> None:
    reply = cors_client(SWITCH).post("/v1/chat/completions", json=TURN, headers={"Origin": LISTED})
    assert reply.status_code == 200
    assert reply.headers["Access-Control-Allow-Origin"] == LISTED
    assert reply.headers["Access-Control-Expose-Headers"] == EXPOSED
    assert reply.headers["Vary"] == "Origin"
    assert "Access-Control-Allow-Credentials" not in reply.headers


def test_a_stream_tells_them_too(cors_client: Callable[..., FlaskClient]) -> None:
    reply = cors_client(SWITCH).post(
        "/v1/chat/completions", json={**TURN, "stream": True}, headers={"Origin": LISTED}
    )
    assert reply.content_type.startswith("text/event-stream")
    assert reply.headers["Access-Control-Allow-Origin"] == LISTED
    assert reply.data.endswith(b"data: [DONE]\n\n")


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/v1/chat/completions", b"{", 400),
        ("POST", "/v1/messages", b"[]", 400),
        ("POST", "/v1/responses", b'{"model":"nope","input":"hi"}', 404),
        ("GET", "/v1beta/models/nope", b"", 404),
        ("GET", "/v1/nowhere", b"", 404),
        ("GET", "/v1/messages", b"", 405),
    ],
)
def test_faults_carry_the_headers_too(
    cors_client: Callable[..., FlaskClient], method: str, path: str, body: bytes, status: int
) -> None:
    reply = cors_client(SWITCH).open(path, method=method, data=body, headers={"Origin": LISTED})
    assert reply.status_code == status
    assert reply.headers["Access-Control-Allow-Origin"] == LISTED
    assert reply.headers["Access-Control-Expose-Headers"] == EXPOSED


def test_a_401_carries_the_headers_too(cors_client: Callable[..., FlaskClient]) -> None:
    reply = cors_client("*", CANDOR_API_KEYS="right").post(
        "/v1/messages", json={}, headers={"Origin": LISTED}
    )
    assert (reply.status_code, reply.headers["Access-Control-Allow-Origin"]) == (401, "*")


def test_with_a_star_no_reply_depends_on_its_origin(cors_client: Callable[..., FlaskClient]) -> None:
    reply = cors_client("*", CANDOR_API_KEYS="right").get(
        "/v1/models", headers={"Origin": "https://any.example", "x-api-key": "right"}
    )
    assert (reply.status_code, reply.headers["Access-Control-Allow-Origin"]) == (200, "*")
    assert "Vary" not in reply.headers


def test_a_request_without_an_origin_is_told_only_that_replies_vary(
    cors_client: Callable[..., FlaskClient],
) -> None:
    reply = cors_client(SWITCH).get("/v1/models")
    assert (reply.status_code, cors_headers(reply), reply.headers["Vary"]) == (200, [], "Origin")


def test_another_origin_with_a_key_is_served_but_its_page_is_told_nothing(
    cors_client: Callable[..., FlaskClient],
) -> None:
    client = cors_client(SWITCH, CANDOR_API_KEYS="right")
    reply = client.get("/v1/models", headers={"Origin": "https://evil.example", "x-api-key": "right"})
    assert (reply.status_code, cors_headers(reply)) == (200, [])


# The loopback rule


@pytest.mark.parametrize(
    ("switch", "origin", "status"),
    [
        (SWITCH, LISTED, 200),
        (SWITCH, "http://localhost:3000", 200),
        (SWITCH, "https://evil.example", 401),
        ("*", LISTED, 401),
        ("*", "http://localhost:3000", 200),
    ],
)
def test_without_keys_an_origin_is_served_when_it_is_listed_by_name(
    cors_client: Callable[..., FlaskClient], switch: str, origin: str, status: int
) -> None:
    client = cors_client(switch)
    assert client.get("/v1/models", headers={"Origin": origin}).status_code == status
    assert client.post("/v1/chat/completions", json=TURN, headers={"Origin": origin}).status_code == status


@pytest.mark.parametrize("switch", [SWITCH, "*"])
def test_operator_pages_are_not_for_pages_of_other_machines(
    cors_client: Callable[..., FlaskClient], switch: str
) -> None:
    assert cors_client(switch).get("/metrics", headers={"Origin": LISTED}).status_code == 401
