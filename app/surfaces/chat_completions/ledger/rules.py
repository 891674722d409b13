"""Outcomes that depend on the value, on other fields or on the upstream.

A rule gets the value as it was sent, after the decoder has checked its type. No outcome at all means that the
value asks for nothing. An outcome that names a feature lets a refusal tell which setting would honour it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.ledger import Context, Disposition, Outcome
from app.turn.features import Feature
from app.turn.turn import ToolCallPart, ToolResultPart

FORWARDED = Disposition.FORWARDED
EMULATED = Disposition.EMULATED
IGNORED = Disposition.IGNORED
REFUSED = Disposition.REFUSED

Outcomes = Sequence[Outcome]


def not_kept(value: Any, context: Context, path: str) -> Outcomes:
    """Nothing is kept here: a wish for it is ignored."""
    return (Outcome(IGNORED),)


def temperature(value: Any, context: Context, path: str) -> Outcomes:
    """0 becomes the least the upstream takes, where it fails on 0."""
    if Feature.TEMPERATURE not in context.features:
        return (Outcome(IGNORED, feature=Feature.TEMPERATURE),)
    if value == 0 and Feature.TEMPERATURE_ZERO not in context.features:
        return (Outcome(EMULATED),)
    return (Outcome(FORWARDED),)


def max_tokens(value: Any, context: Context, path: str) -> Outcomes:
    """The older spelling counts for nothing beside a different ``max_completion_tokens``."""
    if value != context.turn.sampling.max_output_tokens:
        problem = "`max_completion_tokens` has another value and wins"
        return (Outcome(IGNORED, problem=problem),)
    if Feature.MAX_OUTPUT_TOKENS not in context.features:
        return (Outcome(IGNORED, feature=Feature.MAX_OUTPUT_TOKENS),)
    return (Outcome(FORWARDED),)


def response_format(value: Any, context: Context, path: str) -> Outcomes:
    """Where no format can be guaranteed it is described to the model, and the guarantee is named as missing."""
    wanted = context.turn.output_format
    if wanted is None:
        return ()
    if Feature.STRUCTURED_OUTPUT in context.features:
        return (Outcome(FORWARDED),)
    if Feature.SYSTEM_PROMPT not in context.features:
        return (Outcome(IGNORED, feature=Feature.STRUCTURED_OUTPUT),)
    if wanted.strict:  # then `strict` is what asks for the guarantee, and has a row of its own
        return (Outcome(EMULATED),)
    return (Outcome(EMULATED), Outcome(IGNORED, below=".type", feature=Feature.STRUCTURED_OUTPUT))


def messages(value: Any, context: Context, path: str) -> Outcomes:
    """A history with calls and results cannot be told to an upstream that knows no tools."""
    if Feature.TOOLS in context.features:
        return (Outcome(FORWARDED),)
    for message in context.turn.messages:
        for part in message.parts:
            if isinstance(part, ToolCallPart | ToolResultPart):
                problem = "the upstream of this model takes no tool calls and results"
                return (Outcome(REFUSED, at=part.path, feature=Feature.TOOLS, problem=problem),)
    return (Outcome(FORWARDED),)


def system_text(value: Any, context: Context, path: str) -> Outcomes:
    """System text needs a system prompt, unless it came late and became a user message."""
    if Feature.SYSTEM_PROMPT in context.features or not context.turn.system:
        return (Outcome(FORWARDED),)
    place = path.removesuffix(".role")
    if any(message.path == place for message in context.turn.messages):
        return (Outcome(FORWARDED),)
    problem = "the upstream of this model takes no system text"
    return (Outcome(REFUSED, feature=Feature.SYSTEM_PROMPT, problem=problem),)


def image_url(value: Any, context: Context, path: str) -> Outcomes:
    """Images are taken as ``data:`` URIs only: fetching for a caller is a way into the operator's network."""
    if isinstance(value, str) and value.startswith(("http://", "https://")):
        problem = "remote images are not fetched; send a data: URI with base64 data"
        return (Outcome(REFUSED, code="unsupported_value", problem=problem),)
    return (Outcome(FORWARDED),)


def tools(value: Any, context: Context, path: str) -> Outcomes:
    """Tools are offered, with one neutral line of system text where the upstream fails without any."""
    offered = context.tool_plan.tools
    if not offered:
        return ()
    if Feature.TOOLS not in context.features:
        problem = "the upstream of this model takes no tools"
        return (Outcome(REFUSED, feature=Feature.TOOLS, problem=problem),)
    turn = context.turn
    described = turn.output_format is not None and Feature.STRUCTURED_OUTPUT not in context.features
    if turn.system or described or Feature.TOOLS_WITHOUT_SYSTEM in context.features:
        return (Outcome(FORWARDED),)
    return (Outcome(EMULATED),)


def functions(value: Any, context: Context, path: str) -> Outcomes:
    """The legacy spelling of tools is always rewritten."""
    return tuple(
        Outcome(EMULATED) if outcome.disposition is FORWARDED else outcome
        for outcome in tools(value, context, path)
    )


def tool_choice(value: Any, context: Context, path: str) -> Outcomes:
    """Withheld or narrowed tools are emulations; a demand for a call that nothing carries is ignored."""
    choice, plan = context.turn.tool_choice, context.tool_plan
    if choice is None or (choice.mode == "auto" and choice.names is None):
        return ()
    if choice.mode == "none":
        return (Outcome(EMULATED, exact=True),)
    outcomes = []
    if plan.narrowed:
        outcomes.append(Outcome(EMULATED))
    if plan.force_ignored:
        problem = "the upstream of this model cannot be made to call a tool"
        outcomes.append(Outcome(IGNORED, feature=Feature.TOOL_CHOICE, problem=problem))
    return outcomes or (Outcome(FORWARDED),)


def parallel_tool_calls(value: Any, context: Context, path: str) -> Outcomes:
    """``false`` is a preference: served without it where the upstream has no field for it."""
    if value is not False:
        return ()
    if Feature.DISABLE_PARALLEL_TOOL_CALLS in context.features:
        return (Outcome(FORWARDED),)
    return (Outcome(IGNORED, feature=Feature.DISABLE_PARALLEL_TOOL_CALLS),)
