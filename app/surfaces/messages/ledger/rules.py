"""Rows whose outcome depends on the value, on other fields or on the upstream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.ledger import Context, Disposition, Outcome
from app.turn.features import Feature
from app.turn.turn import ToolCallPart, ToolResultPart

EMULATED = Outcome(Disposition.EMULATED)
EXACT = Outcome(Disposition.EMULATED, exact=True)
IGNORED = Outcome(Disposition.IGNORED)

Outcomes = Sequence[Outcome]


def messages(value: Any, context: Context, path: str) -> Outcomes:
    """Refused where there are calls or results and the upstream knows no tools."""
    if Feature.TOOLS in context.features:
        return ()
    return [
        Outcome(Disposition.REFUSED, at=f"{part.path}.type", feature=Feature.TOOLS)
        for message in context.turn.messages
        for part in message.parts
        if isinstance(part, ToolCallPart | ToolResultPart)
    ]


def system_message(value: Any, context: Context, path: str) -> Outcomes:
    """System text where it precedes the first user turn; later a user message marked ``[system]``, emulated."""
    place = path.removesuffix(".role")
    if any(message.path == place for message in context.turn.messages):
        return (EMULATED,)
    if Feature.SYSTEM_PROMPT in context.features:
        return ()
    return (Outcome(Disposition.REFUSED, feature=Feature.SYSTEM_PROMPT),)


def temperature(value: Any, context: Context, path: str) -> Outcomes:
    """Forwarded; exactly 0 becomes 0.001 where the upstream fails on 0."""
    if Feature.TEMPERATURE not in context.features:
        return (Outcome(Disposition.IGNORED, feature=Feature.TEMPERATURE),)
    if value == 0 and Feature.TEMPERATURE_ZERO not in context.features:
        return (Outcome(Disposition.EMULATED, feature=Feature.TEMPERATURE_ZERO),)
    return (Outcome(Disposition.FORWARDED),)


def tools(value: Any, context: Context, path: str) -> Outcomes:
    """Refused without tools upstream; one neutral system line is supplied where tools need some."""
    if Feature.TOOLS not in context.features:
        return (Outcome(Disposition.REFUSED, feature=Feature.TOOLS),)
    lacks_system = not context.turn.system and Feature.TOOLS_WITHOUT_SYSTEM not in context.features
    if lacks_system and context.tool_plan.tools:
        return (Outcome(Disposition.EMULATED, feature=Feature.TOOLS_WITHOUT_SYSTEM),)
    return (Outcome(Disposition.FORWARDED),)


def choice_any(value: Any, context: Context, path: str) -> Outcomes:
    """The force is carried, or ignored."""
    if context.tool_plan.force_ignored:
        return (Outcome(Disposition.IGNORED, feature=Feature.TOOL_CHOICE),)
    return (Outcome(Disposition.FORWARDED),)


def choice_name(value: Any, context: Context, path: str) -> Outcomes:
    """Without a choice field upstream the tools are narrowed to the one that is named."""
    if context.tool_plan.narrowed:
        return (Outcome(Disposition.EMULATED, feature=Feature.TOOL_CHOICE),)
    return (Outcome(Disposition.FORWARDED),)


def disable_parallel(value: Any, context: Context, path: str) -> Outcomes:
    """A hint: only ``true`` says anything, and it is never refused for its own sake."""
    if value is not True:
        return ()
    feature = Feature.DISABLE_PARALLEL_TOOL_CALLS
    if feature in context.features:
        return (Outcome(Disposition.FORWARDED),)
    return (Outcome(Disposition.IGNORED, feature=feature),)


def output_format(value: Any, context: Context, path: str) -> Outcomes:
    """Described to the model in one line of system text; that the answer conforms is not guaranteed."""
    if Feature.STRUCTURED_OUTPUT in context.features:
        return (Outcome(Disposition.FORWARDED),)
    if Feature.SYSTEM_PROMPT not in context.features:
        return (Outcome(Disposition.IGNORED, feature=Feature.STRUCTURED_OUTPUT),)
    return (EMULATED, Outcome(Disposition.IGNORED, below=".type", feature=Feature.STRUCTURED_OUTPUT))


def thinking_display(value: Any, context: Context, path: str) -> Outcomes:
    """``omitted`` and ``summarized`` are what is done; ``updates`` asks for a form of its own."""
    return (IGNORED,) if value == "updates" else (EXACT,)
