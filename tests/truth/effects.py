"""All effects and spellings, by surface and row path."""

from __future__ import annotations

from tests.truth import (
    effects_chat_completions,
    effects_generate_content,
    effects_messages,
    effects_responses,
)
from tests.truth.proof import Check

_BY_SURFACE = {
    "chat_completions": effects_chat_completions,
    "responses": effects_responses,
    "messages": effects_messages,
    "generate_content": effects_generate_content,
}

EFFECTS: dict[tuple[str, str], Check] = {
    (surface, path): check
    for surface, module in _BY_SURFACE.items()
    for path, check in module.EFFECTS.items()
}
"""(surface, row path) -> the check of its effect."""

EXPECTED: dict[tuple[str, str], tuple[str, ...]] = {
    (surface, path): spelt for surface, module in _BY_SURFACE.items() for path, spelt in module.SPELT.items()
}
"""(surface, row path) -> how the wire spells each sample, where it is not as the caller does."""
