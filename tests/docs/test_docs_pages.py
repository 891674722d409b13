"""Every command that a page shows is one that the tests of commands find."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, commands


def shown(page: str) -> list[int]:
    """The lines that a reader takes for the beginning of a command."""
    return [number for number, line in enumerate(page.splitlines(), 1) if re.match(r"\s*\$ ", line)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_command_of_a_page_is_passed_over(page: Path) -> None:
    text = page.read_text()
    assert [command.line for command in commands(text)] == shown(text)


@pytest.mark.parametrize(
    "page", ["- list\n\n  ```\n  $ a\n  ```\n", "```sh title=x\n$ a\n```\n", "text\n$ a\n"]
)
def test_a_command_outside_a_plain_block_is_seen_to_be_passed_over(page: str) -> None:
    assert commands(page) == []
    assert shown(page)
