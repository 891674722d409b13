"""The record of every mutation that mutmut makes, and what is said against one."""

from __future__ import annotations

import pytest

from tests.mutations.everything import RECORD, complaints, place_of, reasons

KNOWN = {("app.turn.fold.Fold.feed", "x = None"): "equal"}
GOOD = """\
Every mutation that mutmut makes
2026-11-30, commit abc

turn: 90 of 100 killed, 90.0 % (90 killed, 1 survived) in 5 min
  survived: app.turn.fold.xǁFoldǁfeed__mutmut_3
    x = None
    equal

ledger: 95 of 100 killed, 95.0 % (95 killed) in 5 min

capacity: 5 of 10 killed, 50.0 % (5 killed) in 5 min

connect: 6 of 10 killed, 60.0 % (6 killed) in 5 min
"""


def test_the_committed_record_has_all_shards_scores_and_reasons() -> None:
    assert complaints(RECORD.read_text(), reasons()) == []


def test_a_good_record_has_nothing_against_it() -> None:
    assert complaints(GOOD, KNOWN) == []


@pytest.mark.parametrize(
    ("was", "now", "complaint"),
    [
        ("\ncapacity: ", "\nother: ", "capacity is not in it"),
        ("(6 killed)", "(6 killed, 3 not checked)", "connect: the time was too short for all"),
        ("95.0 %", "89.9 %", "ledger: 89.9 % are killed, 90 must be"),
        ("    equal", "    NOT YET LOOKED AT", "1 survivors have no reason"),
        ("x = None", "y = None", "a reason for what does not survive: app.turn.fold.Fold.feed: x = None"),
    ],
)
def test_a_bad_record_is_told_of(was: str, now: str, complaint: str) -> None:
    assert complaints(GOOD.replace(was, now), KNOWN) == [complaint]


@pytest.mark.parametrize(
    ("mutant", "place"),
    [
        ("app.turn.fold.xǁFoldǁ__init____mutmut_4", "app.turn.fold.Fold.__init__"),
        ("app.turn.estimate.x__part__mutmut_10", "app.turn.estimate._part"),
        ("app.ledger.ledger.xǁ_Nodeǁonly__mutmut_4", "app.ledger.ledger._Node.only"),
        ("app.turn.history.x_check_tool_history__mutmut_12", "app.turn.history.check_tool_history"),
    ],
)
def test_a_mutants_name_tells_its_function(mutant: str, place: str) -> None:
    assert place_of(mutant) == place
