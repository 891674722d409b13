"""``python -m evidence [--look] [--all] [NAME...]``: run probes again and write what they saw to their records.

Without a name all that take seconds run. ``--look`` prints and writes nothing. ``--all`` also runs what takes
minutes or needs the network: the benchmark and the real clients, which write records of their own.
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
    "benchmark": [sys.executable, "-m", "tests.bench"],
    "clients": [sys.executable, "-m", "tests.clients.run", "all"],
}


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


def main() -> None:
    """Run what the command line names."""
    parser = argparse.ArgumentParser("python -m evidence", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(names()))
    parser.add_argument("--look", action="store_true", help="print only")
    parser.add_argument("--all", action="store_true", help="also the benchmark and the real clients")
    options = parser.parse_args()
    if unknown := set(options.names) - set(names()):
        parser.error(f"no such probe: {', '.join(sorted(unknown))}")
    for name in options.names or names():
        print(f"-- {name}")
        run(name, look=options.look)
        print()
    if options.all:
        for name, command in LONG.items():
            print(f"-- {name}")
            subprocess.run(command, cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
