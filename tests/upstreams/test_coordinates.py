"""Movable field numbers: which are taken, and what stops start-up."""

from __future__ import annotations

import pytest

from app.settings import Settings, SettingsError, load
from app.upstreams.connect import ConnectUpstream
from app.upstreams.connect.coordinates import Coordinates, coordinates, occupied


def from_tags(text: str) -> Coordinates:
    return coordinates(load({"DEVIN_CONNECT_TOOL_CHOICE_TAGS": text}))


def test_the_defaults_are_choice_12_and_parallel_11():
    assert coordinates(Settings()) == Coordinates(choice=12, parallel=11)


def test_the_two_may_change_places():
    assert from_tags("choice=11,parallel=12") == Coordinates(choice=11, parallel=12)


@pytest.mark.parametrize("number", [4, 5, 6, 9, 14, 17, 18, 19, 22, 18_999, 20_000, 536_870_911])
def test_free_numbers_are_taken(number):
    assert from_tags(f"choice={number}").choice == number
    assert from_tags(f"parallel={number}").parallel == number


def test_one_that_is_left_out_keeps_its_default():
    assert from_tags("choice=30") == Coordinates(choice=30, parallel=11)
    assert from_tags("parallel=30") == Coordinates(choice=12, parallel=30)


def test_the_occupied_numbers_are_those_of_the_wire():
    assert occupied() == {1, 2, 3, 7, 8, 10, 13, 15, 16, 20, 21}


@pytest.mark.parametrize("name", ["choice", "parallel"])
@pytest.mark.parametrize("number", [1, 2, 3, 7, 8, 10, 13, 15, 16, 20, 21])
def test_an_occupied_number_stops_start_up_naming_the_switch_and_the_field(name, number):
    settings = load({"DEVIN_CONNECT_TOOL_CHOICE_TAGS": f"{name}={number}"})
    with pytest.raises(SettingsError, match=rf"^DEVIN_CONNECT_TOOL_CHOICE_TAGS: {name}={number} is taken: "):
        ConnectUpstream(settings)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("choice=11", "choice and parallel are both 11; each needs a number of its own"),
        ("choice=40,parallel=40", "choice and parallel are both 40; each needs a number of its own"),
        ("choice=19000", "choice=19000 is in 19000-19999, which protobuf keeps for itself"),
        ("parallel=19999", "parallel=19999 is in 19000-19999, which protobuf keeps for itself"),
    ],
)
def test_numbers_that_cannot_be_meant_stop_start_up_and_say_why(text, problem):
    with pytest.raises(SettingsError) as caught:
        from_tags(text)
    assert str(caught.value) == f"DEVIN_CONNECT_TOOL_CHOICE_TAGS: {problem}"


@pytest.mark.parametrize("number", [0, -1, 536_870_912])
def test_numbers_out_of_range_stop_start_up(number):
    with pytest.raises(SettingsError, match="DEVIN_CONNECT_TOOL_CHOICE_TAGS"):
        from_tags(f"choice={number}")
    with pytest.raises(SettingsError, match="DEVIN_CONNECT_TOOL_CHOICE_TAGS"):
        coordinates(Settings(connect_tool_choice_tags={"parallel": number}))


def test_the_fields_as_they_stand_on_the_wire():
    fields = Coordinates(choice=12, parallel=11)
    assert fields.parallel_disabled() == b"\x58\x01"
    assert fields.tool_choice("none", "") == b"\x62\x06\x0a\x04none"
    assert fields.tool_choice("function", "f") == b"\x62\x0d\x0a\x08function\x12\x01f"
    moved = Coordinates(choice=16, parallel=2048)
    assert moved.parallel_disabled() == b"\x80\x80\x01\x01"
    assert moved.tool_choice("none", "")[:2] == b"\x82\x01"
