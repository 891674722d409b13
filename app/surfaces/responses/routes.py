"""HTTP of the responses surface, and nothing else."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Flask, Response, request
from flask.blueprints import BlueprintSetupState
from werkzeug.routing import BaseConverter

from app.surfaces.responses import lookups
from app.surfaces.responses.surface import Responses
from app.surfaces.surface import RequestFacts, Serving, Surface
from app.turn.faults import FaultKind, TurnFault


class _ResponseId(BaseConverter):
    """The id of a response in a path: anything but the names of the other routes."""

    regex = r"(?!(?:input_tokens|compact)$)[^/]+"


def blueprint(serving: Serving, surface: Surface) -> Blueprint:
    """The routes, served through ``serving``."""
    assert isinstance(surface, Responses)
    routes = Blueprint("responses", __name__)
    library = surface.library

    @routes.record_once
    def add_converter(state: BlueprintSetupState) -> None:
        assert isinstance(state.app, Flask)
        state.app.url_map.converters["response_id"] = _ResponseId

    @routes.post("/v1/responses")
    def create() -> Response:
        return serving.serve(surface, RequestFacts.of(request))

    @routes.post("/v1/responses/input_tokens")
    def input_tokens() -> Response:
        return serving.estimate(surface, RequestFacts.of(request), _input_tokens)

    @routes.post("/v1/responses/compact")
    def compact() -> Response:
        """Said explicitly: clients that look for it shall learn that it is not here, whatever the method."""
        raise TurnFault(
            FaultKind.NOT_FOUND,
            "responses are not compacted here; there is no POST /v1/responses/compact",
            code="not_found",
        )

    @routes.get("/v1/responses/<response_id:response_id>")
    def retrieve(response_id: str) -> Response:
        return serving.look_up(surface, lambda lookup: lookups.retrieve(library, lookup, response_id))

    @routes.delete("/v1/responses/<response_id:response_id>")
    def delete(response_id: str) -> Response:
        return serving.look_up(surface, lambda lookup: lookups.delete(library, lookup, response_id))

    @routes.get("/v1/responses/<response_id:response_id>/input_items")
    def input_items(response_id: str) -> Response:
        return serving.look_up(surface, lambda lookup: lookups.list_input(library, lookup, response_id))

    @routes.post("/v1/responses/<response_id:response_id>/cancel")
    def cancel(response_id: str) -> Response:
        return serving.look_up(surface, lambda lookup: lookups.cancel(library, lookup, response_id))

    return routes


def _input_tokens(count: int) -> dict[str, Any]:
    return {"object": "response.input_tokens", "input_tokens": count}
