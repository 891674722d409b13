from __future__ import annotations

from typing import Any

import pytest

from app.ledger import Context, Disposition, Findings, Ledger, Note, Outcome, Parameter, judge
from app.turn.faults import FaultKind, TurnFault
from app.turn.features import Feature
from app.turn.tool_choice import ToolPlan
from app.turn.turn import Turn

FORWARDED, EMULATED, IGNORED, REFUSED = (
    Disposition.FORWARDED,
    Disposition.EMULATED,
    Disposition.IGNORED,
    Disposition.REFUSED,
)


def at_choice(value: Any, context: Context, path: str) -> list[Outcome]:
    """A rule whose finding stands elsewhere than its row."""
    return [Outcome(IGNORED, at="choice")]


def by_value(value: Any, context: Context, path: str) -> list[Outcome]:
    """A rule that refuses one value, emulates a part of another and lets the rest be."""
    if value == "bad":
        return [Outcome(REFUSED, code="bad_value", problem="is a bad value")]
    return [Outcome(EMULATED, below=".type"), Outcome(IGNORED, below=".strict")] if value == "part" else []


LEDGER = Ledger(
    "test",
    [
        Parameter("model", FORWARDED, "the model"),
        Parameter("seed", IGNORED, "there is no seed"),
        Parameter("user", IGNORED, "a label"),
        Parameter("stop", EMULATED, "cut by Candor", exact=True),
        Parameter("late", EMULATED, "joined"),
        Parameter("hosted", REFUSED, "Candor runs no hosted tools", code="unsupported_value"),
        Parameter("top_k", FORWARDED, "sampling", feature=Feature.TOP_K),
        Parameter("images", FORWARDED, "pictures", feature=Feature.IMAGES, without=REFUSED),
        Parameter(
            "hint", FORWARDED, "one call", feature=Feature.DISABLE_PARALLEL_TOOL_CALLS, neutral=(True,)
        ),
        Parameter("format", FORWARDED, "shape", rule=by_value),
        Parameter("tools", FORWARDED, "tools", rule=at_choice),
        Parameter("choice", FORWARDED, "choice", silent=True),
        Parameter("messages", FORWARDED, "history"),
        Parameter("messages[].name", IGNORED, "names are not carried"),
        Parameter("messages[].role", FORWARDED, "role"),
        Parameter("metadata", FORWARDED, "labels"),
    ],
)

SWITCHES = {Feature.DISABLE_PARALLEL_TOOL_CALLS: "SWITCH=1"}


def context(*features: Feature) -> Context:
    turn = Turn("m", [])
    return Context(turn, frozenset(features), SWITCHES.get, ToolPlan(()))


def judged(
    body: dict[str, Any],
    *features: Feature,
    notes: tuple[Note, ...] = (),
    strict: bool = False,
    strict_rows: tuple[str, ...] = (),
) -> Findings:
    return judge(
        LEDGER,
        LEDGER.walk(body),
        notes,
        body,
        context(*features),
        strict=strict,
        strict_rows=frozenset(strict_rows),
    )


def refusal(body: dict[str, Any], *features: Feature, **more: Any) -> TurnFault:
    with pytest.raises(TurnFault) as caught:
        judged(body, *features, **more)
    assert caught.value.kind is FaultKind.UNSUPPORTED_PARAMETER
    return caught.value


def test_nothing_to_say_means_no_headers() -> None:
    assert judged({"model": "m", "messages": []}).headers() == []


def test_ignored_parameters_are_headed_in_document_order() -> None:
    body = {"user": "u", "messages": [{"name": "a"}, {"name": "b"}], "seed": 1}
    assert judged(body).headers() == [("x-candor-ignored", "user, messages[0].name, messages[1].name, seed")]


def test_an_unknown_parameter_is_ignored() -> None:
    findings = judged({"colour": 1})
    assert [(finding.path, finding.disposition) for finding in findings.ignored] == [("colour", IGNORED)]


def test_an_emulation_is_headed_unless_it_is_exact() -> None:
    findings = judged({"stop": ["x"], "late": 1})
    assert [finding.path for finding in findings.emulated] == ["stop", "late"]
    assert findings.headers() == [("x-candor-emulated", "late")]


def test_a_feature_that_the_upstream_has_makes_it_forwarded() -> None:
    findings = judged({"top_k": 5}, Feature.TOP_K)
    assert (findings.ignored, findings.emulated) == ([], [])


def test_a_feature_that_the_upstream_lacks_makes_it_ignored() -> None:
    (finding,) = judged({"top_k": 5}).ignored
    assert (finding.path, finding.outcome.feature) == ("top_k", Feature.TOP_K)


def test_a_row_may_be_refused_where_its_feature_lacks() -> None:
    assert refusal({"images": []}).param == "images"
    assert judged({"images": []}, Feature.IMAGES).headers() == []


def test_a_rule_may_find_several_things_below_its_path() -> None:
    assert judged({"format": "part"}).headers() == [
        ("x-candor-ignored", "format.strict"),
        ("x-candor-emulated", "format.type"),
    ]


def test_a_rule_may_find_nothing() -> None:
    assert judged({"format": "good", "choice": "any"}).headers() == []


def test_a_finding_that_stands_elsewhere_is_sorted_by_where_it_stands() -> None:
    body = {"tools": [], "seed": 1, "choice": "x", "user": "u"}
    assert judged(body).headers() == [("x-candor-ignored", "seed, choice, user")]


def test_a_refused_row_is_refused_with_its_reason_and_code() -> None:
    fault = refusal({"hosted": 1})
    assert (fault.param, fault.problem, fault.code) == (
        "hosted",
        "Candor runs no hosted tools",
        "unsupported_value",
    )


def test_a_refusal_of_a_rule_has_its_own_words_and_code() -> None:
    fault = refusal({"format": "bad"})
    assert (fault.param, fault.problem, fault.code) == ("format", "is a bad value", "bad_value")


def test_a_refusal_names_the_first_in_document_order_and_lists_all() -> None:
    fault = refusal({"images": [], "seed": 1, "hosted": 1}, strict=True)
    assert fault.param == "images"
    assert fault.details["refused"] == ["images", "seed", "hosted"]
    assert [row.path for row in fault.details["rows"]] == ["images", "seed", "hosted"]


def test_a_refusal_lists_each_path_once() -> None:
    fault = refusal({"seed": 1, "tools": [], "choice": 1}, strict=True)
    assert fault.details["refused"] == ["seed", "choice"]


def test_lenient_does_not_refuse_what_is_ignored() -> None:
    assert [finding.path for finding in judged({"seed": 1}).ignored] == ["seed"]


def test_strict_refuses_whatever_would_be_ignored_unknown_names_too() -> None:
    assert refusal({"seed": 1}, strict=True).param == "seed"
    assert refusal({"colour": 1}, strict=True).param == "colour"


def test_strict_serves_what_is_emulated_or_asks_for_nothing() -> None:
    assert judged({"stop": ["x"], "late": 1, "hint": True, "seed": None}, strict=True).ignored == []


def test_strict_rows_are_refused_by_name_and_others_served() -> None:
    assert refusal({"user": "u", "seed": 1}, strict_rows=("seed",)).param == "seed"
    assert [finding.path for finding in judged({"user": "u"}, strict_rows=("seed",)).ignored] == ["user"]


def test_strict_rows_go_by_the_row_not_by_the_place() -> None:
    body = {"messages": [{}, {"name": "a"}]}
    assert refusal(body, strict_rows=("messages[].name",)).param == "messages[1].name"


def test_a_refusal_names_the_switch_that_would_help() -> None:
    fault = refusal({"hint": False}, strict=True)
    assert fault.problem == "one call; SWITCH=1 would honour it"
    assert fault.details["reason"] == "one call"


def test_a_refusal_names_no_switch_where_the_upstream_has_none() -> None:
    assert refusal({"top_k": 1}, strict=True).problem == "sampling"


@pytest.mark.parametrize("value", [False, 0, 1, "true"])
def test_only_the_value_that_asks_for_nothing_is_free(value: Any) -> None:
    assert [finding.path for finding in judged({"hint": value}).ignored] == ["hint"]


def test_notes_of_the_decoder_are_findings() -> None:
    note = Note("messages[].role", "messages[1].role", EMULATED)
    body = {"messages": [{"role": "user"}, {"role": "system"}]}
    assert judged(body, notes=(note,)).headers() == [("x-candor-emulated", "messages[1].role")]


def test_notes_are_sorted_into_document_order() -> None:
    body = {
        "user": "u",
        "messages": [{"role": "user", "name": "a"}, {"role": "system"}, {"role": "user", "name": "b"}],
        "seed": 1,
    }
    note = Note("messages[].role", "messages[1].role", IGNORED)
    assert judged(body, notes=(note,)).headers() == [
        ("x-candor-ignored", "user, messages[0].name, messages[1].role, messages[2].name, seed")
    ]


def test_notes_are_sorted_by_number_not_by_letters() -> None:
    body = {"messages": [{"role": "user"} for _ in range(12)]}
    notes = tuple(Note("messages[].role", f"messages[{index}].role", EMULATED) for index in (11, 2, 10, 1))
    assert [finding.path for finding in judged(body, notes=notes).emulated] == [
        "messages[1].role",
        "messages[2].role",
        "messages[10].role",
        "messages[11].role",
    ]


def test_keys_with_dots_and_brackets_are_sorted_by_their_place_too() -> None:
    body = {"user": "u", "a.b": 1, "c[0]": 2, "messages": [{"role": "system"}]}
    note = Note("messages[].role", "messages[0].role", IGNORED)
    assert judged(body, notes=(note,)).headers() == [
        ("x-candor-ignored", "user, a.b, c[0], messages[0].role")
    ]


def test_a_note_that_says_what_was_observed_is_said_once() -> None:
    note = Note("seed", "seed", IGNORED)
    assert [finding.path for finding in judged({"seed": 1}, notes=(note,)).ignored] == ["seed"]


def test_strict_refuses_an_ignored_note() -> None:
    note = Note("messages[].role", "messages[0].role", IGNORED)
    fault = refusal({"seed": 1, "messages": [{"role": "x"}]}, notes=(note,), strict=True)
    assert fault.details["refused"] == ["seed", "messages[0].role"]
