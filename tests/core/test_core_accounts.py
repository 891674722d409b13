from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from app.accounts import Accounts, OutcomeCounter
from app.ledger import Disposition, Finding, Findings, Outcome, Parameter
from app.ledger.ledger import UNKNOWN_REASON
from app.logs import EventLog
from app.metrics import MAX_UNKNOWN_PARAMETERS, Metrics
from app.turn.events import Event, Finished, TextDelta, ToolCallStarted
from app.turn.faults import FaultKind, TurnFault
from app.turn.features import Feature
from app.turn.tool_choice import AUTO, REQUIRED, ToolChoice, named
from app.turn.turn import Turn
from app.upstreams.local import LocalUpstream

IGNORED, EMULATED = Disposition.IGNORED, Disposition.EMULATED
HINT = Feature.DISABLE_PARALLEL_TOOL_CALLS


class SwitchedUpstream(LocalUpstream):
    """An upstream with a switch for the hint."""

    name = "switched"

    def switch_for(self, feature: Feature) -> str | None:
        return "SWITCH=1" if feature is HINT else None


class Lines(logging.Handler):
    """Keeps what is logged."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[dict[str, Any]] = []

    def emit(self, record: logging.LogRecord) -> None:
        line = json.loads(record.getMessage())
        del line["time"]
        self.lines.append(line)


class Books:
    """Accounts with their metrics and their log."""

    def __init__(self) -> None:
        self.metrics = Metrics()
        self.log = EventLog()
        self.sink = Lines()
        self.log.logger.handlers = [self.sink]
        self.accounts = Accounts(self.metrics, self.log)

    def ignored(
        self, *paths_by_row: tuple[Parameter, str], surface: str = "chat", upstream: Any = None
    ) -> None:
        findings = [Finding(row, path, Outcome(IGNORED, feature=row.feature)) for row, path in paths_by_row]
        self.accounts.served(surface, Findings(ignored=findings), upstream or LocalUpstream())

    def total(self, counter: str) -> dict[str, float]:
        return {",".join(labels): value for labels, value in self.metrics.totals()[counter]}


@pytest.fixture
def books() -> Books:
    return Books()


SEED = Parameter("seed", IGNORED, "no seed is carried")
NAME = Parameter("messages[].name", IGNORED, "names are not carried")
PARALLEL = Parameter(
    "parallel_tool_calls",
    Disposition.FORWARDED,
    "one call at a time",
    feature=HINT,
    hint_event="parallel_tool_calls_hint_ignored",
)


def unknown(path: str) -> Parameter:
    return Parameter(path, IGNORED, UNKNOWN_REASON)


def test_a_parameter_is_counted_once_a_request_however_often_it_is_there(books: Books) -> None:
    books.ignored((NAME, "messages[0].name"), (NAME, "messages[1].name"), (SEED, "seed"))
    books.ignored((NAME, "messages[0].name"))
    assert books.total("parameters_ignored") == {"chat,messages[].name": 2, "chat,seed": 1}


def test_surfaces_are_counted_apart(books: Books) -> None:
    books.ignored((SEED, "seed"))
    books.ignored((SEED, "seed"), surface="responses")
    assert books.total("parameters_ignored") == {"chat,seed": 1, "responses,seed": 1}


def test_the_first_time_is_warned_about_and_later_ones_are_not(books: Books) -> None:
    for _ in range(3):
        books.ignored((SEED, "seed"))
    assert books.sink.lines == [
        {
            "level": "WARNING",
            "event": "parameter_ignored",
            "surface": "chat",
            "parameter": "seed",
            "reason": "no seed is carried",
            "upstream": "local",
        }
    ]


def test_each_parameter_and_surface_has_a_warning_of_its_own(books: Books) -> None:
    books.ignored((SEED, "seed"), (NAME, "messages[3].name"))
    books.ignored((SEED, "seed"), surface="responses")
    assert [(line["surface"], line["parameter"]) for line in books.sink.lines] == [
        ("chat", "seed"),
        ("chat", "messages[].name"),
        ("responses", "seed"),
    ]


def test_two_apps_warn_apart() -> None:
    first, second = Books(), Books()
    for books in (first, second):
        books.ignored((SEED, "seed"))
    assert len(first.sink.lines) == len(second.sink.lines) == 1


def test_the_hint_has_its_own_event_names_the_switch_and_replaces_the_general_warning(books: Books) -> None:
    books.ignored((PARALLEL, "parallel_tool_calls"), upstream=SwitchedUpstream())
    assert books.sink.lines == [
        {
            "level": "WARNING",
            "event": "parallel_tool_calls_hint_ignored",
            "surface": "chat",
            "parameter": "parallel_tool_calls",
            "reason": "one call at a time",
            "upstream": "switched",
            "switch": "SWITCH=1",
        }
    ]


def test_the_hint_is_counted_each_time_in_both_counters_and_warned_once_over_all_surfaces(
    books: Books,
) -> None:
    for surface in ("chat", "chat", "responses"):
        books.ignored((PARALLEL, "parallel_tool_calls"), surface=surface, upstream=SwitchedUpstream())
    assert books.total("parallel_tool_calls_hint_ignored") == {"": 3}
    assert books.total("parameters_ignored") == {
        "chat,parallel_tool_calls": 2,
        "responses,parallel_tool_calls": 1,
    }
    assert len(books.sink.lines) == 1


def test_the_hint_on_an_upstream_without_a_switch_is_an_ordinary_parameter(books: Books) -> None:
    books.ignored((PARALLEL, "parallel_tool_calls"))
    assert books.total("parallel_tool_calls_hint_ignored") == {"": 0}
    assert [line["event"] for line in books.sink.lines] == ["parameter_ignored"]
    assert "switch" not in books.sink.lines[0]


def test_where_no_turn_runs_the_warning_names_no_upstream(books: Books) -> None:
    finding = Finding(unknown("filter"), "filter", Outcome(IGNORED))
    books.accounts.served("catalogue", Findings(ignored=[finding]))
    assert "upstream" not in books.sink.lines[0]
    assert books.total("parameters_ignored") == {"catalogue,filter": 1}


def test_emulated_parameters_are_counted_once_a_request_exact_ones_too_and_not_warned_about(
    books: Books,
) -> None:
    stop = Parameter("stop", EMULATED, "cut by Candor", exact=True)
    late = Parameter("messages[].role=system", EMULATED, "kept its place")
    findings = [
        Finding(stop, "stop", Outcome(EMULATED, exact=True)),
        Finding(late, "messages[1].role", Outcome(EMULATED)),
        Finding(late, "messages[2].role", Outcome(EMULATED)),
    ]
    books.accounts.served("chat", Findings(emulated=findings), LocalUpstream())
    assert books.total("parameters_emulated") == {"chat,stop": 1, "chat,messages[].role=system": 1}
    assert books.sink.lines == []


def refuse(books: Books, *rows: Parameter) -> None:
    fault = TurnFault(FaultKind.UNSUPPORTED_PARAMETER, "no", param="x", details={"rows": list(rows)})
    books.accounts.refused("chat", fault)


def test_refused_rows_are_counted_once_a_request(books: Books) -> None:
    refuse(books, SEED, NAME, NAME)
    refuse(books, SEED)
    assert books.total("parameters_refused") == {"chat,seed": 2, "chat,messages[].name": 1}


def test_a_fault_that_refuses_no_row_counts_none(books: Books) -> None:
    books.accounts.refused("chat", TurnFault(FaultKind.INVALID_REQUEST, "no"))
    assert books.total("parameters_refused") == {}


def test_names_that_callers_make_up_are_bounded_as_labels_and_in_the_log(books: Books) -> None:
    for number in range(MAX_UNKNOWN_PARAMETERS + 50):
        books.ignored((unknown(f"made_up_{number}"), f"made_up_{number}"))
    counted = books.total("parameters_ignored")
    assert len(counted) == MAX_UNKNOWN_PARAMETERS + 1
    assert counted["chat,other"] == 50
    assert len(books.sink.lines) == MAX_UNKNOWN_PARAMETERS + 1


def test_a_made_up_name_that_is_known_by_now_keeps_its_label(books: Books) -> None:
    for number in [*range(MAX_UNKNOWN_PARAMETERS + 1), 0]:
        books.ignored((unknown(f"made_up_{number}"), "x"))
    assert books.total("parameters_ignored")["chat,made_up_0"] == 2


def test_a_very_long_made_up_name_is_no_label(books: Books) -> None:
    books.ignored((unknown("x" * 121), "x" * 121))
    assert books.total("parameters_ignored") == {"chat,other": 1}


def test_rows_of_the_ledger_keep_their_labels_when_made_up_names_are_many(books: Books) -> None:
    for number in range(MAX_UNKNOWN_PARAMETERS + 1):
        refuse(books, unknown(f"made_up_{number}"))
    refuse(books, SEED)
    books.ignored((NAME, "messages[0].name"))
    assert books.total("parameters_refused")["chat,seed"] == 1
    assert books.total("parameters_ignored") == {"chat,messages[].name": 1}


def test_made_up_names_that_are_refused_are_bounded_too(books: Books) -> None:
    for number in range(MAX_UNKNOWN_PARAMETERS + 5):
        refuse(books, unknown(f"made_up_{number}"))
    assert books.total("parameters_refused")["chat,other"] == 5


TWO_CALLS: list[Event] = [ToolCallStarted(0, "a", "f"), ToolCallStarted(1, "b", "g"), Finished("tool_calls")]
ONE_CALL: list[Event] = [ToolCallStarted(0, "a", "f"), Finished("tool_calls")]
NO_CALL: list[Event] = [TextDelta("x"), Finished("stop")]


def outcome(
    events: list[Event],
    *features: Feature,
    parallel: bool | None = None,
    choice: ToolChoice | None = None,
) -> tuple[dict[str, float], dict[str, float]]:
    books = Books()
    turn = Turn("m", [], parallel_tool_calls=parallel, tool_choice=choice)
    counter = OutcomeCounter(books.metrics, turn, frozenset(features))
    for event in events:
        counter.feed([event])
    return books.total("parallel_tool_calls_hint_violated"), books.total("forced_tool_choice_without_call")


def test_two_calls_against_the_hint_are_counted_by_whether_it_was_sent() -> None:
    assert outcome(TWO_CALLS, parallel=False) == ({"0": 1}, {})
    assert outcome(TWO_CALLS, HINT, parallel=False) == ({"1": 1}, {})


@pytest.mark.parametrize(
    ("events", "parallel"), [(ONE_CALL, False), (NO_CALL, False), (TWO_CALLS, True), (TWO_CALLS, None)]
)
def test_nothing_is_counted_where_the_hint_was_kept_or_not_given(
    events: list[Event], parallel: bool | None
) -> None:
    assert outcome(events, parallel=parallel) == ({}, {})


@pytest.mark.parametrize("choice", [REQUIRED, named("f")])
def test_a_demand_without_a_call_is_counted_by_whether_it_was_sent(choice: ToolChoice) -> None:
    assert outcome(NO_CALL, choice=choice) == ({}, {"0": 1})
    assert outcome(NO_CALL, Feature.TOOL_CHOICE, choice=choice) == ({}, {"1": 1})


@pytest.mark.parametrize(("events", "choice"), [(ONE_CALL, REQUIRED), (NO_CALL, AUTO), (NO_CALL, None)])
def test_nothing_is_counted_where_the_demand_was_met_or_not_made(
    events: list[Event], choice: ToolChoice | None
) -> None:
    assert outcome(events, choice=choice) == ({}, {})


def test_a_turn_that_never_finishes_is_not_counted() -> None:
    assert outcome(TWO_CALLS[:2], parallel=False, choice=REQUIRED) == ({}, {})


@pytest.mark.parametrize(
    ("parallel", "choice", "idle"),
    [(None, None, True), (True, AUTO, True), (False, None, False), (None, REQUIRED, False)],
)
def test_a_turn_with_nothing_to_watch_for_is_idle(
    parallel: bool | None, choice: ToolChoice | None, idle: bool
) -> None:
    turn = Turn("m", [], parallel_tool_calls=parallel, tool_choice=choice)
    assert OutcomeCounter(Metrics(), turn, frozenset()).idle is idle
