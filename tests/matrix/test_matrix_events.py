"""One upstream's answer, four surfaces, whole and streamed: the same meaning arrives everywhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from flask import Flask

from fake_upstream import FakeUpstream
from fake_upstream import scenarios as s
from tests.matrix import asking
from tests.matrix.answers import Answer, Call, Usage, read
from tests.matrix.asking import CHAT, GENERATE, MESSAGES, RESPONSES, SURFACES, ask
from tests.matrix.faults import FAILED, body, in_stream

FINISH = {
    "stop": {CHAT: "stop", RESPONSES: "completed", MESSAGES: "end_turn", GENERATE: "STOP"},
    "tool_calls": {CHAT: "tool_calls", RESPONSES: "completed", MESSAGES: "tool_use", GENERATE: "STOP"},
    "length": {
        CHAT: "length",
        RESPONSES: "incomplete/max_output_tokens",
        MESSAGES: "max_tokens",
        GENERATE: "MAX_TOKENS",
    },
    "content_filter": {
        CHAT: "content_filter",
        RESPONSES: "incomplete/content_filter",
        MESSAGES: "refusal",
        GENERATE: "SAFETY",
    },
}
SWITCHES = {"DEVIN_CONNECT_STOP_REASON_MAP": "3=length,5=content_filter"}
USAGE = Usage(12, 0, 5)
A = Call("a", "f", '{"x":"1"}')
B = Call("b", "g", '{"y":"2"}')


@dataclass(frozen=True)
class Scenario:
    """Upstream steps and what must arrive. ``cap`` is the output cap that the caller asks for."""

    name: str
    steps: list[dict[str, Any]]
    finish: str = "stop"
    text: str = ""
    reasoning: str = ""
    calls: tuple[Call, ...] = ()
    usage: Usage = USAGE
    blocks: tuple[str, ...] = ()
    cap: int | None = None


def call(index: int, call_id: str, name: str, *fragments: str) -> list[dict[str, Any]]:
    return [s.tool_call(index, call_id, name), *(s.tool_args(index, each) for each in fragments)]


USED = s.usage(12, 5)
SCENARIOS = [
    Scenario("text", [s.text("Hello"), s.text(" wörld 🌍"), USED, s.finish()], text="Hello wörld 🌍"),
    Scenario(
        "text in one packet",
        [s.one_packet(), s.text("a\n\n"), s.text("data: b\r"), USED, s.finish()],
        text="a\n\ndata: b\r",
    ),
    Scenario(
        "text byte by byte and compressed",
        [s.dribble(1), s.gzip_frames(), s.text("née"), USED, s.finish()],
        text="née",
    ),
    Scenario("finish 4 is a stop too", [s.text("a"), USED, s.finish(4)], text="a"),
    Scenario("nothing at all", [USED, s.finish()]),
    Scenario(
        "reasoning, then text",
        [s.reasoning("h"), s.reasoning("m"), s.text("a"), USED, s.finish()],
        reasoning="hm",
        text="a",
        blocks=("reasoning", "text"),
    ),
    Scenario(
        "one call",
        [*call(0, "a", "f", '{"x":', '"1"}'), USED, s.finish()],
        "tool_calls",
        calls=(A,),
        blocks=("call",),
    ),
    Scenario(
        "interleaved calls",
        [
            s.tool_call(0, "a", "f"),
            s.tool_call(1, "b", "g"),
            s.tool_args(0, '{"x":'),
            s.tool_args(1, '{"y":'),
            s.tool_args(0, '"1"}'),
            s.tool_args(1, '"2"}'),
            USED,
            s.finish(),
        ],
        "tool_calls",
        calls=(A, B),
        blocks=("call", "call"),
    ),
    Scenario(
        "calls of which the second is complete first",
        [
            s.tool_call(0, "a", "f"),
            s.tool_args(0, '{"x":'),
            *call(1, "b", "g", '{"y":"2"}'),
            s.tool_args(0, '"1"}'),
            USED,
            s.finish(),
        ],
        "tool_calls",
        calls=(A, B),
        blocks=("call", "call"),
    ),
    Scenario(
        "a call between texts",
        [s.text("one "), *call(0, "a", "f", '{"x":"1"}'), s.text("two"), USED, s.finish()],
        "tool_calls",
        text="one two",
        calls=(A,),
        blocks=("text", "call", "text"),
    ),
    Scenario(
        "reasoning, text and two calls",
        [
            s.reasoning("hm"),
            s.text("t"),
            *call(0, "a", "f", '{"x":"1"}'),
            *call(1, "b", "g", '{"y":"2"}'),
            USED,
            s.finish(),
        ],
        "tool_calls",
        reasoning="hm",
        text="t",
        calls=(A, B),
        blocks=("reasoning", "text", "call", "call"),
    ),
    Scenario(
        "a call without argument frames",
        [s.tool_call(0, "a", "f"), USED, s.finish()],
        "tool_calls",
        calls=(Call("a", "f", "{}"),),
    ),
    Scenario(
        "a call whose arguments are empty",
        [*call(0, "a", "f", ""), USED, s.finish()],
        "tool_calls",
        calls=(Call("a", "f", "{}"),),
    ),
    Scenario(
        "two calls without arguments",
        [s.tool_call(0, "a", "f"), *call(1, "b", "g", ""), USED, s.finish()],
        "tool_calls",
        calls=(Call("a", "f", "{}"), Call("b", "g", "{}")),
    ),
    Scenario(
        "the same tool twice",
        [*call(0, "a", "f", '{"x":"1"}'), *call(1, "b", "f", '{"x":"1"}'), USED, s.finish()],
        "tool_calls",
        calls=(A, Call("b", "f", '{"x":"1"}')),
    ),
    Scenario(
        "text cut by the cap", [s.text("cut he"), s.usage(12, 5), s.finish()], "length", text="cut he", cap=5
    ),
    Scenario("text cut by a mapped number", [s.text("cut"), USED, s.finish(3)], "length", text="cut"),
    Scenario(
        "a whole call at the cap is a call",
        [*call(0, "a", "f", '{"x":"1"}'), USED, s.finish()],
        "tool_calls",
        calls=(A,),
        cap=5,
    ),
    Scenario("content filter", [s.text("no"), USED, s.finish(5)], "content_filter", text="no"),
    Scenario("content filter without a word", [USED, s.finish(5)], "content_filter"),
    Scenario(
        "usage that a later one replaces",
        [s.usage(20, 0, 80), s.text("a"), s.usage(20, 7, 80), s.finish()],
        text="a",
        usage=Usage(100, 80, 7),
    ),
    Scenario(
        "usage whose later zero holds",
        [s.usage(20, 3, 80, 9), s.text("a"), s.usage(20, 7, 0, 0), s.finish()],
        text="a",
        usage=Usage(20, 0, 7),
    ),
    Scenario(
        "usage with cache writes",
        [s.text("a"), s.usage(1, 2, 3, 4), s.finish()],
        text="a",
        usage=Usage(8, 3, 2),
    ),
]


def keys_for(surface: str, scenario: Scenario) -> dict[str, Any]:
    keys = asking.tools(surface, "f", "g")
    if scenario.reasoning:
        keys |= asking.reasoning_shown(surface)
    if scenario.cap is not None:
        keys |= asking.cap(surface, scenario.cap)
    return keys


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_an_answer_arrives_with_its_meaning(
    standing: Callable[..., Flask], fake: FakeUpstream, scenario: Scenario, surface: str, stream: bool
) -> None:
    fake.queue(scenario.steps)

    reply = ask(standing(**SWITCHES), surface, stream=stream, **keys_for(surface, scenario))

    assert reply.status_code == 200
    answer = read(surface, reply.data, stream=stream)
    assert (answer.text, answer.reasoning) == (scenario.text, scenario.reasoning)
    assert tuple(answer.calls) == scenario.calls
    assert answer.finish == FINISH[scenario.finish][surface]
    assert answer.usage == scenario.usage
    assert answer.error is None
    if scenario.blocks and not (surface == CHAT and "text" in scenario.blocks[-1:]):
        assert tuple(answer.blocks) == scenario.blocks  # in chat completions calls come after all text


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_a_streamed_answer_is_the_whole_one(
    standing: Callable[..., Flask], fake: FakeUpstream, scenario: Scenario, surface: str
) -> None:
    fake.queue(scenario.steps, times=2)
    app = standing(**SWITCHES)

    whole, streamed = (
        read(
            surface,
            ask(app, surface, stream=stream, **keys_for(surface, scenario)).data,
            stream=stream,
        )
        for stream in (False, True)
    )

    if surface == CHAT:  # a whole message has no order between its text and its calls
        whole.blocks = streamed.blocks = []
    assert streamed == whole


CUT_CALL = [s.tool_call(0, "a", "f"), s.tool_args(0, '{"x":'), USED, s.finish()]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize(
    ("surface", "calls"),
    [
        (CHAT, [Call("a", "f", '{"x":')]),
        (RESPONSES, [Call("a", "f", '{"x":')]),
        (MESSAGES, None),
        (GENERATE, None),
    ],
)
def test_a_call_cut_by_the_cap_says_length_and_never_claims_to_be_whole(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str, calls: list[Call] | None, stream: bool
) -> None:
    fake.queue(CUT_CALL)

    reply = ask(standing(), surface, stream=stream, **asking.tools(surface, "f"), **asking.cap(surface, 5))

    assert reply.status_code == 200
    answer = read(surface, reply.data, stream=stream)
    assert answer.finish == FINISH["length"][surface]
    assert answer.usage == USAGE
    if calls is not None:
        assert answer.calls == calls
    else:  # an object is needed there, and there is none
        assert [each for each in answer.calls if each.arguments == '{"x":"'] == []


UNPARSABLE = ['{"x": "unterm', "not json", "[1]", '"text"', "12", "{}{}", '{"x":1} trailing']


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("surface", [CHAT, RESPONSES])
@pytest.mark.parametrize("arguments", UNPARSABLE)
def test_arguments_that_do_not_parse_pass_as_they_are_where_they_are_text(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str, arguments: str, stream: bool
) -> None:
    fake.queue([*call(0, "a", "f", arguments), USED, s.finish()])

    reply = ask(standing(), surface, stream=stream, **asking.tools(surface, "f"))

    answer = read(surface, reply.data, stream=stream)
    assert answer.calls == [Call("a", "f", arguments)]
    assert answer.finish == FINISH["tool_calls"][surface]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("surface", [MESSAGES, GENERATE])
@pytest.mark.parametrize("arguments", UNPARSABLE)
def test_arguments_that_do_not_parse_fail_a_turn_that_needs_an_object(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str, arguments: str, stream: bool
) -> None:
    fake.queue([s.one_packet(), *call(0, "a", "f", arguments), USED, s.finish()])

    reply = ask(standing(), surface, stream=stream, **asking.tools(surface, "f"))

    problem = "the arguments of the call to 'f' are not a JSON object"
    assert reply.status_code == 502
    assert reply.json == body(surface, FAILED, problem, request_id=reply.headers["x-request-id"])


@pytest.mark.parametrize("surface", [MESSAGES, GENERATE])
def test_arguments_that_do_not_parse_after_text_are_a_fault_in_the_stream(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str
) -> None:
    fake.queue([s.text("t"), s.sleep(80), *call(0, "a", "f", '{"x": "unterm'), USED, s.finish()])

    reply = ask(standing(), surface, stream=True, **asking.tools(surface, "f"))

    answer = read(surface, reply.data, stream=True)
    problem = "the arguments of the call to 'f' are not a JSON object"
    assert (answer.text, answer.calls, answer.finish) == ("t", [], None)
    assert answer.error == in_stream(surface, FAILED, problem, request_id=reply.headers["x-request-id"])


STOP = {
    CHAT: ({"stop": ["END", "no"]}, "stop"),
    MESSAGES: ({"stop_sequences": ["END", "no"]}, "stop_sequence/END"),
    GENERATE: ({"generationConfig": {"stopSequences": ["END", "no"]}}, "STOP"),
}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("surface", STOP)
def test_a_stop_string_is_cut_across_deltas_and_the_upstream_cancelled(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str, stream: bool
) -> None:
    fake.queue([s.text("aE"), s.text("N"), s.text("Db"), s.sleep(3000), s.text("late"), s.finish()])
    keys, finish = STOP[surface]

    reply = ask(standing(), surface, stream=stream, **keys)

    answer = read(surface, reply.data, stream=stream)
    assert (answer.text, answer.finish) == ("a", finish)
    fake.wait_outcome("client_closed")


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("surface", STOP)
def test_what_only_began_like_a_stop_string_is_not_lost(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str, stream: bool
) -> None:
    fake.queue([s.text("aE"), s.text("N"), USED, s.finish()])
    keys, _ = STOP[surface]

    answer = read(surface, ask(standing(), surface, stream=stream, **keys).data, stream=stream)

    assert (answer.text, answer.finish) == ("aEN", FINISH["stop"][surface])


def test_responses_has_no_stop_string_and_says_so(standing: Callable[..., Flask], fake: FakeUpstream) -> None:
    fake.queue([s.text("aENDb"), USED, s.finish()])

    reply = ask(standing(), RESPONSES, stop=["END"])

    assert reply.headers["x-candor-ignored"] == "stop"
    assert read(RESPONSES, reply.data, stream=False).text == "aENDb"


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("surface", SURFACES)
def test_usage_that_the_upstream_withheld_is_estimated_and_counted(
    app: Flask, fake: FakeUpstream, surface: str, stream: bool
) -> None:
    fake.queue([s.text("twelve chars"), s.finish()])

    answer = read(surface, ask(app, surface, stream=stream).data, stream=stream)

    assert answer.usage == Usage(5, 0, 3)
    metrics = app.test_client().get("/metrics").text
    assert f'usage_estimated_total{{surface="{surface}"}} 1.0' in metrics


@pytest.mark.parametrize("surface", SURFACES)
def test_usage_that_the_upstream_reported_is_not_counted_as_an_estimate(
    app: Flask, fake: FakeUpstream, surface: str
) -> None:
    fake.queue([s.text("a"), USED, s.finish()])

    assert read(surface, ask(app, surface).data, stream=False).usage == USAGE
    assert f'usage_estimated_total{{surface="{surface}"}}' not in app.test_client().get("/metrics").text


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize(
    ("surface", "keys"),
    [
        (CHAT, {"reasoning_effort": "none"}),
        (RESPONSES, {}),
        (MESSAGES, {"thinking": {"type": "disabled"}}),
        (GENERATE, {"generationConfig": {"thinkingConfig": {"includeThoughts": False}}}),
    ],
)
def test_reasoning_that_was_not_asked_for_stays_inside(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str, keys: dict[str, Any], stream: bool
) -> None:
    fake.queue([s.reasoning("secret thought"), s.text("a"), USED, s.finish()])

    reply = ask(standing(), surface, stream=stream, **keys)

    answer = read(surface, reply.data, stream=stream)
    assert (answer.reasoning, answer.text) == ("", "a")
    assert b"secret thought" not in reply.data


def test_an_answer_knows_when_two_differ() -> None:
    assert Answer(text="a") != Answer(text="b")
