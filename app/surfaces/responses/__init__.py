"""OpenAI Responses: ``POST /v1/responses`` and ``POST /v1/responses/input_tokens``."""

from __future__ import annotations

from app.surfaces.responses.routes import blueprint
from app.surfaces.responses.surface import Responses
from app.surfaces.surface import Surface, SurfaceTools


def create(tools: SurfaceTools) -> Surface:
    """The surface, made once per app."""
    return Responses(tools)


__all__ = ["blueprint", "create"]
