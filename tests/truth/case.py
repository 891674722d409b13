"""A case: one sample of one ledger row in a whole request; and how a value is put where a row path says."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.ledger import Parameter

KEEP = object()
"""The sample of a row that names none: what the document holds there already."""

MARK = "marked"
"""A word in a document that stands for all of the object that holds it."""

_STEP = re.compile(r"([^.\[\]=]+)((?:\[[^\]]*\])*)(?:\.|$)")
_CONCRETE = re.compile(r"\[(\d+)\]|([^.\[\]]+)")
_SELECT = re.compile(r"\[([^\]=]+)=([^\]]*)\]")


@dataclass(frozen=True)
class Case:
    """A request, and the concrete path at which the sample stands in it.

    ``scenario`` is put before the upstream where the answer matters. ``first`` is a request to be answered
    before this one, in whose reply the sample is found: its id, or that of its first output item.
    """

    body: dict[str, Any]
    path: str
    sample: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)
    model: str = "fake-echo"
    scenario: tuple[Sequence[Any], ...] = ()
    first: dict[str, Any] | None = None


def bare(path: str) -> str:
    """``path`` without brackets and the kind at its end: ``tools[0].type=custom`` -> ``tools.type``."""
    return re.sub(r"=[^.]*$", "", re.sub(r"\[[^\]]*\]", "", path))


def steps_of(path: str) -> list[tuple[str, tuple[str, str] | None, bool]]:
    """``a[].b[type=x].c`` -> (name, the kind that is selected, whether elements of a list are meant)."""
    steps = []
    position = 0
    while position < len(path):
        match = _STEP.match(path, position)
        if match is None:
            raise ValueError(f"{path!r} cannot be read at {position}")
        selected = _SELECT.search(match[2])
        steps.append((match[1], selected and (selected[1], selected[2]), "[]" in match[2]))
        position = match.end()
    return steps


def split_kind(path: str) -> tuple[str, str, str | None]:
    """``tools[].type=x`` -> (``tools[]``, ``type``, ``x``); of other rows the kind is None."""
    holder, _, name = path.rpartition(".")
    if "=" in name and "]" not in name:
        tag, _, kind = name.partition("=")
        return holder, tag, kind
    return holder, name, None


def put(document: dict[str, Any], row: Parameter, sample: Any) -> tuple[dict[str, Any], str, Any] | None:
    """(``document`` with ``sample`` at the row's path, that place as a concrete path, what stands there).

    None where the document has nothing that the path leads through, or, for KEEP, nothing at its end.
    """
    changed = copy.deepcopy(document)
    holder, name, kind = split_kind(row.path)
    if kind is not None:
        found = next(_kinds(changed, holder, name, kind), None)
        if found is None:
            return None
        element, place = found
        if isinstance(sample, dict):
            element.clear()
            element.update(copy.deepcopy(sample))
        else:
            sample = MARK if MARK in str(element) else element
        return changed, f"{place}.{name}" if place else name, sample
    name = name.partition("[")[0]
    targets = [each for each in _places(changed, steps_of(holder), "") if isinstance(each[0], dict)]
    for target, place in sorted(targets, key=lambda each: name not in each[0]):
        if sample is not KEEP:
            target[name] = copy.deepcopy(sample)
        if name in target:
            return changed, f"{place}.{name}" if place else name, target[name]
    return None


def _kinds(document: Any, holder: str, tag: str, kind: str) -> Iterator[tuple[dict[str, Any], str]]:
    for target, place in _places(document, steps_of(holder), ""):
        if isinstance(target, dict) and target.get(tag) == kind:
            yield target, place


def _places(
    value: Any, steps: list[tuple[str, tuple[str, str] | None, bool]], place: str
) -> Iterator[tuple[Any, str]]:
    """Every value that the steps lead to, elements of lists one by one."""
    if not steps:
        yield value, place
        return
    if not isinstance(value, dict):
        return
    (name, selected, _), *rest = steps
    if name not in value:
        return
    inner, here = value[name], f"{place}.{name}" if place else name
    elements = (
        [(item, f"{here}[{index}]") for index, item in enumerate(inner)]
        if isinstance(inner, list)
        else [(inner, here)]
    )
    for element, at in elements:
        if selected is None or (isinstance(element, dict) and element.get(selected[0]) == selected[1]):
            yield from _places(element, rest, at)


def first_that_fits(documents: Sequence[dict[str, Any]], row: Parameter, sample: Any) -> Case:
    """The case made of the first document in which the row's place is found."""
    for document in documents:
        made = put(document, row, sample)
        if made is not None:
            return Case(*made)
    raise LookupError(f"no document has a place for {row.path}")


def replaced(document: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """``document`` with ``value`` at the concrete ``path``; with the value KEEP, without what stands there."""
    changed = copy.deepcopy(document)
    steps = [int(index) if index else name for index, name in _CONCRETE.findall(path)]
    holder: Any = changed
    for step in steps[:-1]:
        holder = holder[step]
    if value is KEEP:
        del holder[steps[-1]]
    else:
        holder[steps[-1]] = value
    return changed


def locate(document: dict[str, Any], row: Parameter, sample: Any) -> str:
    """The concrete path at which ``sample`` stands in a request that was made for it."""
    holder, name, kind = split_kind(row.path)
    if kind is not None:
        for element, place in _kinds(document, holder, name, kind):
            if not isinstance(sample, dict) or sample.items() <= element.items():
                return f"{place}.{name}" if place else name
        raise LookupError(f"{row.path} is nowhere in its request")
    name = name.partition("[")[0]
    for target, place in _places(document, steps_of(holder), ""):
        if isinstance(target, dict) and name in target and target[name] == sample:
            return f"{place}.{name}" if place else name
    raise LookupError(f"{row.path} is nowhere in its request")
