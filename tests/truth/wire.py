"""Whether a value is on the wire: the samples of a row against the field that the row names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

_TAGS = ("type", "role", "mode")


def at(message: Any, path: str) -> list[Any]:
    """Everything that stands at a wire path such as ``messages[].tool_calls[].name``."""
    values = [message]
    for step in path.split("."):
        name = step.removesuffix("[]")
        values = [value[name] for value in values if isinstance(value, dict) and name in value]
        if step.endswith("[]"):
            values = [item for value in values for item in value]
    return values


def text_of(values: Any) -> str:
    """All scalars in ``values`` in one text; JSON inside a string is also read."""
    return "\n".join(_scalars(values))


def _scalars(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, member in value.items():
            yield key
            yield from _scalars(member)
    elif isinstance(value, list):
        for item in value:
            yield from _scalars(item)
    else:
        yield str(value)
        if isinstance(value, str) and value[:1] in ("{", "["):
            try:
                yield from _scalars(json.loads(value))
            except ValueError:
                return


def leaves(sample: Any) -> Iterator[str]:
    """What of ``sample`` must be seen on the wire: its scalars, and the names of a schema's properties."""
    if isinstance(sample, dict):
        for key, member in sample.items():
            if key == "properties":
                yield from member
            elif not (key in _TAGS and isinstance(member, str)):
                yield from leaves(member)
    elif isinstance(sample, list):
        for item in sample:
            yield from leaves(item)
    elif isinstance(sample, str) and sample.startswith("data:"):
        yield sample.partition(",")[2]
    elif isinstance(sample, float) and sample.is_integer():
        yield str(int(sample))
    elif sample is not None:
        yield str(sample)


def missing(sample: Any, values: list[Any]) -> list[str]:
    """The leaves of ``sample`` that are not among the wire's ``values``."""
    seen = text_of(values)
    return [leaf for leaf in leaves(sample) if not says(seen, leaf)]


def says(text: str, words: str) -> bool:
    """Whether ``words`` stand in ``text``, not as a part of longer ones."""
    return re.search(rf"(?<![A-Za-z0-9]){re.escape(words)}(?![A-Za-z0-9])", text) is not None
