"""Events -> one finished reply: the non-stream path is a fold over the stream path."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

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


@dataclass(slots=True)
class ReplyText:
    """A stretch of answer text between two other blocks."""

    text: str


@dataclass(slots=True)
class ReplyReasoning:
    """A stretch of reasoning between two other blocks."""

    text: str


@dataclass(slots=True)
class ReplyCall:
    """A whole call; ``arguments`` is the joined JSON text, ``{}`` when the upstream sent none."""

    index: int
    id: str
    name: str
    arguments: str


ReplyBlock = ReplyText | ReplyReasoning | ReplyCall


@dataclass(slots=True)
class Reply:
    """A finished turn: its blocks in the order they were opened, its usage and how it ended."""

    blocks: list[ReplyBlock] = field(default_factory=list)
    usage: Usage | None = None
    finish: FinishReason = "stop"
    stop_sequence: str | None = None

    @property
    def text(self) -> str:
        """All answer text, joined."""
        return "".join(block.text for block in self.blocks if isinstance(block, ReplyText))

    @property
    def reasoning(self) -> str:
        """All reasoning text, joined."""
        return "".join(block.text for block in self.blocks if isinstance(block, ReplyReasoning))

    @property
    def calls(self) -> list[ReplyCall]:
        """The calls in the order they were opened."""
        return [block for block in self.blocks if isinstance(block, ReplyCall)]


class Fold:
    """Feed it every event of a turn; ``reply`` is complete after ``Finished``."""

    def __init__(self) -> None:
        self._opened: list[tuple[ReplyBlock, list[str]]] = []
        self._fragments_of_call: dict[int, list[str]] = {}
        self._usage: Usage | None = None
        self._finished: Finished | None = None

    def feed(self, events: Iterable[Event]) -> None:
        """Take in a batch."""
        for event in events:
            match event:
                case TextDelta(text):
                    self._grow(ReplyText, text)
                case ReasoningDelta(text):
                    self._grow(ReplyReasoning, text)
                case ToolCallStarted(index, call_id, name):
                    fragments: list[str] = []
                    self._fragments_of_call[index] = fragments
                    self._opened.append((ReplyCall(index, call_id, name, ""), fragments))
                case ToolCallArguments(index, fragment):
                    self._fragments_of_call[index].append(fragment)
                case Usage():
                    self._usage = event
                case Finished():
                    self._finished = event

    def _grow(self, kind: type[ReplyText] | type[ReplyReasoning], text: str) -> None:
        if not self._opened or not isinstance(self._opened[-1][0], kind):
            self._opened.append((kind(""), []))
        self._opened[-1][1].append(text)

    @property
    def reply(self) -> Reply:
        """The reply as far as it has been told."""
        blocks: list[ReplyBlock] = []
        for block, pieces in self._opened:
            joined = "".join(pieces)
            if isinstance(block, ReplyCall):
                blocks.append(ReplyCall(block.index, block.id, block.name, joined or "{}"))
            else:
                blocks.append(type(block)(joined))
        finish = self._finished or Finished("stop")
        return Reply(blocks, self._usage, finish.reason, finish.stop_sequence)
