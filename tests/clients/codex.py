"""Codex CLI: the responses surface, with tools that are functions or code, as its own model catalogue says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.clients.client import PATIENCE_S, Answer, Stage, json_lines
from tests.clients.install import CODEX, Package
from tests.clients.sandbox import Ran, run

CONFIG = """\
model = "{model}"
model_provider = "candor"

[model_providers.candor]
name = "Candor"
base_url = "{url}/v1"
env_key = "CANDOR_KEY"
wire_api = "responses"
{retries}
"""
QUIET = """\
check_for_update_on_startup = false
analytics.enabled = false
feedback.enabled = false
"""
"""What it asks of servers that are not Candor, and cannot reach from here."""


@dataclass(frozen=True, slots=True)
class Codex:
    """One version of Codex with one model. ``retries`` are settings of its provider."""

    package: Package = CODEX
    model: str = "fake-agent"
    retries: Mapping[str, int] = field(default_factory=dict)
    shell: str = "exec_command"

    @property
    def name(self) -> str:
        """Program, version and model."""
        return f"{self.package.name} {self.model}"

    def ask(
        self,
        stage: Stage,
        prompt: str,
        *,
        resume: str = "",
        image: Path | None = None,
        schema: Mapping[str, Any] | None = None,
        timeout_s: float = PATIENCE_S,
    ) -> Answer:
        """``codex exec``, or ``codex exec resume`` of that session."""
        retries = "\n".join(f"{name} = {value}" for name, value in self.retries.items())
        (stage.home / "config.toml").write_text(
            QUIET + CONFIG.format(model=self.model, url=stage.url, retries=retries)
        )
        command = [str(self.package.path), "exec", "--json", "--skip-git-repo-check"]
        command.append("--dangerously-bypass-approvals-and-sandbox")
        if schema is not None:
            path = stage.home / "schema.json"
            path.write_text(json.dumps(schema))
            command += ["--output-schema", str(path)]
        if resume:
            command += ["resume", resume]
        if image is not None:
            command += ["-i", str(image)]
        command += ["--", prompt]
        environment = {"CODEX_HOME": str(stage.home), "HOME": str(stage.home), "CANDOR_KEY": stage.key}
        return read(run(command, folder=stage.work, environment=environment, timeout_s=timeout_s))


def read(ran: Ran) -> Answer:
    """The last message of the agent and the last error, from the events that ``--json`` prints."""
    text = error = session = ""
    for event in json_lines(ran.stdout):
        match event.get("type"):
            case "thread.started":
                session = event["thread_id"]
            case "item.completed" if event["item"]["type"] == "agent_message":
                text = event["item"]["text"]
            case "turn.completed":
                error = ""  # what was said before it was about tries that failed
            case "turn.failed":
                error = event["error"]["message"]
            case "error":
                error = event["message"]
    return Answer(ran, text, error, session)
