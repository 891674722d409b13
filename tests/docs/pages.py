"""The pages that people read, their code blocks and their links."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.support.servers import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
_FENCE = re.compile(r"^```(\w*)\s*$")
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, where its first line is, and its lines."""

    language: str
    line: int
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """The block as one text."""
        return "\n".join(self.lines)


def blocks(page: str) -> Iterator[Block]:
    """All fenced blocks of a page."""
    opened: tuple[str, int] | None = None
    lines: list[str] = []
    for number, line in enumerate(page.splitlines(), 1):
        fence = _FENCE.match(line)
        if fence is None:
            lines.append(line)
        elif opened is None:
            opened, lines = (fence[1], number + 1), []
        else:
            yield Block(*opened, tuple(lines))
            opened = None


@dataclass(frozen=True)
class Command:
    """A command of a page and what the page says that it prints."""

    line: int
    command: str
    prints: str


def commands(page: str) -> list[Command]:
    """All commands of a page: lines that begin with ``$``, with those that quotes and backslashes run on to."""
    return [command for block in blocks(page) for command in _commands(block)]


def _commands(block: Block) -> Iterator[Command]:
    if not any(line.startswith("$ ") for line in block.lines):
        return
    position = 0
    while position < len(block.lines):
        assert block.lines[position].startswith("$ "), f"line {block.line + position} belongs to no command"
        start = position
        command = block.lines[position][2:]
        while _goes_on(command):
            position += 1
            command += "\n" + block.lines[position]
        position += 1
        printed = position
        while position < len(block.lines) and not block.lines[position].startswith("$ "):
            position += 1
        yield Command(block.line + start, command, "\n".join(block.lines[printed:position]))


def _goes_on(command: str) -> bool:
    if command.endswith("\\"):
        return True
    try:
        shlex.split(command)
    except ValueError:
        return True
    return False


def links(page: str) -> list[str]:
    """The targets of all links of a page, none of those inside code."""
    prose = re.sub(r"^```.*?^```$", "", page, flags=re.DOTALL | re.MULTILINE)
    return [match[1] for match in _LINK.finditer(re.sub(r"`[^`]*`", "", prose))]


def anchors(page: Path) -> set[str]:
    """What a link may point at inside a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
