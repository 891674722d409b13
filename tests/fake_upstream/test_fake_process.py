"""``python -m fake_upstream``, as a process."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import requests

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def start():
    running = []

    def start(*arguments):
        process = subprocess.Popen(
            [sys.executable, "-m", "fake_upstream", *arguments],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        return process

    yield start
    for process in running:
        process.kill()
        process.communicate(timeout=5)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_prints_its_url_serves_and_stops_at_once(start, number):
    process = start("--port", "0", "--tokens", "a,b")
    line = process.stdout.readline()
    url = re.fullmatch(r"fake upstream listening on (http://127\.0\.0\.1:\d+)\n", line)[1]
    with requests.Session() as session:
        assert session.get(f"{url}/_fake/health", timeout=5).status_code == 200
        headers = {"content-type": "application/connect+proto", "authorization": "Bearer c"}
        rpc = f"{url}/exa.api_server_pb.ApiServerService/GetChatMessage"
        assert session.post(rpc, data=b"", headers=headers, timeout=5).status_code == 401
        asked = time.monotonic()
        os.kill(process.pid, number)
        assert process.wait(timeout=5) == 0
        assert time.monotonic() - asked < 2
    assert process.stdout.read() == ""
    assert process.stderr.read() == ""


def test_an_occupied_port_is_one_line_and_exit_1(start):
    first = start("--port", "0")
    port = first.stdout.readline().rsplit(":", 1)[1].strip()
    second = start("--port", port)
    out, err = second.communicate(timeout=10)
    assert (second.returncode, out) == (1, "")
    assert err.startswith(f"cannot listen on 127.0.0.1:{port}: ")
    assert err.count("\n") == 1
