"""The wish for one tool call at a time: absent, true and false, switch off and on, on every surface that has it.

For each case: the status, how many turns reached the upstream, what was forwarded, how many calls came back, the
header, how far the counter moved, and what the Responses object says is in force.
"""

from __future__ import annotations

from typing import Any

from evidence.probe import Bench, Start, table

TITLE = "The parallel_tool_calls hint: served and counted"
ABSENT = object()
CASES: list[tuple[str, object, str]] = [
    ("absent", ABSENT, "0"),
    ("true", True, "0"),
    ("false", False, "0"),
    ("absent, switch on", ABSENT, "1"),
    ("true, switch on", True, "1"),
    ("false, switch on", False, "1"),
]
NAMES = ("read", "write")
SCHEMA = {"type": "object", "properties": {}}


def chat(hint: object) -> tuple[str, dict[str, Any]]:
    """Path and body on chat completions."""
    body: dict[str, Any] = {
        "model": "fake-tools",
        "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "go"}],
        "tools": [{"type": "function", "function": {"name": name, "parameters": SCHEMA}} for name in NAMES],
    }
    return "/v1/chat/completions", body if hint is ABSENT else {**body, "parallel_tool_calls": hint}


def responses(hint: object) -> tuple[str, dict[str, Any]]:
    """Path and body on responses."""
    body: dict[str, Any] = {
        "model": "fake-tools",
        "instructions": "s",
        "input": "go",
        "tools": [{"type": "function", "name": name, "parameters": SCHEMA} for name in NAMES],
    }
    return "/v1/responses", body if hint is ABSENT else {**body, "parallel_tool_calls": hint}


def messages(hint: object) -> tuple[str, dict[str, Any]]:
    """Path and body on messages, where the hint is its opposite inside tool_choice."""
    body: dict[str, Any] = {
        "model": "fake-tools",
        "max_tokens": 100,
        "system": "s",
        "messages": [{"role": "user", "content": "go"}],
        "tools": [{"name": name, "input_schema": SCHEMA} for name in NAMES],
    }
    if hint is not ABSENT:
        body["tool_choice"] = {"type": "auto", "disable_parallel_tool_use": hint is False}
    return "/v1/messages", body


def calls_of(reply: dict[str, Any]) -> int:
    """How many tool calls a reply of any of the three holds."""
    if "choices" in reply:
        return len(reply["choices"][0]["message"].get("tool_calls", []))
    items = reply["output"] if "output" in reply else reply["content"]
    return sum(item["type"] in ("function_call", "tool_use") for item in items)


def row(running: Bench, surface: str, name: str, path: str, body: dict[str, Any]) -> tuple[str, ...]:
    """One line of the table."""
    before = running.connect_metrics()["parallel_tool_calls_hint_ignored"]
    running.fake.clear()
    reply = running.post(path, body)
    captures = running.fake.captures()
    wire = captures[0]["message"].get("disable_parallel_tool_calls", "absent") if captures else "no turn"
    moved = running.connect_metrics()["parallel_tool_calls_hint_ignored"] - before
    answer = reply.json()
    return (
        surface,
        name,
        str(reply.status_code),
        str(len(captures)),
        str(wire),
        str(calls_of(answer)),
        reply.headers.get("x-candor-ignored", "-"),
        f"{moved:+d}",
        str(answer["parallel_tool_calls"]).lower() if surface == "responses" else "-",
    )


def observe(start: Start) -> list[str]:
    """Observe all cases on all three surfaces."""
    rows: list[tuple[str, ...]] = [
        ("surface", "case", "status", "turns", "#11", "calls", "x-candor-ignored", "counter", "echo")
    ]
    for switch in ("0", "1"):
        with start(DEVIN_CONNECT_TOOL_CHOICE=switch) as running:
            for surface in (chat, responses, messages):
                for name, hint, needed in CASES:
                    if needed == switch:
                        rows.append(row(running, surface.__name__, name, *surface(hint)))
    return table(rows)
