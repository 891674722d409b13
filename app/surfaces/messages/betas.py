"""``anthropic-beta`` tokens: what each asks for, and which of them is a request of its own.

Most tokens only allow a field in the body, or another path; the field's ledger row says what becomes of it, so
the token itself needs no word. Some change behaviour all by themselves: they, and tokens unknown to this list,
are ignored and named as ``anthropic-beta:<token>``. No token is ever a 400 unless handling is strict.
"""

from __future__ import annotations

from app.ledger import Disposition, Note

HEADER = "anthropic-beta"
HEADER_PATH = f"{HEADER}:"
ROW = "betas"

SPOKEN_FOR = {
    # token: the rows, or the part of the API, that speak for it
    "advanced-tool-use-2025-11-20": "tools[].defer_loading, tools[].allowed_callers, tools[].input_examples",
    "advisor-tool-2026-03-01": "tools[].type=advisor_20260301",
    "cache-diagnosis-2026-04-07": "diagnostics",
    "code-execution-2025-05-22": "tools[].type=code_execution_20250522",
    "compact-2026-01-12": "context_management",
    "compact-2026-09-04": "compaction",
    "computer-use-2024-10-22": "tools[].type=computer_20241022",
    "computer-use-2025-01-24": "tools[].type=computer_20250124",
    "computer-use-2025-11-24": "tools[].type=computer_20251124",
    "context-management-2025-06-27": "context_management",
    "effort-2025-11-24": "output_config.effort",
    "extended-cache-ttl-2025-04-11": "cache_control",
    "fallback-credit-2026-06-01": "fallback_credit_token",
    "fallback-credit-2026-07-01": "fallback_credit_token",
    "fast-mode-2026-02-01": "speed",
    "fine-grained-tool-streaming-2025-05-14": "tools[type=custom].eager_input_streaming",
    "inline-tools-2026-09-15": "messages[].content[type=tool_addition].tool",
    "mcp-client-2025-04-04": "mcp_servers",
    "mcp-client-2025-11-20": "mcp_servers",
    "mcp-client-2026-09-15": "mcp_servers",
    "mcp-tunnels-2026-06-22": "mcp_servers",
    "message-threads-2026-08-12": "thread",
    "mid-conversation-output-config-2026-07-01": "messages[].output_config",
    "mid-conversation-system-clear-at-2026-08-21": "messages[].clear_at",
    "mid-conversation-tool-changes-2026-07-01": "messages[].content[].type=tool_addition",
    "output-128k-2025-02-19": "max_tokens",
    "output-300k-2026-03-24": "max_tokens",
    "pdfs-2024-09-25": "messages[].content[].type=document",
    "per-turn-control-2026-07-01": "messages[].output_config",
    "prompt-caching-2024-07-31": "cache_control",
    "prompt-caching-scope-2026-01-05": "cache_control",
    "server-side-fallback-2026-06-01": "fallbacks",
    "server-side-fallback-2026-07-01": "fallbacks",
    "skills-2025-10-02": "container",
    "structured-outputs-2025-11-13": "output_config.format",
    "task-budgets-2026-03-13": "output_config.task_budget",
    "thinking-binding-controls-2026-08-01": "thinking.block_binding",
    "thinking-display-updates-2026-08-18": "thinking.display",
    "user-profiles-2026-03-24": "user_profile_id",
    "user-profiles-2026-08-18": "user_profile_id",
    "user-profiles-2026-09-04": "user_profile_id",
    "user-profiles-billing-2026-10-01": "billing_policy",
    # the whole context is always sent
    "context-1m-2025-08-07": "messages",
    # who is calling and how it signs in; asks for nothing
    "claude-code-20250219": "no parameter",
    "oauth-2025-04-20": "no parameter",
    # other parts of the vendor's API
    "admin-user-sign-out-2026-10-08": "another path",
    "agent-memory-2026-07-22": "another path",
    "analytics-usage-cost-2026-08-24": "another path",
    "ce-claude-code-managed-settings-2026-10-06": "another path",
    "ce-plugins-2026-09-01": "another path",
    "ce-user-management-2026-07-13": "another path",
    "dreaming-2026-04-21": "another path",
    "efs-2026-10-01": "another path",
    "experimental-claude-tag-2026-10-21": "another path",
    "files-api-2025-04-14": "another path",
    "google-managed-data-controls-2026-09-01": "another path",
    "managed-agents-2026-04-01": "another path",
    "message-batches-2024-09-24": "another path",
    "spend-limit-reads-2026-09-26": "another path",
    "telemetry-destinations-2026-08-11": "another path",
    "token-counting-2024-11-01": "another path",
    "webhooks-2026-10-07": "another path",
}

ALONE = {
    "dev-full-thinking-2025-05-14": "unabridged thinking; what the upstream says is passed as it is",
    "interleaved-thinking-2025-05-14": "thinking between tool calls; the upstream decides when it thinks",
    "model-context-window-exceeded-2025-08-26": "a stop reason that the upstream does not report",
    "thinking-token-count-2026-05-13": "a count of thinking tokens that the upstream does not report",
    "token-efficient-tools-2025-02-19": "a shorter encoding of calls inside the model",
}
"""Tokens that ask for something by themselves and are not served."""


def notes(header: str) -> list[Note]:
    """One IGNORED note for each token of the ``anthropic-beta`` header that nothing speaks for."""
    tokens = dict.fromkeys(token.strip() for token in header.split(","))
    return [
        Note(ROW, HEADER_PATH + token, Disposition.IGNORED)
        for token in tokens
        if token and token not in SPOKEN_FOR
    ]
