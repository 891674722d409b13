from __future__ import annotations

import re
from typing import Any

import pytest

from app.ledger import Disposition, Ledger, Outcome, Parameter
from app.turn.faults import FaultKind, TurnFault

FORWARDED, IGNORED, REFUSED = Disposition.FORWARDED, Disposition.IGNORED, Disposition.REFUSED


def row(path: str, disposition: Disposition = FORWARDED, **more: Any) -> Parameter:
    return Parameter(path, disposition, "reason", **more)


LEDGER = Ledger(
    "test",
    [
        row("model"),
        row("seed", IGNORED),
        row("n", IGNORED, neutral=(1,)),
        row("quiet", IGNORED, silent=True),
        row("options"),
        row("options.deep"),
        row("options.deep.inner"),
        row("options.deep.odd", IGNORED),
        row("metadata"),
        row("messages"),
        row("messages[].role=user"),
        row("messages[].role=critic", REFUSED),
        row("messages[].content"),
        row("messages[].name", IGNORED),
        row("messages[].content[].type=text"),
        row("messages[].content[].type=image"),
        row("messages[].content[].text"),
        row("messages[].content[type=image].detail", IGNORED),
        row("tools"),
        row("tools[].type=function"),
        row("tools[].type=custom"),
        row("tools[].name"),
        row("tools[type=custom].format", IGNORED),
        row("include"),
        row("include[]=logprobs", IGNORED),
        row("include[]=usage"),
        row("maxTokens", IGNORED),
        row("extra"),
    ],
    tags={
        "messages[]": ("role", None),
        "messages[].content[]": ("type", None),
        "tools[]": ("type", "function"),
    },
    spellings={"maxTokens": ("max_tokens",)},
    same={"extra.tools[]": "tools[]"},
)


def seen(body: dict[str, Any]) -> list[str]:
    return [observation.path for observation in LEDGER.walk(body)]


def fault_of(body: dict[str, Any]) -> TurnFault:
    with pytest.raises(TurnFault) as caught:
        LEDGER.walk(body)
    assert caught.value.kind is FaultKind.INVALID_REQUEST
    return caught.value


def test_a_forwarded_row_is_not_observed() -> None:
    assert seen({"model": "m"}) == []


def test_an_observation_has_row_path_and_value() -> None:
    (observation,) = LEDGER.walk({"seed": 7})
    assert (observation.row.path, observation.place, observation.path, observation.value) == (
        "seed",
        ("seed",),
        "seed",
        7,
    )


def test_observations_come_in_document_order() -> None:
    body = {
        "zeta": 1,
        "seed": 1,
        "messages": [{"name": "a", "role": "user", "content": "x"}, {"role": "user", "name": "b"}],
        "alpha": 2,
        "n": 2,
    }
    assert seen(body) == ["zeta", "seed", "messages[0].name", "messages[1].name", "alpha", "n"]


@pytest.mark.parametrize("value", [1, 1.0, None])
def test_a_value_that_asks_for_nothing_is_free(value: Any) -> None:
    assert seen({"n": value}) == []


@pytest.mark.parametrize("value", [True, 0, 2, "1", [1], {}])
def test_any_other_value_is_observed(value: Any) -> None:
    assert seen({"n": value}) == ["n"]


def test_a_silent_row_is_never_observed() -> None:
    assert seen({"quiet": "anything"}) == []


def test_null_is_free_under_every_name_and_at_every_depth() -> None:
    body = {
        "seed": None,
        "unheard_of": None,
        "options": {"deep": {"odd": None, "else": None}},
        "messages": None,
    }
    assert seen(body) == []


@pytest.mark.parametrize(
    ("body", "path", "row_path"),
    [
        ({"colour": 1}, "colour", "colour"),
        ({"options": {"colour": 1}}, "options.colour", "options.colour"),
        ({"options": {"deep": {"colour": 1}}}, "options.deep.colour", "options.deep.colour"),
        (
            {"messages": [{"role": "user"}, {"role": "user", "colour": 1}]},
            "messages[1].colour",
            "messages[].colour",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "text", "colour": 1}]}]},
            "messages[0].content[0].colour",
            "messages[].content[].colour",
        ),
        ({"tools": [{"name": "f", "colour": 1}]}, "tools[0].colour", "tools[].colour"),
        ({"extra": {"tools": [{"colour": 1}]}}, "extra.tools[0].colour", "extra.tools[].colour"),
    ],
)
def test_an_unknown_key_is_observed_at_any_depth(body: dict[str, Any], path: str, row_path: str) -> None:
    (observation,) = LEDGER.walk(body)
    assert (observation.path, observation.row.path) == (path, row_path)
    assert observation.row.disposition is IGNORED


def test_what_is_below_an_unknown_key_is_not_listed_again() -> None:
    assert seen({"colour": {"red": 1, "blue": [1, 2]}}) == ["colour"]


@pytest.mark.parametrize(("key", "path"), [("", '""'), ("a.b", "a.b"), ("a[0]", "a[0]"), ("ключ", "ключ")])
def test_an_unknown_key_of_odd_letters_is_observed(key: str, path: str) -> None:
    assert seen({key: 1}) == [path]


def test_a_key_without_a_name_is_told_below_others_too() -> None:
    assert seen({"options": {"": 1}}) == ['options.""']


def test_a_key_that_another_kind_has_is_unknown_on_this_kind() -> None:
    body = {"tools": [{"type": "function", "format": {}}, {"type": "custom", "format": {}}]}
    assert [(item.path, item.row.reason) for item in LEDGER.walk(body)] == [
        ("tools[0].format", "no documented parameter of this surface has that name"),
        ("tools[1].format", "reason"),
    ]


def test_a_key_of_one_kind_is_observed_on_that_kind() -> None:
    body = {"messages": [{"role": "user", "content": [{"type": "image", "detail": "high"}]}]}
    assert seen(body) == ["messages[0].content[0].detail"]


def test_an_object_without_a_tag_is_of_the_default_kind() -> None:
    assert seen({"tools": [{"name": "f"}, {"type": None, "name": "g"}]}) == []


def test_a_kind_that_is_refused_is_observed_at_its_tag() -> None:
    (observation,) = LEDGER.walk({"messages": [{"role": "critic"}]})
    assert (observation.path, observation.row.path, observation.value) == (
        "messages[0].role",
        "messages[].role=critic",
        "critic",
    )


@pytest.mark.parametrize("message", [{}, {"content": "x"}, {"role": None}])
def test_a_required_tag_that_is_absent_is_refused_with_its_path(message: dict[str, Any]) -> None:
    fault = fault_of({"messages": [{"role": "user"}, message]})
    assert fault.param == "messages[1].role"
    assert fault.problem == "the field is required; supported values are: 'user', 'critic'"


def test_an_unknown_kind_is_refused_with_its_path_and_the_known_ones() -> None:
    fault = fault_of({"messages": [{"role": "oracle", "content": "x"}]})
    assert fault.param == "messages[0].role"
    assert fault.problem == "unknown value 'oracle'; supported values are: 'user', 'critic'"


def test_an_unknown_kind_is_refused_at_depth() -> None:
    fault = fault_of({"messages": [{"role": "user", "content": [{"type": "text"}, {"type": "video"}]}]})
    assert fault.param == "messages[0].content[1].type"


@pytest.mark.parametrize("kind", [1, True, ["user"], {"a": 1}])
def test_a_tag_that_is_no_string_is_refused(kind: Any) -> None:
    fault = fault_of({"messages": [{"role": kind}]})
    assert (fault.param, fault.problem) == ("messages[0].role", "must be a string")


def test_a_long_kind_is_told_only_in_part() -> None:
    assert "x" * 101 not in fault_of({"messages": [{"role": "x" * 5000}]}).problem


@pytest.mark.parametrize(
    "body",
    [
        {"messages": "text"},
        {"messages": [1, "two", None, [{"role": "user"}]]},
        {"options": [1]},
        {"options": {"deep": "text"}},
        {"tools": 5},
        {"include": "usage"},
    ],
)
def test_values_of_the_wrong_type_are_left_to_the_decoder(body: dict[str, Any]) -> None:
    assert seen(body) == []


def test_a_value_of_a_list_is_observed_by_its_own_row() -> None:
    (observation,) = LEDGER.walk({"include": ["usage", "logprobs"]})
    assert (observation.path, observation.row.path, observation.value) == (
        "include[1]",
        "include[]=logprobs",
        "logprobs",
    )


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("everything", "unknown value 'everything'; supported values are: 'logprobs', 'usage'"),
        (1, "must be a string"),
    ],
)
def test_an_unknown_value_of_a_list_is_refused_with_its_path(value: Any, problem: str) -> None:
    fault = fault_of({"include": ["usage", value]})
    assert (fault.param, fault.problem) == ("include[1]", problem)


def test_a_further_spelling_is_the_same_parameter_and_keeps_the_callers_writing() -> None:
    (observation,) = LEDGER.walk({"max_tokens": 1})
    assert (observation.path, observation.row.path) == ("max_tokens", "maxTokens")


@pytest.mark.parametrize("body", [{"maxTokens": 1, "max_tokens": 1}, {"max_tokens": 1, "maxTokens": 1}])
def test_one_key_in_two_spellings_is_refused(body: dict[str, Any]) -> None:
    fault = fault_of(body)
    assert (fault.param, fault.problem) == ("max_tokens", "the field is also there as 'maxTokens'")


@pytest.mark.parametrize("body", [{"maxTokens": None, "max_tokens": 1}, {"max_tokens": None, "maxTokens": 1}])
def test_a_spelling_that_is_null_is_not_there(body: dict[str, Any]) -> None:
    assert len(seen(body)) == 1


def test_a_place_that_holds_what_another_holds_goes_by_its_rows() -> None:
    assert seen({"extra": {"tools": [{"type": "custom", "format": {}}]}}) == ["extra.tools[0].format"]


def test_the_walk_does_not_change_the_body() -> None:
    body = {
        "seed": 1,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "x", "colour": 1}]}],
    }
    before = repr(body)
    LEDGER.walk(body)
    assert repr(body) == before


@pytest.mark.parametrize(
    ("rows", "options", "problem"),
    [
        ([row("a"), row("a")], {}, "test: the row a is there twice"),
        (
            [row("a[].kind=x"), row("a[kind=y].b")],
            {"tags": {"a[]": ("kind", None)}},
            "'y', which has no row of its own",
        ),
        (
            [row("a[].kind=x")],
            {"tags": {"a[]": ("type", None)}},
            "a[].kind=x selects by kind, the ledger by type",
        ),
        (
            [row("a[].b"), row("c.d[].e")],
            {"same": {"c.d[]": "a[]"}},
            "c.d[] has rows of its own and cannot be as a[]",
        ),
    ],
)
def test_a_table_that_contradicts_itself_cannot_be_made(
    rows: list[Parameter], options: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(problem)):
        Ledger("test", rows, **options)


def test_a_row_with_a_rule_or_a_feature_is_observed_although_it_is_forwarded() -> None:
    ledger = Ledger("test", [row("a", rule=lambda value, context, path: (Outcome(IGNORED),))])
    assert [observation.path for observation in ledger.walk({"a": 1})] == ["a"]


def test_an_object_whose_own_row_is_not_written_down_is_looked_into_and_its_scalar_is_unknown() -> None:
    ledger = Ledger("test", [row("holder.inner")])
    assert [item.path for item in ledger.walk({"holder": {"inner": 1, "other": 2}})] == ["holder.other"]
    assert [item.path for item in ledger.walk({"holder": 5})] == ["holder"]
