"""What every probe needs: a fake upstream, Candor over it, and a record of what was seen.

A probe is a module with a ``TITLE`` and ``observe(start)``, which gives the lines of its record; ``start(**switches)``
starts a fake upstream and Candor with those switches. ``.venv/bin/python -m evidence NAME`` runs one (all without a
name) against Candor under gunicorn, prints what it saw and writes it to ``evidence/NAME.txt``. A test runs the same
probes with Candor in a thread and compares: what a probe reports holds no times, ids or ports.
"""

from __future__ import annotations

import contextlib
import datetime
import importlib.metadata
import platform
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import requests

from app import create_app
from app.settings import load
from fake_upstream import FakeUpstream
from tests.support.servers import ROOT, gunicorn, in_thread

PACKAGES = ("flask", "gunicorn", "requests", "protobuf")
MANY_TOKENS = 60
"""So many that every turn of a probe may spoil one."""


@dataclass
class Bench:
    """A fake upstream and a Candor that talks to it."""

    fake: FakeUpstream
    url: str

    def post(
        self, path: str, body: dict[str, Any] | bytes, headers: dict[str, str] | None = None
    ) -> requests.Response:
        """POST ``body`` to Candor: JSON, or bytes as they are."""
        sent: dict[str, Any] = {"data": body} if isinstance(body, bytes) else {"json": body}
        return self.ask("POST", path, headers=headers, **sent)

    def ask(self, method: str, path: str, **more: Any) -> requests.Response:
        """Any request to Candor, on a connection of its own."""
        return requests.request(method, f"{self.url}{path}", timeout=30, **more)

    def connect_metrics(self) -> dict[str, Any]:
        """Candor's connect counters, summed over workers."""
        page: dict[str, Any] = requests.get(f"{self.url}/connect-metrics", timeout=30).json()
        return page


Start = Callable[..., AbstractContextManager[Bench]]
"""``start(tokens=1, **switches)``."""


class Probe(Protocol):
    """A module of this folder that observes."""

    TITLE: str

    def observe(self, start: Start) -> list[str]:
        """The lines of the record, without its heading."""


def _switches(folder: Path, tokens: int, switches: dict[str, str]) -> dict[str, str]:
    if tokens > 1:
        rows = "".join(f'[[token]]\nname = "t{n}"\nsecret = "secret-{n}"\n' for n in range(tokens))
        (folder / "tokens.toml").write_text(rows)
        switches = {"DEVIN_CONNECT_TOKENS_FILE": str(folder / "tokens.toml"), **switches}
    return {"CANDOR_LOG_LEVEL": "ERROR", **switches}


@contextlib.contextmanager
def under_gunicorn(tokens: int = 1, **switches: str) -> Iterator[Bench]:
    """Start both, Candor under gunicorn; stop both at the end."""
    with tempfile.TemporaryDirectory() as name, FakeUpstream() as fake:
        folder = Path(name)
        with gunicorn(folder, fake.url, **_switches(folder, tokens, switches)) as candor:
            yield Bench(fake, candor.url)


@contextlib.contextmanager
def in_process(tokens: int = 1, **switches: str) -> Iterator[Bench]:
    """Start both in threads of this process."""
    with tempfile.TemporaryDirectory() as name, FakeUpstream() as fake:
        folder = Path(name)
        own = {"DEVIN_CONNECT_BASE_URL": fake.url, "CANDOR_STATE_DIR": str(folder / "var")}
        app = create_app(load({**own, **_switches(folder, tokens, switches)}))
        with in_thread(app) as url:
            yield Bench(fake, url)


def heading(title: str) -> list[str]:
    """Title, date, versions and commit of a record; a blank line ends it. Records that changed are no change."""
    commit = _git("rev-parse", "--short", "HEAD")
    if _git("status", "--porcelain", "--", ".", ":!evidence"):
        commit += " with changes"
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES)
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return [title, f"{today}, commit {commit}, Python {platform.python_version()}, {versions}", ""]


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def table(rows: list[tuple[str, ...]]) -> list[str]:
    """Rows in columns as wide as they must be."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def record(name: str, lines: list[str]) -> None:
    """Print ``lines`` and keep them in ``evidence/<name>.txt``."""
    text = "\n".join(lines) + "\n"
    print(text, end="")
    (ROOT / "evidence" / f"{name}.txt").write_text(text)


def recorded(name: str) -> list[str]:
    """What ``evidence/<name>.txt`` says below its heading."""
    _, _, body = (ROOT / "evidence" / f"{name}.txt").read_text().partition("\n\n")
    return body.splitlines()
