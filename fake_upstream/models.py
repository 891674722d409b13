"""What a model says when no scenario is queued: its name decides."""

from __future__ import annotations

from fake_upstream.agent import act
from fake_upstream.schema_sample import minimal_arguments
from fake_upstream.speech import (
    NO_TEXT,
    TOOL_RESULT,
    Request,
    call,
    last_source,
    last_user_text,
    speak,
)
from fake_upstream.steps import Error, Step


def steps_for(request: Request) -> tuple[Step, ...]:
    """The answer of the model that the request names. A tool choice that cannot be obeyed is an error."""
    fault = tool_choice_fault(request)
    if fault is not None:
        return (Error("invalid_argument", fault),)
    match request.model:
        case "fake-tools":
            return call_tools(request, at_most=2)
        case "fake-tools-3":
            return call_tools(request, at_most=3)
        case "fake-reasoning":
            return speak(request, answer(request), reasoning="The answer is: " + answer(request))
        case "fake-agent":
            return act(request)
        case _:
            return speak(request, last_user_text(request))


def tool_choice_fault(request: Request) -> str | None:
    """What is wrong with #12, if anything."""
    if not request.HasField("tool_choice"):
        return None
    choice = request.tool_choice
    if choice.option_name not in ("none", "auto", "required", "function"):
        return f"unknown tool choice {choice.option_name!r}"
    if choice.option_name == "function" and choice.tool_name not in [tool.name for tool in request.tools]:
        return f"tool choice names an unknown tool {choice.tool_name!r}"
    return None


def call_tools(request: Request, at_most: int) -> tuple[Step, ...]:
    """Call the first tools with minimal arguments, or answer with text where a model would."""
    tools = list(request.tools)
    option = request.tool_choice.option_name
    if option == "function":
        tools = [next(tool for tool in tools if tool.name == request.tool_choice.tool_name)]
    elif option == "none" or not tools or last_source(request) == TOOL_RESULT:
        return speak(request, answer(request))
    if request.disable_parallel_tool_calls:
        at_most = 1
    return call(request, [(tool.name, minimal_arguments(tool.parameters)) for tool in tools[:at_most]])


def answer(request: Request) -> str:
    """What an echo has to say: the tool result when that is the last message, else the last user text."""
    if last_source(request) == TOOL_RESULT:
        return request.messages[-1].text or NO_TEXT
    return last_user_text(request)
