"""What an upstream says during a turn, in the order it says it.

Upstreams deliver events in batches (everything one read brought); encoders turn a batch into one write.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

FinishReason = Literal["stop", "length", "tool_calls", "content_filter"]


@dataclass(slots=True)
class ReasoningDelta:
    """More reasoning text; never empty."""

    text: str


@dataclass(slots=True)
class TextDelta:
    """More answer text; never empty."""

    text: str


@dataclass(slots=True)
class ToolCallStarted:
    """A new call. ``index`` counts calls from 0 in the order they were opened; the name is final."""

    index: int
    id: str
    name: str


@dataclass(slots=True)
class ToolCallArguments:
    """More of the JSON text of call ``index``'s arguments; never empty, never re-serialised."""

    index: int
    fragment: str


@dataclass(slots=True)
class Usage:
    """Token counts. A later Usage replaces an earlier one. ``fresh`` is input that came from no cache.

    ``estimated`` marks figures of Candor's own making, where an upstream reported none.
    """

    fresh: int
    completion: int
    cache_read: int = 0
    cache_write: int = 0
    estimated: bool = False

    @property
    def prompt(self) -> int:
        """All input tokens: fresh, read from cache and written to cache."""
        return self.fresh + self.cache_read + self.cache_write


@dataclass(slots=True)
class Finished:
    """The turn is over. ``stop_sequence`` is the stop string that was cut, if one was."""

    reason: FinishReason
    stop_sequence: str | None = None


Event = ReasoningDelta | TextDelta | ToolCallStarted | ToolCallArguments | Usage | Finished

SPEAKING = (TextDelta, ReasoningDelta, ToolCallStarted, ToolCallArguments, Finished)
"""Events that end the open state of a stream: the caller has been told something of the answer."""
