"""Labels on both surfaces: what fits, what does not, and where they come back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import requests

from app.factory import of
from app.stores.entries import ENTRY_OVERHEAD
from app.stores.entries_sqlite import SqliteEntries
from app.stores.shelf import bounds_of
from tests.support.servers import in_thread

ASKS: dict[str, dict[str, Any]] = {
    "responses": {"model": "fake-echo", "input": "hi", "store": True},
    "chat/completions": {
        "model": "fake-echo",
        "messages": [{"role": "user", "content": "hi"}],
        "store": True,
    },
}
FITS: list[dict[str, str]] = [
    {},
    {f"key {number}": "v" for number in range(16)},
    {"k" * 64: "v" * 512},
    {"ü" * 64: "漢" * 512},
    {"😀" * 64: "😀" * 512},
    {"": "", "with.dots [and] brackets": "a\nb"},
]
EXCEEDS: list[tuple[Any, str]] = [
    ({f"key {number}": "v" for number in range(17)}, "metadata"),
    ({"k" * 65: "v"}, "metadata"),
    ({"ü" * 65: "v"}, "metadata"),
    ({"k": "v" * 513}, "metadata.k"),
    ({"k": "漢" * 513}, "metadata.k"),
    ({"a": "b", "k": 1}, "metadata.k"),
    ({"k": True}, "metadata.k"),
    ({"k": None}, "metadata.k"),
    ({"k": ["v"]}, "metadata.k"),
    (["k"], "metadata"),
    ("k", "metadata"),
]


@pytest.fixture
def url(serve: Callable[..., str]) -> str:
    return serve()


def post(url: str, path: str, **body: Any) -> requests.Response:
    return requests.post(f"{url}/v1/{path}", json={**ASKS[path], **body}, timeout=10)


@pytest.mark.parametrize("path", ASKS)
@pytest.mark.parametrize("labels", FITS)
def test_labels_within_the_limits_are_kept_and_come_back(url: str, path: str, labels: dict[str, str]) -> None:
    said = post(url, path, metadata=labels).json()
    assert said["metadata"] == labels
    assert requests.get(f"{url}/v1/{path}/{said['id']}", timeout=10).json()["metadata"] == labels


@pytest.mark.parametrize("path", ASKS)
@pytest.mark.parametrize(("labels", "param"), EXCEEDS)
def test_labels_beyond_the_limits_are_named(url: str, path: str, labels: Any, param: str) -> None:
    reply = post(url, path, metadata=labels)
    assert (reply.status_code, reply.json()["error"]["param"]) == (400, param)


def test_labels_count_in_the_bytes(make_app: Callable[..., Any]) -> None:
    app = make_app()
    settings = of(app).settings
    with in_thread(app) as url:
        for path in ASKS:
            before = usage_of(settings)
            post(url, path)
            plain = usage_of(settings) - before
            before = usage_of(settings)
            post(url, path, metadata={f"{number}": "漢" * 500 + str(number) * 6 for number in range(10, 26)})
            # compressed inside a response, as they are beside a completion
            assert usage_of(settings) - before > plain + (16 * 1500 if path == "chat/completions" else 40)
            assert plain > ENTRY_OVERHEAD


def usage_of(settings: Any) -> int:
    from pathlib import Path

    path = Path(settings.state_dir) / "candor-entries.sqlite3"
    entries = SqliteEntries(path, 1, bounds_of(settings))
    try:
        return entries.usage("loopback").bytes
    finally:
        entries.close()
