"""The smallest body in which one ledger row stands: what row tests of every surface are made from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_STEP = re.compile(r"([^.\[\]=]+)(\[\]|\[[^\]=]+=([^\]]*)\])?(?:\.|$)")


def place(
    path: str,
    value: Any,
    tags: Mapping[str, tuple[str, str | None]],
    kinds: Mapping[str, str],
    trail: str = "",
) -> Any:
    """``value`` at the row path ``path``, inside nothing but what must be around it.

    ``tags`` are the ledger's; ``kinds`` chooses a kind where the path chooses none, by the path of the objects
    without brackets. At the row of a kind, ``value`` is a whole object of that kind.
    """
    step = _STEP.match(path)
    if step is None:  # the end, or the ``tag=kind`` that ends the row of a kind
        assert not path or "=" in path, path
        return value
    name, bracket, kind = step.groups()
    rest = path[step.end() :]
    trail = f"{trail}.{name}" if trail else name
    inner = place(rest, value, tags, kinds, trail)
    tag, is_list = _tag_of(trail, tags)
    if tag is not None and _STEP.match(rest):
        inner = {tag: kind or kinds[trail], **inner}
    if bracket == "[]" or (is_list and rest):
        inner = [inner]
    return {name: inner}


def _tag_of(trail: str, tags: Mapping[str, tuple[str, str | None]]) -> tuple[str | None, bool]:
    for path, (tag, _) in tags.items():
        if path.replace("[]", "") == trail:
            return tag, path.endswith("[]")
    return None, False
