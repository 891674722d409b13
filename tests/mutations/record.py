"""Write baselines and red sets that a run found into the specs, and touch nothing else in them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

_MUTATION = re.compile(r"^(?=\[\[mutation\]\]$)", re.MULTILINE)
_BASELINE = re.compile(r"^baseline = \d+$", re.MULTILINE)
_RED = re.compile(r"^red = \[(?:.*\]$|\n(?: .*\n)*\]$)", re.MULTILINE)
_NAME = re.compile(r'^name = "(.*)"$', re.MULTILINE)


def recorded(text: str, baselines: Mapping[str | None, int], reds: Mapping[str, Iterable[str]]) -> str:
    """The text of a spec file with what was found in it.

    ``baselines``: mutation name, or None for the file's own, -> tests that pass on unchanged code; ``reds``:
    mutation name -> node ids that fail.
    """
    head, *blocks = _MUTATION.split(text)
    written = [_with_baseline(head, baselines.get(None))]
    for block in blocks:
        name = _NAME.search(block)
        if name is None:
            written.append(block)
            continue
        block = _with_baseline(block, baselines.get(name[1]))
        if name[1] in reds:
            block = _RED.sub(lambda _, nodes=reds[name[1]]: red_list(nodes), block, count=1)  # type: ignore[misc]
        written.append(block)
    return "".join(written)


def _with_baseline(text: str, count: int | None) -> str:
    return text if count is None else _BASELINE.sub(f"baseline = {count}", text, count=1)


def red_list(nodes: Iterable[str]) -> str:
    """``red = [...]``, one node id a line; a JSON string is a TOML one."""
    lines = "".join(f"    {json.dumps(node)},\n" for node in sorted(nodes))
    return f"red = [\n{lines}]" if lines else "red = []"
