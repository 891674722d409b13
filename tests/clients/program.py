"""Small programs that use a framework or an SDK, run like any client: each prints one JSON object."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.clients.client import PATIENCE_S, Answer, Stage, json_lines
from tests.clients.install import FRAMEWORKS, NODE, NODE_SDKS
from tests.clients.sandbox import Ran, run

FOLDER = Path(__file__).with_name("programs")


@dataclass(frozen=True, slots=True)
class Program:
    """One of ``programs/``, for one kind of surface."""

    file: str
    kind: str
    scenario: str
    shell: str = "run_shell"

    @property
    def name(self) -> str:
        """Program and kind of surface."""
        return f"{Path(self.file).stem} {self.kind}"

    def ask(self, stage: Stage, prompt: str, *, resume: str = "", timeout_s: float = PATIENCE_S) -> Answer:
        """Run it; what it asks is its own affair. Node finds packages beside a program, so it is copied there."""
        if self.file.endswith(".mjs"):
            path = NODE_SDKS.folder / self.file
            replace_copy(FOLDER / self.file, path)
            command = [str(NODE.path), str(path)]
        else:
            command = [str(FRAMEWORKS.path), str(FOLDER / self.file)]
        environment = {"HOME": str(stage.home), "CANDOR_URL": stage.url, "CANDOR_KEY": stage.key}
        command += [self.kind, self.scenario]
        return read(run(command, folder=stage.work, environment=environment, timeout_s=timeout_s))


def replace_copy(source: Path, target: Path) -> None:
    """Copy ``source`` over ``target`` at once: another process may be reading it."""
    copied = target.with_name(f".{os.getpid()}-{target.name}")
    shutil.copyfile(source, copied)
    copied.replace(target)


def said(answer: Answer) -> dict[str, Any]:
    """Everything that the program printed."""
    return next(json_lines(answer.ran.stdout), {})


def read(ran: Ran) -> Answer:
    """Text and error of what it printed."""
    printed = next(json_lines(ran.stdout), {})
    return Answer(ran, printed.get("text") or "", printed.get("message") or "")
