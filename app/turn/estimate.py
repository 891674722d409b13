"""Token counts of Candor's own making, for when an upstream reports none: a quarter of the characters."""

from __future__ import annotations

from typing import assert_never

from app.turn.turn import (
    ImagePart,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    Turn,
)

CHARACTERS_PER_TOKEN = 4
TOKENS_PER_IMAGE = 1000
TOKENS_PER_MESSAGE = 4


def tokens_of_characters(characters: int) -> int:
    """``characters`` of text as tokens, rounded up."""
    return -(-characters // CHARACTERS_PER_TOKEN)


def estimate_input(turn: Turn) -> int:
    """Input tokens of ``turn``: system text, tools and every part of every message."""
    tools = sum(len(tool.name) + len(tool.description) + len(tool.parameters) for tool in turn.tools)
    total = tokens_of_characters(len(turn.system)) + tokens_of_characters(tools)
    return total + sum(_message(message) for message in turn.messages)


def _message(message: Message) -> int:
    return TOKENS_PER_MESSAGE + sum(_part(part) for part in message.parts)


def _part(part: Part) -> int:
    match part:
        case TextPart(text) | ReasoningPart(text):
            return tokens_of_characters(len(text))
        case ImagePart():
            return TOKENS_PER_IMAGE
        case ToolCallPart():
            return tokens_of_characters(len(part.name) + len(part.arguments))
        case ToolResultPart():
            return sum(_part(inner) for inner in part.parts)
    assert_never(part)
