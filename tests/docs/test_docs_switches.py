"""Switches that are on by default have a reason that is written down; unconfirmed coordinates are never among them.

That docs/ENV-SWITCHES.md and .env.example equal the table, and that every switch is read somewhere, is tested beside
the table (tests/core/test_core_settings.py).
"""

from __future__ import annotations

import re

from app.settings import Settings, Switch, switches
from app.turn.tool_choice import REQUIRED
from app.turn.turn import Message, ReasoningPart, Sampling, TextPart, Tool, Turn
from app.upstreams.connect import ConnectUpstream, wire_pb2
from app.upstreams.connect.coordinates import Coordinates
from app.upstreams.connect.encode import Identity, RequestEncoder
from app.upstreams.connect.upstream import CONFIRMED
from tests.support.servers import ROOT

DECISIONS = (ROOT / "docs" / "DECISIONS.md").read_text()
UNCONFIRMED = {
    wire_pb2.GetChatMessageRequest: {
        "disable_parallel_tool_calls",
        "tool_choice",
        "prompt_cache_options",
    },
    wire_pb2.ClientMetadata: {"user_jwt"},
    wire_pb2.ChatMessage: {"reasoning"},
}
"""The fields of a request whose numbers come from no capture (the bracketed ones of the wire)."""


def is_flag(row: Switch) -> bool:
    """Whether a switch says on or off."""
    try:
        return row.parse("1") is True and row.parse("0") is False
    except ValueError:
        return False


def on_by_default() -> list[str]:
    return [row.name for _, row in switches() if is_flag(row) and row.default == "1"]


def test_there_are_flags_to_look_at() -> None:
    assert len([row for _, row in switches() if is_flag(row)]) > 5


def test_every_switch_that_is_on_by_default_is_listed_with_its_reason() -> None:
    listed = re.findall(r"^\| `(\w+)` is on by default \| .+ \| .{40,} \|$", DECISIONS, re.MULTILINE)
    assert sorted(listed) == sorted(on_by_default())


def test_an_unconfirmed_switch_is_never_on_by_default() -> None:
    for attribute, row in switches():
        value = getattr(Settings(), attribute)
        if (
            row.unconfirmed and row.name != "DEVIN_CONNECT_TOOL_CHOICE_TAGS"
        ):  # numbers, used by a switch that is off
            assert not value, row.name


def test_the_default_upstream_carries_what_is_confirmed_and_nothing_else() -> None:
    upstream = ConnectUpstream(Settings())
    try:
        assert upstream.features == CONFIRMED
    finally:
        upstream.close()


def test_no_unconfirmed_field_is_on_the_default_wire_whatever_a_turn_asks_for() -> None:
    turn = Turn(
        model="m",
        system="s",
        messages=[
            Message("user", [TextPart("go")], "messages[0]"),
            Message("assistant", [ReasoningPart("hm"), TextPart("a")], "messages[1]"),
        ],
        tools=[Tool("f", "", "{}")],
        tool_choice=REQUIRED,
        parallel_tool_calls=False,
        sampling=Sampling(),
    )
    payload = RequestEncoder(CONFIRMED, Coordinates(), Identity("candor", "1")).encode(turn, "m", "t")
    request = wire_pb2.GetChatMessageRequest.FromString(payload)
    for message in (request, request.metadata, *request.messages):
        set_fields = {field.name for field, _ in message.ListFields()}
        assert set_fields.isdisjoint(UNCONFIRMED[type(message)])


def test_every_field_that_the_wire_calls_unconfirmed_is_known_here() -> None:
    proto = (ROOT / "app/upstreams/connect/wire.proto").read_text()
    response = {"credit_cost", "quota_basis_points"}
    assert (
        set(re.findall(r"(\w+) = \d+;.*unconfirmed", proto)) == set().union(*UNCONFIRMED.values()) | response
    )
