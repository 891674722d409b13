"""What operators are shown is what the store has, not what this worker last saw."""

from __future__ import annotations

from app.turn.faults import FaultKind
from tests.capacity.conftest import PAID, World, fault


def test_pages_show_at_once_what_another_worker_changed(world: World) -> None:
    first, second = world.pool(None, "a", fresh_s=0.2), world.pool(None, "a", fresh_s=0.2)
    second.gate(PAID)
    first.release(first.lease(PAID, None), fault(FaultKind.UPSTREAM_AUTHENTICATION))

    second.gate(PAID)  # the gate may be late by 0.2 s

    assert [row["state"] for row in second.report()["tokens"]] == ["dead"]


def test_the_gates_inputs_show_at_once_what_another_worker_was_told(world: World) -> None:
    first, second = world.pool(None, "a", fresh_s=0.2), world.pool(None, "a", fresh_s=0.2)
    second.gate(PAID)
    first.release(first.lease(PAID, None), None, 500)

    assert second.gates()["drought"]["known_quota"] == 1
