"""What a mutation's run means: as expected, or what is wrong."""

from __future__ import annotations

import time
from dataclasses import dataclass

from tests.mutations.scratch import Scratch, Unusable
from tests.mutations.spec import Mutation, SpecError


@dataclass(frozen=True)
class Verdict:
    """``state`` is CAUGHT, SURVIVED or BROKEN; ``problem`` is empty when all is as the spec expects."""

    mutation: Mutation
    state: str
    failing: frozenset[str]
    problem: str
    seconds: float


class Judge:
    """Runs mutations in one scratch copy, one at a time."""

    def __init__(self, scratch: Scratch) -> None:
        self._scratch = scratch

    def baseline(self, tests: tuple[str, ...]) -> int:
        """How many tests pass on unchanged code. Raises SpecError when one does not."""
        ran = self._scratch.run(tests)
        if ran.failed or ran.skipped:
            bad = sorted(ran.failed | ran.skipped)
            raise SpecError(f"on unchanged code these do not pass: {', '.join(bad)}")
        return len(ran.passed)

    def judge(self, mutation: Mutation, baseline: int | str) -> Verdict:
        """Apply one mutation and run its tests; ``baseline`` is what unchanged code gave, or why it gave nothing."""
        started = time.monotonic()

        def verdict(state: str, failing: frozenset[str], problem: str) -> Verdict:
            return Verdict(mutation, state, failing, problem, time.monotonic() - started)

        if isinstance(baseline, str):
            return verdict("BROKEN", frozenset(), baseline)
        if baseline != mutation.baseline:
            problem = f"the baseline drifted: {baseline} tests pass, the spec says {mutation.baseline}"
            return verdict("BROKEN", frozenset(), problem)
        try:
            failing = self.failing(mutation, baseline)
        except (SpecError, Unusable) as error:
            return verdict("BROKEN", frozenset(), str(error))
        return verdict("CAUGHT" if failing else "SURVIVED", failing, _problem(mutation, failing))

    def failing(self, mutation: Mutation, baseline: int) -> frozenset[str]:
        """The tests that fail with the mutation applied. Raises SpecError unless all others of the baseline pass."""
        path = self._scratch.folder / mutation.file
        if not path.is_file():
            raise SpecError(f"{mutation.title}: there is no {mutation.file}")
        changed = mutation.apply(path.read_text())
        with self._scratch.changed(mutation.file, changed):
            ran = self._scratch.run(mutation.tests)
        if ran.skipped:
            raise SpecError(f"with the mutation these are skipped: {', '.join(sorted(ran.skipped))}")
        if len(ran.passed) + len(ran.failed) != baseline:
            raise SpecError(
                f"with the mutation {len(ran.passed)} tests pass and {len(ran.failed)} fail, which makes not the "
                f"{baseline} of the baseline"
            )
        return ran.failed


def _problem(mutation: Mutation, failing: frozenset[str]) -> str:
    if failing == mutation.red and (failing or mutation.survives):
        return ""
    if not failing:
        return "it survives, and no reason is written down"
    if mutation.survives:
        return "it is caught, although the spec says why it cannot be"
    parts = [
        f"{what}: {', '.join(sorted(nodes))}"
        for what, nodes in (("not red", mutation.red - failing), ("red too", failing - mutation.red))
        if nodes
    ]
    return "another red set; " + "; ".join(parts)
