"""HTTP only."""

from __future__ import annotations

from flask import Blueprint, Response, request

from app.surfaces.chat_completions.surface import ChatCompletions
from app.surfaces.surface import RequestFacts, Serving, Surface


def blueprint(serving: Serving, surface: Surface) -> Blueprint:
    """``POST /v1/chat/completions``, and the routes of completions that are kept."""
    assert isinstance(surface, ChatCompletions)
    routes = Blueprint(surface.name, __name__)
    cabinet = surface.cabinet

    @routes.post("/v1/chat/completions")
    def create() -> Response:
        return serving.serve(surface, RequestFacts.of(request))

    @routes.get("/v1/chat/completions")
    def list_kept() -> Response:
        return serving.look_up(surface, cabinet.list)

    @routes.get("/v1/chat/completions/<completion_id>")
    def retrieve(completion_id: str) -> Response:
        return serving.look_up(surface, lambda lookup: cabinet.retrieve(lookup, completion_id))

    @routes.post("/v1/chat/completions/<completion_id>")
    def update(completion_id: str) -> Response:
        return serving.look_up(surface, lambda lookup: cabinet.update(lookup, completion_id))

    @routes.delete("/v1/chat/completions/<completion_id>")
    def delete(completion_id: str) -> Response:
        return serving.look_up(surface, lambda lookup: cabinet.delete(lookup, completion_id))

    @routes.get("/v1/chat/completions/<completion_id>/messages")
    def messages(completion_id: str) -> Response:
        return serving.look_up(surface, lambda lookup: cabinet.messages(lookup, completion_id))

    return routes
