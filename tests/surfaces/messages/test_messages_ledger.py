"""What messages says of each parameter, for upstreams that carry everything, the usual, and nothing."""

import pytest

from app.turn.faults import FaultKind, TurnFault
from app.turn.features import Feature
from tests.surfaces.messages.kit import (
    ALL,
    DEFAULT,
    SEALS,
    SURFACE,
    TOOL,
    body,
    conversation,
    findings,
    headers_of,
    message_of,
)

NOTHING = frozenset()
CALL = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
SCHEMA = {"type": "json_schema", "schema": {"type": "object"}}
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}


def refusal(request, features=DEFAULT, **options):
    with pytest.raises(TurnFault) as caught:
        findings(request, features, **options)
    assert caught.value.kind is FaultKind.UNSUPPORTED_PARAMETER
    return message_of(caught.value)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"service_tier": "auto", "speed": "standard", "fallbacks": [], "mcp_servers": [], "diagnostics": {}},
        {"stop_sequences": [], "stream": False, "tools": [], "system": [], "context_management": {}},
        {"container": None, "thread": None, "compaction": None, "inference_geo": None},
        {"tools": [TOOL], "system": "S", "tool_choice": {"type": "auto", "disable_parallel_tool_use": False}},
        {
            "tools": [{**TOOL, "strict": False, "defer_loading": False, "allowed_callers": ["direct"]}],
            "system": "S",
        },
        {"stop_sequences": ["END"], "stream": True, "metadata": {"user_id": "u"}},
        {"thinking": {"type": "disabled"}},
        {"temperature": 0.5, "top_p": 0.5, "top_k": 5},
    ],
)
def test_what_asks_for_nothing_or_is_served_exactly_has_no_header(fields):
    said = headers_of(body(**fields))
    assert (said.ignored, said.emulated) == ("", "")


@pytest.mark.parametrize(
    ("fields", "ignored"),
    [
        ({"thinking": {"type": "enabled", "budget_tokens": 1024}}, "thinking.type, thinking.budget_tokens"),
        ({"thinking": {"type": "adaptive", "display": "omitted"}}, "thinking.type"),
        ({"thinking": {"type": "adaptive", "display": "updates"}}, "thinking.type, thinking.display"),
        ({"thinking": {"type": "adaptive", "block_binding": {}}}, "thinking.type, thinking.block_binding"),
        ({"output_config": {"effort": "high"}}, "output_config.effort"),
        ({"output_config": {"task_budget": {"type": "tokens", "total": 9}}}, "output_config.task_budget"),
        ({"context_management": {"edits": [{"type": "anything_new"}]}}, "context_management"),
        ({"cache_control": {"type": "ephemeral", "ttl": "1h"}}, "cache_control"),
        ({"service_tier": "standard_only"}, "service_tier"),
        ({"speed": "fast"}, "speed"),
        ({"diagnostics": {"previous_message_id": "msg_1"}}, "diagnostics"),
        ({"fallbacks": [{"model": "n"}]}, "fallbacks"),
        ({"fallback_credit_token": {"token": "t"}}, "fallback_credit_token"),
        ({"billing_policy": {"type": "billing_policy"}}, "billing_policy"),
        ({"context_hint": "x"}, "context_hint"),
        ({"betas": ["x"]}, "betas"),
        ({"wishes": 1}, "wishes"),
        ({"metadata": {"user_id": "u", "team": "t"}}, "metadata.team"),
        ({"tools": [{**TOOL, "defer_loading": True}]}, "tools[0].defer_loading"),
        ({"tools": [{**TOOL, "input_examples": [{"x": "1"}]}]}, "tools[0].input_examples"),
        ({"tools": [{**TOOL, "allowed_callers": ["code_execution_20250825"]}]}, "tools[0].allowed_callers"),
        ({"tools": [{**TOOL, "colour": "red"}]}, "tools[0].colour"),
        ({"tools": [TOOL, {"type": "tool_search_tool_regex", "name": "x"}]}, "tools[1].type"),
        ({"system": [{"type": "text", "text": "S", "cache_control": {}}]}, "system[0].cache_control"),
    ],
)
def test_ignored_parameters_are_headed_by_the_path_as_sent(fields, ignored):
    fields.setdefault("system", "S")
    assert headers_of(body(**fields)).ignored == ignored
    assert headers_of(body(**fields), ALL).ignored == ignored


@pytest.mark.parametrize(
    ("block", "ignored"),
    [
        (
            {"type": "text", "text": "a", "cache_control": {"type": "ephemeral", "scope": "global"}},
            ".cache_control",
        ),
        ({"type": "text", "text": "a", "citations": [{"type": "char_location"}]}, ".citations"),
        ({**IMAGE, "transformations": {"oversized_image": "error"}}, ".transformations"),
        ({"type": "mcp_tool_listing", "mcp_server_name": "s", "tools": []}, ".type"),
        ({"type": "fallback", "from": {}, "to": {}}, ".type"),
        ({"type": "text", "text": "a", "colour": "red"}, ".colour"),
        (
            {"type": "text", "text": "a", "cache_control": {"colour": 1}},
            ".cache_control, messages[0].content[0].cache_control.colour",
        ),
    ],
)
def test_ignored_parts_of_blocks_are_headed(block, ignored):
    assert headers_of(body(block)).ignored == "messages[0].content[0]" + ignored


@pytest.mark.parametrize(
    ("block", "emulated"),
    [
        ({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "a"}}, ".type"),
        ({"type": "search_result", "title": "T", "source": "s", "content": []}, ".type"),
        ({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}, ".type"),
        ({"type": "web_search_tool_result", "tool_use_id": "s", "content": []}, ".type"),
        ({"type": "compaction", "content": "summary"}, ".type"),
    ],
)
def test_emulated_blocks_are_headed(block, emulated):
    assert headers_of(body(block)).emulated == "messages[0].content[0]" + emulated


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"inference_geo": "us"}, "inference_geo"),
        ({"container": "c"}, "container"),
        ({"container": {"id": "c", "skills": []}}, "container"),
        ({"mcp_servers": [{"type": "url", "name": "n", "url": "u"}]}, "mcp_servers"),
        ({"thread": {"type": "create"}}, "thread"),
        ({"compaction": {"type": "summarize"}}, "compaction"),
        ({"tools": [{"type": "web_search_20250305", "name": "web_search", "max_uses": 8}]}, "tools.0.type"),
        ({"tools": [TOOL, {"type": "computer_20250124", "name": "computer"}]}, "tools.1.type"),
        ({"tools": [{"type": "mcp_toolset", "mcp_server_name": "s"}]}, "tools.0.type"),
    ],
)
def test_refusals_name_the_field_in_the_vendors_wording(fields, text):
    assert refusal(body(**fields)) == f"{text}: Extra inputs are not permitted"


@pytest.mark.parametrize(
    ("block", "path"),
    [
        ({"type": "container_upload", "file_id": "f"}, "type"),
        ({"type": "image", "source": {"type": "url", "url": "https://a"}}, "source.type"),
        ({"type": "image", "source": {"type": "file", "file_id": "f"}}, "source.type"),
        ({"type": "document", "source": {"type": "base64", "data": "JVBERi0="}}, "source.type"),
        ({"type": "document", "source": {"type": "url", "url": "https://a"}}, "source.type"),
        ({"type": "document", "source": {"type": "file", "file_id": "f"}}, "source.type"),
        (
            {"type": "document", "source": {"type": "text", "data": "a"}, "citations": {"enabled": True}},
            "citations.enabled",
        ),
    ],
)
def test_refused_blocks_name_their_path(block, path):
    assert refusal(body({"type": "text", "text": "a"}, block)) == (
        f"messages.0.content.1.{path}: Extra inputs are not permitted"
    )


def test_refused_blocks_inside_a_result_name_their_path():
    for inner, path in [
        ({"type": "browser_state", "tabs": []}, "type"),
        ({"type": "image", "source": {"type": "url", "url": "https://a"}}, "source.type"),
    ]:
        result = {"type": "tool_result", "tool_use_id": "a", "content": [inner]}
        assert refusal(conversation(("user", "u"), ("assistant", [CALL]), ("user", [result]))) == (
            f"messages.2.content.0.content.0.{path}: Extra inputs are not permitted"
        )


def test_text_inside_search_results_is_looked_into():
    text = {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}, "citations": [{}]}
    block = {"type": "search_result", "title": "T", "source": "s", "content": [text]}
    path = "messages[0].content[0].content[0]"
    assert headers_of(body(block)).ignored == f"{path}.cache_control, {path}.citations"


def test_changes_of_tools_inside_a_summary_are_looked_into():
    def summary(change):
        return conversation(
            ("assistant", [{"type": "compaction", "content": "s", "tool_changes": [change]}]), ("user", "u")
        )

    hosted = {
        "type": "tool_addition",
        "tool": {"type": "mcp_tool_reference", "server_name": "s", "name": "x"},
    }
    path = "messages.0.content.0.tool_changes.0"
    assert refusal(summary(hosted)) == f"{path}.tool.type: Extra inputs are not permitted"
    with pytest.raises(TurnFault) as caught:
        findings(summary({"type": "widget"}))
    assert message_of(caught.value).startswith(f"{path}.type: unknown value 'widget'")


def test_hosted_tools_are_refused_for_themselves_even_when_they_are_chosen():
    request = body(
        tools=[{"type": "web_search_20250305", "name": "web_search"}],
        tool_choice={"type": "tool", "name": "web_search"},
    )
    assert refusal(request) == "tools.0.type: Extra inputs are not permitted"


def test_temperature_zero_is_emulated_where_the_upstream_fails_on_it():
    assert headers_of(body(temperature=0)).emulated == "temperature"
    assert headers_of(body(temperature=0), ALL).emulated == ""


def test_preferences_are_ignored_by_an_upstream_that_carries_nothing():
    said = headers_of(body(temperature=0, top_p=0.5, top_k=5), NOTHING)
    assert (said.ignored, said.emulated) == ("max_tokens, temperature, top_p, top_k", "")


@pytest.mark.parametrize(
    ("request_body", "path"),
    [
        (body(system="S"), "system"),
        (body(tools=[TOOL]), "tools"),
        (body(IMAGE), "messages.0.content.0.type"),
        (conversation(("user", "u"), ("assistant", [CALL])), "messages.1.content.0.type"),
        (conversation(("system", "S"), ("user", "u")), "messages.0.role"),
    ],
)
def test_content_is_refused_by_an_upstream_that_carries_nothing(request_body, path):
    assert refusal(request_body, NOTHING) == f"{path}: Extra inputs are not permitted"


def test_tools_without_system_text_get_a_neutral_line():
    assert headers_of(body(tools=[TOOL])).emulated == "tools"
    assert headers_of(body(tools=[TOOL], system="S")).emulated == ""
    assert headers_of(body(tools=[TOOL]), ALL).emulated == ""
    assert headers_of(body(tools=[TOOL], tool_choice={"type": "none"})).emulated == ""


def test_client_tools_of_the_vendor_are_emulated():
    request = body(tools=[{"type": "bash_20250124", "name": "bash"}], system="S")
    assert headers_of(request).emulated == "tools[0].type"


@pytest.mark.parametrize(
    ("choice", "ignored", "emulated"),
    [
        ({"type": "auto"}, "", ""),
        ({"type": "none"}, "", ""),
        ({"type": "any"}, "tool_choice.type", ""),
        ({"type": "tool", "name": "f"}, "tool_choice.type", "tool_choice.name"),
    ],
)
def test_a_forced_choice_without_a_field_for_it(choice, ignored, emulated):
    request = body(tools=[TOOL], system="S", tool_choice=choice)
    said = headers_of(request)
    assert (said.ignored, said.emulated) == (ignored, emulated)
    said = headers_of(request, ALL)
    assert (said.ignored, said.emulated) == ("", "")


def test_the_parallel_hint_is_ignored_only_when_it_is_true_and_there_is_no_field_for_it():
    def hinted(value, features=DEFAULT):
        choice = {"type": "auto", "disable_parallel_tool_use": value}
        return headers_of(body(tools=[TOOL], system="S", tool_choice=choice), features).ignored

    assert hinted(True) == "tool_choice.disable_parallel_tool_use"
    assert hinted(True, ALL) == ""
    assert hinted(False) == hinted(None) == ""
    row = SURFACE.ledger.rows["tool_choice.disable_parallel_tool_use"]
    assert row.hint_event == "parallel_tool_calls_hint_ignored"


def test_the_parallel_hint_is_refused_in_strict_handling_by_the_name_that_was_sent():
    request = body(tools=[TOOL], tool_choice={"type": "auto", "disable_parallel_tool_use": True})
    text = "tool_choice.disable_parallel_tool_use: Extra inputs are not permitted"
    assert refusal(request, strict=True) == text


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"output_config": {"format": SCHEMA}}, "output_config.format"),
        ({"output_format": SCHEMA}, "output_format"),
    ],
)
def test_an_output_format_is_described_and_its_guarantee_is_missing(fields, path):
    said = headers_of(body(**fields))
    assert (said.ignored, said.emulated) == (f"{path}.type", path)
    said = headers_of(body(**fields), ALL)
    assert (said.ignored, said.emulated) == ("", "")


def test_strict_tools_need_a_field_for_it():
    request = body(tools=[{**TOOL, "strict": True}], system="S")
    assert headers_of(request, ALL).ignored == ""
    assert headers_of(request, ALL - {Feature.STRICT_TOOLS}).ignored == "tools[0].strict"


def test_a_failed_result_is_marked_where_there_is_no_flag():
    result = {"type": "tool_result", "tool_use_id": "a", "content": "42", "is_error": True}
    request = conversation(("user", "u"), ("assistant", [CALL]), ("user", [result]))
    assert headers_of(request).emulated == "messages[2].content[0].is_error"
    assert headers_of(request, ALL).emulated == ""


def test_a_tool_reference_is_emulated():
    result = {
        "type": "tool_result",
        "tool_use_id": "a",
        "content": [{"type": "tool_reference", "tool_name": "WebFetch"}],
    }
    request = conversation(("user", "u"), ("assistant", [CALL]), ("user", [result]))
    assert headers_of(request).emulated == "messages[2].content[0].content[0].type"


def test_late_system_text_is_emulated_and_early_is_not():
    assert (
        headers_of(conversation(("user", "u"), ("system", "S"), ("user", "v"))).emulated == "messages[1].role"
    )
    assert headers_of(conversation(("system", "S"), ("user", "u"))).emulated == ""


def test_a_prefill_is_emulated():
    assert headers_of(conversation(("user", "u"), ("assistant", "a"))).emulated == "messages[1].role"
    assert headers_of(conversation(("user", "u"), ("assistant", "a"), ("user", "v"))).emulated == ""


def test_our_own_thinking_is_forwarded_or_ignored_and_anybody_elses_always_ignored():
    def said_of(signature, features):
        thinking = {"type": "thinking", "thinking": "hm", "signature": signature}
        request = conversation(("user", "u"), ("assistant", [thinking]), ("user", "v"))
        return headers_of(request, features).ignored

    assert said_of(SEALS.sign("hm"), ALL) == ""
    assert said_of(SEALS.sign("hm"), DEFAULT) == "messages[1].content[0].type"
    assert said_of("SIG", ALL) == "messages[1].content[0].type"
    assert said_of("SIG", DEFAULT) == "messages[1].content[0].type"


def test_the_caller_of_a_replayed_call_is_free_when_it_was_the_model():
    direct = conversation(("user", "u"), ("assistant", [{**CALL, "caller": {"type": "direct"}}]))
    assert headers_of(direct).ignored == ""
    hosted = conversation(
        ("user", "u"), ("assistant", [{**CALL, "caller": {"type": "code_execution_20250825"}}])
    )
    assert headers_of(hosted).ignored == "messages[1].content[0].caller"


def test_beta_tokens_are_noted_when_nothing_else_speaks_for_them():
    header = (
        "effort-2025-11-24, interleaved-thinking-2025-05-14,not-a-beta, not-a-beta,,prompt-caching-2024-07-31"
    )
    assert headers_of(body(), headers={"anthropic-beta": header}).ignored == (
        "anthropic-beta:interleaved-thinking-2025-05-14, anthropic-beta:not-a-beta"
    )
    assert refusal(body(), headers={"anthropic-beta": header}, strict=True) == (
        "Unexpected value(s) `interleaved-thinking-2025-05-14`, `not-a-beta` for the `anthropic-beta` header"
    )


def test_profiles_and_workspaces_are_headers_that_are_ignored():
    headers = {"anthropic-user-profile-id": "p", "anthropic-workspace-id": "w"}
    assert headers_of(body(), headers=headers).ignored == "anthropic-user-profile-id, anthropic-workspace-id"


def test_every_row_has_a_reason_and_says_where_forwarded_values_go():
    for row in SURFACE.ledger.rows.values():
        assert row.reason, row.path
        if row.plain and not row.silent:
            assert row.wire, row.path


def test_every_row_that_speaks_has_samples():
    assert [row.path for row in SURFACE.ledger.rows.values() if not row.silent and not row.samples] == []
