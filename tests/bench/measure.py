"""What each case measures: a load on one server, and the figures that come of it."""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Callable
from dataclasses import dataclass

from tests.bench.answers import CASES, Case, request_body
from tests.bench.load import Tally, Target, at_rate, closed_loop, crowd
from tests.bench.process import KEY, Server, cpu_seconds, pss_bytes

CONNECTIONS = 16
LOW_RATE = 10.0
CROWD = 500

Figures = dict[str, float]


@dataclass(frozen=True)
class Figure:
    """How a figure is shown. ``best`` chooses among repeats. ``added``: what the server adds to direct."""

    label: str
    unit: str
    best: Callable[[list[float]], float] = min
    added: bool = False


FIGURES = {
    "rate": Figure("requests per second", "", max),
    "cpu_ms": Figure("CPU per request", "ms"),
    "events_rate": Figure("events per second", "", max),
    "cpu_100k": Figure("CPU per 100k events", "s"),
    "p50": Figure("latency p50 at 10 requests/s", "ms", added=True),
    "p99": Figure("latency p99 at 10 requests/s", "ms", added=True),
    "first_p50": Figure("first token p50 at 10 requests/s", "ms", added=True),
    "first_p99": Figure("first token p99 at 10 requests/s", "ms", added=True),
    "lag_p50": Figure("event latency p50", "ms", added=True),
    "lag_p99": Figure("event latency p99", "ms", added=True),
    "total_s": Figure("time for all", "s"),
    "over_ideal": Figure("time over the ideal", "x"),
    "stream_kb": Figure(
        "memory per open stream", "kB", best=lambda values: max(values)
    ),  # it is kept for the next
    "idle_mb": Figure("memory when idle", "MB"),
}


def target(server: Server, case: Case) -> Target:
    """``case`` on ``server``."""
    return Target(server.port, request_body(case), case.events, [("authorization", f"Bearer {KEY}")])


def percentile(values: list[float], share: float) -> float:
    """The value that ``share`` of ``values`` do not exceed."""
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, int(len(ranked) * share))] if ranked else float("nan")


def check(server: Server, case: Case, tally: Tally) -> None:
    """A figure of answers that were wrong is worth nothing."""
    if tally.failed or not tally.done:
        raise RuntimeError(f"{server.name}, {case.name}: {tally.failed} failed, e.g. {tally.complaint!r}")


async def saturated(server: Server, case: Case, seconds: float) -> Figures:
    """As many requests as ``CONNECTIONS`` closed loops get answered."""
    before = cpu_seconds(server.process.pid)
    tally = await closed_loop(target(server, case), CONNECTIONS, seconds)
    used = cpu_seconds(server.process.pid) - before
    check(server, case, tally)
    figures = {"rate": tally.done / tally.seconds, "cpu_ms": used / tally.done * 1000}
    if case.stream:
        figures["events_rate"] = tally.events / tally.seconds
        figures["cpu_100k"] = used / tally.events * 1e5
    return figures


async def at_low_rate(server: Server, case: Case, seconds: float) -> Figures:
    """Latency of a server that has time."""
    tally = await at_rate(target(server, case), LOW_RATE, seconds)
    check(server, case, tally)
    if case.stream:
        return {
            "first_p50": statistics.median(tally.firsts) * 1000,
            "first_p99": percentile(tally.firsts, 0.99) * 1000,
        }
    return {
        "p50": statistics.median(tally.latencies) * 1000,
        "p99": percentile(tally.latencies, 0.99) * 1000,
    }


async def paced(server: Server, case: Case) -> Figures:
    """``CONNECTIONS`` streams whose events come one at a time."""
    before = cpu_seconds(server.process.pid)
    tally = await crowd(target(server, case), CONNECTIONS)
    used = cpu_seconds(server.process.pid) - before
    check(server, case, tally)
    return {
        "events_rate": tally.events / tally.seconds,
        "cpu_100k": used / tally.events * 1e5,
        "lag_p50": statistics.median(tally.lags) * 1000,
        "lag_p99": percentile(tally.lags, 0.99) * 1000,
    }


async def crowded(server: Server, case: Case, size: int = CROWD) -> Figures:
    """``size`` slow streams at once; memory is read while all are open."""
    pid = server.process.pid
    idle, before = pss_bytes(pid), cpu_seconds(pid)
    ideal_s = (case.events - 1) * case.gap_s
    peak = 0

    async def watch() -> None:
        nonlocal peak
        while True:
            await asyncio.sleep(ideal_s / 8)
            peak = max(peak, await asyncio.to_thread(pss_bytes, pid))

    watching = asyncio.create_task(watch())
    tally = await crowd(target(server, case), size)
    watching.cancel()
    used = cpu_seconds(pid) - before
    check(server, case, tally)
    return {
        "total_s": tally.seconds,
        "over_ideal": tally.seconds / ideal_s,
        "cpu_100k": used / tally.events * 1e5,
        "lag_p50": statistics.median(tally.lags) * 1000,
        "lag_p99": percentile(tally.lags, 0.99) * 1000,
        "stream_kb": (peak - idle) / size / 1000,
        "idle_mb": idle / 1e6,
    }


async def measure(server: Server, name: str, scale: float) -> Figures:
    """One repeat of the case ``name``; ``scale`` stretches or shortens it."""
    case = CASES[name]
    match name:
        case "paced":
            return await paced(server, case)
        case "slow":
            return await crowded(server, case)
        case "whole" | "stream":
            figures = await saturated(server, case, 3 * scale)
            return figures | await at_low_rate(server, case, 5 * scale)
        case _:
            return await saturated(server, case, 3 * scale)


async def warm_up(server: Server) -> None:
    """Let a server load what it loads late, and open its connections."""
    for name in ("whole", "stream"):
        await closed_loop(target(server, CASES[name]), CONNECTIONS, 1.0)
