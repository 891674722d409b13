"""LiteLLM beside Candor: installed into a venv of its own, with the same canned upstream behind it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

from tests.bench.answers import CASES, MODEL_PREFIX
from tests.bench.process import KEY, ROOT, Server, free_port, started

VERSION = "1.108.7"
VENV = ROOT / ".bench" / "litellm"


def install() -> Path:
    """The ``litellm`` command, installed first if it is not there."""
    command = VENV / "bin" / "litellm"
    if not command.exists():
        print(f"Installing litellm {VERSION} into {VENV.relative_to(ROOT)}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
        pip = [str(VENV / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, f"litellm[proxy]=={VERSION}"], check=True)
    return command


def litellm(
    folder: Path, upstream: Server, core: int | None, workers: int = 1
) -> contextlib.AbstractContextManager[Server]:
    """LiteLLM's proxy: no database, errors logged only."""
    port = free_port()
    models = "".join(
        f"  - model_name: {MODEL_PREFIX}{name}\n"
        f"    litellm_params:\n"
        f"      model: openai/{MODEL_PREFIX}{name}\n"
        f"      api_base: http://127.0.0.1:{upstream.port}/v1\n"
        f"      api_key: none\n"
        for name in CASES
    )
    config = folder / f"litellm-{port}.yaml"
    config.write_text(f"model_list:\n{models}litellm_settings:\n  telemetry: false\n")
    command = [str(install()), "--config", str(config), "--host", "127.0.0.1", "--port", str(port)]
    if workers > 1:  # uvicorn's own manager ends workers that take over 5 s to start, as on a busy machine
        command += ["--num_workers", str(workers), "--run_gunicorn"]
    return started(
        "litellm",
        command,
        port,
        core=core,
        log=folder / f"litellm-{port}.log",
        environment={
            **os.environ,
            "LITELLM_LOG": "ERROR",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "LITELLM_MASTER_KEY": KEY,
        },
        ready="/health/liveliness",
        patience_s=400,
    )
