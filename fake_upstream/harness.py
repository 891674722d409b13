"""The fake upstream in a thread of the caller's process: what tests and ``__main__`` use."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Self

from fake_upstream.captures import Capture, Outcome
from fake_upstream.server import Server


class FakeUpstream:
    """A fake upstream that listens from construction until ``stop`` (or the end of its ``with`` block).

    ``tokens``: the bearers it knows; ``None`` admits any. Port 0 is an ephemeral one.
    """

    def __init__(
        self, tokens: Collection[str] | None = None, *, host: str = "127.0.0.1", port: int = 0
    ) -> None:
        self._server = Server((host, port), tokens)
        self.host = host
        self.port: int = self._server.server_address[1]
        self.url = f"http://{host}:{self.port}"
        self._thread = threading.Thread(target=self._server.serve, name="fake-upstream", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Close the listener and every connection, at once. Harmless when repeated."""
        self._server.stop()
        self._thread.join(timeout=5)

    def captures(self, limit: int | None = None) -> list[dict[str, Any]]:
        """What ``GET /_fake/captures`` answers: oldest first, the newest ``limit`` of them."""
        return [capture.as_json() for capture in self._server.captures.newest(limit)]

    def clear(self) -> None:
        """Forget captures and queued scenarios: as new."""
        self._server.captures.clear()
        self._server.scenarios.clear()

    def queue(
        self,
        steps: Sequence[Mapping[str, Any]],
        times: int = 1,
        match: Mapping[str, str] | None = None,
    ) -> str:
        """Queue a scenario, return its id. A bad step is a ``StepError`` (a ``ValueError``) that names it."""
        return self._server.scenarios.add(steps, times, match)

    def wait_captures(self, count: int, timeout: float = 2.0) -> list[dict[str, Any]]:
        """The captures, once there are ``count`` of them; ``TimeoutError`` when there are not in time."""
        if not self._server.captures.wait(lambda kept: len(kept) >= count, timeout):
            raise TimeoutError(f"{len(self.captures())} captures after {timeout} s, not {count}")
        return self.captures()

    def wait_outcome(self, outcome: Outcome, timeout: float = 2.0) -> dict[str, Any]:
        """The newest capture, once its outcome is this one; ``TimeoutError`` when it is not in time."""

        def ready(kept: list[Capture]) -> bool:
            return bool(kept) and kept[-1].outcome == outcome

        if not self._server.captures.wait(ready, timeout):
            raise TimeoutError(f"{[c['outcome'] for c in self.captures()]} after {timeout} s, not {outcome}")
        return self.captures(limit=1)[0]
