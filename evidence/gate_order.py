"""What can never succeed is refused as such, whatever state the gates are in: four surfaces, real turns.

The pool has one token. Turns that the fake upstream fails bring it into each state, as in operation.
"""

from __future__ import annotations

from collections.abc import Callable

import requests

from evidence.probe import Bench, Start, table
from fake_upstream import scenarios as s
from tests.support.dialects import DIALECTS, Dialect

TITLE = "Permanent faults come before the gates"
KEY = {"Authorization": "Bearer caller-key"}
SWITCHES = {
    "CANDOR_API_KEYS": "caller-key",
    "CANDOR_OPERATOR_KEY": "operator-key",
    "CANDOR_MAX_BODY_MB": "1",
    "CANDOR_STORE_CACHE_S": "0",
    "DEVIN_CONNECT_QUOTA": "1",
}
STATES: dict[str, list[dict[str, object]]] = {
    "open": [],
    "cooling": [s.http_error(429, "resource_exhausted", headers={"retry-after": "500"})],
    "dead": [s.http_error(401, "unauthenticated")],
    "drought": [s.quota(100), s.text("a"), s.finish()],
}

Ask = Callable[[Bench, Dialect], requests.Response]


def ask(more: dict[str, object] | None = None, model: str = "fake-tools", **headers: str) -> Ask:
    """A request like a good one but for ``more``, the model and the headers."""

    def send(running: Bench, dialect: Dialect) -> requests.Response:
        body = {**dialect.body(model, "hi", False), **(more or {})}
        return running.post(dialect.path(model, False), body, {**KEY, **headers})

    return send


def raw(body: bytes, **headers: str) -> Ask:
    """A request whose body is these bytes."""
    return lambda running, dialect: running.post(dialect.path("fake-tools", False), body, {**KEY, **headers})


FAULTS: list[tuple[str, Ask]] = [
    ("a wrong key", ask(Authorization="Bearer other")),
    ("no JSON", raw(b"{")),
    ("too large", raw(b" " * ((1 << 20) + 1))),
    ("unknown encoding", raw(b"{}", **{"Content-Encoding": "br"})),
    ("misshapen", lambda running, dialect: ask(dialect.misshapen)(running, dialect)),
    ("unknown model", ask(model="no-such-model")),
    ("refused parameter", lambda running, dialect: ask(dialect.unsupported)(running, dialect)),
    ("strict handling", lambda running, dialect: ask(dialect.ignorable, Prefer="handling=strict")(running, dialect)),
    ("wrong method", lambda running, dialect: running.ask("PUT", dialect.path("fake-tools", False), headers=KEY)),
    ("a good request", ask()),
]  # fmt: skip


def statuses(running: Bench, send: Ask) -> str:
    """The statuses on all surfaces, with Retry-After where there is one."""
    told = []
    for dialect in DIALECTS:
        reply = send(running, dialect)
        wait = " (wait)" if "Retry-After" in reply.headers else ""
        told.append(f"{reply.status_code}{wait}")
    return " ".join(told) if len(set(told)) > 1 else told[0]


def observe(start: Start) -> list[str]:
    """Observe every fault in every state."""
    columns: list[list[str]] = [[name for name, _ in FAULTS], *([] for _ in STATES)]
    for column, steps in zip(columns[1:], STATES.values(), strict=True):
        with start(**SWITCHES) as running:
            if steps:
                running.fake.queue(steps)
                ask()(running, DIALECTS[0])
            column += [statuses(running, send) for _, send in FAULTS]
    rows: list[tuple[str, ...]] = [("fault", *STATES), *zip(*columns, strict=True)]
    names = ", ".join(dialect.name for dialect in DIALECTS)
    return [*table(rows), "", f"One status for all surfaces, or one each: {names}. (wait): with Retry-After."]
