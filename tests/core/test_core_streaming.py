from __future__ import annotations

import pytest

from app.accounts import OutcomeCounter
from app.metrics import Metrics
from app.run import Run
from app.streaming import StreamBody
from app.turn.events import Event, Finished, TextDelta, Usage
from app.turn.faults import ClientGone, FaultKind, TurnFault
from app.turn.turn import Turn
from tests.core.streams import FakeClock, FakeEncoder, FakeStream

FAILED = TurnFault(FaultKind.UPSTREAM_FAILED, "broke")
END: list[Event] = [Usage(3, 2), Finished("stop")]


class Streamed:
    """A body over a script on a clock of its own, and what it reported."""

    def __init__(
        self,
        *script: list[Event] | Exception | float,
        keepalive_s: float = 10,
        encoder: FakeEncoder | None = None,
    ) -> None:
        self.clock = FakeClock()
        self.stream = FakeStream(self.clock, *script)
        self.keepalives = 0
        self.ends: list[Exception | None] = []
        self.freed = 0
        turn = Turn("m", [])
        run = Run(self.stream, turn, OutcomeCounter(Metrics(), turn, frozenset()), self._free)
        self.body = StreamBody(
            encoder or FakeEncoder(),
            run,
            keepalive_s=keepalive_s,
            on_keepalive=self._count,
            on_end=self.ends.append,
            now=self.clock.now,
        )

    def _count(self) -> None:
        self.keepalives += 1

    def _free(self) -> None:
        self.freed += 1

    def writes(self) -> list[bytes]:
        """Everything that goes out, to the end."""
        self.body.start()
        written = list(self.body)
        self.body.close()
        return written

    @property
    def waited(self) -> float:
        return self.clock.seconds - 100.0


def test_each_batch_is_one_write_and_the_first_has_the_opening() -> None:
    streamed = Streamed([TextDelta("a"), TextDelta("b")], [TextDelta("c")], END)
    assert streamed.writes() == [b"<?>ab", b"c", b"u3/2[stop]"]
    assert (streamed.ends, streamed.freed, streamed.stream.closed) == ([None], 1, 1)


def test_the_content_type_is_the_encoders() -> None:
    assert Streamed().body.content_type == "text/test"


def test_a_turn_of_one_batch_is_one_write() -> None:
    assert Streamed([TextDelta("a"), *END]).writes() == [b"<3>au3/2[stop]"]


def test_usage_before_the_first_word_is_known_to_the_opening_and_not_lost() -> None:
    streamed = Streamed([Usage(7, 0)], [], [TextDelta("a")], [Finished("stop")])
    assert streamed.writes() == [b"<7>u7/0a", b"[stop]"]


def test_usage_before_a_keepalive_is_known_to_the_opening_and_told_with_the_first_word() -> None:
    streamed = Streamed([Usage(7, 0)], 12.0, [TextDelta("a")], [Finished("stop")])
    assert streamed.writes() == [b"<7>~", b"u7/0a", b"[stop]"]


def test_usage_after_a_keepalive_is_told_with_the_first_word() -> None:
    streamed = Streamed(12.0, [Usage(7, 0)], [Usage(8, 0)], [TextDelta("a")], [Finished("stop")])
    assert streamed.writes() == [b"<?>~", b"u7/0u8/0a", b"[stop]"]


def test_usage_between_words_is_passed_on_at_once() -> None:
    assert Streamed([TextDelta("a")], [Usage(7, 1)], [Finished("stop")]).writes() == [
        b"<?>a",
        b"u7/1",
        b"[stop]",
    ]


def test_while_open_a_fault_is_raised_and_nothing_is_sent() -> None:
    streamed = Streamed([Usage(1, 0)], FAILED)
    with pytest.raises(TurnFault) as caught:
        streamed.body.start()
    assert caught.value is FAILED
    assert streamed.ends == []


def test_while_open_usage_and_empty_frames_do_not_end_the_state() -> None:
    streamed = Streamed([], [Usage(1, 0)], [], 3.0, FAILED)
    with pytest.raises(TurnFault):
        streamed.body.start()


def test_while_open_a_caller_that_is_gone_is_raised() -> None:
    with pytest.raises(ClientGone):
        Streamed(ClientGone()).body.start()


def test_while_open_what_the_encoder_cannot_say_is_raised() -> None:
    class Speechless(FakeEncoder):
        def feed(self, events: list[Event]) -> bytes:
            raise FAILED

    with pytest.raises(TurnFault) as caught:
        Streamed([TextDelta("a")], encoder=Speechless()).body.start()
    assert caught.value is FAILED


def test_once_committed_a_fault_is_in_the_stream_terminal_and_last() -> None:
    streamed = Streamed(11.0, FAILED)
    assert streamed.writes() == [b"<?>~", b"!upstream_failed"]
    assert (streamed.ends, streamed.freed) == ([FAILED], 1)


def test_once_speaking_a_fault_is_in_the_stream_terminal_and_last() -> None:
    streamed = Streamed([TextDelta("a")], FAILED)
    assert streamed.writes() == [b"<?>a", b"!upstream_failed"]
    assert (streamed.ends, streamed.freed) == ([FAILED], 1)


def test_once_speaking_a_defect_is_an_internal_fault_in_the_stream() -> None:
    defect = RuntimeError("secret of the inside")
    streamed = Streamed([TextDelta("a")], defect)
    assert streamed.writes() == [b"<?>a", b"!internal"]
    assert streamed.ends == [defect]


def test_once_speaking_what_the_encoder_cannot_say_is_a_fault_in_the_stream() -> None:
    class Mute(FakeEncoder):
        def feed(self, events: list[Event]) -> bytes:
            if events == [TextDelta("b")]:
                raise FAILED
            return super().feed(events)

    streamed = Streamed([TextDelta("a")], [TextDelta("b")], END, encoder=Mute())
    assert streamed.writes() == [b"<?>a", b"!upstream_failed"]


def test_once_committed_a_caller_that_is_gone_ends_the_stream_without_a_word() -> None:
    streamed = Streamed(11.0, ClientGone())
    assert streamed.writes() == [b"<?>~"]
    assert [type(end) for end in streamed.ends] == [ClientGone]
    assert streamed.freed == 1


def test_once_speaking_a_caller_that_is_gone_ends_the_stream_without_a_word() -> None:
    streamed = Streamed([TextDelta("a")], ClientGone())
    assert streamed.writes() == [b"<?>a"]
    assert [type(end) for end in streamed.ends] == [ClientGone]


def test_the_first_keepalive_comes_after_one_interval_with_the_opening() -> None:
    streamed = Streamed(60.0, [TextDelta("a")], END)
    streamed.body.start()
    assert streamed.waited == 10.0
    assert next(streamed.body) == b"<?>~"


def test_later_keepalives_come_every_interval_and_are_counted() -> None:
    streamed = Streamed(35.0, [TextDelta("a")], END)
    assert streamed.writes() == [b"<?>~", b"~", b"~", b"a", b"u3/2[stop]"]
    assert (streamed.keepalives, streamed.waited) == (3, 35.0)


def test_keepalives_go_on_between_words() -> None:
    streamed = Streamed([TextDelta("a")], 25.0, [TextDelta("b")], END)
    assert streamed.writes() == [b"<?>a", b"~", b"~", b"b", b"u3/2[stop]"]


def test_an_interval_begins_with_the_last_write() -> None:
    streamed = Streamed(6.0, [TextDelta("a")], 6.0, [TextDelta("b")], 9.0, END)
    assert streamed.writes() == [b"<?>a", b"b", b"u3/2[stop]"]
    assert streamed.keepalives == 0


def test_what_says_nothing_does_not_put_a_keepalive_off() -> None:
    streamed = Streamed(6.0, [], 3.0, [Usage(1, 0)], 6.0, [TextDelta("a")], END)
    streamed.body.start()
    assert streamed.waited == 10.0
    assert next(streamed.body) == b"<1>~"


def test_events_that_make_no_bytes_do_not_put_a_keepalive_off() -> None:
    class Taciturn(FakeEncoder):
        def feed(self, events: list[Event]) -> bytes:
            return b"" if events == [TextDelta("held")] else super().feed(events)

    streamed = Streamed([TextDelta("a")], 6.0, [TextDelta("held")], 6.0, END, encoder=Taciturn())
    assert streamed.writes() == [b"<?>a", b"~", b"u3/2[stop]"]


def test_the_upstream_is_waited_for_no_longer_than_to_the_next_keepalive() -> None:
    streamed = Streamed(4.0, [], [TextDelta("a")], END)
    streamed.writes()
    assert streamed.stream.waits == [10.0, 6.0, 6.0, 10.0]


def test_without_keepalives_the_upstream_is_waited_for_without_end() -> None:
    streamed = Streamed(5000.0, [TextDelta("a")], 5000.0, END, keepalive_s=0)
    assert streamed.writes() == [b"<?>a", b"u3/2[stop]"]
    assert set(streamed.stream.waits) == {None}
    assert streamed.keepalives == 0


def test_an_hour_of_silence_is_outlived() -> None:
    streamed = Streamed(3600.0, [TextDelta("a")], END)
    assert len(streamed.writes()) == 360 + 2


def test_a_body_that_is_closed_without_iteration_lost_its_caller_and_frees_the_turn() -> None:
    streamed = Streamed([TextDelta("a"), *END])
    streamed.body.start()
    streamed.body.close()
    assert [type(end) for end in streamed.ends] == [ClientGone]
    assert (streamed.freed, streamed.stream.closed) == (1, 1)


def test_a_body_that_is_closed_in_the_middle_lost_its_caller() -> None:
    streamed = Streamed([TextDelta("a")], [TextDelta("b")], END)
    streamed.body.start()
    next(streamed.body)
    streamed.body.close()
    assert [type(end) for end in streamed.ends] == [ClientGone]
    assert streamed.stream.closed == 1


def test_a_body_whose_last_write_was_taken_ended_well_although_nobody_asked_for_more() -> None:
    streamed = Streamed([TextDelta("a")], END)
    streamed.body.start()
    assert [next(streamed.body), next(streamed.body)] == [b"<?>a", b"u3/2[stop]"]
    streamed.body.close()
    assert streamed.ends == [None]


def test_an_end_is_told_once_however_often_it_is_closed() -> None:
    streamed = Streamed([TextDelta("a"), *END])
    streamed.writes()
    streamed.body.close()
    assert list(streamed.body) == []
    assert (streamed.ends, streamed.freed) == ([None], 1)


def test_after_a_fault_nothing_follows() -> None:
    streamed = Streamed([TextDelta("a")], FAILED, [TextDelta("b")], END)
    streamed.writes()
    assert list(streamed.body) == []
    assert streamed.ends == [FAILED]


def test_the_end_is_told_although_freeing_fails() -> None:
    streamed = Streamed([TextDelta("a"), *END])
    streamed.body.start()

    def fail() -> None:
        raise OSError("the socket is gone")

    streamed.stream.close = fail  # type: ignore[method-assign]
    with pytest.raises(OSError, match="the socket is gone"):
        streamed.body.close()
    assert len(streamed.ends) == 1
