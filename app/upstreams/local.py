"""An upstream without a wire: it echoes the last user text. That it carries nothing else proves the seam."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from app.turn.events import Event, Finished, TextDelta, Usage
from app.turn.faults import ClientGone
from app.turn.features import Feature
from app.turn.turn import Message, TextPart, Turn
from app.upstreams import ClientWatch, Lease

CHUNK_CHARACTERS = 16
CHARACTERS_PER_TOKEN = 4


class LocalUpstream:
    """See Upstream. It carries text and nothing else, and no setting changes that."""

    name = "local"
    features: frozenset[Feature] = frozenset()
    needs_lease = False

    def switch_for(self, feature: Feature) -> str | None:
        """None, always."""
        return None

    def open(self, turn: Turn, selector: str, lease: Lease | None, client: ClientWatch) -> LocalStream:
        """Start the echo. ``selector`` and ``lease`` mean nothing here."""
        return LocalStream(turn, client)


class LocalStream:
    """See EventStream: one chunk of text a batch, then usage and finish."""

    def __init__(self, turn: Turn, client: ClientWatch) -> None:
        self._client = client
        self._batches: Iterator[list[Event]] = _batches(turn)

    def read(self, wait_s: float | None) -> list[Event]:
        """The next batch, at once. Raises ClientGone."""
        if self._client.gone():
            raise ClientGone
        return next(self._batches, [])

    def close(self) -> None:
        """End the echo."""
        self._batches = iter(())


def _batches(turn: Turn) -> Iterator[list[Event]]:
    answer = _last_user_text(turn.messages)
    for start in range(0, len(answer), CHUNK_CHARACTERS):
        yield [TextDelta(answer[start : start + CHUNK_CHARACTERS])]
    asked = len(turn.system) + sum(len(_text(message)) for message in turn.messages)
    yield [Usage(_tokens(asked), _tokens(len(answer)), estimated=True), Finished("stop")]


def _last_user_text(messages: list[Message]) -> str:
    for message in reversed(messages):
        if message.role == "user" and (text := _text(message)):
            return text
    return ""


def _text(message: Message) -> str:
    return "\n".join(part.text for part in message.parts if isinstance(part, TextPart))


def _tokens(characters: int) -> int:
    return ceil(characters / CHARACTERS_PER_TOKEN)
