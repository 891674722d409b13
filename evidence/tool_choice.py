"""Every tool choice of every surface: what reaches the upstream and what the caller is told, switch off and on."""

from __future__ import annotations

from typing import Any

from evidence.probe import Bench, Start, table
from tests.support.dialects import CHAT, DIALECTS, GENERATE_CONTENT, MESSAGES, RESPONSES, Dialect

TITLE = "The tool choice matrix"
SCHEMA = {"type": "object", "properties": {}}
NAMES = ("f", "g")


def chat_tool(name: str) -> dict[str, Any]:
    """A function of chat completions."""
    return {"type": "function", "function": {"name": name}}


def responses_tool(name: str) -> dict[str, Any]:
    """A function of responses."""
    return {"type": "function", "name": name}


TOOLS: dict[str, dict[str, Any]] = {
    CHAT.name: {"tools": [chat_tool(name) for name in NAMES]},
    RESPONSES.name: {"tools": [{**responses_tool(name), "parameters": SCHEMA} for name in NAMES], "instructions": "s"},
    MESSAGES.name: {"tools": [{"name": name, "input_schema": SCHEMA} for name in NAMES], "system": "s"},
    GENERATE_CONTENT.name: {
        "tools": [{"functionDeclarations": [{"name": name} for name in NAMES]}],
        "systemInstruction": {"parts": [{"text": "s"}]},
    },
}  # fmt: skip


def calling(mode: str, *names: str) -> dict[str, Any]:
    """functionCallingConfig."""
    config: dict[str, Any] = {"mode": mode}
    if names:
        config["allowedFunctionNames"] = list(names)
    return {"toolConfig": {"functionCallingConfig": config}}


def allowed(mode: str) -> dict[str, Any]:
    """A subset on chat completions."""
    return {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": [chat_tool("g")]}}


CHOICES: dict[str, dict[str, dict[str, Any]]] = {
    "absent": {name: {} for name in TOOLS},
    "none": {
        CHAT.name: {"tool_choice": "none"},
        RESPONSES.name: {"tool_choice": "none"},
        MESSAGES.name: {"tool_choice": {"type": "none"}},
        GENERATE_CONTENT.name: calling("NONE"),
    },
    "auto": {
        CHAT.name: {"tool_choice": "auto"},
        RESPONSES.name: {"tool_choice": "auto"},
        MESSAGES.name: {"tool_choice": {"type": "auto"}},
        GENERATE_CONTENT.name: calling("AUTO"),
    },
    "required": {
        CHAT.name: {"tool_choice": "required"},
        RESPONSES.name: {"tool_choice": "required"},
        MESSAGES.name: {"tool_choice": {"type": "any"}},
        GENERATE_CONTENT.name: calling("ANY"),
    },
    "one named": {
        CHAT.name: {"tool_choice": chat_tool("g")},
        RESPONSES.name: {"tool_choice": responses_tool("g")},
        MESSAGES.name: {"tool_choice": {"type": "tool", "name": "g"}},
        GENERATE_CONTENT.name: calling("ANY", "g"),
    },
    "subset, auto": {
        CHAT.name: {"tool_choice": allowed("auto")},
        RESPONSES.name: {
            "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [responses_tool("g")]}
        },
        GENERATE_CONTENT.name: calling("VALIDATED", "g"),
    },
    "subset, required": {
        CHAT.name: {"tool_choice": allowed("required")},
        RESPONSES.name: {
            "tool_choice": {"type": "allowed_tools", "mode": "required", "tools": [responses_tool("g")]}
        },
        GENERATE_CONTENT.name: calling("ANY", "f", "g"),
    },
}


def row(running: Bench, dialect: Dialect, meaning: str, choice: dict[str, Any]) -> tuple[str, ...]:
    """What one request led to: tools, #12 and headers."""
    running.fake.clear()
    body = {**dialect.body("fake-echo", "hi", False), **TOOLS[dialect.name], **choice}
    if dialect is CHAT:
        body["messages"] = [{"role": "system", "content": "s"}, *body["messages"]]
    reply = running.post(dialect.path("fake-echo", False), body)
    message = running.fake.captures()[0]["message"]
    sent = message.get("tool_choice", {})
    return (
        meaning,
        dialect.name,
        str(reply.status_code),
        " ".join(tool["name"] for tool in message.get("tools", [])) or "-",
        " ".join([sent.get("option_name", "-"), sent.get("tool_name", "")]).strip(),
        reply.headers.get("x-candor-emulated", "-"),
        reply.headers.get("x-candor-ignored", "-"),
    )


def observe(start: Start) -> list[str]:
    """Observe every choice of every surface, switch off and on."""
    lines: list[str] = []
    for switch in ("0", "1"):
        rows: list[tuple[str, ...]] = [
            ("meaning", "surface", "status", "tools", "#12", "emulated", "ignored")
        ]
        with start(DEVIN_CONNECT_TOOL_CHOICE=switch) as running:
            for meaning, by_dialect in CHOICES.items():
                rows += [
                    row(running, dialect, meaning, choice)
                    for dialect in DIALECTS
                    if (choice := by_dialect.get(dialect.name)) is not None
                ]
        lines += [f"DEVIN_CONNECT_TOOL_CHOICE={switch}", "", *table(rows), ""]
    return lines[:-1]
