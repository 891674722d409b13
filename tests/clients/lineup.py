"""The clients of the scenarios, and what Candor tells each of them that it ignores and emulates."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, field

from tests.clients.claude import Claude
from tests.clients.client import Client
from tests.clients.codex import Codex
from tests.clients.gemini import Gemini
from tests.clients.install import CODEX_NEXT
from tests.clients.opencode import OpenCode


@dataclass(frozen=True, slots=True)
class Entry:
    """A client, the paths it is told of (indices left out), and how many requests come before a task's first."""

    client: Client
    path: str
    ignored: Set[str] = field(default_factory=set)
    emulated: Set[str] = field(default_factory=set)
    before: int = 0


_CODEX_COMMON = {"tools[].type", "prompt_cache_key", "client_metadata"}
_CODEX_PLAIN = Entry(
    Codex(),
    "/v1/responses",
    {*_CODEX_COMMON, "tools[].description"},
    {"reasoning.summary"},
)
_CLAUDE = {
    "anthropic-beta:interleaved-thinking-2025-05-14",
    "anthropic-beta:thinking-token-count-2026-05-13",
    "messages[].content[].cache_control",
    "system[].cache_control",
    "tools[].defer_loading",
    "metadata.user_id",
    "thinking.type",
    "context_management",
    "output_config.effort",
}

LINEUP: dict[str, Entry] = {
    "codex": _CODEX_PLAIN,
    "codex-next": Entry(Codex(CODEX_NEXT), _CODEX_PLAIN.path, _CODEX_PLAIN.ignored, _CODEX_PLAIN.emulated),
    "codex-functions": Entry(
        Codex(model="gpt-5.5"),
        "/v1/responses",
        {*_CODEX_COMMON, "tools[].format", "reasoning.effort", "text.verbosity"},
        {"tools[].type"},
    ),
    "codex-code": Entry(
        Codex(model="gpt-6.1-sol", shell="functions__exec"),
        "/v1/responses",
        {
            "input[].tools[].tools[].format",
            "input[].tools[].description",
            "parallel_tool_calls",
            "reasoning.effort",
            "reasoning.context",
            "prompt_cache_key",
            "text.verbosity",
            "client_metadata",
        },
        {"input[].tools[].tools[].type"},
    ),
    "claude": Entry(Claude(), "/v1/messages", _CLAUDE, {"messages[].role"}),
    "claude-own": Entry(
        Claude(model="claude-opus-5-5"),
        "/v1/messages",
        {*_CLAUDE, "messages[].output_config"},
        {"messages[].role"},
    ),
    "gemini": Entry(Gemini(), "/v1beta/models/fake-agent:streamGenerateContent"),
    "gemini-own": Entry(
        Gemini(model=""),
        "/v1beta/models/gemini-3.8-flash:streamGenerateContent",
        {"generationConfig.responseJsonSchema", "generationConfig.thinkingConfig.thinkingLevel"},
        {"generationConfig.responseMimeType", "generationConfig.responseJsonSchema"},
        before=1,
    ),
    "opencode-chat": Entry(OpenCode(), "/v1/chat/completions"),
    "opencode-responses": Entry(OpenCode("@ai-sdk/openai"), "/v1/responses", {"prompt_cache_key"}),
    "opencode-messages": Entry(
        OpenCode("@ai-sdk/anthropic"),
        "/v1/messages",
        {"system[].cache_control", "messages[].content[].cache_control"},
    ),
    "opencode-generate": Entry(OpenCode("@ai-sdk/google"), "/v1beta/models/fake-agent:streamGenerateContent"),
}
