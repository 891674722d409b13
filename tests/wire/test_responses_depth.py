"""A schema as deep as the upstream can be given is served, echo and all."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from fake_upstream import FakeUpstream

DEEPEST = 254
"""Levels of JSON that can be written to the upstream."""


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(levels - 1):
        schema = {"not": schema}
    return schema


def asked(app: Flask, levels: int, stream: bool) -> Any:
    tool = {"type": "function", "name": "f", "parameters": nested(levels)}
    body = {"model": "fake-echo", "input": "hi", "stream": stream, "tools": [tool]}
    return app.test_client().post("/v1/responses", data=json.dumps(body), content_type="application/json")


@pytest.mark.parametrize("stream", [False, True])
def test_the_deepest_schema_is_served(
    make_app: Callable[..., Flask], fake: FakeUpstream, stream: bool
) -> None:
    reply = asked(make_app(), DEEPEST, stream)
    assert reply.status_code == 200
    [*_, last] = [line for line in reply.text.splitlines() if line.startswith(("data: {", "{"))]
    told = json.loads(last.removeprefix("data: "))
    assert told.get("response", told)["tools"][0]["parameters"] == nested(DEEPEST)
    [capture] = fake.captures()
    assert json.loads(capture["message"]["tools"][0]["parameters"]) == nested(DEEPEST)


def test_one_level_more_is_a_400_before_any_turn(make_app: Callable[..., Flask], fake: FakeUpstream) -> None:
    reply = asked(make_app(), DEEPEST + 1, False)
    assert (reply.status_code, reply.get_json()["error"]["param"]) == (400, "tools[0].parameters")
    assert fake.captures() == []
