"""`make run`: it comes up, says what to try, stops when asked, and refuses what cannot work."""

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
RUN_LOCAL = [sys.executable, "scripts/run_local.py"]


def free_ports() -> tuple[int, int]:
    """Two ports that nobody listens on."""
    with socket.socket() as one, socket.socket() as two:
        one.bind(("127.0.0.1", 0))
        two.bind(("127.0.0.1", 0))
        return one.getsockname()[1], two.getsockname()[1]


def environ(**switches: str) -> dict[str, str]:
    """This environment without what an outer make or an operator's shell put there."""
    ours = ("MAKE", "MFLAGS", "CANDOR_", "DEVIN_", "PORT", "FAKE_PORT", "PROMETHEUS_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {**kept, **switches}


def run_local(**switches: str) -> subprocess.CompletedProcess[str]:
    """Run to the end, which must come soon."""
    return subprocess.run(
        RUN_LOCAL, cwd=ROOT, env=environ(**switches), capture_output=True, text=True, timeout=60
    )


def status(port: int, path: str) -> int | None:
    """The status of a GET; None while nobody listens."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    except OSError:
        return None
    finally:
        connection.close()


def eventually(condition: Callable[[], bool], within_s: float = 60) -> bool:
    """Whether the condition comes true in time."""
    give_up = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > give_up:
            return False
        time.sleep(0.05)
    return True


@contextmanager
def started(
    command: list[str], log: Path, port: int, fake_port: int, **switches: str
) -> Iterator[subprocess.Popen[bytes]]:
    """The command, once it has said that Candor is ready; it is stopped on the way out."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environ(PORT=str(port), FAKE_PORT=str(fake_port), **switches),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        assert eventually(lambda: "Candor is ready" in log.read_text() or process.poll() is not None)
        assert process.poll() is None, log.read_text()
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(60)


def test_make_run_serves_candor_and_stops_both_servers_on_sigterm(tmp_path: Path) -> None:
    port, fake_port = free_ports()
    log = tmp_path / "log"
    with started(["make", "run"], log, port, fake_port) as make:
        assert status(port, "/readyz") == 200
        assert status(fake_port, "/_fake/health") == 200
        make.terminate()
        make.wait(60)
    assert eventually(lambda: status(port, "/readyz") is None, 10)
    assert eventually(lambda: status(fake_port, "/_fake/health") is None, 10)
    said = log.read_text()
    assert f"http://127.0.0.1:{port}/v1/chat/completions" in said
    assert f'OpenAI(base_url="http://127.0.0.1:{port}/v1"' in said
    assert f"curl http://127.0.0.1:{fake_port}/_fake/captures" in said


def test_make_run_takes_ports_from_its_command_line(tmp_path: Path) -> None:
    port, fake_port = free_ports()
    command = ["make", "run", f"PORT={port}", f"FAKE_PORT={fake_port}"]
    with started(command, tmp_path / "log", 1, 1):
        assert status(port, "/readyz") == 200
        assert status(fake_port, "/_fake/health") == 200


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_asked_to_stop_ends_with_code_zero(number: int, tmp_path: Path) -> None:
    port, fake_port = free_ports()
    with started(RUN_LOCAL, tmp_path / "log", port, fake_port) as run:
        run.send_signal(number)
        assert run.wait(60) == 0
    assert status(port, "/readyz") is None
    assert status(fake_port, "/_fake/health") is None


@pytest.mark.parametrize("victim", ["fake_upstream", "gunicorn"])
def test_when_one_server_dies_the_other_is_stopped_and_the_run_fails(victim: str, tmp_path: Path) -> None:
    port, fake_port = free_ports()
    log = tmp_path / "log"
    with started(RUN_LOCAL, log, port, fake_port, TMPDIR=str(tmp_path)) as run:
        children = subprocess.check_output(["ps", "-o", "pid=,args=", "--ppid", str(run.pid)], text=True)
        [child] = [line for line in children.splitlines() if victim in line]  # gunicorn may set its title
        os.kill(int(child.split()[0]), signal.SIGKILL)
        assert run.wait(60) == 1
    assert "stopped by itself" in log.read_text()
    assert eventually(lambda: status(port, "/readyz") is None, 10)
    assert eventually(lambda: status(fake_port, "/_fake/health") is None, 10)


@pytest.mark.parametrize("name", ["PORT", "FAKE_PORT"])
def test_a_busy_port_is_refused_at_once_and_named(name: str) -> None:
    port, fake_port = free_ports()
    ports = {"PORT": str(port), "FAKE_PORT": str(fake_port)}
    with socket.create_server(("127.0.0.1", int(ports[name]))):
        run = run_local(**ports)
    assert run.returncode == 1
    assert run.stdout == ""
    assert run.stderr == (
        f"candor: port {ports[name]} cannot be had (Address already in use); choose another with {name}=...\n"
    )


@pytest.mark.parametrize("value", ["0", "65536", "eighty", "-1", "8080 "])
def test_a_port_that_is_none_is_refused_and_named(value: str) -> None:
    run = run_local(PORT=value)
    assert run.returncode == 1
    assert run.stderr == f"candor: PORT must be a port from 1 to 65535, not {value!r}\n"


def test_one_port_for_both_servers_is_refused() -> None:
    port, _ = free_ports()
    run = run_local(PORT=str(port), FAKE_PORT=str(port))
    assert run.returncode == 1
    assert run.stderr == f"candor: PORT and FAKE_PORT are both {port}\n"


def test_a_bad_switch_fails_the_run_in_one_line_that_names_it() -> None:
    port, fake_port = free_ports()
    run = run_local(PORT=str(port), FAKE_PORT=str(fake_port), CANDOR_WORKERS="many")
    assert run.returncode == 1
    assert "CANDOR_WORKERS" in run.stderr
    assert "Traceback" not in run.stderr
    assert status(fake_port, "/_fake/health") is None


def test_make_alone_lists_what_there_is() -> None:
    listing = subprocess.check_output(["make"], cwd=ROOT, env=environ(), text=True)
    assert [line.split()[1] for line in listing.splitlines()] == [
        "help",
        "run",
        "test",
        "test-browser",
        "test-docs",
        "check",
        "proto",
        "bench",
        "clean",
        "evidence",
        "mutate",
        "mutate-all",
        "clients",
        "clients-quick",
    ]
