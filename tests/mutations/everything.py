"""Every mutation that mutmut can think of, folder by folder: ``python -m tests.mutations.everything [SHARD]...``

It takes long, so it is no part of ``.ci/run``. Each shard is one folder of the code and the in-process unit tests that
should hold it. mutmut works in a scratch copy; what it found goes to ``evidence/mutation-score.txt``, shard by shard,
the survivors by name. ``--keep FOLDER`` keeps the copy, in which ``mutmut show NAME`` tells what one is; where it is
there already, only what nothing has killed is tried again, by the tests of now. The exit code is 1 when a survivor has
no reason in ``survivors.toml``, time was too short to look at all, or a score is too low.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evidence.probe import heading
from tests.mutations.scratch import LEFT_OUT
from tests.support.servers import ROOT

RECORD = ROOT / "evidence" / "mutation-score.txt"
REASONS = Path(__file__).with_name("survivors.toml")
KILLED = {"killed", "timeout", "suspicious", "segfault", "caught by type check"}
LEAST = {"turn": 90.0, "ledger": 90.0}
"""Per cent that must be killed; the score of the other shards is told."""
NO_REASON = "NOT YET LOOKED AT"
SHOW_ALL = "import sys; from mutmut.__main__ import show; [show.callback(name) for name in sys.argv[1:]]"
"""``mutmut show`` for many names."""
_LINE = re.compile(r"^\s+(?P<name>\S+): (?P<outcome>.+)$")
_NAME = re.compile(r"^(?P<module>.+)\.x(?:_|ǁ(?P<holder>\w+)ǁ)(?P<function>\w+)__mutmut_\d+$")


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
    "capacity": Shard(
        "app/capacity",  # without its tests of times and of processes
        tuple(
            f"tests/capacity/test_capacity_{part}.py"
            for part in (
                "attempts",
                "board",
                "books",
                "choice",
                "condition",
                "creation",
                "failover_bytes",
                "fields",
                "gates",
                "pool",
                "report",
                "sessions",
                "slots",
                "tokens",
                "tokens_file",
            )
        ),
    ),
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
    """What mutmut says; it ends where it is, and its children with it, when its time is over."""
    program = subprocess.Popen(
        [sys.executable, "-m", "mutmut", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        process_group=0,
    )
    try:
        said, _ = program.communicate(timeout=within_s)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(program.pid, signal.SIGKILL)
        said, _ = program.communicate()
    return said


def outcomes(folder: Path) -> dict[str, str]:
    """Mutant -> what became of it."""
    listed = mutmut(folder, "results", "--all", "true").splitlines()
    return {match["name"]: match["outcome"] for line in listed if (match := _LINE.match(line))}


def survivors(folder: Path) -> list[str]:
    """The mutants of a kept copy that nothing has killed yet."""
    return [mutant for mutant, outcome in outcomes(folder).items() if outcome not in KILLED]


def changed_lines(folder: Path, mutants: list[str]) -> dict[str, str]:
    """Mutant -> the line that it has in place of the original's. One process for all: each takes a second to start."""
    done = subprocess.run(
        [sys.executable, "-c", SHOW_ALL, *mutants], cwd=folder, capture_output=True, text=True, check=True
    )
    lines = dict.fromkeys(mutants, "")
    shown = ""
    for line in done.stdout.splitlines():
        if line.startswith("# ") and line[2:].partition(": ")[0] in lines:
            shown = line[2:].partition(": ")[0]
        elif line.startswith("+ ") and not lines[shown]:
            lines[shown] = line[1:].strip()
    return lines


def place_of(mutant: str) -> str:
    """``app.turn.fold.xǁFoldǁfeed__mutmut_3`` -> ``app.turn.fold.Fold.feed``; the number shifts with the code."""
    match = _NAME.match(mutant)
    assert match is not None, f"no name that mutmut gives: {mutant}"
    return ".".join(filter(None, (match["module"], match["holder"], match["function"])))


def reasons() -> dict[tuple[str, str], str]:
    """(function, changed line) -> why it survives, as somebody who looked at it wrote down."""
    written = tomllib.loads(REASONS.read_text())["survivor"]
    return {
        (place, line): each["why"]
        for each in written
        for place, lines in each["in"].items()
        for line in lines
    }


def report(name: str, found: dict[str, str], seconds: float, folder: Path) -> list[str]:
    """The lines of the record for one shard."""
    known = reasons()
    counts = Counter(found.values())
    looked_at = sum(count for outcome, count in counts.items() if outcome != "not checked")
    killed = sum(counts[outcome] for outcome in KILLED)
    score = f"{100 * killed / looked_at:.1f} %" if looked_at else "no score"
    kinds = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))
    lines = [f"{name}: {killed} of {looked_at} killed, {score} ({kinds}) in {seconds / 60:.0f} min"]
    alive = [mutant for mutant, outcome in sorted(found.items()) if outcome not in {*KILLED, "not checked"}]
    for mutant, line in changed_lines(folder, alive).items():
        why = known.get((place_of(mutant), line), NO_REASON)
        lines += [f"  {found[mutant]}: {mutant}", f"    {line}", f"    {why}"]
    return lines


def complaints(record: str, known: Mapping[tuple[str, str], str]) -> list[str]:
    """What is wrong with a record: a shard or a reason that lacks or is one too many, a short run, a low score."""
    wrong = [f"{name} is not in it" for name in SHARDS if f"\n{name}: " not in record]
    for name, score, rest in re.findall(r"^(\w+): \d+ of \d+ killed, ([\d.]+) % (.*)$", record, re.MULTILINE):
        if "not checked" in rest:
            wrong.append(f"{name}: the time was too short for all")
        if float(score) < LEAST.get(name, 0):
            wrong.append(f"{name}: {score} % are killed, {LEAST[name]:g} must be")
    if lacking := record.count(NO_REASON):
        wrong.append(f"{lacking} survivors have no reason")
    alive = re.findall(r"^  \w[^:\n]*: (\S+)\n    (.*)$", record, re.MULTILINE)
    for place, line in sorted(known.keys() - {(place_of(mutant), line) for mutant, line in alive}):
        wrong.append(f"a reason for what does not survive: {place}: {line}")
    return wrong


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
    parser.add_argument("--keep", type=Path, help="work in this folder; what lives there is tried again")
    options = parser.parse_args()
    names = options.shards or list(SHARDS)
    share = 60 * options.minutes / len(names)
    with tempfile.TemporaryDirectory(prefix="candor-mutmut-") as scratch:
        for name in names:
            folder = (options.keep or Path(scratch)) / name
            started = time.monotonic()
            alive = survivors(folder) if (folder / "mutants").exists() else []
            prepare(SHARDS[name], folder)
            said = mutmut(folder, "run", "--max-children", options.children, *alive, within_s=share)
            found = outcomes(folder)
            if set(found.values()) <= {"not checked"}:
                sys.exit(f"{name}: mutmut looked at nothing\n{said[-3000:]}")
            lines = report(name, found, time.monotonic() - started, folder)
            print("\n".join(lines), flush=True)
            keep({name: lines})
    if wrong := complaints(RECORD.read_text(), reasons()):
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
