from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app import create_app
from app.settings import load

NAMES = ["m1", "m2", "m3", "m4", "vendor/m5"]
MODELS = "".join(f'[[model]]\nid = "{name}"\nupstream = "local"\n' for name in NAMES) + (
    'aliases = ["latest"]\ncontext_tokens = 1000\noutput_tokens = 100\nowner = "us"\n'
)
ANTHROPIC = {"anthropic-version": "2026-10-21"}
GOOGLE_KEY = {"x-goog-api-key": "any"}
GOOGLE_CLIENT = {"x-goog-api-client": "google-genai-sdk/3.6.1"}


@pytest.fixture(scope="module")
def make_client(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., FlaskClient]:
    """A client of an app with five models, of which the last has an alias and limits; made once for all tests."""
    folder = tmp_path_factory.mktemp("models")
    file = folder / "models.toml"
    file.write_text(MODELS)
    fixed = {"CANDOR_MODELS": str(file), "CANDOR_STATE_DIR": str(folder), "CANDOR_LOG_LEVEL": "ERROR"}
    clients: dict[tuple[tuple[str, str], ...], FlaskClient] = {}

    def make(**switches: str) -> FlaskClient:
        key = tuple(sorted(switches.items()))
        if key not in clients:
            clients[key] = create_app(load({**fixed, **switches})).test_client()
        return clients[key]

    return make


@pytest.fixture
def client(make_client: Callable[..., FlaskClient]) -> FlaskClient:
    return make_client()


def ids(reply: Any) -> list[str]:
    assert reply.status_code == 200
    if "models" in reply.json:
        return [model["name"].removeprefix("models/") for model in reply.json["models"]]
    return [model["id"] for model in reply.json["data"]]


# Whose shape


@pytest.mark.parametrize("path", ["/v1/models", "/v1/models?beta=true"])
def test_without_a_vendors_header_the_list_is_openais(client: FlaskClient, path: str) -> None:
    reply = client.get(path)
    assert reply.json["object"] == "list"
    assert reply.json["data"][0] == {
        "id": "m1",
        "object": "model",
        "created": 1764460800,
        "owned_by": "candor",
    }
    assert ids(reply) == NAMES


@pytest.mark.parametrize("version", ["2023-06-01", "2026-10-21", "anything"])
def test_with_any_anthropic_version_the_list_is_anthropics(client: FlaskClient, version: str) -> None:
    reply = client.get("/v1/models", headers={"anthropic-version": version})
    assert set(reply.json) == {"data", "has_more", "first_id", "last_id"}


@pytest.mark.parametrize("headers", [GOOGLE_KEY, GOOGLE_CLIENT])
def test_with_a_google_header_the_list_is_geminis(client: FlaskClient, headers: dict[str, str]) -> None:
    assert set(client.get("/v1/models", headers=headers).json) == {"models"}


@pytest.mark.parametrize("headers", [{}, ANTHROPIC, {"authorization": "Bearer any"}])
def test_under_v1beta_the_list_is_geminis_whatever_the_headers(
    client: FlaskClient, headers: dict[str, str]
) -> None:
    assert set(client.get("/v1beta/models", headers=headers).json) == {"models"}


def test_anthropics_version_goes_before_googles_headers(client: FlaskClient) -> None:
    assert "data" in client.get("/v1/models", headers={**ANTHROPIC, **GOOGLE_CLIENT}).json


# Single models


@pytest.mark.parametrize("name", ["vendor/m5", "latest"])
def test_openai_shows_one_model_by_id_or_alias(client: FlaskClient, name: str) -> None:
    reply = client.get(f"/v1/models/{name}")
    assert reply.json == {"id": "vendor/m5", "object": "model", "created": 1764460800, "owned_by": "us"}


@pytest.mark.parametrize("name", ["vendor/m5", "latest"])
def test_anthropic_shows_one_model_with_its_limits_and_lifecycle(client: FlaskClient, name: str) -> None:
    assert client.get(f"/v1/models/{name}", headers=ANTHROPIC).json == {
        "type": "model",
        "id": "vendor/m5",
        "display_name": "vendor/m5",
        "created_at": "2025-11-30T00:00:00Z",
        "lifecycle": "active",
        "deprecated_at": None,
        "retires_at": None,
        "line": None,
        "capabilities": None,
        "max_input_tokens": 1000,
        "max_tokens": 100,
    }


@pytest.mark.parametrize("path", ["/v1beta/models/vendor/m5", "/v1beta/models/latest"])
def test_gemini_shows_one_model_with_its_limits_and_methods(client: FlaskClient, path: str) -> None:
    assert client.get(path).json == {
        "name": "models/vendor/m5",
        "version": "1",
        "displayName": "vendor/m5",
        "inputTokenLimit": 1000,
        "outputTokenLimit": 100,
        "supportedGenerationMethods": ["generateContent", "streamGenerateContent", "countTokens"],
    }


def test_a_model_without_limits_shows_none(client: FlaskClient) -> None:
    assert "inputTokenLimit" not in client.get("/v1beta/models/m1").json
    shown = client.get("/v1/models/m1", headers=ANTHROPIC).json
    assert (shown["max_input_tokens"], shown["max_tokens"]) == (None, None)


def test_a_name_that_the_file_does_not_list_is_shown_where_such_names_are_forwarded(
    make_client: Callable[..., FlaskClient],
) -> None:
    client = make_client(CANDOR_UNKNOWN_MODELS="forward")
    assert client.get("/v1/models/new-model").json["id"] == "new-model"
    assert ids(client.get("/v1/models")) == NAMES


# Faults in the dialect


def test_openai_is_told_of_an_unknown_model_in_its_words(client: FlaskClient) -> None:
    reply = client.get("/v1/models/nope")
    assert reply.status_code == 404
    assert reply.json["error"] == {
        "message": "The model 'nope' does not exist or is not served here.",
        "type": "invalid_request_error",
        "param": "model",
        "code": "model_not_found",
    }
    assert reply.headers["x-should-retry"] == "false"


def test_anthropic_is_told_of_an_unknown_model_in_its_words(client: FlaskClient) -> None:
    reply = client.get("/v1/models/nope", headers=ANTHROPIC)
    assert reply.status_code == 404
    assert (reply.json["type"], reply.json["error"]["type"]) == ("error", "not_found_error")
    assert reply.json["request_id"] == reply.headers["request-id"] == reply.headers["x-request-id"]


@pytest.mark.parametrize(
    ("path", "headers"),
    [("/v1beta/models/nope", {}), ("/v1/models/nope", GOOGLE_KEY), ("/v1/models/a:b", GOOGLE_KEY)],
)
def test_gemini_is_told_of_an_unknown_model_in_its_words(
    client: FlaskClient, path: str, headers: dict[str, str]
) -> None:
    reply = client.get(path, headers=headers)
    assert reply.status_code == 404
    assert (reply.json["error"]["code"], reply.json["error"]["status"]) == (404, "NOT_FOUND")


def test_a_model_name_with_a_colon_is_looked_up_in_the_callers_dialect(client: FlaskClient) -> None:
    assert client.get("/v1/models/ft:m:org").json["error"]["code"] == "model_not_found"
    assert client.get("/v1/models/ft:m:org", headers=ANTHROPIC).json["error"]["type"] == "not_found_error"


@pytest.mark.parametrize(
    ("path", "headers", "place", "value"),
    [
        ("/v1/models", {}, ("error", "code"), "invalid_api_key"),
        ("/v1/models/m1", {}, ("error", "code"), "invalid_api_key"),
        ("/v1/models", ANTHROPIC, ("error", "type"), "authentication_error"),
        ("/v1/models/m1", ANTHROPIC, ("error", "type"), "authentication_error"),
        ("/v1/models", GOOGLE_KEY, ("error", "status"), "UNAUTHENTICATED"),
        ("/v1beta/models", {}, ("error", "status"), "UNAUTHENTICATED"),
        ("/v1beta/models/m1", {}, ("error", "status"), "UNAUTHENTICATED"),
        ("/v1beta/models/nope", {}, ("error", "status"), "UNAUTHENTICATED"),
    ],
)
def test_a_wrong_or_absent_key_is_a_401_in_the_dialect(
    make_client: Callable[..., FlaskClient],
    path: str,
    headers: dict[str, str],
    place: tuple[str, str],
    value: str,
) -> None:
    reply = make_client(CANDOR_API_KEYS="right").get(path, headers=headers)
    assert reply.status_code == 401
    assert reply.json[place[0]][place[1]] == value
    assert reply.headers["x-should-retry"] == "false"


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/v1/models", {"authorization": "Bearer right"}),
        ("/v1/models", {"x-api-key": "right", **ANTHROPIC}),
        ("/v1/models", {"x-goog-api-key": "right"}),
        ("/v1beta/models?key=right", {}),
        ("/v1beta/models/m1?key=right", {}),
        ("/v1/models?key=right", GOOGLE_CLIENT),
    ],
)
def test_the_right_key_is_taken_from_where_the_dialect_sends_it(
    make_client: Callable[..., FlaskClient], path: str, headers: dict[str, str]
) -> None:
    assert make_client(CANDOR_API_KEYS="right").get(path, headers=headers).status_code == 200


@pytest.mark.parametrize("headers", [{}, ANTHROPIC])
def test_a_key_in_the_query_is_taken_in_geminis_dialect_only(
    make_client: Callable[..., FlaskClient], headers: dict[str, str]
) -> None:
    assert (
        make_client(CANDOR_API_KEYS="right").get("/v1/models?key=right", headers=headers).status_code == 401
    )


def test_a_key_in_the_query_that_differs_from_the_header_is_refused(
    make_client: Callable[..., FlaskClient],
) -> None:
    client = make_client(CANDOR_API_KEYS="right,other")
    reply = client.get("/v1beta/models?key=other", headers={"x-goog-api-key": "right"})
    assert reply.status_code == 401


# Pages


def anthropic_page(client: FlaskClient, query: str) -> tuple[list[str], bool, str | None, str | None]:
    reply = client.get(f"/v1/models?{query}", headers=ANTHROPIC)
    return ids(reply), reply.json["has_more"], reply.json["first_id"], reply.json["last_id"]


@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("", (NAMES, False, "m1", "vendor/m5")),
        ("limit=2", (["m1", "m2"], True, "m1", "m2")),
        ("limit=5", (NAMES, False, "m1", "vendor/m5")),
        ("limit=1000", (NAMES, False, "m1", "vendor/m5")),
        ("limit=2&after_id=m2", (["m3", "m4"], True, "m3", "m4")),
        ("limit=2&after_id=m3", (["m4", "vendor/m5"], False, "m4", "vendor/m5")),
        ("after_id=vendor/m5", ([], False, None, None)),
        ("after_id=latest", ([], False, None, None)),
        ("limit=2&before_id=m4", (["m2", "m3"], True, "m2", "m3")),
        ("limit=2&before_id=m3", (["m1", "m2"], False, "m1", "m2")),
        ("before_id=m1", ([], False, None, None)),
        ("lifecycle[]=active", (NAMES, False, "m1", "vendor/m5")),
        ("lifecycle=deprecated&lifecycle=active", (NAMES, False, "m1", "vendor/m5")),
        ("lifecycle[]=retired", ([], False, None, None)),
        ("beta=true", (NAMES, False, "m1", "vendor/m5")),
    ],
)
def test_anthropics_pages(client: FlaskClient, query: str, page: tuple[Any, ...]) -> None:
    assert anthropic_page(client, query) == page


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("limit=0", "limit"),
        ("limit=1001", "limit"),
        ("limit=-1", "limit"),
        ("limit=two", "limit"),
        ("limit=", "limit"),
        ("limit=1&limit=2", "limit"),
        ("after_id=nope", "after_id"),
        ("after_id=", "after_id"),
        ("before_id=nope", "before_id"),
        ("after_id=m1&before_id=m3", "before_id"),
        ("lifecycle=young", "lifecycle"),
        ("lifecycle[]=retired&after_id=m1", "after_id"),
    ],
)
def test_anthropics_bad_pages_are_refused_by_name(client: FlaskClient, query: str, parameter: str) -> None:
    reply = client.get(f"/v1/models?{query}", headers=ANTHROPIC)
    assert (reply.status_code, reply.json["error"]["type"]) == (400, "invalid_request_error")
    assert reply.json["error"]["message"].startswith(f"{parameter}: ")


def test_geminis_pages_follow_their_tokens_to_the_end(client: FlaskClient) -> None:
    pages, token = [], ""
    while True:
        reply = client.get("/v1beta/models", query_string={"pageSize": "2", "pageToken": token})
        pages.append(ids(reply))
        token = reply.json.get("nextPageToken")
        if token is None:
            break
    assert pages == [["m1", "m2"], ["m3", "m4"], ["vendor/m5"]]


@pytest.mark.parametrize(
    "query", ["", "pageSize=0", "pageSize=5", "pageSize=5000", "page_size=50", "pageToken=", "alt=json"]
)
def test_geminis_list_is_whole_when_one_page_holds_it(client: FlaskClient, query: str) -> None:
    reply = client.get(f"/v1beta/models?{query}")
    assert ids(reply) == NAMES
    assert "nextPageToken" not in reply.json
    assert "x-candor-ignored" not in reply.headers


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("pageSize=-1", "pageSize"),
        ("pageSize=two", "pageSize"),
        ("pageSize=", "pageSize"),
        ("pageSize=1&page_size=1", "page_size"),
        ("pageToken=nope", "pageToken"),
        ("pageToken=!!!", "pageToken"),
        ("pageToken=%FF", "pageToken"),
        ("pageToken=bm9wZQ==", "pageToken"),
    ],
)
def test_geminis_bad_pages_are_refused_by_name(client: FlaskClient, query: str, parameter: str) -> None:
    reply = client.get(f"/v1beta/models?{query}")
    assert (reply.status_code, reply.json["error"]["status"]) == (400, "INVALID_ARGUMENT")
    assert reply.json["error"]["details"][0]["fieldViolations"][0]["field"] == parameter


# The promise, for query parameters


def test_a_query_parameter_that_means_nothing_here_is_ignored_and_said_so(client: FlaskClient) -> None:
    reply = client.get("/v1/models?limit=2&colour=red")
    assert ids(reply) == NAMES
    assert reply.headers["x-candor-ignored"] == "limit, colour"


def test_an_ignored_query_parameter_is_counted(app: Flask) -> None:
    client = app.test_client()
    client.get("/v1beta/models?filter=x")
    page = client.get("/connect-metrics").json
    assert page["parameters_ignored"] == {"catalogue": {"filter": 1}}


@pytest.mark.parametrize("path", ["/v1/models?colour=red", "/v1/models/m1?colour=red"])
def test_strict_handling_refuses_what_would_be_ignored(client: FlaskClient, path: str) -> None:
    reply = client.get(path, headers={"Prefer": "handling=strict"})
    assert (reply.status_code, reply.json["error"]["code"]) == (400, "unsupported_parameter")
    assert reply.json["error"]["param"] == "colour"
    assert reply.headers["Preference-Applied"] == "handling=strict"


def test_strict_handling_by_switch_yields_to_the_caller(make_client: Callable[..., FlaskClient]) -> None:
    client = make_client(CANDOR_HANDLING="strict")
    assert client.get("/v1/models?colour=red").status_code == 400
    reply = client.get("/v1/models?colour=red", headers={"Prefer": "handling=lenient"})
    assert (reply.status_code, reply.headers["Preference-Applied"]) == (200, "handling=lenient")


def test_every_reply_has_one_request_id_under_both_names(client: FlaskClient) -> None:
    for path in ("/v1/models", "/v1/models/nope", "/v1beta/models", "/healthz", "/metrics", "/nowhere"):
        headers = client.get(path).headers
        assert headers["x-request-id"] == headers["request-id"]
