"""``python -m tests.clients.run quick|all [pytest arguments]``: install the clients and run them on loopback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence

from tests.clients import install
from tests.clients.sandbox import SandboxError, enter_loopback_namespace
from tests.clients.table import TABLE

AT_A_TIME = "2"

QUICK_S = 12 * 60
"""What the quick scenarios may take."""

_TO_END_S = 30


def main(arguments: list[str]) -> int:
    """Everything, or what is quick; the exit code is pytest's."""
    if not arguments or arguments[0] not in ("quick", "all"):
        print("usage: python -m tests.clients.run quick|all [pytest arguments]", file=sys.stderr)
        return 2
    which, rest = arguments[0], arguments[1:]
    quick = which == "quick"
    names = [package.name for package in install.PACKAGES if package.quick or not quick]
    if failed := install.main(names):
        return failed
    try:
        enter_loopback_namespace()
    except SandboxError as error:
        print(f"clients: {error}", file=sys.stderr)
        return 1
    command = [sys.executable, "-m", "pytest", "tests/clients", "-o", "python_files=scenario_*.py"]
    command += ["-n", AT_A_TIME, "--dist", "worksteal", "--timeout", "240", "-p", "no:cacheprovider"]
    if quick:
        command += ["-m", "quick"]
    elif not rest:
        os.environ[TABLE] = str(install.ROOT / "evidence" / "clients.txt")
    sys.stdout.flush()
    os.chdir(install.ROOT)
    return supervise([*command, *rest], QUICK_S if quick else None)


def supervise(command: Sequence[str], deadline_s: float | None) -> int:
    """The exit code of ``command``, or 1 when it is not done by the deadline and has to be stopped."""
    with subprocess.Popen(command) as process:
        try:
            return process.wait(deadline_s)
        except KeyboardInterrupt:
            return process.wait()  # it was interrupted, too, and has servers and clients to end
        except subprocess.TimeoutExpired:
            print(f"clients: not done after {deadline_s} s, so they are stopped", file=sys.stderr, flush=True)
        process.send_signal(signal.SIGINT)
        try:
            process.wait(_TO_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
