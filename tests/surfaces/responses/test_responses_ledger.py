"""What becomes of each parameter, on an upstream with everything, with the defaults, and with nothing."""

from __future__ import annotations

from typing import Any

import pytest

from app.turn.features import Feature
from tests.support.responses import (
    DEFAULT,
    EVERYTHING,
    NOTHING,
    PNG,
    SEALS,
    SURFACE,
    body,
    call,
    custom,
    findings,
    function,
    headers,
    namespace,
    reasoning,
    refusal,
    result,
    user,
)

LARK = {"type": "grammar", "syntax": "lark", "definition": "start: /.+/s"}
STRICT_FORMAT = {"format": {"type": "json_schema", "name": "o", "schema": {}, "strict": True}}
SYSTEM = {"instructions": "S"}


def ignored(path: str) -> dict[str, str]:
    return {"x-candor-ignored": path}


def emulated(path: str) -> dict[str, str]:
    return {"x-candor-emulated": path}


@pytest.mark.parametrize(
    "keys",
    [
        {"parallel_tool_calls": True},
        {"tool_choice": "auto"},
        {"stream": False},
        {"store": False},
        {"background": False},
        {"truncation": "disabled"},
        {"service_tier": "auto"},
        {"service_tier": "default"},
        {"top_logprobs": 0},
        {"text": {"format": {"type": "text"}, "verbosity": "medium"}},
        {"metadata": {}},
        {"include": []},
        {"tools": []},
        {"stream_options": {"include_obfuscation": False}},
        {"reasoning": {"effort": None, "summary": None}},
        {"generate": True},
        {"prompt_cache_options": {"prewarm": False}},
        {"context_management": []},
        {"image": {"context_compression": "auto"}},
    ],
)
@pytest.mark.parametrize("features", [EVERYTHING, DEFAULT, NOTHING], ids=["all", "default", "none"])
def test_responses_values_that_ask_for_nothing_are_free(
    keys: dict[str, Any], features: frozenset[Feature]
) -> None:
    assert headers(body(**keys), features) == {}


@pytest.mark.parametrize(
    ("keys", "path"),
    [
        ({"text": {"verbosity": "low"}}, "text.verbosity"),
        ({"reasoning": {"effort": "high"}}, "reasoning.effort"),
        ({"reasoning": {"context": "all_turns"}}, "reasoning.context"),
        ({"reasoning": {"mode": "pro"}}, "reasoning.mode"),
        ({"service_tier": "priority"}, "service_tier"),
        ({"truncation": "auto"}, "truncation"),
        ({"store": True}, "store"),
        ({"max_tool_calls": 1}, "max_tool_calls"),
        ({"context_management": [{"type": "compaction", "compact_threshold": 1}]}, "context_management"),
        ({"background_options": {"completion_window": "2h"}}, "background_options"),
        ({"access_programs": {"cyber": "standard"}}, "access_programs"),
        ({"image": {"context_compression": "enabled"}}, "image.context_compression"),
        ({"prompt_cache_key": "k"}, "prompt_cache_key"),
        ({"prompt_cache_options": {"ttl": "30m"}}, "prompt_cache_options.ttl"),
        ({"prompt_cache_retention": "24h"}, "prompt_cache_retention"),
        ({"safety_identifier": "s"}, "safety_identifier"),
        ({"user": "u"}, "user"),
        ({"client_metadata": {"turn_id": "t"}}, "client_metadata"),
        ({"personality": "friendly"}, "personality"),
        ({"stream_options": {"include_obfuscation": True}}, "stream_options.include_obfuscation"),
        ({"include": ["web_search_call.results"]}, "include[0]"),
        ({"colour": "red"}, "colour"),
        ({"reasoning": {"colour": "red"}}, "reasoning.colour"),
        ({"text": {"format": {"type": "text", "colour": "red"}}}, "text.format.colour"),
        ({"tools": [function(defer_loading=True)], **SYSTEM}, "tools[0].defer_loading"),
        ({"tools": [function(output_schema={"type": "object"})], **SYSTEM}, "tools[0].output_schema"),
        ({"tools": [function(allowed_callers=["programmatic"])], **SYSTEM}, "tools[0].allowed_callers"),
        ({"tools": [function(**{"async": True})], **SYSTEM}, "tools[0].async"),
        ({"tools": [function(colour="red")], **SYSTEM}, "tools[0].colour"),
        ({"tools": [namespace("n", function(colour="red"))], **SYSTEM}, "tools[0].tools[0].colour"),
        ({"tools": [{**namespace("n", function()), "description": "d"}], **SYSTEM}, "tools[0].description"),
        ({"tools": [{"type": "tool_search"}, function()], **SYSTEM}, "tools[0].type"),
    ],
)
def test_responses_names_what_it_ignores(keys: dict[str, Any], path: str) -> None:
    assert headers(body(**keys)) == ignored(path)
    strict = refusal(body(**keys), strict=True)
    assert (strict["param"], strict["code"]) == (path, "unsupported_parameter")


@pytest.mark.parametrize(
    ("items", "path"),
    [
        ([user({"type": "input_image", "image_url": PNG, "detail": "high"})], "input[0].content[0].detail"),
        (
            [user({"type": "input_text", "text": "a", "prompt_cache_breakpoint": {"mode": "explicit"}})],
            "input[0].content[0].prompt_cache_breakpoint",
        ),
        ([{"role": "assistant", "content": "a", "phase": "commentary"}, user()], "input[0].phase"),
        (
            [
                user(),
                {"role": "assistant", "content": [{"type": "output_text", "text": "a", "annotations": [{}]}]},
            ],
            "input[1].content[0].annotations",
        ),
        ([user(), {"type": "configuration_update", "reasoning": {"effort": "low"}}], "input[1].type"),
        ([user(), {"type": "mcp_list_tools", "id": "m", "server_label": "s", "tools": []}], "input[1].type"),
        ([user(), call(caller={"type": "program", "caller_id": "p"}), result()], "input[1].caller"),
        ([user(), call(colour="red"), result()], "input[1].colour"),
        ([user(colour="red") if False else {**user(), "colour": "red"}], "input[0].colour"),
    ],
)
def test_responses_names_what_it_ignores_in_items(items: list[Any], path: str) -> None:
    assert headers(body(*items)) == ignored(path)


def test_responses_labels_of_items_are_no_finding() -> None:
    items = [
        {"type": "message", "id": "msg_1", "status": "completed", "role": "user", "content": "hi"},
        call(id="fc_1", status="completed", caller={"type": "direct"}),
        result(id="fco_1", status="completed"),
    ]

    assert headers(body(*items)) == {}


@pytest.mark.parametrize(
    ("keys", "path"),
    [
        ({"temperature": 0}, "temperature"),
        ({"reasoning": {"summary": "auto"}}, "reasoning.summary"),
        ({"reasoning": {"generate_summary": "auto"}}, "reasoning.generate_summary"),
        ({"tools": [function()]}, "tools"),
        ({"tools": [custom()], **SYSTEM}, "tools[0].type"),
    ],
)
def test_responses_names_what_it_emulates(keys: dict[str, Any], path: str) -> None:
    assert headers(body(**keys)) == emulated(path)


@pytest.mark.parametrize(
    "keys",
    [
        {"stream": True},
        {"metadata": {"k": "v"}},
        {"include": ["reasoning.encrypted_content"]},
        {"tool_choice": "none", "tools": [function()]},
        {"tools": [namespace("n", function())], **SYSTEM},
        {"tools": [{"type": "shell"}, {"type": "apply_patch"}, {"type": "local_shell"}], **SYSTEM},
        {"tools": [{"type": "tool_search", "execution": "client"}], **SYSTEM},
    ],
)
def test_responses_exact_emulations_are_counted_and_not_headed(keys: dict[str, Any]) -> None:
    assert headers(body(**keys)) == {}
    assert findings(body(**keys)).emulated


# The format of the answer


@pytest.mark.parametrize(
    ("text", "guarantee"),
    [
        ({"format": {"type": "json_object"}}, "text.format.type"),
        ({"format": {"type": "json_schema", "name": "o", "schema": {}}}, "text.format.type"),
        (STRICT_FORMAT, "text.format.strict"),
    ],
)
def test_responses_format_is_described_and_the_missing_guarantee_named(
    text: dict[str, Any], guarantee: str
) -> None:
    assert headers(body(text=text)) == {**ignored(guarantee), **emulated("text.format")}
    assert headers(body(text=text), EVERYTHING) == {}


# parallel_tool_calls and tool_choice


def test_responses_parallel_false_is_served_and_named() -> None:
    assert headers(body(parallel_tool_calls=False)) == ignored("parallel_tool_calls")
    assert headers(body(parallel_tool_calls=False), EVERYTHING) == {}


def test_responses_parallel_false_is_refused_when_strict_and_names_the_switch_if_there_is_one() -> None:
    error = refusal(body(parallel_tool_calls=False), strict=True, switch="SOME_SWITCH=1")

    assert (error["param"], error["code"]) == ("parallel_tool_calls", "unsupported_parameter")
    assert "SOME_SWITCH=1" in error["message"]
    assert "SWITCH" not in refusal(body(parallel_tool_calls=False), NOTHING, strict=True)["message"]


TWO = {"tools": [function("f"), function("g")], **SYSTEM}
ONLY_F = [{"type": "function", "name": "f"}]


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("required", ignored("tool_choice")),
        ({"type": "function", "name": "f"}, {**ignored("tool_choice"), **emulated("tool_choice")}),
        ({"type": "allowed_tools", "mode": "auto", "tools": ONLY_F}, emulated("tool_choice")),
        (
            {"type": "allowed_tools", "mode": "required", "tools": ONLY_F},
            {**ignored("tool_choice"), **emulated("tool_choice")},
        ),
        ("none", {}),
        ("auto", {}),
    ],
)
def test_responses_tool_choice_by_the_table(choice: Any, expected: dict[str, str]) -> None:
    assert headers(body(tool_choice=choice, **TWO)) == expected


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("required", {}),
        ({"type": "function", "name": "f"}, {}),
        ({"type": "allowed_tools", "mode": "auto", "tools": ONLY_F}, emulated("tool_choice")),
        ({"type": "allowed_tools", "mode": "required", "tools": ONLY_F}, emulated("tool_choice")),
        ("none", {}),
    ],
)
def test_responses_tool_choice_by_the_table_where_it_is_carried(
    choice: Any, expected: dict[str, str]
) -> None:
    assert headers(body(tool_choice=choice, **TWO), EVERYTHING) == expected


# Hosted tools


WITHHELD = (
    "web_search",
    "web_search_2025_08_26",
    "web_search_preview",
    "web_search_preview_2025_03_11",
    "image_generation",
)
REFUSED = (
    {"type": "file_search", "vector_store_ids": ["v"]},
    {"type": "code_interpreter", "container": "c"},
    {"type": "mcp", "server_label": "s", "server_url": "https://example.com"},
    {"type": "computer"},
    {"type": "computer_use_preview", "display_height": 1, "display_width": 1, "environment": "linux"},
    {"type": "programmatic_tool_calling"},
    {"type": "shell", "environment": {"type": "container_auto"}},
)


@pytest.mark.parametrize("kind", WITHHELD)
def test_responses_hosted_tool_that_clients_declare_is_left_out_and_named(kind: str) -> None:
    request = body(tools=[{"type": kind}, function()], **SYSTEM)

    assert headers(request) == ignored("tools[0].type")


@pytest.mark.parametrize("kind", WITHHELD)
@pytest.mark.parametrize(
    "keys",
    [
        {"tools": ["it"]},
        {"tools": ["it", function()], "tool_choice": "required"},
        {"tools": ["it"], "tool_choice": "required"},
    ],
    ids=["alone", "forced", "forced_alone"],
)
def test_responses_hosted_tool_is_refused_when_it_is_demanded(kind: str, keys: dict[str, Any]) -> None:
    tools = [{"type": kind} if tool == "it" else tool for tool in keys["tools"]]

    error = refusal(body(**{**keys, "tools": tools}))

    assert (error["param"], error["code"]) == ("tools[0].type", "unsupported_parameter")


@pytest.mark.parametrize("kind", [*WITHHELD, "file_search", "computer_use", "mcp", "code_interpreter"])
def test_responses_choice_of_a_hosted_tool_is_refused(kind: str) -> None:
    request = body(tools=[function()], tool_choice={"type": kind}, **SYSTEM)

    assert refusal(request)["param"] == "tool_choice.type"


def test_responses_hosted_tool_may_be_among_the_allowed_ones_but_not_the_only_one() -> None:
    tools = [{"type": "web_search"}, function()]
    both = {"type": "allowed_tools", "mode": "auto", "tools": [*ONLY_F, {"type": "web_search"}]}
    alone = {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "web_search"}]}
    forced = {**both, "mode": "required"}

    assert headers(body(tools=tools, tool_choice=both, **SYSTEM)) == {
        **ignored("tools[0].type"),
        **emulated("tool_choice"),
    }
    assert refusal(body(tools=tools, tool_choice=alone, **SYSTEM))["param"] == "tool_choice.tools[0].type"
    assert refusal(body(tools=tools, tool_choice=forced, **SYSTEM))["param"] == "tool_choice.tools[1].type"


@pytest.mark.parametrize("tool", REFUSED, ids=lambda tool: tool["type"])
def test_responses_every_other_hosted_tool_is_refused(tool: dict[str, Any]) -> None:
    error = refusal(body(tools=[function(), tool], **SYSTEM))

    path = "tools[1].environment.type" if tool["type"] == "shell" else "tools[1].type"
    assert (error["param"], error["code"]) == (path, "unsupported_parameter")


def test_responses_custom_grammar_is_named() -> None:
    assert headers(body(tools=[custom(format=LARK)], **SYSTEM)) == {
        **ignored("tools[0].format"),
        **emulated("tools[0].type"),
    }


# Refusals


@pytest.mark.parametrize(
    ("request_body", "param"),
    [
        (body(background=True), "background"),
        (body(conversation="conv_1"), "conversation"),
        (body(conversation={"id": "conv_1"}), "conversation"),
        (body(prompt={"id": "p", "variables": {}}), "prompt"),
        (body(moderation={"model": "m"}), "moderation"),
        (body(top_logprobs=1), "top_logprobs"),
        (body(include=["message.output_text.logprobs"]), "include[0]"),
        (body(generate=False), "generate"),
        (body(prompt_cache_options={"prewarm": True}), "prompt_cache_options.prewarm"),
        (body(user({"type": "input_file", "file_id": "f"})), "input[0].content[0].type"),
        (body(user(), {"type": "compaction", "encrypted_content": "e"}), "input[1].type"),
        (body(user(), {"type": "compaction_trigger"}), "input[1].type"),
        (body(user(), {"type": "computer_call", "id": "c"}), "input[1].type"),
        (body(user(), {"type": "computer_call_output", "id": "c"}), "input[1].type"),
        (body(user(), {"type": "mcp_approval_request", "id": "m"}), "input[1].type"),
        (body(user(), {"type": "mcp_approval_response", "id": "m"}), "input[1].type"),
        (body(user(), {"type": "program", "id": "p"}), "input[1].type"),
        (body(user(), {"type": "program_output", "id": "p"}), "input[1].type"),
    ],
)
def test_responses_refuses_what_would_change_the_answer(request_body: dict[str, Any], param: str) -> None:
    for features in (EVERYTHING, NOTHING):
        assert refusal(request_body, features)["param"] == param


def test_responses_file_in_a_result_is_refused() -> None:
    request = body(user(), call(), result(output=[{"type": "input_file", "file_data": "AAAA"}]))

    assert refusal(request)["param"] == "input[2].output[0].type"


@pytest.mark.parametrize(
    ("key", "value"), [("file_id", "file-a"), ("image_url", "https://example.com/a.png")]
)
def test_responses_image_that_is_not_in_the_body_is_refused(key: str, value: str) -> None:
    request = body(user({"type": "input_image", key: value}))

    assert refusal(request)["param"] == f"input[0].content[0].{key}"


def test_responses_refusal_lists_everything_that_is_refused() -> None:
    error = refusal(body(background=True, moderation={"model": "m"}))

    assert error["message"] == (
        "Unsupported parameter: 'background'. A turn that runs on its own needs a queue. "
        "Also unsupported: 'moderation'."
    )


# An upstream with nothing


@pytest.mark.parametrize("key", ["temperature", "top_p", "top_k", "max_output_tokens"])
def test_responses_preferences_are_ignored_where_nothing_carries_them(key: str) -> None:
    assert headers(body(**{key: 1}), NOTHING) == ignored(key)
    assert headers(body(**{key: 1})) == {}


def test_responses_content_is_refused_where_nothing_carries_it() -> None:
    image = {"type": "input_image", "image_url": PNG}
    brought = {"type": "additional_tools", "role": "developer", "tools": [function()]}

    assert refusal(body(user(image)), NOTHING)["param"] == "input[0].content[0].type"
    assert refusal(body(tools=[function()]), NOTHING)["param"] == "tools"
    assert refusal(body(brought, user()), NOTHING)["param"] == "input[0].tools"
    assert refusal(body(user(), call(), result()), NOTHING)["param"] == "input[1].type"
    assert headers(body(tools=[function()], tool_choice="none"), NOTHING) == {}


def test_responses_strict_tools_by_the_feature() -> None:
    request = body(tools=[function(strict=True)], **SYSTEM)

    assert headers(request) == {}
    assert headers(request, DEFAULT - {Feature.STRICT_TOOLS}) == ignored("tools[0].strict")


def test_responses_own_reasoning_is_ignored_where_the_upstream_does_not_take_it_back() -> None:
    own = body(user(), reasoning(encrypted_content=SEALS.wrap("hm")))
    foreign = body(user(), reasoning(encrypted_content="blob"))

    assert headers(own) == ignored("input[1].encrypted_content")
    assert headers(own, EVERYTHING) == {}
    assert headers(foreign, EVERYTHING) == ignored("input[1].encrypted_content")


def test_responses_failed_patch_is_marked_where_the_upstream_has_no_flag() -> None:
    patch = {"type": "apply_patch_call", "call_id": "a", "operation": {"type": "delete_file", "path": "p"}}
    failed = {"type": "apply_patch_call_output", "call_id": "a", "status": "failed", "output": "o"}

    assert headers(body(user(), patch, failed)) == emulated("input[2].status")
    assert headers(body(user(), patch, failed), EVERYTHING) == {}
    assert headers(body(user(), patch, {**failed, "status": "completed"})) == {}


def test_responses_every_row_says_why() -> None:
    for row in SURFACE.ledger.rows.values():
        assert row.reason.endswith("."), row.path
        assert len(row.reason) < 120, row.path
