"""A completion and a response that the fuzzed app keeps, so that requests get behind the lookup."""

from __future__ import annotations

from typing import Any

from flask import Flask

TEXTS = ("one", "two", "three")
KEPT: dict[str, tuple[str, dict[str, Any]]] = {
    "completion_id": (
        "/v1/chat/completions",
        {"store": True, "messages": [{"role": "user", "content": text} for text in TEXTS]},
    ),
    "response_id": (
        "/v1/responses",
        {"input": [{"id": f"msg_{text}", "role": "user", "content": text} for text in TEXTS]},
    ),
}
"""Path parameter -> where such an object is made, and of what."""


class Stored:
    """Ids of kept objects by the path parameter that takes them."""

    def __init__(self, app: Flask) -> None:
        self._client = app.test_client()
        self._ids: dict[str, str] = {}

    def id_of(self, parameter: str) -> str:
        """The id of an object that is there now: a new one if the last was deleted."""
        where, body = KEPT[parameter]
        if parameter in self._ids:
            status = self._client.get(f"{where}/{self._ids[parameter]}").status_code
            assert status in (200, 404)
            if status == 200:
                return self._ids[parameter]
        made = self._client.post(where, json={"model": "local-echo", "metadata": {"kept": "yes"}, **body})
        assert made.status_code == 200, made.data
        self._ids[parameter] = made.json["id"] if made.json else ""
        assert self._client.get(f"{where}/{self._ids[parameter]}").status_code == 200
        return self._ids[parameter]

    def place_in(self, parameter: str) -> str:
        """What ``after`` may be in the list of the messages or items of that object."""
        return "msg_two" if parameter == "response_id" else f"{self.id_of(parameter)}-1"

    def path(self, path: str) -> str:
        """``path`` with something that is there in the place of every parameter."""
        ids = {parameter: self.id_of(parameter) for parameter in KEPT if f"{{{parameter}}}" in path}
        return path.format(model="fake-echo", **ids)
