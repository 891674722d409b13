"""The real app over the real fake upstream, in one process: asks, and keeps all that could be seen of an answer."""

from __future__ import annotations

import contextlib
import json
import logging
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from flask import Flask

from app import create_app
from app.factory import of
from app.ledger import Ledger
from app.settings import load
from app.upstreams.connect import ConnectUpstream
from fake_upstream import FakeUpstream
from tests.truth.case import Case, replaced

SESSION_ID = "11111111-2222-4333-8444-555555555555"
SEAL_KEY = "key"
SURFACES = ("chat_completions", "responses", "messages", "generate_content")
PATHS = {
    "chat_completions": "/v1/chat/completions",
    "responses": "/v1/responses",
    "messages": "/v1/messages",
}
HOUSES: dict[str, dict[str, str]] = {
    "plain": {},
    "switched on": {
        "DEVIN_CONNECT_TOOL_CHOICE": "1",
        "DEVIN_CONNECT_REASONING": "1",
        "DEVIN_CONNECT_PROMPT_CACHE": "1",
        "CANDOR_SESSION_FROM": "caller",
    },
}
"""The connect upstream as it is by default, and with every switch that adds a feature."""
LOCAL = "local"
"""The house whose upstream carries text and nothing else: every feature is missing there."""


@dataclass(frozen=True)
class Answer:
    """What came back, and what could be seen of it behind and beside."""

    status: int
    headers: dict[str, str]
    text: str
    captures: list[dict[str, Any]]
    warnings: list[dict[str, Any]] = field(default_factory=list)

    @property
    def body(self) -> Any:
        """The JSON of a reply that is not a stream."""
        return json.loads(self.text)

    @property
    def ignored(self) -> list[str]:
        """The paths of ``x-candor-ignored``."""
        return _paths(self.headers.get("x-candor-ignored", ""))

    @property
    def emulated(self) -> list[str]:
        """The paths of ``x-candor-emulated``."""
        return _paths(self.headers.get("x-candor-emulated", ""))

    @property
    def wire(self) -> dict[str, Any]:
        """The one message that the upstream parsed."""
        assert self.status == 200, self.text
        (capture,) = self.captures
        assert capture["unknown_fields"] == []
        message: dict[str, Any] = capture["message"]
        return message

    @property
    def frames(self) -> list[Any]:
        """The JSON of every ``data:`` line of a stream."""
        lines = [line[6:] for line in self.text.splitlines() if line.startswith("data: ")]
        return [json.loads(line) for line in lines if line != "[DONE]"]


def _paths(header: str) -> list[str]:
    return header.split(", ") if header else []


class _Listener(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[dict[str, Any]] = []

    def emit(self, record: logging.LogRecord) -> None:
        line = json.loads(record.getMessage())
        if line["level"] == "WARNING":
            self.lines.append(line)


class Stage:
    """One app per house, all over one fake upstream."""

    def __init__(self, fake: FakeUpstream, folder: Path) -> None:
        self.fake = fake
        self.apps = {name: _app(fake, folder / name, switches) for name, switches in HOUSES.items()}
        self._listeners = {name: _listen(app) for name, app in self.apps.items()}

    def ledger(self, surface: str) -> Ledger:
        """The ledger that the app goes by."""
        return of(self.apps["plain"]).surfaces[surface].ledger

    def ask(
        self, surface: str, case: Case, *, house: str = "plain", stream: bool = False, strict: bool = False
    ) -> Answer:
        """Send ``case``. ``house`` may be "local", for the upstream that carries nothing but text."""
        if house == LOCAL:
            case = replace(case, model="local-echo")
            house = "plain"
        app = self.apps[house]
        if case.first is not None:
            case = self._after(app, surface, case)
        self.fake.clear()
        heard = self._listeners[house]
        heard.lines.clear()
        url, body = request_of(surface, case, stream=stream)
        headers = {**case.headers, **({"prefer": "handling=strict"} if strict else {})}
        for queued in case.scenario:
            self.fake.queue(queued)
        reply = app.test_client().post(url, json=body, headers=headers, query_string=case.query)
        text = reply.get_data(as_text=True)
        sent = {name.lower(): value for name, value in reply.headers.items()}
        return Answer(reply.status_code, sent, text, self.fake.captures(), list(heard.lines))

    def _after(self, app: Flask, surface: str, case: Case) -> Case:
        """``case`` once its first request has been answered."""
        reply = app.test_client().post(PATHS[surface], json=case.first)
        assert reply.status_code == 200, reply.get_data(as_text=True)
        body = reply.get_json()
        found = body["id"] if case.sample == "id" else body["output"][0]["id"]
        place = case.path.replace(".type", ".id")
        return replace(case, body=replaced(case.body, place, found))

    def get(self, path: str, house: str = "plain") -> Answer:
        """What a GET answers."""
        reply = self.apps[house].test_client().get(path)
        return Answer(reply.status_code, dict(reply.headers), reply.get_data(as_text=True), [])

    def with_switches(self, surface: str, case: Case, **switches: str) -> Answer:
        """The answer of an app of its own, made for this one question."""
        with tempfile.TemporaryDirectory() as folder:
            app = _app(self.fake, Path(folder), switches)
            self.fake.clear()
            url, body = request_of(surface, case, stream=False)
            reply = app.test_client().post(url, json=body, query_string=case.query)
            _close(app)
        sent = {name.lower(): value for name, value in reply.headers.items()}
        return Answer(reply.status_code, sent, reply.get_data(as_text=True), self.fake.captures())

    def forget_warnings(self, house: str = "plain") -> None:
        """As in a process that has warned of nothing yet."""
        of(self.apps[house]).services.accounts._warned.clear()

    def ignored_count(self, surface: str, label: str, house: str = "plain") -> float:
        """``parameters_ignored_total{surface,parameter}``."""
        registry = of(self.apps[house]).services.metrics.parameters_ignored
        return float(registry.labels(surface, label)._value.get())

    def close(self) -> None:
        """Close the upstreams' connections."""
        for app in self.apps.values():
            _close(app)


def request_of(surface: str, case: Case, *, stream: bool) -> tuple[str, dict[str, Any]]:
    """(path, body) of a case's request."""
    body = dict(case.body)
    if surface == "generate_content":
        method = "streamGenerateContent" if stream else "generateContent"
        return f"/v1beta/models/{case.model}:{method}", body
    if not str(body.get("model", "")).startswith("fake-") or case.model == "local-echo":
        body["model"] = case.model
    if stream:
        body["stream"] = True
    return PATHS[surface], body


def _app(fake: FakeUpstream, folder: Path, switches: dict[str, str]) -> Flask:
    environment = {
        "DEVIN_CONNECT_BASE_URL": fake.url,
        "CANDOR_STATE_DIR": str(folder),
        "CANDOR_LOG_LEVEL": "WARNING",
        "CANDOR_SEAL_KEY": SEAL_KEY,
        **switches,
    }
    return create_app(load(environment), new_session_id=lambda: SESSION_ID)


def _close(app: Flask) -> None:
    upstream = of(app).services.upstreams["connect"]
    assert isinstance(upstream, ConnectUpstream)
    upstream.close()


def _listen(app: Flask) -> _Listener:
    listener = _Listener()
    logger = of(app).services.log.logger
    logger.handlers[:] = [listener]
    return listener


@contextlib.contextmanager
def stage(folder: Path) -> Iterator[Stage]:
    """A stage with a fake upstream of its own."""
    with FakeUpstream() as fake:
        made = Stage(fake, folder)
        try:
            yield made
        finally:
            made.close()
