"""gunicorn.conf.py: it takes the switches, gives every master fresh metrics, and stops on a bad value."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
GUNICORN = [sys.executable, "-m", "gunicorn", "--config", "gunicorn.conf.py"]

SHOW_CONFIGURATION = """
import json, sys
sys.argv = ["gunicorn"]
from gunicorn.app.wsgiapp import WSGIApplication
settings = WSGIApplication().cfg.settings
print(json.dumps({name: setting.get() for name, setting in settings.items()}, default=repr))
"""

SHOW_METRICS_DIRECTORY = """
import os

def app(environ, start_response):
    start_response("200 OK", [])
    return [os.environ["PROMETHEUS_MULTIPROC_DIR"].encode()]
"""


def environ(tmp_path: Path, **switches: str) -> dict[str, str]:
    """This environment without an operator's switches; temporary files go where the test sees them."""
    ours = ("CANDOR_", "DEVIN_", "PROMETHEUS_", "GUNICORN_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {**kept, "TMPDIR": str(tmp_path), **switches}


def configuration(tmp_path: Path, **switches: str) -> dict[str, Any]:
    """What gunicorn makes of the file, without starting a server."""
    command = [sys.executable, "-c", SHOW_CONFIGURATION]
    text = subprocess.check_output(command, cwd=ROOT, env=environ(tmp_path, **switches), text=True)
    shown: dict[str, Any] = json.loads(text)
    return shown


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A master with this configuration over an app that tells its metrics directory, and its port."""
    (tmp_path / "show_metrics.py").write_text(SHOW_METRICS_DIRECTORY)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    master = subprocess.Popen(
        [*GUNICORN, "--pythonpath", str(tmp_path), "show_metrics:app"],
        cwd=ROOT,
        env=environ(
            tmp_path,
            CANDOR_BIND=f"127.0.0.1:{port}",
            CANDOR_DRAIN_S="5",
            PROMETHEUS_MULTIPROC_DIR="/inherited",
        ),
    )
    try:
        yield master, port
    finally:
        if master.poll() is None:
            master.terminate()
            master.wait(30)


def get(port: int, headers: dict[str, str] | None = None) -> tuple[int, str]:
    """GET / as soon as somebody listens."""
    for _ in range(400):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        try:
            connection.request("GET", "/", headers=headers or {})
            reply = connection.getresponse()
            return reply.status, reply.read().decode()
        except ConnectionError:
            time.sleep(0.05)
        finally:
            connection.close()
    raise AssertionError(f"nobody listens on {port}")


def test_the_defaults_are_the_measured_ones(tmp_path: Path) -> None:
    shown = configuration(tmp_path)
    assert shown["wsgi_app"] == "wsgi:app"
    assert shown["bind"] == ["127.0.0.1:8080"]
    assert (shown["worker_class"], shown["workers"], shown["threads"]) == ("app.worker.Worker", 2, 300)
    assert (shown["keepalive"], shown["backlog"], shown["graceful_timeout"]) == (75, 4096, 33)
    assert shown["accesslog"] is None
    assert shown["control_socket_disable"] is True
    assert shown["preload_app"] is False


def test_the_switches_reach_gunicorn(tmp_path: Path) -> None:
    shown = configuration(
        tmp_path,
        CANDOR_BIND="127.0.0.2:9000",
        CANDOR_WORKERS="3",
        CANDOR_THREADS="2000",
        CANDOR_DRAIN_S="2.5",
        CANDOR_LOG_LEVEL="WARNING",
    )
    assert shown["bind"] == ["127.0.0.2:9000"]
    assert (shown["workers"], shown["threads"], shown["graceful_timeout"]) == (3, 2000, 6)
    assert shown["worker_connections"] > shown["threads"]
    assert shown["loglevel"] == "warning"


@pytest.mark.parametrize(
    ("switch", "value"),
    [
        ("CANDOR_WORKERS", "many"),
        ("CANDOR_THREADS", "0"),
        ("CANDOR_DRAIN_S", "-1"),
        ("CANDOR_HANDLING", "kind"),
    ],
)
def test_a_bad_value_stops_the_start_in_one_line_that_names_the_switch(
    switch: str, value: str, tmp_path: Path
) -> None:
    run = subprocess.run(
        GUNICORN,
        cwd=ROOT,
        env=environ(tmp_path, **{switch: value}),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.returncode == 1
    assert run.stdout == ""
    [line] = run.stderr.splitlines()
    assert line.startswith("candor: ")
    assert switch in line
    assert list(tmp_path.iterdir()) == []


def test_each_master_has_fresh_metrics_over_reloads_and_removes_them(
    server: tuple[subprocess.Popen[bytes], int],
) -> None:
    master, port = server
    _, directory = get(port)
    assert Path(directory).name.startswith(f"candor-metrics-{master.pid}-")
    assert Path(directory).is_dir()

    master.send_signal(signal.SIGHUP)
    time.sleep(1)
    assert {get(port)[1] for _ in range(10)} == {directory}

    master.terminate()
    assert master.wait(30) == 0
    assert not Path(directory).exists()


def test_long_header_fields_are_taken(server: tuple[subprocess.Popen[bytes], int]) -> None:
    _, port = server
    assert get(port, {"x-long": "x" * 60_000})[0] == 200


def test_a_value_that_only_the_app_can_judge_stops_the_start_too(tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        bind = f"127.0.0.1:{probe.getsockname()[1]}"
    switches = {"CANDOR_BIND": bind, "CANDOR_WORKERS": "1", "CANDOR_STRICT_PARAMETERS": "no_such_row"}
    run = subprocess.run(
        GUNICORN, cwd=ROOT, env=environ(tmp_path, **switches), capture_output=True, text=True, timeout=60
    )
    assert run.returncode != 0
    assert [line for line in run.stderr.splitlines() if line.startswith("candor: ")] != []
    assert "CANDOR_STRICT_PARAMETERS" in run.stderr
    assert "Traceback" not in run.stderr
