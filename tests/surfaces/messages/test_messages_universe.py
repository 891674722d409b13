"""Every documented parameter of the Messages API has a row."""

import json
import re
from pathlib import Path

import pytest

from app.surfaces.messages.betas import ALONE, SPOKEN_FOR
from tests.surfaces.messages.kit import SURFACE

UNIVERSE = json.loads((Path(__file__).parents[2] / "data/universe/anthropic_messages.json").read_text())
EXTENSIONS = json.loads((Path(__file__).parents[2] / "data/universe/client_extensions.json").read_text())
DOCUMENTED = sorted(
    {
        entry["path"]
        for key in ("params", "count_tokens_params", "beta_count_tokens_params")
        for entry in UNIVERSE[key]
    }
)
WHOLE = {
    # objects that are ignored or refused whole, so that their members need no row
    "context_management.edits[]",
    "container.skills[]",
    "system[].type=text.citations[]",
}


def rows_for(path):
    """The row paths that may stand for a documented path: with its kind selected, and for all kinds."""
    path = re.sub(r"(\[\]|\{\})$", "", path)
    selected = re.sub(r"(?:\[\])?\.(type|role)=([a-z_0-9]+)\.", r"[\1=\2].", path)
    return {path, selected, re.sub(r"\.(type|role)=[a-z_0-9]+\.", ".", path)}


@pytest.mark.parametrize("path", DOCUMENTED)
def test_every_documented_parameter_has_a_row(path):
    if path in WHOLE or re.search(r"\.(type|role)=\w+\.(type|role)$", path):
        return  # the tag itself: its kinds have rows
    assert rows_for(path) & SURFACE.ledger.rows.keys()


@pytest.mark.parametrize(
    ("holder", "kinds"),
    [
        ("messages[].role", UNIVERSE["roles"]),
        ("messages[].content[].type", UNIVERSE["content_types"]),
        ("messages[].content[type=tool_result].content[].type", UNIVERSE["tool_result_content_types"]),
        ("tools[].type", [*UNIVERSE["tool_types"], "browser_toolset_20260801", "computer_toolset_20260801"]),
        ("tool_choice.type", UNIVERSE["tool_choice_types"]),
        ("thinking.type", UNIVERSE["thinking_types"]),
    ],
)
def test_every_documented_kind_has_a_row(holder, kinds):
    assert [kind for kind in kinds if f"{holder}={kind}" not in SURFACE.ledger.rows] == []


def test_every_documented_beta_is_known():
    assert [beta for beta in UNIVERSE["betas"] if beta not in SPOKEN_FOR and beta not in ALONE] == []
    assert not SPOKEN_FOR.keys() & ALONE.keys()


def test_the_rows_that_speak_for_betas_exist():
    for rows in SPOKEN_FOR.values():
        if rows not in ("no parameter", "another path"):
            for row in rows.split(", "):
                assert row in SURFACE.ledger.rows


def test_known_extensions_of_clients_have_rows():
    fields = [path for path in EXTENSIONS["anthropic_messages"] if ":" not in path]
    assert [path for path in fields if path not in SURFACE.ledger.rows] == []
