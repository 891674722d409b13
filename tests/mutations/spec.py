"""Specs: what to change, which tests to run on it, and exactly which of them must turn red."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE_KEYS = {"about", "tests", "baseline", "mutation"}
MUTATION_KEYS = {
    "name", "family", "file", "anchor", "replacement", "why", "red", "survives", "tests", "baseline",
}  # fmt: skip
FAMILIES = (
    "the 400 comes back for parallel_tool_calls:false",
    "the drop goes silent",
    "the predicate ignores the switch",
    "the counter or the header is lost",
    "the warning repeats or loses its event name",
    "the client stops forwarding #11 or #12 on the first try",
    "the client stops forwarding #11 or #12 on the failover try",
    "a surface stops threading either field",
    "a tool_choice meaning of one surface is lost, or invented when absent",
    "a connect switch is named for another upstream",
    "the gate moves above a permanent fault",
    "Retry-After is lost on one surface",
    "candidateCount or topK is dropped",
    "metadata is echoed but not stored, or not counted",
    "truncation reads as a clean stop",
    "usage is added instead of replaced",
    "a fragment goes to the wrong call",
    "the caller scope of stored responses is dropped",
    "a stop string is cut in tool arguments",
    "a tag override may collide",
    "keys are compared without constant time",
    "a foreign seal is accepted",
)
"""What must never happen unseen: of each there are several mutations that are caught."""
BEYOND = "beyond the list"
"""The family of all others."""


class SpecError(ValueError):
    """A spec that cannot be meant; the text names it."""


@dataclass(frozen=True)
class Mutation:
    """One change: ``anchor``, which is in ``file`` exactly once, becomes ``replacement``; ``family`` is what it shows.

    ``tests`` are pytest's own words for what to run; unchanged code passes all ``baseline`` of them. With the change
    exactly the node ids in ``red`` fail. ``survives`` is the reason why nothing fails where nothing can.
    """

    spec: str
    name: str
    family: str
    file: str
    anchor: str
    replacement: str
    why: str
    tests: tuple[str, ...]
    baseline: int
    red: frozenset[str]
    survives: str

    @property
    def title(self) -> str:
        """``spec/name``: the file that it is written in, without its ending, and what it is called there."""
        return f"{self.spec}/{self.name}"

    def apply(self, text: str) -> str:
        """``text`` of the file with the change in it."""
        found = text.count(self.anchor)
        if found != 1:
            raise SpecError(f"{self.title}: the anchor is {found} times in {self.file}, not once")
        return text.replace(self.anchor, self.replacement)


def read_all(folder: Path) -> list[Mutation]:
    """All mutations of the specs in ``folder``, by file name and then as written."""
    mutations = [mutation for path in sorted(folder.glob("*.toml")) for mutation in read(path)]
    titles = [mutation.title for mutation in mutations]
    if twice := {title for title in titles if titles.count(title) > 1}:
        raise SpecError(f"names that are there twice: {', '.join(sorted(twice))}")
    return mutations


def read(path: Path) -> list[Mutation]:
    """The mutations of one file. ``tests`` and ``baseline`` of the file hold where a mutation has none of its own."""
    try:
        content = tomllib.loads(path.read_text())
    except tomllib.TOMLDecodeError as error:
        raise SpecError(f"{path.name}: {error}") from None
    _only(content, FILE_KEYS, path.name)
    if not content.get("about"):
        raise SpecError(f"{path.name}: needs 'about'")
    return [_mutation(path.stem, content, entry) for entry in content.get("mutation", [])]


def file_tests(path: Path) -> tuple[str, ...]:
    """The tests that hold for the mutations of a file which have none of their own."""
    return tuple(tomllib.loads(path.read_text()).get("tests", ()))


def _mutation(spec: str, content: dict[str, Any], entry: dict[str, Any]) -> Mutation:
    where = f"{spec}/{entry.get('name', '?')}"
    _only(entry, MUTATION_KEYS, where)
    values = {key: content[key] for key in ("tests", "baseline") if key in content} | entry
    for key in ("name", "family", "file", "anchor", "replacement", "why", "red", "tests", "baseline"):
        if key not in values:
            raise SpecError(f"{where}: needs '{key}'")
    mutation = Mutation(
        spec=spec,
        name=values["name"],
        family=values["family"],
        file=values["file"],
        anchor=values["anchor"],
        replacement=values["replacement"],
        why=values["why"],
        tests=tuple(values["tests"]),
        baseline=values["baseline"],
        red=frozenset(values["red"]),
        survives=values.get("survives", ""),
    )
    if mutation.family not in (*FAMILIES, BEYOND):
        known = "".join(f"\n  {family}" for family in (*FAMILIES, BEYOND))
        raise SpecError(f"{where}: unknown family '{mutation.family}'; there are:{known}")
    if not mutation.anchor or mutation.anchor == mutation.replacement:
        raise SpecError(f"{where}: changes nothing")
    if mutation.survives and mutation.red:
        raise SpecError(f"{where}: has a red set and yet a reason to survive")
    return mutation


def _only(content: dict[str, Any], known: set[str], where: str) -> None:
    if unknown := content.keys() - known:
        raise SpecError(f"{where}: unknown keys {', '.join(sorted(unknown))}")
