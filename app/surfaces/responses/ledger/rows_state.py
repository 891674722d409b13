"""Rows about what is kept: the response itself, the ones before it, and single items of them."""

from __future__ import annotations

from collections.abc import Iterator

from app.ledger import Disposition, Parameter
from app.surfaces.responses.ledger import rules

EMULATED, IGNORED, REFUSED = Disposition.EMULATED, Disposition.IGNORED, Disposition.REFUSED


def state_rows(*, keeps: bool) -> list[Parameter]:
    """All rows of this module; ``keeps``: whether anything is kept at all."""
    return [*_kept(keeps), *_held_elsewhere()]


def _kept(keeps: bool) -> Iterator[Parameter]:
    yield Parameter(
        "store",
        EMULATED,
        "Kept for the caller within bounds; the echo tells what was really done.",
        rule=None if keeps else rules.not_kept,
        exact=True,
        neutral=(False,),
        samples=(True, False),
    )
    yield Parameter(
        "previous_response_id",
        EMULATED,
        "The history is rebuilt from the kept responses; a turn is never served without it.",
        rule=rules.from_kept,
        exact=True,
        code="previous_response_not_found",
        samples=("resp_a", "resp_b"),
    )
    yield Parameter(
        "input[].type=item_reference",
        EMULATED,
        "Stands for an item of a kept response.",
        rule=rules.from_kept,
        exact=True,
    )
    yield Parameter("input[type=item_reference].id", EMULATED, "Names the item.", silent=True)


def _held_elsewhere() -> Iterator[Parameter]:
    yield Parameter(
        "conversation", REFUSED, "Names history that another endpoint holds.", samples=("conv_a",)
    )
    yield Parameter("conversation.id", REFUSED, "Goes with `conversation`.", silent=True)
    yield Parameter(
        "prompt", REFUSED, "Names a stored template, whose text is the prompt.", samples=({"id": "pmpt_a"},)
    )
    for name in ("id", "variables", "version"):
        yield Parameter(f"prompt.{name}", REFUSED, "Goes with `prompt`.", silent=True)
    yield Parameter(
        "background",
        REFUSED,
        "A turn that runs on its own needs a queue.",
        neutral=(False,),
        samples=(True,),
    )
    yield Parameter(
        "background_options",
        IGNORED,
        "Asks for nothing without `background`, which is refused.",
        neutral=({},),
        samples=({"completion_window": "2h"},),
    )
    for name in ("completion_window", "continuation_id"):
        yield Parameter(f"background_options.{name}", IGNORED, "Goes with `background_options`.", silent=True)
