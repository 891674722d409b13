"""``python -m evidence [--look] [--all] [NAME...]``: run probes again and write what they saw to their records.

Without a name all that take seconds run. ``--look`` prints and writes nothing. ``--all`` also runs what takes
minutes or needs the network, the benchmark and the real clients; each has a name, too.
"""

from __future__ import annotations

import argparse
import importlib
import subprocess
import sys
from pathlib import Path
from typing import cast

from evidence.probe import Probe, heading, record, under_gunicorn
from tests.support.servers import ROOT

NO_PROBES = {"__main__", "__init__", "probe"}
LONG = {
    "benchmark": [sys.executable, "-u", "-m", "tests.bench"],
    "clients": [sys.executable, "-m", "tests.clients.run", "all"],
}
BENCHMARK = "What Candor costs"


def names() -> list[str]:
    """The modules of this folder that are probes, in the order of the alphabet."""
    return sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in NO_PROBES)


def run(name: str, *, look: bool) -> None:
    """Run one and keep its record, or only ``look``. A module without ``observe`` is a program that keeps its own."""
    module = importlib.import_module(f"evidence.{name}")
    if hasattr(module, "observe"):
        probe = cast(Probe, module)
        lines = [*heading(probe.TITLE), *probe.observe(under_gunicorn)]
        if look:
            print("\n".join(lines))
        else:
            record(name, lines)
    elif not look:
        subprocess.run([sys.executable, "-m", f"evidence.{name}"], cwd=ROOT, check=True)


def run_long(name: str) -> None:
    """Run a program of minutes. The clients keep their own record; that of the benchmark is what it prints."""
    if name == "clients":
        subprocess.run(LONG[name], cwd=ROOT, check=True)
        return
    lines = []
    with subprocess.Popen(LONG[name], cwd=ROOT, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        for line in program.stdout:
            print(line, end="", flush=True)
            lines.append(line.rstrip())
    if program.returncode:
        sys.exit(f"{name} failed; its record stays as it was")
    (ROOT / "evidence" / f"{name}.txt").write_text("\n".join([*heading(BENCHMARK), *lines]) + "\n")


def main() -> None:
    """Run what the command line names."""
    parser = argparse.ArgumentParser("python -m evidence", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join([*names(), *LONG]))
    parser.add_argument(
        "--look", action="store_true", help="print only; not for the benchmark and the clients"
    )
    parser.add_argument("--all", action="store_true", help="also the benchmark and the real clients")
    options = parser.parse_args()
    chosen = options.names or names()
    if unknown := set(chosen) - {*names(), *LONG}:
        parser.error(f"no such probe: {', '.join(sorted(unknown))}")
    chosen += [name for name in LONG if options.all and name not in chosen]
    if options.look and (long := [name for name in chosen if name in LONG]):
        parser.error(f"{', '.join(long)} cannot only look")
    for name in chosen:
        print(f"-- {name}")
        if name in LONG:
            run_long(name)
        else:
            run(name, look=options.look)
        print()


if __name__ == "__main__":
    main()
