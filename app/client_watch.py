"""Noticing that a caller hung up, by its socket."""

from __future__ import annotations

import contextlib
import os
import select
import socket
from collections.abc import Mapping
from typing import Any

HANGUP = select.POLLRDHUP | select.POLLHUP | select.POLLERR
"""What to poll a caller's socket for: never for readability, which a pipelined byte would cause."""


class SocketWatch:
    """Watches one socket by its file descriptor; None stands for a server that shows none."""

    def __init__(self, fd: int | None) -> None:
        self._fd = fd

    @property
    def fd(self) -> int | None:
        """The caller's socket."""
        return self._fd

    def gone(self) -> bool:
        """Whether the caller has hung up; does not block."""
        if self._fd is None:
            return False
        poll = select.poll()
        poll.register(self._fd, HANGUP)
        return bool(poll.poll(0))

    def stop_reading(self) -> None:
        """Close the reading side, which whoever polls the socket takes for a hang-up. Writing goes on."""
        if self._fd is None:
            return
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(self._fd)) as twin:
            twin.shutdown(socket.SHUT_RD)


def watch_of(environ: Mapping[str, Any]) -> SocketWatch:
    """The watch of the current request; gunicorn and werkzeug put the socket into the environment."""
    sock = environ.get("gunicorn.socket") or environ.get("werkzeug.socket")
    return SocketWatch(None if sock is None else sock.fileno())
