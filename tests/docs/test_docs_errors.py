"""docs/ERRORS.md has every kind of fault, in the very words of every surface, and every code that a fault may have."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import orjson
import pytest

from app.seals import Seals
from app.surfaces import chat_completions, generate_content, messages, responses
from app.surfaces.surface import SurfaceTools
from app.turn.faults import FaultKind, TurnFault
from tests.support.servers import ROOT

PAGE = (ROOT / "docs" / "ERRORS.md").read_text()
PACKAGES = (chat_completions, responses, messages, generate_content)


def cell(package: Any, kind: FaultKind) -> str:
    """Status and words of one kind on one surface."""
    surface = package.create(SurfaceTools(Seals(b"key")))
    reply = surface.fault_reply(TurnFault(kind, "problem"), "req_1")
    error = orjson.loads(reply.body)["error"]
    words = [error["status"]] if "status" in error else [error["type"], error.get("code")]
    return " ".join([str(reply.status), *(f"`{word}`" for word in words if word)])


@pytest.mark.parametrize("kind", FaultKind, ids=lambda kind: kind.value)
def test_every_kind_of_fault_is_on_the_page_in_the_words_of_every_surface(kind: FaultKind) -> None:
    row = f"| `{kind.value}` | {' | '.join(cell(package, kind) for package in PACKAGES)} |"
    assert row in PAGE.splitlines()


@pytest.mark.parametrize("kind", FaultKind, ids=lambda kind: kind.value)
def test_every_kind_of_fault_is_explained(kind: FaultKind) -> None:
    assert re.search(rf"^\| `{kind.value}` \| [^`].{{10,}} \| .+ \|$", PAGE, re.MULTILINE)


def codes() -> set[str]:
    """Every literal that is given as the ``code`` of a fault, an outcome or a row anywhere in the code."""
    found: set[str] = set()
    for path in sorted(Path(ROOT / "app").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.keyword) and node.arg == "code" and isinstance(node.value, ast.Constant):
                code = node.value.value
                if isinstance(code, str):
                    found.add(code)
    return found


def test_every_code_of_a_fault_is_on_the_page() -> None:
    assert [code for code in sorted(codes()) if f"| `{code}` |" not in PAGE] == []


def test_the_page_lists_no_kind_and_no_code_that_is_none() -> None:
    listed = set(re.findall(r"^\| `([a-z_]+)` \|", PAGE, re.MULTILINE))
    assert listed - {kind.value for kind in FaultKind} - codes() == set()
