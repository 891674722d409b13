"""How gunicorn serves Candor. What an operator may choose comes through the settings table.

Each open stream holds a thread, so ``threads`` bounds the streams of a worker. ``timeout`` is the heartbeat
of a worker's main loop, which beats while its threads stream: it never ends a turn, however long.
"""

import atexit
import gc
import math
import mmap
import os
import shutil
import sys
import tempfile
from typing import Any


def _metrics_directory() -> str:
    """Where the workers of this master add up their counters: fresh at each start, kept over a reload."""
    prefix = f"candor-metrics-{os.getpid()}-"
    current = os.environ.get("PROMETHEUS_MULTIPROC_DIR", "")
    return current if os.path.basename(current).startswith(prefix) else tempfile.mkdtemp(prefix=prefix)


def _remove_metrics(master: int, directory: str) -> None:
    """Workers are forks of the master, so they run its exit hooks too: only the master may remove."""
    if os.getpid() == master:
        shutil.rmtree(directory, ignore_errors=True)


# Before anything of ours is imported: prometheus_client chooses its multi-process mode when it is imported.
metrics_directory = os.environ["PROMETHEUS_MULTIPROC_DIR"] = _metrics_directory()
atexit.register(_remove_metrics, os.getpid(), metrics_directory)

from app.settings import SettingsError, load  # noqa: E402

DRAIN_SLACK_S = 3
"""Seconds between the end of the drain, when turns that still run are told so, and the end of the process."""

try:
    _settings = load(os.environ)
except SettingsError as error:
    sys.exit(f"candor: {error}")

wsgi_app = "wsgi:app"
bind = _settings.bind
backlog = 4096
keepalive = 75

worker_class = "app.worker.Worker"  # gthread, with a drain that answers
workers = _settings.workers
threads = _settings.threads
worker_connections = threads + 1000  # beyond the threads: idle kept-alive connections, which hold none
timeout = 60
graceful_timeout = math.ceil(_settings.drain_s) + DRAIN_SLACK_S
worker_tmp_dir = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None

limit_request_line = 8190  # the most that gunicorn takes
limit_request_fields = 200
limit_request_field_size = 65536

accesslog = None
loglevel = _settings.log_level.lower()
control_socket_disable = True


def when_ready(server: Any) -> None:
    """Let the workers know when it is the whole server that stops, rather than one of them."""
    server.stops = mmap.mmap(-1, 1)
    stop = server.stop

    def stop_all(graceful: bool = True) -> None:
        server.stops[0] = 1
        stop(graceful)

    server.stop = stop_all


def post_fork(server: Any, worker: Any) -> None:
    """A worker begins."""
    worker.master_stops = server.stops


def post_worker_init(worker: Any) -> None:
    """The app is loaded: keep the garbage collector off what lives as long as the worker.

    A turn makes few cycles and many objects; collecting at every 700 of them costs a long history a third.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def child_exit(server: Any, worker: Any) -> None:
    """A worker is gone: drop its live gauges. Its counters stay in the sums."""
    from prometheus_client import multiprocess

    multiprocess.mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]


def on_exit(server: Any) -> None:
    """The master stops, its workers have: the metric files go."""
    shutil.rmtree(metrics_directory, ignore_errors=True)
