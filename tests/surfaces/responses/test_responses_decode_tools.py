"""Tools of every kind -> flat functions; ``tool_choice`` in every shape -> ToolChoice."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from app.turn import tool_choice
from app.turn.schema import EMPTY_OBJECT_SCHEMA
from app.turn.tool_choice import ToolChoice
from app.turn.turn import Tool
from tests.support.responses import body, custom, decode, function, namespace, refused, user

WRAPPED = '{"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}'
LARK = {"type": "grammar", "syntax": "lark", "definition": "start: /.+/s"}
WEB_SEARCH = {"type": "web_search"}


def offered(*tools: Any) -> list[Tool]:
    return decode(body(tools=list(tools))).turn.tools


def test_responses_function_is_offered_as_it_is() -> None:
    schema = {"type": "object", "$defs": {"N": {"$ref": "#/$defs/N"}}, "properties": {"x": {}}}

    assert offered(function(description="d", parameters=schema, strict=True)) == [
        Tool("f", "d", orjson.dumps(schema).decode(), strict=True)
    ]


@pytest.mark.parametrize("parameters", [None, {}, {"type": "object"}])
def test_responses_function_without_a_schema_takes_an_empty_object(parameters: Any) -> None:
    assert offered(function(parameters=parameters)) == [Tool("f", "", EMPTY_OBJECT_SCHEMA)]


def test_responses_custom_tool_is_wrapped() -> None:
    assert offered(custom(description="d", format={"type": "text"})) == [
        Tool("c", "d", WRAPPED, is_custom=True)
    ]


def test_responses_grammar_is_described_and_the_description_is_left_alone() -> None:
    (tool,) = offered(custom(description="d", format=LARK))

    assert tool.description == "d"
    assert orjson.loads(tool.parameters)["properties"]["input"] == {
        "type": "string",
        "description": "Text that conforms to this lark grammar:\nstart: /.+/s",
    }


def test_responses_namespace_is_flattened() -> None:
    tools = offered(namespace("ns", function("f", description="d"), custom("c")), function("f"))

    assert [(tool.name, tool.description) for tool in tools] == [("ns__f", "d"), ("ns__c", ""), ("f", "")]


def test_responses_client_run_kinds_have_their_fixed_schema() -> None:
    tools = offered(
        {"type": "local_shell"},
        {"type": "shell", "environment": {"type": "local"}},
        {"type": "apply_patch"},
        {
            "type": "tool_search",
            "execution": "client",
            "description": "d",
            "parameters": {"type": "object", "a": 1},
        },
    )

    assert [tool.name for tool in tools] == ["local_shell", "shell", "apply_patch", "tool_search"]
    assert [orjson.loads(tool.parameters).get("required") for tool in tools] == [
        ["command"],
        ["commands"],
        ["type", "path"],
        None,
    ]
    assert tools[3] == Tool("tool_search", "d", '{"type":"object","a":1}')


def test_responses_search_by_the_service_offers_nothing() -> None:
    assert offered({"type": "tool_search"}, {"type": "tool_search", "execution": "server"}) == []


def test_responses_hosted_tools_are_not_offered() -> None:
    assert [tool.name for tool in offered(WEB_SEARCH, function(), {"type": "image_generation"})] == ["f"]


def test_responses_tool_found_again_replaces_the_one_found_before() -> None:
    found = {"type": "tool_search_output", "execution": "server", "tools": [function(description="new")]}

    turn = decode(body(user(), found, tools=[function(description="old"), function("g")])).turn

    assert [(tool.name, tool.description) for tool in turn.tools] == [("f", "new"), ("g", "")]


@pytest.mark.parametrize(
    ("tools", "param", "code"),
    [
        ([{"type": "widget"}], "tools[0].type", "invalid_value"),
        ([{"name": "f"}], "tools[0].type", "missing_required_parameter"),
        ([{"type": "function"}], "tools[0].name", "missing_required_parameter"),
        ([function("")], "tools[0].name", None),
        ([function(5)], "tools[0].name", "invalid_type"),  # type: ignore[arg-type]
        ([function(description=5)], "tools[0].description", "invalid_type"),
        ([function(parameters="{}")], "tools[0].parameters", "invalid_type"),
        ([function(strict="yes")], "tools[0].strict", "invalid_type"),
        ([custom(format="text")], "tools[0].format", "invalid_type"),
        ([custom(format={"type": "bnf"})], "tools[0].format.type", "invalid_value"),
        (
            [custom(format={"type": "grammar", "definition": "a"})],
            "tools[0].format.syntax",
            "missing_required_parameter",
        ),
        (
            [custom(format={"type": "grammar", "syntax": "bnf", "definition": "a"})],
            "tools[0].format.syntax",
            "invalid_value",
        ),
        ([namespace("ns", {"type": "web_search"})], "tools[0].tools[0].type", "invalid_value"),
        ([namespace("", function())], "tools[0].name", None),
        ([{"type": "tool_search", "execution": "both"}], "tools[0].execution", "invalid_value"),
        ([{"type": "shell", "environment": {"type": "moon"}}], "tools[0].environment.type", "invalid_value"),
        # two tools by one name
        ([function(), function()], "tools[1].name", None),
        ([function("c"), custom("c")], "tools[1].name", None),
        ([namespace("a", function("b")), function("a__b")], "tools[1].name", None),
        (
            [namespace("a", function("b__c")), namespace("a__b", function("c"))],
            "tools[1].tools[0].name",
            None,
        ),
        ([function("shell"), {"type": "shell"}], "tools[1].type", None),
        # a name that is too long once it is flattened
        ([namespace("n" * 40, function("f" * 30))], "tools[0].tools[0].name", None),
    ],
)
def test_responses_names_the_tool_that_is_wrong(tools: list[Any], param: str, code: str | None) -> None:
    assert refused(body(tools=tools)) == (param, code)


def test_responses_flattened_name_of_64_characters_is_the_longest() -> None:
    assert len(offered(namespace("n" * 32, function("f" * 30)))[0].name) == 64


TWO = {"tools": [function("f"), function("g"), custom("c"), namespace("ns", function("h"))]}


def choice(value: Any, **keys: Any) -> ToolChoice | None:
    return decode(body(tool_choice=value, **{**TWO, **keys})).turn.tool_choice


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        ("auto", tool_choice.AUTO),
        ("none", tool_choice.NONE),
        ("required", tool_choice.REQUIRED),
        ({"type": "function", "name": "f"}, tool_choice.named("f")),
        ({"type": "custom", "name": "c"}, tool_choice.named("c")),
        ({"type": "function", "name": "h"}, tool_choice.named("ns__h")),
        ({"type": "function", "name": "ns__h"}, tool_choice.named("ns__h")),
        ({"type": "function", "name": "h", "namespace": "ns"}, tool_choice.named("ns__h")),
        (
            {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "g"}]},
            ToolChoice("auto", ("g",)),
        ),
        (
            {
                "type": "allowed_tools",
                "mode": "required",
                "tools": [{"type": "custom", "name": "c"}, {"type": "function", "name": "f"}],
            },
            ToolChoice("required", ("c", "f")),
        ),
        ({"type": "allowed_tools", "mode": "auto", "tools": []}, tool_choice.NONE),
        ({"type": "allowed_tools", "mode": "required", "tools": []}, tool_choice.NONE),
    ],
)
def test_responses_tool_choice_has_one_meaning(value: Any, expected: ToolChoice | None) -> None:
    assert choice(value) == expected


@pytest.mark.parametrize("kind", ["shell", "apply_patch"])
def test_responses_client_run_kind_can_be_forced(kind: str) -> None:
    assert choice({"type": kind}, tools=[{"type": kind}, function()]) == tool_choice.named(kind)


@pytest.mark.parametrize(
    ("value", "param", "code"),
    [
        ("any", "tool_choice", "invalid_value"),
        (5, "tool_choice", "invalid_type"),
        ({}, "tool_choice.type", "missing_required_parameter"),
        ({"name": "f"}, "tool_choice.type", "missing_required_parameter"),
        ({"type": "tool", "name": "f"}, "tool_choice.type", "invalid_value"),
        ({"type": "function"}, "tool_choice.name", "missing_required_parameter"),
        ({"type": "function", "function": {"name": "f"}}, "tool_choice.name", "missing_required_parameter"),
        ({"type": "function", "name": "x"}, "tool_choice", None),
        ({"type": "function", "name": "c"}, "tool_choice", None),
        ({"type": "custom", "name": "f"}, "tool_choice", None),
        ({"type": "shell"}, "tool_choice", None),
        ({"type": "allowed_tools", "tools": []}, "tool_choice.mode", "missing_required_parameter"),
        ({"type": "allowed_tools", "mode": "any", "tools": []}, "tool_choice.mode", "invalid_value"),
        ({"type": "allowed_tools", "mode": "auto"}, "tool_choice.tools", "missing_required_parameter"),
        (
            {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "x"}]},
            "tool_choice.tools[0]",
            None,
        ),
        (
            {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "widget"}]},
            "tool_choice.tools[0].type",
            "invalid_value",
        ),
    ],
)
def test_responses_names_the_tool_choice_that_is_wrong(value: Any, param: str, code: str | None) -> None:
    assert refused(body(tool_choice=value, **TWO)) == (param, code)


@pytest.mark.parametrize("value", ["required", {"type": "function", "name": "f"}])
def test_responses_forced_choice_without_tools_is_refused(value: Any) -> None:
    assert refused(body(tool_choice=value)) == ("tool_choice", None)
