"""Installs the clients, pinned, into the ignored folder ``.clients/``: ``python -m tests.clients.install [name ...]``.

Whatever a client runs from is inside the packages of its registry: no install script of a package runs, and
the binaries of Codex, Claude Code, opencode and Node itself come from their per-platform packages.
"""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".clients"
LOCKS = Path(__file__).with_name("locks")
_STAMP = "installed.json"
_INSTALL_S = 600


class InstallError(RuntimeError):
    """A client could not be installed; the text says which and why."""


@dataclass(frozen=True, slots=True)
class Package:
    """One folder of ``.clients/``. ``npm`` and ``pip`` are exact pins by package name; ``program`` lies within.

    ``lock`` is the file of ``locks/`` that pins what those need in turn: npm's own, or pip's constraints.
    """

    name: str
    npm: Mapping[str, str] = field(default_factory=dict)
    pip: Mapping[str, str] = field(default_factory=dict)
    program: str = ""
    quick: bool = True
    lock: str = ""

    @property
    def folder(self) -> Path:
        """Where it is installed."""
        return FOLDER / self.name

    @property
    def path(self) -> Path:
        """The program that a scenario starts."""
        return self.folder / self.program

    @property
    def stamp(self) -> dict[str, str]:
        """All that decides what is installed."""
        lock = {"lock": hashlib.sha256((LOCKS / self.lock).read_bytes()).hexdigest()} if self.lock else {}
        return {**self.npm, **self.pip, **lock}


def _platform() -> str:
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    return f"linux-{machine}"


_HERE = _platform()
_RUST_TRIPLE = {"linux-x64": "x86_64-unknown-linux-musl", "linux-arm64": "aarch64-unknown-linux-musl"}


def _codex(version: str, *, quick: bool) -> Package:
    vendored = f"node_modules/@openai/codex-{_HERE}/vendor/{_RUST_TRIPLE.get(_HERE, _HERE)}"
    return Package(
        f"codex-{version}", {"@openai/codex": version}, program=f"{vendored}/bin/codex", quick=quick
    )


NODE = Package("node-22.23.5", {f"node-{_HERE}": "22.23.5"}, program=f"node_modules/node-{_HERE}/bin/node")
CODEX = _codex("0.169.0", quick=True)
CODEX_NEXT = _codex("0.171.0", quick=True)
CLAUDE = Package(
    "claude-2.1.332",
    {"@anthropic-ai/claude-code": "2.1.332"},
    program=f"node_modules/@anthropic-ai/claude-code-{_HERE}/claude",
)
GEMINI = Package(
    "gemini-0.61.0",
    {"@google/gemini-cli": "0.61.0"},
    program="node_modules/@google/gemini-cli/bundle/gemini.js",
)
OPENCODE = Package(
    "opencode-1.18.33",
    {"opencode-ai": "1.18.33"},
    program=f"node_modules/opencode-{_HERE}/bin/opencode",
)
NODE_SDKS = Package(
    "node-sdks",
    {
        "openai": "7.59.0",
        "@anthropic-ai/sdk": "1.14.0",
        "@google/genai": "3.3.0",
        "ai": "7.0.173",
        "@ai-sdk/openai": "4.0.118",
        "@ai-sdk/openai-compatible": "3.0.92",
        "@ai-sdk/anthropic": "4.0.105",
        "@ai-sdk/google": "4.0.121",
        "zod": "4.6.7",
    },
    quick=False,
    lock="node-sdks.json",
)
FRAMEWORKS = Package(
    "frameworks",
    pip={
        "openai-agents": "0.24.0",
        "pydantic-ai-slim[openai,anthropic,google]": "2.66.0",
        "langchain-openai": "1.7.4",
        "langchain-anthropic": "1.7.10",
        "langchain-google-genai": "4.4.3",
    },
    program="bin/python",
    quick=False,
    lock="frameworks.txt",
)
PACKAGES = (NODE, CODEX, CODEX_NEXT, CLAUDE, GEMINI, OPENCODE, NODE_SDKS, FRAMEWORKS)


def install(package: Package) -> bool:
    """Install ``package`` unless this very pin is there already; whether anything was done."""
    stamp = package.folder / _STAMP
    if stamp.exists() and json.loads(stamp.read_text()) == package.stamp:
        return False
    shutil.rmtree(package.folder, ignore_errors=True)
    package.folder.mkdir(parents=True)
    if package.npm:
        _npm(package)
    else:
        _pip(package)
    if package.program and not package.path.exists():
        raise InstallError(f"{package.name}: {package.path} is not there after the install")
    stamp.write_text(json.dumps(package.stamp))
    return True


def missing(packages: tuple[Package, ...] = PACKAGES) -> list[str]:
    """The names of packages that are not installed."""
    return [package.name for package in packages if not (package.folder / _STAMP).exists()]


def _npm(package: Package) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise InstallError(f"{package.name}: npm is not on the PATH; the clients come from its registry")
    manifest = {"private": True, "dependencies": package.npm}
    (package.folder / "package.json").write_text(json.dumps(manifest))
    # Scripts would fetch from elsewhere; peers and engines are settled by the pins above.
    flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    if package.lock:
        shutil.copyfile(LOCKS / package.lock, package.folder / "package-lock.json")
        _run(package, [npm, "ci", *flags])
    else:
        _run(package, [npm, "install", "--no-package-lock", *flags])


def _pip(package: Package) -> None:
    _run(package, [sys.executable, "-m", "venv", "."])
    pins = [f"{name}=={version}" for name, version in package.pip.items()]
    constraints = ["--constraint", str(LOCKS / package.lock)] if package.lock else []
    pip = [
        str(package.folder / "bin/python"),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]
    _run(package, [*pip, *constraints, *pins])


def _run(package: Package, command: list[str]) -> None:
    done = subprocess.run(
        command, cwd=package.folder, capture_output=True, text=True, timeout=_INSTALL_S, check=False
    )
    if done.returncode:
        raise InstallError(f"{package.name}: {' '.join(command[:3])} failed:\n{done.stdout}{done.stderr}")


def main(names: list[str]) -> int:
    """Install the packages of these names, all of them when there are none."""
    unknown = set(names) - {package.name for package in PACKAGES}
    if unknown:
        print(f"no such client: {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    for package in PACKAGES:
        if names and package.name not in names:
            continue
        try:
            done = install(package)
        except (InstallError, subprocess.TimeoutExpired) as error:
            print(f"clients: {error}", file=sys.stderr)
            return 1
        print(f"clients: {package.name} {'installed' if done else 'is there'}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
