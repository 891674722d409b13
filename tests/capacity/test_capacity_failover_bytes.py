"""A turn that moves to another token is the same turn there: the same bytes, but for the token."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from fake_upstream import FakeUpstream
from fake_upstream import scenarios as s

TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
MODELS = '[[model]]\nid = "ours"\nupstream = "connect"\nselector = "fake-tools"\ntier = "free"\n'
BODY: dict[str, Any] = {
    "model": "ours",
    "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "go"}],
    "tools": [TOOL],
    "tool_choice": {"type": "function", "function": {"name": "look"}},
    "parallel_tool_calls": False,
    "temperature": 0.5,
}


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "stream"])
def test_the_second_token_gets_the_same_bytes_with_fields_11_and_12(
    make_app: Callable[..., Flask], fake: FakeUpstream, tmp_path: Path, streams: bool
) -> None:
    tokens = "".join(f'[[token]]\nname = "{name}"\nsecret = "secret-{name}"\n' for name in "ab")
    (tmp_path / "tokens.toml").write_text(tokens)
    (tmp_path / "models.toml").write_text(MODELS)
    app = make_app(
        DEVIN_CONNECT_TOKENS_FILE=str(tmp_path / "tokens.toml"),
        DEVIN_CONNECT_TOOL_CHOICE="1",
        CANDOR_MODELS=str(tmp_path / "models.toml"),
    )
    fake.queue([s.http_error(429, "resource_exhausted")])
    reply = app.test_client().post("/v1/chat/completions", json={**BODY, "stream": streams})
    assert reply.status_code == 200
    assert reply.data
    first, second = fake.captures()
    assert {first["token"], second["token"]} == {"secret-a", "secret-b"}
    assert second["message"]["model"] == "fake-tools"
    assert second["message"]["disable_parallel_tool_calls"] is True
    assert second["message"]["tool_choice"] == {"option_name": "function", "tool_name": "look"}
    without_token = [
        capture["raw_hex"].replace(capture["token"].encode().hex(), "") for capture in (first, second)
    ]
    assert without_token[0] == without_token[1]


@pytest.mark.parametrize(
    ("code", "status"),
    [("invalid_argument", 400), ("permission_denied", 403), ("not_found", 404), ("unavailable", 503)],
)
def test_what_is_not_about_the_token_or_its_connection_moves_nothing(
    make_app: Callable[..., Flask], fake: FakeUpstream, tmp_path: Path, code: str, status: int
) -> None:
    tokens = "".join(f'[[token]]\nname = "{name}"\nsecret = "secret-{name}"\n' for name in "ab")
    (tmp_path / "tokens.toml").write_text(tokens)
    app = make_app(DEVIN_CONNECT_TOKENS_FILE=str(tmp_path / "tokens.toml"))
    fake.queue([s.error(code, "because")])
    reply = app.test_client().post("/v1/chat/completions", json={**BODY, "model": "fake-tools"})
    assert reply.status_code == status
    assert len(fake.captures()) == 1
