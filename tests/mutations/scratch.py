"""A scratch copy of the tree, in which code may be changed and tested without a trace in the tree itself."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.mutations import outcomes, zygote

LEFT_OUT = shutil.ignore_patterns(
    ".git",
    ".venv",
    ".*_cache",
    ".hypothesis",
    ".clients",
    ".bench",
    "node_modules",
    "var",
    "mutants",
    "__pycache__",
)
PRELOADED = (
    "pytest", "flask", "werkzeug.serving", "requests", "orjson", "prometheus_client.multiprocess", "google.protobuf",
    "google.protobuf.json_format", "hypothesis", "freezegun", "redis", "openai", "openai.types.responses", "anthropic",
    "google.genai",
)  # fmt: skip
"""What most tests import and none changes."""
PLUGIN = Path(outcomes.__file__)
OPTIONS = (
    "-q", "--no-header", "-p", "no:cacheprovider", "-p", PLUGIN.stem, "-p", "pytest_timeout",
    "-p", "_hypothesis_pytestplugin", "--hypothesis-seed=0", "-W", "ignore::pytest.PytestAssertRewriteWarning",
)  # fmt: skip
"""How pytest is run: the same in every run, and without what only takes time."""
PATIENCE_S = 120
FIRST_CHANGE_S = 2_000_000_000
"""Bytecode goes by the second in which its source was written: every change gets one of its own, in the future."""


class Unusable(Exception):
    """The tests could not be run at all; the text says why."""


@dataclass(frozen=True)
class Ran:
    """What became of the tests of one run, by node id."""

    passed: frozenset[str]
    failed: frozenset[str]
    skipped: frozenset[str]


class Scratch:
    """A copy of ``root`` in ``folder``, and a process that runs its tests. To be closed."""

    def __init__(self, root: Path, folder: Path, preloaded: Sequence[str] = PRELOADED) -> None:
        self._root = root.resolve()
        self._changes = 0
        shutil.copytree(root, folder, ignore=LEFT_OUT, symlinks=True, dirs_exist_ok=True)
        self.folder = folder.resolve()
        self._page = self.folder / "outcomes.json"
        self._log = self.folder / "outcomes.log"
        environment = {
            **os.environ,
            outcomes.VARIABLE: str(self._page),
            "PYTHONPATH": str(PLUGIN.parent),
            "PYTEST_ADDOPTS": "",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        }
        self._process = subprocess.Popen(
            [sys.executable, zygote.__file__, *preloaded],
            cwd=self.folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(PATIENCE_S)
        self._process.stdout.close()

    @contextlib.contextmanager
    def changed(self, file: str, text: str) -> Iterator[None]:
        """While the block runs, ``file`` of the copy holds ``text``."""
        path = self.folder / file
        before, when = path.read_bytes(), path.stat()
        self._changes += 1
        moment = FIRST_CHANGE_S + self._changes
        try:
            path.write_text(text)
            os.utime(path, (moment, moment))
            yield
        finally:
            path.write_bytes(before)
            os.utime(path, ns=(when.st_atime_ns, when.st_mtime_ns))

    def run(self, tests: Sequence[str]) -> Ran:
        """Run ``tests`` in the copy. Raises Unusable when not one test ran, or code from elsewhere did."""
        self._page.unlink(missing_ok=True)
        status = self._ask([*OPTIONS, *tests])
        if status is None:
            raise Unusable(f"the tests did not end within {PATIENCE_S} s")
        if not self._page.exists():
            raise Unusable(f"pytest did not get to its end:\n{self._tail()}")
        told = json.loads(self._page.read_text())
        if not told["outcomes"]:
            raise Unusable(f"no test ran:\n{self._tail()}")
        self._check_modules(told["modules"])
        by_outcome = {
            wanted: frozenset(node for node, outcome in told["outcomes"].items() if outcome == wanted)
            for wanted in ("passed", "failed", "skipped")
        }
        return Ran(**by_outcome)

    def _ask(self, arguments: list[str]) -> int | None:
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        request = {"arguments": arguments, "log": str(self._log), "patience_s": PATIENCE_S}
        try:
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
        except OSError:
            raise Unusable("the process that runs the tests has ended") from None
        answer = process.stdout.readline()
        if not answer:
            raise Unusable("the process that runs the tests has ended")
        status: int | None = json.loads(answer)["status"]
        return status

    def _check_modules(self, files: list[str]) -> None:
        """No module may come from the tree that was copied, but for what is installed there and the runner's own."""
        for file in files:
            path = Path(file)
            if (
                path.is_relative_to(self.folder)
                or path.parent == PLUGIN.parent
                or "site-packages" in path.parts
            ):
                continue
            if path.is_relative_to(self._root):
                raise Unusable(f"{path} was imported from the tree, not from its copy")

    def _tail(self) -> str:
        return "\n".join(self._log.read_text(errors="replace").splitlines()[-15:])
