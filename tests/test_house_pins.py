"""The requirement files: exact, complete, and what is installed here."""

import ast
import importlib.metadata
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
FILES = ["requirements.txt", "requirements-dev.txt"]
RUN_TIME_PACKAGES = ["app", "fake_upstream"]


def lines(name: str) -> list[str]:
    """The requirement lines of a file: no comments, no includes."""
    text = (ROOT / name).read_text()
    return [line for line in text.splitlines() if line and not line.startswith(("#", "-r "))]


def pins(*names: str) -> dict[str, str]:
    """Canonical name to version."""
    pairs = (line.split("==") for name in names for line in lines(name))
    return {canonicalize_name(name): version for name, version in pairs}


def needs(names: Iterable[str]) -> Iterator[str]:
    """The distributions that these need in turn, on this machine, each once."""
    seen: set[tuple[str, str]] = set()
    todo = [(name, "") for name in names]
    while todo:
        name, extra = todo.pop()
        for text in importlib.metadata.requires(name) or []:
            requirement = Requirement(text)
            if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
                continue
            for wanted in [(canonicalize_name(requirement.name), e) for e in ("", *requirement.extras)]:
                if wanted not in seen:
                    seen.add(wanted)
                    todo.append(wanted)
                    yield wanted[0]


def imported_by(package: str) -> set[str]:
    """What the modules of a package import, other than ours and the standard library."""
    names: set[str] = set()
    for path in (ROOT / package).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module)
    top = {"google.protobuf" if n.startswith("google.protobuf") else n.partition(".")[0] for n in names}
    return top - sys.stdlib_module_names - set(RUN_TIME_PACKAGES)


@pytest.mark.parametrize("name", FILES)
def test_every_requirement_is_an_exact_pin(name: str) -> None:
    loose = [line for line in lines(name) if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.]+", line)]
    assert loose == []


@pytest.mark.parametrize("names", [FILES[:1], FILES], ids=["run time", "development"])
def test_what_the_requirements_need_is_pinned_too(names: list[str]) -> None:
    pinned = pins(*names)
    assert sorted(set(needs(pinned)) - pinned.keys()) == []


def test_the_installed_versions_are_the_pinned_ones() -> None:
    pinned = pins(*FILES)
    assert {name: importlib.metadata.version(name) for name in pinned} == pinned


@pytest.mark.parametrize("package", RUN_TIME_PACKAGES)
def test_every_direct_import_is_pinned_for_the_run_time(package: str) -> None:
    providers = {**importlib.metadata.packages_distributions(), "google.protobuf": ["protobuf"]}
    pinned = pins("requirements.txt")
    missing = [
        name
        for name in sorted(imported_by(package))
        if not any(canonicalize_name(provider) in pinned for provider in providers.get(name, []))
    ]
    assert missing == []
