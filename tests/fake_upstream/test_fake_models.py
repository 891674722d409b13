"""What the fake models say when nothing is queued."""

import json

import pytest

from fake_upstream.schema_sample import minimal_arguments

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def with_tools(client, model, *names, parallel=None, choice=None, source=None):
    message = client.request(model)
    for name in names:
        message.tools.add(name=name, parameters=json.dumps(CITY))
    if parallel is not None:
        message.disable_parallel_tool_calls = not parallel
    if choice is not None:
        message.tool_choice.option_name = choice[0]
        message.tool_choice.tool_name = choice[1]
    if source is not None:
        message.messages.add(source=source, text="sunny", tool_call_id="call_1_0")
    return message


def called(reply):
    """Name and arguments of each call, put together as a client must."""
    calls = {}
    current = None
    for message in reply.messages:
        for call in message.tool_calls:
            if call.id:
                current = calls.setdefault(call.id, [call.name, ""])
            current[1] += call.arguments_json
    return [(name, arguments) for name, arguments in calls.values()]


def closing(reply):
    usage, finish = reply.messages[-2:]
    assert reply.end == {}
    return usage.usage.fresh, usage.usage.completion, finish.finish


@pytest.mark.parametrize("model", ["fake-echo", "anything-else", ""])
def test_echo_says_the_last_user_text_then_usage_and_finish(client, model):
    message = client.request(model, "first")
    message.system_prompt = "be brief"
    message.messages.add(source=2, text="reply")
    message.messages.add(source=1, text="second ü")
    message.messages.add(source=1)
    reply = client.send(message)
    assert reply.text == "second ü"
    assert closing(reply) == (7, 2, 2)  # 8 + 5 + 5 + 8 characters in, 8 out


def test_echo_without_a_user_text_has_a_neutral_one(client):
    assert client.send(client.request("fake-echo", "")).text == "(no text)"


def test_echo_cuts_frames_of_8_kib_between_code_points(client):
    text = "a" + "é" * 10_000
    reply = client.send(client.request("fake-echo", text))
    assert reply.text == text
    assert [len(message.text.encode()) for message in reply.messages[:-2]] == [8191, 8192, 3618]


@pytest.mark.parametrize(
    ("limit", "text", "completion"),
    [(1, "abcd", 1), (2, "abcdefgh", 2), (3, "abcdefghi", 3), (9, "abcdefghi", 3), (0, "", 0)],
)
def test_echo_stops_at_max_tokens_and_says_so(client, limit, text, completion):
    message = client.request("fake-echo", "abcdefghi")
    message.completion.max_tokens = limit
    reply = client.send(message)
    assert reply.text == text
    assert closing(reply) == (3, completion, 2)


def test_reasoning_comes_in_deltas_before_the_text(client):
    reply = client.send(client.request("fake-reasoning", "hello"))
    said = [(message.reasoning, message.text) for message in reply.messages[:-2]]
    assert said == [("The answer", ""), (" is: hello", ""), ("", "hello")]
    assert closing(reply) == (2, 7, 2)


def test_reasoning_is_what_max_tokens_cuts_first(client):
    message = client.request("fake-reasoning", "hello")
    message.completion.max_tokens = 2
    reply = client.send(message)
    assert "".join(m.reasoning for m in reply.messages) == "The answ"
    assert reply.text == ""
    assert closing(reply)[1] == 2


@pytest.mark.parametrize(
    ("model", "tools", "expected"),
    [
        ("fake-tools", "f", "f"),
        ("fake-tools", "fgh", "fg"),
        ("fake-tools-3", "fghi", "fgh"),
        ("fake-tools-3", "fg", "fg"),
    ],
)
def test_tools_are_called_with_minimal_arguments(client, model, tools, expected):
    reply = client.send(with_tools(client, model, *tools))
    assert called(reply) == [(name, '{"city":"x"}') for name in expected]
    assert reply.text == ""
    assert closing(reply)[2] == 2


def test_two_calls_are_interleaved(client):
    reply = client.send(with_tools(client, "fake-tools", "f", "g"))
    fragments = [(c.id, c.name, c.arguments_json) for m in reply.messages for c in m.tool_calls]
    assert fragments == [
        ("call_1_0", "f", ""),
        ("", "", '{"city'),
        ("call_1_1", "g", ""),
        ("", "", '{"city'),
        ("call_1_0", "", '":"x"}'),
        ("call_1_1", "", '":"x"}'),
    ]


@pytest.mark.parametrize(("parallel", "count"), [(None, 2), (True, 2), (False, 1)])
def test_field_11_makes_it_one_call(client, parallel, count):
    assert len(called(client.send(with_tools(client, "fake-tools", *"fg", parallel=parallel)))) == count


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (("none", ""), ""),
        (("auto", ""), "fg"),
        (("required", ""), "fg"),
        (("function", "h"), "h"),
    ],
)
def test_field_12_is_obeyed(client, choice, expected):
    reply = client.send(with_tools(client, "fake-tools", *"fgh", choice=choice))
    assert [name for name, _ in called(reply)] == list(expected)
    assert reply.text == ("" if expected else "hello")


def test_a_tool_result_is_answered_with_text(client):
    reply = client.send(with_tools(client, "fake-tools", *"fg", source=4))
    assert called(reply) == []
    assert reply.text == "sunny"


def test_a_named_tool_is_called_even_after_a_result(client):
    reply = client.send(with_tools(client, "fake-tools", *"fg", source=4, choice=("function", "g")))
    assert called(reply) == [("g", '{"city":"x"}')]


def test_without_tools_there_is_text(client):
    assert client.send(with_tools(client, "fake-tools", choice=("required", ""))).text == "hello"


@pytest.mark.parametrize("model", ["fake-tools", "fake-echo"])
@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (("function", "nope"), "tool choice names an unknown tool 'nope'"),
        (("function", ""), "tool choice names an unknown tool ''"),
        (("any", ""), "unknown tool choice 'any'"),
        (("", ""), "unknown tool choice ''"),
    ],
)
def test_a_choice_that_cannot_be_obeyed_is_invalid(fake, client, model, choice, message):
    reply = client.send(with_tools(client, model, "f", choice=choice))
    assert reply.end == {"error": {"code": "invalid_argument", "message": message}}
    assert fake.captures()[0]["outcome"] == "failed"
    assert fake.captures()[0]["message"]["model"] == model


def required(**properties):
    return {"type": "object", "properties": properties, "required": list(properties)}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (required(), {}),
        ({"type": "object", "properties": {"a": {"type": "string"}}}, {}),
        (required(a={"type": "string"}), {"a": "x"}),
        (required(a={"type": "string", "minLength": 3}), {"a": "xxx"}),
        (required(a={"type": "string", "format": "date"}), {"a": "2026-01-01"}),
        (required(a={"type": "STRING"}, b={"type": "INTEGER"}), {"a": "x", "b": 0}),
        (required(a={"enum": ["p", "q"]}), {"a": "p"}),
        (required(a={"const": 5}), {"a": 5}),
        (required(a={"type": "string", "default": "d"}), {"a": "d"}),
        (required(a={"type": "integer", "minimum": 3}), {"a": 3}),
        (required(a={"type": "integer", "minimum": 2.5}), {"a": 3}),
        (required(a={"type": "integer", "exclusiveMinimum": 3}), {"a": 4}),
        (required(a={"type": "integer", "minimum": 3, "multipleOf": 5}), {"a": 5}),
        (required(a={"type": "integer", "maximum": -2}), {"a": -2}),
        (required(a={"type": "number", "minimum": 0.5}), {"a": 0.5}),
        (required(a={"type": "number", "exclusiveMinimum": 0, "maximum": 0.5}), {"a": 0.25}),
        (required(a={"type": "boolean"}, b={"type": "null"}), {"a": True, "b": None}),
        (required(a={"type": ["null", "integer"]}), {"a": 0}),
        (required(a={"type": "array", "items": {"type": "string"}}), {"a": []}),
        (required(a={"type": "array", "items": {"type": "integer"}, "minItems": 2}), {"a": [0, 0]}),
        (required(a={"items": {}, "minItems": "1"}), {"a": ["x"]}),
        (required(a=required(b={"type": "string"})), {"a": {"b": "x"}}),
        (required(a={"anyOf": [{"type": "integer"}, {"type": "string"}]}), {"a": 0}),
        (
            required(a={"allOf": [required(b={"type": "string"}), required(c={"const": 1})]}),
            {"a": {"b": "x", "c": 1}},
        ),
        ({**required(a={"$ref": "#/$defs/T"}), "$defs": {"T": {"type": "integer"}}}, {"a": 0}),
        ({**required(a={"$ref": "#/$defs/a~1b"}), "$defs": {"a/b": {"enum": [7]}}}, {"a": 7}),
        (required(a={"$ref": "#/$defs/absent"}), {"a": "x"}),
        (required(a={"$ref": "https://example.com/x.json"}), {"a": "x"}),
        ({"type": "object", "required": ["undeclared"]}, {"undeclared": "x"}),
        (required(a=True, b={}), {"a": "x", "b": "x"}),
        ({"type": "string"}, {}),
        ([], {}),
    ],
)
def test_minimal_arguments(schema, expected):
    assert json.loads(minimal_arguments(json.dumps(schema))) == expected


@pytest.mark.parametrize("text", ["", "{", "null", "[" * 100_000])
def test_a_schema_that_is_none_gets_an_empty_object(text):
    assert minimal_arguments(text) == "{}"


def test_a_recursive_schema_comes_to_an_end():
    node = {"type": "object", "properties": {n: {"$ref": "#"} for n in "ab"}, "required": ["a", "b"]}
    assert len(minimal_arguments(json.dumps(node))) < 100_000
