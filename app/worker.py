"""gunicorn's threaded worker: a drain that answers, and no connection that holds up another."""

from __future__ import annotations

from mmap import mmap
from typing import Any

from gunicorn import util  # type: ignore[import-untyped]
from gunicorn.workers.gthread import TConn, ThreadWorker  # type: ignore[import-untyped]

from app.drain import Drain


class Worker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no type hints
    """Three things differ from gunicorn's own.

    A worker takes a connection only while it has a thread for it, so that of several workers one with room gets
    it; gunicorn would take it all the same and let it wait for a stream to end.

    When the whole server stops, nobody else listens, so a worker that still has turns to finish goes on taking
    connections and lets the app refuse them in its own words; gunicorn would leave them unanswered and cut them
    at the end. On a reload the new workers take them, as usual.

    A connection that is to be closed is closed by the thread that served it: that waits up to 2 s for the
    client's side, which in the main loop would hold up every other connection.
    """

    master_stops: mmap | None = None
    """One byte shared with the master, not 0 once the whole server stops; gunicorn.conf.py sets it."""
    _takes = True

    def set_accept_enabled(self, enabled: bool) -> None:
        """Called with False, and ``alive`` unset, when the worker begins to stop."""
        if not self.alive and not enabled:
            self._takes = enabled = self._begin_drain()
        super().set_accept_enabled(enabled and self._has_room())

    def accept(self, listener: Any) -> None:
        """Take a connection, and no further one while there is no thread for it."""
        super().accept(listener)
        self.set_accept_enabled(self._takes)

    def finish_request(self, conn: TConn, fs: Any) -> None:
        """A thread is free again."""
        super().finish_request(conn, fs)
        if self._takes and not self._accepting:
            self.set_accept_enabled(True)

    def _has_room(self) -> bool:
        """Whether a thread is free; connections that wait in the main loop have none."""
        waiting = len(self.keepalived_conns) + len(self.pending_conns)
        return bool(self.nr_conns - waiting < self.cfg.threads)

    def _begin_drain(self) -> bool:
        """Tell the app that the worker stops; whether connections are still taken, to be refused."""
        drain = _drain_of(self.wsgi)
        if drain is None:
            return False
        stops = self.master_stops is not None and self.master_stops[0] != 0
        drain.begin(refuse=stops)
        return stops

    def handle(self, conn: TConn) -> Any:
        """Serve one request of ``conn``; the value tells the main loop what to do with the connection."""
        kept = super().handle(conn)
        if kept is False:
            util.close_graceful(conn.sock)
            conn.close = _closed_already
        return kept


def _closed_already(graceful: bool = False) -> None:
    """What closing a connection means once its thread has closed it."""


def _drain_of(wsgi: Any) -> Drain | None:
    """The drain of the app that is served; None for any other app than Candor."""
    candor = getattr(wsgi, "extensions", {}).get("candor")
    return None if candor is None else candor.services.drain
