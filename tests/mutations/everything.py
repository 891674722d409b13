"""Every mutation that mutmut can think of, folder by folder: ``python -m tests.mutations.everything [SHARD]...``

It takes long, so it is no part of ``.ci/run``. Each shard is one folder of the code and the in-process unit tests that
should hold it. mutmut works in a scratch copy; what it found goes to ``evidence/mutation-score.txt``, shard by shard,
the survivors by name; ``--keep FOLDER`` keeps the copy, in which ``mutmut show NAME`` tells what one is.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from evidence.probe import heading
from tests.mutations.scratch import LEFT_OUT
from tests.support.servers import ROOT

RECORD = ROOT / "evidence" / "mutation-score.txt"
REASONS = Path(__file__).with_name("survivors.toml")
KILLED = {"killed", "timeout", "suspicious", "segfault", "caught by type check"}
_LINE = re.compile(r"^\s+(?P<name>\S+): (?P<outcome>.+)$")


@dataclass(frozen=True)
class Shard:
    """A folder of the code, and the tests that should catch what is changed in it."""

    folder: str
    tests: tuple[str, ...]


SHARDS = {
    "turn": Shard(
        "app/turn", ("tests/turn", "tests/core/test_core_run.py", "tests/upstreams/test_encode.py")
    ),
    "ledger": Shard("app/ledger", ("tests/ledger",)),
    "capacity": Shard("app/capacity", ("tests/capacity",)),
    "connect": Shard("app/upstreams/connect", ("tests/upstreams",)),
}

SETTINGS = """\
[mutmut]
source_paths=app
only_mutate={folder}/*
do_not_mutate=*_pb2.py
also_copy=
    fake_upstream
    evidence
    docs
pytest_add_cli_args=
    -p
    no:cacheprovider
    --hypothesis-seed=0
pytest_add_cli_args_test_selection=
{tests}
"""


def prepare(shard: Shard, folder: Path) -> None:
    """A scratch copy with mutmut's settings in it."""
    shutil.copytree(ROOT, folder, ignore=LEFT_OUT, symlinks=True, dirs_exist_ok=True)
    tests = "\n".join(f"    {test}" for test in shard.tests)
    (folder / "setup.cfg").write_text(SETTINGS.format(folder=shard.folder, tests=tests))


def mutmut(folder: Path, *arguments: str, within_s: float | None = None) -> str:
    """What mutmut says; it ends where it is when its time is over."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", "mutmut", *arguments],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=within_s,
        )
    except subprocess.TimeoutExpired as expired:
        return (expired.stdout or b"").decode(errors="replace")
    return done.stdout + done.stderr


def outcomes(folder: Path) -> dict[str, str]:
    """Mutant -> what became of it."""
    listed = mutmut(folder, "results", "--all", "true").splitlines()
    return {match["name"]: match["outcome"] for line in listed if (match := _LINE.match(line))}


def changed_line(folder: Path, mutant: str) -> str:
    """The line that a mutant has in place of the original's."""
    added = [
        line[1:].strip() for line in mutmut(folder, "show", mutant).splitlines() if line.startswith("+ ")
    ]
    return added[0] if added else ""


def reasons() -> dict[str, str]:
    """Changed line -> why it survives, as somebody who looked at it wrote down."""
    written = tomllib.loads(REASONS.read_text())["survivor"]
    return {line: each["why"] for each in written for line in each["lines"]}


def report(name: str, found: dict[str, str], seconds: float, folder: Path) -> list[str]:
    """The lines of the record for one shard."""
    known = reasons()
    counts = Counter(found.values())
    looked_at = sum(count for outcome, count in counts.items() if outcome != "not checked")
    killed = sum(counts[outcome] for outcome in KILLED)
    score = f"{100 * killed / looked_at:.1f} %" if looked_at else "no score"
    kinds = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))
    lines = [f"{name}: {killed} of {looked_at} killed, {score} ({kinds}) in {seconds / 60:.0f} min"]
    for mutant, outcome in sorted(found.items()):
        if outcome not in KILLED and outcome != "not checked":
            line = changed_line(folder, mutant)
            lines += [f"  {outcome}: {mutant}", f"    {line}", f"    {known.get(line, 'NOT YET LOOKED AT')}"]
    return lines


def keep(sections: dict[str, list[str]]) -> None:
    """Write the sections that are new into the record, beside those of other shards."""
    kept: dict[str, list[str]] = {}
    if RECORD.exists():
        for line in RECORD.read_text().partition("\n\n")[2].splitlines():
            if match := re.match(r"^(\w+): ", line):
                kept[match[1]] = []
            if line and kept:
                kept[next(reversed(kept))].append(line)
    kept.update(sections)
    body = "\n\n".join("\n".join(kept[name]) for name in SHARDS if name in kept)
    RECORD.write_text("\n".join(heading("Every mutation that mutmut makes")) + f"\n{body}\n")


def main() -> None:
    """Run the shards that the command line names, all without one."""
    parser = argparse.ArgumentParser("python -m tests.mutations.everything", description=__doc__)
    parser.add_argument("shards", nargs="*", help=", ".join(SHARDS))
    parser.add_argument("--minutes", type=float, default=90, help="for all shards together")
    parser.add_argument("--children", default="2")
    parser.add_argument("--keep", type=Path, help="work in this folder and leave it behind")
    options = parser.parse_args()
    names = options.shards or list(SHARDS)
    share = 60 * options.minutes / len(names)
    with tempfile.TemporaryDirectory(prefix="candor-mutmut-") as scratch:
        for name in names:
            folder = (options.keep or Path(scratch)) / name
            started = time.monotonic()
            prepare(SHARDS[name], folder)
            said = mutmut(folder, "run", "--max-children", options.children, within_s=share)
            found = outcomes(folder)
            if set(found.values()) <= {"not checked"}:
                sys.exit(f"{name}: mutmut looked at nothing\n{said[-3000:]}")
            lines = report(name, found, time.monotonic() - started, folder)
            print("\n".join(lines), flush=True)
            keep({name: lines})


if __name__ == "__main__":
    main()
