"""Stand-ins for the tests of runs and streamed bodies: an upstream's stream, a clock and an encoder."""

from __future__ import annotations

from app.turn.events import Event, Finished, ReasoningDelta, TextDelta, Usage
from app.turn.faults import TurnFault


class FakeClock:
    """Monotonic seconds that pass only when somebody waits."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def now(self) -> float:
        return self.seconds


class FakeStream:
    """An upstream's stream by script: a list is a batch, an exception is raised, a number is silence in seconds."""

    def __init__(self, clock: FakeClock, *script: list[Event] | Exception | float) -> None:
        self.clock = clock
        self.script = list(script)
        self.waits: list[float | None] = []
        self.closed = 0

    def read(self, wait_s: float | None) -> list[Event]:
        self.waits.append(wait_s)
        step = self.script.pop(0)
        if isinstance(step, Exception):
            raise step
        if isinstance(step, list):
            return step
        if wait_s is not None and wait_s < step:
            self.clock.seconds += wait_s
            self.script.insert(0, step - wait_s)
        else:
            self.clock.seconds += step
        return []

    def close(self) -> None:
        self.closed += 1


class FakeEncoder:
    """Writes events so that a test can read them: ``<1>`` is an opening that knew one fresh token."""

    content_type = "text/test"
    keepalive = b"~"

    def opening(self, usage: Usage | None) -> bytes:
        return b"<%s>" % (b"?" if usage is None else str(usage.fresh).encode())

    def feed(self, events: list[Event]) -> bytes:
        return "".join(map(_letters, events)).encode()

    def fault(self, fault: TurnFault) -> bytes:
        return f"!{fault.kind.value}".encode()


def _letters(event: Event) -> str:
    match event:
        case TextDelta(text):
            return text
        case ReasoningDelta(text):
            return f"({text})"
        case Usage():
            return f"u{event.fresh}/{event.completion}"
        case Finished(reason, stop_sequence):
            return f"[{reason}]" if stop_sequence is None else f"[{reason} {stop_sequence}]"
    return type(event).__name__
