"""gunicorn's threaded worker, with a drain that answers and with no connection that holds up the others."""

from __future__ import annotations

from mmap import mmap
from typing import Any

from gunicorn import util  # type: ignore[import-untyped]
from gunicorn.workers.gthread import TConn, ThreadWorker  # type: ignore[import-untyped]

from app.drain import Drain


class Worker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no type hints
    """Two things differ from gunicorn's own.

    When the whole server stops, nobody else listens, so a worker that still has turns to finish goes on taking
    connections and lets the app refuse them in its own words; gunicorn would leave them unanswered and cut them
    at the end. On a reload the new workers take them, as usual.

    A connection that is to be closed is closed by the thread that served it: that waits up to 2 s for the
    client's side, which in the main loop would hold up every other connection.
    """

    master_stops: mmap | None = None
    """One byte shared with the master, not 0 once the whole server stops; gunicorn.conf.py sets it."""

    def set_accept_enabled(self, enabled: bool) -> None:
        """Called with False, and ``alive`` unset, when the worker begins to stop."""
        if not self.alive and not enabled:
            stops = self.master_stops is not None and self.master_stops[0] != 0
            drain = _drain_of(self.wsgi)
            if drain is not None:
                drain.begin(refuse=stops)
                if stops:
                    return
        super().set_accept_enabled(enabled)

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
