"""Silent rows, rows of single values, and places that hold what another place holds."""

from __future__ import annotations

from typing import Any

import pytest

from app.ledger import Disposition, Ledger, Parameter
from app.turn.faults import TurnFault

ROWS = [
    Parameter("include[]=a", Disposition.IGNORED, "Ignored."),
    Parameter("include[]=b.c", Disposition.REFUSED, "Refused."),
    Parameter("include[]=d", Disposition.FORWARDED, "Plain."),
    Parameter("tools[].type=x", Disposition.FORWARDED, "Plain."),
    Parameter("tools[type=x].hint", Disposition.IGNORED, "Ignored."),
    Parameter("tools[type=x].id", Disposition.IGNORED, "A label.", silent=True),
    Parameter("tools[].type=y", Disposition.REFUSED, "Decided elsewhere.", silent=True),
    Parameter("items[].type=bag", Disposition.FORWARDED, "Plain."),
]
LEDGER = Ledger(
    "s",
    ROWS,
    tags={"tools[]": ("type", None), "items[]": ("type", None)},
    same={"items[type=bag].tools[]": "tools[]"},
)


def seen(body: dict[str, Any]) -> list[tuple[str, str]]:
    return [(found.row.path, found.path) for found in LEDGER.walk(body)]


def refused(body: dict[str, Any]) -> tuple[str | None, str | None]:
    with pytest.raises(TurnFault) as caught:
        LEDGER.walk(body)
    return caught.value.param, caught.value.code


def test_ledger_value_rows_are_seen_at_their_index() -> None:
    assert seen({"include": ["d", "b.c", "a"]}) == [
        ("include[]=b.c", "include[1]"),
        ("include[]=a", "include[2]"),
    ]


def test_ledger_value_rows_refuse_other_values_and_types() -> None:
    assert refused({"include": ["a", "z"]}) == ("include[1]", "invalid_value")
    assert refused({"include": [5]}) == ("include[0]", "invalid_type")


def test_ledger_silent_rows_are_known_and_never_seen() -> None:
    assert seen({"tools": [{"type": "x", "id": "1"}, {"type": "y"}]}) == []


def test_ledger_same_place_has_the_rows_of_its_model_and_paths_of_its_own() -> None:
    bag = {"type": "bag", "tools": [{"type": "x", "hint": 1, "colour": "red"}]}

    assert seen({"items": [bag]}) == [
        ("tools[type=x].hint", "items[0].tools[0].hint"),
        ("items[].tools[].colour", "items[0].tools[0].colour"),
    ]
    assert refused({"items": [{"type": "bag", "tools": [{"type": "z"}]}]}) == (
        "items[0].tools[0].type",
        "invalid_value",
    )


def test_ledger_same_place_cannot_have_rows_of_its_own_too() -> None:
    own = Parameter("items[type=bag].tools[].hint", Disposition.IGNORED, "Ignored.")

    with pytest.raises(ValueError, match="rows of its own"):
        Ledger(
            "s",
            [*ROWS, own],
            tags={"tools[]": ("type", None), "items[]": ("type", None)},
            same={"items[type=bag].tools[]": "tools[]"},
        )
