from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.datastructures import Headers

from app import create_app
from app.factory import of, surface_of_path
from app.settings import SettingsError

ANTHROPIC = {"anthropic-version": "2026-10-21"}
GOOGLE = {"x-goog-api-client": "google-genai-sdk/3.6.1"}


@pytest.fixture
def client(client_of: Callable[..., FlaskClient]) -> FlaskClient:
    return client_of()


# Start-up


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    monkeypatch.setenv("CANDOR_STATE_DIR", str(tmp_path / "var"))
    return monkeypatch


def logged(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_a_misspelt_switch_is_warned_about_in_one_line(
    environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    environment.setenv("CANDOR_HANDLNG", "secret-1")
    environment.setenv("DEVIN_CONNECT_TOKN", "secret-2")
    create_app()
    text = capsys.readouterr().err
    (line,) = [json.loads(line) for line in text.splitlines() if "unknown_switches" in line]
    assert line["level"] == "WARNING"
    assert line["names"] == ["CANDOR_HANDLNG", "DEVIN_CONNECT_TOKN"]
    assert "secret-" not in text


def test_switches_that_are_spelt_well_are_not_warned_about(
    environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    environment.setenv("CANDOR_HANDLING", "strict")
    create_app()
    assert [line["event"] for line in logged(capsys) if line["event"] == "unknown_switches"] == []


def test_a_bad_switch_of_the_environment_stops_the_start(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("CANDOR_HANDLING", "kind")
    with pytest.raises(SettingsError, match=r"^CANDOR_HANDLING='kind'"):
        create_app()


def test_two_apps_with_different_settings_live_in_one_process(make_app: Callable[..., Flask]) -> None:
    keyed, open_to_loopback = make_app(CANDOR_API_KEYS="right"), make_app()
    assert keyed.test_client().get("/v1/models").status_code == 401
    assert open_to_loopback.test_client().get("/v1/models").status_code == 200


@pytest.mark.parametrize("name", ["nonsense", "chat_completions:nonsense", "nowhere:seed"])
def test_a_strict_parameter_that_no_ledger_has_stops_the_start(
    make_app: Callable[..., Flask], name: str
) -> None:
    with pytest.raises(SettingsError, match=r"^CANDOR_STRICT_PARAMETERS="):
        make_app(CANDOR_STRICT_PARAMETERS=name)


# Whose words


@pytest.mark.parametrize(
    ("method", "path", "headers", "surface"),
    [
        ("GET", "/v1/chat/completions", {}, "chat_completions"),
        ("GET", "/v1/chat/completions", ANTHROPIC, "chat_completions"),
        ("GET", "/v1/responses/compact", ANTHROPIC, "responses"),
        ("GET", "/v1/messages/batches", {}, "messages"),
        ("GET", "/v1beta/files", {}, "generate_content"),
        ("POST", "/v1/models/m:embedContent", {}, "generate_content"),
        ("GET", "/v1/models/m:generateContent", {}, "generate_content"),
        ("GET", "/v1/models/ft:m", {}, "chat_completions"),
        ("GET", "/v1/models", {}, "chat_completions"),
        ("GET", "/v1/models", ANTHROPIC, "messages"),
        ("GET", "/v1/models", GOOGLE, "generate_content"),
        ("GET", "/v1/files", {}, "chat_completions"),
        ("GET", "/v1/files", ANTHROPIC, "messages"),
        ("GET", "/", {}, "chat_completions"),
    ],
)
def test_a_path_that_nobody_serves_is_answered_in_the_words_of_its_prefix_or_its_caller(
    method: str, path: str, headers: dict[str, str], surface: str
) -> None:
    assert surface_of_path(method, path, Headers(headers)) == surface


@pytest.mark.parametrize(
    ("path", "headers", "place", "value"),
    [
        ("/v1/embeddings", {}, ("error", "code"), "unknown_url"),
        ("/v1/responses/compact/x", {}, ("error", "code"), "unknown_url"),
        ("/v1/messages/batches", {}, ("error", "type"), "not_found_error"),
        ("/v1/files", ANTHROPIC, ("error", "type"), "not_found_error"),
        ("/v1beta/files", {}, ("error", "status"), "NOT_FOUND"),
        ("//v1/models", {}, ("error", "code"), "unknown_url"),
        ("/v1//models", {}, ("error", "code"), "unknown_url"),
        ("/v1/models/", {}, ("error", "code"), "unknown_url"),
        ("/v1/chat/completions/", {}, ("error", "code"), "unknown_url"),
    ],
)
def test_an_unknown_path_is_a_404_in_those_words(
    client: FlaskClient, path: str, headers: dict[str, str], place: tuple[str, str], value: str
) -> None:
    reply = client.get(path, headers=headers)
    assert (reply.status_code, reply.content_type) == (404, "application/json")
    assert reply.json[place[0]][place[1]] == value
    assert reply.headers["x-should-retry"] == "false"


# Methods

ROUTES = [
    ("/v1/chat/completions", "GET, HEAD, OPTIONS, POST", ("error", "type"), "invalid_request_error"),
    (
        "/v1/chat/completions/chatcmpl-1",
        "DELETE, GET, HEAD, OPTIONS, POST",
        ("error", "type"),
        "invalid_request_error",
    ),
    (
        "/v1/chat/completions/chatcmpl-1/messages",
        "GET, HEAD, OPTIONS",
        ("error", "type"),
        "invalid_request_error",
    ),
    ("/v1/responses", "OPTIONS, POST", ("error", "type"), "invalid_request_error"),
    ("/v1/responses/resp_1", "DELETE, GET, HEAD, OPTIONS", ("error", "type"), "invalid_request_error"),
    ("/v1/responses/resp_1/input_items", "GET, HEAD, OPTIONS", ("error", "type"), "invalid_request_error"),
    ("/v1/responses/resp_1/cancel", "OPTIONS, POST", ("error", "type"), "invalid_request_error"),
    ("/v1/responses/input_tokens", "OPTIONS, POST", ("error", "type"), "invalid_request_error"),
    ("/v1/messages", "OPTIONS, POST", ("error", "type"), "invalid_request_error"),
    ("/v1/messages/count_tokens", "OPTIONS, POST", ("error", "type"), "invalid_request_error"),
    ("/v1beta/models/m:generateContent", "OPTIONS, POST", ("error", "status"), "INVALID_ARGUMENT"),
    ("/v1/models/m:streamGenerateContent", "OPTIONS, POST", ("error", "status"), "INVALID_ARGUMENT"),
    ("/v1/models/vendor/m:countTokens", "OPTIONS, POST", ("error", "status"), "INVALID_ARGUMENT"),
    ("/v1/models", "GET, HEAD, OPTIONS", ("error", "type"), "invalid_request_error"),
    ("/v1/models/m", "GET, HEAD, OPTIONS", ("error", "type"), "invalid_request_error"),
    ("/v1beta/models", "GET, HEAD, OPTIONS", ("error", "status"), "INVALID_ARGUMENT"),
    ("/v1beta/models/m", "GET, HEAD, OPTIONS", ("error", "status"), "INVALID_ARGUMENT"),
    ("/healthz", "GET, HEAD, OPTIONS", ("error", "type"), "invalid_request_error"),
    ("/metrics", "GET, HEAD, OPTIONS", ("error", "type"), "invalid_request_error"),
]


@pytest.mark.parametrize(("path", "allow"), [route[:2] for route in ROUTES])
def test_options_tells_the_methods_of_every_route_without_a_key(
    client_of: Callable[..., FlaskClient], path: str, allow: str
) -> None:
    reply = client_of(CANDOR_API_KEYS="right").options(path)
    assert (reply.status_code, reply.data) == (204, b"")
    assert reply.headers["Allow"] == allow
    assert "Content-Type" not in reply.headers
    assert reply.headers["x-request-id"] == reply.headers["request-id"]


@pytest.mark.parametrize(("path", "allow", "place", "value"), ROUTES)
def test_a_wrong_method_is_a_405_that_lists_the_right_ones_in_the_surfaces_words(
    client: FlaskClient, path: str, allow: str, place: tuple[str, str], value: str
) -> None:
    reply = client.put(path)
    assert (reply.status_code, reply.content_type) == (405, "application/json")
    assert reply.headers["Allow"] == allow
    assert reply.json[place[0]][place[1]] == value
    assert f"PUT is not allowed here; allowed: {allow}" in reply.json["error"]["message"]
    assert reply.headers["x-should-retry"] == "false"


def test_options_of_an_unknown_path_is_a_404(client: FlaskClient) -> None:
    assert client.options("/v1/nowhere").status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        "/v1/models",
        "/v1/models/fake-echo",
        "/v1beta/models",
        "/v1beta/models/fake-echo",
        "/healthz",
        "/readyz",
    ],
)
def test_head_says_what_get_says_without_the_body(client: FlaskClient, path: str) -> None:
    head, get = client.head(path), client.get(path)
    assert (head.status_code, head.data) == (200, b"")
    assert head.content_type == get.content_type
    assert head.headers["Content-Length"] == str(len(get.data))


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/responses", "/v1beta/models/m:generateContent"])
def test_head_of_a_route_that_only_takes_posts_is_a_405_without_a_body(
    client: FlaskClient, path: str
) -> None:
    reply = client.head(path)
    assert (reply.status_code, reply.data, reply.headers["Allow"]) == (405, b"", "OPTIONS, POST")


def test_head_wants_a_key_where_get_does(make_app: Callable[..., Flask]) -> None:
    reply = make_app(CANDOR_API_KEYS="right").test_client().head("/v1/models")
    assert (reply.status_code, reply.data) == (401, b"")


# Defects


@pytest.mark.parametrize(
    ("path", "place", "value"),
    [
        ("/v1/chat/broken", ("error", "type"), "server_error"),
        ("/v1/responses/broken", ("error", "type"), "server_error"),
        ("/v1/messages/broken", ("error", "type"), "api_error"),
        ("/v1beta/broken", ("error", "status"), "INTERNAL"),
    ],
)
def test_a_defect_is_a_500_in_the_surfaces_words_that_tells_nothing_of_the_inside(
    app: Flask, path: str, place: tuple[str, str], value: str
) -> None:
    @app.get(path)
    def broken() -> None:
        raise RuntimeError("secret of the inside")

    reply = app.test_client().get(path)
    assert (reply.status_code, reply.content_type) == (500, "application/json")
    assert reply.json[place[0]][place[1]] == value
    assert b"secret" not in reply.data


def test_readyz_is_a_503_while_the_server_drains(app: Flask) -> None:
    of(app).services.drain.begin()
    reply = app.test_client().get("/readyz")
    assert (reply.status_code, reply.json) == (503, {"status": "shutting down"})
