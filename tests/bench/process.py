"""Processes under measurement: started on a core, their CPU and memory read from /proc."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KEY = f"sk-{secrets.token_hex(32)}"
"""What callers present; every proxy checks it."""
TICKS = os.sysconf("SC_CLK_TCK")


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def tree(pid: int) -> list[int]:
    """``pid`` and all that descend from it."""
    pids = [pid]
    for parent in pids:
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{parent}/task").iterdir():
                pids += [int(child) for child in (task / "children").read_text().split()]
    return pids


def cpu_seconds(pid: int) -> float:
    """User and system time of ``pid`` and all that descend from it."""
    total = 0
    for each in tree(pid):
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
            total += int(fields[11]) + int(fields[12])
    return total / TICKS


def pss_bytes(pid: int) -> int:
    """Memory of ``pid`` and all that descend from it, shared pages divided among those who share them."""
    total = 0
    for each in tree(pid):
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{each}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1]) * 1024
    return total


@dataclass
class Server:
    """A started server."""

    name: str
    port: int
    process: subprocess.Popen[bytes]


def on_core(core: int | None) -> list[str]:
    """The command that keeps what follows on ``core``; nothing where that is not wanted or not possible."""
    possible = core is not None and shutil.which("taskset") and (os.cpu_count() or 1) > 1
    return ["taskset", "-c", str(core)] if possible else []


@contextlib.contextmanager
def started(
    name: str,
    command: Sequence[str],
    port: int,
    *,
    core: int | None,
    log: Path,
    environment: Mapping[str, str] | None = None,
    ready: str | None = None,
    patience_s: float = 30.0,
) -> Iterator[Server]:
    """Run ``command`` until the block ends. It is ready when ``port`` answers (200 at path ``ready``, if given)."""
    with log.open("wb") as sink:
        process = subprocess.Popen(
            [*on_core(core), *command],
            cwd=ROOT,
            env=dict(os.environ if environment is None else environment),
            stdout=sink,
            stderr=sink,
        )
    try:
        _await(process, port, ready, log, patience_s)
        yield Server(name, port, process)
    finally:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(5)


def _await(
    process: subprocess.Popen[bytes], port: int, ready: str | None, log: Path, patience_s: float
) -> None:
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 2) as probe:
            if ready is None:
                return
            probe.sendall(f"GET {ready} HTTP/1.0\r\nhost: 127.0.0.1\r\n\r\n".encode())
            if b" 200 " in probe.recv(100):
                return
        time.sleep(0.1)
    raise RuntimeError(f"not ready on {port}:\n{log.read_text()[-3000:]}")


def canned(folder: Path, core: int | None) -> contextlib.AbstractContextManager[Server]:
    """The canned upstream."""
    port = free_port()
    command = [sys.executable, "-m", "tests.bench.canned", str(port)]
    return started("direct", command, port, core=core, log=folder / "canned.log")


def candor(
    folder: Path, upstream: Server, core: int | None, workers: int = 1, app: str = "wsgi:app", **switches: str
) -> contextlib.AbstractContextManager[Server]:
    """Candor, or another ``app``, under gunicorn with Candor's defaults but for the number of workers."""
    port = free_port()
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("CANDOR_", "DEVIN_CONNECT_", "PROMETHEUS_"))
    }
    environment = {
        **kept,
        "CANDOR_BIND": f"127.0.0.1:{port}",
        "CANDOR_WORKERS": str(workers),
        "CANDOR_API_KEYS": KEY,
        "CANDOR_STATE_DIR": str(folder / "var"),
        "CANDOR_UNKNOWN_MODELS": "forward",
        "DEVIN_CONNECT_BASE_URL": f"http://127.0.0.1:{upstream.port}",
        **switches,
    }
    return started(
        "candor" if app == "wsgi:app" else app,
        [sys.executable, "-m", "gunicorn", "-c", "gunicorn.conf.py", app],
        port,
        core=core,
        log=folder / f"candor-{port}.log",
        environment=environment,
        ready="/readyz",
    )
