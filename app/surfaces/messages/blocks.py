"""Content blocks -> parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from app.ledger import Disposition, Note
from app.seals import Seals
from app.surfaces.messages.history_text import call_text, result_text
from app.surfaces.messages.tools import ToolChange, read_tool
from app.surfaces.reading import (
    array,
    boolean,
    join,
    json_text,
    mapping,
    objects,
    required_string,
    string,
    wrong_type,
)
from app.turn.faults import TurnFault, invalid, unsupported
from app.turn.turn import ImagePart, Part, ReasoningPart, TextPart, ToolCallPart, ToolResultPart

Prose = TextPart | ImagePart


def required(problem_path: str) -> TurnFault:
    """The fault of a field that is not there."""
    return invalid("the field is required", problem_path, code="missing_required_parameter")


def text_at(holder: Mapping[str, Any], key: str, path: str) -> str:
    """``holder[key]`` as a string that is there; it may be empty."""
    value = string(holder, key, path)
    if value is None:
        raise required(join(path, key))
    return value


class BlockReader:
    """Reads the blocks of one request; gathers what they say about the ledger and about the tools."""

    def __init__(self, seals: Seals) -> None:
        self._seals = seals
        self.notes: list[Note] = []
        self.changes: list[ToolChange] = []

    def content(self, message: Mapping[str, Any], role: str, at: str) -> tuple[list[Part], bool]:
        """``content`` of a user or assistant message -> (parts, whether they stand for all that came before).

        Kinds that the ledger refuses are skipped. Raises INVALID_REQUEST for wrong shapes.
        """
        content = message.get("content")
        if type(content) is str:
            return ([TextPart(content)] if content else []), False
        if content is None:
            raise required(f"{at}.content")
        if type(content) is not list:
            raise wrong_type(content, "a string or an array", f"{at}.content")
        parts: list[Part] = []
        replaces = False
        for block, path in objects(content, f"{at}.content"):
            kind = block["type"]
            if kind == "text" and type(block.get("text")) is str:
                if block["text"]:
                    parts.append(TextPart(block["text"]))
            elif kind == "compaction":
                parts = [TextPart(self._summary(block, path))]
                replaces = True
            else:
                parts.extend(self._parts(block, role, path))
        return parts, replaces

    def _parts(self, block: Mapping[str, Any], role: str, path: str) -> Iterator[Part]:
        match block["type"]:
            case "tool_use":
                _only(role, "assistant", path)
                yield self._call(block, path)
            case "tool_result":
                _only(role, "user", path)
                yield self._result(block, path)
            case "thinking" | "redacted_thinking":
                _only(role, "assistant", path)
                yield from self._reasoning(block, path)
            case "server_tool_use" | "mcp_tool_use":
                yield TextPart(call_text(block, path))
            case (
                "web_search_tool_result"
                | "web_fetch_tool_result"
                | "code_execution_tool_result"
                | "bash_code_execution_tool_result"
                | "text_editor_code_execution_tool_result"
                | "tool_search_tool_result"
                | "advisor_tool_result"
                | "mcp_tool_result"
            ):
                yield TextPart(result_text(block))
            case "tool_addition" | "tool_removal":
                self.tool_change(block, path)
            case "mcp_tool_listing" | "fallback" | "container_upload":
                return
            case _:
                yield from prose(block, path)

    def _call(self, block: Mapping[str, Any], path: str) -> ToolCallPart:
        arguments = mapping(block, "input", path)
        if arguments is None:
            raise required(f"{path}.input")
        return ToolCallPart(
            required_string(block, "id", path),
            required_string(block, "name", path),
            json_text(arguments, f"{path}.input"),
            path,
        )

    def _result(self, block: Mapping[str, Any], path: str) -> ToolResultPart:
        parts: list[Prose] = []
        content = block.get("content")
        if type(content) is str:
            if content:
                parts.append(TextPart(content))
        elif type(content) is list:
            for inner, at in objects(content, f"{path}.content"):
                if inner["type"] == "tool_reference":
                    parts.append(TextPart(f"[tool reference: {required_string(inner, 'tool_name', at)}]"))
                elif inner["type"] != "browser_state":
                    parts.extend(prose(inner, at))
        elif content is not None:
            raise wrong_type(content, "a string or an array", f"{path}.content")
        return ToolResultPart(
            required_string(block, "tool_use_id", path),
            parts,
            path,
            boolean(block, "is_error", path) is True,
        )

    def _reasoning(self, block: Mapping[str, Any], path: str) -> Iterator[ReasoningPart]:
        """Under our own seal: a part, in its place. Anybody else's: a note."""
        text: str | None
        if block["type"] == "thinking":
            text = text_at(block, "thinking", path)
            if not self._seals.verifies(text, string(block, "signature", path) or ""):
                text = None
        else:
            text = self._seals.unwrap(text_at(block, "data", path))
        if text:
            yield ReasoningPart(text)
        else:
            row = f"messages[].content[].type={block['type']}"
            self.notes.append(Note(row, f"{path}.type", Disposition.IGNORED))

    def _summary(self, block: Mapping[str, Any], path: str) -> str:
        text = string(block, "content", path)
        if not text:
            raise unsupported("a summary that only the vendor can read cannot be served", f"{path}.content")
        for change, at in objects(array(block, "tool_changes", path) or [], f"{path}.tool_changes"):
            self.tool_change(change, at)
        return text

    def tool_change(self, block: Mapping[str, Any], path: str) -> None:
        """A ``tool_addition`` or ``tool_removal`` block."""
        adds = block["type"] == "tool_addition"
        reference, at = mapping(block, "tool", path), f"{path}.tool"
        if reference is None:
            raise required(at)
        if reference.get("type") == "tool_reference":
            self.changes.append(ToolChange(adds, required_string(reference, "name", at), f"{at}.name"))
        elif reference.get("type") == "tool_definition" and adds:
            definition, inside = mapping(reference, "definition", at), f"{at}.definition"
            if definition is None:
                raise required(inside)
            tool = read_tool(definition, inside)
            if tool is None:
                raise unsupported("only tools that the caller runs can be added", f"{inside}.type")
            self.changes.append(ToolChange(adds, tool.name, f"{inside}.name", tool))


def _only(role: str, wanted: str, path: str) -> None:
    if role != wanted:
        raise invalid(f"blocks of this type may stand in {wanted} messages only", f"{path}.type")


def prose(block: Mapping[str, Any], path: str) -> Iterator[Prose]:
    """Text, images, documents and search results: what may stand in a message and in a result alike."""
    match block["type"]:
        case "text":
            text = block.get("text")
            if type(text) is not str:
                text = text_at(block, "text", path)
            if text:
                yield TextPart(text)
        case "image":
            yield from _image(block, path)
        case "document":
            yield from _document(block, path)
        case "search_result":
            yield _search_result(block, path)
        case other:
            raise invalid(f"blocks of type '{other}' may not stand here", f"{path}.type")


def _image(block: Mapping[str, Any], path: str) -> Iterator[ImagePart]:
    source, at = mapping(block, "source", path), f"{path}.source"
    if source is None:
        raise required(at)
    if source.get("type") == "base64":
        mime_type = required_string(source, "media_type", at)
        if not mime_type.startswith("image/"):
            raise invalid("must be the MIME type of an image", f"{at}.media_type")
        yield ImagePart(required_string(source, "data", at), mime_type)


def _document(block: Mapping[str, Any], path: str) -> Iterator[Prose]:
    source, at = mapping(block, "source", path), f"{path}.source"
    if source is None:
        raise required(at)
    title, context = string(block, "title", path), string(block, "context", path)
    lines = [f"[document: {title}]"] if title else []
    if context:
        lines.append(context)
    if source.get("type") == "text":
        yield TextPart("\n".join([*lines, required_string(source, "data", at)]))
    elif source.get("type") == "content":
        content = source.get("content")
        if type(content) is str:
            yield TextPart("\n".join([*lines, required_string(source, "content", at)]))
            return
        if lines:
            yield TextPart("\n".join(lines))
        for inner, place in objects(array(source, "content", at) or [], f"{at}.content"):
            yield from prose(inner, place)


def _search_result(block: Mapping[str, Any], path: str) -> TextPart:
    lines = [f"[search result: {text_at(block, 'title', path)}]", text_at(block, "source", path)]
    content = array(block, "content", path)
    if content is None:
        raise required(f"{path}.content")
    lines.extend(text_at(inner, "text", at) for inner, at in objects(content, f"{path}.content"))
    return TextPart("\n".join(lines))
