"""Strict handling on four surfaces, whole and streamed: what a caller is told, and that it costs no upstream turn."""

from __future__ import annotations

import json
from typing import Any

from evidence.probe import Bench, Start
from tests.support.dialects import CHAT, GENERATE_CONTENT, MESSAGES, RESPONSES, Dialect

TITLE = "Prefer: handling=strict refuses what would be ignored"
ASKS: list[tuple[Dialect, dict[str, Any]]] = [
    (CHAT, {"seed": 7, "parallel_tool_calls": False}),
    (RESPONSES, {"parallel_tool_calls": False, "colour": "red"}),
    (
        MESSAGES,
        {
            "tools": [{"name": "read", "input_schema": {"type": "object", "properties": {}}}],
            "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
        },
    ),
    (GENERATE_CONTENT, {"generationConfig": {"seed": 7}}),
]


def told(running: Bench, dialect: Dialect, more: dict[str, Any], stream: bool) -> list[str]:
    """What one request was answered, lenient and strict."""
    path = dialect.path("fake-echo", stream)
    body = {**dialect.body("fake-echo", "hi", stream), **more}
    running.fake.clear()
    lenient = running.post(path, body)
    turns = len(running.fake.captures())
    strict = running.post(path, body, {"Prefer": "handling=strict"})
    error = strict.json()
    error.pop("request_id", None)
    return [
        f"{dialect.name}, {'streamed' if stream else 'whole'}: {json.dumps(more)}",
        f"  lenient: {lenient.status_code}, {turns} turn, ignored: {lenient.headers.get('x-candor-ignored', '-')}",
        f"  strict:  {strict.status_code}, {len(running.fake.captures()) - turns} turns, "
        f"Preference-Applied: {strict.headers.get('Preference-Applied', '-')}",
        f"  {json.dumps(error['error'])}",
        "",
    ]


def observe(start: Start) -> list[str]:
    """Observe every surface both ways."""
    lines: list[str] = []
    with start() as running:
        for dialect, more in ASKS:
            for stream in (False, True):
                lines += told(running, dialect, more, stream)
        refused = running.connect_metrics()["parameters_refused"]
    return [*lines, f"counted as refused: {json.dumps(refused, sort_keys=True)}"]
