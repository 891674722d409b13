"""Rows of the body but for messages and tools."""

from __future__ import annotations

from typing import Any

from app.ledger import Disposition, Parameter
from app.surfaces.messages.ledger import rules
from app.turn.features import Feature

FORWARDED, EMULATED = Disposition.FORWARDED, Disposition.EMULATED
IGNORED, REFUSED = Disposition.IGNORED, Disposition.REFUSED

SCHEMA_SAMPLES: tuple[Any, ...] = (
    {"type": "json_schema", "schema": {"type": "object", "properties": {"a": {"type": "string"}}}},
    {"type": "json_schema", "schema": {"type": "object", "properties": {"b": {"type": "string"}}}},
)

BODY_TAGS: dict[str, tuple[str, str | None]] = {
    "system[]": ("type", "text"),
    "thinking": ("type", None),
    "output_config.format": ("type", None),
    "output_format": ("type", None),
}

_CORE = [
    Parameter(
        "model",
        FORWARDED,
        "names the model; the models file says what the upstream calls it",
        samples=("fake-echo", "fake-tools"),
        wire="model",
    ),
    Parameter(
        "max_tokens",
        FORWARDED,
        "the cap on output tokens; required; above the model's own limit it is a 400",
        feature=Feature.MAX_OUTPUT_TOKENS,
        samples=(11, 12),
        wire="completion.max_tokens",
    ),
    Parameter(
        "temperature",
        FORWARDED,
        "from 0 to 1; 0 becomes 0.001 where the upstream fails on 0",
        feature=Feature.TEMPERATURE,
        rule=rules.temperature,
        samples=(0.25, 0.75),
        wire="completion.temperature",
    ),
    Parameter(
        "top_p",
        FORWARDED,
        "nucleus sampling, from 0 to 1",
        feature=Feature.TOP_P,
        samples=(0.25, 0.75),
        wire="completion.top_p",
    ),
    Parameter(
        "top_k",
        FORWARDED,
        "samples from the k likeliest tokens only",
        feature=Feature.TOP_K,
        samples=(7, 8),
        wire="completion.top_k",
    ),
    Parameter(
        "stop_sequences",
        EMULATED,
        "Candor cuts the answer at the first of them and says which it was",
        exact=True,
        neutral=([],),
        samples=(["END"], ["HALT"]),
    ),
    Parameter(
        "stream",
        EMULATED,
        "events instead of one message",
        exact=True,
        neutral=(False,),
        samples=(True, False),
    ),
    Parameter(
        "system",
        FORWARDED,
        "a string or text blocks, joined by blank lines",
        feature=Feature.SYSTEM_PROMPT,
        without=REFUSED,
        neutral=("", []),
        samples=("be brief", "be long"),
        wire="system_prompt",
    ),
    Parameter(
        "system[].type=text", FORWARDED, "a stretch of system text", samples=("text",), wire="system_prompt"
    ),
    Parameter(
        "system[].text",
        FORWARDED,
        "the text of the block",
        samples=("be brief", "be long"),
        wire="system_prompt",
    ),
    Parameter(
        "system[].cache_control",
        IGNORED,
        "a cache breakpoint; where an upstream caches is its own affair",
        samples=({"type": "ephemeral"}, {"type": "ephemeral", "ttl": "1h"}),
    ),
    Parameter(
        "system[].citations",
        IGNORED,
        "where the text was cited from; the upstream carries no citations",
        neutral=([],),
        samples=([{"type": "char_location"}], [{"type": "page_location"}]),
    ),
    Parameter("metadata", EMULATED, "see its one member", silent=True),
    Parameter(
        "metadata.user_id",
        EMULATED,
        "keeps a caller's conversation together: the session upstream is derived from it where "
        "CANDOR_SESSION_FROM=caller",
        feature=Feature.SESSION_KEY,
        exact=True,
        samples=("user-1", "user-2"),
    ),
]

_THINKING = [
    Parameter("thinking", IGNORED, "see its members", silent=True),
    Parameter(
        "thinking.type=enabled",
        IGNORED,
        "asks the model to think; the upstream decides, and what it thinks is shown",
        samples=("enabled",),
    ),
    Parameter(
        "thinking.type=adaptive",
        IGNORED,
        "lets the model think; the upstream decides, and what it thinks is shown",
        samples=("adaptive",),
    ),
    Parameter(
        "thinking.type=between_tools",
        IGNORED,
        "asks for thinking between tool calls; the upstream decides, and what it thinks is shown",
        samples=("between_tools",),
    ),
    Parameter(
        "thinking.type=disabled",
        EMULATED,
        "no thinking reaches the caller",
        exact=True,
        samples=("disabled",),
    ),
    Parameter(
        "thinking.budget_tokens",
        IGNORED,
        "how long to think is a preference that the upstream has no field for",
        samples=(1024, 2048),
    ),
    Parameter(
        "thinking.display",
        EMULATED,
        "omitted: no thinking goes out; summarized: it goes out as the upstream says it",
        exact=True,
        rule=rules.thinking_display,
        samples=("omitted", "summarized", "updates"),
    ),
    Parameter(
        "thinking.block_binding",
        IGNORED,
        "what to do with thinking whose context changed; Candor goes by its seal alone",
        samples=({"prefix_mismatch_behavior": "error"}, {"prefix_mismatch_behavior": "drop_block"}),
    ),
]

_OUTPUT = [
    Parameter("output_config", IGNORED, "see its members", silent=True),
    Parameter(
        "output_config.effort",
        IGNORED,
        "how hard to try is a preference that the upstream has no field for",
        samples=("low", "high"),
    ),
    Parameter(
        "output_config.task_budget",
        IGNORED,
        "a budget over several turns is a preference that the upstream has no field for",
        samples=({"type": "tokens", "total": 20000}, {"type": "tokens", "total": 30000}),
    ),
    Parameter(
        "output_config.format",
        FORWARDED,
        "the schema is described to the model in one line of system text where no upstream can guarantee it",
        feature=Feature.STRUCTURED_OUTPUT,
        without=EMULATED,
        rule=rules.output_format,
        samples=SCHEMA_SAMPLES,
        wire="system_prompt",
    ),
    Parameter(
        "output_config.format.type=json_schema",
        EMULATED,
        "JSON by a schema; decided with the format",
        silent=True,
        samples=("json_schema",),
        wire="system_prompt",
    ),
    Parameter(
        "output_config.format.schema",
        EMULATED,
        "the schema, described whole",
        silent=True,
        wire="system_prompt",
    ),
    Parameter(
        "output_format",
        FORWARDED,
        "the older spelling of output_config.format",
        feature=Feature.STRUCTURED_OUTPUT,
        without=EMULATED,
        rule=rules.output_format,
        samples=SCHEMA_SAMPLES,
        wire="system_prompt",
    ),
    Parameter(
        "output_format.type=json_schema",
        EMULATED,
        "JSON by a schema; decided with the format",
        silent=True,
        samples=("json_schema",),
        wire="system_prompt",
    ),
    Parameter(
        "output_format.schema", EMULATED, "the schema, described whole", silent=True, wire="system_prompt"
    ),
]

_PREFERENCES = [
    Parameter(
        "cache_control",
        IGNORED,
        "a cache breakpoint; where an upstream caches is its own affair",
        samples=({"type": "ephemeral"}, {"type": "ephemeral", "ttl": "1h"}),
    ),
    Parameter("cache_control.type", IGNORED, "part of the breakpoint", silent=True),
    Parameter("cache_control.ttl", IGNORED, "part of the breakpoint", silent=True),
    Parameter(
        "context_management",
        IGNORED,
        "edits to a long history; the whole history is sent, and no edit is reported as applied",
        neutral=({},),
        samples=({"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]}, {"edits": []}),
    ),
    Parameter("context_management.edits", IGNORED, "not applied", silent=True),
    Parameter(
        "betas",
        IGNORED,
        "a token of the anthropic-beta header that asks for something by itself, or that nobody knows",
        neutral=([],),
        samples=(["interleaved-thinking-2025-05-14"], ["not-a-beta-2020-01-01"]),
    ),
    Parameter(
        "service_tier",
        IGNORED,
        "the upstream has one tier; usage says standard",
        neutral=("auto",),
        samples=("standard_only",),
    ),
    Parameter(
        "speed",
        IGNORED,
        "the upstream has one speed",
        neutral=("standard",),
        samples=("fast",),
    ),
    Parameter(
        "diagnostics",
        IGNORED,
        "asks why a cache was missed; nothing is known of the upstream's cache",
        neutral=({},),
        samples=({"previous_message_id": "msg_1"}, {"previous_message_id": "msg_2"}),
    ),
    Parameter("diagnostics.previous_message_id", IGNORED, "part of diagnostics", silent=True),
    Parameter(
        "fallbacks",
        IGNORED,
        "other models for after a policy refusal; none is tried",
        neutral=([],),
        samples=([{"model": "fake-echo"}], [{"model": "fake-tools"}]),
    ),
    *(
        Parameter(f"fallbacks[].{key}", IGNORED, "part of a fallback", silent=True)
        for key in ("model", "max_tokens", "output_config", "speed", "thinking")
    ),
    Parameter(
        "fallback_credit_token",
        IGNORED,
        "concerns the vendor's billing only",
        samples=({"token": "a"}, {"token": "b"}),
    ),
    *(
        Parameter(f"fallback_credit_token.{key}", IGNORED, "part of the token", silent=True)
        for key in ("token", "mode")
    ),
    Parameter(
        "billing_policy",
        IGNORED,
        "concerns the vendor's billing only",
        samples=({"type": "billing_policy", "bill_to": "self"}, {"type": "billing_policy"}),
    ),
    Parameter("billing_policy.type", IGNORED, "part of billing_policy", silent=True),
    Parameter("billing_policy.bill_to", IGNORED, "part of billing_policy", silent=True),
    Parameter(
        "user_profile_id",
        IGNORED,
        "sent as the header anthropic-user-profile-id; profiles are the vendor's",
        samples=("profile-1", "profile-2"),
    ),
    Parameter(
        "workspace_id",
        IGNORED,
        "sent as the header anthropic-workspace-id; workspaces are the vendor's",
        samples=("workspace-1", "workspace-2"),
    ),
    Parameter(
        "context_hint",
        IGNORED,
        "a hint of Claude Code's that no SDK documents",
        samples=("a", "b"),
    ),
]

_REFUSALS = [
    Parameter(
        "inference_geo",
        REFUSED,
        "where data is processed is a promise that Candor cannot make",
        samples=("us", "eu"),
    ),
    Parameter(
        "container",
        REFUSED,
        "hosted skills and files are the vendor's",
        samples=("container_1", {"id": "container_1"}),
    ),
    Parameter("container.id", REFUSED, "part of container", silent=True),
    Parameter("container.skills", REFUSED, "part of container", silent=True),
    Parameter(
        "mcp_servers",
        REFUSED,
        "the vendor's servers would call them; Candor calls no tools",
        neutral=([],),
        samples=([{"type": "url", "name": "a", "url": "https://a.example"}], [{"type": "url", "name": "b"}]),
    ),
    *(
        Parameter(f"mcp_servers[].{key}", REFUSED, "part of mcp_servers", silent=True)
        for key in ("type", "name", "url", "authorization_token", "tool_configuration")
    ),
    Parameter(
        "thread",
        REFUSED,
        "a history kept by the vendor; what is not sent cannot be served",
        samples=({"type": "create"}, {"type": "continue", "previous_message_id": "msg_1"}),
    ),
    Parameter("thread.type", REFUSED, "part of thread", silent=True),
    Parameter("thread.previous_message_id", REFUSED, "part of thread", silent=True),
    Parameter(
        "compaction",
        REFUSED,
        "asks for a compaction block in place of an answer; Candor makes none",
        samples=({"type": "summarize"}, {"type": "summarize", "instructions": "short"}),
    ),
    Parameter("compaction.type", REFUSED, "part of compaction", silent=True),
    Parameter("compaction.instructions", REFUSED, "part of compaction", silent=True),
]

BODY_ROWS = [*_CORE, *_THINKING, *_OUTPUT, *_PREFERENCES, *_REFUSALS]
