"""A pytest plugin that writes what became of every test to the file that CANDOR_MUTATION_OUTCOMES names.

The runner loads it by path into the pytest that runs in the scratch copy. It knows nothing of the tree, so that what
is tested there is only the copy.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

VARIABLE = "CANDOR_MUTATION_OUTCOMES"


class Outcomes:
    """Node id -> ``passed``, ``failed`` or ``skipped``; what fails in set-up or tear-down failed."""

    def __init__(self) -> None:
        self._outcomes: dict[str, str] = {}

    @pytest.hookimpl
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """The worst of a test's three phases counts."""
        if report.when == "call" or report.outcome != "passed":
            before = self._outcomes.get(report.nodeid)
            self._outcomes[report.nodeid] = report.outcome if before != "failed" else before

    @pytest.hookimpl
    def pytest_sessionfinish(self) -> None:
        """Write the outcomes, and where every module came from."""
        files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
        page = {"outcomes": self._outcomes, "modules": sorted({file for file in files if file})}
        Path(os.environ[VARIABLE]).write_text(json.dumps(page))


def pytest_configure(config: pytest.Config) -> None:
    """Take part in this run."""
    config.pluginmanager.register(Outcomes())
