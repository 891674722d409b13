"""Output items while they are open: each tells how it begins, grows and ends in events.

Deltas are the hot path: what is the same in every delta of an item is serialised once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from app.seals import Seals
from app.surfaces.responses.custom_input import CustomInput
from app.surfaces.responses.output_items import (
    Item,
    call_status,
    custom_item,
    function_item,
    message_item,
    message_status,
    reasoning_item,
    text_part,
)
from app.surfaces.responses.tools import Offered
from app.turn.events import FinishReason


class Frames:
    """Writes events with their ``event:`` line, ``type`` and ``sequence_number``."""

    __slots__ = ("_next",)

    def __init__(self, first: int = 0) -> None:
        self._next = first

    @property
    def next_number(self) -> int:
        """The sequence number that the next event will have."""
        return self._next

    def event(self, name: str, fields: Mapping[str, Any]) -> bytes:
        """One event of any kind."""
        sequence = self._next
        self._next += 1
        data = orjson.dumps({"type": name, "sequence_number": sequence, **fields})
        return b"event: %b\ndata: %b\n\n" % (name.encode(), data)

    def state(self, name: str, response: bytes) -> bytes:
        """One event that carries the response, already serialised."""
        return self.event(name, {"response": orjson.Fragment(response)})

    def item(self, name: str, index: int, item: bytes) -> bytes:
        """One event that carries an item, already serialised."""
        return self.event(name, {"output_index": index, "item": orjson.Fragment(item)})

    def delta(self, lead: bytes, text: str) -> bytes:
        """One delta; ``lead`` is everything before the sequence number (see ``delta_lead``)."""
        sequence = self._next
        self._next += 1
        return b'%b%d,"delta":%b}\n\n' % (lead, sequence, orjson.dumps(text))


def delta_lead(name: str, fields: Mapping[str, Any]) -> bytes:
    """What all deltas of one item begin with."""
    data = orjson.dumps({"type": name, **fields})
    return b'event: %b\ndata: %b,"sequence_number":' % (name.encode(), data[:-1])


class OpenItem:
    """An item that is being told. ``close`` gives its last events and its final JSON."""

    def __init__(self, index: int, item_id: str) -> None:
        self.index = index
        self.id = item_id
        self._place: dict[str, Any] = {"item_id": item_id, "output_index": index}
        self._pieces: list[str] = []
        self._lead = b""

    def open(self, frames: Frames) -> bytes:
        """The events that begin the item."""
        raise NotImplementedError

    def grow(self, text: str, frames: Frames) -> bytes:
        """One more delta; may be empty."""
        self._pieces.append(text)
        return frames.delta(self._lead, text)

    def close(self, frames: Frames, finish: FinishReason, *, is_last: bool) -> tuple[bytes, bytes]:
        """(the events that end the item, the item)."""
        raise NotImplementedError

    def _added(self, frames: Frames, item: Item) -> bytes:
        return frames.item("response.output_item.added", self.index, orjson.dumps(item))

    def _ended(self, frames: Frames, last_events: list[bytes], item: Item) -> tuple[bytes, bytes]:
        final = orjson.dumps(item)
        last_events.append(frames.item("response.output_item.done", self.index, final))
        return b"".join(last_events), final


class TextStretch(OpenItem):
    """A message with one part of text."""

    def open(self, frames: Frames) -> bytes:
        """``output_item.added`` and ``content_part.added``."""
        self._place["content_index"] = 0
        self._lead = delta_lead("response.output_text.delta", {**self._place, "logprobs": []})
        added = self._added(frames, message_item(self.id, None, "in_progress"))
        return added + frames.event("response.content_part.added", {**self._place, "part": text_part("")})

    def close(self, frames: Frames, finish: FinishReason, *, is_last: bool) -> tuple[bytes, bytes]:
        """``output_text.done``, ``content_part.done`` and ``output_item.done``."""
        text = "".join(self._pieces)
        done = frames.event("response.output_text.done", {**self._place, "text": text, "logprobs": []})
        part = frames.event("response.content_part.done", {**self._place, "part": text_part(text)})
        status = message_status(finish, is_last=is_last)
        return self._ended(frames, [done, part], message_item(self.id, text, status))


class ReasoningStretch(OpenItem):
    """Reasoning, as one summary part when it is shown, and sealed when ``seals`` are given."""

    def __init__(self, index: int, item_id: str, is_shown: bool, seals: Seals | None) -> None:
        super().__init__(index, item_id)
        self._is_shown = is_shown
        self._seals = seals

    def open(self, frames: Frames) -> bytes:
        """``output_item.added``, and ``reasoning_summary_part.added`` when it is shown."""
        added = self._added(frames, reasoning_item(self.id, None))
        if not self._is_shown:
            return added
        self._place["summary_index"] = 0
        self._lead = delta_lead("response.reasoning_summary_text.delta", self._place)
        part = {"type": "summary_text", "text": ""}
        return added + frames.event("response.reasoning_summary_part.added", {**self._place, "part": part})

    def grow(self, text: str, frames: Frames) -> bytes:
        """A delta when it is shown; else the text is only gathered, for the seal."""
        if self._is_shown:
            return super().grow(text, frames)
        self._pieces.append(text)
        return b""

    def close(self, frames: Frames, finish: FinishReason, *, is_last: bool) -> tuple[bytes, bytes]:
        """The ``done`` twins of what ``open`` said, and ``output_item.done``."""
        text = "".join(self._pieces)
        events: list[bytes] = []
        if self._is_shown:
            part = {"type": "summary_text", "text": text}
            events = [
                frames.event("response.reasoning_summary_text.done", {**self._place, "text": text}),
                frames.event("response.reasoning_summary_part.done", {**self._place, "part": part}),
            ]
        blob = None if self._seals is None else self._seals.wrap(text)
        return self._ended(frames, events, reasoning_item(self.id, text if self._is_shown else None, blob))


class FunctionCall(OpenItem):
    """A call of a function; its arguments are passed on byte for byte."""

    def __init__(self, index: int, item_id: str, call_id: str, offered: Offered) -> None:
        super().__init__(index, item_id)
        self._call_id = call_id
        self._offered = offered

    def open(self, frames: Frames) -> bytes:
        """``output_item.added``."""
        self._lead = delta_lead("response.function_call_arguments.delta", self._place)
        return self._added(frames, function_item(self.id, self._call_id, self._offered, "", "in_progress"))

    def close(self, frames: Frames, finish: FinishReason, *, is_last: bool) -> tuple[bytes, bytes]:
        """``function_call_arguments.done`` and ``output_item.done``; no arguments at all are ``{}``."""
        arguments = "".join(self._pieces)
        events: list[bytes] = []
        if not arguments:
            arguments = "{}"
            events.append(frames.delta(self._lead, arguments))
        fields = {**self._place, "arguments": arguments}
        events.append(frames.event("response.function_call_arguments.done", fields))
        status = call_status(arguments, finish, is_last=is_last)
        return self._ended(
            frames, events, function_item(self.id, self._call_id, self._offered, arguments, status)
        )


class CustomCall(OpenItem):
    """A call of a custom tool: the text inside its wrapped arguments."""

    def __init__(self, index: int, item_id: str, call_id: str, offered: Offered) -> None:
        super().__init__(index, item_id)
        self._call_id = call_id
        self._offered = offered
        self._input = CustomInput()

    def open(self, frames: Frames) -> bytes:
        """``output_item.added``."""
        self._lead = delta_lead("response.custom_tool_call_input.delta", self._place)
        return self._added(frames, custom_item(self.id, self._call_id, self._offered, ""))

    def grow(self, text: str, frames: Frames) -> bytes:
        """A delta of the text inside, when the fragment held some."""
        inside = self._input.feed(text)
        return frames.delta(self._lead, inside) if inside else b""

    def close(self, frames: Frames, finish: FinishReason, *, is_last: bool) -> tuple[bytes, bytes]:
        """``custom_tool_call_input.done`` and ``output_item.done``."""
        rest = self._input.finish()
        events = [frames.delta(self._lead, rest)] if rest else []
        text = self._input.text
        events.append(frames.event("response.custom_tool_call_input.done", {**self._place, "input": text}))
        return self._ended(frames, events, custom_item(self.id, self._call_id, self._offered, text))
