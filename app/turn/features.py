"""What an upstream can carry. One set decides what its encoder emits and what the ledger calls forwarded."""

from __future__ import annotations

from enum import Enum


class Feature(Enum):
    """One thing a turn may need of an upstream. Values are stable names for logs and the ledger's page."""

    SYSTEM_PROMPT = "system_prompt"
    TOOLS = "tools"
    TOOLS_WITHOUT_SYSTEM = "tools_without_system"
    """Tools work although the system prompt is empty (else one neutral line is supplied)."""
    STRICT_TOOLS = "strict_tools"
    TOOL_CHOICE = "tool_choice"
    DISABLE_PARALLEL_TOOL_CALLS = "disable_parallel_tool_calls"
    IMAGES = "images"
    MAX_OUTPUT_TOKENS = "max_output_tokens"
    TEMPERATURE = "temperature"
    TEMPERATURE_ZERO = "temperature_zero"
    """A temperature of exactly 0 works (else 0.001 is sent)."""
    TOP_P = "top_p"
    TOP_K = "top_k"
    REASONING_HISTORY = "reasoning_history"
    TOOL_ERROR_FLAG = "tool_error_flag"
    """A failed tool result has a flag of its own (else a first line ``[error]`` marks it)."""
    STRUCTURED_OUTPUT = "structured_output"
    """An output format can be guaranteed (else it is described in a line of system text)."""
    PROMPT_CACHE = "prompt_cache"
    SESSION_KEY = "session_key"
    """The session's id on the wire is derived from the caller's own key (else it is a fresh one each turn)."""
