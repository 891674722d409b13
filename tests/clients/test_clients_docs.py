"""docs/CLIENTS.md shows the settings that the scenarios run with, and names whatever a client is told."""

from __future__ import annotations

import json
import re
import tomllib

import pytest

from tests.clients import codex, opencode
from tests.clients.install import ROOT
from tests.clients.lineup import LINEUP

DOCUMENT = (ROOT / "docs" / "CLIENTS.md").read_text()


def block(language: str) -> str:
    """The one code block of that language."""
    (found,) = re.findall(rf"```{language}\n(.*?)```", DOCUMENT, re.DOTALL)
    return str(found)


def test_the_configuration_of_codex() -> None:
    used = codex.CONFIG.format(model="MODEL", url="URL", retries="")
    assert tomllib.loads(block("toml")) == tomllib.loads(used)


def test_the_configuration_of_opencode() -> None:
    used = opencode.configuration("@ai-sdk/openai-compatible", "MODEL", "URL", "KEY")
    assert json.loads(block("json")) == used


def test_what_a_variant_of_opencode_needs() -> None:
    plain = opencode.configuration("@ai-sdk/openai", "m", "URL", "KEY")
    plain["provider"]["candor"]["models"]["m"]["reasoning"] = True
    assert plain == opencode.configuration("@ai-sdk/openai", "m", "URL", "KEY", thinks=True)
    assert '`--variant` one more: `"reasoning": true`' in DOCUMENT


@pytest.mark.parametrize("name", LINEUP)
def test_the_document_names_whatever_a_client_is_told(name: str) -> None:
    missing = [path for path in LINEUP[name].ignored | LINEUP[name].emulated if f"`{path}`" not in DOCUMENT]
    assert not missing
