"""A ledger that is made within the test, with everything in it at once: what a whole body shows, to the last value."""

from __future__ import annotations

from typing import Any

import pytest

from app.ledger import Context, Disposition, Ledger, Outcome, Parameter, judge
from app.ledger.findings import HEADER_BYTES, render_paths
from app.ledger.ledger import UNKNOWN_REASON, Note
from app.turn.faults import TurnFault
from app.turn.features import Feature
from app.turn.tool_choice import ToolPlan
from app.turn.turn import Turn

FORWARDED, IGNORED, REFUSED = Disposition.FORWARDED, Disposition.IGNORED, Disposition.REFUSED


def row(path: str, disposition: Disposition = FORWARDED, **more: Any) -> Parameter:
    return Parameter(path, disposition, "reason", **more)


def make() -> Ledger:
    return Ledger(
        "test",
        [
            row("seed", IGNORED),
            row("n", IGNORED, neutral=(1,)),
            row("messages"),
            row("messages[].role=user"),
            row("messages[].role=critic", IGNORED),
            row("messages[].content"),
            row("messages[].name", IGNORED),
            row("messages[].content[].type=text"),
            row("messages[].content[].type=image", IGNORED),
            row("messages[].content[].text"),
            row("messages[].content[type=image].detail", IGNORED),
            row("tools"),
            row("tools[].type=function"),
            row("tools[].type=custom"),
            row("tools[].name"),
            row("tools[type=custom].format", IGNORED),
            row("choice.type=one"),
            row("choice.type=a=b", IGNORED),
            row("choice.id"),
            row("include"),
            row("include[]=a.b", IGNORED),
            row("include[]=plain"),
            row("maxTokens", IGNORED),
            row("outer"),
            row("outer.innerMost"),
            row("outer.innerMost.value", IGNORED),
            row("bag"),
        ],
        tags={
            "messages[]": ("role", None),
            "messages[].content[]": ("type", "text"),
            "tools[]": ("type", "function"),
            "choice": ("type", None),
        },
        spellings={"maxTokens": ("max_tokens",), "innerMost": ("inner_most",), "moreTools": ("more_tools",)},
        same={"bag.moreTools[]": "tools[]"},
    )


BODY: dict[str, Any] = {
    "seed": 7,
    "n": 2,
    "messages": [
        {"role": "user", "content": [{"text": "a"}, {"type": "image", "detail": "low"}], "name": "x"},
        {"role": "critic", "content": "b", "odd": 1},
    ],
    "tools": [{"name": "f"}, {"type": "custom", "name": "g", "format": {"a": 1}}],
    "choice": {"type": "a=b", "id": "c"},
    "include": ["plain", "a.b"],
    "max_tokens": 5,
    "outer": {"inner_most": {"value": 3}},
    "bag": {"more_tools": [{"type": "custom", "format": "z"}]},
    "unknown": {"deep": 1},
}
SEEN = [
    ("seed", "seed", 7),
    ("n", "n", 2),
    ("messages[].content[].type=image", "messages[0].content[1].type", "image"),
    ("messages[].content[type=image].detail", "messages[0].content[1].detail", "low"),
    ("messages[].name", "messages[0].name", "x"),
    ("messages[].role=critic", "messages[1].role", "critic"),
    ("messages[].odd", "messages[1].odd", 1),
    ("tools[type=custom].format", "tools[1].format", {"a": 1}),
    ("choice.type=a=b", "choice.type", "a=b"),
    ("include[]=a.b", "include[1]", "a.b"),
    ("maxTokens", "max_tokens", 5),
    ("outer.innerMost.value", "outer.inner_most.value", 3),
    ("tools[type=custom].format", "bag.more_tools[0].format", "z"),
    ("unknown", "unknown", {"deep": 1}),
]


def test_a_whole_body_shows_exactly_this() -> None:
    ledger = make()
    assert ledger.surface == "test"
    assert [(seen.row.path, seen.path, seen.value) for seen in ledger.walk(BODY)] == SEEN


def test_a_body_of_plain_keys_alone_shows_nothing() -> None:
    body = {
        "n": 1,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "a"}, {"text": "b"}]}],
        "tools": [{"type": "function", "name": "f"}],
        "choice": {"type": "one", "id": "c"},
        "include": ["plain"],
        "outer": {"innerMost": {}},
        "bag": {"moreTools": [{"name": "f"}]},
    }
    assert make().walk(body) == []


def test_a_made_up_row_says_that_nobody_knows_it() -> None:
    (seen,) = make().walk({"unknown": 1})
    assert (seen.row.reason, seen.row.disposition, seen.value) == (UNKNOWN_REASON, IGNORED, 1)


@pytest.mark.parametrize(
    ("body", "path", "code", "problem"),
    [
        (
            {"messages": [{"content": "a"}]},
            "messages[0].role",
            "missing_required_parameter",
            "the field is required; supported values are: 'user', 'critic'",
        ),
        ({"messages": [{"role": 3}]}, "messages[0].role", "invalid_type", "must be a string"),
        (
            {"choice": {"type": "u" * 150}},
            "choice.type",
            "invalid_value",
            f"unknown value '{'u' * 100}'; supported values are: 'one', 'a=b'",
        ),
        (
            {"include": ["i" * 150]},
            "include[0]",
            "invalid_value",
            f"unknown value '{'i' * 100}'; supported values are: 'a.b', 'plain'",
        ),
        ({"include": [["plain"]]}, "include[0]", "invalid_type", "must be a string"),
        (
            {"maxTokens": 1, "max_tokens": 2},
            "max_tokens",
            None,
            "the field is also there as 'maxTokens'",
        ),
    ],
)
def test_what_cannot_be_meant_is_told_exactly(
    body: dict[str, Any], path: str, code: str | None, problem: str
) -> None:
    with pytest.raises(TurnFault) as caught:
        make().walk(body)
    assert (caught.value.param, caught.value.code, caught.value.problem) == (path, code, problem)


def test_a_table_that_cannot_be_read_says_where() -> None:
    with pytest.raises(ValueError, match=r"^ledger path 'a\.\.b' cannot be read at 2$"):
        Ledger("test", [row("a..b.c")])
    with pytest.raises(ValueError, match=r"^ledger path 'a\[t=x\]' selects the kind 'x', which has no row"):
        Ledger("test", [row("a[].t=y"), row("a[t=x].b")], tags={"a[]": ("t", None)})


def context(features: frozenset[Feature] = frozenset(), switch: str | None = None) -> Context:
    turn = Turn(model="m", system="", messages=[])
    return Context(turn, features, lambda feature: switch, ToolPlan(()))


@pytest.mark.parametrize("there", [False, True])
def test_an_outcome_has_all_that_its_row_says(there: bool) -> None:
    parameter = row("a", feature=Feature.TOP_K, without=REFUSED, exact=True, code="c")
    features = frozenset({Feature.TOP_K}) if there else frozenset()
    (outcome,) = parameter.outcomes(1, context(features), "a")
    assert outcome == Outcome(FORWARDED if there else REFUSED, exact=True, feature=Feature.TOP_K, code="c")


def test_a_rule_gets_the_value_the_context_and_the_concrete_path() -> None:
    got: list[Any] = []

    def rule(value: Any, asked: Context, path: str) -> tuple[Outcome, ...]:
        got.extend((value, asked, path))
        return ()

    ledger = Ledger("test", [row("a"), row("a[].b", rule=rule)])
    body = {"a": [{"b": 5}]}
    asked = context()
    judge(ledger, ledger.walk(body), (), body, asked, strict=False, strict_rows=frozenset())
    assert got == [5, asked, "a[0].b"]


def test_null_asks_for_nothing() -> None:
    assert row("a", IGNORED).is_neutral(None)


def test_a_refusal_ends_its_reason_before_it_names_the_switch() -> None:
    ledger = Ledger("test", [Parameter("a", FORWARDED, "..why.", feature=Feature.TOP_K)])
    body = {"a": 1}
    with pytest.raises(TurnFault) as caught:
        judge(
            ledger, ledger.walk(body), (), body, context(switch="S=1"), strict=True, strict_rows=frozenset()
        )
    assert caught.value.problem == "..why; S=1 would honour it"


def test_notes_at_places_that_are_not_there_keep_their_order_behind_what_is() -> None:
    ledger = Ledger("test", [row("a", IGNORED), row("b"), row("c", IGNORED)])
    body = {"c": 1, "b": [{"x.y": 1, "z": [0]}], "a": 1}
    notes = [
        Note("b", "b[0].x.y", IGNORED),
        Note("b", "b[0].z[0]", IGNORED),
        Note("b", "b[1]", IGNORED),
        Note("b", "b[0].gone", IGNORED),
    ]
    found = judge(ledger, ledger.walk(body), notes, body, context(), strict=False, strict_rows=frozenset())
    assert [finding.path for finding in found.ignored] == [
        "c",
        "b[1]",
        "b[0].gone",
        "b[0].x.y",
        "b[0].z[0]",
        "a",
    ]


def test_a_header_is_full_to_its_last_byte_and_no_further() -> None:
    fits, too_long = "f" * (HEADER_BYTES - 4), "f" * (HEADER_BYTES - 3)
    assert render_paths([fits, "g" * 10]) == f"{fits}, +1"
    assert render_paths([too_long, "g" * 10]) == "+2"


def test_an_object_of_the_default_kind_is_seen_where_that_kind_speaks() -> None:
    ledger = Ledger("test", [row("t[].type=a", IGNORED)], tags={"t[]": ("type", "a")})
    assert [(seen.path, seen.value) for seen in ledger.walk({"t": [{}]})] == [("t[0].type", "a")]


def test_an_object_in_the_place_of_a_list_is_left_to_the_decoder() -> None:
    assert make().walk({"tools": {"type": "no such kind"}}) == []


def test_a_place_deep_down_may_hold_what_another_holds_without_further_spellings() -> None:
    ledger = Ledger(
        "test",
        [row("a[].type=x"), row("a[].k", IGNORED), row("o"), row("o.b")],
        tags={"a[]": ("type", None)},
        same={"o.b.a[]": "a[]"},
    )
    assert [seen.path for seen in ledger.walk({"o": {"b": {"a": [{"type": "x", "k": 1}]}}})] == ["o.b.a[0].k"]


def test_kinds_may_be_written_down_in_any_order() -> None:
    ledger = Ledger(
        "test",
        [row("a[].b[].t=x"), row("a[].b[].v", IGNORED), row("a[].k=y")],
        tags={"a[]": ("k", None), "a[].b[]": ("t", None)},
    )
    assert [seen.path for seen in ledger.walk({"a": [{"k": "y", "b": [{"t": "x", "v": 1}]}]})] == [
        "a[0].b[0].v"
    ]
