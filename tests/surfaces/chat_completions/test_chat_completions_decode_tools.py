"""Tools of both kinds, the legacy functions, and every shape of a choice."""

from __future__ import annotations

from typing import Any

import pytest

from app.turn.tool_choice import ToolChoice
from app.turn.turn import Tool
from tests.support.chat import body, custom, decode, function, refused

EMPTY = '{"type":"object","properties":{}}'
WRAPPED = (
    '{"type":"object","properties":{"input":{"type":"string"}},'
    '"required":["input"],"additionalProperties":false}'
)
CYCLIC = {
    "type": "object",
    "$defs": {"N": {"type": "object", "properties": {"n": {"$ref": "#/$defs/N"}}}},
    "properties": {"root": {"$ref": "#/$defs/N"}},
}
TOOLS = [function("f"), function("g"), custom("c")]


def tools_of(*tools: dict[str, Any]) -> list[Tool]:
    return decode(body(tools=list(tools))).turn.tools


def choice_of(choice: Any, tools: list[Any] = TOOLS) -> ToolChoice | None:
    return decode(body(tools=tools, tool_choice=choice)).turn.tool_choice


def test_chat_reads_a_function_tool() -> None:
    parameters = {"type": "object", "properties": {"x": {"type": "string"}}}
    assert tools_of(function("f", description="D", parameters=parameters, strict=True)) == [
        Tool("f", "D", '{"type":"object","properties":{"x":{"type":"string"}}}', strict=True)
    ]


@pytest.mark.parametrize(
    "parameters", [{}, {"parameters": None}, {"parameters": {}}, {"parameters": {"type": "object"}}]
)
def test_chat_completes_a_schema_only_where_it_says_nothing(parameters: dict[str, Any]) -> None:
    assert tools_of(function("f", **parameters))[0].parameters == EMPTY


def test_chat_passes_a_cyclic_schema_as_it_is() -> None:
    assert tools_of(function("f", parameters=CYCLIC))[0].parameters == (
        '{"type":"object","$defs":{"N":{"type":"object","properties":{"n":{"$ref":"#/$defs/N"}}}},'
        '"properties":{"root":{"$ref":"#/$defs/N"}}}'
    )


@pytest.mark.parametrize("strict", [True, False, None])
def test_chat_tells_strict_false_from_absent(strict: bool | None) -> None:
    assert tools_of(function("f", strict=strict))[0].strict is strict


@pytest.mark.parametrize("more", [{}, {"format": {"type": "text"}}, {"format": None}])
def test_chat_wraps_a_custom_tool_as_a_function_with_one_string(more: dict[str, Any]) -> None:
    assert tools_of(custom("c", description="D", **more)) == [Tool("c", "D", WRAPPED, is_custom=True)]


def test_chat_describes_a_grammar_to_the_model() -> None:
    grammar = {"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: /.+/"}}
    assert tools_of(custom("c", format=grammar))[0].parameters == (
        '{"type":"object","properties":{"input":{"type":"string",'
        '"description":"Text that conforms to this lark grammar:\\nstart: /.+/"}},'
        '"required":["input"],"additionalProperties":false}'
    )


@pytest.mark.parametrize("strict", [True, False, None])
def test_chat_reads_strict_of_legacy_functions(strict: bool | None) -> None:
    (tool,) = decode(body(functions=[{"name": "f", "strict": strict}])).turn.tools
    assert tool.strict is strict


def test_chat_rewrites_legacy_functions_to_tools() -> None:
    decoded = decode(body(functions=[{"name": "f", "description": "D"}]))
    assert decoded.turn.tools == [Tool("f", "D", EMPTY)]
    assert decoded.echo.legacy_functions


@pytest.mark.parametrize("empty", [[], None])
def test_chat_takes_empty_lists_of_tools_for_none(empty: Any) -> None:
    decoded = decode(body(tools=empty, functions=empty))
    assert decoded.turn.tools == []
    assert not decoded.echo.legacy_functions


@pytest.mark.parametrize(
    ("choice", "meaning"),
    [
        (None, None),
        ("none", ToolChoice("none")),
        ("auto", ToolChoice("auto")),
        ("required", ToolChoice("required")),
        (function("g"), ToolChoice("required", ("g",), named=True)),
        (custom("c"), ToolChoice("required", ("c",), named=True)),
        (
            {
                "type": "allowed_tools",
                "allowed_tools": {"mode": "auto", "tools": [function("g"), custom("c")]},
            },
            ToolChoice("auto", ("g", "c")),
        ),
        (
            {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [function("f")]}},
            ToolChoice("required", ("f",)),
        ),
        ({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}}, ToolChoice("none")),
        ({"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": []}}, ToolChoice("none")),
    ],
)
def test_chat_reads_every_shape_of_a_tool_choice(choice: Any, meaning: ToolChoice | None) -> None:
    assert choice_of(choice) == meaning


def test_chat_keeps_an_allowed_list_of_any_length_in_order() -> None:
    names = [f"f{index}" for index in range(300, 0, -1)]
    tools = [function(name) for name in sorted(names)]
    choice = {
        "type": "allowed_tools",
        "allowed_tools": {"mode": "auto", "tools": [function(n) for n in names]},
    }
    assert choice_of(choice, tools) == ToolChoice("auto", tuple(names))


@pytest.mark.parametrize(
    ("choice", "meaning"),
    [
        (None, None),
        ("none", ToolChoice("none")),
        ("auto", ToolChoice("auto")),
        ({"name": "g"}, ToolChoice("required", ("g",), named=True)),
    ],
)
def test_chat_reads_every_shape_of_the_legacy_function_call(choice: Any, meaning: ToolChoice | None) -> None:
    functions = [{"name": "f"}, {"name": "g"}]
    assert decode(body(functions=functions, function_call=choice)).turn.tool_choice == meaning


@pytest.mark.parametrize("choice", ["none", "auto"])
def test_chat_serves_a_choice_that_demands_nothing_without_tools(choice: str) -> None:
    assert decode(body(tool_choice=choice)).turn.tool_choice == ToolChoice(choice)  # type: ignore[arg-type]


WRONG_TYPE, REQUIRED, VALUE = "invalid_type", "missing_required_parameter", "invalid_value"
GRAMMAR = "tools[0].custom.format"


def allowed(**keys: Any) -> dict[str, Any]:
    return {"tools": TOOLS, "tool_choice": {"type": "allowed_tools", "allowed_tools": keys}}


@pytest.mark.parametrize(
    ("keys", "param", "code"),
    [
        ({"tools": {}}, "tools", WRONG_TYPE),
        ({"tools": ["f"]}, "tools[0]", WRONG_TYPE),
        ({"tools": [{"function": {"name": "f"}}]}, "tools[0].type", REQUIRED),
        ({"tools": [function("f"), {"type": "widget"}]}, "tools[1].type", VALUE),
        ({"tools": [{"type": "function"}]}, "tools[0].function", REQUIRED),
        ({"tools": [{"type": "function", "name": "f"}]}, "tools[0].function", REQUIRED),
        ({"tools": [{"type": "function", "function": "f"}]}, "tools[0].function", WRONG_TYPE),
        ({"tools": [{"type": "function", "function": {}}]}, "tools[0].function.name", REQUIRED),
        ({"tools": [function("")]}, "tools[0].function.name", None),
        ({"tools": [function("f", description=1)]}, "tools[0].function.description", WRONG_TYPE),
        ({"tools": [function("f", parameters="{}")]}, "tools[0].function.parameters", WRONG_TYPE),
        ({"tools": [function("f", strict="true")]}, "tools[0].function.strict", WRONG_TYPE),
        ({"tools": [{"type": "custom"}]}, "tools[0].custom", REQUIRED),
        ({"tools": [{"type": "custom", "custom": {}}]}, "tools[0].custom.name", REQUIRED),
        ({"tools": [custom("c", format="text")]}, GRAMMAR, WRONG_TYPE),
        ({"tools": [custom("c", format={"type": "bnf"})]}, f"{GRAMMAR}.type", VALUE),
        ({"tools": [custom("c", format={"type": "grammar"})]}, f"{GRAMMAR}.grammar", REQUIRED),
        (
            {
                "tools": [
                    custom("c", format={"type": "grammar", "grammar": {"syntax": "bnf", "definition": "a"}})
                ]
            },
            f"{GRAMMAR}.grammar.syntax",
            VALUE,
        ),
        (
            {"tools": [custom("c", format={"type": "grammar", "grammar": {"syntax": "lark"}})]},
            f"{GRAMMAR}.grammar.definition",
            REQUIRED,
        ),
        ({"tools": [function("f"), custom("f")]}, "tools[1]", None),
        ({"functions": "f"}, "functions", WRONG_TYPE),
        ({"functions": [{"description": "D"}]}, "functions[0].name", REQUIRED),
        ({"functions": [{"name": "f", "parameters": []}]}, "functions[0].parameters", WRONG_TYPE),
        ({"functions": [{"name": "f", "strict": "yes"}]}, "functions[0].strict", WRONG_TYPE),
        ({"functions": [{"name": "f"}], "tools": [function("f")]}, "functions", None),
        ({"functions": [{"name": "f"}], "tool_choice": "required"}, "tool_choice", None),
        ({"tools": TOOLS, "function_call": "auto"}, "function_call", None),
        ({"tools": TOOLS, "tool_choice": "any"}, "tool_choice", VALUE),
        ({"tools": TOOLS, "tool_choice": True}, "tool_choice", WRONG_TYPE),
        ({"tools": TOOLS, "tool_choice": ["f"]}, "tool_choice", WRONG_TYPE),
        ({"tools": TOOLS, "tool_choice": {}}, "tool_choice.type", REQUIRED),
        ({"tools": TOOLS, "tool_choice": {"type": "tool", "name": "f"}}, "tool_choice.type", VALUE),
        (
            {"tools": TOOLS, "tool_choice": {"type": "function", "name": "f"}},
            "tool_choice.function",
            REQUIRED,
        ),
        (
            {"tools": TOOLS, "tool_choice": {"type": "function", "function": {}}},
            "tool_choice.function.name",
            REQUIRED,
        ),
        ({"tools": TOOLS, "tool_choice": function("x")}, "tool_choice", None),
        ({"tools": TOOLS, "tool_choice": function("c")}, "tool_choice", None),
        ({"tools": TOOLS, "tool_choice": custom("f")}, "tool_choice", None),
        ({"tool_choice": "required"}, "tool_choice", None),
        ({"tool_choice": function("f")}, "tool_choice", None),
        ({"tools": [], "tool_choice": "required"}, "tool_choice", None),
        ({"tools": TOOLS, "tool_choice": {"type": "allowed_tools"}}, "tool_choice.allowed_tools", REQUIRED),
        (allowed(tools=[]), "tool_choice.allowed_tools.mode", REQUIRED),
        (allowed(mode="auto"), "tool_choice.allowed_tools.tools", REQUIRED),
        (allowed(mode="none", tools=[]), "tool_choice.allowed_tools.mode", VALUE),
        (allowed(mode="auto", tools=["f"]), "tool_choice.allowed_tools.tools[0]", WRONG_TYPE),
        (allowed(mode="auto", tools=[{"type": "widget"}]), "tool_choice.allowed_tools.tools[0].type", VALUE),
        (
            allowed(mode="auto", tools=[{"type": "function"}]),
            "tool_choice.allowed_tools.tools[0].function",
            REQUIRED,
        ),
        (allowed(mode="auto", tools=[function("f"), function("x")]), "tool_choice", None),
        ({"functions": [{"name": "f"}], "function_call": "required"}, "function_call", VALUE),
        ({"functions": [{"name": "f"}], "function_call": {}}, "function_call.name", REQUIRED),
        ({"functions": [{"name": "f"}], "function_call": {"name": "x"}}, "function_call", None),
        ({"functions": [{"name": "f"}], "function_call": 1}, "function_call", WRONG_TYPE),
        ({"function_call": {"name": "f"}}, "function_call", None),
        ({"parallel_tool_calls": "false"}, "parallel_tool_calls", WRONG_TYPE),
        ({"parallel_tool_calls": 0}, "parallel_tool_calls", WRONG_TYPE),
    ],
)
def test_chat_refuses_tools_and_choices_of_another_shape_and_names_their_path(
    keys: dict[str, Any], param: str, code: str | None
) -> None:
    assert refused(body(**keys)) == (param, code)


@pytest.mark.parametrize("value", [True, False, None])
def test_chat_keeps_the_parallel_hint_as_it_was_sent(value: bool | None) -> None:
    assert decode(body(parallel_tool_calls=value)).turn.parallel_tool_calls is value
