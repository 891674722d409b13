"""What the README and the docs show is what happens: every command runs, and prints what its page says.

Each page has a Candor over a fake upstream of its own, started as ``make run`` does, on free ports. Ids, times and the
version of curl may differ, and white space.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, Block, blocks, commands
from tests.support.servers import ROOT, candor_environment, free_port

WITH_COMMANDS = [page for page in PAGES if commands(page.read_text())]
REQUEST = bytes.fromhex("0a0b1a096465762d746f6b656e1a0910011a0568656c6c6f5801aa01016d")
"""What docs/FAKE-UPSTREAM.md sends from a file: a message with #11 for the model ``m``."""
VOLATILE = [
    (re.compile(r"\b(req|resp|msg|rs|fc|call|chatcmpl)([_-])[A-Za-z0-9]{6,}"), r"\1\2ID"),
    (re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "UUID"),
    (re.compile(r'"(created|created_at|completed_at|since)": ?\d+(\.\d+)?'), r'"\1":TIME'),
    (re.compile(r"curl/\d+(\.\d+)+"), "curl/VERSION"),
    (re.compile(r"\s+"), ""),
]


@dataclass(frozen=True)
class Running:
    """What ``make run`` started."""

    port: int
    fake_port: int
    folder: Path

    def shell(self, command: str) -> str:
        """Run ``command`` as a reader would, and return what it prints, with the ports that the docs have."""
        command = command.replace(":8080", f":{self.port}").replace(":4010", f":{self.fake_port}")
        command = command.replace(".venv/bin/python", sys.executable)
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-c", f"set -o pipefail\n{command}"],
            cwd=self.folder,
            env=candor_environment(PATH=path, PYTHONPATH=str(ROOT)),
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout.replace(f":{self.port}", ":8080").replace(f":{self.fake_port}", ":4010")


def plain(text: str) -> str:
    """``text`` without what differs from run to run."""
    for pattern, replacement in VOLATILE:
        text = pattern.sub(replacement, text)
    return text


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[], Running]]:
    """Start what ``make run`` starts, on free ports."""
    with contextlib.ExitStack() as stack:
        yield lambda: stack.enter_context(_run(tmp_path))


@contextlib.contextmanager
def _run(folder: Path) -> Iterator[Running]:
    running = Running(free_port(), free_port(), folder)
    environ = candor_environment(
        PORT=str(running.port),
        FAKE_PORT=str(running.fake_port),
        CANDOR_STATE_DIR=str(folder / "var"),
        CANDOR_LOG_LEVEL="ERROR",
        PYTHONUNBUFFERED="1",
    )
    process = subprocess.Popen(
        [sys.executable, "scripts/run_local.py"],
        cwd=ROOT,
        env=environ,
        stdout=subprocess.PIPE,
        text=True,
        process_group=0,
    )
    assert process.stdout is not None
    try:
        ready = any(line.startswith("Candor is ready") for line in iter(process.stdout.readline, ""))
        assert ready, "it ended before it was ready"
        yield running
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)
        process.stdout.close()


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda page: page.name)
def test_every_command_prints_what_the_page_shows(page: Path, start: Callable[[], Running]) -> None:
    running = start()
    (running.folder / "request.bin").write_bytes(b"\0" + len(REQUEST).to_bytes(4, "big") + REQUEST)
    for command in commands(page.read_text()):
        printed = running.shell(command.command)
        assert plain(printed) == plain(command.prints), f"{page.name}:{command.line}"


def tour() -> tuple[Block, Block]:
    """The README's Python program and the block that shows what it prints."""
    found = list(blocks((ROOT / "README.md").read_text()))
    position = next(number for number, block in enumerate(found) if block.language == "python")
    return found[position], found[position + 1]


def test_the_tour_of_the_readme_prints_what_it_shows(start: Callable[[], Running]) -> None:
    program, shown = tour()
    running = start()
    (running.folder / "tour.py").write_text(program.text.replace(":8080", f":{running.port}"))
    assert plain(running.shell("python tour.py")) == plain(shown.text)


def test_the_pages_with_commands_are_found() -> None:
    names = {page.name for page in WITH_COMMANDS}
    assert {"README.md", "FAKE-UPSTREAM.md", "METRICS.md", "CALIBRATION.md"} <= names


def test_a_command_runs_on_over_its_quotes_and_backslashes() -> None:
    page = "```console\n$ a 'b\nc' \\\n  d\nsaid\n\n$ e\n```\n"
    assert [(each.line, each.command, each.prints) for each in commands(page)] == [
        (2, "a 'b\nc' \\\n  d", "said\n"),
        (7, "e", ""),
    ]
