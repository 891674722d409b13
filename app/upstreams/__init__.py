"""The seam to whatever runs a turn. An upstream knows nothing of surfaces."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from app.turn.events import Event
from app.turn.features import Feature
from app.turn.turn import Turn


class ClientWatch(Protocol):
    """Lets an upstream that waits notice a caller that hung up."""

    @property
    def fd(self) -> int | None:
        """The caller's socket, to be polled for hang-up only; None where there is no socket."""

    def gone(self) -> bool:
        """Whether the caller has hung up; never blocks, never takes a pipelined byte for a hang-up."""


@dataclass(frozen=True, slots=True)
class Lease:
    """One upstream token, held for one turn. ``name`` is for logs and metrics; ``secret`` never is."""

    name: str
    secret: str = field(repr=False)


class EventStream(Protocol):
    """A running turn. Batches come as the upstream sends them; one read is one batch."""

    def read(self, wait_s: float | None) -> list[Event]:
        """The next batch, or ``[]`` when ``wait_s`` seconds pass in which nothing arrived (None: no limit).

        An empty batch also stands for frames that say nothing. After ``Finished`` no further call is made.
        Raises TurnFault when the turn failed and ClientGone when the caller hung up meanwhile.
        """

    def close(self) -> None:
        """Free what the turn holds; cancels the turn when it still runs. May be called twice."""


class Upstream(Protocol):
    """One kind of upstream, shared by all threads of the app."""

    @property
    def name(self) -> str:
        """Name in the models file, logs and metrics."""

    @property
    def features(self) -> frozenset[Feature]:
        """What it carries, computed from settings once."""

    @property
    def needs_lease(self) -> bool:
        """Whether a turn on it takes a token from the pool."""

    def switch_for(self, feature: Feature) -> str | None:
        """The setting that would add ``feature``, such as ``DEVIN_CONNECT_TOOL_CHOICE=1``; else None."""

    def open(self, turn: Turn, selector: str, lease: Lease | None, client: ClientWatch) -> EventStream:
        """Start ``turn`` on the model that the upstream knows as ``selector``.

        Raises TurnFault when it cannot be started; answers may still be outstanding when it returns.
        """
