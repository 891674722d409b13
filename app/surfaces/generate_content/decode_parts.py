"""contents -> messages: every role, every kind of part, with the history of calls and of thoughts.

Protocol facts: https://ai.google.dev/api/caching#Content and the vendor's Python SDK, ``types.Part``.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from app.ledger import Disposition, Note
from app.seals import Seals
from app.surfaces import reading
from app.surfaces.generate_content import signatures
from app.surfaces.generate_content.pairing import CallPairing
from app.surfaces.generate_content.spelling import Fields, snake
from app.turn.faults import invalid
from app.turn.turn import ImagePart, Message, ReasoningPart, Role, TextPart, ToolCallPart, ToolResultPart

_KINDS = (
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
)
_LABELS = (
    "thought",
    "thoughtSignature",
    "videoMetadata",
    "mediaResolution",
    "mediaProcessing",
    "partMetadata",
    "audioTranscription",
    "speechMetadata",
    "audioMetadata",
    "documentMetadata",
    "spreadsheetMetadata",
)
_KIND_OF_KEY = {spelling: name for name in _KINDS for spelling in (name, snake(name))}
_LABEL_KEYS = frozenset(spelling for name in _LABELS for spelling in (name, snake(name)))

_THOUGHT_ROW = "contents[].parts[].thought"
_SIGNATURE_ROW = "contents[].parts[].thoughtSignature"
_RESPONSE_ROW = "contents[].parts[].functionResponse"


class ContentsDecoder:
    """Reads the contents of one request; ``messages`` and ``notes`` grow. What the ledger refuses is skipped."""

    def __init__(self, seals: Seals, *, lenient: bool = False) -> None:
        self.messages: list[Message] = []
        self.notes: list[Note] = []
        self._seals = seals
        self._pairing = CallPairing(lenient=lenient)
        self._role: Role = "user"
        self._parts: list[Any] = []
        self._place = ""
        self._thoughts: list[tuple[str, str]] = []
        self._seal_of_thoughts: str | None = None
        self._restored: str | None = None
        self._answered: dict[str, Mapping[str, Any]] = {}

    def content(self, content: Fields, index: int) -> None:
        """Take in one content. Raises INVALID_REQUEST faults that name the part at fault."""
        role = content.get("role")
        self._role = "assistant" if role == "model" else "user"
        self._parts = []
        self._answered.clear()
        if self._role == "user":
            self._drop_thoughts()
            self._restored = None
        raw = content.raw.get("parts")
        if type(raw) is list:
            self._list_of_parts(raw, f"{content.path}.parts", index)
        else:
            for part in content.objects("parts"):
                self._place = f"{index}.0"
                self._part(part)
        if self._parts:
            self.messages.append(Message(self._role, self._parts, content.path))

    def _list_of_parts(self, items: list[Any], path: str, index: int) -> None:
        for number, item in enumerate(items):
            if type(item) is not dict:
                raise reading.wrong_type(item, "an object", f"{path}[{number}]")
            text = item.get("text")
            if len(item) == 1 and type(text) is str:
                self._plain_text(text)
            else:
                self._place = f"{index}.{number}"
                self._part(Fields(item, f"{path}[{number}]"))

    def finish(self) -> None:
        """No more contents come."""
        self._drop_thoughts()

    def _plain_text(self, text: str) -> None:
        if text:
            self._drop_thoughts()
            self._parts.append(TextPart(text))

    def _part(self, part: Fields) -> None:
        kind = _kind_of(part)
        is_labelled = kind is None or len(part.raw) > 1
        is_thought = is_labelled and part.boolean("thought") is True
        signature = part.string("thoughtSignature") if is_labelled else None
        if self._role == "user":
            self._labels_of_user(part, signature, is_thought=is_thought)
            if kind is not None:
                self._content_of(kind, part)
        elif kind is None or (kind == "text" and (is_thought or not part.string("text"))):
            text = (part.string("text") if kind else None) or ""
            self._thought(part, text, signature, is_thought=is_thought)
        else:
            self._drop_thoughts()
            if signature:
                self._other_signature(part, signature)
            if is_thought:
                self._ignore(_THOUGHT_ROW, part.at("thought"))
            self._content_of(kind, part)

    def _content_of(self, kind: str, part: Fields) -> None:
        match kind:
            case "text":
                text = part.string("text")
                if text:
                    self._parts.append(TextPart(text))
            case "inlineData":
                self._parts.extend(self._inline_data(part))
            case "fileData":
                pass
            case "functionCall":
                self._parts.append(self._call(_object(part, "functionCall")))
            case "functionResponse":
                response = _object(part, "functionResponse")
                if not self._is_repeated(response):
                    self._parts.append(self._response(response))
            case "executableCode" | "codeExecutionResult" | "toolCall" | "toolResponse":
                self._parts.append(TextPart(_as_text(kind, _object(part, kind))))
            case _:
                raise AssertionError(kind)

    # Thoughts.

    def _labels_of_user(self, part: Fields, signature: str | None, *, is_thought: bool) -> None:
        """Only the model thinks: what marks a user's parts as thoughts is ignored."""
        if is_thought:
            self._ignore(_THOUGHT_ROW, part.at("thought"))
        if signature and not signatures.is_placeholder(signature):
            self._ignore(_SIGNATURE_ROW, part.at("thoughtSignature"))

    def _thought(self, part: Fields, text: str, signature: str | None, *, is_thought: bool) -> None:
        """A thought, or an empty part that closes one; its seal covers all thought text since the last seal."""
        if text:
            self._thoughts.append((text, part.at("thought")))
            self._seal_of_thoughts = None
        if not signature or signatures.is_placeholder(signature):
            return
        sealed = self._sealed(text, signature)
        if sealed is not None:
            self._restore(sealed)
        elif is_thought:
            self._thoughts.clear()
            self._ignore(_SIGNATURE_ROW, part.at("thoughtSignature"))
        else:
            self._other_signature(part, signature)

    def _sealed(self, text: str, signature: str) -> str | None:
        """The thought text that ``signature`` seals: all since the last seal, or this part's own.

        What all of it would be sealed with is worked out once, however many signatures are tried on it.
        """
        if self._thoughts:
            if self._seal_of_thoughts is None:
                self._seal_of_thoughts = self._seals.sign(self._joined_thoughts())
            if signatures.is_seal(self._seal_of_thoughts, signature):
                joined = self._joined_thoughts()
                self._thoughts.clear()
                return joined
        if text and signatures.verifies(self._seals, text, signature):
            self._thoughts.pop()
            self._drop_thoughts()
            return text
        return None

    def _joined_thoughts(self) -> str:
        return "".join(text for text, _ in self._thoughts)

    def _other_signature(self, part: Fields, signature: str) -> None:
        """A signature beside something else than a thought: a blob of ours holds the thoughts themselves."""
        reasoning = signatures.unwrap(self._seals, signature)
        if reasoning is not None:
            self._restore(reasoning)
        elif not signatures.is_placeholder(signature):
            self._ignore(_SIGNATURE_ROW, part.at("thoughtSignature"))

    def _restore(self, reasoning: str) -> None:
        """Take reasoning back into the history, once, however many parts of a turn carry it."""
        if reasoning != self._restored:
            self._restored = reasoning
            self._parts.append(ReasoningPart(reasoning))

    def _drop_thoughts(self) -> None:
        """Thoughts that no seal of ours vouches for are ignored."""
        for _, path in self._thoughts:
            self._ignore(_THOUGHT_ROW, path)
        self._thoughts.clear()

    def _ignore(self, row_path: str, path: str) -> None:
        self.notes.append(Note(row_path, path, Disposition.IGNORED))

    # Data, calls and responses.

    def _inline_data(self, holder: Fields) -> list[TextPart | ImagePart]:
        """Images as they are, texts as text; anything else is for the ledger to refuse."""
        blob = _object(holder, "inlineData")
        mime_type = blob.required_string("mimeType")
        data = blob.required_string("data")
        if mime_type.startswith("image/"):
            if "-" in data or "_" in data:
                data = data.replace("-", "+").replace("_", "/")
            return [ImagePart(data, mime_type)]
        if mime_type.startswith("text/"):
            text = _decoded_text(data, blob.at("data"))
            return [TextPart(text)] if text else []
        return []

    def _call(self, call: Fields) -> ToolCallPart:
        if self._role != "assistant":
            raise invalid("only a content of role 'model' may hold function calls", call.path)
        name = call.required_string("name")
        args = call.mapping("args")
        arguments = reading.json_text(args, call.at("args")) if args else "{}"
        call_id = self._pairing.call(call.string("id"), name, self._place)
        return ToolCallPart(call_id, name, arguments, call.path)

    def _is_repeated(self, response: Fields) -> bool:
        """Whether the content holds this very response before: Gemini CLI resumes a session with each one twice."""
        response_id = response.string("id")
        if not response_id:
            return False
        if self._answered.setdefault(response_id, response.raw) is response.raw:
            return False
        if self._answered[response_id] != response.raw:
            return False
        self.notes.append(Note(_RESPONSE_ROW, response.path, Disposition.EMULATED))
        return True

    def _response(self, response: Fields) -> ToolResultPart:
        if self._role != "user":
            raise invalid(
                "only a content of role 'user' or 'function' may hold function responses", response.path
            )
        name = response.required_string("name")
        call_id = self._pairing.response(response.string("id"), name, response.path)
        value = response.mapping("response")
        parts: list[TextPart | ImagePart] = []
        inner = list(response.objects("parts"))
        if value is not None or not inner:
            parts.append(TextPart(reading.json_text(value or {}, response.at("response"))))
        for part in inner:
            if part.get("inlineData") is not None:
                parts.extend(self._inline_data(part))
            elif part.get("fileData") is None:
                at = reading.join(part.path, next(iter(part.raw))) if part.raw else part.path
                raise invalid("unknown kind of part; supported kinds are: 'inlineData', 'fileData'", at)
        return ToolResultPart(call_id, parts, response.path)


def _kind_of(part: Fields) -> str | None:
    """The kind of ``part``; None for one that holds nothing but labels, such as a signature that came late."""
    kind = None
    unknown = None
    for key, value in part.raw.items():
        if value is None:
            continue
        named = _KIND_OF_KEY.get(key)
        if named is not None:
            if kind is not None:
                raise invalid(f"a part holds one thing; this one also holds '{kind}'", f"{part.path}.{key}")
            kind = named
        elif key not in _LABEL_KEYS:
            unknown = key
    if kind is None:
        known = "supported kinds are: " + ", ".join(f"'{name}'" for name in _KINDS)
        if unknown is not None:
            raise invalid(f"unknown kind of part; {known}", f"{part.path}.{unknown}")
        if not part.raw:
            raise invalid(f"the part holds nothing; {known}", part.path)
    return kind


def _object(holder: Fields, name: str) -> Fields:
    fields = holder.object(name)
    assert fields is not None
    return fields


def _decoded_text(data: str, path: str) -> str:
    standard = data.replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True).decode()
    except ValueError:
        raise invalid("must be UTF-8 text in base64", path) from None


def _as_text(kind: str, fields: Fields) -> str:
    """Finished history of a tool that the vendor hosts, as a short text that keeps the order of turns."""
    match kind:
        case "executableCode":
            return f"[code executed: {fields.string('language') or 'PYTHON'}]\n{fields.string('code') or ''}"
        case "codeExecutionResult":
            return (
                f"[code result: {fields.string('outcome') or 'OUTCOME_OK'}]\n{fields.string('output') or ''}"
            )
        case "toolCall":
            args = reading.json_text(fields.mapping("args") or {}, fields.at("args"))
            return f"[tool call: {fields.string('toolType') or 'tool'}]\n{args}"
        case "toolResponse":
            response = reading.json_text(fields.mapping("response") or {}, fields.at("response"))
            return f"[tool result: {fields.string('toolType') or 'tool'}]\n{response}"
    raise AssertionError(kind)
