"""The generate_content surface: generateContent, streamGenerateContent and countTokens, for Gemini CLI and
google-genai."""

from __future__ import annotations

from flask import Blueprint

from app.surfaces.generate_content.routes import make_blueprint
from app.surfaces.generate_content.surface import GenerateContent
from app.surfaces.surface import Serving, Surface, SurfaceTools

__all__ = ["blueprint", "create"]


def create(tools: SurfaceTools) -> GenerateContent:
    """The surface of one app."""
    return GenerateContent(tools.seals)


def blueprint(serving: Serving, surface: Surface) -> Blueprint:
    """Its routes."""
    assert isinstance(surface, GenerateContent)
    return make_blueprint(serving, surface)
