"""camelCase and snake_case: proto JSON takes either spelling of any field, at every level."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from app.surfaces import reading

_HUMP = re.compile(r"(?<=[a-z0-9])([A-Z])")


@cache
def snake(name: str) -> str:
    """``maxOutputTokens`` -> ``max_output_tokens``."""
    return _HUMP.sub(r"_\1", name).lower()


def spellings(names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """name -> its further spelling, for those names that have one."""
    return {name: (snake(name),) for name in names if snake(name) != name}


class Fields:
    """One object of a request, read by camelCase names in whichever spelling the caller used.

    ``path`` is where the object stands; faults name fields as the caller spelled them. That no key is there in
    both spellings is the ledger's check.
    """

    __slots__ = ("path", "raw")

    def __init__(self, raw: Mapping[str, Any], path: str) -> None:
        self.raw = raw
        self.path = path

    def key(self, name: str) -> str:
        """The spelling of ``name`` that is there; ``name`` itself when neither is."""
        if self.raw.get(name) is None:
            other = snake(name)
            if self.raw.get(other) is not None:
                return other
        return name

    def at(self, name: str) -> str:
        """The path of ``name`` as the caller spelled it."""
        return reading.join(self.path, self.key(name))

    def get(self, name: str) -> Any:
        """The value, whatever its type; None when absent."""
        return self.raw.get(self.key(name))

    def string(self, name: str) -> str | None:
        """See ``reading.string``."""
        return reading.string(self.raw, self.key(name), self.path)

    def required_string(self, name: str) -> str:
        """See ``reading.required_string``."""
        return reading.required_string(self.raw, self.key(name), self.path)

    def boolean(self, name: str) -> bool | None:
        """See ``reading.boolean``."""
        return reading.boolean(self.raw, self.key(name), self.path)

    def number(self, name: str, low: float, high: float) -> float | None:
        """See ``reading.number``."""
        return reading.number(self.raw, self.key(name), self.path, low=low, high=high)

    def integer(self, name: str, low: int = 0) -> int | None:
        """See ``reading.integer``."""
        return reading.integer(self.raw, self.key(name), self.path, low=low)

    def strings(self, name: str) -> tuple[str, ...] | None:
        """See ``reading.strings``."""
        return reading.strings(self.raw, self.key(name), self.path)

    def object(self, name: str) -> Fields | None:
        """The object at ``name``, to be read in turn."""
        key = self.key(name)
        value = reading.mapping(self.raw, key, self.path)
        return None if value is None else Fields(value, reading.join(self.path, key))

    def mapping(self, name: str) -> dict[str, Any] | None:
        """See ``reading.mapping``."""
        return reading.mapping(self.raw, self.key(name), self.path)

    def objects(self, name: str) -> Iterator[Fields]:
        """The objects of the list at ``name``; one bare object is a list of one, as in proto JSON.

        The vendor's own examples write ``"contents": {"parts": {"text": "hi"}}``.
        """
        path = self.at(name)
        value = self.get(name)
        if value is None:
            return
        if type(value) is dict:
            yield Fields(value, path)
            return
        if type(value) is not list:
            raise reading.wrong_type(value, "an array", path)
        for index, item in enumerate(value):
            at = f"{path}[{index}]"
            if type(item) is not dict:
                raise reading.wrong_type(item, "an object", at)
            yield Fields(item, at)
