"""HTTP only: one route."""

from __future__ import annotations

from flask import Blueprint, Response, request

from app.surfaces.surface import RequestFacts, Serving, Surface


def blueprint(serving: Serving, surface: Surface) -> Blueprint:
    """``POST /v1/chat/completions``."""
    routes = Blueprint(surface.name, __name__)

    @routes.post("/v1/chat/completions")
    def create() -> Response:
        return serving.serve(surface, RequestFacts.of(request))

    return routes
