"""Events -> the event ladder of one streamed response.

``response.created`` and ``response.in_progress``; for each item ``output_item.added``, its parts and deltas,
their ``done`` twins and ``output_item.done``; at last ``response.completed``, ``.incomplete`` or ``.failed`` with
the whole response. Every event has its ``event:`` line, its ``type`` and a ``sequence_number`` that rises by one.

Items follow one another, each closed before the next one opens: some clients take a delta for the item that was
opened last. So while the arguments of a call are still coming, what follows waits. Calls of client-run kinds have no
deltas and go out whole.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from app.seals import Seals
from app.surfaces import sse
from app.surfaces.responses.decode import Echo
from app.surfaces.responses.errors import stream_error
from app.surfaces.responses.open_items import (
    CustomCall,
    Frames,
    FunctionCall,
    OpenItem,
    ReasoningStretch,
    TextStretch,
)
from app.surfaces.responses.output_items import client_item, id_prefix
from app.surfaces.responses.response_object import ResponseObject, Status, ending
from app.surfaces.responses.stored import Keeping
from app.surfaces.surface import ReplyFacts
from app.turn.events import (
    Event,
    Finished,
    FinishReason,
    ReasoningDelta,
    TextDelta,
    ToolCallArguments,
    ToolCallStarted,
    Usage,
)
from app.turn.faults import TurnFault
from app.turn.sequencer import Sequenced, Sequencer, ToolCallEnded


class ResponsesEncoder:
    """See StreamEncoder. ``keeping`` is how the response is kept, None when it is not; the rest is for tests."""

    content_type = sse.CONTENT_TYPE
    keepalive = sse.COMMENT_KEEPALIVE

    def __init__(
        self,
        facts: ReplyFacts,
        seals: Seals,
        keeping: Keeping | None = None,
        *,
        new_id: Callable[[str], str] = sse.new_id,
        now: Callable[[], float] = time.time,
    ) -> None:
        echo = facts.decoded.echo
        assert isinstance(echo, Echo)
        self._echo = echo
        self._seals = seals
        self._new_id = new_id
        self._now = now
        self._id = new_id("resp_")
        self._response = ResponseObject(facts, self._id)
        self._keeping = keeping
        self._told: list[bytes] = []  # all that was written, for what is kept
        self._frames = Frames()
        self._usage: Usage | None = None
        self._output: list[bytes | None] = []  # by output index; None until the item is done
        self._last: OpenItem | None = None
        self._sequencer = Sequencer(objects_only=False)
        self._finish_reason: FinishReason = "stop"  # of the batch at hand, when the turn ends in it
        self._final_block: Sequenced | None = None  # what the batch at hand says last

    def opening(self, usage: Usage | None) -> bytes:
        """``response.created`` and ``response.in_progress``."""
        self._usage = usage
        begun = self._response.render("in_progress", is_kept=self._keeping is not None)
        created = self._frames.state("response.created", begun)
        return self._tell([created, self._frames.state("response.in_progress", begun)])

    def feed(self, events: list[Event]) -> bytes:
        """One batch. Raises UPSTREAM_FAILED when a client-run call does not fit its tool."""
        out: list[bytes] = []
        said = self._sequencer.feed(events)
        last = said[-1] if said else None
        self._finish_reason = last.reason if isinstance(last, Finished) else "stop"
        self._final_block = next(
            (each for each in reversed(said) if not isinstance(each, Usage | Finished)), None
        )
        for event in said:
            self._take(event, out)
        return self._tell(out)

    def _tell(self, frames: list[bytes]) -> bytes:
        written = b"".join(frames)
        if self._keeping is not None:
            self._told.append(written)
        return written

    def fault(self, fault: TurnFault) -> bytes:
        """``response.failed``, with the items that were done."""
        return self._end("failed", [], error=stream_error(fault))

    def _end(self, status: Status, out: list[bytes], **state: Any) -> bytes:
        """The last event, after ``out``; the response is kept before it is told, so that what it says is true."""
        done, is_kept = self._done(), False
        state["usage"] = self._usage
        if self._keeping is not None:
            shell = self._response.render(status, is_kept=True, **state)
            before = b"".join([*self._told, *out])
            is_kept = self._keeping.keep(self._id, shell, done, before, self._frames.next_number)
        response = self._response.render(status, done, is_kept=is_kept, **state)
        return self._frames.state(f"response.{status}", response)

    def _take(self, event: Sequenced, out: list[bytes]) -> None:
        match event:
            case TextDelta(text):
                if not isinstance(self._last, TextStretch):
                    self._open(TextStretch(self._next_index(), self._new_id("msg_")), out)
                assert self._last is not None
                out.append(self._last.grow(text, self._frames))
            case ReasoningDelta(text):
                self._reason(text, out)
            case ToolCallStarted():
                self._start(event, out)
            case ToolCallArguments(_, fragment):
                if self._last is not None:
                    out.append(self._last.grow(fragment, self._frames))
            case ToolCallEnded():
                self._end_call(event, out)
            case Usage():
                self._usage = event
            case Finished(reason):
                self._finish(reason, out)

    def _next_index(self) -> int:
        self._output.append(None)
        return len(self._output) - 1

    def _open(self, item: OpenItem, out: list[bytes]) -> None:
        self._close_stretch("stop", out)
        self._last = item
        out.append(item.open(self._frames))

    def _close_stretch(self, finish: FinishReason, out: list[bytes]) -> None:
        """Close the item that was opened last, if it is text or reasoning."""
        if isinstance(self._last, TextStretch | ReasoningStretch):
            self._close(self._last, finish, out, is_last=True)

    def _close(self, item: OpenItem, finish: FinishReason, out: list[bytes], *, is_last: bool) -> None:
        frames, final = item.close(self._frames, finish, is_last=is_last)
        self._output[item.index] = final
        out.append(frames)

    def _reason(self, text: str, out: list[bytes]) -> None:
        echo = self._echo
        if not (echo.shows_summary or echo.seals_reasoning):
            return
        if not isinstance(self._last, ReasoningStretch):
            seals = self._seals if echo.seals_reasoning else None
            item_id = self._new_id("rs_")
            self._open(ReasoningStretch(self._next_index(), item_id, echo.shows_summary, seals), out)
        assert self._last is not None
        out.append(self._last.grow(text, self._frames))

    def _start(self, started: ToolCallStarted, out: list[bytes]) -> None:
        offered = self._echo.book.shape_of(started.name)
        if offered.shape == "function" or offered.shape == "custom":
            kind = FunctionCall if offered.shape == "function" else CustomCall
            self._open(kind(self._next_index(), self._new_id(id_prefix(offered)), started.id, offered), out)
            return
        self._close_stretch("stop", out)
        self._last = None

    def _end_call(self, ended: ToolCallEnded, out: list[bytes]) -> None:
        if self._last is None:
            self._say_whole(ended, self._finish_reason, out)
            return
        self._close(self._last, self._finish_reason, out, is_last=ended is self._final_block)
        self._last = None

    def _say_whole(self, ended: ToolCallEnded, finish: FinishReason, out: list[bytes]) -> None:
        """A call of a client-run kind, begun and done at once."""
        offered = self._echo.book.shape_of(ended.name)
        item_id = self._new_id(id_prefix(offered))
        shape = offered.shape
        assert shape != "function"
        assert shape != "custom"
        item = client_item(item_id, ended.id, shape, ended.arguments, finish)
        index = self._next_index()
        self._output[index] = final = orjson.dumps(item)
        began = item if item["status"] == "completed" else {**item, "arguments": ""}
        out.append(self._frames.item("response.output_item.added", index, _begun(began)))
        if item["type"] == "function_call":
            fields = {"item_id": item_id, "output_index": index, "arguments": ended.arguments}
            out.append(self._frames.event("response.function_call_arguments.done", fields))
        out.append(self._frames.item("response.output_item.done", index, final))

    def _finish(self, reason: FinishReason, out: list[bytes]) -> None:
        self._close_stretch(reason, out)
        status, details = ending(reason)
        completed_at = int(self._now()) if status == "completed" else None
        out.append(self._end(status, out, incomplete_details=details, completed_at=completed_at))

    def _done(self) -> list[bytes]:
        return [item for item in self._output if item is not None]


def _begun(item: Mapping[str, Any]) -> bytes:
    return orjson.dumps({**item, "status": "in_progress"})
