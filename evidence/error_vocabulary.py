"""Every fault in the words of every surface, as it comes over HTTP, before and within a stream.

The upstream is made to fail as real ones do; each turn runs on a token of its own, so that none meets a gate.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import requests

from evidence.probe import MANY_TOKENS, Bench, Start, table
from fake_upstream import scenarios as s
from tests.support.dialects import DIALECTS, Dialect

TITLE = "The error vocabulary"
KEY = {"Authorization": "Bearer caller-key"}
SWITCHES = {
    "CANDOR_API_KEYS": "caller-key",
    "CANDOR_MAX_BODY_MB": "1",
    "CANDOR_RETRY_BUDGET": "0",
    "CANDOR_FIRST_EVENT_TIMEOUT_S": "0.5",
    "CANDOR_STORE_CACHE_S": "0",
}


@dataclass(frozen=True)
class Case:
    """One way to fail: what is wrong with the request, or what the upstream does."""

    name: str
    steps: list[dict[str, Any]] = field(default_factory=list)
    method: str = "POST"
    headers: dict[str, str] = field(default_factory=dict)
    data: bytes | None = None
    model: str = "fake-echo"
    unsupported: bool = False


def error(code: str, **more: Any) -> list[dict[str, Any]]:
    """The upstream ends its stream with an error."""
    return [s.error(code, "because", **more)]


QUOTA = [{"type": "google.rpc.QuotaFailure", "value": ""}]
CASES = [
    Case("invalid request", data=b"{"),
    Case("unsupported parameter", unsupported=True),
    Case("authentication", headers={"Authorization": "Bearer other"}),
    Case("permission", error("permission_denied")),
    Case("model not found", model="no-such-model"),
    Case("wrong method", method="PUT"),
    Case("wrong encoding", headers={"Content-Encoding": "br"}),
    Case("too large", data=b" " * ((1 << 20) + 1)),
    Case("rate limited", error("resource_exhausted", retry_after_s=7)),
    Case("quota exhausted", error("resource_exhausted", details=QUOTA)),
    Case("capacity of the model", error("unavailable", retry_after_s=30)),
    Case("upstream authentication", error("unauthenticated")),
    Case("upstream failed", error("internal")),
    Case("upstream truncated", [s.text("abc"), s.cut_clean()]),
    Case("upstream timeout", [s.sleep(1500)]),
]


def send(running: Bench, dialect: Dialect, case: Case, *, stream: bool = False) -> requests.Response:
    """Fail in this way."""
    running.fake.clear()
    if case.steps:
        running.fake.queue(case.steps)
    body = dialect.body(case.model, "hi", stream)
    if case.unsupported:
        body.update(dialect.unsupported)
    data = json.dumps(body).encode() if case.data is None else case.data
    return running.ask(
        case.method,
        dialect.path(case.model, stream),
        data=data,
        headers={"Content-Type": "application/json", **KEY, **case.headers},
    )


def words(reply: requests.Response) -> str:
    """Type and code, or the status word."""
    told = reply.json()["error"]
    if "status" in told:
        kinds = [detail["@type"].rpartition(".")[2] for detail in told.get("details", [])]
        return " + ".join([told["status"], *kinds])
    return f"{told['type']} / {told['code']}" if told.get("code") else str(told["type"])


def row(running: Bench, case: Case, dialect: Dialect) -> tuple[str, ...]:
    """One line of the table."""
    reply = send(running, dialect, case)
    return (
        case.name,
        dialect.name,
        str(reply.status_code),
        words(reply),
        reply.headers.get("Retry-After", "-"),
        reply.headers.get("x-should-retry", "-"),
    )


def in_stream(running: Bench, dialect: Dialect) -> list[str]:
    """The last lines of a stream that fails once part of its answer is out."""
    broken = Case("", [s.text("abc"), *error("internal")])
    reply = send(running, dialect, broken, stream=True)
    last = [line for line in reply.text.rstrip("\n").split("\n\n")[-1].splitlines() if line]
    return [f"{dialect.name}, status {reply.status_code}:", *(f"  {_without_ids(line)}" for line in last)]


def _without_ids(line: str) -> str:
    """The name of an event, or the error inside its data."""
    start = line.find("{")
    if not line.startswith("data:") or start < 0:
        return line
    content = json.loads(line[start:])
    told = content.get("error") or content["response"]["error"]
    return f"data: ... {json.dumps(told)}"


def observe(start: Start) -> list[str]:
    """Observe every fault on every surface."""
    rows: list[tuple[str, ...]] = [
        ("fault", "surface", "status", "type / code", "retry-after", "x-should-retry")
    ]
    with start(MANY_TOKENS, **SWITCHES) as running:
        for case in CASES:
            rows += [row(running, case, dialect) for dialect in DIALECTS]
        tails = [line for dialect in DIALECTS for line in in_stream(running, dialect)]
    return [*table(rows), "", 'The end of a stream that fails after "abc":', "", *tails]
