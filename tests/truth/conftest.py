"""The stage that truth tests play on, and the count of them by surface at the end of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.truth.stage import Stage, stage


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """One stage for all truth tests of this process."""
    folder: Path = tmp_path_factory.mktemp("truth")
    with stage(folder) as made:
        yield made


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How many ledger rows were proved, by surface."""
    proved = Counter(
        report.nodeid.partition("[")[2].partition(" ")[0]
        for report in terminalreporter.getreports("passed")
        if "::test_the_row_tells_the_truth[" in report.nodeid
    )
    if proved:
        counts = ", ".join(f"{surface} {count}" for surface, count in sorted(proved.items()))
        terminalreporter.write_line(f"ledger rows proved: {counts}; {proved.total()} in all")
