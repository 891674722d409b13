"""Outcomes that depend on the value, on other fields or on the upstream; each stands beside its row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.ledger import Context, Disposition, Outcome
from app.ledger.parameter import Rule
from app.seals import Seals
from app.turn.features import Feature
from app.turn.turn import ImagePart, Part, ReasoningPart, ToolCallPart, ToolResultPart

FORWARDED, EMULATED = Disposition.FORWARDED, Disposition.EMULATED
IGNORED, REFUSED = Disposition.IGNORED, Disposition.REFUSED

HISTORY = "previous_response_id"
"""The path of all parts that come from earlier responses."""

Outcomes = Sequence[Outcome]
NOTHING: Outcomes = ()


def temperature(value: Any, context: Context, path: str) -> Outcomes:
    """Ignored without the feature; 0 is sent as something small where the upstream fails on it."""
    if Feature.TEMPERATURE not in context.features:
        return (Outcome(IGNORED, feature=Feature.TEMPERATURE),)
    if value == 0 and Feature.TEMPERATURE_ZERO not in context.features:
        return (Outcome(EMULATED, feature=Feature.TEMPERATURE_ZERO),)
    return (Outcome(FORWARDED),)


def parallel_tool_calls(value: Any, context: Context, path: str) -> Outcomes:
    """Only the exact ``false`` asks for something."""
    if value is not False:
        return NOTHING
    feature = Feature.DISABLE_PARALLEL_TOOL_CALLS
    return (Outcome(FORWARDED if feature in context.features else IGNORED, feature=feature),)


def tool_choice(value: Any, context: Context, path: str) -> Outcomes:
    """By what the plan makes of it (DESIGN section 2)."""
    choice, plan = context.turn.tool_choice, context.tool_plan
    if choice is None or (choice.mode == "auto" and choice.names is None):
        return NOTHING
    if choice.mode == "none":
        return (Outcome(EMULATED, exact=True),)
    outcomes: list[Outcome] = []
    if plan.narrowed:
        outcomes.append(Outcome(EMULATED))
    if plan.force_ignored:
        outcomes.append(Outcome(IGNORED, feature=Feature.TOOL_CHOICE))
    return outcomes or (Outcome(FORWARDED, feature=Feature.TOOL_CHOICE),)


def tools(value: Any, context: Context, path: str) -> Outcomes:
    """Tools that are offered need an upstream that has them, and on some a system text."""
    if not value or not context.tool_plan.tools:
        return NOTHING
    if Feature.TOOLS not in context.features:
        return (Outcome(REFUSED, feature=Feature.TOOLS, problem="the upstream of this model has no tools"),)
    if not context.turn.system and Feature.TOOLS_WITHOUT_SYSTEM not in context.features:
        return (Outcome(EMULATED, feature=Feature.TOOLS_WITHOUT_SYSTEM),)
    return NOTHING


def input_items(value: Any, context: Context, path: str) -> Outcomes:
    """Calls and results in history need an upstream that has tools: without them the history is not the same."""
    if Feature.TOOLS in context.features or type(value) is str:
        return system_items(value, context, path)
    problem = "the upstream of this model has no tools, so a call or its result cannot be part of the history"
    return [
        *system_items(value, context, path),
        *(
            Outcome(REFUSED, at=f"{part.path}.type", feature=Feature.TOOLS, problem=problem)
            for message in context.turn.messages
            for part in message.parts
            if isinstance(part, ToolCallPart | ToolResultPart) and part.path != HISTORY
        ),
    ]


def not_kept(value: Any, context: Context, path: str) -> Outcomes:
    """Nothing is kept here: a wish for it is ignored."""
    return (Outcome(IGNORED),)


def from_kept(value: Any, context: Context, path: str) -> Outcomes:
    """What is taken from kept responses needs what it would need had the caller sent it."""
    at = path.removesuffix(".type")
    outcomes = [Outcome(EMULATED, exact=True)]
    for message in context.turn.messages:
        for part in message.parts:
            if getattr(part, "path", message.path) == at:
                outcomes += _needs(part, context, at)
    lacks_system = context.turn.system and Feature.SYSTEM_PROMPT not in context.features
    if lacks_system and at == HISTORY:
        problem = "the upstream of this model takes no system text"
        outcomes.append(Outcome(REFUSED, feature=Feature.SYSTEM_PROMPT, problem=problem))
    return list(dict.fromkeys(outcomes))


def _needs(part: Part, context: Context, at: str) -> Outcomes:
    """What becomes of a part of a kept response on an upstream that cannot carry it."""
    if isinstance(part, ToolCallPart | ToolResultPart) and Feature.TOOLS not in context.features:
        problem = "it holds calls of tools, which the upstream of this model does not have"
        return (Outcome(REFUSED, at=at, feature=Feature.TOOLS, problem=problem),)
    if isinstance(part, ImagePart) and Feature.IMAGES not in context.features:
        problem = "it holds images, which the upstream of this model does not read"
        return (Outcome(REFUSED, at=at, feature=Feature.IMAGES, problem=problem),)
    if isinstance(part, ReasoningPart) and Feature.REASONING_HISTORY not in context.features:
        return (Outcome(IGNORED, at=at, feature=Feature.REASONING_HISTORY),)
    return NOTHING


def system_items(value: Any, context: Context, path: str) -> Outcomes:
    """System text needs a system prompt, unless it came late and became a user message."""
    if Feature.SYSTEM_PROMPT in context.features or not context.turn.system or type(value) is not list:
        return NOTHING
    problem = "the upstream of this model takes no system text"
    messages = {message.path for message in context.turn.messages}
    return [
        Outcome(REFUSED, at=f"{path}[{index}].role", feature=Feature.SYSTEM_PROMPT, problem=problem)
        for index, item in enumerate(value)
        if item.get("role") in ("system", "developer") and f"{path}[{index}]" not in messages
    ]


def withheld(value: Any, context: Context, path: str) -> Outcomes:
    """A hosted tool that clients declare by default: a permission while other tools make do, else a demand."""
    choice = context.turn.tool_choice
    forced = choice is not None and choice.mode == "required" and choice.names is None
    if context.turn.tools and not forced:
        return (Outcome(IGNORED),)
    why = "any tool may be the forced one" if forced else "the request has no other tool"
    return (Outcome(REFUSED, problem=f"no upstream runs {value}, and {why}"),)


def tool_search(value: Any, context: Context, path: str) -> Outcomes:
    """With client execution an ordinary call; the service's own search finds every tool loaded."""
    if any(tool.name == "tool_search" for tool in context.turn.tools):
        return (Outcome(EMULATED, exact=True),)
    return (Outcome(IGNORED),)


def custom_format(value: Any, context: Context, path: str) -> Outcomes:
    """Free text asks for nothing; a grammar is described to the model and not enforced."""
    return NOTHING if isinstance(value, dict) and value.get("type") == "text" else (Outcome(IGNORED),)


def text_format(value: Any, context: Context, path: str) -> Outcomes:
    """Described in a line of system text; what is missing without the feature is the guarantee."""
    wanted = context.turn.output_format
    if wanted is None:
        return NOTHING
    feature = Feature.STRUCTURED_OUTPUT
    if feature in context.features:
        return (Outcome(FORWARDED, feature=feature),)
    if Feature.SYSTEM_PROMPT not in context.features:
        return (Outcome(IGNORED, feature=feature),)
    guarantee = ".strict" if wanted.strict else ".type"
    return (Outcome(EMULATED), Outcome(IGNORED, below=guarantee, feature=feature))


def failed(value: Any, context: Context, path: str) -> Outcomes:
    """A failed patch is marked in its result's text where the upstream has no flag for it."""
    if value != "failed":
        return NOTHING
    feature = Feature.TOOL_ERROR_FLAG
    return (Outcome(FORWARDED if feature in context.features else EMULATED, feature=feature),)


def image_url(value: Any, context: Context, path: str) -> Outcomes:
    """Only images that are in the body are served."""
    if type(value) is str and not value.startswith(("http://", "https://")):
        return NOTHING
    problem = "remote URLs are not fetched; send the image as a data: URI"
    return (Outcome(REFUSED, code="unsupported_value", problem=problem),)


def caller(value: Any, context: Context, path: str) -> Outcomes:
    """A call by the model itself is any call; one by a hosted program is served as if it were."""
    return NOTHING if isinstance(value, dict) and value.get("type") == "direct" else (Outcome(IGNORED),)


def generate(value: Any, context: Context, path: str) -> Outcomes:
    """A turn without an answer cannot be run; one with an answer is what every request is."""
    return NOTHING if value is not False else (Outcome(REFUSED),)


def prewarm(value: Any, context: Context, path: str) -> Outcomes:
    """As ``generate: false``."""
    return NOTHING if value is not True else (Outcome(REFUSED),)


def sealed_reasoning(seals: Seals) -> Rule:
    """Reasoning under our own seal is forwarded where the upstream takes it back; anyone else's is ignored."""

    def rule(value: Any, context: Context, path: str) -> Outcomes:
        feature = Feature.REASONING_HISTORY
        if seals.unwrap(value) is None:
            return (Outcome(IGNORED),)
        return (Outcome(FORWARDED if feature in context.features else IGNORED, feature=feature),)

    return rule
