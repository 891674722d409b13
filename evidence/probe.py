"""What every probe needs: a fake upstream, Candor under gunicorn, and a record of what it saw.

Run a probe from the top of the checkout: ``.venv/bin/python -m evidence.parallel_hint``. It prints what it saw and
writes the same to the file of its name that ends in ``.txt``.
"""

from __future__ import annotations

import contextlib
import datetime
import importlib.metadata
import platform
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

from fake_upstream import FakeUpstream
from tests.support.servers import ROOT, Gunicorn, gunicorn

PACKAGES = ("flask", "gunicorn", "requests", "protobuf")


@dataclass
class Bench:
    """A fake upstream and a Candor that talks to it."""

    fake: FakeUpstream
    candor: Gunicorn

    def post(
        self, path: str, body: dict[str, Any], headers: dict[str, str] | None = None
    ) -> requests.Response:
        """POST ``body`` to Candor."""
        return requests.post(f"{self.candor.url}{path}", json=body, headers=headers, timeout=30)

    def connect_metrics(self) -> dict[str, Any]:
        """Candor's connect counters, summed over workers."""
        page: dict[str, Any] = requests.get(f"{self.candor.url}/connect-metrics", timeout=30).json()
        return page


@contextlib.contextmanager
def bench(**switches: str) -> Iterator[Bench]:
    """Start both, with ``switches``; stop both at the end."""
    with (
        tempfile.TemporaryDirectory() as folder,
        FakeUpstream() as fake,
        gunicorn(Path(folder), fake.url, **switches) as candor,
    ):
        yield Bench(fake, candor)


def heading(title: str) -> list[str]:
    """Title, date, versions and commit of a record."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES)
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return [title, f"{today}, commit {commit}, Python {platform.python_version()}, {versions}", ""]


def record(name: str, lines: list[str]) -> None:
    """Print ``lines`` and keep them in ``evidence/<name>.txt``."""
    text = "\n".join(lines) + "\n"
    print(text, end="")
    (ROOT / "evidence" / f"{name}.txt").write_text(text)
