"""What is written down of a run: baselines and red sets in the specs, and the list of all mutations as evidence."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence

from tests.mutations.spec import BEYOND, FAMILIES, Mutation

_MUTATION = re.compile(r"^(?=\[\[mutation\]\]$)", re.MULTILINE)
_BASELINE = re.compile(r"^baseline = \d+$", re.MULTILINE)
_RED = re.compile(r"^red = \[(?:.*\]$|\n(?: .*\n)*\]$)", re.MULTILINE)
_NAME = re.compile(r'^name = "(.*)"$', re.MULTILINE)


def recorded(text: str, baselines: Mapping[str | None, int], reds: Mapping[str, Iterable[str]]) -> str:
    """The text of a spec file with what was found in it, and nothing else touched.

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
            block = _RED.sub(red_list(reds[name[1]]).replace("\\", r"\\"), block, count=1)
        written.append(block)
    return "".join(written)


def _with_baseline(text: str, count: int | None) -> str:
    return text if count is None else _BASELINE.sub(f"baseline = {count}", text, count=1)


def red_list(nodes: Iterable[str]) -> str:
    """``red = [...]``, one node id a line; a JSON string is a TOML one."""
    lines = "".join(f"    {json.dumps(node)},\n" for node in sorted(nodes))
    return f"red = [\n{lines}]" if lines else "red = []"


def evidence(mutations: Sequence[Mutation]) -> list[str]:
    """All mutations by family, each with what became of it in a run in which all were as expected. No times."""
    lines = [
        _counted(mutations),
        "Each was applied alone to a copy of the tree, and exactly the tests that its spec in",
        "tests/mutations/specs expects turned red; their number stands before its name.",
    ]
    for family in (*FAMILIES, BEYOND):
        members = [mutation for mutation in mutations if mutation.family == family]
        if members:
            lines += ["", family]
        for mutation in members:
            state = "survived" if mutation.survives else "caught"
            lines.append(f"  {state:<9}{len(mutation.red):>3}  {mutation.title}")
            if mutation.survives:
                lines.append(f"{'':<16}because: {mutation.survives}")
    return lines


def _counted(mutations: Sequence[Mutation]) -> str:
    survived = sum(bool(mutation.survives) for mutation in mutations)
    families = len({mutation.family for mutation in mutations} - {BEYOND})
    return (
        f"{len(mutations)} mutations, {len(mutations) - survived} caught, {survived} survived for a reason; "
        f"{families} of {len(FAMILIES)} families"
    )
