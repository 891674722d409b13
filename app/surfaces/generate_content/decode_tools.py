"""tools and toolConfig -> the tools of a turn and its ToolChoice.

Protocol facts: https://ai.google.dev/api/caching#Tool, #FunctionDeclaration and #FunctionCallingConfig.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from app.surfaces.generate_content.schema import tool_parameters
from app.surfaces.generate_content.spelling import Fields, snake
from app.turn import tool_choice
from app.turn.faults import invalid
from app.turn.tool_choice import ToolChoice
from app.turn.turn import Tool

HOSTED_TOOLS = (
    "googleSearch",
    "googleSearchRetrieval",
    "googleMaps",
    "urlContext",
    "codeExecution",
    "fileSearch",
    "computerUse",
    "mcpServers",
    "retrieval",
    "enterpriseWebSearch",
    "parallelAiSearch",
    "exaAiSearch",
)
"""Tools that the vendor runs itself; the ledger refuses them."""

_HOSTED_KEYS = frozenset(spelling for name in HOSTED_TOOLS for spelling in (name, snake(name)))
_FUNCTION_KEYS = frozenset({"functionDeclarations", "function_declarations"})


@dataclass(slots=True)
class Tools:
    """The functions of a request. ``refused`` tells that it also lists a tool which the ledger refuses."""

    functions: list[Tool] = field(default_factory=list)
    refused: bool = False


def decode_tools(body: Fields, *, strict: bool) -> Tools:
    """All functions in order; ``strict`` is set on each (mode VALIDATED). Raises INVALID_REQUEST faults."""
    tools = Tools()
    names: set[str] = set()
    for tool in body.objects("tools"):
        for key, value in tool.raw.items():
            if value is None or key in _FUNCTION_KEYS:
                continue
            if key not in _HOSTED_KEYS:
                raise invalid("unknown kind of tool", f"{tool.path}.{key}")
            tools.refused = True
        for declaration in tool.objects("functionDeclarations"):
            function = _function(declaration, strict)
            if function.name in names:
                raise invalid(
                    f"the function '{function.name[:100]}' is declared twice", declaration.at("name")
                )
            names.add(function.name)
            tools.functions.append(function)
    return tools


def _function(declaration: Fields, strict: bool) -> Tool:
    schema = declaration.mapping("parameters")
    json_schema = declaration.get("parametersJsonSchema")
    if schema is not None and json_schema is not None:
        raise invalid(
            "the field cannot be combined with 'parameters'", declaration.at("parametersJsonSchema")
        )
    if schema is not None:
        parameters = tool_parameters(schema, declaration.at("parameters"), openapi=True)
    else:
        declaration.mapping("parametersJsonSchema")
        parameters = tool_parameters(json_schema, declaration.at("parametersJsonSchema"), openapi=False)
    return Tool(
        declaration.required_string("name"),
        declaration.string("description") or "",
        parameters,
        strict=True if strict else None,
    )


def calling_config(body: Fields) -> Fields | None:
    """``toolConfig.functionCallingConfig``, if there."""
    config = body.object("toolConfig")
    return None if config is None else config.object("functionCallingConfig")


def is_validated(config: Fields | None) -> bool:
    """Whether calls must conform to their schemas (mode VALIDATED)."""
    return config is not None and config.get("mode") == "VALIDATED"


def decode_tool_choice(config: Fields | None, tools: Tools) -> ToolChoice | None:
    """What ``functionCallingConfig`` says. Raises INVALID_REQUEST faults naming the mode or the names.

    The ledger has seen to it that the mode is one of the known ones.
    """
    if config is None:
        return None
    mode = config.string("mode")
    names = config.strings("allowedFunctionNames")
    names_path = config.at("allowedFunctionNames")
    choice = _choice(mode, names, names_path)
    if choice is not None and not tools.refused:
        tool_choice.check(ToolChoice(choice.mode), tools.functions, config.at("mode"))
        tool_choice.check(choice, tools.functions, names_path)
    return choice


def _choice(mode: str | None, names: tuple[str, ...] | None, names_path: str) -> ToolChoice | None:
    match mode:
        case None | "MODE_UNSPECIFIED" | "AUTO":
            if names:
                raise invalid("names may be given in mode 'ANY' or 'VALIDATED' only", names_path)
            return tool_choice.AUTO if mode == "AUTO" else None
        case "NONE":
            return tool_choice.NONE
        case "ANY":
            if names is None:
                return tool_choice.REQUIRED
            return tool_choice.named(names[0]) if len(names) == 1 else tool_choice.subset("required", names)
        case "VALIDATED":
            return tool_choice.AUTO if names is None else tool_choice.subset("auto", names)
    raise AssertionError(mode)
