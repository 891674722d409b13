"""What a turn pays for capacity when one token without a limit is healthy: microseconds."""

from __future__ import annotations

import time
from pathlib import Path

from app.capacity.creation import create_capacity
from app.catalogue.models import Catalogue
from app.logs import EventLog
from app.metrics import Metrics
from app.settings import load
from tests.capacity.conftest import PAID

BOUND_US = 30.0
ROUNDS, TURNS = 7, 2000


def test_the_hot_path_costs_microseconds(tmp_path: Path) -> None:
    settings = load({"CANDOR_STATE_DIR": str(tmp_path)})
    pool = create_capacity(settings, Catalogue([]), Metrics(), EventLog("ERROR"))

    def round_us() -> float:
        started = time.thread_time()
        for _ in range(TURNS):
            pool.gate(PAID)
            lease = pool.lease(PAID, None)
            pool.spoke(lease)
            pool.release(lease, None)
        return (time.thread_time() - started) / TURNS * 1e6

    assert min(round_us() for _ in range(ROUNDS)) < BOUND_US
