"""The body of a Messages request -> a turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.ledger import Disposition, Note
from app.seals import Seals
from app.surfaces.messages import betas
from app.surfaces.messages.blocks import BlockReader, required, text_at
from app.surfaces.messages.tools import ToolList, read_tool_choice
from app.surfaces.reading import (
    array,
    boolean,
    check_stops,
    integer,
    json_text,
    mapping,
    number,
    objects,
    one_of,
    required_string,
    string,
    strings,
    wrong_type,
)
from app.surfaces.surface import Decoded, RequestFacts
from app.turn.faults import invalid
from app.turn.history import check_tool_history
from app.turn.turn import Message, OutputFormat, Role, Sampling, TextPart, Turn

LATE_SYSTEM = "[system]\n"
MOST_STOPS = 64
"""Stop sequences a request may have; the vendor names no bound, but all are looked for in every delta."""
"""How a system message begins that keeps its place as a user message."""

_HEADER_ROWS = {
    "anthropic-user-profile-id": "user_profile_id",
    "anthropic-workspace-id": "workspace_id",
}


@dataclass(frozen=True, slots=True)
class Echo:
    """What a reply must remember of its request."""

    model: str
    manages_context: bool


class Decoder:
    """Decodes bodies that the ledger has walked; ``counts_only`` is for ``count_tokens``."""

    def __init__(self, seals: Seals, *, counts_only: bool = False) -> None:
        self._seals = seals
        self._counts_only = counts_only

    def decode(self, body: dict[str, Any], facts: RequestFacts) -> Decoded:
        """Raises INVALID_REQUEST for wrong shapes and UNSUPPORTED_PARAMETER for summaries we cannot read."""
        model = required_string(body, "model")
        history = _History(self._seals, body)
        tools = ToolList()
        tools.declare(array(body, "tools") or [])
        tools.change(history.blocks.changes)
        choice, parallel = read_tool_choice(body)
        tools.check(choice)
        turn = Turn(
            model,
            history.messages,
            system="\n\n".join(history.system),
            tools=tools.tools,
            tool_choice=choice,
            parallel_tool_calls=parallel,
            sampling=self._sampling(body),
            output_format=_output_format(body),
            stream=boolean(body, "stream") is True and not self._counts_only,
            show_reasoning=_shows_thinking(body),
            session_key=string(mapping(body, "metadata") or {}, "user_id", "metadata"),
        )
        notes = [*_header_notes(facts.headers), *history.blocks.notes, *history.notes]
        return Decoded(turn, notes, Echo(model, body.get("context_management") is not None))

    def _sampling(self, body: Mapping[str, Any]) -> Sampling:
        max_tokens = integer(body, "max_tokens", low=1)
        if max_tokens is None and not self._counts_only:
            raise required("max_tokens")
        stop = strings(body, "stop_sequences") or ()
        check_stops(stop, MOST_STOPS, "stop_sequences")
        return Sampling(
            max_tokens,
            number(body, "temperature", low=0, high=1),
            number(body, "top_p", low=0, high=1),
            integer(body, "top_k"),
            stop,
        )


class _History:
    """System text and messages, in one pass."""

    def __init__(self, seals: Seals, body: Mapping[str, Any]) -> None:
        self.blocks = BlockReader(seals)
        self.system: list[str] = _system_texts(body.get("system"), "system")
        self.messages: list[Message] = []
        self.notes: list[Note] = []
        self._user_has_spoken = False
        self._joins = False
        items = array(body, "messages")
        if not items:
            raise (
                required("messages")
                if items is None
                else invalid("at least one message is required", "messages")
            )
        last_role = ""
        for message, at in objects(items, "messages"):
            last_role = message["role"]
            if last_role == "system":
                self._read_system(message, at)
            else:
                self._read(message, "user" if last_role == "user" else "assistant", at)
        if last_role == "assistant" and self.messages and self.messages[-1].role == "assistant":
            path = f"messages[{len(items) - 1}].role"
            self.notes.append(Note("messages[].role=assistant", path, Disposition.EMULATED))
        check_tool_history(self.messages)

    def _read(self, message: Mapping[str, Any], role: Role, at: str) -> None:
        parts, replaces = self.blocks.content(message, role, at)
        if replaces:
            self.messages.clear()
        if role == "user":
            self._user_has_spoken = True
        if not parts:
            return
        if self._joins and self.messages and self.messages[-1].role == role:
            self.messages[-1].parts.extend(parts)
        else:
            self.messages.append(Message(role, parts, at))
        self._joins = True

    def _read_system(self, message: Mapping[str, Any], at: str) -> None:
        """System text before the first user turn; later a user message of its own, in its place."""
        texts = _system_texts(message.get("content"), f"{at}.content", self.blocks)
        if not texts:
            return
        if not self._user_has_spoken:
            self.system.extend(texts)
            return
        text = LATE_SYSTEM + "\n\n".join(texts)
        self.messages.append(Message("user", [TextPart(text)], at))
        self._joins = False


def _system_texts(content: Any, path: str, blocks: BlockReader | None = None) -> list[str]:
    """A string or text blocks -> the texts that are not empty. ``blocks`` takes changes of tools."""
    if content is None:
        if blocks is None:
            return []
        raise required(path)
    if type(content) is str:
        return [content] if content else []
    if type(content) is not list:
        raise wrong_type(content, "a string or an array", path)
    texts: list[str] = []
    for block, at in objects(content, path):
        kind = block.get("type") or "text"
        if kind == "text":
            text = text_at(block, "text", at)
            if text:
                texts.append(text)
        elif blocks is not None and kind in ("tool_addition", "tool_removal"):
            blocks.tool_change(block, at)
        else:
            raise invalid("only text may stand in a system message", f"{at}.type")
    return texts


def _output_format(body: Mapping[str, Any]) -> OutputFormat | None:
    config = mapping(body, "output_config") or {}
    wanted, path = mapping(config, "format", "output_config"), "output_config.format"
    older = mapping(body, "output_format")
    if older is not None:
        if wanted is not None:
            raise invalid("says the same as output_config.format; one of them must go", "output_format")
        wanted, path = older, "output_format"
    if wanted is None:
        return None
    schema = mapping(wanted, "schema", path)
    if schema is None:
        raise required(f"{path}.schema")
    json_text(schema, f"{path}.schema")  # the encoder will have to write it
    return OutputFormat("json_schema", schema)


def _shows_thinking(body: Mapping[str, Any]) -> bool:
    """Whether the caller asked to see thinking: it does unless ``thinking`` is absent, disabled or omitted."""
    thinking = mapping(body, "thinking")
    if thinking is None:
        return False
    integer(thinking, "budget_tokens", "thinking")
    display = one_of(thinking, "display", ("summarized", "omitted", "updates"), "thinking")
    return thinking.get("type") != "disabled" and display != "omitted"


def _header_notes(headers: Mapping[str, str]) -> list[Note]:
    notes = betas.notes(headers.get(betas.HEADER, ""))
    for header, row in _HEADER_ROWS.items():
        if headers.get(header):
            notes.append(Note(row, header, Disposition.IGNORED))
    return notes
