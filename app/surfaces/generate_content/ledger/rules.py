"""Rules of rows whose outcome depends on the value, on other fields or on the upstream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.ledger import Context, Disposition, Outcome
from app.surfaces.generate_content import signatures
from app.surfaces.generate_content.decode_config import ENUM_TYPE, JSON_TYPE, PLAIN_TYPE
from app.turn.features import Feature
from app.turn.turn import ToolCallPart, ToolResultPart

EMULATED, IGNORED, REFUSED = Disposition.EMULATED, Disposition.IGNORED, Disposition.REFUSED

_SERVED_TYPES = frozenset({JSON_TYPE, ENUM_TYPE, "APPLICATION_JSON"})
_PLAIN_TYPES = frozenset({PLAIN_TYPE, "TEXT_PLAIN", ""})
_TEXT_ONLY = ("TEXT", "MODALITY_UNSPECIFIED")


def inline_data(value: Any, context: Context, path: str) -> Sequence[Outcome]:
    """Images need an upstream that takes them; texts become text; nothing else can be carried."""
    mime_key = "mimeType" if value.get("mimeType") is not None else "mime_type"
    mime_type = value.get(mime_key) or ""
    if mime_type.startswith("image/"):
        if Feature.IMAGES in context.features:
            return ()
        problem = "the upstream of this model takes no images"
        return (Outcome(REFUSED, feature=Feature.IMAGES, problem=problem),)
    if mime_type.startswith("text/"):
        return (Outcome(EMULATED),)
    problem = "only data of the types image/* and text/* can be carried upstream"
    return (Outcome(REFUSED, below=f".{mime_key}", problem=problem),)


def thought(value: Any, context: Context, path: str) -> Sequence[Outcome]:
    """History reasoning goes upstream where it can; the decoder tells what no seal of ours vouches for."""
    if Feature.REASONING_HISTORY in context.features:
        return ()
    return (Outcome(IGNORED, feature=Feature.REASONING_HISTORY),)


def thought_signature(value: Any, context: Context, path: str) -> Sequence[Outcome]:
    """A seal of ours that holds its text shares the fate of thoughts; the decoder tells of foreign ones."""
    if signatures.looks_like_blob(value) and Feature.REASONING_HISTORY not in context.features:
        return (Outcome(IGNORED, feature=Feature.REASONING_HISTORY),)
    return ()


def contents(value: Any, context: Context, path: str) -> Sequence[Outcome]:
    """A history of calls and results needs an upstream that has tools."""
    if Feature.TOOLS in context.features:
        return ()
    for message in context.turn.messages:
        for part in message.parts:
            if isinstance(part, ToolCallPart | ToolResultPart):
                problem = "the upstream of this model takes no tools"
                return (Outcome(REFUSED, at=part.path, feature=Feature.TOOLS, problem=problem),)
    return ()


def tools(value: Any, context: Context, path: str) -> Sequence[Outcome]:
    """Tools that are offered need an upstream that has them, and perhaps a line of system text beside them."""
    if not context.tool_plan.tools:
        return ()
    if Feature.TOOLS not in context.features:
        problem = "the upstream of this model takes no tools"
        return (Outcome(REFUSED, feature=Feature.TOOLS, problem=problem),)
    turn = context.turn
    described = turn.output_format is not None and Feature.STRUCTURED_OUTPUT not in context.features
    if turn.system or described or Feature.TOOLS_WITHOUT_SYSTEM in context.features:
        return ()
    return (Outcome(EMULATED, feature=Feature.TOOLS_WITHOUT_SYSTEM),)


def mode_any(value: Any, context: Context, path: str) -> Sequence[Outcome]:
    """That a call must happen is ignored where nothing can guarantee it."""
    if context.tool_plan.force_ignored:
        return (Outcome(IGNORED, feature=Feature.TOOL_CHOICE),)
    return ()


def mode_validated(value: Any, context: Context, path: str) -> Sequence[Outcome]:
    """Calls that conform to their schemas: ``strict`` on every tool that is offered."""
    if context.tool_plan.tools and Feature.STRICT_TOOLS not in context.features:
        return (Outcome(IGNORED, feature=Feature.STRICT_TOOLS),)
    return ()


def allowed_names(value: Any, context: Context, path: str) -> Sequence[Outcome]:
    """The list of tools is cut to the allowed names where the upstream has no better way; none is exact."""
    choice = context.turn.tool_choice
    if choice is not None and choice.mode == "none":
        return (Outcome(EMULATED, exact=True),)
    return (Outcome(EMULATED, feature=Feature.TOOL_CHOICE),) if context.tool_plan.narrowed else ()


def temperature(value: Any, context: Context, path: str) -> Sequence[Outcome]:
    """0 is sent as 0.001 where exactly 0 fails."""
    if Feature.TEMPERATURE not in context.features:
        return (Outcome(IGNORED, feature=Feature.TEMPERATURE),)
    if value == 0 and Feature.TEMPERATURE_ZERO not in context.features:
        return (Outcome(EMULATED, feature=Feature.TEMPERATURE_ZERO),)
    return ()


def response_modalities(value: Any, context: Context, path: str) -> Sequence[Outcome]:
    """Text is all that comes back."""
    wanted = value if isinstance(value, list) else [value]
    if all(each in _TEXT_ONLY for each in wanted):
        return ()
    return (Outcome(REFUSED),)


def response_mime_type(value: Any, context: Context, path: str) -> Sequence[Outcome]:
    """JSON and enumerations are described to the model; the guarantee is missing where none can be given."""
    if value in _PLAIN_TYPES:
        return ()
    if value not in _SERVED_TYPES:
        problem = f"only the types text/plain, {JSON_TYPE} and {ENUM_TYPE} are served"
        return (Outcome(REFUSED, problem=problem),)
    if Feature.STRUCTURED_OUTPUT in context.features:
        return ()
    if Feature.SYSTEM_PROMPT not in context.features:
        return (Outcome(IGNORED, feature=Feature.STRUCTURED_OUTPUT),)
    described = Outcome(EMULATED, feature=Feature.STRUCTURED_OUTPUT)
    wanted = context.turn.output_format
    if wanted is not None and wanted.schema is not None:
        return (described,)
    return (described, Outcome(IGNORED, feature=Feature.STRUCTURED_OUTPUT))


def response_schema(value: Any, context: Context, path: str) -> Sequence[Outcome]:
    """The schema is described to the model; that the answer conforms is guaranteed only where it can be."""
    if Feature.STRUCTURED_OUTPUT in context.features:
        return ()
    feature = Feature.STRUCTURED_OUTPUT
    if Feature.SYSTEM_PROMPT not in context.features:
        return (Outcome(IGNORED, feature=feature),)
    return (Outcome(EMULATED, feature=feature), Outcome(IGNORED, feature=feature))
