"""Draining: after SIGTERM running turns go on for a while, new ones are refused."""

from __future__ import annotations

import threading

from app.client_watch import SocketWatch
from app.turn.faults import FaultKind, TurnFault


class Drain:
    """Knows the running turns, whether new ones are still taken, and when the last ones must end.

    ``over`` is set once ``drain_s`` have passed since ``begin``: turns that run then are interrupted and end with
    ``fault``, in the caller's own words, rather than with a connection that breaks.
    """

    def __init__(self, drain_s: float) -> None:
        self._drain_s = drain_s
        self._lock = threading.Lock()
        self._running: set[SocketWatch] = set()
        self._timer: threading.Timer | None = None
        self.draining = False
        self.over = False

    def begin(self, *, refuse: bool = True) -> None:
        """The process is to end. ``refuse`` new turns from now on, unless another process takes them over.

        Starts a thread, so it must not be called from a signal handler.
        """
        self.draining = self.draining or refuse
        if self._timer is None:
            self._timer = threading.Timer(self._drain_s, self.end_turns)
            self._timer.daemon = True
            self._timer.start()

    def end_turns(self) -> None:
        """Interrupt the turns that still run: they find their caller's socket at its end, and ``over`` set."""
        with self._lock:
            self.draining = self.over = True
            for caller in self._running:
                caller.stop_reading()

    def gate(self) -> None:
        """Raise ``fault`` when no new turns are taken."""
        if self.draining:
            raise self.fault()

    def fault(self) -> TurnFault:
        """A DRAINING fault, with the time after which another process will be there."""
        return TurnFault(
            FaultKind.DRAINING,
            "this server is shutting down; try again",
            retry_after_s=max(1.0, min(self._drain_s, 5.0)),
        )

    def turn_started(self, caller: SocketWatch) -> None:
        """A turn began; ``caller`` is who waits for it."""
        with self._lock:
            self._running.add(caller)
            if self.over:
                caller.stop_reading()

    def turn_ended(self, caller: SocketWatch) -> None:
        """A turn ended, however; the caller's socket is not touched any more."""
        with self._lock:
            self._running.discard(caller)

    @property
    def running(self) -> int:
        """Turns that run now in this process."""
        return len(self._running)
