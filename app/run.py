"""One turn that runs on an upstream: its events as the caller may see them, and the books of its end."""

from __future__ import annotations

import time
from collections.abc import Callable

from app.accounts import OutcomeCounter
from app.drain import Drain
from app.turn.estimate import estimate_input, tokens_of_characters
from app.turn.events import (
    SPEAKING,
    Event,
    Finished,
    ReasoningDelta,
    TextDelta,
    ToolCallArguments,
    Usage,
)
from app.turn.faults import ClientGone, TurnFault
from app.turn.stop import StopCutter
from app.turn.turn import Turn
from app.upstreams import EventStream


class Run:
    """Reads an upstream's stream through what Candor does to events on every surface.

    Hidden reasoning is dropped, stop strings are cut (and the upstream's turn is cancelled), and a turn that
    ends without usage gets an estimate. ``finished`` is true once ``Finished`` has passed.
    """

    def __init__(
        self,
        stream: EventStream,
        turn: Turn,
        outcomes: OutcomeCounter,
        on_close: Callable[[], None],
        drain: Drain | None = None,
    ) -> None:
        self._stream = stream
        self._turn = turn
        self._outcomes = None if outcomes.idle else outcomes
        self._cutter = StopCutter(turn.sampling.stop) if turn.sampling.stop else None
        self._on_close = on_close
        self._drain = drain
        self._closed = False
        self._characters = 0
        self.usage: Usage | None = None
        self.finished = False
        self.fault: TurnFault | None = None

    def read(self, wait_s: float | None) -> list[Event]:
        """The next batch; ``[]`` when nothing for the caller came within ``wait_s`` seconds or at once.

        Raises TurnFault and ClientGone as the upstream's stream does, and a DRAINING fault at a drain's end.
        """
        try:
            events = self._stream.read(wait_s)
        except TurnFault as fault:
            self.fault = fault
            raise
        except ClientGone:
            if self._drain is not None and self._drain.over:
                raise self._drain.fault() from None
            raise
        if not events:
            return events
        if not self._turn.show_reasoning:
            events = [event for event in events if not isinstance(event, ReasoningDelta)]
        if self._cutter is not None:
            events = self._cutter.feed(events)
        for event in events:
            if isinstance(event, TextDelta | ReasoningDelta):
                self._characters += len(event.text)
            elif isinstance(event, ToolCallArguments):
                self._characters += len(event.fragment)
            elif isinstance(event, Usage):
                self.usage = event
        if events and isinstance(events[-1], Finished):
            self._finish(events)
        if self._outcomes is not None:
            self._outcomes.feed(events)
        return events

    def _finish(self, events: list[Event]) -> None:
        self.finished = True
        was_cut = self._cutter is not None and self._cutter.cut is not None
        if self.usage is None or was_cut:
            reported = self.usage
            self.usage = Usage(
                fresh=reported.fresh if reported else estimate_input(self._turn),
                completion=tokens_of_characters(self._characters),
                cache_read=reported.cache_read if reported else 0,
                cache_write=reported.cache_write if reported else 0,
                estimated=True,
            )
            events.insert(len(events) - 1, self.usage)
        if was_cut:
            self._stream.close()

    def close(self) -> None:
        """Free the upstream's stream, cancelling it when the turn has not finished, and close the books once."""
        if not self._closed:
            self._closed = True
            try:
                self._stream.close()
            finally:
                self._on_close()


def speaks(events: list[Event]) -> bool:
    """Whether a batch tells the caller something of the answer."""
    return any(isinstance(event, SPEAKING) for event in events)


class Clock:
    """Monotonic seconds; tests put another in its place."""

    def now(self) -> float:
        """Seconds from an arbitrary start."""
        return time.monotonic()
