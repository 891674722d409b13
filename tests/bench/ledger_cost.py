"""What the ledger costs a typical agent's request on each surface: one walk over the body and one judgement."""

from __future__ import annotations

import json
import time
from typing import Any

from app.ledger import Context, judge
from app.seals import Seals
from app.surfaces import chat_completions, generate_content, messages, responses
from app.surfaces.surface import RequestFacts, Surface, SurfaceTools
from app.turn.features import Feature
from app.turn.tool_choice import plan
from app.upstreams.connect.upstream import CONFIRMED

TOOLS = 20
EXCHANGES = 15
"""A question, a call, its result and an answer each: 60 messages."""

SCHEMA = {
    "type": "object",
    "properties": {
        name: {"type": "string", "description": f"The {name} that the tool works on, as an absolute path."}
        for name in ("path", "pattern", "replacement")
    },
    "required": ["path"],
}
WORDS = "The file holds the settings of the service and is read once, when the process starts. " * 8
NAMES = [f"tool_{number}" for number in range(TOOLS)]


def agent_requests() -> dict[str, dict[str, Any]]:
    """Surface -> the body of the same conversation, about 60 KB."""
    return {
        "chat_completions": _chat(),
        "responses": _responses(),
        "messages": _messages(),
        "generate_content": _generate_content(),
    }


def _chat() -> dict[str, Any]:
    talk: list[dict[str, Any]] = []
    for number in range(EXCHANGES):
        function = {"name": NAMES[number], "arguments": '{"path":"/etc/hosts"}'}
        call = {"id": f"call_{number}", "type": "function", "function": function}
        talk += [
            {"role": "user", "content": WORDS},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"call_{number}", "content": WORDS},
            {"role": "assistant", "content": WORDS},
        ]
    tools = [
        {"type": "function", "function": {"name": name, "description": WORDS, "parameters": SCHEMA}}
        for name in NAMES
    ]
    system = {"role": "system", "content": WORDS}
    more = {"stream": True, "temperature": 0.5, "stream_options": {"include_usage": True}}
    return {"model": "m", "messages": [system, *talk], "tools": tools, "tool_choice": "auto", **more}


def _responses() -> dict[str, Any]:
    items: list[dict[str, Any]] = []
    for number in range(EXCHANGES):
        call = {"name": NAMES[number], "arguments": '{"path":"/etc/hosts"}', "call_id": f"call_{number}"}
        items += [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": WORDS}]},
            {"type": "function_call", **call},
            {"type": "function_call_output", "call_id": f"call_{number}", "output": WORDS},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": WORDS}]},
        ]
    tools = [
        {"type": "function", "name": name, "description": WORDS, "parameters": SCHEMA, "strict": False}
        for name in NAMES
    ]
    more = {
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "parallel_tool_calls": True,
    }
    return {
        "model": "m",
        "instructions": WORDS,
        "input": items,
        "tools": tools,
        "tool_choice": "auto",
        **more,
    }


def _messages() -> dict[str, Any]:
    talk: list[dict[str, Any]] = []
    for number in range(EXCHANGES):
        use = {
            "type": "tool_use",
            "id": f"call_{number}",
            "name": NAMES[number],
            "input": {"path": "/etc/hosts"},
        }
        result = {"type": "tool_result", "tool_use_id": f"call_{number}", "content": WORDS}
        talk += [
            {"role": "user", "content": [{"type": "text", "text": WORDS}]},
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": [result]},
            {"role": "assistant", "content": [{"type": "text", "text": WORDS}]},
        ]
    tools = [{"name": name, "description": WORDS, "input_schema": SCHEMA} for name in NAMES]
    system = [{"type": "text", "text": WORDS}]
    return {
        "model": "m",
        "max_tokens": 8000,
        "system": system,
        "messages": talk,
        "tools": tools,
        "stream": True,
    }


def _generate_content() -> dict[str, Any]:
    contents: list[dict[str, Any]] = []
    for number in range(EXCHANGES):
        call = {"name": NAMES[number], "args": {"path": "/etc/hosts"}}
        answer = {"name": NAMES[number], "response": {"output": WORDS}}
        contents += [
            {"role": "user", "parts": [{"text": WORDS}]},
            {"role": "model", "parts": [{"functionCall": call}]},
            {"role": "user", "parts": [{"functionResponse": answer}]},
            {"role": "model", "parts": [{"text": WORDS}]},
        ]
    declared = [{"name": name, "description": WORDS, "parametersJsonSchema": SCHEMA} for name in NAMES]
    return {
        "contents": contents,
        "systemInstruction": {"parts": [{"text": WORDS}]},
        "tools": [{"functionDeclarations": declared}],
        "generationConfig": {"temperature": 0.5, "topP": 0.95, "topK": 64},
    }


def ledger_cost(repeats: int = 300) -> dict[str, float]:
    """Surface -> microseconds of this thread's CPU for walk and judgement, the least of ``repeats``."""
    tools = SurfaceTools(Seals(b"bench"))
    packages = (chat_completions, responses, messages, generate_content)
    surfaces = {surface.name: surface for surface in (package.create(tools) for package in packages)}
    return {
        name: _cost(surfaces[name], json.loads(json.dumps(body)), repeats)
        for name, body in agent_requests().items()
    }


def _cost(surface: Surface, body: dict[str, Any], repeats: int) -> float:
    decoded = surface.decode(body, RequestFacts({}, path_model="m", path_stream=False))
    turn = decoded.turn
    chosen = plan(turn.tool_choice, turn.tools, carries_choice=Feature.TOOL_CHOICE in CONFIRMED)
    context = Context(turn, CONFIRMED, lambda feature: None, chosen)
    shortest = float("inf")
    for _ in range(repeats):
        started = time.thread_time()
        seen = surface.ledger.walk(body)
        judge(surface.ledger, seen, decoded.notes, body, context, strict=False, strict_rows=frozenset())
        shortest = min(shortest, time.thread_time() - started)
    return shortest * 1e6


if __name__ == "__main__":
    sizes = {name: len(json.dumps(body)) for name, body in agent_requests().items()}
    for surface_name, microseconds in ledger_cost().items():
        print(f"{surface_name:<20}{sizes[surface_name] / 1000:>6.1f} KB  {microseconds:>7.1f} µs")
