"""JSON that arrives in fragments: when is it whole, and is it an object?

Every character is looked at once, and only quotes, backslashes and brackets cost more than a regular
expression's step.
"""

from __future__ import annotations

import json
import re
from typing import NoReturn

import orjson

_STRUCTURAL = re.compile(r'[{}\[\]"]')
_STRING_REST = re.compile(r'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL)
BLANK = " \t\n\r"
"""The characters that JSON allows around a value."""


class JsonValueScanner:
    """Feed it fragments; ``complete`` is true once the brackets of one value have closed.

    It goes by brackets and quotes alone, so what is complete may still not parse (``is_object`` tells). A
    value without brackets or quotes (``12``, ``true``) shows no end and is never complete.
    """

    __slots__ = ("_depth", "_escaped", "_in_string", "complete")

    def __init__(self) -> None:
        self.complete = False
        self._depth = 0
        self._in_string = False
        self._escaped = False

    def feed(self, fragment: str) -> bool:
        """Take in more text and return ``complete``; text after the end of the value changes nothing."""
        if self.complete:
            return True
        position, end = 0, len(fragment)
        while position < end:
            if self._in_string:
                position = self._leave_string(fragment, position)
            else:
                found = _STRUCTURAL.search(fragment, position)
                if found is None:
                    return False
                position = found.end()
                character = found[0]
                if character == '"':
                    self._in_string = True
                    continue
                self._depth += 1 if character in "{[" else -1
            if self._depth <= 0 and not self._in_string:
                self.complete = True
                return True
        return False

    def _leave_string(self, fragment: str, position: int) -> int:
        """Go to just behind the closing quote, or to the end of ``fragment``."""
        if self._escaped:
            self._escaped = False
            position += 1
        rest = _STRING_REST.match(fragment, position)
        assert rest is not None
        position = rest.end()
        if position < len(fragment):
            self._escaped = fragment[position] == "\\"
            self._in_string = self._escaped
            position += 1
        return position


def is_object(text: str) -> bool:
    """Whether ``text`` is one JSON object and nothing else."""
    if not text.lstrip(BLANK).startswith("{"):
        return False
    try:
        orjson.loads(text)
        return True
    except orjson.JSONDecodeError:
        pass
    try:  # orjson refuses lone surrogates in escapes and deep nesting, which JSON's grammar allows
        json.loads(text, parse_constant=_no_constant)
        return True
    except (ValueError, RecursionError):
        return False


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
