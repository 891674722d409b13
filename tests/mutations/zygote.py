"""A process that has imported the heavy packages once and forks for every run of tests: ``zygote.py MODULE...``

The runner starts it in a scratch copy, by path, so that it knows nothing of the tree. It reads one request a line,
``{"arguments": [...], "log": path, "patience_s": 60}``, and answers ``{"status": ...}``: pytest's exit status, or null
when the run had to be killed. A fork starts from a process without threads and without a module of the copy.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import sys
import time
from typing import Any

POLL_S = 0.01


def run(arguments: list[str], log: str) -> None:
    """In the child: run pytest with its words in ``log``, and leave at once, whatever threads are still there."""
    os.setpgid(0, 0)
    sink = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (sink, 1), (sink, 2)):
        os.dup2(source, target)
    status = 70
    try:
        import pytest

        status = int(pytest.main(arguments))
    finally:
        with contextlib.suppress(ValueError):
            sys.stdout.flush()
        os._exit(status)


def wait(child: int, patience_s: float) -> int | None:
    """The child's exit status; None when its patience was over, and it was killed with all it started."""
    give_up = time.monotonic() + patience_s
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > give_up:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return None
        time.sleep(POLL_S)


def main(modules: list[str]) -> None:
    """Import what is there of ``modules`` and serve requests until the input ends."""
    for module in modules:
        with contextlib.suppress(ImportError):
            importlib.import_module(module)
    for line in sys.stdin:
        request: dict[str, Any] = json.loads(line)
        child = os.fork()
        if child == 0:
            run(request["arguments"], request["log"])
        print(json.dumps({"status": wait(child, request["patience_s"])}), flush=True)


if __name__ == "__main__":
    sys.path[0] = os.getcwd()
    main(sys.argv[1:])
