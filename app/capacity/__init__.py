"""Which upstream token serves a turn, whether any can, and what a turn's end tells of its token."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Protocol

from app.catalogue.models import Model
from app.turn.faults import TurnFault
from app.upstreams import Lease


class Capacity(Protocol):
    """The gates before a turn and the pool of tokens."""

    def gate(self, model: Model) -> None:
        """Raise CAPACITY or DROUGHT when no token can serve ``model`` now. Takes nothing."""

    def lease(self, model: Model, session_key: str | None, tried: Collection[str] = ()) -> Lease:
        """Take a token, none of those ``tried`` by name, for one turn. Raises CAPACITY when none is free."""

    def spoke(self, lease: Lease) -> None:
        """The turn's answer begins: the token works."""

    def release(self, lease: Lease, fault: TurnFault | None, quota_basis_points: int | None = None) -> None:
        """Give a token back with the fault its turn ended in and the quota that the upstream told."""

    def ready(self) -> bool:
        """Whether at least one token is not dead."""

    def report(self) -> dict[str, Any]:
        """The state of every token, for operators; no secrets."""

    def gates(self) -> dict[str, Any]:
        """What the gates go by, and whether they are open."""
