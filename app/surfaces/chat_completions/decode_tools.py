"""``tools``, ``functions``, ``tool_choice`` and ``function_call`` -> tools and one ToolChoice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.surfaces import freeform, reading
from app.turn import tool_choice
from app.turn.faults import invalid
from app.turn.schema import complete_schema
from app.turn.tool_choice import ToolChoice
from app.turn.turn import Tool

MODES = {"none": tool_choice.NONE, "auto": tool_choice.AUTO, "required": tool_choice.REQUIRED}
LEGACY_MODES = {"none": tool_choice.NONE, "auto": tool_choice.AUTO}


def read_tools(body: Mapping[str, Any]) -> list[Tool]:
    """``tools`` of both kinds. Raises an INVALID_REQUEST fault with the path of what is wrong."""
    items = reading.array(body, "tools")
    if not items:
        return []
    tools = [_read_tool(item, at) for item, at in reading.objects(items, "tools")]
    kind_of_name: dict[str, bool] = {}
    for index, tool in enumerate(tools):
        if kind_of_name.setdefault(tool.name, tool.is_custom) is not tool.is_custom:
            raise invalid(
                f"a function and a custom tool are both named '{tool.name[:100]}'", f"tools[{index}]"
            )
    return tools


def _read_tool(item: Mapping[str, Any], path: str) -> Tool:
    match item.get("type"):
        case "function":
            function = reading.required_mapping(item, "function", path)
            return _read_function(function, f"{path}.function")
        case "custom":
            custom = reading.required_mapping(item, "custom", path)
            at = f"{path}.custom"
            return Tool(
                name=reading.required_string(custom, "name", at),
                description=reading.string(custom, "description", at) or "",
                parameters=_custom_schema(reading.mapping(custom, "format", at), f"{at}.format"),
                is_custom=True,
            )
        case _:
            raise invalid("no such kind of tool", f"{path}.type")


def _read_function(function: Mapping[str, Any], path: str) -> Tool:
    return Tool(
        name=reading.required_string(function, "name", path),
        description=reading.string(function, "description", path) or "",
        parameters=complete_schema(reading.mapping(function, "parameters", path), f"{path}.parameters"),
        strict=reading.boolean(function, "strict", path),
    )


def _custom_schema(wanted: Mapping[str, Any] | None, path: str) -> str:
    """The parameters of the function that stands for a custom tool; a grammar is described, not enforced."""
    if wanted is None or wanted.get("type") == "text":
        return freeform.WRAPPED_SCHEMA
    grammar = reading.required_mapping(wanted, "grammar", path)
    at = f"{path}.grammar"
    reading.one_of(grammar, "syntax", ("lark", "regex"), at)
    syntax = reading.required_string(grammar, "syntax", at)
    return freeform.grammar_schema(syntax, reading.required_string(grammar, "definition", at))


def read_functions(body: Mapping[str, Any]) -> list[Tool]:
    """The legacy ``functions``. Raises an INVALID_REQUEST fault when ``tools`` are there too."""
    items = reading.array(body, "functions")
    if not items:
        return []
    if body.get("tools"):
        raise invalid("not allowed together with `tools`", "functions")
    return [_read_function(item, at) for item, at in reading.objects(items, "functions")]


def read_choice(
    body: Mapping[str, Any], tools: Sequence[Tool], functions: Sequence[Tool]
) -> ToolChoice | None:
    """The choice among ``tools``, or among the legacy ``functions``.

    Raises an INVALID_REQUEST fault for a shape that means nothing and for a choice that cannot be satisfied.
    """
    modern, legacy = body.get("tool_choice"), body.get("function_call")
    if modern is not None and functions:
        raise invalid("not allowed together with `functions`; use `function_call`", "tool_choice")
    if legacy is not None and tools:
        raise invalid("not allowed together with `tools`; use `tool_choice`", "function_call")
    if modern is not None:
        choice = _read_tool_choice(body, tools)
        tool_choice.check(choice, tools, "tool_choice")
        return choice
    if legacy is not None:
        choice = _read_function_call(body)
        tool_choice.check(choice, functions, "function_call")
        return choice
    return None


def _read_tool_choice(body: Mapping[str, Any], tools: Sequence[Tool]) -> ToolChoice:
    value = body["tool_choice"]
    if type(value) is str:
        return _mode(value, MODES, "tool_choice")
    if type(value) is not dict:
        raise reading.wrong_type(value, "a string or an object", "tool_choice")
    kind = value.get("type")
    match kind:
        case "function" | "custom":
            return tool_choice.named(_read_name(value, kind, tools, "tool_choice"))
        case "allowed_tools":
            return _read_allowed(value, tools)
        case _:
            raise invalid("no such kind of choice", "tool_choice.type")


def _read_allowed(value: Mapping[str, Any], tools: Sequence[Tool]) -> ToolChoice:
    at = "tool_choice.allowed_tools"
    allowed = reading.required_mapping(value, "allowed_tools", "tool_choice")
    mode = reading.one_of(allowed, "mode", ("auto", "required"), at)
    items = reading.array(allowed, "tools", at)
    for key, found in (("mode", mode), ("tools", items)):
        if found is None:
            raise invalid("the field is required", f"{at}.{key}", code="missing_required_parameter")
    names = [
        _read_name(item, item["type"], tools, where)
        for item, where in reading.objects(items or [], f"{at}.tools")
    ]
    return tool_choice.subset("required" if mode == "required" else "auto", names)


def _read_name(holder: Mapping[str, Any], kind: str, tools: Sequence[Tool], path: str) -> str:
    """The name in ``{"type": kind, kind: {"name": ...}}``; a tool of the other kind is not meant by it."""
    name = reading.required_string(reading.required_mapping(holder, kind, path), "name", f"{path}.{kind}")
    for tool in tools:
        if tool.name == name and tool.is_custom is not (kind == "custom"):
            raise invalid(f"the tool '{name[:100]}' is not of the type '{kind}'", "tool_choice")
    return name


def _read_function_call(body: Mapping[str, Any]) -> ToolChoice:
    value = body["function_call"]
    if type(value) is str:
        return _mode(value, LEGACY_MODES, "function_call")
    if type(value) is not dict:
        raise reading.wrong_type(value, "a string or an object", "function_call")
    return tool_choice.named(reading.required_string(value, "name", "function_call"))


def _mode(value: str, modes: Mapping[str, ToolChoice], path: str) -> ToolChoice:
    if value not in modes:
        listed = ", ".join(f"'{name}'" for name in modes)
        raise invalid(
            f"unknown value '{value[:100]}'; supported values are: {listed}", path, code="invalid_value"
        )
    return modes[value]
