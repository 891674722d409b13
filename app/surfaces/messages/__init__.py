"""The Messages surface: Anthropic's ``/v1/messages``, as Claude Code and the Anthropic SDKs speak it."""

from app.surfaces.messages.routes import blueprint
from app.surfaces.messages.surface import create

__all__ = ["blueprint", "create"]
