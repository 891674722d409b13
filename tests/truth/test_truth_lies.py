"""The proof itself: a row that says anything but the truth does not pass it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from app.ledger import Disposition
from app.turn.features import Feature
from tests.truth.effects import EFFECTS
from tests.truth.proof import prove
from tests.truth.rows import rows_of
from tests.truth.stage import Stage

CHAT = {row.path: row for row in rows_of("chat_completions")}
FORWARDED, EMULATED = Disposition.FORWARDED, Disposition.EMULATED
IGNORED, REFUSED = Disposition.IGNORED, Disposition.REFUSED


@pytest.mark.parametrize(
    ("path", "lie"),
    [
        ("seed", {"disposition": FORWARDED, "wire": "completion.top_k"}),
        ("seed", {"disposition": REFUSED}),
        ("n", {"disposition": IGNORED}),
        ("top_k", {"wire": "completion.top_p"}),
        ("top_k", {"disposition": IGNORED, "feature": None}),
        ("top_k", {"samples": (40, 40)}),
        ("top_k", {"without": REFUSED}),
        ("user", {"neutral": ("u1",)}),
        ("tool_choice[type=function].function.name", {"feature": None}),
        ("messages[].name", {"reason": ""}),
        ("messages[].content[type=text].text", {"wire": "system_prompt"}),
        ("tools[type=function].function.strict", {"feature": Feature.TOOL_CHOICE, "wire": "tool_choice"}),
    ],
)
def test_a_row_that_lies_is_found_out(path: str, lie: dict[str, Any], world: Stage) -> None:
    row = CHAT[path]
    prove(world, "chat_completions", row, EFFECTS.get(("chat_completions", path)), None)
    with pytest.raises((AssertionError, LookupError)):
        prove(world, "chat_completions", replace(row, **lie), None, None)


def test_an_emulation_without_a_check_of_its_effect_is_found_out(world: Stage) -> None:
    with pytest.raises(AssertionError, match="has a check of its effect"):
        prove(world, "chat_completions", CHAT["stop"], None, None)
