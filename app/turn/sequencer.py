"""Events of several calls at once -> blocks strictly one after the other.

Some protocols know one open block at a time. A call is over when its arguments are one complete JSON object,
or at the end of the turn; whatever comes meanwhile (text too, and fragments of other calls) waits for that.
Order is the order in which the blocks were opened.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from app.turn.events import (
    Event,
    Finished,
    ReasoningDelta,
    TextDelta,
    ToolCallArguments,
    ToolCallStarted,
    Usage,
)
from app.turn.faults import FaultKind, TurnFault
from app.turn.json_value import BLANK, JsonValueScanner, is_object


@dataclass(slots=True)
class ToolCallEnded:
    """Call ``index`` is over. ``arguments`` is all its text: a JSON object, unless ``cut`` by the token cap."""

    index: int
    id: str
    name: str
    arguments: str
    cut: bool = False


Sequenced = Event | ToolCallEnded
"""Between a ToolCallStarted and its ToolCallEnded come only that call's ToolCallArguments (and Usage)."""


def unusable_arguments(name: str) -> TurnFault:
    """The fault of a call whose arguments are not an object although the turn was not cut."""
    return TurnFault(
        FaultKind.UPSTREAM_FAILED, f"the arguments of the call to '{name[:100]}' are not a JSON object"
    )


@dataclass(slots=True)
class _Call:
    started: ToolCallStarted
    pieces: list[str] = field(default_factory=list)
    scanner: JsonValueScanner = field(default_factory=JsonValueScanner)
    over: bool = False

    def take(self, fragment: str) -> None:
        """More arguments; the call is over when they make one JSON object."""
        closed_before = self.scanner.complete
        self.pieces.append(fragment)
        if self.scanner.feed(fragment) and not closed_before:
            self.over = is_object("".join(self.pieces))

    def ended(self, arguments: str, *, cut: bool = False) -> ToolCallEnded:
        return ToolCallEnded(self.started.index, self.started.id, self.started.name, arguments, cut)


@dataclass(slots=True)
class _Prose:
    """Text or reasoning that waits."""

    kind: type[TextDelta] | type[ReasoningDelta]
    pieces: list[str] = field(default_factory=list)


class Sequencer:
    """Feed it batches of events; what it returns may go out at once, block after block.

    Empty arguments become ``{}``. At the end of the turn a call whose arguments are no object is an
    UPSTREAM_FAILED fault, unless the finish is ``length``: then it ends as ``cut``. With ``objects_only`` false
    such arguments pass as they are. More arguments for a call that is over are a fault in any case.
    """

    def __init__(self, *, objects_only: bool = True) -> None:
        self._objects_only = objects_only
        self._calls: dict[int, _Call] = {}
        self._waiting: deque[_Call | _Prose] = deque()  # while a call is open it is the first element
        self._spoilt: _Call | None = None

    def feed(self, events: Iterable[Event]) -> list[Sequenced]:
        """One batch in, everything that may be said now out. Raises TurnFault at an unusable turn's end."""
        out: list[Sequenced] = []
        for event in events:
            match event:
                case TextDelta() | ReasoningDelta():
                    if self._waiting:
                        self._hold(type(event), event.text)
                    else:
                        out.append(event)
                case ToolCallStarted():
                    self._open(event, out)
                case ToolCallArguments():
                    self._grow(event, out)
                case Usage():
                    out.append(event)
                case Finished():
                    self._finish(event, out)
        return out

    def _hold(self, kind: type[TextDelta] | type[ReasoningDelta], text: str) -> None:
        last = self._waiting[-1]
        if not isinstance(last, _Prose) or last.kind is not kind:
            last = _Prose(kind)
            self._waiting.append(last)
        last.pieces.append(text)

    def _open(self, started: ToolCallStarted, out: list[Sequenced]) -> None:
        call = self._calls[started.index] = _Call(started)
        if not self._waiting:
            out.append(started)
        self._waiting.append(call)

    def _grow(self, event: ToolCallArguments, out: list[Sequenced]) -> None:
        call = self._calls[event.index]
        if call.over:
            if event.fragment.strip(BLANK):
                self._spoilt = call
            return
        call.take(event.fragment)
        if call is self._waiting[0]:
            out.append(event)
            if call.over:
                self._drain(out)

    def _drain(self, out: list[Sequenced]) -> None:
        """The open call is over: end it and say what waited, up to the next call that is not."""
        head = self._waiting.popleft()
        assert isinstance(head, _Call)
        out.append(head.ended("".join(head.pieces)))
        while self._waiting:
            block = self._waiting[0]
            if isinstance(block, _Prose):
                out.append(block.kind("".join(block.pieces)))
            else:
                arguments = self._begin(block, out)
                if not block.over:
                    return
                out.append(block.ended(arguments))
            self._waiting.popleft()

    def _begin(self, call: _Call, out: list[Sequenced]) -> str:
        out.append(call.started)
        arguments = "".join(call.pieces)
        if arguments:
            out.append(ToolCallArguments(call.started.index, arguments))
        return arguments

    def _finish(self, finished: Finished, out: list[Sequenced]) -> None:
        cut = finished.reason == "length"
        if self._spoilt is not None and not cut:
            raise unusable_arguments(self._spoilt.started.name)
        is_open = True
        while self._waiting:
            block = self._waiting.popleft()
            if isinstance(block, _Prose):
                out.append(block.kind("".join(block.pieces)))
            else:
                self._end(block, is_open, cut, out)
            is_open = False
        out.append(finished)

    def _end(self, call: _Call, is_open: bool, cut: bool, out: list[Sequenced]) -> None:
        arguments = "".join(call.pieces) if is_open else self._begin(call, out)
        if not arguments:
            arguments = "{}"
            out.append(ToolCallArguments(call.started.index, arguments))
        usable = call.over or is_object(arguments)
        if not usable and not cut and self._objects_only:
            raise unusable_arguments(call.started.name)
        out.append(call.ended(arguments, cut=cut and not usable))
