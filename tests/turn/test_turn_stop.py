from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.turn.events import (
    Event,
    Finished,
    ReasoningDelta,
    TextDelta,
    ToolCallArguments,
    ToolCallStarted,
    Usage,
)
from app.turn.stop import StopCutter


def text_of(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def test_stop_is_cut_across_delta_boundaries() -> None:
    cutter = StopCutter(["END"])
    assert cutter.feed([TextDelta("aEN")]) == [TextDelta("a")]
    assert cutter.feed([TextDelta("Db"), Finished("stop")]) == [Finished("stop", "END")]
    assert cutter.cut == "END"


def test_held_back_prefix_is_flushed_when_it_turns_out_to_be_text() -> None:
    cutter = StopCutter(["END"])
    assert cutter.feed([TextDelta("aEN")]) == [TextDelta("a")]
    assert cutter.feed([TextDelta("x")]) == [TextDelta("ENx")]


def test_held_back_prefix_is_flushed_at_the_end() -> None:
    cutter = StopCutter(["END"])
    cutter.feed([TextDelta("aEN")])
    assert cutter.feed([Usage(1, 2), Finished("stop")]) == [Usage(1, 2), TextDelta("EN"), Finished("stop")]
    assert cutter.cut is None


def test_held_back_prefix_goes_out_before_a_tool_call() -> None:
    cutter = StopCutter(["END"])
    events = cutter.feed([TextDelta("aE"), ToolCallStarted(0, "a", "f"), TextDelta("ND")])
    assert events == [TextDelta("a"), TextDelta("E"), ToolCallStarted(0, "a", "f"), TextDelta("ND")]
    assert cutter.cut is None


def test_reasoning_and_tool_arguments_are_never_scanned() -> None:
    cutter = StopCutter(["END"])
    events: list[Event] = [ReasoningDelta("END"), ToolCallStarted(0, "a", "f"), ToolCallArguments(0, '"END"')]
    assert cutter.feed(events) == events
    assert cutter.cut is None


@pytest.mark.parametrize(
    ("stops", "text", "passed", "cut"),
    [
        (["b", "a"], "xab", "x", "a"),
        (["AB", "ABC"], "xABC", "x", "AB"),
        (["ABC", "B"], "xABC", "xA", "B"),
        (["xAB", "AB"], "xAB", "", "xAB"),
        (["aab"], "aaab", "a", "aab"),
        (["\n\n"], "one\n\ntwo", "one", "\n\n"),
    ],
)
def test_the_match_that_is_complete_first_wins(stops: list[str], text: str, passed: str, cut: str) -> None:
    cutter = StopCutter(stops)
    assert text_of(cutter.feed([TextDelta(text), Finished("stop")])) == passed
    assert cutter.cut == cut


@given(
    text=st.text("abc", max_size=30),
    stops=st.lists(st.text("abc", min_size=1, max_size=4), min_size=1, max_size=4),
    cuts=st.lists(st.integers(0, 30), max_size=8),
)
def test_any_split_of_the_text_gives_the_same_result(text: str, stops: list[str], cuts: list[int]) -> None:
    whole = StopCutter(stops)
    expected = text_of(whole.feed([TextDelta(text), Finished("stop")]) if text else [])
    split = StopCutter(stops)
    passed: list[Event] = []
    bounds = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    for low, high in itertools.pairwise(bounds):
        if split.cut is None:
            passed += split.feed([TextDelta(text[low:high])])
    if split.cut is None:
        passed += split.feed([Finished("stop")])
    assert (text_of(passed), split.cut) == (expected, whole.cut)
    assert all(stop not in expected for stop in stops)
