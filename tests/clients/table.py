"""The table of a run: client x scenario -> requests, captures, exit code, seconds."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from evidence.probe import heading

TABLE = "CANDOR_CLIENTS_TABLE"
"""The environment variable that names the file a table goes to; without it, it is only printed."""

TITLE = "Real clients"

COLUMNS = ("client", "scenario", "requests", "captures", "exit", "seconds", "result")


class Table:
    """A pytest plugin: gathers the rows that scenarios leave, from all processes, prints them and keeps them.

    What is kept is of a whole run: one that was interrupted, or lost a process, leaves the old file as it was.
    """

    def __init__(self) -> None:
        self._rows: list[dict[str, Any]] = []
        self._failed: set[str] = set()
        self._collected: set[str] = set()
        self._ended: set[str] = set()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._collected.update(item.nodeid for item in session.items)

    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        self._collected.update(ids)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed.add(report.nodeid)
        if report.when == "teardown":
            self._ended.add(report.nodeid)
            result = "FAILED" if report.nodeid in self._failed else "ok"
            for name, row in report.user_properties:
                if name == "row" and isinstance(row, dict):
                    self._rows.append({"scenario": scenario_of(report.nodeid), "result": result, **row})

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter, exitstatus: int) -> None:
        if not self._rows:
            return
        text = render(self._rows)
        terminalreporter.section("clients")
        terminalreporter.write(text)
        path = os.environ.get(TABLE)
        if not path:
            return
        if (
            exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
            and self._ended == self._collected
        ):
            Path(path).write_text("\n".join([*heading(TITLE), text]))
        else:
            terminalreporter.write(f"The run is not complete, so {path} stays as it was.\n")


def scenario_of(nodeid: str) -> str:
    """``tests/clients/scenario_x.py::test_a_task[codex]`` -> ``a task``."""
    return nodeid.rpartition("::")[2].partition("[")[0].removeprefix("test_").replace("_", " ")


def render(rows: list[dict[str, Any]]) -> str:
    """Rows as aligned columns, sorted by client and scenario."""
    cells = [[str(row.get(column, "")) for column in COLUMNS] for row in rows]
    lines = [list(COLUMNS), *sorted(cells)]
    widths = [max(len(line[index]) for line in lines) for index in range(len(COLUMNS))]
    return "".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() + "\n"
        for line in lines
    )
