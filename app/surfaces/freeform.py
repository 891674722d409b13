"""Custom (freeform) tools: offered to an upstream as a function with one string argument, ``input``."""

from __future__ import annotations

import orjson

WRAPPED_SCHEMA = (
    '{"type":"object","properties":{"input":{"type":"string"}},'
    '"required":["input"],"additionalProperties":false}'
)
"""The parameters of the function that stands for a custom tool."""


def grammar_schema(syntax: str, definition: str) -> str:
    """The same parameters for a tool whose text must follow a grammar: described to the model, not enforced."""
    what = "grammar" if syntax == "lark" else "expression"
    schema = orjson.loads(WRAPPED_SCHEMA)
    schema["properties"]["input"]["description"] = (
        f"Text that conforms to this {syntax} {what}:\n{definition}"
    )
    return orjson.dumps(schema).decode()


def wrap(text: str) -> str:
    """``text`` as the JSON arguments of that function."""
    return orjson.dumps({"input": text}).decode()


def unwrap(arguments: str) -> str:
    """The text inside such arguments: ``{}`` is the empty text; any other shape is handed on as it is."""
    try:
        value = orjson.loads(arguments)
    except orjson.JSONDecodeError:
        return arguments
    if value == {}:
        return ""
    if isinstance(value, dict) and len(value) == 1 and isinstance(text := value.get("input"), str):
        return text
    return arguments
