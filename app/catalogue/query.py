"""A query string that remembers what was read of it, so that the rest can be told to the caller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.turn.faults import TurnFault, invalid


class Query:
    """Parameters by name. Bad values are INVALID_REQUEST faults that name the parameter."""

    def __init__(self, parameters: Mapping[str, Sequence[str]]) -> None:
        self._left = dict(parameters)

    def text(self, *spellings: str) -> str | None:
        """The value under any of ``spellings``, which may be there once."""
        found = [(name, value) for name in spellings for value in self._left.pop(name, ())]
        if len(found) > 1:
            raise invalid("is given more than once", found[1][0])
        return found[0][1] if found else None

    def texts(self, *spellings: str) -> list[str]:
        """All values under ``spellings``."""
        return [value for name in spellings for value in self._left.pop(name, ())]

    def number(self, *spellings: str, low: int, high: int | None = None) -> int | None:
        """The value as a whole number from ``low``, to ``high`` where there is one."""
        text = self.text(*spellings)
        if text is None:
            return None
        value = int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else None
        if value is None or value < low or (high is not None and value > high):
            bounds = f"from {low}" if high is None else f"from {low} to {high}"
            raise invalid(f"must be a whole number {bounds}, not '{text[:100]}'", spellings[0])
        return value

    def free(self, name: str, *values: str) -> None:
        """Pass over ``name``, which asks for nothing; where ``values`` are given, only those do."""
        if not values or all(value in values for value in self._left.get(name, ())):
            self._left.pop(name, None)

    @property
    def left(self) -> list[str]:
        """The names that nobody has read."""
        return list(self._left)


def unknown_cursor(name: str) -> TurnFault:
    """The fault of a page cursor that no list has given out."""
    return invalid("names no place in this list", name)
