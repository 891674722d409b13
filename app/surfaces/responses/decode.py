"""A ``POST /v1/responses`` body -> Turn.

Sources: the ``openai`` package's ``ResponseCreateParams`` and ``ResponseInputItemParam``; what Codex CLI and
opencode send.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.seals import Seals
from app.surfaces.reading import (
    array,
    boolean,
    integer,
    join,
    json_text,
    mapping,
    metadata,
    number,
    one_of,
    required_string,
    string,
)
from app.surfaces.responses.decode_input import InputReader, required
from app.surfaces.responses.decode_tool_choice import decode_tool_choice
from app.surfaces.responses.recall import NOTHING_KEPT, Recall
from app.surfaces.responses.tools import ToolBook
from app.surfaces.surface import Decoded
from app.turn.faults import invalid
from app.turn.history import check_tool_history
from app.turn.turn import OutputFormat, Sampling, Turn

_INT32 = 2**31 - 1
SUMMARIES = ("auto", "concise", "detailed")
ENCRYPTED_REASONING = "reasoning.encrypted_content"

_STRINGS = (
    "prompt_cache_retention",
    "safety_identifier",
    "service_tier",
    "truncation",
    "user",
)
_BOOLEANS = ("background", "store")
_OBJECTS = ("prompt", "stream_options", "prompt_cache_options", "moderation", "background_options")


@dataclass(slots=True)
class Echo:
    """What the encoder must remember of a request.

    ``body`` is the request itself, ``book`` tells what the flat tool names stand for. Reasoning text goes out
    as summary parts when ``shows_summary``, and sealed when ``seals_reasoning``. ``items`` is the input with the
    items that it refers to in their place.
    """

    body: Mapping[str, Any]
    book: ToolBook
    shows_summary: bool
    seals_reasoning: bool
    items: Any = None


def decode(body: dict[str, Any], seals: Seals, recall: Recall = NOTHING_KEPT) -> Decoded:
    """Body -> turn. Raises INVALID_REQUEST, with the path as sent, for what the protocol cannot mean.

    ``recall`` finds earlier responses and their items.
    """
    model = required_string(body, "model")
    _check_types(body)
    book = ToolBook()
    reader = InputReader(book, seals)
    if instructions := string(body, "instructions"):
        reader.system.append(instructions)
    items = required(body, "input", "")
    if items in ("", []):
        raise invalid("must not be empty", "input")
    recalled = recall.all(string(body, "previous_response_id") or None, items)
    reader.read_earlier(recalled.history)
    book.read(array(body, "tools") or [], "tools")
    reader.read(recalled.items)
    if recalled.fault is None:
        check_tool_history(reader.messages)
    choice, notes = decode_tool_choice(body.get("tool_choice"), book)
    shows_summary, seals_reasoning = _reasoning(body)
    turn = Turn(
        model=model,
        messages=reader.messages,
        system="\n\n".join(reader.system),
        tools=book.tools,
        tool_choice=choice,
        parallel_tool_calls=boolean(body, "parallel_tool_calls"),
        sampling=_sampling(body),
        output_format=_output_format(body),
        stream=boolean(body, "stream") is True,
        show_reasoning=shows_summary or seals_reasoning,
        session_key=string(body, "prompt_cache_key") or None,
    )
    echo = Echo(body, book, shows_summary, seals_reasoning, recalled.items)
    notes = [*reader.notes, *notes]
    return Decoded(turn, notes, echo, max_tokens_path="max_output_tokens", deferred=recalled.fault)


def _check_types(body: Mapping[str, Any]) -> None:
    """The types of what the turn has no place for, and that its echo or the ledger must be able to trust."""
    for key in _STRINGS:
        string(body, key)
    for key in _BOOLEANS:
        boolean(body, key)
    for key in _OBJECTS:
        mapping(body, key)
    integer(body, "max_tool_calls")
    integer(body, "top_logprobs", high=20)
    array(body, "context_management")
    metadata(body)


def _sampling(body: Mapping[str, Any]) -> Sampling:
    return Sampling(
        max_output_tokens=integer(body, "max_output_tokens", low=1),
        temperature=number(body, "temperature", low=0, high=2),
        top_p=number(body, "top_p", low=0, high=1),
        top_k=integer(body, "top_k", high=_INT32),
    )


def _output_format(body: Mapping[str, Any]) -> OutputFormat | None:
    text = mapping(body, "text") or {}
    one_of(text, "verbosity", ("low", "medium", "high"), "text")
    path = "text.format"
    wanted = mapping(text, "format", "text")
    if wanted is None:
        return None
    match wanted.get("type"):
        case "text":
            return None
        case "json_object":
            return OutputFormat("json_object")
        case "json_schema":
            required(wanted, "schema", path)
            json_text({"response": {"text": text}}, join(path, "schema"))  # as deep as replies echo it
            return OutputFormat(
                "json_schema",
                schema=mapping(wanted, "schema", path),
                name=required_string(wanted, "name", path),
                description=string(wanted, "description", path),
                strict=boolean(wanted, "strict", path) is True,
            )
        case kind:
            raise invalid(f"unknown value {str(kind)[:100]!r}", join(path, "type"))


def _reasoning(body: Mapping[str, Any]) -> tuple[bool, bool]:
    """(whether reasoning goes out as summary parts, whether it goes out sealed)."""
    reasoning = mapping(body, "reasoning") or {}
    effort = string(reasoning, "effort", "reasoning")
    summary = one_of(reasoning, "summary", SUMMARIES, "reasoning")
    older = one_of(reasoning, "generate_summary", SUMMARIES, "reasoning")
    for key in ("context", "mode"):
        string(reasoning, key, "reasoning")
    include = array(body, "include") or []
    if effort == "none":
        return False, False
    return (summary or older) is not None, ENCRYPTED_REASONING in include
