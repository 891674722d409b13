"""Every kind of content block, as messages decodes it."""

import pytest

from app.ledger import Disposition, Note
from app.turn.turn import (
    ImagePart,
    Message,
    ReasoningPart,
    TextPart,
    Tool,
    ToolCallPart,
    ToolResultPart,
)
from tests.surfaces.messages.kit import SEALS, TOOL, body, conversation, decode

PNG = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
CALL = {"type": "tool_use", "id": "a", "name": "f", "input": {"x": "1"}}


def user_parts(*blocks):
    [message] = decode(body(*blocks)).turn.messages
    assert message.role == "user"
    return message.parts


def assistant_parts(*blocks):
    turn = decode(conversation(("user", "hi"), ("assistant", list(blocks)), ("user", "go on"))).turn
    assert [message.role for message in turn.messages] == ["user", "assistant", "user"]
    return turn.messages[1].parts


def result_parts(content, **fields):
    """The parts of a tool result with ``content``."""
    result = {"type": "tool_result", "tool_use_id": "a", "content": content, **fields}
    turn = decode(conversation(("user", "hi"), ("assistant", [CALL]), ("user", [result]))).turn
    [part] = turn.messages[2].parts
    return part.parts


def test_text_is_text_and_empty_text_makes_no_message():
    assert user_parts({"type": "text", "text": "a"}, {"type": "text", "text": ""}) == [TextPart("a")]
    assert decode(conversation(("user", ""), ("user", "b"))).turn.messages == [
        Message("user", [TextPart("b")], "messages[1]")
    ]


def test_images_keep_their_base64_as_it_is():
    assert user_parts({"type": "image", "source": PNG}) == [ImagePart("iVBORw0KGgo=", "image/png")]


def test_a_call_keeps_its_input_and_its_path():
    turn = decode(conversation(("user", "hi"), ("assistant", [CALL]))).turn
    assert turn.messages[1].parts == [ToolCallPart("a", "f", '{"x":"1"}', "messages[1].content[0]")]


def test_a_result_holds_text_and_images_in_order():
    assert result_parts([{"type": "text", "text": "pic"}, {"type": "image", "source": PNG}]) == [
        TextPart("pic"),
        ImagePart("iVBORw0KGgo=", "image/png"),
    ]


def test_a_result_may_be_a_string_or_nothing():
    assert result_parts("42") == [TextPart("42")]
    assert result_parts("") == []
    assert result_parts(None) == []


def test_a_result_that_failed_says_so():
    for failed in (True, False):
        result = {"type": "tool_result", "tool_use_id": "a", "content": "42", "is_error": failed}
        turn = decode(conversation(("user", "hi"), ("assistant", [CALL]), ("user", [result]))).turn
        assert turn.messages[2].parts == [
            ToolResultPart("a", [TextPart("42")], "messages[2].content[0]", is_error=failed)
        ]


def test_a_tool_reference_becomes_a_line_of_text():
    assert result_parts([{"type": "tool_reference", "tool_name": "WebFetch"}]) == [
        TextPart("[tool reference: WebFetch]")
    ]


def test_documents_with_text_are_put_into_the_message():
    source = {"type": "text", "media_type": "text/plain", "data": "the text"}
    assert user_parts({"type": "document", "source": source}) == [TextPart("the text")]
    titled = {"type": "document", "title": "T", "context": "C", "source": source}
    assert user_parts(titled) == [TextPart("[document: T]\nC\nthe text")]
    assert result_parts([titled]) == [TextPart("[document: T]\nC\nthe text")]


def test_documents_of_blocks_keep_text_and_images_in_place():
    inner = [{"type": "text", "text": "a"}, {"type": "image", "source": PNG}, {"type": "text", "text": "b"}]
    block = {"type": "document", "title": "T", "source": {"type": "content", "content": inner}}
    assert user_parts(block) == [
        TextPart("[document: T]"),
        TextPart("a"),
        ImagePart("iVBORw0KGgo=", "image/png"),
        TextPart("b"),
    ]
    short = {"type": "document", "source": {"type": "content", "content": "all of it"}}
    assert user_parts(short) == [TextPart("all of it")]


def test_search_results_are_put_into_the_message():
    block = {
        "type": "search_result",
        "title": "T",
        "source": "https://a.example",
        "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
    }
    assert user_parts(block) == [TextPart("[search result: T]\nhttps://a.example\na\nb")]


def test_our_own_thinking_keeps_its_place():
    thinking = {"type": "thinking", "thinking": "hm", "signature": SEALS.sign("hm")}
    redacted = {"type": "redacted_thinking", "data": SEALS.wrap("hidden")}
    text = {"type": "text", "text": "so"}
    assert assistant_parts(thinking, text, redacted) == [
        ReasoningPart("hm"),
        TextPart("so"),
        ReasoningPart("hidden"),
    ]


@pytest.mark.parametrize(
    "block",
    [
        {"type": "thinking", "thinking": "hm", "signature": "SIG"},
        {"type": "thinking", "thinking": "hm", "signature": ""},
        {"type": "thinking", "thinking": "hm"},
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "thinking", "thinking": "other", "signature": SEALS.sign("hm")},
        {"type": "redacted_thinking", "data": "EmwKAhgBEgy"},
    ],
)
def test_anybody_elses_thinking_is_noted_as_ignored_and_never_a_fault(block):
    request = conversation(
        ("user", "hi"), ("assistant", [block, {"type": "text", "text": "so"}]), ("user", "go")
    )
    decoded = decode(request)
    assert decoded.turn.messages[1].parts == [TextPart("so")]
    assert decoded.notes == [
        Note(
            f"messages[].content[].type={block['type']}",
            "messages[1].content[0].type",
            Disposition.IGNORED,
        )
    ]


@pytest.mark.parametrize(
    ("block", "text"),
    [
        (
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}},
            '[web_search call] {"query":"x"}',
        ),
        (
            {"type": "mcp_tool_use", "id": "s", "name": "get", "server_name": "files", "input": {}},
            "[files.get call] {}",
        ),
        (
            {
                "type": "web_search_tool_result",
                "tool_use_id": "s",
                "content": [
                    {"type": "web_search_result", "title": "T", "url": "https://a", "encrypted_content": "zz"}
                ],
            },
            "[web_search result]\ntitle: T\nurl: https://a",
        ),
        (
            {
                "type": "web_search_tool_result",
                "tool_use_id": "s",
                "content": {"type": "web_search_tool_result_error", "error_code": "unavailable"},
            },
            "[web_search result]\nerror_code: unavailable",
        ),
        (
            {
                "type": "web_fetch_tool_result",
                "tool_use_id": "s",
                "content": {
                    "type": "web_fetch_result",
                    "url": "https://a",
                    "content": {
                        "type": "document",
                        "source": {"type": "text", "media_type": "text/plain", "data": "page"},
                    },
                },
            },
            "[web_fetch result]\nurl: https://a\npage",
        ),
        (
            {
                "type": "web_fetch_tool_result",
                "tool_use_id": "s",
                "content": {
                    "type": "web_fetch_result",
                    "url": "https://a",
                    "content": {
                        "type": "document",
                        "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="},
                    },
                },
            },
            "[web_fetch result]\nurl: https://a",
        ),
        (
            {
                "type": "code_execution_tool_result",
                "tool_use_id": "s",
                "content": {
                    "type": "code_execution_result",
                    "stdout": "out",
                    "stderr": "",
                    "return_code": 0,
                    "content": [{"type": "code_execution_output", "file_id": "file_1"}],
                },
            },
            "[code_execution result]\nout\nreturn_code: 0",
        ),
        (
            {
                "type": "bash_code_execution_tool_result",
                "tool_use_id": "s",
                "content": {
                    "type": "bash_code_execution_result",
                    "stdout": "",
                    "stderr": "e",
                    "return_code": 1,
                },
            },
            "[bash_code_execution result]\ne\nreturn_code: 1",
        ),
        (
            {
                "type": "text_editor_code_execution_tool_result",
                "tool_use_id": "s",
                "content": {"type": "text_editor_code_execution_view_result", "content": "file"},
            },
            "[text_editor_code_execution result]\nfile",
        ),
        (
            {
                "type": "tool_search_tool_result",
                "tool_use_id": "s",
                "content": {
                    "type": "tool_search_tool_search_result",
                    "tool_references": [{"type": "tool_reference", "tool_name": "f"}],
                },
            },
            "[tool_search result]\ntool_name: f",
        ),
        (
            {
                "type": "advisor_tool_result",
                "tool_use_id": "s",
                "content": {"type": "advisor_result", "text": "do it"},
            },
            "[advisor result]\ndo it",
        ),
        (
            {
                "type": "mcp_tool_result",
                "tool_use_id": "s",
                "is_error": True,
                "content": [{"type": "text", "text": "no"}],
            },
            "[mcp result, failed]\nno",
        ),
    ],
)
def test_history_of_hosted_tools_is_told_as_text(block, text):
    assert assistant_parts(block) == [TextPart(text)]


@pytest.mark.parametrize(
    "block",
    [
        {"type": "mcp_tool_listing", "mcp_server_name": "files", "tools": []},
        {"type": "fallback", "from": {"model": "a"}, "to": {"model": "b"}},
        {"type": "container_upload", "file_id": "file_1"},
        {"type": "image", "source": {"type": "url", "url": "https://a"}},
        {"type": "image", "source": {"type": "file", "file_id": "file_1"}},
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="},
        },
    ],
)
def test_kinds_that_the_ledger_speaks_for_are_skipped(block):
    assert user_parts({"type": "text", "text": "a"}, block) == [TextPart("a")]


def test_a_readable_summary_stands_in_place_of_all_before_it():
    turn = decode(
        conversation(
            ("user", "old"),
            ("assistant", [CALL]),
            ("user", [{"type": "tool_result", "tool_use_id": "a", "content": "1"}]),
            (
                "assistant",
                [
                    {"type": "text", "text": "lost"},
                    {"type": "compaction", "content": "summary"},
                    {"type": "text", "text": "new"},
                ],
            ),
            ("user", "go on"),
        )
    ).turn
    assert turn.messages == [
        Message("assistant", [TextPart("summary"), TextPart("new")], "messages[3]"),
        Message("user", [TextPart("go on")], "messages[4]"),
    ]


def added(tool):
    return {"type": "tool_addition", "tool": tool}


def removed(name):
    return {"type": "tool_removal", "tool": {"type": "tool_reference", "name": name}}


def test_the_history_adds_and_removes_tools():
    other = {"name": "g", "input_schema": {"type": "object"}}
    request = conversation(
        ("user", [{"type": "text", "text": "hi"}, removed("f")]),
        ("system", [added({"type": "tool_definition", "definition": {**other, "name": "h"}})]),
        ("user", "go on"),
        tools=[TOOL, other],
    )
    assert [tool.name for tool in decode(request).turn.tools] == ["g", "h"]
    request["messages"].append({"role": "user", "content": [added({"type": "tool_reference", "name": "f"})]})
    assert [tool.name for tool in decode(request).turn.tools] == ["g", "h", "f"]


def test_a_summary_brings_its_changes_of_tools_along():
    block = {"type": "compaction", "content": "summary", "tool_changes": [removed("f")]}
    request = conversation(("assistant", [block]), ("user", "hi"), tools=[TOOL])
    assert decode(request).turn.tools == []


def test_the_vendors_client_tools_get_their_fixed_schema():
    tools = decode(
        body(
            tools=[
                {"type": "bash_20250124", "name": "bash"},
                {"type": "text_editor_20250728", "name": "str_replace_based_edit_tool", "max_characters": 9},
                {"type": "memory_20250818", "name": "memory", "strict": True},
            ]
        )
    ).turn.tools
    assert [tool.name for tool in tools] == ["bash", "str_replace_based_edit_tool", "memory"]
    assert tools[0].parameters == (
        '{"type":"object","properties":{"command":{"type":"string"},"restart":{"type":"boolean"}},"required":[]}'
    )
    assert '"enum":["view","create","str_replace","insert"]' in tools[1].parameters
    assert '"enum":["view","create","str_replace","insert","delete","rename"]' in tools[2].parameters
    assert all(tool.description for tool in tools)
    assert [tool.strict for tool in tools] == [None, None, True]


def test_deferred_tools_are_loaded_and_search_tools_left_out():
    tools = decode(
        body(
            tools=[
                {**TOOL, "defer_loading": True},
                {"type": "tool_search_tool_bm25", "name": "tool_search_tool_bm25"},
                {"type": "web_search_20250305", "name": "web_search"},
            ]
        )
    ).turn.tools
    assert tools == [
        Tool("f", "does f", '{"type":"object","properties":{"x":{"type":"string"}}}'),
    ]


@pytest.mark.parametrize("schema", [{}, {"type": "object"}])
def test_an_empty_schema_becomes_an_empty_object_schema(schema):
    [tool] = decode(body(tools=[{"name": "f", "input_schema": schema}])).turn.tools
    assert tool.parameters == '{"type":"object","properties":{}}'


def test_a_cyclic_schema_passes_as_it_is():
    schema = {"type": "object", "$defs": {"N": {"properties": {"n": {"$ref": "#/$defs/N"}}}}}
    [tool] = decode(body(tools=[{"name": "f", "input_schema": schema}])).turn.tools
    assert tool.parameters == '{"type":"object","$defs":{"N":{"properties":{"n":{"$ref":"#/$defs/N"}}}}}'
