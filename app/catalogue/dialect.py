"""Three SDKs share ``GET /v1/models``: whose shape and words does a request want?"""

from __future__ import annotations

from enum import Enum

from werkzeug.datastructures import Headers


class Dialect(Enum):
    """A vendor's shapes; the value names the surface that words its faults."""

    OPENAI = "chat_completions"
    ANTHROPIC = "messages"
    GEMINI = "generate_content"


def dialect_of(path: str, headers: Headers) -> Dialect:
    """The dialect of a model route."""
    if path.startswith("/v1beta"):
        return Dialect.GEMINI
    if "anthropic-version" in headers:
        return Dialect.ANTHROPIC
    if "x-goog-api-key" in headers or "x-goog-api-client" in headers:
        return Dialect.GEMINI
    return Dialect.OPENAI
