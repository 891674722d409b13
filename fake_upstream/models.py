"""What a model says when no scenario is queued: its name decides.

A rough token is four characters, rounded up, so that every number can be foretold. The input is the
system prompt, the texts of the messages with their calls' arguments, and the tools as they are declared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from app.upstreams.connect import wire_pb2
from fake_upstream.schema_sample import minimal_arguments
from fake_upstream.steps import End, Error, Finish, Reasoning, Step, Text, ToolArgs, ToolCallStart, Usage

USER, TOOL_RESULT = 1, 4
MAX_FRAME_BYTES = 8 * 1024
NO_TEXT = "(no text)"

Request = wire_pb2.GetChatMessageRequest


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
        # The model that plays a coding agent ("fake-agent") goes here, as a case with its own module.
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


def speak(request: Request, text: str, reasoning: str = "") -> tuple[Step, ...]:
    """Reasoning, then text, cut at the requested number of rough tokens, then usage and the finish."""
    tokens = rough_tokens(reasoning + text)
    if request.completion.HasField("max_tokens") and tokens > request.completion.max_tokens:
        tokens = request.completion.max_tokens
        reasoning, text = reasoning[: tokens * 4], text[: max(0, tokens * 4 - len(reasoning))]
    return (
        *(Reasoning(piece) for half in halves(reasoning) for piece in frames(half)),
        *(Text(piece) for piece in frames(text)),
        *_closing(request, tokens),
    )


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
    calls = [
        (
            ToolCallStart(index, f"call_{len(request.messages)}_{index}", tool.name),
            minimal_arguments(tool.parameters),
        )
        for index, tool in enumerate(tools[:at_most])
    ]
    tokens = rough_tokens("".join((start.name or "") + arguments for start, arguments in calls))
    return (*interleaved(calls), *_closing(request, tokens))


def interleaved(calls: Sequence[tuple[ToolCallStart, str]]) -> Iterator[Step]:
    """Each call with half of its arguments, then the other halves."""
    for start, arguments in calls:
        yield start
        yield ToolArgs(start.index, halves(arguments)[0])
    for start, arguments in calls:
        yield ToolArgs(start.index, halves(arguments)[1])


def answer(request: Request) -> str:
    """What an echo has to say: the tool result when that is the last message, else the last user text."""
    if last_source(request) == TOOL_RESULT:
        return request.messages[-1].text or NO_TEXT
    return last_user_text(request)


def last_user_text(request: Request) -> str:
    for message in reversed(request.messages):
        if message.source == USER and message.text:
            return message.text
    return NO_TEXT


def last_source(request: Request) -> int:
    return request.messages[-1].source if request.messages else 0


def frames(text: str) -> Iterator[str]:
    """Pieces of at most ``MAX_FRAME_BYTES`` of UTF-8, cut between code points."""
    data = text.encode()
    start = 0
    while start < len(data):
        end = min(start + MAX_FRAME_BYTES, len(data))
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end -= 1
        yield data[start:end].decode()
        start = end


def halves(text: str) -> tuple[str, str]:
    middle = len(text) // 2
    return text[:middle], text[middle:]


def rough_tokens(text: str) -> int:
    return -(-len(text) // 4)


def input_tokens(request: Request) -> int:
    parts = [request.system_prompt]
    for message in request.messages:
        parts.append(message.text)
        parts.extend(call.arguments_json for call in message.tool_calls)
    for tool in request.tools:
        parts += [tool.name, tool.description, tool.parameters]
    return rough_tokens("".join(parts))


def _closing(request: Request, completion: int) -> tuple[Step, ...]:
    return (Usage(fresh=input_tokens(request), completion=completion), Finish(2), End())
