"""The truth tests of one surface: one for each row of its ledger, over the real app and the real fake upstream."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from app.ledger import Parameter
from tests.truth.effects import EFFECTS, EXPECTED
from tests.truth.proof import prove
from tests.truth.rows import rows_of
from tests.truth.stage import Stage


def cases(*rows: tuple[Any, ...]) -> list[Any]:
    """Test cases of (surface, row, ...), named after them."""
    return [pytest.param(*case, id=" ".join([case[0], case[1].path, *map(str, case[2:])])) for case in rows]


def truth_of(surface: str) -> Callable[..., None]:
    """The test that a module of tests takes as its own."""

    @pytest.mark.parametrize(("surface", "row"), cases(*((surface, row) for row in rows_of(surface))))
    def test_the_row_tells_the_truth(surface: str, row: Parameter, world: Stage) -> None:
        prove(world, surface, row, EFFECTS.get((surface, row.path)), EXPECTED.get((surface, row.path)))

    return test_the_row_tells_the_truth
