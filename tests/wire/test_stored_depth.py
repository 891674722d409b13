"""What was kept is read again, however deep the caller's own values in it are."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

DEPTHS = range(246, 257)


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"a": value}
    return value


BODIES: dict[str, tuple[str, Callable[[Any], dict[str, Any]], tuple[str, ...]]] = {
    "a tool": (
        "/v1/responses",
        lambda value: {
            "input": "x",
            "tools": [{"type": "function", "name": "f", "parameters": value}],
        },
        ("", "?stream=true", "/input_items"),
    ),
    "an item": (
        "/v1/responses",
        lambda value: {"input": [{"role": "user", "content": "x", "zz": value}]},
        ("", "?stream=true", "/input_items"),
    ),
    "a part": (
        "/v1/responses",
        lambda value: {
            "input": [{"role": "user", "content": [{"type": "input_text", "text": "x", "zz": value}]}]
        },
        ("", "?stream=true", "/input_items"),
    ),
    "a choice": (
        "/v1/responses",
        lambda value: {
            "input": "x",
            "tools": [{"type": "function", "name": "f", "parameters": {}}],
            "tool_choice": {"type": "function", "name": "f", "zz": value},
        },
        ("", "?stream=true", "/input_items"),
    ),
    "a message": (
        "/v1/chat/completions",
        lambda value: {"store": True, "messages": [{"role": "user", "content": "x", "zz": value}]},
        ("", "/messages"),
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_what_was_kept_is_read_again_at_every_depth(make_app: Callable[..., Flask], name: str) -> None:
    path, body, reads = BODIES[name]
    client = make_app().test_client()
    statuses = set()
    for levels in DEPTHS:
        reply = client.post(
            path,
            data=json.dumps({"model": "fake-echo", **body(deep(levels))}),
            content_type="application/json",
        )
        assert reply.status_code in (200, 400), (levels, reply.text[:200])
        statuses.add(reply.status_code)
        if reply.status_code == 200:
            kept = reply.get_json().get("store", True) and client.get(f"{path}/{reply.get_json()['id']}")
            if kept and kept.status_code == 200:
                read = [client.get(f"{path}/{reply.get_json()['id']}{rest}") for rest in reads]
                assert [each.status_code for each in read] == [200] * len(reads), levels
                assert all(each.data for each in read)
            elif kept:
                assert kept.status_code == 404, levels
    assert 200 in statuses
