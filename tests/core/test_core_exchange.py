from __future__ import annotations

import re
import time

import pytest

from app.exchange import Exchange, fault_headers, preferred_handling, retry_after
from app.ledger import Disposition, Finding, Findings, Outcome, Parameter
from app.turn.faults import FaultKind, TurnFault


@pytest.mark.parametrize(
    ("header", "handling"),
    [
        (None, None),
        ("", None),
        ("handling=strict", "strict"),
        ("handling=lenient", "lenient"),
        ("HANDLING=Strict", "strict"),
        ("handling = strict", "strict"),
        ('handling="strict"', "strict"),
        ('handling="Lenient"', "lenient"),
        ("handling=strict;why=tests", "strict"),
        ("handling=strict ; why=tests", "strict"),
        ("respond-async, wait=10, handling=strict", "strict"),
        ("respond-async;handling=lenient, handling=strict", "strict"),
        (" , ,handling=strict,", "strict"),
        ("return=minimal", None),
        ("respond-async; handling=strict", None),
        ("handling", None),
        ('handling=""', None),
        ("handling=careful", None),
        ("xhandling=strict", None),
        ("handling-mode=strict", None),
        ("handling=strictly", None),
    ],
)
def test_the_handling_is_read_by_the_grammar_of_prefer(header: str | None, handling: str | None) -> None:
    assert preferred_handling(header) == handling


@pytest.mark.parametrize(
    ("header", "handling"),
    [("handling=lenient, handling=strict", "lenient"), ("handling=odd, handling=strict", None)],
)
def test_only_the_first_handling_counts(header: str, handling: str | None) -> None:
    assert preferred_handling(header) == handling


@pytest.mark.parametrize(
    ("header", "handling"),
    [
        ('note="a, handling=strict"', None),
        ('note="a, handling=strict", handling=lenient', "lenient"),
        (r'note="a \", handling=strict", handling=lenient', "lenient"),
        ('respond-async; x="1,2", handling=strict', "strict"),
        ('note="never ends, handling=strict', None),
    ],
)
def test_what_stands_in_quotes_is_no_preference(header: str, handling: str | None) -> None:
    assert preferred_handling(header) == handling


def test_a_header_made_to_be_slow_is_read_at_once() -> None:
    started = time.perf_counter()
    preferred_handling('"\\' * 30_000)
    preferred_handling('"' * 60_000)
    preferred_handling(",;=" * 20_000)
    assert time.perf_counter() - started < 1


@pytest.mark.parametrize(
    ("seconds", "value"),
    [(0, 1), (0.001, 1), (1, 1), (1.001, 2), (29.5, 30), (30, 30), (-5, 1), (3600, 3600)],
)
def test_retry_after_is_whole_rounded_up_and_at_least_one(seconds: float, value: int) -> None:
    assert retry_after(seconds) == value


def test_every_exchange_has_a_request_id_of_its_own_under_both_names() -> None:
    first, second = Exchange().headers(), Exchange().headers()
    assert [name for name, _ in first] == ["x-request-id", "request-id"]
    assert first[0][1] == first[1][1]
    assert re.fullmatch(r"req_[0-9a-f]{24}", first[0][1])
    assert first != second


def test_a_preference_is_confirmed_only_once_it_was_obeyed() -> None:
    exchange = Exchange(preference="strict")
    assert "Preference-Applied" not in dict(exchange.headers())
    exchange.preference_obeyed = True
    assert dict(exchange.headers())["Preference-Applied"] == "handling=strict"


def test_no_preference_is_never_confirmed() -> None:
    assert "Preference-Applied" not in dict(Exchange(preference_obeyed=True).headers())


def test_findings_are_told_in_headers() -> None:
    row = Parameter("seed", Disposition.IGNORED, "no seed")
    exchange = Exchange(findings=Findings([Finding(row, "seed", Outcome(Disposition.IGNORED))]))
    assert exchange.headers()[2:] == [("x-candor-ignored", "seed")]


@pytest.mark.parametrize("status", [401, 403, 404, 405, 413, 415])
def test_a_permanent_fault_tells_clients_not_to_retry(status: int) -> None:
    assert list(fault_headers(TurnFault(FaultKind.INVALID_REQUEST, "x"), status)) == [
        ("x-should-retry", "false")
    ]


@pytest.mark.parametrize("status", [400, 429, 500, 502, 503, 504, 529])
def test_other_faults_leave_retrying_to_the_client(status: int) -> None:
    assert list(fault_headers(TurnFault(FaultKind.INTERNAL, "x"), status)) == []


def test_a_fault_brings_its_time_and_its_own_headers() -> None:
    fault = TurnFault(FaultKind.CAPACITY, "x", retry_after_s=2.1, headers={"Allow": "POST"})
    assert list(fault_headers(fault, 503)) == [("Retry-After", "3"), ("Allow", "POST")]
