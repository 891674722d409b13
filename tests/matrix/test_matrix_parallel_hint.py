"""The wish for one tool call at a time: served, counted, headed, refused when strict, sent when it can be."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from app.factory import of
from fake_upstream import FakeUpstream
from fake_upstream import scenarios as s
from tests.matrix import asking
from tests.matrix.answers import read
from tests.matrix.asking import CHAT, GENERATE, MESSAGES, RESPONSES, Json, ask

SWITCH = "DEVIN_CONNECT_TOOL_CHOICE"
ON = {SWITCH: "1"}
STRICT = {"Prefer": "handling=strict"}
HINT: dict[str, Json] = {
    CHAT: {"parallel_tool_calls": False},
    RESPONSES: {"parallel_tool_calls": False},
    MESSAGES: {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}},
}
NO_HINT: dict[str, list[Json]] = {
    CHAT: [{}, {"parallel_tool_calls": True}, {"parallel_tool_calls": None}],
    RESPONSES: [{}, {"parallel_tool_calls": True}, {"parallel_tool_calls": None}],
    MESSAGES: [
        {},
        {"tool_choice": {"type": "auto"}},
        {"tool_choice": {"type": "auto", "disable_parallel_tool_use": False}},
        {"tool_choice": {"type": "auto", "disable_parallel_tool_use": None}},
    ],
}
FIELD = {
    CHAT: "parallel_tool_calls",
    RESPONSES: "parallel_tool_calls",
    MESSAGES: "tool_choice.disable_parallel_tool_use",
}
HINTED = tuple(HINT)

each_surface = pytest.mark.parametrize("surface", HINTED)
both_ways = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


def keys(surface: str, *names: str) -> Json:
    return {**asking.tools(surface, *names), **asking.system(surface, "S")} if names else {}


def counters(app: Flask) -> Json:
    return dict(app.test_client().get("/connect-metrics").json)


def warnings(text: str) -> list[Json]:
    return [record for record in map(json.loads, text.splitlines()) if record["level"] == "WARNING"]


@both_ways
@each_surface
@pytest.mark.parametrize("names", [(), ("f",), ("f", "g")], ids=["no tools", "one tool", "two tools"])
def test_the_hint_is_served_headed_and_not_on_the_wire(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str, names: tuple[str, ...], stream: bool
) -> None:
    reply = ask(standing(), surface, stream=stream, **keys(surface, *names), **HINT[surface])

    assert reply.status_code == 200
    assert reply.headers["x-candor-ignored"] == FIELD[surface]
    assert not {11, 12} & set(fake.captures()[0]["top_level_fields"])


@each_surface
def test_the_hint_is_counted_once_per_request_in_three_counters(app: Flask, surface: str) -> None:
    for count in (1, 2, 3):
        ask(app, surface, stream=count == 2, **keys(surface, "f"), **HINT[surface])
        assert counters(app)["parallel_tool_calls_hint_ignored"] == count
    metrics = app.test_client().get("/metrics").text
    assert "\nparallel_tool_calls_hint_ignored_total 3.0\n" in metrics
    assert f'parameters_ignored_total{{parameter="{FIELD[surface]}",surface="{surface}"}} 3.0' in metrics


def test_the_hint_of_three_surfaces_is_one_counter_and_one_warning(
    make_app: Callable[..., Flask], capsys: pytest.CaptureFixture[str]
) -> None:
    app = make_app()

    for surface in HINTED * 2:
        ask(app, surface, **keys(surface, "f"), **HINT[surface])

    assert counters(app)["parallel_tool_calls_hint_ignored"] == 6
    (warning,) = warnings(capsys.readouterr().err)
    assert warning["event"] == "parallel_tool_calls_hint_ignored"
    assert warning["surface"] == CHAT
    assert warning["switch"].startswith(SWITCH)


@each_surface
def test_what_asks_for_nothing_is_neither_headed_nor_counted_nor_warned_of(
    app: Flask, fake: FakeUpstream, capsys: pytest.CaptureFixture[str], surface: str
) -> None:
    for said in NO_HINT[surface]:
        reply = ask(app, surface, headers=STRICT, **keys(surface, "f"), **said)
        assert reply.status_code == 200
        assert "x-candor-ignored" not in reply.headers
    assert counters(app)["parallel_tool_calls_hint_ignored"] == 0
    assert warnings(capsys.readouterr().err) == []
    assert [11 in capture["top_level_fields"] for capture in fake.captures()] == [False] * len(
        NO_HINT[surface]
    )


@each_surface
@pytest.mark.parametrize("value", ["false", 0, 1, [], {}])
def test_what_is_no_boolean_is_a_400(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str, value: Any
) -> None:
    said: Json = {"parallel_tool_calls": value}
    if surface == MESSAGES:
        said = {"tool_choice": {"type": "auto", "disable_parallel_tool_use": value}}

    reply = ask(standing(), surface, **keys(surface, "f"), **said)

    assert reply.status_code == 400
    assert FIELD[surface] in reply.text
    assert fake.captures() == []


@each_surface
def test_the_default_wire_is_the_same_byte_for_byte_with_and_without_the_hint(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str
) -> None:
    for said in ({}, HINT[surface]):
        ask(standing(), surface, **keys(surface, "f", "g"), **said)

    without, with_hint = fake.captures()
    assert without["raw_hex"] == with_hint["raw_hex"]


@both_ways
@each_surface
def test_the_hint_is_on_the_wire_with_its_switch_on_and_then_not_ignored(
    make_app: Callable[..., Flask], fake: FakeUpstream, surface: str, stream: bool
) -> None:
    app = make_app(**ON)

    reply = ask(app, surface, stream=stream, headers=STRICT, **keys(surface, "f", "g"), **HINT[surface])

    assert reply.status_code == 200
    assert "x-candor-ignored" not in reply.headers
    (capture,) = fake.captures()
    assert capture["message"]["disable_parallel_tool_calls"] is True
    assert capture["top_level_fields"].count(11) == 1
    assert counters(app)["parallel_tool_calls_hint_ignored"] == 0


@each_surface
def test_the_switch_puts_nothing_on_the_wire_for_what_asks_for_nothing(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str
) -> None:
    for said in NO_HINT[surface]:
        ask(standing(**ON), surface, **keys(surface, "f"), **said)
    assert not any({11, 12} & set(capture["top_level_fields"]) for capture in fake.captures())


@each_surface
def test_re_pointed_tags_are_where_the_hint_and_the_choice_go(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str
) -> None:
    forced = {"type": "any", "disable_parallel_tool_use": True}
    said = {"tool_choice": forced} if surface == MESSAGES else {**HINT[surface], "tool_choice": "required"}

    app = standing(**ON, DEVIN_CONNECT_TOOL_CHOICE_TAGS="choice=101,parallel=102")
    ask(app, surface, **keys(surface, "f"), **said)

    (capture,) = fake.captures()
    assert not {11, 12} & set(capture["top_level_fields"])
    assert capture["unknown_fields"] == [
        {"path": "", "number": 102, "wire_type": 0},
        {"path": "", "number": 101, "wire_type": 2},
    ]
    assert "b20601" not in capture["raw_hex"]
    assert "0a087265717569726564" in capture["raw_hex"]  # field 1 of the choice: "required"


REFUSED = {
    CHAT: "Unsupported parameter: 'parallel_tool_calls'.",
    RESPONSES: "Unsupported parameter: 'parallel_tool_calls'.",
    MESSAGES: "tool_choice.disable_parallel_tool_use: Extra inputs are not permitted",
}


@both_ways
@each_surface
@pytest.mark.parametrize("how", ["preference", "CANDOR_HANDLING", "CANDOR_STRICT_PARAMETERS"])
def test_strict_handling_refuses_the_hint_by_the_field_that_was_sent(
    make_app: Callable[..., Flask], fake: FakeUpstream, surface: str, how: str, stream: bool
) -> None:
    switches = {
        "preference": {},
        "CANDOR_HANDLING": {"CANDOR_HANDLING": "strict"},
        "CANDOR_STRICT_PARAMETERS": {"CANDOR_STRICT_PARAMETERS": FIELD[surface]},
    }[how]
    headers = STRICT if how == "preference" else {}
    app = make_app(**switches)

    reply = ask(app, surface, stream=stream, headers=headers, **keys(surface, "f"), **HINT[surface])

    assert reply.status_code == 400
    error = reply.json["error"]
    assert error["type"] == "invalid_request_error"
    if surface == MESSAGES:
        assert error["message"] == REFUSED[surface]
    else:
        assert (error["code"], error["param"]) == ("unsupported_parameter", "parallel_tool_calls")
        assert error["message"].startswith(REFUSED[surface])
        assert f"{SWITCH}=1" in error["message"]
    assert fake.captures() == []
    assert counters(app)["parallel_tool_calls_hint_ignored"] == 0


@each_surface
def test_a_callers_lenient_wins_over_strict_settings(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str
) -> None:
    app = standing(CANDOR_HANDLING="strict")

    reply = ask(app, surface, headers={"Prefer": "Handling=Lenient"}, **keys(surface), **HINT[surface])

    assert reply.status_code == 200
    assert reply.headers["Preference-Applied"] == "handling=lenient"
    assert len(fake.captures()) == 1


@pytest.mark.parametrize("surface", [CHAT, RESPONSES, MESSAGES])
@pytest.mark.parametrize("switch", [{}, ON], ids=["off", "on"])
def test_another_upstream_serves_the_hint_with_a_warning_of_its_own(
    make_app: Callable[..., Flask], capsys: pytest.CaptureFixture[str], surface: str, switch: dict[str, str]
) -> None:
    app = make_app(**switch)

    reply = ask(app, surface, model="local-echo", **HINT[surface])

    assert reply.status_code == 200
    assert FIELD[surface] in reply.headers["x-candor-ignored"].split(", ")
    assert counters(app)["parallel_tool_calls_hint_ignored"] == 0
    found = [each for each in warnings(capsys.readouterr().err) if each["parameter"] == FIELD[surface]]
    assert [(each["event"], each["upstream"]) for each in found] == [("parameter_ignored", "local")]
    assert "switch" not in found[0]


@pytest.mark.parametrize("surface", [CHAT, RESPONSES, MESSAGES])
def test_a_strict_answer_of_another_upstream_names_no_switch_of_this_one(
    standing: Callable[..., Flask], surface: str
) -> None:
    reply = ask(standing(), surface, model="local-echo", headers=STRICT, **HINT[surface])

    assert reply.status_code == 400
    assert "DEVIN_CONNECT" not in reply.text
    assert FIELD[surface] in reply.text


@both_ways
@each_surface
@pytest.mark.parametrize("switch", [{}, ON], ids=["off", "on"])
def test_two_calls_in_spite_of_the_hint_both_reach_the_caller_and_the_turn_is_counted(
    make_app: Callable[..., Flask], fake: FakeUpstream, surface: str, switch: dict[str, str], stream: bool
) -> None:
    app = make_app(**switch)
    fake.queue([s.tool_call(0, "a", "f"), s.tool_call(1, "b", "f"), s.finish()])

    reply = ask(app, surface, stream=stream, **keys(surface, "f"), **HINT[surface])

    assert [call.id for call in read(surface, reply.data, stream=stream).calls] == ["a", "b"]
    sent = "1" if switch else "0"
    metrics = app.test_client().get("/metrics").text
    assert f'parallel_tool_calls_hint_violated_total{{sent="{sent}"}} 1.0' in metrics


@pytest.mark.parametrize(
    ("surface", "said"),
    [
        (CHAT, {"tool_choice": "required"}),
        (RESPONSES, {"tool_choice": "required"}),
        (MESSAGES, {"tool_choice": {"type": "any"}}),
        (GENERATE, {"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}}),
    ],
)
@pytest.mark.parametrize("switch", [{}, ON], ids=["off", "on"])
def test_a_forced_choice_without_a_call_is_counted_by_whether_it_was_sent(
    make_app: Callable[..., Flask], fake: FakeUpstream, surface: str, said: Json, switch: dict[str, str]
) -> None:
    app = make_app(**switch)
    fake.queue([s.text("no tool"), s.finish()])

    reply = ask(app, surface, **asking.tools(surface, "f"), **said)

    assert reply.status_code == 200
    sent = "1" if switch else "0"
    metrics = app.test_client().get("/metrics").text
    assert f'forced_tool_choice_without_call_total{{sent="{sent}"}} 1.0' in metrics


@pytest.mark.parametrize("surface", HINTED)
def test_no_tokens_state_changes_by_the_hint(app: Flask, surface: str) -> None:
    before = [(row["state"], row["since"]) for row in of(app).services.capacity.report()["tokens"]]

    for headers in ({}, STRICT):
        ask(app, surface, headers=headers, **keys(surface, "f"), **HINT[surface])

    after = [(row["state"], row["since"]) for row in of(app).services.capacity.report()["tokens"]]
    assert after == before


@both_ways
@pytest.mark.parametrize(("switch", "in_force"), [({}, True), (ON, False)], ids=["off", "on"])
def test_the_responses_object_echoes_what_is_in_force(
    standing: Callable[..., Flask], switch: dict[str, str], in_force: bool, stream: bool
) -> None:
    reply = ask(
        standing(**switch), RESPONSES, stream=stream, **keys(RESPONSES, "f"), parallel_tool_calls=False
    )

    bodies = [reply.json]
    if stream:
        events = [json.loads(line[6:]) for line in reply.text.splitlines() if line.startswith("data: ")]
        bodies = [event["response"] for event in events if "response" in event]
        assert len(bodies) == 3
    assert [body["parallel_tool_calls"] for body in bodies] == [in_force] * len(bodies)
