"""A network namespace with nothing but loopback, and programs that run in it with an environment of their own."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_CLONE_NEWUSER, _CLONE_NEWNET = 0x1000_0000, 0x4000_0000
_SIOCGIFFLAGS, _SIOCSIFFLAGS = 0x8913, 0x8914
_IFF_UP = 1
_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"


class SandboxError(RuntimeError):
    """The namespace cannot be made; the text says what is missing."""


def enter_loopback_namespace() -> None:
    """Move this process, and whatever it starts, into a new network namespace whose only interface is loopback.

    Without the right to make one, a user namespace is tried around it. Raises SandboxError when both fail.
    """
    user, group = os.getuid(), os.getgid()
    problem = _unshare(_CLONE_NEWNET)
    if problem == errno.EPERM:
        problem = _unshare(_CLONE_NEWUSER | _CLONE_NEWNET) or _become_root_within(user, group)
    if problem:
        raise SandboxError(
            f"no network namespace could be made ({os.strerror(problem)}). The clients run in one that has only "
            "loopback, so that nothing they try leaves this machine: run as root, or where unprivileged user "
            "namespaces are allowed (sysctl kernel.unprivileged_userns_clone=1)."
        )
    _raise_loopback()
    if (seen := interfaces_up()) != ["lo"]:
        raise SandboxError(f"the namespace has more than loopback: {', '.join(seen)}")


def interfaces_up() -> list[str]:
    """The network interfaces that carry anything for this process; a tunnel's that a new namespace has is down."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        return sorted(name for _, name in socket.if_nameindex() if _flags(control, name) & _IFF_UP)


def _unshare(flags: int) -> int:
    """0, or the error number."""
    libc = ctypes.CDLL(None, use_errno=True)
    return 0 if libc.unshare(flags) == 0 else ctypes.get_errno()


def _become_root_within(user: int, group: int) -> int:
    """0, or the error number: a container may allow the namespace and not the mapping."""
    try:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"0 {user} 1")
        Path("/proc/self/gid_map").write_text(f"0 {group} 1")
    except OSError as error:
        return error.errno or errno.EPERM
    return 0


def _flags(control: socket.socket, name: str) -> int:
    reply = fcntl.ioctl(control, _SIOCGIFFLAGS, struct.pack("16sH14x", name.encode(), 0))
    (flags,) = struct.unpack_from("H", reply, 16)
    return int(flags)


def _raise_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        raised = struct.pack("16sH14x", b"lo", _flags(control, "lo") | _IFF_UP)
        fcntl.ioctl(control, _SIOCSIFFLAGS, raised)


@dataclass(frozen=True, slots=True)
class Ran:
    """What a program did: its exit code (negative: the signal that ended it), its output, and how long it took."""

    exit_code: int
    stdout: str
    stderr: str
    seconds: float
    timed_out: bool = False

    def __str__(self) -> str:
        return (
            f"exit {self.exit_code} after {self.seconds:.1f} s\n"
            f"--- stdout\n{self.stdout[-6000:]}\n--- stderr\n{self.stderr[-6000:]}"
        )


def run(
    command: Sequence[str], *, folder: Path, environment: Mapping[str, str], timeout_s: float = 120
) -> Ran:
    """Run ``command`` in ``folder`` with ``environment`` and little else; after ``timeout_s`` it is killed.

    It has no standard input, and a process group of its own, so that whatever it starts ends with it.
    """
    started = time.monotonic()
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={"PATH": _PATH, "LANG": "C.UTF-8", "TERM": "dumb", "CI": "1", **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    timed_out = False
    try:
        stdout, stderr = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        timed_out = True
        _end_group(process.pid)
        stdout, stderr = process.communicate()
    finally:
        _end_group(process.pid)
    return Ran(
        process.returncode,
        stdout.decode(errors="replace"),
        stderr.decode(errors="replace"),
        time.monotonic() - started,
        timed_out,
    )


def _end_group(leader: int) -> None:
    """End what is left of the process group that ``leader`` began."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
