"""The wish for one tool call at a time: absent, true, false, and false with the switch on.

For each case: the status, how many turns reached the upstream, what was forwarded, the header, and how far the
counter moved. Run it with ``.venv/bin/python -m evidence.parallel_hint``.
"""

from __future__ import annotations

from typing import Any

from evidence.probe import Bench, bench, heading, record

ABSENT = object()
CASES: list[tuple[str, object, dict[str, str]]] = [
    ("absent", ABSENT, {}),
    ("true", True, {}),
    ("false", False, {}),
    ("false, switch on", False, {"DEVIN_CONNECT_TOOL_CHOICE": "1"}),
]
TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
    for name in ("read", "write")
]


def body(hint: object) -> dict[str, Any]:
    """A chat request with two tools and the hint, if there is one."""
    request: dict[str, Any] = {
        "model": "fake-tools",
        "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "go"}],
        "tools": TOOLS,
    }
    return request if hint is ABSENT else {**request, "parallel_tool_calls": hint}


def observe(running: Bench, hint: object) -> str:
    """One line of the table."""
    before = running.connect_metrics()["parallel_tool_calls_hint_ignored"]
    running.fake.clear()
    reply = running.post("/v1/chat/completions", body(hint))
    captures = running.fake.captures()
    wire = captures[0]["message"].get("disable_parallel_tool_calls", "absent") if captures else "no turn"
    delta = running.connect_metrics()["parallel_tool_calls_hint_ignored"] - before
    calls = len(reply.json()["choices"][0]["message"].get("tool_calls", []))
    return (
        f"{reply.status_code:>6}  {len(captures):>5}  {wire!s:>6}  {calls:>5}  "
        f"{reply.headers.get('x-candor-ignored', '-'):<22} {delta:>+5}"
    )


def main() -> None:
    """Observe all cases and keep the table."""
    lines = heading("The parallel_tool_calls hint on chat completions")
    lines.append(f"{'case':<18}{'status':>6}  turns  #11     calls  x-candor-ignored      counter")
    for name, hint, switches in CASES:
        with bench(**switches) as running:
            lines.append(f"{name:<18}{observe(running, hint)}")
    record("parallel_hint", lines)


if __name__ == "__main__":
    main()
