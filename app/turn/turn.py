"""A request in canonical form: one Turn, whatever protocol it was spoken in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from app.turn.tool_choice import ToolChoice

Role = Literal["user", "assistant"]


@dataclass(slots=True)
class TextPart:
    """Plain text; never empty (decoders drop empty text)."""

    text: str


@dataclass(slots=True)
class ImagePart:
    """An image as base64 text, exactly as it arrived, with its MIME type."""

    base64_data: str
    mime_type: str


@dataclass(slots=True)
class ToolCallPart:
    """A call that the model made earlier. ``arguments`` is the JSON text as it arrived, never re-serialised."""

    id: str
    name: str
    arguments: str
    path: str
    is_custom: bool = False


@dataclass(slots=True)
class ToolResultPart:
    """What a call returned. ``path`` is where the caller wrote it, for the message of a fault."""

    call_id: str
    parts: list[TextPart | ImagePart]
    path: str
    is_error: bool = False


@dataclass(slots=True)
class ReasoningPart:
    """Reasoning that came back in history and whose seal was ours."""

    text: str


Part = TextPart | ImagePart | ToolCallPart | ToolResultPart | ReasoningPart


@dataclass(slots=True)
class Message:
    """One message of the history. ``path`` is where the caller wrote it (``messages[3]``)."""

    role: Role
    parts: list[Part]
    path: str


@dataclass(slots=True)
class Tool:
    """A tool the model may call; ``parameters`` is a JSON Schema as text, complete (see ``complete_schema``)."""

    name: str
    description: str
    parameters: str
    strict: bool | None = None
    is_custom: bool = False


@dataclass(slots=True)
class Sampling:
    """How to sample. ``None`` is "the caller did not say", which differs from 0."""

    max_output_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    stop: tuple[str, ...] = ()


@dataclass(slots=True)
class OutputFormat:
    """A demanded shape of the answer: any JSON object, JSON by a schema, or one value of an enumeration."""

    kind: Literal["json_object", "json_schema", "enum"]
    schema: Any = None
    name: str | None = None
    description: str | None = None
    strict: bool = False


@dataclass(slots=True)
class Turn:
    """Everything one request asks of an upstream.

    ``session_key`` is the caller's own key for the conversation, if any; the pipeline makes ``session_id`` of it.
    ``show_reasoning`` false means that no reasoning text may reach the caller.
    """

    model: str
    messages: list[Message]
    system: str = ""
    tools: list[Tool] = field(default_factory=list)
    tool_choice: ToolChoice | None = None
    parallel_tool_calls: bool | None = None
    sampling: Sampling = field(default_factory=Sampling)
    output_format: OutputFormat | None = None
    stream: bool = False
    show_reasoning: bool = True
    session_key: str | None = None
    session_id: str = ""
    caller: str = ""
