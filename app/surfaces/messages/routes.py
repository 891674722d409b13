"""The paths of the Messages surface; HTTP only.

``?beta=true``, any ``anthropic-version`` and none are all the same to it. ``HEAD /api/hello`` is what Claude
Code asks first, without a key, to see whether anybody is there.
"""

from __future__ import annotations

from flask import Blueprint, Response, request

from app.surfaces.messages.surface import MessagesSurface
from app.surfaces.surface import RequestFacts, Serving, Surface


def blueprint(serving: Serving, surface: Surface) -> Blueprint:
    """``POST /v1/messages``, ``POST /v1/messages/count_tokens`` and ``HEAD /api/hello``."""
    assert isinstance(surface, MessagesSurface)
    counting = surface.counting()
    routes = Blueprint("messages", __name__)

    @routes.post("/v1/messages")
    def create_message() -> Response:
        return serving.serve(surface, RequestFacts.of(request))

    @routes.post("/v1/messages/count_tokens")
    def count_tokens() -> Response:
        return serving.estimate(counting, RequestFacts.of(request), lambda tokens: {"input_tokens": tokens})

    @routes.get("/api/hello")
    def hello() -> Response:
        return Response(status=200, content_type="application/json", response=b'{"message":"hello"}')

    return routes
