"""What holds over all rows: each has its truth test, and zero, false and neutral values keep their meaning."""

from __future__ import annotations

from collections import Counter

import pytest

from app.ledger import Disposition, Parameter
from tests.truth.cases import case_for
from tests.truth.effects import EFFECTS, EXPECTED
from tests.truth.rows import every_row, rows_of
from tests.truth.stage import SURFACES, Stage
from tests.truth.suite import cases
from tests.truth.wire import at

ROWS = every_row()
NUMBERS = [
    (surface, row)
    for surface, row in ROWS
    if row.disposition is Disposition.FORWARDED and row.samples and type(row.samples[0]) in (int, float)
]
FLAGS = [
    (surface, row)
    for surface, row in ROWS
    if row.disposition is Disposition.FORWARDED and row.samples and type(row.samples[0]) is bool
]
NEUTRAL = [(surface, row, value) for surface, row in ROWS for value in row.neutral if not row.silent]


def test_every_row_of_the_app_has_one_truth_test(world: Stage) -> None:
    tested = Counter({surface: len(rows_of(surface)) for surface in SURFACES})
    assert tested == {surface: len(world.ledger(surface).rows) for surface in SURFACES}
    assert len({(surface, row.path) for surface, row in ROWS}) == len(ROWS)


def test_every_effect_and_every_spelling_is_of_a_row() -> None:
    known = {(surface, row.path) for surface, row in ROWS}
    assert EFFECTS.keys() - known == set()
    assert EXPECTED.keys() - known == set()


@pytest.mark.parametrize(("surface", "row"), cases(*NUMBERS))
def test_zero_reaches_the_wire_or_is_refused(surface: str, row: Parameter, world: Stage) -> None:
    answer = world.ask(surface, case_for(surface, row, 0))
    if answer.status == 400:
        assert answer.captures == []
        return
    assert row.wire is not None
    if row.path.rpartition(".")[2] == "temperature":
        assert at(answer.wire, row.wire) == [0.001]
        assert answer.emulated == [row.path]
    else:
        assert at(answer.wire, row.wire) == [0]


@pytest.mark.parametrize(("surface", "row"), cases(*FLAGS))
def test_false_reaches_the_wire_or_asks_for_nothing(surface: str, row: Parameter, world: Stage) -> None:
    case = case_for(surface, row, False)
    answer = world.ask(surface, case)
    if row.is_neutral(False):
        assert case.path not in (*answer.ignored, *answer.emulated)
    if row.wire is not None and row.wire.endswith(".strict"):
        assert False in at(answer.wire, row.wire)


@pytest.mark.parametrize(("surface", "row", "value"), cases(*NEUTRAL))
def test_a_value_that_asks_for_nothing_is_free(
    surface: str, row: Parameter, value: object, world: Stage
) -> None:
    case = case_for(surface, row, value)
    answer = world.ask(surface, case, strict=True)
    if answer.status == 400:  # another field of the request is refused where handling is strict
        answer = world.ask(surface, case)
    assert answer.status == 200, answer.text
    assert case.path not in (*answer.ignored, *answer.emulated)
