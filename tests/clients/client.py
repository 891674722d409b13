"""What a scenario asks of a client, whichever it is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from tests.clients.sandbox import Ran

KEY = "candor-client-key"
"""The one key that Candor knows in these scenarios."""

PATIENCE_S = 110
"""Seconds that a client may take for one prompt, unless its scenario says otherwise."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Where a client runs and whom it talks to: ``home`` holds its settings, ``work`` is the project folder."""

    home: Path
    work: Path
    url: str
    key: str = KEY


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a prompt: the final text, the error that the client showed, the session to resume."""

    ran: Ran
    text: str = ""
    error: str = ""
    session: str = ""

    @property
    def exit_code(self) -> int:
        """The client's exit code."""
        return self.ran.exit_code

    def __str__(self) -> str:
        return f"text={self.text!r}\nerror={self.error!r}\nsession={self.session!r}\n{self.ran}"


class Client(Protocol):
    """One client in one set-up."""

    @property
    def name(self) -> str:
        """What the table calls it."""

    @property
    def shell(self) -> str:
        """What its tool for commands is called on the wire."""

    def ask(self, stage: Stage, prompt: str, *, resume: str = "", timeout_s: float = PATIENCE_S) -> Answer:
        """Run ``prompt`` to its end; ``resume`` goes on with the session of an earlier answer."""


def json_lines(text: str) -> Iterator[dict[str, Any]]:
    """The objects of a stream of JSON lines; whatever else is printed between them is passed over."""
    for line in text.splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value


def json_object(text: str) -> dict[str, Any]:
    """The last JSON object that stands in ``text`` at the beginning of a line; ``{}`` without one."""
    decoder = json.JSONDecoder()
    found: dict[str, Any] = {}
    at = 0
    while at < len(text):
        line_end = text.find("\n", at)
        if text[at] == "{":
            try:
                value, end = decoder.raw_decode(text, at)
            except ValueError:
                pass
            else:
                found = value
                line_end = text.find("\n", end)
        if line_end < 0:
            break
        at = line_end + 1
    return found
