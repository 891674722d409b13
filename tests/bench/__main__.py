"""``python -m tests.bench [CASE ...] [--against litellm] [--repeats 3] [--scale 1]``

Server on core 0, canned upstream and load on core 1, where the machine has two; the crowd of slow streams has
two workers and no fixed cores. Each figure is the best of the repeats, the servers taking turns.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from tests.bench.decode_cost import print_growth
from tests.bench.litellm import litellm
from tests.bench.measure import CONNECTIONS, CROWD, FIGURES, Figures, measure, warm_up
from tests.bench.process import Server, candor, canned, on_core

TITLES = {
    "whole": f"Non-stream, 20 events gathered, {CONNECTIONS} connections",
    "stream": f"Streams of 20 events, {CONNECTIONS} connections",
    "burst": f"Streams of 200 events in one burst, {CONNECTIONS} connections",
    "paced": f"{CONNECTIONS} streams of 200 events a second each",
    "history": f"A 218-message history with 20 tools, non-stream, {CONNECTIONS} connections",
    "slow": f"{CROWD} streams at once of 100 events, one each 50 ms; two workers",
}
DIRECT = "direct"


def main() -> None:
    """Parse the command line, run the cases, print the tables."""
    parser = argparse.ArgumentParser("make bench", description="What Candor costs.")
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(TITLES)}; default: all")
    parser.add_argument("--against", choices=["litellm"], help="measure this proxy in the same run")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0, help="stretches or shortens each measurement")
    chosen = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what was started is stopped
    names = chosen.cases or list(TITLES)
    if unknown := set(names) - TITLES.keys():
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    print_conditions(chosen.repeats)
    pinned = [name for name in names if name != "slow"]
    with tempfile.TemporaryDirectory(prefix="candor-bench-") as folder:
        if pinned:
            run(pinned, Path(folder), chosen, core=0, workers=1)
        if "slow" in names:
            run(["slow"], Path(folder), chosen, core=None, workers=2)
    if "history" in names:
        print_growth()


def run(names: list[str], folder: Path, chosen: argparse.Namespace, core: int | None, workers: int) -> None:
    """Measure ``names`` on every server, the servers taking turns, and print each case's table."""
    with servers(folder, chosen.against, core, workers) as running:
        for server in running:
            asyncio.run(warm_up(server))
        for name in names:
            taken: dict[str, list[Figures]] = {server.name: [] for server in running}
            for _ in range(chosen.repeats):
                for server in running:
                    taken[server.name].append(asyncio.run(measure(server, name, chosen.scale)))
                    time.sleep(0.2)
            print_table(TITLES[name], {server: best(repeats) for server, repeats in taken.items()})


@contextlib.contextmanager
def servers(folder: Path, against: str | None, core: int | None, workers: int) -> Iterator[list[Server]]:
    """The canned upstream, Candor and whatever it is measured against."""
    allowed = os.sched_getaffinity(0)
    other = None if core is None else 1
    with contextlib.ExitStack() as stack:
        if on_core(other):
            os.sched_setaffinity(0, {1})
            stack.callback(os.sched_setaffinity, 0, allowed)
        upstream = stack.enter_context(canned(folder, other))
        running = [upstream, stack.enter_context(candor(folder, upstream, core, workers))]
        if against:
            running.append(stack.enter_context(litellm(folder, upstream, core, workers)))
        yield running


def best(repeats: list[Figures]) -> Figures:
    """The best of each figure."""
    return {name: FIGURES[name].best([figures[name] for figures in repeats]) for name in repeats[0]}


def print_table(title: str, measured: dict[str, Figures]) -> None:
    """One case: a line a figure, a column a server, and how many times Candor is better than another proxy."""
    others = [server for server in measured if server not in (DIRECT, "candor")]
    print(f"\n{title}")
    print(
        f"  {'':<40}" + "".join(f"{name:>12}" for name in measured) + "".join(f"{'ratio':>9}" for _ in others)
    )
    for name in measured["candor"]:
        figure = FIGURES[name]
        line = "".join(f"{number(values[name]):>12}" for values in measured.values())
        print(f"  {f'{figure.label} {figure.unit}'.strip():<40}{line}{ratios(name, measured, others)}")
        if figure.added:
            rest = {server: values[name] - measured[DIRECT][name] for server, values in measured.items()}
            shown = "".join("           -" if s == DIRECT else f"{number(v):>12}" for s, v in rest.items())
            added = {server: {name: value} for server, value in rest.items()}
            print(f"  {f'  added, {figure.unit}':<40}{shown}{ratios(name, added, others)}", flush=True)


def ratios(name: str, measured: dict[str, Figures], others: list[str]) -> str:
    """How many times better than each other proxy Candor is."""
    text = ""
    for other in others:
        ours, theirs = measured["candor"][name], measured[other][name]
        low, high = (theirs, ours) if FIGURES[name].best is max else (ours, theirs)
        text += f"{f'{high / low:.1f}x':>9}" if low > 0 and high > 0 else f"{'-':>9}"
    return text


def number(value: float) -> str:
    """Three digits that count."""
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.3g}"


def print_conditions(repeats: int) -> None:
    """What the figures depend on."""
    model = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    packages = ("gunicorn", "flask", "requests", "urllib3", "protobuf", "orjson")
    head = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} cores, {model}; Python {platform.python_version()}; load before: {load:.2f}")
    print(
        ", ".join(f"{package} {version(package)}" for package in packages), f"; commit {head.stdout.strip()}"
    )
    print(f"Default settings, one worker unless said; best of {repeats}.", flush=True)


if __name__ == "__main__":
    main()
