"""Gemini CLI: the generate_content surface."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tests.clients.client import PATIENCE_S, Answer, Stage, json_object
from tests.clients.install import GEMINI, NODE, Package
from tests.clients.sandbox import Ran, run

SETTINGS: dict[str, dict[str, Any]] = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "general": {"disableAutoUpdate": True, "enableAutoUpdate": False, "disableUpdateNag": True},
}


@dataclass(frozen=True, slots=True)
class Gemini:
    """Gemini CLI with one model; without one it asks its router, which is another request."""

    package: Package = GEMINI
    model: str = "fake-agent"
    attempts: int = 0
    shell: str = "run_shell_command"

    @property
    def name(self) -> str:
        """Program, version and model."""
        return f"{self.package.name} {self.model or 'default model'}"

    def ask(self, stage: Stage, prompt: str, *, resume: str = "", timeout_s: float = PATIENCE_S) -> Answer:
        """``gemini -p``, or ``gemini --resume`` of that session. ``attempts``: at most so many requests a turn."""
        settings = stage.home / ".gemini" / "settings.json"
        settings.parent.mkdir(parents=True, exist_ok=True)
        wanted = dict(SETTINGS)
        if self.attempts:
            wanted["general"] = {**SETTINGS["general"], "maxAttempts": self.attempts}
        settings.write_text(json.dumps(wanted))
        command = [str(NODE.path), str(self.package.path), "-p", prompt, "--yolo", "--output-format", "json"]
        if self.model:
            command += ["-m", self.model]
        if resume:
            command += ["--resume", "latest"]
        environment = {
            "HOME": str(stage.home),
            "GOOGLE_GEMINI_BASE_URL": stage.url,
            "GEMINI_API_KEY": stage.key,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }
        return read(run(command, folder=stage.work, environment=environment, timeout_s=timeout_s))


def read(ran: Ran) -> Answer:
    """The response or the error that ``--output-format json`` prints, the latter on standard error."""
    said = json_object(ran.stdout)
    error = said.get("error") or json_object(ran.stderr).get("error") or {}
    return Answer(ran, said.get("response") or "", error.get("message", ""), said.get("session_id", ""))
