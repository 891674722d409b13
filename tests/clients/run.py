"""``python -m tests.clients.run quick|all [pytest arguments]``: install the clients and run them on loopback."""

from __future__ import annotations

import os
import sys

from tests.clients import install
from tests.clients.sandbox import SandboxError, enter_loopback_namespace
from tests.clients.table import TABLE

AT_A_TIME = "2"


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
    os.execv(sys.executable, [*command, *rest])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
