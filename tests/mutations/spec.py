"""Specs: what to change, which tests to run on it, and exactly which of them must turn red."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FAMILY_KEYS = {"about", "tests", "baseline", "mutation"}
MUTATION_KEYS = {"name", "file", "anchor", "replacement", "why", "red", "survives", "tests", "baseline"}


class SpecError(ValueError):
    """A spec that cannot be meant; the text names it."""


@dataclass(frozen=True)
class Mutation:
    """One change: ``anchor``, which is in ``file`` exactly once, becomes ``replacement``.

    ``tests`` are pytest's own words for what to run; unchanged code passes all ``baseline`` of them. With the change
    exactly the node ids in ``red`` fail. ``survives`` is the reason why nothing fails where nothing can.
    """

    family: str
    name: str
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
        """``family/name``."""
        return f"{self.family}/{self.name}"

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
    _only(content, FAMILY_KEYS, path.name)
    if not content.get("about"):
        raise SpecError(f"{path.name}: needs 'about'")
    return [_mutation(path.stem, content, entry) for entry in content.get("mutation", [])]


def family_tests(path: Path) -> tuple[str, ...]:
    """The tests that hold for the mutations of a file which have none of their own."""
    return tuple(tomllib.loads(path.read_text()).get("tests", ()))


def _mutation(family: str, content: dict[str, Any], entry: dict[str, Any]) -> Mutation:
    where = f"{family}/{entry.get('name', '?')}"
    _only(entry, MUTATION_KEYS, where)
    values = {key: content[key] for key in ("tests", "baseline") if key in content} | entry
    for key in ("name", "file", "anchor", "replacement", "why", "red", "tests", "baseline"):
        if key not in values:
            raise SpecError(f"{where}: needs '{key}'")
    mutation = Mutation(
        family=family,
        name=values["name"],
        file=values["file"],
        anchor=values["anchor"],
        replacement=values["replacement"],
        why=values["why"],
        tests=tuple(values["tests"]),
        baseline=values["baseline"],
        red=frozenset(values["red"]),
        survives=values.get("survives", ""),
    )
    if not mutation.anchor or mutation.anchor == mutation.replacement:
        raise SpecError(f"{where}: changes nothing")
    if mutation.survives and mutation.red:
        raise SpecError(f"{where}: has a red set and yet a reason to survive")
    return mutation


def _only(content: dict[str, Any], known: set[str], where: str) -> None:
    if unknown := content.keys() - known:
        raise SpecError(f"{where}: unknown keys {', '.join(sorted(unknown))}")
