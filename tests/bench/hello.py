"""The least that a WSGI app can do: the floor under gunicorn that the ratios are taken from."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tests.bench.answers import CASES

BODY = b"~" * CASES["whole"].events


def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Reads the request and says as many events as a real answer would have."""
    environ["wsgi.input"].read()
    start_response("200 OK", [("content-type", "text/plain"), ("content-length", str(len(BODY)))])
    return [BODY]
