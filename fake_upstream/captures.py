"""What arrived: one capture a request, kept until cleared or pushed out by newer ones."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from google.protobuf import json_format

from app.upstreams.connect import wire_pb2
from fake_upstream.wire_scan import top_level_fields, unknown_fields

Outcome = Literal["running", "completed", "client_closed", "failed", "rejected"]

MAX_CAPTURES = 10_000
MAX_KEPT_BYTES = 512 * 1024 * 1024


@dataclass(frozen=True)
class Received:
    """A request as it was received; what is derived from its bytes is worked out when someone looks."""

    path: str
    headers: Mapping[str, str]
    token: str | None
    raw: bytes
    envelope: tuple[int, int] | None = None
    message: wire_pb2.GetChatMessageRequest | None = None
    error: str | None = None

    @cached_property
    def decoded(self) -> dict[str, Any]:
        if self.message is None:
            return {"message": None, "top_level_fields": [], "unknown_fields": []}
        return {
            "message": json_format.MessageToDict(self.message, preserving_proto_field_name=True),
            "top_level_fields": top_level_fields(self.raw),
            "unknown_fields": unknown_fields(self.raw, self.message.DESCRIPTOR),
        }


class Capture:
    """A received request and what became of it."""

    def __init__(self, number: int, received: Received, outcome: Outcome) -> None:
        self.id = f"capture_{number}"
        self.received = received
        self.outcome = outcome

    def as_json(self) -> dict[str, Any]:
        received = self.received
        body: dict[str, Any] = {
            "id": self.id,
            "path": received.path,
            "headers": dict(received.headers),
            "envelope": None,
            "raw_hex": received.raw.hex(),
            **received.decoded,
            "token": received.token,
            "outcome": self.outcome,
        }
        if received.envelope is not None:
            body["envelope"] = {"flags": received.envelope[0], "length": received.envelope[1]}
        if received.error is not None:
            body["error"] = received.error
        return body


class CaptureStore:
    """All captures, oldest first, bounded in number and in bytes. Thread-safe."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._kept: deque[Capture] = deque()
        self._bytes = 0
        self._number = 0

    def add(self, received: Received, outcome: Outcome = "running") -> Capture:
        with self._changed:
            self._number += 1
            capture = Capture(self._number, received, outcome)
            self._kept.append(capture)
            self._bytes += len(received.raw)
            while len(self._kept) > 1 and (len(self._kept) > MAX_CAPTURES or self._bytes > MAX_KEPT_BYTES):
                self._bytes -= len(self._kept.popleft().received.raw)
            self._changed.notify_all()
        return capture

    def settle(self, capture: Capture, outcome: Outcome) -> None:
        with self._changed:
            capture.outcome = outcome
            self._changed.notify_all()

    def newest(self, limit: int | None = None) -> list[Capture]:
        """The newest ``limit`` captures (all without one), oldest first."""
        with self._changed:
            kept = list(self._kept)
        return kept if limit is None else kept[max(0, len(kept) - limit) :]

    def clear(self) -> None:
        with self._changed:
            self._kept.clear()
            self._bytes = 0

    def wait(self, ready: Callable[[list[Capture]], bool], timeout: float) -> bool:
        """Wait until the captures satisfy ``ready``; False when they did not in time."""
        deadline = time.monotonic() + timeout
        with self._changed:
            while not ready(list(self._kept)):
                left = deadline - time.monotonic()
                if left <= 0 or not self._changed.wait(left):
                    return ready(list(self._kept))
        return True
