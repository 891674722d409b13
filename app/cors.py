"""Answers to OPTIONS, and what browsers must be told before a page of another origin may call Candor.

Nothing is told unless CANDOR_CORS_ORIGINS is set. Keys travel in headers, so no reply ever allows credentials.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from flask import Flask, Response, request
from werkzeug.datastructures import Headers

METHODS = "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT"
"""Every method, wherever it is served: a page shall see the 404 or 405 itself, not a failed preflight."""

REQUEST_HEADERS = (
    "authorization",
    "x-api-key",
    "x-goog-api-key",
    "x-goog-api-client",
    "anthropic-version",
    "anthropic-beta",
    "anthropic-dangerous-direct-browser-access",
    "content-type",
    "content-encoding",
    "prefer",
    "x-stainless-arch",
    "x-stainless-helper-method",
    "x-stainless-lang",
    "x-stainless-os",
    "x-stainless-package-version",
    "x-stainless-retry-count",
    "x-stainless-runtime",
    "x-stainless-runtime-version",
    "x-stainless-timeout",
)
"""Headers that real clients send; whatever else a preflight asks for is allowed too."""

EXPOSED_HEADERS = (
    "x-request-id",
    "request-id",
    "retry-after",
    "x-should-retry",
    "x-candor-ignored",
    "x-candor-emulated",
    "preference-applied",
)
"""Headers of replies that a page may read."""

PREFLIGHT_AGE_S = 3600
_MOST_HEADERS = 100
_TOKEN = re.compile(r"[a-z0-9!#$%&'*+.^_`|~-]{1,100}")


def install(app: Flask, origins: Collection[str]) -> None:
    """Answer OPTIONS everywhere, and tell browsers that pages of ``origins`` (or ``*``) may call ``app``."""

    @app.before_request
    def options() -> Response | None:
        if request.method != "OPTIONS":
            return None
        preflight = _allowed(origins) is not None and "Access-Control-Request-Method" in request.headers
        if request.routing_exception is not None and not preflight:
            return None
        response = Response(status=204)
        del response.headers["Content-Type"]
        if request.routing_exception is None:
            response.headers["Allow"] = ", ".join(sorted(allowed_methods(app)))
        if preflight:
            _answer_preflight(response.headers)
        return response

    @app.after_request
    def tell_browser(response: Response) -> Response:
        if not origins:
            return response
        if "*" not in origins:
            response.vary.add("Origin")
        allowed = _allowed(origins)
        if allowed is not None:
            response.headers["Access-Control-Allow-Origin"] = allowed
            if "Access-Control-Allow-Methods" not in response.headers:
                response.headers["Access-Control-Expose-Headers"] = ", ".join(EXPOSED_HEADERS)
        return response


def allowed_methods(app: Flask) -> set[str]:
    """The methods that the path of the current request is served by."""
    adapter = app.create_url_adapter(request)
    return set() if adapter is None else set(adapter.allowed_methods())


def _allowed(origins: Collection[str]) -> str | None:
    """The value of Access-Control-Allow-Origin for the current request, None for no such header."""
    origin = request.headers.get("Origin")
    if origin is None:
        return None
    return "*" if "*" in origins else origin if origin in origins else None


def _answer_preflight(headers: Headers) -> None:
    asked = request.headers.get("Access-Control-Request-Headers", "").lower().split(",")
    valid = [name for name in map(str.strip, asked) if _TOKEN.fullmatch(name)]
    headers["Access-Control-Allow-Methods"] = METHODS
    headers["Access-Control-Allow-Headers"] = ", ".join(
        dict.fromkeys((*REQUEST_HEADERS, *valid[:_MOST_HEADERS]))
    )
    headers["Access-Control-Max-Age"] = str(PREFLIGHT_AGE_S)
