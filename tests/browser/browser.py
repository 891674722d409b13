"""A headless Chromium, spoken to by its DevTools protocol. Nothing is downloaded: the machine's own is used."""

from __future__ import annotations

import base64
import contextlib
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from websockets.sync.client import ClientConnection, connect

NAMES = ("chromium", "chromium-browser", "google-chrome")


class Page:
    """One tab."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._count = 0
        self.complaints: list[str] = []
        for domain in ("Page", "Runtime", "Log"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """One command and its result; what the page complains of on the way is kept."""
        self._count += 1
        self._socket.send(json.dumps({"id": self._count, "method": method, "params": params}))
        while True:
            message = json.loads(self._socket.recv(timeout=20))
            if message.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
                self.complaints.append(json.dumps(message["params"]))
            if message.get("id") == self._count:
                assert "error" not in message, message
                result: dict[str, Any] = message["result"]
                return result

    def open(self, url: str) -> None:
        """Go there and wait until it is loaded."""
        self.send("Page.navigate", url=url)
        self.wait(f"location.href.startsWith({json.dumps(url)}) && document.readyState === 'complete'")

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        answer = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def wait(self, script: str, within_s: float = 20) -> None:
        """Until the expression is true."""
        deadline = time.monotonic() + within_s
        while not self.run(script):
            assert time.monotonic() < deadline, f"never true: {script}"
            time.sleep(0.05)

    def type(self, text: str) -> None:
        """Type into whatever has the focus."""
        self.send("Input.insertText", text=text)

    def press(self, key: str, code: int) -> None:
        """Press and release a key."""
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    def screenshot(self, path: Path, width: int = 1300, height: int = 1000) -> None:
        """What the tab shows, as a PNG."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        path.write_bytes(base64.b64decode(self.send("Page.captureScreenshot")["data"]))


def chromium() -> str | None:
    """The browser's path, where there is one."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@contextlib.contextmanager
def open_page(program: str) -> Iterator[Page]:
    """A fresh browser with one tab, gone at the end."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [
            program,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--remote-debugging-port=0",
            f"--user-data-dir={profile}",
            "about:blank",
        ]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            with connect(_tab(_port(Path(profile), process)), max_size=1 << 26) as socket:
                yield Page(socket)
        finally:
            process.terminate()
            process.wait(10)


def _port(profile: Path, process: subprocess.Popen[bytes], within_s: float = 40) -> int:
    """The port that the browser writes down once it listens."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        assert process.poll() is None, "the browser ended at once"
        with contextlib.suppress(FileNotFoundError):
            lines = (profile / "DevToolsActivePort").read_text().splitlines()
            if len(lines) > 1:
                return int(lines[0])
        time.sleep(0.05)
    raise AssertionError("the browser does not listen")


def _tab(port: int, within_s: float = 20) -> str:
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        with urlopen(f"http://127.0.0.1:{port}/json/list", timeout=10) as reply:
            tabs = [tab for tab in json.load(reply) if tab["type"] == "page"]
        if tabs:
            return str(tabs[0]["webSocketDebuggerUrl"])
        time.sleep(0.05)
    raise AssertionError("the browser has no tab")
