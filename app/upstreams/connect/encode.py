"""Turn -> GetChatMessageRequest bytes. What is emitted is decided by the upstream's ``features`` alone.

"Would not be emitted" and "is counted as ignored" are one predicate: whoever tells a caller what became of a
parameter reads the same set.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import assert_never

import orjson

from app.turn.faults import invalid
from app.turn.features import Feature
from app.turn.tool_choice import plan
from app.turn.turn import (
    ImagePart,
    Message,
    OutputFormat,
    ReasoningPart,
    Sampling,
    TextPart,
    Tool,
    ToolCallPart,
    ToolResultPart,
    Turn,
)
from app.upstreams.connect import wire_pb2
from app.upstreams.connect.coordinates import Coordinates

USER, ASSISTANT, TOOL_RESULT = 1, 2, 4
"""ChatMessage.source."""

REQUEST_KIND = 5
REQUEST_FLAG = 1
COMPLETION_MODE = 1
MAX_NEWLINES = 128_000
MODEL_TURN, MODEL_KIND = 1, 4
PROMPT_CACHE_TYPE = 1
LOCALE = "en"

LEAST_TEMPERATURE = 0.001
"""Sent for 0, which the upstream fails on."""
NEUTRAL_SYSTEM = "You are a helpful assistant."
"""Sent with tools where the caller gave no system text: the upstream fails on tools without any."""
ERROR_MARK = "[error]\n"
"""The first line of a tool result that reports a failure."""

_UINT32_MAX = 0xFFFF_FFFF


@dataclass(frozen=True, slots=True)
class Identity:
    """Who Candor says it is. ``user_jwt`` is empty unless its switch is on."""

    client_name: str
    client_version: str
    user_jwt: str = ""


class RequestEncoder:
    """Encodes turns for one set of features; holds no state of a turn."""

    def __init__(self, features: frozenset[Feature], coordinates: Coordinates, identity: Identity) -> None:
        self._features = features
        self._coordinates = coordinates
        self._identity = identity

    def encode(self, turn: Turn, selector: str, token: str) -> bytes:
        """The request as protobuf. Raises an INVALID_REQUEST fault for a number that the wire cannot hold."""
        features = self._features
        plan_ = plan(turn.tool_choice, turn.tools, carries_choice=Feature.TOOL_CHOICE in features)
        request = wire_pb2.GetChatMessageRequest(
            system_prompt=self._system(turn, has_tools=bool(plan_.tools)),
            request_kind=REQUEST_KIND,
            session_id=turn.session_id,
            request_flag=REQUEST_FLAG,
            model=selector,
        )
        self._identify(request.metadata, token)
        _MessageWriter(request, turn.session_id, features).write(turn.messages)
        _sample(request.completion, turn.sampling, features)
        _offer(request, plan_.tools, strict=Feature.STRICT_TOOLS in features)
        if Feature.PROMPT_CACHE in features:
            request.prompt_cache_options.type = PROMPT_CACHE_TYPE
        config = request.model_config
        config.id, config.turn, config.kind = selector, MODEL_TURN, MODEL_KIND
        payload = request.SerializeToString()
        # The two fields with movable numbers follow, encoded here: one path, whatever their numbers are.
        if turn.parallel_tool_calls is False and Feature.DISABLE_PARALLEL_TOOL_CALLS in features:
            payload += self._coordinates.parallel_disabled()
        if plan_.option is not None and Feature.TOOL_CHOICE in features:
            payload += self._coordinates.tool_choice(plan_.option, plan_.tool_name)
        return payload

    def _identify(self, metadata: wire_pb2.ClientMetadata, token: str) -> None:
        identity = self._identity
        metadata.client_name = metadata.ide_name = identity.client_name
        metadata.client_version = metadata.ide_version = identity.client_version
        metadata.session_token = token
        metadata.locale = LOCALE
        metadata.os = sys.platform
        metadata.user_jwt = identity.user_jwt

    def _system(self, turn: Turn, *, has_tools: bool) -> str:
        system = turn.system
        if turn.output_format is not None and Feature.STRUCTURED_OUTPUT not in self._features:
            line = describe_format(turn.output_format)
            system = f"{system}\n\n{line}" if system else line
        if has_tools and not system and Feature.TOOLS_WITHOUT_SYSTEM not in self._features:
            system = NEUTRAL_SYSTEM
        return system


def describe_format(wanted: OutputFormat) -> str:
    """One line of system text that asks for ``wanted``."""
    match wanted.kind:
        case "json_object":
            line = "Answer with one JSON object and nothing else."
        case "json_schema":
            line = "Answer with one JSON value that conforms to this JSON Schema and nothing else: "
            line += _line(wanted.schema)
        case "enum":
            line = "Answer with exactly one of the values that this JSON Schema allows and nothing else: "
            line += _line(wanted.schema)
        case _:
            assert_never(wanted.kind)
    if wanted.name:
        line += f" Its name: {_line(wanted.name)}."
    if wanted.description:
        line += f" What it is: {_line(wanted.description)}."
    return line


def _line(value: object) -> str:
    return orjson.dumps(value).decode()


def _sample(completion: wire_pb2.CompletionConfig, sampling: Sampling, features: frozenset[Feature]) -> None:
    completion.mode = COMPLETION_MODE
    completion.max_newlines = MAX_NEWLINES
    if sampling.max_output_tokens is not None and Feature.MAX_OUTPUT_TOKENS in features:
        completion.max_tokens = _uint32(sampling.max_output_tokens, "the output token limit")
    if sampling.temperature is not None and Feature.TEMPERATURE in features:
        zero_fails = sampling.temperature == 0 and Feature.TEMPERATURE_ZERO not in features
        completion.temperature = LEAST_TEMPERATURE if zero_fails else sampling.temperature
    if sampling.top_k is not None and Feature.TOP_K in features:
        completion.top_k = _uint32(sampling.top_k, "top-k")
    if sampling.top_p is not None and Feature.TOP_P in features:
        completion.top_p = sampling.top_p


def _uint32(value: int, what: str) -> int:
    if not 0 <= value <= _UINT32_MAX:
        raise invalid(f"{what} must be from 0 to {_UINT32_MAX}")
    return value


def _offer(request: wire_pb2.GetChatMessageRequest, tools: Sequence[Tool], *, strict: bool) -> None:
    add = request.tools.add
    for tool in tools:
        offered = add(name=tool.name, description=tool.description, parameters=tool.parameters)
        if strict and tool.strict is not None:
            offered.strict = tool.strict


class _MessageWriter:
    """Writes one history. One Message becomes one wire message for each stretch of text and images, each call
    and each result, in the order of its parts.

    The text parts of one stretch, and of one result, are joined by a newline. Reasoning goes on the
    assistant's next wire message, or on one of its own when the user speaks first.
    """

    def __init__(
        self, request: wire_pb2.GetChatMessageRequest, session_id: str, features: frozenset[Feature]
    ) -> None:
        self._add = request.messages.add
        self._hash = blake2b(session_id.encode(), digest_size=8)
        self._count = 0
        self._source = USER
        self._texts: list[str] = []
        self._images: list[ImagePart] = []
        self._reasoning: list[str] = []
        self._carries_reasoning = Feature.REASONING_HISTORY in features
        self._carries_images = Feature.IMAGES in features
        self._marks_errors = Feature.TOOL_ERROR_FLAG not in features

    def write(self, messages: Sequence[Message]) -> None:
        for message in messages:
            self._source = USER if message.role == "user" else ASSISTANT
            if message.role == "user":
                self._settle_reasoning()
            for part in message.parts:
                match part:
                    case TextPart():
                        self._texts.append(part.text)
                    case ImagePart():
                        if self._carries_images:
                            self._images.append(part)
                    case ToolCallPart():
                        self._flush()
                        self._write_call(part)
                    case ToolResultPart():
                        self._flush()
                        self._write_result(part)
                    case ReasoningPart():
                        if self._carries_reasoning:
                            self._flush()
                            self._reasoning.append(part.text)
                    case _:
                        assert_never(part)
            self._flush()
        self._settle_reasoning()

    def _settle_reasoning(self) -> None:
        """Give reasoning that nothing of the assistant's followed a wire message of its own."""
        if self._reasoning:
            self._new(ASSISTANT)

    def _new(self, source: int, text: str = "") -> wire_pb2.ChatMessage:
        """Add a wire message. Its id depends on nothing but the session and its place."""
        digest = self._hash.copy()
        digest.update(b":%d" % self._count)
        self._count += 1
        written = self._add(message_id=digest.hexdigest(), source=source, text=text)
        if self._reasoning:
            written.reasoning = "\n".join(self._reasoning)
            self._reasoning.clear()
        return written

    def _flush(self) -> None:
        """Write the stretch of text and images that has been gathered, if any."""
        if not self._texts and not self._images:
            return
        written = self._new(self._source, "\n".join(self._texts))
        _attach(written, self._images)
        self._texts.clear()
        self._images.clear()

    def _write_call(self, call: ToolCallPart) -> None:
        written = self._new(ASSISTANT).tool_calls.add(
            id=call.id, name=call.name, arguments_json=call.arguments
        )
        if call.is_custom:
            written.is_custom = True

    def _write_result(self, result: ToolResultPart) -> None:
        text = "\n".join(part.text for part in result.parts if isinstance(part, TextPart))
        if result.is_error and self._marks_errors:
            text = ERROR_MARK + text
        written = self._new(TOOL_RESULT, text)
        written.tool_call_id = result.call_id
        if self._carries_images:
            _attach(written, [part for part in result.parts if isinstance(part, ImagePart)])


def _attach(written: wire_pb2.ChatMessage, images: Sequence[ImagePart]) -> None:
    for image in images:
        written.images.add(base64_data=image.base64_data, mime_type=image.mime_type)
