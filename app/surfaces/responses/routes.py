"""HTTP of the responses surface, and nothing else."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, request

from app.surfaces.surface import RequestFacts, Serving, Surface
from app.turn.faults import FaultKind, TurnFault


def blueprint(serving: Serving, surface: Surface) -> Blueprint:
    """The routes, served through ``serving``."""
    routes = Blueprint("responses", __name__)

    @routes.post("/v1/responses")
    def create() -> Response:
        return serving.serve(surface, RequestFacts.of(request))

    @routes.post("/v1/responses/input_tokens")
    def input_tokens() -> Response:
        return serving.estimate(surface, RequestFacts.of(request), _input_tokens)

    @routes.post("/v1/responses/compact")
    def compact() -> Response:
        """Said explicitly: a later route for single responses would make it a wrong method."""
        raise TurnFault(
            FaultKind.NOT_FOUND,
            "responses are not compacted here; there is no POST /v1/responses/compact",
            code="not_found",
        )

    return routes


def _input_tokens(count: int) -> dict[str, Any]:
    return {"object": "response.input_tokens", "input_tokens": count}
