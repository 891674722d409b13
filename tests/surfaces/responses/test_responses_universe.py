"""Every documented parameter, kind and value of this surface has a row."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.responses import SURFACE

UNIVERSE: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "data" / "universe" / "openai_responses.json").read_text()
)
EXTENSIONS = ("client_metadata", "generate", "top_k")


def row_path(path: str) -> str:
    """``input[].type=message.role`` as the ledger writes it: ``input[type=message].role``."""
    return re.sub(r"(?:\[\])?\.type=(\w+)\.(?=.)", r"[type=\1].", path)


@pytest.mark.parametrize("source", ["params", "input_tokens_params"])
def test_responses_ledger_lists_every_documented_parameter(source: str) -> None:
    missing = [
        path
        for row in UNIVERSE[source]
        if not (path := row_path(row["path"])).endswith(("[]", "{}", ".type", "]type"))
        and path not in SURFACE.ledger.rows
    ]

    assert missing == []


@pytest.mark.parametrize(
    ("names", "pattern"),
    [
        ("tool_types", "tools[].type={}"),
        ("input_item_types", "input[].type={}"),
        ("tool_choice_types", "tool_choice.type={}"),
        ("content_types", "input[type=message].content[].type={}"),
        ("function_call_output_content_types", "input[type=function_call_output].output[].type={}"),
        ("text_formats", "text.format.type={}"),
        ("include_values", "include[]={}"),
    ],
)
def test_responses_ledger_lists_every_documented_kind(names: str, pattern: str) -> None:
    assert [name for name in UNIVERSE[names] if pattern.format(name) not in SURFACE.ledger.rows] == []


def test_responses_ledger_lists_what_clients_send_beyond_the_documents() -> None:
    assert [name for name in EXTENSIONS if name not in SURFACE.ledger.rows] == []
