"""Keys, bodies and preferences through the whole app, on every surface that runs turns."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable
from typing import Any

import pytest
import zstandard
from flask.testing import FlaskClient

CHAT: dict[str, Any] = {"model": "local-echo", "messages": [{"role": "user", "content": "hi"}]}
RESPONSES: dict[str, Any] = {"model": "local-echo", "input": "hi"}
MESSAGES: dict[str, Any] = {"max_tokens": 100, **CHAT}
GEMINI: dict[str, Any] = {"contents": [{"parts": [{"text": "hi"}]}]}

TURNS = {
    "chat": ("/v1/chat/completions", CHAT, ("error", "code")),
    "responses": ("/v1/responses", RESPONSES, ("error", "code")),
    "messages": ("/v1/messages", MESSAGES, ("error", "type")),
    "count_tokens": ("/v1/messages/count_tokens", CHAT, ("error", "type")),
    "gemini": ("/v1beta/models/local-echo:generateContent", GEMINI, ("error", "status")),
    "gemini_v1": ("/v1/models/local-echo:streamGenerateContent", GEMINI, ("error", "status")),
}
CODINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}
JSON = {"Content-Type": "application/json"}


def places(turn: str) -> tuple[str, bytes, tuple[str, str]]:
    path, body, place = TURNS[turn]
    return path, json.dumps(body).encode(), place


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("coding", CODINGS)
def test_a_compressed_body_is_served(client_of: Callable[..., FlaskClient], turn: str, coding: str) -> None:
    path, body, _ = places(turn)
    reply = client_of().post(path, data=CODINGS[coding](body), headers={**JSON, "Content-Encoding": coding})
    assert reply.status_code == 200


@pytest.mark.parametrize("turn", TURNS)
def test_an_unknown_coding_is_a_415_that_lists_the_known_ones(
    client_of: Callable[..., FlaskClient], turn: str
) -> None:
    path, body, _ = places(turn)
    reply = client_of().post(path, data=body, headers={**JSON, "Content-Encoding": "br"})
    assert reply.status_code == 415
    assert reply.headers["Accept-Encoding"] == "gzip, deflate, zstd"
    assert reply.headers["x-should-retry"] == "false"


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("compressed", [True, False])
def test_a_body_beyond_the_bound_is_a_413_whether_it_is_long_or_becomes_so(
    client_of: Callable[..., FlaskClient], turn: str, compressed: bool
) -> None:
    path, _, _ = places(turn)
    body = b'{"text":"' + b"a" * (1 << 20) + b'"}'
    headers = {**JSON, "Content-Encoding": "gzip"} if compressed else JSON
    reply = client_of(CANDOR_MAX_BODY_MB="1").post(
        path, data=gzip.compress(body) if compressed else body, headers=headers
    )
    assert reply.status_code == 413
    assert "request body is larger than 1 MiB" in reply.json["error"]["message"]


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"not json"])
def test_a_body_that_is_no_object_is_a_400(
    client_of: Callable[..., FlaskClient], turn: str, body: bytes
) -> None:
    path, _, _ = places(turn)
    assert client_of().post(path, data=body, headers=JSON).status_code == 400


REFUSED = {
    "chat": "invalid_api_key",
    "responses": "invalid_api_key",
    "messages": "authentication_error",
    "count_tokens": "authentication_error",
    "gemini": "UNAUTHENTICATED",
    "gemini_v1": "UNAUTHENTICATED",
}


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize(
    "headers",
    [{}, {"x-api-key": "wrong"}, {"x-api-key": "right", "authorization": "Bearer other"}],
    ids=["none", "wrong", "two"],
)
def test_a_bad_key_is_a_401_in_the_surfaces_words_before_the_body_is_looked_at(
    client_of: Callable[..., FlaskClient], turn: str, headers: dict[str, str]
) -> None:
    path, _, place = places(turn)
    reply = client_of(CANDOR_API_KEYS="right,other").post(path, data=b"{", headers={**JSON, **headers})
    assert reply.status_code == 401
    assert reply.json[place[0]][place[1]] == REFUSED[turn]
    assert reply.headers["x-should-retry"] == "false"


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize(
    "headers", [{"authorization": "Bearer right"}, {"x-api-key": "right"}, {"x-goog-api-key": "right"}]
)
def test_every_surface_takes_the_key_from_every_header(
    client_of: Callable[..., FlaskClient], turn: str, headers: dict[str, str]
) -> None:
    path, body, _ = places(turn)
    reply = client_of(CANDOR_API_KEYS="right,other").post(path, data=body, headers={**JSON, **headers})
    assert reply.status_code == 200


@pytest.mark.parametrize(
    ("turn", "status"),
    [
        ("chat", 401),
        ("responses", 401),
        ("messages", 401),
        ("count_tokens", 401),
        ("gemini", 200),
        ("gemini_v1", 200),
    ],
)
def test_a_key_in_the_query_is_taken_on_generate_content_paths_only(
    client_of: Callable[..., FlaskClient], turn: str, status: int
) -> None:
    path, body, _ = places(turn)
    reply = client_of(CANDOR_API_KEYS="right,other").post(f"{path}?key=right", data=body, headers=JSON)
    assert reply.status_code == status


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize(
    ("headers", "peer"),
    [
        ({}, "192.0.2.1"),
        ({"X-Forwarded-For": "127.0.0.1"}, "127.0.0.1"),
        ({"Forwarded": "for=127.0.0.1"}, "127.0.0.1"),
        ({"Origin": "https://evil.example"}, "127.0.0.1"),
        ({"Origin": "http://[::1"}, "127.0.0.1"),
    ],
)
def test_without_keys_only_direct_loopback_peers_are_served(
    client_of: Callable[..., FlaskClient], turn: str, headers: dict[str, str], peer: str
) -> None:
    path, body, _ = places(turn)
    reply = client_of().post(
        path, data=body, headers={**JSON, **headers}, environ_overrides={"REMOTE_ADDR": peer}
    )
    assert reply.status_code == 401


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("value", ["strict", "lenient"])
def test_a_preference_that_was_obeyed_is_confirmed(
    client_of: Callable[..., FlaskClient], turn: str, value: str
) -> None:
    path, body, _ = places(turn)
    headers = [("Prefer", "respond-async"), ("Prefer", f"Handling={value.upper()}"), *JSON.items()]
    reply = client_of().post(path, data=body, headers=headers)
    assert reply.status_code in (200, 400)
    assert reply.headers["Preference-Applied"] == f"handling={value}"


@pytest.mark.parametrize("turn", TURNS)
def test_a_preference_inside_quotes_is_not_obeyed(client_of: Callable[..., FlaskClient], turn: str) -> None:
    path, body, _ = places(turn)
    reply = client_of().post(path, data=body, headers={**JSON, "Prefer": 'note="a, handling=strict"'})
    assert reply.status_code == 200
    assert "Preference-Applied" not in reply.headers


@pytest.mark.parametrize("turn", TURNS)
def test_a_key_without_a_name_is_not_dropped_in_silence(
    client_of: Callable[..., FlaskClient], turn: str
) -> None:
    path, body, _ = places(turn)
    reply = client_of().post(path, data=body.replace(b"{", b'{"":1,', 1), headers=JSON)
    assert reply.status_code == 200
    assert reply.headers["x-candor-ignored"].split(", ")[0] == "%22%22"
