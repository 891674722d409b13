"""The body of a streamed reply and its three states: open, committed, speaking."""

from __future__ import annotations

import time
from collections.abc import Callable

from app.run import Run, speaks
from app.surfaces.surface import StreamEncoder
from app.turn.events import Event
from app.turn.faults import ClientGone, as_fault


class StreamBody:
    """An iterator of writes. ``start`` waits until there is a first write, which ends the open state.

    *open*: nothing is sent; ``start`` raises and the caller gets a real status. *committed*: silence lasted
    ``keepalive_s``, so the opening events and a keepalive are out. *speaking*: part of the answer is out. In
    both later states a fault is in-stream, terminal and last. ``on_end`` hears how it ended: None, the fault or
    ClientGone, once. The server calls ``close`` in every case, also when it never took the first write.
    """

    def __init__(
        self,
        encoder: StreamEncoder,
        run: Run,
        *,
        keepalive_s: float,
        on_keepalive: Callable[[], None],
        on_end: Callable[[Exception | None], None],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._encoder = encoder
        self._run = run
        self._keepalive_s = keepalive_s
        self._on_keepalive = on_keepalive
        self._on_end = on_end
        self._now = now
        self._last_write = now()
        self._first: bytes | None = None
        self._opened = False
        self._unsaid: list[Event] = []
        self._speaking = False
        self._ended = False
        self._failed = False

    @property
    def content_type(self) -> str:
        """Content type of the stream."""
        return self._encoder.content_type

    def start(self) -> None:
        """Wait for the first write. Raises TurnFault or ClientGone while nothing is sent."""
        self._first = self._next_write()

    def __iter__(self) -> StreamBody:
        return self

    def __next__(self) -> bytes:
        if self._first is not None:
            first, self._first = self._first, None
            return first
        if self._failed or self._run.finished:
            self._end(None)
            raise StopIteration
        try:
            return self._next_write()
        except ClientGone as gone:
            self._end(gone)
            raise StopIteration from None
        except Exception as error:
            self._failed = True
            self._end(error)
            return self._encoder.fault(as_fault(error))

    def _next_write(self) -> bytes:
        while True:
            events = self._run.read(self._patience())
            if not self._speaking and not speaks(events):
                self._unsaid += events
            elif events:
                written = self._encode(events)
                if written:
                    self._last_write = self._now()
                    return written
            if self._keepalive_s and self._now() - self._last_write >= self._keepalive_s:
                self._last_write = self._now()
                self._on_keepalive()
                return self._opening() + self._encoder.keepalive
            if self._run.finished:
                return b""

    def _patience(self) -> float | None:
        if not self._keepalive_s:
            return None
        return max(0.0, self._last_write + self._keepalive_s - self._now())

    def _encode(self, events: list[Event]) -> bytes:
        opening = self._opening()
        if not self._speaking:
            self._speaking = True
            events = self._unsaid + events
        return opening + self._encoder.feed(events)

    def _opening(self) -> bytes:
        if self._opened:
            return b""
        self._opened = True
        return self._encoder.opening(self._run.usage)

    def _end(self, error: Exception | None) -> None:
        if not self._ended:
            self._ended = True
            try:
                self._run.close()
            finally:
                self._on_end(error)

    def close(self) -> None:
        """The server is done with this body; a turn that still runs lost its caller."""
        if not self._ended:
            self._end(None if self._run.finished and self._first is None else ClientGone())
