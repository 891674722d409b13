"""Every meaning of a tool choice, on every surface, with its switch off and on: wire, headers, strict answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from fake_upstream import FakeUpstream
from fake_upstream import scenarios as s
from tests.matrix import asking
from tests.matrix.asking import CHAT, GENERATE, MESSAGES, RESPONSES, SURFACES, Json, ask

ON = {"DEVIN_CONNECT_TOOL_CHOICE": "1"}
STRICT = {"Prefer": "handling=strict"}


def chat_named(*names: str) -> list[Json]:
    return [{"type": "function", "function": {"name": name}} for name in names]


def responses_named(*names: str) -> list[Json]:
    return [{"type": "function", "name": name} for name in names]


def chat_subset(mode: str, *names: str) -> Json:
    allowed = {"mode": mode, "tools": chat_named(*names)}
    return {"tool_choice": {"type": "allowed_tools", "allowed_tools": allowed}}


def responses_subset(mode: str, *names: str) -> Json:
    return {"tool_choice": {"type": "allowed_tools", "mode": mode, "tools": responses_named(*names)}}


def calling(mode: str, *names: str, empty: bool = False) -> Json:
    config: Json = {"mode": mode}
    if names or empty:
        config["allowedFunctionNames"] = list(names)
    return {"toolConfig": {"functionCallingConfig": config}}


CHOICES: dict[str, dict[str, Json]] = {
    "absent": {CHAT: {}, RESPONSES: {}, MESSAGES: {}, GENERATE: {}},
    "null": {
        CHAT: {"tool_choice": None},
        RESPONSES: {"tool_choice": None},
        MESSAGES: {"tool_choice": None},
        GENERATE: {"toolConfig": None},
    },
    "none": {
        CHAT: {"tool_choice": "none"},
        RESPONSES: {"tool_choice": "none"},
        MESSAGES: {"tool_choice": {"type": "none"}},
        GENERATE: calling("NONE"),
    },
    "auto": {
        CHAT: {"tool_choice": "auto"},
        RESPONSES: {"tool_choice": "auto"},
        MESSAGES: {"tool_choice": {"type": "auto"}},
        GENERATE: calling("AUTO"),
    },
    "required": {
        CHAT: {"tool_choice": "required"},
        RESPONSES: {"tool_choice": "required"},
        MESSAGES: {"tool_choice": {"type": "any"}},
        GENERATE: calling("ANY"),
    },
    "named": {
        CHAT: {"tool_choice": chat_named("g")[0]},
        RESPONSES: {"tool_choice": responses_named("g")[0]},
        MESSAGES: {"tool_choice": {"type": "tool", "name": "g"}},
        GENERATE: calling("ANY", "g"),
    },
    "subset, auto": {
        CHAT: chat_subset("auto", "h", "f"),
        RESPONSES: responses_subset("auto", "h", "f"),
        GENERATE: calling("VALIDATED", "h", "f"),
    },
    "subset of one, auto": {
        CHAT: chat_subset("auto", "g"),
        RESPONSES: responses_subset("auto", "g"),
        GENERATE: calling("VALIDATED", "g"),
    },
    "subset, required": {
        CHAT: chat_subset("required", "h", "f"),
        RESPONSES: responses_subset("required", "h", "f"),
        GENERATE: calling("ANY", "h", "f"),
    },
    "empty subset": {
        CHAT: chat_subset("auto"),
        RESPONSES: responses_subset("auto"),
        GENERATE: calling("VALIDATED", empty=True),
    },
    "empty subset, required": {
        CHAT: chat_subset("required"),
        RESPONSES: responses_subset("required"),
        GENERATE: calling("ANY", empty=True),
    },
}
"""The body keys by which a surface says each meaning, for those it can say."""

FORCE = {
    CHAT: "tool_choice",
    RESPONSES: "tool_choice",
    MESSAGES: "tool_choice.type",
    GENERATE: "toolConfig.functionCallingConfig.mode",
}
NARROW = {
    CHAT: "tool_choice",
    RESPONSES: "tool_choice",
    MESSAGES: "tool_choice.name",
    GENERATE: "toolConfig.functionCallingConfig.allowedFunctionNames",
}


@dataclass(frozen=True)
class Wire:
    """What reaches the upstream, and whether a force went unheeded and a narrowing is told."""

    tools: str
    choice: Json | None = None
    force_ignored: bool = False
    narrowed: bool = False


OFF_WIRE = {
    "absent": Wire("fgh"),
    "null": Wire("fgh"),
    "none": Wire(""),
    "auto": Wire("fgh"),
    "required": Wire("fgh", force_ignored=True),
    "named": Wire("g", force_ignored=True, narrowed=True),
    "subset, auto": Wire("fh", narrowed=True),
    "subset of one, auto": Wire("g", narrowed=True),
    "subset, required": Wire("fh", force_ignored=True, narrowed=True),
    "empty subset": Wire(""),
    "empty subset, required": Wire(""),
}
ON_WIRE = {
    "absent": Wire("fgh"),
    "null": Wire("fgh"),
    "none": Wire("", {"option_name": "none"}),
    "auto": Wire("fgh"),
    "required": Wire("fgh", {"option_name": "required"}),
    "named": Wire("fgh", {"option_name": "function", "tool_name": "g"}),
    "subset, auto": Wire("fh", narrowed=True),
    "subset of one, auto": Wire("g", narrowed=True),
    "subset, required": Wire("fh", {"option_name": "required"}, narrowed=True),
    "empty subset": Wire("", {"option_name": "none"}),
    "empty subset, required": Wire("", {"option_name": "none"}),
}

each_choice = pytest.mark.parametrize(
    ("meaning", "surface"),
    [(meaning, surface) for meaning, said in CHOICES.items() for surface in said],
)


def keys(surface: str, meaning: str) -> Json:
    return {
        **asking.tools(surface, "f", "g", "h"),
        **asking.system(surface, "S"),
        **CHOICES[meaning][surface],
    }


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("switch", [{}, ON], ids=["off", "on"])
@each_choice
def test_a_tool_choice_reaches_the_upstream_as_the_table_says(
    standing: Callable[..., Flask],
    fake: FakeUpstream,
    meaning: str,
    surface: str,
    switch: dict[str, str],
    stream: bool,
) -> None:
    fake.queue([s.text("ok"), s.finish()])
    expected = (ON_WIRE if switch else OFF_WIRE)[meaning]

    reply = ask(standing(**switch), surface, stream=stream, **keys(surface, meaning))

    assert reply.status_code == 200
    (capture,) = fake.captures()
    message = capture["message"]
    assert "".join(tool["name"] for tool in message.get("tools", ())) == expected.tools
    assert message.get("tool_choice") == expected.choice
    assert (12 in capture["top_level_fields"]) is (expected.choice is not None)
    assert 11 not in capture["top_level_fields"]
    assert capture["unknown_fields"] == []
    ignored = FORCE[surface] if expected.force_ignored else None
    assert reply.headers.get("x-candor-ignored") == ignored
    emulated = NARROW[surface] if expected.narrowed else None
    assert reply.headers.get("x-candor-emulated") == emulated


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@each_choice
def test_strict_handling_refuses_a_force_that_would_be_ignored_and_nothing_else(
    standing: Callable[..., Flask], fake: FakeUpstream, meaning: str, surface: str, stream: bool
) -> None:
    fake.queue([s.text("ok"), s.finish()])

    reply = ask(standing(), surface, stream=stream, headers=STRICT, **keys(surface, meaning))

    if OFF_WIRE[meaning].force_ignored:
        assert reply.status_code == 400
        assert fake.captures() == []
        assert named_by(surface, reply) == FORCE[surface]
    else:
        assert reply.status_code == 200
    assert reply.headers["Preference-Applied"] == "handling=strict"


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@each_choice
def test_strict_handling_serves_every_choice_with_the_switch_on(
    standing: Callable[..., Flask], fake: FakeUpstream, meaning: str, surface: str, stream: bool
) -> None:
    fake.queue([s.text("ok"), s.finish()])

    reply = ask(standing(**ON), surface, stream=stream, headers=STRICT, **keys(surface, meaning))

    assert reply.status_code == 200
    assert len(fake.captures()) == 1


def named_by(surface: str, reply: TestResponse) -> str:
    """The field that a 400 names, in the surface's own place for it, brackets and all."""
    error = reply.json["error"]
    if surface == GENERATE:
        assert error["status"] == "INVALID_ARGUMENT"
        return str(error["details"][0]["fieldViolations"][0]["field"])
    assert error["type"] == "invalid_request_error"
    if surface == MESSAGES:
        assert reply.json["type"] == "error"
        return str(error["message"]).partition(":")[0]
    return str(error["param"])


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("surface", SURFACES)
def test_a_validated_choice_sets_strict_on_every_tool(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str, strict: bool
) -> None:
    tools = asking.tools(surface, "f", "g")
    match surface:
        case "chat_completions":
            for tool in tools["tools"]:
                tool["function"]["strict"] = strict
        case "generate_content":
            tools |= calling("VALIDATED" if strict else "AUTO")
        case _:
            for tool in tools["tools"]:
                tool["strict"] = strict

    ask(standing(), surface, **tools)

    sent = fake.captures()[0]["message"]["tools"]
    absent_is_false = not strict and surface == GENERATE
    assert [tool.get("strict") for tool in sent] == [None if absent_is_false else strict] * 2


BAD: list[tuple[str, Json, str]] = [
    # a shape or a name that cannot be meant, and the field that the 400 names
    (CHAT, {"tool_choice": "any"}, "tool_choice"),
    (CHAT, {"tool_choice": ""}, "tool_choice"),
    (CHAT, {"tool_choice": 1}, "tool_choice"),
    (CHAT, {"tool_choice": []}, "tool_choice"),
    (CHAT, {"tool_choice": {}}, "tool_choice.type"),
    (CHAT, {"tool_choice": {"type": "tool"}}, "tool_choice.type"),
    (CHAT, {"tool_choice": {"type": "function"}}, "tool_choice.function"),
    (CHAT, {"tool_choice": {"type": "function", "name": "f"}}, "tool_choice.function"),
    (CHAT, {"tool_choice": {"type": "function", "function": {}}}, "tool_choice.function.name"),
    (CHAT, {"tool_choice": {"type": "function", "function": {"name": 1}}}, "tool_choice.function.name"),
    (CHAT, {"tool_choice": chat_named("zz")[0]}, "tool_choice"),
    (CHAT, {"tool_choice": {"type": "custom", "custom": {"name": "f"}}}, "tool_choice"),
    (CHAT, chat_subset("auto", "f", "zz"), "tool_choice"),
    (CHAT, chat_subset("any", "f"), "tool_choice.allowed_tools.mode"),
    (
        CHAT,
        {"tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": chat_named("f")}},
        "tool_choice.allowed_tools",
    ),
    (CHAT, {"tool_choice": "required", "tools": []}, "tool_choice"),
    (CHAT, {"tool_choice": "required", "tools": None}, "tool_choice"),
    (CHAT, {"tool_choice": chat_named("f")[0], "tools": None}, "tool_choice"),
    (RESPONSES, {"tool_choice": "any"}, "tool_choice"),
    (RESPONSES, {"tool_choice": 1}, "tool_choice"),
    (RESPONSES, {"tool_choice": []}, "tool_choice"),
    (RESPONSES, {"tool_choice": {}}, "tool_choice.type"),
    (RESPONSES, {"tool_choice": {"type": "tool"}}, "tool_choice.type"),
    (RESPONSES, {"tool_choice": {"type": "function"}}, "tool_choice.name"),
    (RESPONSES, {"tool_choice": chat_named("f")[0]}, "tool_choice.name"),
    (RESPONSES, {"tool_choice": responses_named("zz")[0]}, "tool_choice"),
    (RESPONSES, {"tool_choice": {"type": "custom", "name": "f"}}, "tool_choice"),
    (RESPONSES, responses_subset("auto", "f", "zz"), "tool_choice.tools[1]"),
    (RESPONSES, responses_subset("any", "f"), "tool_choice.mode"),
    (RESPONSES, {"tool_choice": {"type": "allowed_tools", "mode": "auto"}}, "tool_choice.tools"),
    (RESPONSES, {"tool_choice": "required", "tools": []}, "tool_choice"),
    (MESSAGES, {"tool_choice": "auto"}, "tool_choice"),
    (MESSAGES, {"tool_choice": {}}, "tool_choice.type"),
    (MESSAGES, {"tool_choice": {"type": "required"}}, "tool_choice.type"),
    (MESSAGES, {"tool_choice": {"type": 1}}, "tool_choice.type"),
    (MESSAGES, {"tool_choice": {"type": "tool"}}, "tool_choice.name"),
    (MESSAGES, {"tool_choice": {"type": "tool", "name": ""}}, "tool_choice.name"),
    (MESSAGES, {"tool_choice": {"type": "tool", "name": "zz"}}, "tool_choice.name"),
    (MESSAGES, {"tool_choice": {"type": "any"}, "tools": []}, "tool_choice"),
    (
        MESSAGES,
        {"tool_choice": {"type": "auto", "disable_parallel_tool_use": "true"}},
        "tool_choice.disable_parallel_tool_use",
    ),
    (GENERATE, {"toolConfig": []}, "toolConfig"),
    (GENERATE, {"toolConfig": {"functionCallingConfig": "ANY"}}, "toolConfig.functionCallingConfig"),
    (GENERATE, calling("REQUIRED"), "toolConfig.functionCallingConfig.mode"),
    (GENERATE, calling("any"), "toolConfig.functionCallingConfig.mode"),
    (
        GENERATE,
        {"toolConfig": {"functionCallingConfig": {"mode": 1}}},
        "toolConfig.functionCallingConfig.mode",
    ),
    (GENERATE, calling("ANY", "zz"), "toolConfig.functionCallingConfig.allowedFunctionNames"),
    (GENERATE, calling("AUTO", "f"), "toolConfig.functionCallingConfig.allowedFunctionNames"),
    (
        GENERATE,
        {"tool_config": {"function_calling_config": {"mode": "ANY", "allowed_function_names": ["zz"]}}},
        "tool_config.function_calling_config.allowed_function_names",
    ),
    (GENERATE, {**calling("ANY"), "tools": []}, "toolConfig.functionCallingConfig.mode"),
]


@pytest.mark.parametrize("switch", [{}, ON], ids=["off", "on"])
@pytest.mark.parametrize(("surface", "bad", "field"), BAD)
def test_a_choice_that_cannot_be_meant_is_a_400_naming_it(
    standing: Callable[..., Flask],
    fake: FakeUpstream,
    surface: str,
    bad: Json,
    field: str,
    switch: dict[str, str],
) -> None:
    reply = ask(standing(**switch), surface, **{**asking.tools(surface, "f", "g"), **bad})

    assert reply.status_code == 400
    assert named_by(surface, reply) == field
    assert fake.captures() == []


@pytest.mark.parametrize("surface", [CHAT, RESPONSES])
def test_a_long_list_of_allowed_tools_is_kept_exactly(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str
) -> None:
    names = [f"tool_{number}" for number in range(200)]
    subset = {CHAT: chat_subset, RESPONSES: responses_subset}[surface]

    ask(standing(), surface, **asking.tools(surface, *names), **subset("auto", *reversed(names[::2])))

    assert [tool["name"] for tool in fake.captures()[0]["message"]["tools"]] == names[::2]


@pytest.mark.parametrize("surface", SURFACES)
def test_an_upstream_without_tools_refuses_them_whatever_the_choice(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str
) -> None:
    reply = ask(
        standing(), surface, model="local-echo", **asking.tools(surface, "f"), **CHOICES["required"][surface]
    )

    assert reply.status_code == 400
    assert "DEVIN_CONNECT" not in reply.text
    assert named_by(surface, reply).startswith("tool")
