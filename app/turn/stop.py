"""Stop strings: cut across delta boundaries, at the match that is complete first (then the longest)."""

from __future__ import annotations

from collections.abc import Sequence

from app.turn.events import Event, Finished, TextDelta, Usage


class StopCutter:
    """Feed it batches; what comes out ends before the first stop string.

    Only answer text is scanned, never reasoning or tool arguments. Text that may be the beginning of a stop
    string is held back and flushed as soon as it cannot be one, before any other kind of event passes, so that
    order is kept. A stop string never matches across another block: text on both sides of a call is not joined.
    """

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = tuple(stops)
        self._held = ""
        self.cut: str | None = None

    def feed(self, events: Sequence[Event]) -> list[Event]:
        """The events that may pass. Once ``cut`` is set, the last of them is ``Finished`` and the rest is dropped."""
        passed: list[Event] = []
        for event in events:
            if isinstance(event, TextDelta):
                text = self._scan(self._held + event.text)
                if text:
                    passed.append(TextDelta(text))
                if self.cut is not None:
                    passed.append(Finished("stop", self.cut))
                    return passed
            else:
                if self._held and not _is_silent(event):
                    passed.append(TextDelta(self._held))
                    self._held = ""
                passed.append(event)
        return passed

    def _scan(self, text: str) -> str:
        """The part of ``text`` that may go out; sets ``cut`` or holds a possible beginning back."""
        found = [(at + len(stop), at, stop) for stop in self._stops if (at := text.find(stop)) >= 0]
        if found:
            _, at, self.cut = min(found)
            self._held = ""
            return text[:at]
        keep = max(_overlap(text, stop) for stop in self._stops)
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep]


def _is_silent(event: Event) -> bool:
    """Usage says nothing to the caller, so it does not flush what is held back."""
    return isinstance(event, Usage)


def _overlap(text: str, stop: str) -> int:
    """How many characters at the end of ``text`` begin ``stop``."""
    for length in range(min(len(text), len(stop) - 1), 0, -1):
        if text.endswith(stop[:length]):
            return length
    return 0
