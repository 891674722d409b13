"""HTTP: ``POST /v1beta/models/<model>:<method>`` and the same under ``/v1``."""

from __future__ import annotations

from flask import Blueprint, Response, request

from app.surfaces.generate_content.surface import GenerateContent, count_body
from app.surfaces.surface import RequestFacts, Serving
from app.turn.faults import FaultKind, TurnFault

METHODS = ("generateContent", "streamGenerateContent", "countTokens")


def make_blueprint(serving: Serving, surface: GenerateContent) -> Blueprint:
    """The routes. A model id may hold slashes and colons: the method is what follows the last colon."""
    routes = Blueprint(surface.name, __name__)

    def call(model: str, method: str) -> Response:
        model, _, method = f"{model}:{method}".rpartition(":")
        facts = RequestFacts.of(request, model, method == "streamGenerateContent")
        match method:
            case "generateContent" | "streamGenerateContent":
                return serving.serve(surface, facts)
            case "countTokens":
                return serving.estimate(surface.counting, facts, count_body)
        known = ", ".join(METHODS)
        raise TurnFault(
            FaultKind.NOT_FOUND, f"there is no method '{method[:100]}' of models here; methods are: {known}"
        )

    for version in ("v1beta", "v1"):
        rule = f"/{version}/models/<path:model>:<method>"
        routes.add_url_rule(rule, f"{version}_call", call, methods=["POST"])
    return routes
