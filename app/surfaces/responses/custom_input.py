"""The text inside a custom tool's wrapped arguments, told while it streams in.

A custom tool is offered as a function with one string argument (``app.surfaces.freeform``). Its arguments
arrive as fragments of ``{"input": "..."}``; ``custom_tool_call_input`` deltas are the text inside.
"""

from __future__ import annotations

import json
import re
from typing import Literal

from app.surfaces import freeform

_HEAD = re.compile(r'[ \t\n\r]*\{[ \t\n\r]*"input"[ \t\n\r]*:[ \t\n\r]*"')
_BARE_HEAD = '{"input":"'
_BLANK = re.compile(r"[ \t\n\r]+")
_STRING = re.compile(r'[^"\\]*(?:\\(?:u[0-9a-fA-F]{4}|[^u])[^"\\]*)*', re.DOTALL)
_UNICODE_ESCAPE = 6  # characters of \uXXXX
_LONGEST_HEAD = 200  # characters; what is blank for longer waits for the end, as other shapes do


class CustomInput:
    """Feed it fragments of the arguments; what it returns is more of the text. ``text`` is all of it so far.

    Arguments of any other shape are kept until ``finish``, which hands on whatever ``freeform.unwrap`` makes
    of them. An escape that is split over fragments, a surrogate pair too, waits for its rest.
    """

    __slots__ = ("_held", "_pieces", "_state", "_waiting")

    def __init__(self) -> None:
        self._state: Literal["head", "inside", "after", "other"] = "head"
        self._held = ""
        self._waiting: list[str] = []
        self._pieces: list[str] = []

    @property
    def text(self) -> str:
        """All text told so far."""
        return "".join(self._pieces)

    def feed(self, fragment: str) -> str:
        """One fragment in, the text that it adds out; may be empty."""
        if self._state == "after":
            return ""
        if self._state == "other":
            self._waiting.append(fragment)
            return ""
        self._held += fragment
        if self._state == "head":
            self._find_head()
        if self._state != "inside":
            return ""
        return self._tell(self._take())

    def finish(self) -> str:
        """The arguments are over: the text that was still kept back."""
        if self._state in ("head", "other") and self._held:
            return self._tell(freeform.unwrap(self._held + "".join(self._waiting)))
        return ""

    def _tell(self, text: str) -> str:
        if text:
            self._pieces.append(text)
        return text

    def _find_head(self) -> None:
        head = _HEAD.match(self._held)
        if head is not None:
            self._held = self._held[head.end() :]
            self._state = "inside"
        elif len(self._held) > _LONGEST_HEAD or not _BARE_HEAD.startswith(_BLANK.sub("", self._held)):
            self._state = "other"

    def _take(self) -> str:
        """Take the whole characters from what is held, up to the closing quote."""
        held, at, parts = self._held, 0, []
        while True:
            found = _STRING.match(held, at)
            assert found is not None
            parts.append(held[at : found.end()])
            at = found.end()
            if held.startswith('"', at):
                self._state = "after"
                at = len(held)
            if len(held) - at < _UNICODE_ESCAPE:
                break
            parts.append("\\" + held[at : at + 2])  # \u without four digits is no escape
            at += 2
        piece, rest = "".join(parts), held[at:]
        text = _decode(piece)
        if self._state == "inside" and text and "\ud800" <= text[-1] <= "\udbff":
            text, rest = text[:-1], piece[-_UNICODE_ESCAPE:] + rest
        self._held = rest
        return text if text.isascii() else _whole(text)


def _decode(piece: str) -> str:
    if "\\" not in piece:
        return piece
    try:
        text: str = json.loads(f'"{piece}"', strict=False)
    except ValueError:
        return piece
    return text


def _whole(text: str) -> str:
    """``text`` with lone surrogates, which UTF-8 cannot hold, replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
