"""Claude Code: the messages surface."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.clients.client import PATIENCE_S, Answer, Stage, json_object
from tests.clients.install import CLAUDE, Package
from tests.clients.sandbox import Ran, run


@dataclass(frozen=True, slots=True)
class Claude:
    """Claude Code with one model. ``environment`` is its own way of being set up."""

    package: Package = CLAUDE
    model: str = "fake-agent"
    environment: Mapping[str, str] = field(default_factory=dict)
    fallback_model: str = ""
    shell: str = "Bash"

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
        schema: Mapping[str, Any] | None = None,
        timeout_s: float = PATIENCE_S,
    ) -> Answer:
        """``claude -p``, which goes on with the folder's last session when there is one to resume."""
        command = [str(self.package.path), "-p", prompt, "--output-format", "json", "--model", self.model]
        command.append("--dangerously-skip-permissions")
        if self.fallback_model:
            command += ["--fallback-model", self.fallback_model]
        if schema is not None:
            command += ["--json-schema", json.dumps(schema)]
        if resume:
            command.append("--continue")
        environment = {
            "HOME": str(stage.home),
            "CLAUDE_CONFIG_DIR": str(stage.home),
            "ANTHROPIC_BASE_URL": stage.url,
            "ANTHROPIC_API_KEY": stage.key,
            "IS_SANDBOX": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            **self.environment,
        }
        return read(run(command, folder=stage.work, environment=environment, timeout_s=timeout_s))


def read(ran: Ran) -> Answer:
    """The result that ``--output-format json`` prints; a structured one as JSON text."""
    said = json_object(ran.stdout)
    text = said.get("result", "")
    if said.get("structured_output") is not None:
        text = json.dumps(said["structured_output"])
    failed = said.get("is_error", False)
    return Answer(ran, "" if failed else text, text if failed else "", said.get("session_id", ""))
