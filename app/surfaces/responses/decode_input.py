"""``input`` -> system text and messages: what each kind of item means.

Assistant items that follow each other (reasoning, a message, calls) make one Message; every other item makes
its own. System and developer messages before the first user message are system text; later ones keep their
place as user messages that begin ``[system]``. Finished calls of hosted tools have become history: a line of
text in the assistant's name says what was done.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.ledger import Disposition, Note
from app.seals import Seals
from app.surfaces import freeform
from app.surfaces.reading import (
    array,
    data_uri_image,
    join,
    json_text,
    mapping,
    objects,
    one_of,
    required_string,
    string,
    wrong_type,
)
from app.surfaces.responses.client_tools import arguments_of_item
from app.surfaces.responses.errors import SURFACE
from app.surfaces.responses.tools import ToolBook, flat_name
from app.turn.faults import FaultKind, TurnFault, invalid
from app.turn.turn import (
    ImagePart,
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)

ROLES = ("user", "assistant", "system", "developer")
LATE_SYSTEM_MARK = "[system]\n"

HISTORY = "previous_response_id"
"""The path of all that comes from an earlier response: the field by which the caller named it."""

_SKIPPED = frozenset({"id", "type"})
_IMAGE_TYPES = {"png": "image/png", "webp": "image/webp", "jpeg": "image/jpeg", "gif": "image/gif"}


def required(holder: Mapping[str, Any], key: str, path: str) -> Any:
    """``holder[key]``, which must be there. Raises INVALID_REQUEST."""
    value = holder.get(key)
    if value is None:
        raise invalid("the field is required", join(path, key), code="missing_required_parameter")
    return value


def item_not_found(item_id: str, path: str) -> TurnFault:
    """The fault of a reference to an item that is not stored."""
    shown = item_id[:100]
    return TurnFault(
        FaultKind.INVALID_REQUEST,
        f"no item with id '{shown}' is stored",
        param=path,
        code="item_not_found",
        wording={SURFACE: f"Item with id '{shown}' not found."},
    )


class InputReader:
    """Read items into ``system``, ``messages`` and ``notes``; tools that items bring go into the book."""

    def __init__(self, book: ToolBook, seals: Seals) -> None:
        self.system: list[str] = []
        self.messages: list[Message] = []
        self.notes: list[Note] = []
        self._book = book
        self._seals = seals
        self._user_has_spoken = False
        self._local_calls: dict[str, str] = {}  # item id -> call id, by which local_shell outputs refer

    def read(self, value: Any) -> None:
        """Take in ``input``: a string, or a list of items. Raises INVALID_REQUEST with the path at fault."""
        if type(value) is str:
            if value:
                self._say_user([TextPart(value)], "input")
            return
        if type(value) is not list:
            raise wrong_type(value, "a string or an array", "input")
        for item, path in objects(value, "input"):
            self._read_item(item, path)

    def read_earlier(self, items: list[dict[str, Any]]) -> None:
        """Take in the items of earlier responses. What was to be said of them was said when they came."""
        for item in items:
            self._read_item(item, HISTORY)
            self._book.settle()
        self.notes.clear()

    def _read_item(self, item: Mapping[str, Any], path: str) -> None:
        match item.get("type"):
            case None | "message":
                self._message(item, path)
            case "function_call":
                arguments = string(item, "arguments", path)
                if arguments is None:
                    required(item, "arguments", path)
                self._call(item, path, arguments or "{}")
            case "custom_tool_call":
                text = string(item, "input", path)
                if text is None:
                    required(item, "input", path)
                self._call(item, path, freeform.wrap(text or ""), is_custom=True)
            case "function_call_output" | "custom_tool_call_output":
                parts = parts_of(required(item, "output", path), join(path, "output"))
                self._result(required_string(item, "call_id", path), parts, path)
            case "reasoning":
                self._reasoning(item, path)
            case "additional_tools":
                self._add_tools(item, path)
            case "tool_search_call":
                self._search_call(item, path)
            case "tool_search_output":
                self._search_output(item, path)
            case "local_shell_call" | "shell_call" | "apply_patch_call" as kind:
                self._client_call(kind, item, path)
            case "local_shell_call_output" | "shell_call_output" | "apply_patch_call_output" as kind:
                self._client_output(kind, item, path)
            case ("web_search_call" | "file_search_call" | "code_interpreter_call" | "mcp_call") as kind:
                self._hosted_call(kind, item, path)
            case "image_generation_call":
                self._image_call(item, path)
            case "item_reference":
                raise item_not_found(required_string(item, "id", path), join(path, "id"))
            case (
                "configuration_update"  # ignored by the ledger
                | "mcp_list_tools"
                | "mcp_approval_request"  # refused by the ledger, as all that follow
                | "mcp_approval_response"
                | "computer_call"
                | "computer_call_output"
                | "compaction"
                | "compaction_trigger"
                | "program"
                | "program_output"
            ):
                pass
            case kind:
                raise invalid(f"unknown value {str(kind)[:100]!r}", join(path, "type"))

    # Messages

    def _message(self, item: Mapping[str, Any], path: str) -> None:
        if item.get("type") is None and item.keys() <= _SKIPPED and item.get("id") is not None:
            raise item_not_found(required_string(item, "id", path), join(path, "id"))
        required_string(item, "role", path)
        role = one_of(item, "role", ROLES, path)
        at = join(path, "content")
        parts = parts_of(required(item, "content", path), at)
        match role:
            case "user":
                self._user_has_spoken = True
                self._say_user(parts, path)
            case "assistant":
                self._say_assistant(parts, path)
            case _:
                self._say_system(parts, path)

    def _say_user(self, parts: list[TextPart | ImagePart], path: str) -> None:
        if parts:
            self.messages.append(Message("user", [*parts], path))

    def _say_assistant(self, parts: list[TextPart | ImagePart], path: str) -> None:
        """A new assistant message, or the rest of one that so far is only reasoning."""
        if not parts:
            return
        last = self.messages[-1] if self.messages else None
        if (
            last is not None
            and last.role == "assistant"
            and all(isinstance(part, ReasoningPart) for part in last.parts)
        ):
            last.parts.extend(parts)
        else:
            self.messages.append(Message("assistant", [*parts], path))

    def _say_system(self, parts: list[TextPart | ImagePart], path: str) -> None:
        texts = [part.text for part in parts if isinstance(part, TextPart)]
        if len(texts) < len(parts):
            raise invalid("a system or developer message holds text only", join(path, "content"))
        if not self._user_has_spoken:
            self.system.extend(texts)
        elif texts:
            text = LATE_SYSTEM_MARK + "\n\n".join(texts)
            self.messages.append(Message("user", [TextPart(text)], path))
            self.notes.append(Note("input[type=message].role", join(path, "role"), Disposition.EMULATED))

    def _assistant_part(self, part: Part, path: str) -> None:
        if self.messages and self.messages[-1].role == "assistant":
            self.messages[-1].parts.append(part)
        else:
            self.messages.append(Message("assistant", [part], path))

    # Calls and results

    def _call(self, item: Mapping[str, Any], path: str, arguments: str, *, is_custom: bool = False) -> None:
        name = flat_name(required_string(item, "name", path), string(item, "namespace", path))
        call_id = required_string(item, "call_id", path)
        self._assistant_part(ToolCallPart(call_id, name, arguments, path, is_custom), path)

    def _result(
        self, call_id: str, parts: list[TextPart | ImagePart], path: str, *, is_error: bool = False
    ) -> None:
        result = ToolResultPart(call_id, parts, path, is_error)
        self.messages.append(Message("user", [result], path))

    def _client_call(self, kind: str, item: Mapping[str, Any], path: str) -> None:
        name = kind.removesuffix("_call")
        key = "operation" if name == "apply_patch" else "action"
        required(item, key, path)
        fields = mapping(item, key, path) or {}
        arguments = arguments_of_item(
            fields, join(path, key), without="type" if name == "local_shell" else ""
        )
        call_id = required_string(item, "call_id", path)
        if name == "local_shell" and (item_id := string(item, "id", path)):
            self._local_calls[item_id] = call_id
        self._assistant_part(ToolCallPart(call_id, name, arguments, path), path)

    def _client_output(self, kind: str, item: Mapping[str, Any], path: str) -> None:
        if kind == "local_shell_call_output":
            call_id = string(item, "call_id", path) or required_string(item, "id", path)
            text = string(item, "output", path) or ""
            self._result(self._local_calls.get(call_id, call_id), _text(text), path)
        elif kind == "shell_call_output":
            required(item, "output", path)
            outputs = array(item, "output", path) or []
            text = json_text(outputs, join(path, "output"))
            self._result(required_string(item, "call_id", path), _text(text), path)
        else:
            status = one_of(item, "status", ("completed", "failed"), path) or "completed"
            text = string(item, "output", path) or status
            failed = status == "failed"
            self._result(required_string(item, "call_id", path), _text(text), path, is_error=failed)

    # Reasoning

    def _reasoning(self, item: Mapping[str, Any], path: str) -> None:
        blob = string(item, "encrypted_content", path)
        said = _texts(item, "summary", path), _texts(item, "content", path)
        if blob is None:
            key = "content" if said[1] else "summary" if said[0] else None
            if key is not None:  # nobody's seal is on it
                row = f"input[type=reasoning].{key}"
                self.notes.append(Note(row, join(path, key), Disposition.IGNORED))
            return
        text = self._seals.unwrap(blob)
        if text:
            self._assistant_part(ReasoningPart(text), path)

    # Tools that items bring

    def _add_tools(self, item: Mapping[str, Any], path: str) -> None:
        one_of(item, "role", ("developer",), path)
        self._book.read(array(item, "tools", path) or [], join(path, "tools"))

    def _search_call(self, item: Mapping[str, Any], path: str) -> None:
        call_id = string(item, "call_id", path)
        if call_id is None or item.get("execution") == "server":
            self._hosted_call("tool_search_call", item, path)
            return
        arguments = required(item, "arguments", path)
        text = arguments if type(arguments) is str else json_text(arguments, join(path, "arguments"))
        self._assistant_part(ToolCallPart(call_id, "tool_search", text, path), path)

    def _search_output(self, item: Mapping[str, Any], path: str) -> None:
        found = ToolBook()
        tools = array(item, "tools", path) or []
        found.read(tools, join(path, "tools"))
        self._book.read(tools, join(path, "tools"))
        call_id = string(item, "call_id", path)
        if call_id is not None and item.get("execution") != "server":
            names = ", ".join(tool.name for tool in found.tools)
            text = f"Tools found: {names}" if names else "No tools found"
            self._result(call_id, [TextPart(text)], path)

    # Hosted tools: history

    def _hosted_call(self, kind: str, item: Mapping[str, Any], path: str) -> None:
        """One line of text in the assistant's name: the kind, and what the item says."""
        said = {key: value for key, value in item.items() if key not in _SKIPPED and value is not None}
        text = f"[{kind}] {json_text(said, path)}"
        self.messages.append(Message("assistant", [TextPart(text)], path))

    def _image_call(self, item: Mapping[str, Any], path: str) -> None:
        """The note, and the image itself as the user's: models look at images in the user's turns only."""
        data = string(item, "result", path)
        self._hosted_call("image_generation_call", {**item, "result": None}, path)
        mime_type = _IMAGE_TYPES.get(string(item, "output_format", path) or "png")
        if data and mime_type is not None:
            self.messages.append(Message("user", [ImagePart(data, mime_type)], path))


def _text(text: str) -> list[TextPart | ImagePart]:
    return [TextPart(text)] if text else []


def _texts(item: Mapping[str, Any], key: str, path: str) -> bool:
    """Whether the list of text objects ``item[key]`` says anything."""
    at = join(path, key)
    return any(string(part, "text", where) for part, where in objects(array(item, key, path) or [], at))


def parts_of(value: Any, path: str) -> list[TextPart | ImagePart]:
    """The ``content`` of a message or the ``output`` of a call: a string, or a list of parts.

    Raises INVALID_REQUEST with the path at fault. Files and images that are not in the body are left to the
    ledger, which refuses them.
    """
    if type(value) is str:
        return [TextPart(value)] if value else []
    if type(value) is not list:
        raise wrong_type(value, "a string or an array", path)
    parts: list[TextPart | ImagePart] = []
    for item, at in objects(value, path):
        match item.get("type"):
            case "input_text" | "output_text":
                text = string(item, "text", at)
                if text is None:
                    required(item, "text", at)
                elif text:
                    parts.append(TextPart(text))
            case "refusal":
                if text := string(item, "refusal", at):
                    parts.append(TextPart(text))
            case "input_image":
                image = _image(item, at)
                if image is not None:
                    parts.append(image)
            case "input_file":
                pass
            case kind:
                raise invalid(f"unknown value {str(kind)[:100]!r}", join(at, "type"))
    return parts


def _image(item: Mapping[str, Any], path: str) -> ImagePart | None:
    url = string(item, "image_url", path)
    if url is None:
        if string(item, "file_id", path) is None:
            required(item, "image_url", path)
        return None
    if url.startswith(("http://", "https://")):
        return None
    return ImagePart(*data_uri_image(url, join(path, "image_url")))
