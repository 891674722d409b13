"""``python -m tests.mutations [--record | --evidence] [--jobs 2] [part of a name]...``"""

from __future__ import annotations

import argparse
import contextlib
import math
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from queue import SimpleQueue

from evidence.probe import heading
from tests.mutations.judge import Judge, Verdict
from tests.mutations.record import evidence, recorded
from tests.mutations.scratch import LEFT_OUT, PRELOADED, Scratch, Unusable
from tests.mutations.spec import Mutation, SpecError, file_tests, read_all

ROOT = Path(__file__).resolve().parents[2]

Tests = tuple[str, ...]


@dataclass(frozen=True)
class Limits:
    """How long things may take, in seconds.

    One mutation's tests are chosen so narrowly that a calm machine needs no longer than ``one_s``: beyond it a
    mutation is named, beyond twice as much, as machines differ, the run has failed. Beyond ``all_s`` it ends.
    """

    one_s: float = 8.0
    all_s: float = 15 * 60.0


LIMITS = Limits()


class TimeUp(Exception):
    """All of the time for a run is used up."""


class Bench:
    """Judges mutations of ``root``, ``jobs`` at a time, each job in a scratch copy of its own.

    Raises TimeUp instead of beginning anything after ``deadline``, which is monotonic seconds.
    """

    def __init__(
        self, root: Path, folder: Path, jobs: int, preloaded: Sequence[str], deadline: float = math.inf
    ) -> None:
        self._deadline = deadline
        self._pool = ThreadPoolExecutor(jobs)
        self._judges: SimpleQueue[Judge] = SimpleQueue()
        pristine = folder / "pristine"
        shutil.copytree(root, pristine, ignore=LEFT_OUT, symlinks=True)
        self._scratches = [Scratch(pristine, folder / str(number), preloaded) for number in range(jobs)]
        for scratch in self._scratches:
            self._judges.put(Judge(scratch))

    def close(self) -> None:
        """End what was started."""
        self._pool.shutdown(cancel_futures=True)
        for scratch in self._scratches:
            scratch.close()

    def baselines(self, mutations: Sequence[Mutation]) -> dict[Tests, int | str]:
        """What unchanged code gives, once for each set of tests: how many pass, or why that is not known."""
        wanted = list(dict.fromkeys(mutation.tests for mutation in mutations))
        return dict(zip(wanted, self._pool.map(self._baseline, wanted), strict=True))

    @contextlib.contextmanager
    def _judge(self) -> Iterator[Judge]:
        """One of the judges, as soon as it is free."""
        judge = self._judges.get()
        try:
            if time.monotonic() > self._deadline:
                raise TimeUp
            yield judge
        finally:
            self._judges.put(judge)

    def _baseline(self, tests: Tests) -> int | str:
        with self._judge() as judge:
            try:
                return judge.baseline(tests)
            except (SpecError, Unusable) as error:
                return str(error)

    def run(self, mutations: Sequence[Mutation], baselines: dict[Tests, int | str]) -> list[Verdict]:
        """Judge all, telling each as it is done."""

        def one(mutation: Mutation) -> Verdict:
            with self._judge() as judge:
                verdict = judge.judge(mutation, baselines[mutation.tests])
            print(line(verdict), flush=True)
            return verdict

        return list(self._pool.map(one, mutations))


def line(verdict: Verdict) -> str:
    """One mutation in the report, with what fails, and with what is wrong if anything is."""
    mutation = verdict.mutation
    mark = "" if not verdict.problem else "  <-- NOT AS EXPECTED"
    lines = [f"{verdict.state:<9}{verdict.seconds:5.1f} s  {mutation.title}{mark}"]
    lines += [f"{'':<18}{node}" for node in sorted(verdict.failing)]
    if verdict.problem:
        lines.append(f"{'':<18}{verdict.problem}")
    elif mutation.survives:
        lines.append(f"{'':<18}documented: {mutation.survives}")
    return "\n".join(lines)


def summary(verdicts: Sequence[Verdict], seconds: float, limits: Limits) -> str:
    """The last lines of the report."""
    wrong = [verdict for verdict in verdicts if verdict.problem]
    slowest = max(verdicts, key=lambda verdict: verdict.seconds)
    counts = {state: sum(verdict.state == state for verdict in verdicts) for state in ("CAUGHT", "SURVIVED")}
    lines = [
        f"{len(verdicts)} mutations in {seconds:.0f} s: {counts['CAUGHT']} caught, {counts['SURVIVED']} survived "
        f"({sum(bool(verdict.mutation.survives) for verdict in verdicts)} documented)",
        f"slowest: {slowest.mutation.title}, {slowest.seconds:.1f} s",
    ]
    over = [verdict.mutation.title for verdict in verdicts if verdict.seconds > limits.one_s]
    if over:
        lines.append(f"over {limits.one_s:g} s: {', '.join(over)}")
    if slow := too_slow(verdicts, limits):
        titles = ", ".join(verdict.mutation.title for verdict in slow)
        lines.append(f"over {2 * limits.one_s:g} s, which no mutation may take: {titles}")
    lines.append("not as expected:" if wrong else "all as expected")
    lines += [f"  {verdict.mutation.title}" for verdict in wrong]
    return "\n".join(lines)


def too_slow(verdicts: Sequence[Verdict], limits: Limits) -> list[Verdict]:
    """Those that took longer than any may."""
    return [verdict for verdict in verdicts if verdict.seconds > 2 * limits.one_s]


def record(folder: Path, verdicts: Sequence[Verdict], baselines: dict[Tests, int | str]) -> None:
    """Write what was found into the spec files."""
    for path in sorted(folder.glob("*.toml")):
        mine = [verdict for verdict in verdicts if verdict.mutation.spec == path.stem]
        found: dict[str | None, int] = {}
        for verdict in mine:
            count = baselines[verdict.mutation.tests]
            if isinstance(count, int):
                found[verdict.mutation.name] = count
        common = baselines.get(file_tests(path))
        if isinstance(common, int):
            found[None] = common
        reds = {v.mutation.name: v.failing for v in mine if v.state != "BROKEN"}
        path.write_text(recorded(path.read_text(), found, reds))


def main(
    arguments: Sequence[str] | None = None,
    *,
    root: Path = ROOT,
    preloaded: Sequence[str] = PRELOADED,
    limits: Limits = LIMITS,
) -> int:
    """Judge the mutations that are named, all without a name; the exit code is 0 when all are as expected."""
    parser = argparse.ArgumentParser("python -m tests.mutations", description=__doc__)
    parser.add_argument("parts", nargs="*", help="parts of names, spec/name")
    parser.add_argument("--record", action="store_true", help="write what is found into the specs")
    parser.add_argument(
        "--evidence", action="store_true", help="write evidence/mutations.txt if all are as expected"
    )
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)
    if options.evidence and (options.parts or options.record):
        parser.error("--evidence is of all mutations, as they are expected")
    specs = root / "tests" / "mutations" / "specs"
    try:
        mutations = read_all(specs)
    except SpecError as error:
        print(error, file=sys.stderr)
        return 2
    chosen = [m for m in mutations if not options.parts or any(part in m.title for part in options.parts)]
    if not chosen:
        print(f"no mutation has {' or '.join(options.parts)} in its name", file=sys.stderr)
        return 2
    started = time.monotonic()
    try:
        with (
            tempfile.TemporaryDirectory(prefix="candor-mutations-") as folder,
            contextlib.closing(
                Bench(root, Path(folder), options.jobs, preloaded, started + limits.all_s)
            ) as bench,
        ):
            baselines = bench.baselines(chosen)
            if options.record:
                chosen = [_with_baseline(mutation, baselines[mutation.tests]) for mutation in chosen]
            verdicts = bench.run(chosen, baselines)
    except TimeUp:
        print(
            f"the run was ended: {len(chosen)} mutations may take {limits.all_s / 60:g} minutes",
            file=sys.stderr,
        )
        return 1
    print(summary(verdicts, time.monotonic() - started, limits))
    if options.record:
        record(specs, verdicts, baselines)
    if too_slow(verdicts, limits) or any(verdict.problem for verdict in verdicts):
        return 1
    if options.evidence:
        lines = [*heading("Mutations that the tests must catch"), *evidence(mutations)]
        (root / "evidence" / "mutations.txt").write_text("\n".join(lines) + "\n")
    return 0


def _with_baseline(mutation: Mutation, baseline: int | str) -> Mutation:
    return replace(mutation, baseline=baseline) if isinstance(baseline, int) else mutation


if __name__ == "__main__":
    sys.exit(main())
