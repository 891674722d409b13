"""The echo upstream: nothing but text, and nothing to switch."""

from __future__ import annotations

import pytest

from app.turn.events import Finished, TextDelta, Usage
from app.turn.faults import ClientGone
from app.turn.features import Feature
from app.turn.turn import ImagePart, Message, TextPart, Turn
from app.upstreams import Upstream
from app.upstreams.local import LocalUpstream
from tests.upstreams.kit import NoSocket, read_all, turn


def echo(asked: Turn) -> list[object]:
    return list(read_all(LocalUpstream().open(asked, "local-echo", None, NoSocket())))


def test_it_needs_no_lease_carries_nothing_and_names_no_switch():
    upstream: Upstream = LocalUpstream()
    assert (upstream.name, upstream.needs_lease, upstream.features) == ("local", False, frozenset())
    assert [upstream.switch_for(feature) for feature in Feature] == [None] * len(Feature)


def test_it_echoes_the_last_user_text_in_chunks_and_estimates_its_usage():
    messages = [
        Message("user", [TextPart("first")], "messages[0]"),
        Message("assistant", [TextPart("answer")], "messages[1]"),
        Message("user", [TextPart("twenty characters on"), ImagePart("", ""), TextPart("x")], "messages[2]"),
    ]
    assert echo(Turn("local-echo", messages, system="S")) == [
        TextDelta("twenty character"),
        TextDelta("s on\nx"),
        Usage(fresh=9, completion=6, estimated=True),
        Finished("stop"),
    ]


def test_without_user_text_it_says_nothing_and_ends():
    assert echo(Turn("local-echo", [])) == [Usage(0, 0, estimated=True), Finished("stop")]


def test_it_notices_a_caller_who_is_gone_and_ends_when_closed():
    class Gone(NoSocket):
        def gone(self) -> bool:
            return True

    with pytest.raises(ClientGone):
        LocalUpstream().open(turn(), "m", None, Gone()).read(None)
    stream = LocalUpstream().open(turn(), "m", None, NoSocket())
    stream.close()
    stream.close()
    assert stream.read(0) == []
