"""Short words for tests of kept responses over HTTP."""

from __future__ import annotations

import json
from typing import Any

import requests
from openai import OpenAI
from openai.types.responses import Response, ResponseStreamEvent

from tests.support import strict


def sdk(url: str, key: str = "k") -> OpenAI:
    return OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0, _strict_response_validation=True)


def create(url: str, headers: dict[str, str] | None = None, **body: Any) -> requests.Response:
    request = {"model": "fake-echo", "input": "hi", **body}
    return requests.post(f"{url}/v1/responses", json=request, headers=headers, timeout=10)


def created(url: str, headers: dict[str, str] | None = None, **body: Any) -> dict[str, Any]:
    reply = create(url, headers, **body)
    assert reply.status_code == 200, reply.text
    strict.check(Response, reply.text)
    said: dict[str, Any] = reply.json()
    return said


def get(url: str, path: str, headers: dict[str, str] | None = None, **query: Any) -> requests.Response:
    return requests.get(f"{url}/v1/responses/{path}", headers=headers, params=query, timeout=10)


def fault(reply: requests.Response) -> tuple[int, str | None, str | None]:
    """(status, param, code)"""
    said = reply.json()["error"]
    return reply.status_code, said["param"], said["code"]


def events(reply: requests.Response) -> list[dict[str, Any]]:
    """Events, each checked as the SDK would have it."""
    assert reply.headers["content-type"] == "text/event-stream; charset=utf-8"
    found = []
    for frame in reply.text.removesuffix("\n\n").split("\n\n"):
        name, _, data = frame.partition("\ndata: ")
        strict.check_event(ResponseStreamEvent, data)
        found.append(json.loads(data))
        assert name == f"event: {found[-1]['type']}"
    return found
