"""opencode: one program, four provider kinds, so all four surfaces."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tests.clients.client import PATIENCE_S, Answer, Stage, json_lines
from tests.clients.install import OPENCODE, Package
from tests.clients.sandbox import Ran, run

KINDS = {
    "@ai-sdk/openai-compatible": "/v1",
    "@ai-sdk/openai": "/v1",
    "@ai-sdk/anthropic": "/v1",
    "@ai-sdk/google": "/v1beta",
}
"""What follows Candor's address in the base URL, by provider kind."""


def configuration(kind: str, model: str, url: str, key: str, *, thinks: bool = False) -> dict[str, Any]:
    """What ``opencode.json`` says. ``thinks``: the model has variants that think harder."""
    offered: dict[str, Any] = {
        "tool_call": True,
        "attachment": True,
        "modalities": {"input": ["text", "image"], "output": ["text"]},
        "limit": {"context": 200000, "output": 8192},
    }
    if thinks:
        offered["reasoning"] = True
    options = {"baseURL": url + KINDS[kind], "apiKey": key}
    return {"provider": {"candor": {"npm": kind, "options": options, "models": {model: offered}}}}


@dataclass(frozen=True, slots=True)
class OpenCode:
    """opencode with one provider kind."""

    kind: str = "@ai-sdk/openai-compatible"
    package: Package = OPENCODE
    model: str = "fake-agent"
    titled: bool = True
    variant: str = ""
    shell: str = "bash"

    @property
    def name(self) -> str:
        """Program, version and provider kind."""
        return f"{self.package.name} {self.kind}"

    def ask(self, stage: Stage, prompt: str, *, resume: str = "", timeout_s: float = PATIENCE_S) -> Answer:
        """``opencode run``. ``titled``: the session has its title, so no request asks a model for one."""
        config = configuration(self.kind, self.model, stage.url, stage.key, thinks=bool(self.variant))
        (stage.work / "opencode.json").write_text(json.dumps(config))
        command = [str(self.package.path), "run", "--format", "json", "--model", f"candor/{self.model}"]
        if self.variant:
            command += ["--variant", self.variant]
        if self.titled:
            command += ["--title", "t"]
        if resume:
            command += ["--session", resume]
        command.append(prompt)
        environment = {
            "HOME": str(stage.home),
            **{
                f"XDG_{name}_HOME": str(stage.home / name.lower())
                for name in ("CONFIG", "DATA", "CACHE", "STATE")
            },
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
        }
        return read(run(command, folder=stage.work, environment=environment, timeout_s=timeout_s))


def read(ran: Ran) -> Answer:
    """The last text and the last error, from the events that ``--format json`` prints."""
    text = error = session = ""
    for event in json_lines(ran.stdout):
        session = event.get("sessionID", session)
        match event.get("type"):
            case "text":
                text = event["part"]["text"]
            case "error":
                data = event["error"].get("data") or {}
                error = data.get("message") or event["error"].get("name", "")
    return Answer(ran, text, error, session)
