"""``POST /v1/chat/completions``: a turn in OpenAI's chat protocol, streamed or whole.

``decode`` reads a body, ``ledger`` says what becomes of each parameter, ``encode`` and ``encode_stream`` write the
answer, ``stored`` keeps it, ``errors`` words faults, ``routes`` is the HTTP part.
"""

from app.surfaces.chat_completions.routes import blueprint
from app.surfaces.chat_completions.surface import ChatCompletions
from app.surfaces.surface import Surface, SurfaceTools

__all__ = ["blueprint", "create"]


def create(tools: SurfaceTools) -> Surface:
    """The surface; it needs no seals, for reasoning that comes back on it carries none."""
    return ChatCompletions(tools.shelf)
