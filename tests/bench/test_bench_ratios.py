"""Costs as ratios of the same run, with twice the measured ratio as the bound: what fails here has got much dearer.

Figures and how to take them properly: docs/PERFORMANCE.md.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator

import pytest

from tests.bench.answers import CASES, request_body
from tests.bench.decode_cost import decode_cost_ms, least_ms
from tests.bench.load import closed_loop
from tests.bench.measure import CONNECTIONS, Figures, saturated, target
from tests.bench.process import Server, candor, canned

SECONDS = 0.8
REPEATS = 3
HELLO = "tests.bench.hello:app"


@pytest.fixture(scope="module")
def costs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Figures]]:
    """CPU per request of a hello app and of Candor's turns, each the least of a few interleaved repeats."""
    folder = tmp_path_factory.mktemp("ratios")
    core = min(os.sched_getaffinity(0))
    with (
        canned(folder, None) as upstream,
        candor(folder, upstream, core) as proxy,
        candor(folder, upstream, core, app=HELLO) as hello,
    ):
        runs = [("hello", hello, "whole"), *((name, proxy, name) for name in ("whole", "stream", "burst"))]
        taken: dict[str, list[Figures]] = {label: [] for label, _, _ in runs}
        for server in (proxy, hello):
            asyncio.run(closed_loop(target(server, CASES["whole"]), CONNECTIONS, SECONDS))
        for _ in range(REPEATS):
            for label, server, name in runs:
                taken[label].append(asyncio.run(_take(server, name)))
        yield {label: min(repeats, key=lambda figures: figures["cpu_ms"]) for label, repeats in taken.items()}


async def _take(server: Server, name: str) -> Figures:
    return await saturated(server, CASES[name], SECONDS)


def test_a_non_stream_turn_costs_at_most_so_many_empty_requests(costs: dict[str, Figures]) -> None:
    """Measured: 6."""
    assert costs["whole"]["cpu_ms"] < 12 * costs["hello"]["cpu_ms"], costs


def test_a_stream_of_20_events_costs_hardly_more_than_a_whole_answer(costs: dict[str, Figures]) -> None:
    """Measured: 1.1."""
    assert costs["stream"]["cpu_ms"] < 2.2 * costs["whole"]["cpu_ms"], costs


def test_180_more_events_in_a_burst_cost_less_than_one_turn(costs: dict[str, Figures]) -> None:
    """Measured: 200 events cost 1.6 times what 20 cost."""
    assert costs["burst"]["cpu_ms"] < 3.2 * costs["stream"]["cpu_ms"], costs


def test_an_agents_history_is_decoded_in_about_the_time_that_json_takes_to_read_it() -> None:
    """Measured: 0.9 of the standard library's ``json.loads`` for the decoding, 0.5 for the ledger's walk."""
    raw = request_body(CASES["history"])
    measured = [(least_ms(lambda: json.loads(raw), 20), decode_cost_ms(repeats=20)) for _ in range(8)]
    measure = min(each for each, _ in measured)
    costs = {step: min(costs[step] for _, costs in measured) for step in measured[0][1]}
    assert costs["decode"] < 1.9 * measure, costs
    assert costs["ledger walk"] < 1.0 * measure, costs
