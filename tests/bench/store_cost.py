"""What keeping a response costs a turn, and continuing one, on a store that already holds many.

``python -m tests.bench.store_cost [--entries 10000] [--redis URL]`` prints a row each.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from typing import Any

from flask.testing import FlaskClient

from app import create_app
from app.settings import Settings, load
from app.stores.entries import Entries, Entry, pack
from app.stores.entries_redis import RedisEntries
from app.stores.entries_sqlite import SqliteEntries, entries_path
from app.stores.opening import kind_of_store, sqlite_path
from app.stores.redis_store import connect
from app.stores.shelf import bounds_of
from app.surfaces.kept import ReplyIds

ROUNDS = 400
ENTRY_TEXT = (
    b'{"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"%b"}]}],"output":[]}'
)


def store_cost_ms(entries: int = 10_000, store: str = "", rounds: int = ROUNDS) -> dict[str, float]:
    """Label -> milliseconds (medians) that a turn takes in this process, and what keeping it adds."""
    with tempfile.TemporaryDirectory(prefix="candor-store-") as folder:
        settings = load({"CANDOR_STATE_DIR": folder, "CANDOR_STORE": store, "CANDOR_LOG_LEVEL": "ERROR"})
        fill(settings, entries)
        client = create_app(settings).test_client()
        first = post(client)["id"]
        kinds: dict[str, Callable[[], Any]] = {
            "not kept": lambda: post(client, store=False),
            "kept": lambda: post(client),
            "kept, continues another": lambda: post(client, previous_response_id=first),
        }
        taken: dict[str, list[float]] = {name: [] for name in kinds}
        for _ in range(rounds):
            for name, ask in kinds.items():
                began = time.perf_counter()
                ask()
                taken[name].append((time.perf_counter() - began) * 1000)
        medians = {name: statistics.median(times) for name, times in taken.items()}
        plain = medians["not kept"]
        return {
            **medians,
            "keeping adds": medians["kept"] - plain,
            "keeping and continuing add": medians["kept, continues another"] - plain,
        }


def fill(settings: Settings, count: int) -> None:
    """Put ``count`` entries of a kilobyte into the store, of ten callers, the loopback caller being one."""
    bounds = bounds_of(settings)
    entries: Entries
    if kind_of_store(settings) == "redis":
        entries = RedisEntries(connect(settings.store, settings.store_timeout_s), bounds)
    else:
        entries = SqliteEntries(entries_path(sqlite_path(settings)), settings.store_timeout_s, bounds)
    callers = ["loopback", *(f"{number:032x}" for number in range(9))]
    for number in range(count):
        history = ENTRY_TEXT % (b"%d " % number * 150)
        kept = Entry(
            ReplyIds()("resp_"),
            "response",
            callers[number % len(callers)],
            "fake-echo",
            {"number": str(number)},
            pack(history),
            len(history),
            pack(history),
        )
        entries.put(kept)
    entries.close()


def post(client: FlaskClient, **body: Any) -> Any:
    """One small response of the upstream that has no wire."""
    reply = client.post("/v1/responses", json={"model": "local-echo", "input": "hello there", **body})
    assert reply.status_code == 200, reply.text
    said = reply.get_json()
    assert said["store"] is (body.get("store") is not False)
    return said


def main() -> None:
    """Parse the command line and print the rows."""
    parser = argparse.ArgumentParser("python -m tests.bench.store_cost", description=__doc__)
    parser.add_argument("--entries", type=int, default=10_000)
    parser.add_argument("--redis", metavar="URL", default="", help="a Redis server instead of an SQLite file")
    chosen = parser.parse_args()
    kind = "Redis" if chosen.redis else "SQLite"
    print(f"A small response in this process, {chosen.entries} entries on {kind}, median of {ROUNDS}")
    for label, ms in store_cost_ms(chosen.entries, chosen.redis).items():
        print(f"  {label:<40}{ms:>10.3f} ms")


if __name__ == "__main__":
    main()
