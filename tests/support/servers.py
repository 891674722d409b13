"""Real servers on loopback for tests: the app in a thread, and Candor under gunicorn."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import requests
from flask import Flask
from werkzeug.serving import make_server

ROOT = Path(__file__).resolve().parents[2]


@contextlib.contextmanager
def in_thread(app: Flask) -> Iterator[str]:
    """Serve ``app`` by threads of this process; yields its URL."""
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Gunicorn:
    """A running Candor: ``url``, the master's process and the file its log goes to."""

    url: str
    process: subprocess.Popen[bytes]
    log: Path

    def log_text(self) -> str:
        """Everything it has logged."""
        return self.log.read_text()


def candor_environment(**switches: str) -> dict[str, str]:
    """This process's environment without Candor's switches, plus ``switches``."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("CANDOR_", "DEVIN_CONNECT_", "PROMETHEUS_"))
    }
    return {**kept, **switches}


@contextlib.contextmanager
def gunicorn(folder: Path, upstream_url: str, **switches: str) -> Iterator[Gunicorn]:
    """Candor under gunicorn with ``switches``; state and log live in ``folder``."""
    port = free_port()
    log = folder / f"gunicorn-{port}.log"
    environment = candor_environment(
        CANDOR_BIND=f"127.0.0.1:{port}",
        CANDOR_STATE_DIR=str(folder / "var"),
        DEVIN_CONNECT_BASE_URL=upstream_url,
        **switches,
    )
    command = [sys.executable, "-m", "gunicorn", "-c", "gunicorn.conf.py", "wsgi:app"]
    with log.open("wb") as sink:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=sink, stderr=sink)
    running = Gunicorn(f"http://127.0.0.1:{port}", process, log)
    try:
        _await_ready(running)
        yield running
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(5)


def _await_ready(running: Gunicorn, patience_s: float = 30) -> None:
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        if running.process.poll() is not None:
            raise AssertionError(f"gunicorn ended at start-up:\n{running.log_text()}")
        with contextlib.suppress(requests.RequestException):
            if requests.get(f"{running.url}/readyz", timeout=2).ok:
                return
        time.sleep(0.05)
    raise AssertionError(f"gunicorn was not ready within {patience_s} s:\n{running.log_text()}")
