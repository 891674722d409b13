"""Candor over a fake upstream, both on loopback, in the foreground: what ``make run`` starts.

PORT and FAKE_PORT choose the ports; every other switch reaches Candor from the environment. Ctrl-C or
SIGTERM stops both servers, a second one does not wait for running turns. If either server ends by itself,
the other is stopped and the exit code is 1.
"""

import contextlib
import http.client
import math
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).resolve().parent.parent
HOST = "127.0.0.1"
READY_WITHIN_S = 30.0
POLL_S = 0.05
ECHO_S = 0.3

TO_TRY = """
Candor is ready on http://{host}:{port}, over a fake upstream. Three things to try:

1. Stream an answer:

   curl -N http://{host}:{port}/v1/chat/completions \\
     -H 'authorization: Bearer {key}' -H 'content-type: application/json' \\
     -d '{{"model":"fake-echo","stream":true,"messages":[{{"role":"user","content":"Hello, Candor"}}]}}'

2. The same from Python, after `pip install openai`:

   from openai import OpenAI
   client = OpenAI(base_url="http://{host}:{port}/v1", api_key="{key}")
   reply = client.chat.completions.create(
       model="fake-echo", messages=[{{"role": "user", "content": "Hello, Candor"}}]
   )
   print(reply.choices[0].message.content)

3. See what reached the upstream, decoded from its bytes:

   curl http://{host}:{fake_port}/_fake/captures

Ctrl-C stops both servers.
"""


class Failed(Exception):
    """The run cannot start or go on; the text says why."""


class Stop:
    """How often the operator has asked to stop. Ctrl-C and SIGTERM count alike; an echo does not count.

    An echo: a signal to the whole process group reaches us directly and once more from ``make``.
    """

    def __init__(self) -> None:
        self.times = 0
        self._last = 0.0
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._ask)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if now - self._last > ECHO_S:
            self.times += 1
        self._last = now


class Server:
    """One child process. It has a process group of its own, so that a Ctrl-C reaches it only through us."""

    def __init__(self, name: str, module: list[str], environ: Mapping[str, str], patience_s: float) -> None:
        self.name = name
        self._patience_s = patience_s
        self._process = subprocess.Popen(
            [sys.executable, "-m", *module], cwd=ROOT, env=environ, process_group=0
        )

    def check(self) -> None:
        """Raise when the server has ended by itself."""
        if (code := self._process.poll()) is not None:
            raise Failed(f"{self.name} stopped by itself (exit code {code})")

    def wait_until_ready(self, port: int, path: str, stop: Stop) -> None:
        """Return when ``GET path`` answers 200, or when the operator asks to stop."""
        give_up = time.monotonic() + READY_WITHIN_S
        while not stop.times and not answers(port, path):
            self.check()
            if time.monotonic() > give_up:
                raise Failed(f"{self.name} did not answer {path} within {READY_WITHIN_S:g} s")
            time.sleep(POLL_S)

    def end(self, stop: Stop) -> None:
        """Ask the server to end; when the operator asks twice, or its patience is over, kill it."""
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        give_up = time.monotonic() + self._patience_s
        while self._process.poll() is None:
            if stop.times > 1 or time.monotonic() > give_up:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
                return
            time.sleep(POLL_S)


def answers(port: int, path: str) -> bool:
    """Whether ``GET path`` is a 200."""
    connection = http.client.HTTPConnection(HOST, port, timeout=5)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def chosen_port(name: str, default: int) -> int:
    """The port that the environment names, if it can be had."""
    text = os.environ.get(name) or str(default)
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 65535:
        raise Failed(f"{name} must be a port from 1 to 65535, not {text!r}")
    port = int(text)
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise Failed(
                f"port {port} cannot be had ({error.strerror}); choose another with {name}=..."
            ) from None
    return port


@contextlib.contextmanager
def running(server: Server, stop: Stop) -> Iterator[Server]:
    """The server, which is ended on the way out whatever happened."""
    try:
        yield server
    finally:
        server.end(stop)


def run(stop: Stop) -> None:
    """Start both servers, say so, and stay until the operator asks to stop."""
    port = chosen_port("PORT", 8080)
    fake_port = chosen_port("FAKE_PORT", 4010)
    if port == fake_port:
        raise Failed(f"PORT and FAKE_PORT are both {port}")
    environ = {
        **os.environ,
        "CANDOR_BIND": f"{HOST}:{port}",
        "DEVIN_CONNECT_BASE_URL": f"http://{HOST}:{fake_port}",
        "DEVIN_CONNECT_TOKEN": os.environ.get("DEVIN_CONNECT_TOKEN") or "dev-token",
    }
    fake_module = ["fake_upstream", "--host", HOST, "--port", str(fake_port)]
    fake = Server("the fake upstream", fake_module, environ, patience_s=5)
    with running(fake, stop):
        fake.wait_until_ready(fake_port, "/_fake/health", stop)
        if stop.times:
            return
        gunicorn_module = ["gunicorn", "--config", "gunicorn.conf.py"]
        candor = Server("gunicorn", gunicorn_module, environ, patience_s=math.inf)  # CANDOR_DRAIN_S bounds it
        with running(candor, stop):
            candor.wait_until_ready(port, "/readyz", stop)
            if not stop.times:
                key = "YOUR-KEY" if os.environ.get("CANDOR_API_KEYS") else "any"
                print(TO_TRY.format(host=HOST, port=port, fake_port=fake_port, key=key), flush=True)
            while not stop.times:
                fake.check()
                candor.check()
                time.sleep(POLL_S)


def main() -> int:
    """Run until asked to stop; the exit code is 0 then, and 1 when something failed."""
    try:
        run(Stop())
    except Failed as failure:
        print(f"candor: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
