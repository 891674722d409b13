"""How every fake model speaks: text, reasoning and calls as steps, with usage that can be foretold.

A rough token is four characters, rounded up. The input is the system prompt, the texts of the messages with
their calls' arguments, and the tools as they are declared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from app.upstreams.connect import wire_pb2
from fake_upstream.steps import End, Finish, Reasoning, Step, Text, ToolArgs, ToolCallStart, Usage

USER, ASSISTANT, TOOL_RESULT = 1, 2, 4
MAX_FRAME_BYTES = 8 * 1024
NO_TEXT = "(no text)"

Request = wire_pb2.GetChatMessageRequest


def speak(request: Request, text: str, reasoning: str = "") -> tuple[Step, ...]:
    """Reasoning, then text, cut at the requested number of rough tokens, then usage and the finish."""
    tokens = rough_tokens(reasoning + text)
    if request.completion.HasField("max_tokens") and tokens > request.completion.max_tokens:
        tokens = request.completion.max_tokens
        reasoning, text = reasoning[: tokens * 4], text[: max(0, tokens * 4 - len(reasoning))]
    return (
        *(Reasoning(piece) for half in halves(reasoning) for piece in frames(half)),
        *(Text(piece) for piece in frames(text)),
        *closing(request, tokens),
    )


def call(request: Request, calls: Sequence[tuple[str, str]]) -> tuple[Step, ...]:
    """These calls, each a tool's name and its arguments, then usage and the finish."""
    started = [
        (ToolCallStart(index, f"call_{len(request.messages)}_{index}", name), arguments)
        for index, (name, arguments) in enumerate(calls)
    ]
    tokens = rough_tokens("".join(name + arguments for name, arguments in calls))
    return (*interleaved(started), *closing(request, tokens))


def interleaved(calls: Sequence[tuple[ToolCallStart, str]]) -> Iterator[Step]:
    """Each call with half of its arguments, then the other halves."""
    for start, arguments in calls:
        yield start
        yield ToolArgs(start.index, halves(arguments)[0])
    for start, arguments in calls:
        yield ToolArgs(start.index, halves(arguments)[1])


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


def closing(request: Request, completion: int) -> tuple[Step, ...]:
    return (Usage(fresh=input_tokens(request), completion=completion), Finish(2), End())
