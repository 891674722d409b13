"""What a scenario sees: the client's answers, the exchanges it had with Candor, what reached the upstream."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from fake_upstream import FakeUpstream
from fake_upstream import scenarios as s
from tests.clients.client import Answer, Client, Stage
from tests.clients.recorder import Recorder

KEEP = "CANDOR_CLIENTS_KEEP"
"""The environment variable that names a folder for all exchanges as they were, for whoever looks into one."""

MODELS = Path(__file__).with_name("models.toml")


class World:
    """One scenario's surroundings. ``work`` is the folder that the client works in."""

    def __init__(self, fake: FakeUpstream, candor_url: str, folder: Path) -> None:
        self.fake = fake
        self.recorder = Recorder(candor_url)
        self.home = folder / "home"
        self.work = folder / "work"
        self.home.mkdir()
        self.work.mkdir()
        self.answers: list[Answer] = []
        self.client_name = ""

    def close(self, name: str) -> None:
        """Stop recording; where the environment names a folder to keep exchanges in, they go there."""
        self.recorder.close()
        if folder := os.environ.get(KEEP):
            kept = Path(folder)
            kept.mkdir(parents=True, exist_ok=True)
            for index, exchange in enumerate(self.recorder.exchanges):
                (kept / f"{re.sub('[^a-z0-9.-]+', '-', name.lower())}-{index}.json").write_text(
                    exchange.dump()
                )

    def stage(self, key: str | None = None) -> Stage:
        """Where a client runs, with another key than the right one if need be."""
        stage = Stage(self.home, self.work, self.recorder.url)
        return stage if key is None else Stage(self.home, self.work, self.recorder.url, key)

    def ask(self, client: Client, prompt: str, *, key: str | None = None, **options: Any) -> Answer:
        """Have ``client`` answer ``prompt``."""
        self.client_name = client.name
        answer = client.ask(self.stage(key), prompt, **options)
        self.answers.append(answer)
        return answer

    def succeed(self, client: Client, prompt: str, **options: Any) -> Answer:
        """The same for a prompt that must come to a good end."""
        answer = self.ask(client, prompt, **options)
        assert answer.exit_code == 0, f"{answer}\n{self.recorder}"
        assert not answer.error, f"{answer}\n{self.recorder}"
        return answer

    def script(self, *calls: tuple[str, dict[str, Any]], reasoning: str = "", text: str = "") -> None:
        """Have the model's next turn think, speak and make these calls, instead of what it would do by itself."""
        steps = [s.reasoning(reasoning)] if reasoning else []
        steps += [s.text(text)] if text else []
        for index, (name, arguments) in enumerate(calls):
            steps += [
                s.tool_call(index, f"call_scripted_{index}", name),
                s.tool_args(index, json.dumps(arguments)),
            ]
        self.fake.queue([*steps, s.usage(fresh=10, completion=10), s.finish(), s.end()])

    @property
    def statuses(self) -> list[int]:
        """The status of each turn that the client asked for."""
        return [exchange.status for exchange in self.recorder.turns]

    @property
    def captures(self) -> list[dict[str, Any]]:
        """What reached the upstream."""
        return self.fake.captures()

    @property
    def ignored(self) -> set[str]:
        """What Candor said it ignored, in all turns, without indices."""
        return {without_index(path) for turn in self.recorder.turns for path in turn.ignored}

    @property
    def emulated(self) -> set[str]:
        """What Candor said it emulated, in all turns, without indices."""
        return {without_index(path) for turn in self.recorder.turns for path in turn.emulated}

    def row(self) -> dict[str, Any]:
        """What the table says of it."""
        return {
            "client": self.client_name,
            "requests": len(self.recorder.turns),
            "captures": len(self.captures),
            "exit": "/".join(str(answer.exit_code) for answer in self.answers),
            "seconds": round(sum(answer.ran.seconds for answer in self.answers), 1),
        }


def without_index(path: str) -> str:
    """``tools[3].type`` -> ``tools[].type``."""
    return re.sub(r"\[\d+\]", "[]", path)


def calls_of(capture: dict[str, Any]) -> list[str]:
    """The names of the tools that were called in a captured history, in their order."""
    messages = capture["message"].get("messages", [])
    return [call["name"] for message in messages for call in message.get("tool_calls", [])]


def results_of(capture: dict[str, Any]) -> list[str]:
    """The texts of the tool results in a captured history, in their order."""
    messages = capture["message"].get("messages", [])
    return [message.get("text", "") for message in messages if message.get("source") == 4]


def images_of(capture: dict[str, Any]) -> list[str]:
    """The MIME types of the images in a captured history, in their order."""
    messages = capture["message"].get("messages", [])
    return [image["mime_type"] for message in messages for image in message.get("images", [])]
