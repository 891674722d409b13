"""The four surfaces as a client sees them: how to ask each for the same turn, and how to read what it answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Dialect:
    """One surface. ``path`` and ``body`` take the model, the user's text and whether to stream."""

    name: str
    path: Callable[[str, bool], str]
    body: Callable[[str, str, bool], Json]
    text_of: Callable[[Json], str]
    delta_of: Callable[[Json], str]
    unsupported: Json
    """A field that is always refused, as this surface has it."""
    ignorable: Json
    """A field that is served without, and so refused under strict handling."""
    misshapen: Json
    """A field of the wrong type."""

    def streamed(self, written: bytes) -> tuple[str, bool]:
        """The text of a stream, and whether it ended in a fault."""
        text, faulty = "", False
        for line in written.decode().splitlines():
            if line.startswith("data: ") and line != "data: [DONE]":
                event = json.loads(line[6:])
                faulty = faulty or "error" in event or event.get("type") in ("error", "response.failed")
                if not faulty:
                    text += self.delta_of(event)
        return text, faulty


def _chat_delta(event: Json) -> str:
    return "".join(choice["delta"].get("content") or "" for choice in event["choices"])


def _gemini_text(reply: Json) -> str:
    return "".join(
        part.get("text", "")
        for candidate in reply.get("candidates", ())
        for part in candidate.get("content", {}).get("parts", ())
    )


CHAT = Dialect(
    "chat_completions",
    lambda model, stream: "/v1/chat/completions",
    lambda model, text, stream: {
        "model": model,
        "messages": [{"role": "user", "content": text}],
        "stream": stream,
    },
    lambda reply: str(reply["choices"][0]["message"]["content"]),
    _chat_delta,
    {"n": 2},
    {"seed": 7},
    {"messages": "hi"},
)
RESPONSES = Dialect(
    "responses",
    lambda model, stream: "/v1/responses",
    lambda model, text, stream: {"model": model, "input": text, "stream": stream},
    lambda reply: "".join(
        part["text"] for item in reply["output"] if item["type"] == "message" for part in item["content"]
    ),
    lambda event: event["delta"] if event["type"] == "response.output_text.delta" else "",
    {"background": True},
    {"parallel_tool_calls": False},
    {"input": 5},
)
MESSAGES = Dialect(
    "messages",
    lambda model, stream: "/v1/messages",
    lambda model, text, stream: {
        "model": model,
        "max_tokens": 1000,
        "messages": [{"role": "user", "content": text}],
        "stream": stream,
    },
    lambda reply: "".join(block.get("text", "") for block in reply["content"]),
    lambda event: event["delta"].get("text", "") if event["type"] == "content_block_delta" else "",
    {"container": "c"},
    {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}},
    {"messages": "hi"},
)
GENERATE_CONTENT = Dialect(
    "generate_content",
    lambda model, stream: (
        f"/v1beta/models/{model}:" + ("streamGenerateContent?alt=sse" if stream else "generateContent")
    ),
    lambda model, text, stream: {"contents": [{"role": "user", "parts": [{"text": text}]}]},
    _gemini_text,
    _gemini_text,
    {"cachedContent": "cachedContents/x"},
    {"generationConfig": {"seed": 7}},
    {"contents": "hi"},
)
DIALECTS = (CHAT, RESPONSES, MESSAGES, GENERATE_CONTENT)
