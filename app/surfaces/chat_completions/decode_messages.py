"""``messages`` -> system text and history, in one pass.

Every role and part kind is mapped or refused; nothing is quietly made into something else. The walk of the
ledger has been here before, so kinds that no row names do not come here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.ledger import Disposition, Note
from app.surfaces import freeform, reading
from app.turn.faults import TurnFault, invalid
from app.turn.history import check_tool_history
from app.turn.turn import ImagePart, Message, Part, Role, TextPart, ToolCallPart, ToolResultPart

LATE_SYSTEM_MARK = "[system]\n"
"""Begins the user message that a system message after the first user turn becomes."""

PARTS_OF_ROLE = {
    "developer": ("text",),
    "system": ("text",),
    "user": ("text", "image_url", "input_audio", "file"),
    "assistant": ("text", "refusal"),
    "tool": ("text",),
}
"""The part kinds that each role may have (openai SDK, ``ChatCompletion*MessageParam``)."""

SPOKEN = ("content", "refusal", "tool_calls", "function_call", "audio", "reasoning_content", "reasoning")
"""Keys one of which an assistant message must have."""

Content = list[TextPart | ImagePart]


class History:
    """What the messages of one request amount to. ``system`` is complete after the last ``read``."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.notes: list[Note] = []
        self._system: list[str] = []
        self._user_spoke = False
        self._calls_of_name: dict[str, list[str]] = {}
        self._answered: set[str] = set()

    @property
    def system(self) -> str:
        """The system text before the first user turn, joined with blank lines."""
        return "\n\n".join(self._system)

    def read(self, message: Mapping[str, Any], path: str) -> None:
        """Take in the next message. Raises an INVALID_REQUEST fault with the path of what is wrong."""
        if "name" in message:
            reading.string(message, "name", path)
        match message.get("role"):
            case "tool":
                self._read_tool(message, path)
            case "assistant":
                self._read_assistant(message, path)
            case "user":
                self._read_user(message, path)
            case "system" | "developer":
                self._read_system(message, path)
            case "function":
                self._read_function(message, path)
            case _:
                raise invalid("no such role", f"{path}.role")

    def _add(self, role: Role, parts: list[Part], path: str) -> None:
        if parts:
            self.messages.append(Message(role, parts, path))

    def _read_user(self, message: Mapping[str, Any], path: str) -> None:
        self._user_spoke = True
        self._add("user", [*_content(message, "user", path)], path)

    def _read_system(self, message: Mapping[str, Any], path: str) -> None:
        role = message["role"]
        parts = _content(message, role, path)
        text = "\n\n".join(part.text for part in parts if isinstance(part, TextPart))
        if not text:
            return
        if self._user_spoke:
            self._add("user", [TextPart(LATE_SYSTEM_MARK + text)], path)
            self.notes.append(Note(f"messages[].role={role}", f"{path}.role", Disposition.EMULATED))
        else:
            self._system.append(text)

    def _read_assistant(self, message: Mapping[str, Any], path: str) -> None:
        parts: list[Part] = []
        if message.get("content") is not None:
            parts += _content(message, "assistant", path)
        if refusal := reading.string(message, "refusal", path):
            parts.append(TextPart(refusal))
        if message.get("tool_calls") is not None:
            self._read_calls(message, path, parts)
        if message.get("function_call") is not None:
            self._read_function_call(message, path, parts)
        if not parts and all(message.get(key) is None for key in SPOKEN):
            raise _required(f"{path}.content", "unless `tool_calls` or `function_call` is there")
        self._add("assistant", parts, path)

    def _read_calls(self, message: Mapping[str, Any], path: str, parts: list[Part]) -> None:
        calls = reading.array(message, "tool_calls", path) or []
        for call, at in reading.objects(calls, f"{path}.tool_calls"):
            call_id = reading.required_string(call, "id", at)
            kind = call.get("type")
            if kind == "function":
                name, arguments = _called(call, "function", "arguments", at)
                part = ToolCallPart(call_id, name, arguments or "{}", at)
            elif kind == "custom":
                name, text = _called(call, "custom", "input", at)
                part = ToolCallPart(call_id, name, freeform.wrap(text), at, is_custom=True)
            else:
                raise invalid("no such kind of call", f"{at}.type")
            self._calls_of_name.setdefault(name, []).append(call_id)
            parts.append(part)

    def _read_function_call(self, message: Mapping[str, Any], path: str, parts: list[Part]) -> None:
        """The legacy call has no id; one is made of its place, so that it is the same in every turn."""
        name, arguments = _called(message, "function_call", "arguments", path)
        call_id = "call_" + path.replace("[", "_").rstrip("]")
        self._calls_of_name.setdefault(name, []).append(call_id)
        parts.append(ToolCallPart(call_id, name, arguments or "{}", f"{path}.function_call"))

    def _read_tool(self, message: Mapping[str, Any], path: str) -> None:
        call_id = reading.required_string(message, "tool_call_id", path)
        content = _content(message, "tool", path)
        self._answered.add(call_id)
        self._add("user", [ToolResultPart(call_id, content, path)], path)

    def _read_function(self, message: Mapping[str, Any], path: str) -> None:
        name = reading.required_string(message, "name", path)
        text = reading.string(message, "content", path)
        calls = self._calls_of_name.get(name, [])
        while calls and calls[-1] in self._answered:
            calls.pop()
        if not calls:
            raise invalid(f"no call of '{name[:100]}' without a result comes before this message", path)
        content: Content = [TextPart(text)] if text else []
        self._add("user", [ToolResultPart(calls.pop(), content, path)], path)


def read_messages(body: Mapping[str, Any]) -> History:
    """The history of a request.

    Raises an INVALID_REQUEST fault with the path of what is wrong, calls and results that do not pair among it.
    """
    messages = reading.array(body, "messages")
    if messages is None:
        raise _required("messages")
    if not messages:
        raise invalid("must have at least one message", "messages", code="empty_array")
    history = History()
    for message, path in reading.objects(messages, "messages"):
        history.read(message, path)
    check_tool_history(history.messages)
    return history


def _called(holder: Mapping[str, Any], key: str, argument_key: str, path: str) -> tuple[str, str]:
    """(name, arguments) of ``holder[key]``; the arguments must be there and may be empty."""
    called = reading.required_mapping(holder, key, path)
    name, arguments = called.get("name"), called.get(argument_key)
    if type(name) is str and name and type(arguments) is str:
        return name, arguments
    at = f"{path}.{key}"
    reading.required_string(called, "name", at)
    reading.string(called, argument_key, at)
    raise _required(f"{at}.{argument_key}")


def _content(message: Mapping[str, Any], role: str, path: str) -> Content:
    """``content``, which must be there; empty text is no part."""
    content = message.get("content")
    if type(content) is str:
        return [TextPart(content)] if content else []
    if content is None:
        raise _required(f"{path}.content")
    if type(content) is not list:
        raise reading.wrong_type(content, "a string or an array of parts", f"{path}.content")
    parts: Content = []
    for item, at in reading.objects(content, f"{path}.content"):
        _read_part(item, role, at, parts)
    return parts


def _read_part(item: Mapping[str, Any], role: str, path: str, parts: Content) -> None:
    kind = item.get("type")
    if kind not in PARTS_OF_ROLE[role]:
        listed = ", ".join(f"'{name}'" for name in PARTS_OF_ROLE[role])
        problem = f"not allowed in a message with role '{role}'; supported values are: {listed}"
        raise invalid(problem, f"{path}.type", code="invalid_value")
    match kind:
        case "text" | "refusal":
            text = reading.string(item, kind, path)
            if text is None:
                raise _required(f"{path}.{kind}")
            if text:
                parts.append(TextPart(text))
        case "image_url":
            _read_image(item, path, parts)
        case "input_audio" | "file":
            pass  # refused by the ledger
        case _:
            raise AssertionError(f"a part kind without a reader: {kind}")


def _read_image(item: Mapping[str, Any], path: str, parts: Content) -> None:
    image = reading.required_mapping(item, "image_url", path)
    at = f"{path}.image_url"
    url = reading.required_string(image, "url", at)
    reading.string(image, "detail", at)
    if not url.startswith(("http://", "https://")):  # those are refused by the ledger
        parts.append(ImagePart(*reading.data_uri_image(url, f"{at}.url")))


def _required(path: str, when: str = "") -> TurnFault:
    problem = f"the field is required {when}".rstrip()
    return invalid(problem, path, code="missing_required_parameter")
