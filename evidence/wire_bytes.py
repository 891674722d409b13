"""The bytes of #11 and #12 as a server received them: with the switch off, on, and re-pointed.

``fields`` are the numbers at the top of the message in wire order; the bytes are those of the two fields alone. The
rest of the message is the same in every case but for the session id and what a narrowing leaves of the tools.
"""

from __future__ import annotations

from typing import Any

from evidence.probe import Bench, Start, table
from fake_upstream.wire_scan import varint

TITLE = "Fields 11 and 12 on the wire"
TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
    for name in ("read", "write")
]
NAMED = {"type": "function", "function": {"name": "write"}}
ASKS: list[tuple[str, dict[str, Any]]] = [
    ("nothing said", {}),
    ("parallel true", {"parallel_tool_calls": True}),
    ("parallel false", {"parallel_tool_calls": False}),
    ("choice auto", {"tool_choice": "auto"}),
    ("choice none", {"tool_choice": "none"}),
    ("choice required", {"tool_choice": "required"}),
    ("choice write", {"tool_choice": NAMED}),
    ("both", {"tool_choice": "required", "parallel_tool_calls": False}),
]
CASES: list[tuple[str, dict[str, str]]] = [
    ("switch off", {}),
    ("switch on", {"DEVIN_CONNECT_TOOL_CHOICE": "1"}),
    (
        "choice=30,parallel=31",
        {"DEVIN_CONNECT_TOOL_CHOICE": "1", "DEVIN_CONNECT_TOOL_CHOICE_TAGS": "choice=30,parallel=31"},
    ),
]
BASE = (1, 2, 3, 7, 8, 10, 15, 16, 20, 21)
"""The numbers of a request with tools that says nothing of either."""


def fields(data: bytes) -> list[tuple[int, bytes]]:
    """(number, the field's bytes with its tag) at the top of a message."""
    found: list[tuple[int, bytes]] = []
    position = 0
    while position < len(data):
        start = position
        key, position = varint(data, position)
        if key & 7 == 0:
            _, position = varint(data, position)
        elif key & 7 == 2:
            length, position = varint(data, position)
            position += length
        else:
            raise ValueError(f"wire type {key & 7} at {start}")
        found.append((key >> 3, data[start:position]))
    return found


def row(running: Bench, case: str, name: str, more: dict[str, Any]) -> tuple[str, ...]:
    """One line of the table."""
    running.fake.clear()
    body: dict[str, Any] = {
        "model": "fake-echo",
        "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "go"}],
        "tools": TOOLS,
    }
    running.post("/v1/chat/completions", {**body, **more})
    (capture,) = running.fake.captures()
    extra = [
        f"#{number}: {data.hex(' ')}"
        for number, data in fields(bytes.fromhex(capture["raw_hex"]))
        if number not in BASE
    ]
    numbers = " ".join(str(number) for number in capture["top_level_fields"])
    return case, name, numbers, "; ".join(extra) or "-"


def observe(start: Start) -> list[str]:
    """Observe every case."""
    rows: list[tuple[str, ...]] = [("case", "request", "fields", "bytes")]
    for case, switches in CASES:
        with start(**switches) as running:
            rows += [row(running, case, name, more) for name, more in ASKS]
    return table(rows)
